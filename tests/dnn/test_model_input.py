# SPDX-License-Identifier: Apache-2.0
"""Networks for another input than that of the job, and networks whose file does not give its training, in whole jobs."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from scripts.dnnroi import export  # noqa: E402
from scripts.dnnroi.job_input import job_input, main  # noqa: E402
from tests.support import wire_cell  # noqa: E402
from tests.support.measured_runs import main_job, names  # noqa: E402
from tests.support.small_site import Site  # noqa: E402

pytestmark = wire_cell.needs_program

NETWORK, STANDIN = wire_cell.DATA / "dnnroi.ts", wire_cell.DATA / "dnnroi-standin.ts"
TICKS = 600


@pytest.fixture(name="site", scope="module")
def fixture_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The small detector, with one event in adc.npz."""
    site = Site.at(tmp_path_factory.mktemp("site"))
    wire_cell.write_arrays(site.folder / "adc.npz", site.busy_frames(1, TICKS))
    return site


def with_keys(network: Path, path: Path, **keys: object) -> Path:
    """Write a copy of a network with other metadata: None removes a key."""
    content = network.read_bytes()
    metadata = export.read_metadata(content) | keys
    kept = {name: value for name, value in metadata.items() if value is not None}
    path.write_bytes(export.with_metadata(content, kept))
    return path


@pytest.mark.parametrize(
    ("keys", "arguments", "said"),
    [
        (
            {"detector": "elsewhere"},
            [],
            ["trained for another detector", "a network for elsewhere", "one for pdhd", "network_detectors"],
        ),
        (
            {},
            ["filters=pdsp"],
            [
                "images with other filters",
                "loose of plane 0, filter set pdsp: low pass ",
                "-A filters=smooth",
            ],
        ),
        (
            {"inputs": ["loose", "tight", "dense", "mp3"]},
            [],
            ["features that this job does not make", "dense"],
        ),
        ({"inputs": ["loose", "mp2", "mp3"]}, [], ["failed on the input of this job", "to have 4 channels"]),
    ],
)
def test_rejected_before_the_first_event(
    site: Site, tmp_path: Path, keys: dict, arguments: list[str], said: list[str]
) -> None:
    """One error block; an earlier output stays."""
    model = with_keys(NETWORK, tmp_path / "mine.ts", **keys)
    output = tmp_path / "output.npz"
    output.write_text("earlier")
    given = [
        f"input={site.folder / 'adc.npz'}",
        f"output={output}",
        f"model={model}",
        "device=cpu",
        *arguments,
    ]
    words = wire_cell.settings(*given)
    block = wire_cell.rejected(
        "-c", wire_cell.PIPELINE, "--overwrite", *site.flags, *words, folder=tmp_path, status=1
    )
    assert all(each in block for each in [*said, "mine.ts", "hint: "]), block
    assert {each.name for each in tmp_path.iterdir()} == {"mine.ts", "output.npz"}
    assert output.read_text() == "earlier"


def flipped(content: bytes) -> bytes:
    """Return the content with another bit in its middle."""
    changed = bytearray(content)
    changed[len(content) // 2] ^= 1
    return bytes(changed)


def scripted(body: str) -> bytes:
    """Return a network with this body and the metadata of the shipped one."""

    class Network(torch.nn.Module):
        pass

    script, stream = torch.jit.script(Network()), io.BytesIO()
    script.define(f"def forward(self, x):\n    {body}\n")
    torch.jit.save(script, stream)
    return export.with_metadata(stream.getvalue(), export.read_metadata(NETWORK.read_bytes()))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda content: content[: len(content) // 2], "bytes"),
        (lambda content: b"", "bytes"),
        (flipped, "CRC"),
        (lambda content: b"no network\n" * 100, "bytes"),
        ("assert x.size(1) == 3, 'expected 3 features'\n    return x[:, :1]", "(2, 4, 64,"),
        ("return x[:, :1, :, ::2]", "(2, 1, 64,"),
        ("return x", "(2, 1, 64,"),
        ("return [x, x]", "List"),
        ("return x[:, :1] + torch.ones([1], device=torch.device('cuda'))", "CUDA"),
    ],
)
def test_broken_networks(
    site: Site, tmp_path: Path, damage: Callable[[bytes], bytes] | str, said: str
) -> None:
    """A file that cannot be read, or code with another input or output; no output is written."""
    model = tmp_path / "broken.ts"
    model.write_bytes(scripted(damage) if isinstance(damage, str) else damage(NETWORK.read_bytes()))
    words = main_job(*site.flags, input=site.folder / "adc.npz", model=model)
    block = wire_cell.rejected(*map(str, words), folder=tmp_path, status=1)
    assert "broken.ts" in block and said in block, block
    assert names(tmp_path) == ["broken.ts"]


def test_network_without_metadata(site: Site, tmp_path: Path) -> None:
    """The job goes on, and says what it did not compare: on the log, in the notes and in --timing."""
    model = tmp_path / "plain.ts"
    torch.jit.load(STANDIN).save(model)
    given = [f"input={site.folder / 'adc.npz'}", "output=output.npz", f"model={model}", "device=cpu"]
    words = wire_cell.settings(*given)
    done = wire_cell.run(
        "-c", wire_cell.PIPELINE, *site.flags, *words, "--timing", "timing.json", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "plain.ts" in line]
    lacking = "features, scale, sampling, detector, tick, filters, noise"
    assert f"plain.ts has no metadata: the job does not compare {lacking}" in line
    assert "takes loose, mp2, mp3 as its features" in line
    notes = json.loads(bytes(wire_cell.read_arrays(tmp_path / "output.npz")["notes_spng_0"]))
    assert notes["network_not_compared"] == lacking
    report = json.loads((tmp_path / "timing.json").read_text(encoding="utf-8"))["input"]
    assert line.endswith(report["warnings"][0])


def test_input_written_into_a_file(tmp_path: Path) -> None:
    """The command writes the input of the named job, and nothing else changes."""
    path = with_keys(NETWORK, tmp_path / "mine.ts", detector=None, tick=None, images=None, filter_set=None)
    assert main([str(path), "detname=pdhd", "batch=true"]) == 0
    assert path.read_bytes() == NETWORK.read_bytes()


def test_shipped_network_has_the_input_of_the_default_job() -> None:
    """A change of the default filters needs a new training."""
    metadata = export.read_metadata(NETWORK.read_bytes())
    found = job_input(wire_cell.PROGRAM)
    assert {key: metadata[key] for key in found} == found
    assert found["detector"] == "pdhd" and found["tick"] == 500
    narrow = "low pass 0.12 MHz, power 2, high pass {} MHz, along wires 0.27"
    assert found["images"] == {"loose": [narrow.format(0.002)] * 2, "tight": [narrow.format(0.01)] * 2}
