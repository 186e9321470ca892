# SPDX-License-Identifier: Apache-2.0
"""wire-cell --check: all problems of files, networks and devices, without side effects; and outputs before a run."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tests.support import wire_cell

pytestmark = wire_cell.needs_program

COPY = str(wire_cell.ROOT / "tests" / "app" / "jobs" / "copy.jsonnet")
HAS_CUDA = Path("/proc/driver/nvidia/version").exists()


def problems(folder: Path, job: str = wire_cell.PIPELINE, **arguments: str) -> list[dict[str, str]]:
    """Check a job; return the error blocks as parts by label. The folder must stay as it is."""
    before = sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*"))
    given = {"device": "cpu", "output": "out.npz", **arguments}
    if job == wire_cell.PIPELINE:
        given = {"model": "none", **given}
    words = wire_cell.settings(**given)
    done = wire_cell.run("--check", "-c", job, *words, folder=folder)
    assert sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*")) == before
    blocks: list[dict[str, str]] = []
    for line in done.stderr.splitlines():
        if line.startswith("error: "):
            blocks.append({"what": line.removeprefix("error: ")})
        elif line.startswith("["):
            assert "of the current folder, not" in line
        elif line.startswith("  "):
            label, _, text = line.strip().partition(":")
            blocks[-1][label] = text.strip()
        else:
            assert line == f"{len(blocks)} problems"
    assert done.returncode == (2 if blocks else 0), done.stderr
    assert (", valid" in done.stdout) == (not blocks)
    return blocks


@pytest.mark.skipif(HAS_CUDA, reason="the machine has a CUDA device")
@pytest.mark.parametrize("device", ["cuda", "cuda:all", "cuda:0,cuda:1"])
def test_all_problems_are_listed(tmp_path: Path, device: str) -> None:
    """The other parts are looked at although the device that they need is absent."""
    found = problems(tmp_path, output="out.h5", model="nofile.ts", device=device, input="none.npz")
    absent = (
        "there is no CUDA device to spread events over"
        if device == "cuda:all"
        else "the requested CUDA device does not exist"
    )
    assert sorted(block["what"] for block in found) == [
        "data file 'nofile.ts' not found",
        "data file 'none.npz' not found",
        absent,
        "unknown ending of the output file",
    ]
    assert all(block["where"] and block["seen"] and block["expected"] for block in found)


def test_jobs_without_problems(tmp_path: Path) -> None:
    assert problems(tmp_path, device="cpu,cpu") == [] == problems(tmp_path, model="default")


def test_outputs_that_cannot_be_written(tmp_path: Path) -> None:
    seen = {"none/out.npz": f"no folder {tmp_path}/none", ".": "a folder"}
    if os.geteuid() != 0:  # root may write everywhere
        (tmp_path / "closed").mkdir(mode=0o500)
        seen["closed/out.npz"] = f"{tmp_path}/closed: Permission denied"
    for output, text in seen.items():
        (block,) = problems(tmp_path, COPY, input=str(wire_cell.TRUTH), output=output)
        assert block["what"] == "an output cannot be written" and "FrameFileSink" in block["where"]
        assert block["seen"] == text


def test_an_input_as_output_and_a_budget_that_is_too_small(tmp_path: Path) -> None:
    frame = wire_cell.event(np.zeros((4, 8), np.int16), np.arange(4))
    wire_cell.write_arrays(tmp_path / "adc.npz", frame)
    found = problems(tmp_path, input="adc.npz", output="./adc.npz", memory_budget="1MB")
    assert [block["what"] for block in found] == [
        "an output would overwrite an input",
        "the memory budget is too small for one event",
    ]


def test_inputs_that_are_no_frames(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("hello")
    np.savez(tmp_path / "other.npz", a=1, b=2)
    (block,) = problems(tmp_path, COPY, input="text.npz")
    assert block["what"] == "the input file is not an archive"
    (block,) = problems(tmp_path, COPY, input="other.npz")
    assert block["seen"] == "members a.npy, b.npy" and block["expected"].startswith("frame_<tag>_<ident>.npy")
    os.mkfifo(tmp_path / "pipe")
    assert problems(tmp_path, COPY, input="pipe") == []


def test_networks_that_cannot_run(tmp_path: Path) -> None:
    """Cut short, and with another count of inputs than the features of the job."""
    torch = pytest.importorskip("torch")
    content = (wire_cell.DATA / "dnnroi-standin.ts").read_bytes()
    (tmp_path / "cut.ts").write_bytes(content[: len(content) // 2])
    network = torch.jit.script(torch.nn.Sequential(torch.nn.Conv2d(5, 1, 3, padding=1), torch.nn.Sigmoid()))
    network.save(tmp_path / "five.ts")
    for model, what, word in (
        ("cut.ts", "cannot load a model file", "bytes"),
        ("five.ts", "the network", "channels"),
    ):
        (block,) = problems(tmp_path, model=model)
        assert block["what"].startswith(what) and "SPNGTorchService" in block["where"]
        assert model in block["where"] and word in block["seen"], block


def test_data_files_of_the_detector(tmp_path: Path) -> None:
    """A damaged copy of the wires hides the shipped one; the job would stop at it."""
    name = "protodunehd-wires-larsoft-v1.json.gz"
    (tmp_path / name).write_bytes((wire_cell.DATA / name).read_bytes()[:100_000])
    (block,) = problems(tmp_path)
    assert "WireSchemaFile" in block["where"] and name in block["where"], block


def test_a_wrong_output_ends_a_run_before_the_preparation(tmp_path: Path) -> None:
    """A damaged network, which the preparation reports, is not read."""
    (tmp_path / "bad.ts").write_text("no network")
    words = ("-c", wire_cell.PIPELINE, "-A", "device=cpu", "-A", "model=bad.ts")
    block = wire_cell.rejected(*words, "-A", "output=out.h5", folder=tmp_path, status=2)
    assert "unknown ending of the output file" in block and "FrameFileSink" in block
    block = wire_cell.rejected(*words, "-A", "output=none/out.npz", folder=tmp_path, status=1)
    assert "an output cannot be written" in block
    block = wire_cell.rejected(*words, "--timing", "none/t.json", folder=tmp_path, status=1)
    assert "--timing, none/t.json" in block
    assert [path.name for path in tmp_path.iterdir()] == ["bad.ts"]
