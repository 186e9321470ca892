# SPDX-License-Identifier: Apache-2.0
"""Defects of the input that a device finds: masks, counts and warnings are those of the CPU, in every mode."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import cuda_simulator, small_anodes, wire_cell
from tests.support.small_site import Site

pytestmark = cuda_simulator.needs_simulator

TICKS = 601  # odd: rows of int16 are not aligned
EVENTS = 3
WARM_UP = 2  # chains on each device before the first event


def damaged(samples: np.ndarray, channels: np.ndarray, ident: int) -> wire_cell.Arrays:
    """An event with every kind of defect; float32 in events 1 and 3, which can have other ones than int16."""
    samples = samples.copy()
    ticks = samples.shape[1]
    samples[2] = 2345  # dead
    samples[3] = 0  # dead at a rail
    samples[4, [0, 7, 8, ticks - 1]] = [0, 16383, 16383, 20000]
    samples[5, 30:40] = -5
    if ident % 2 == 1:
        samples = samples.astype(np.float32)
        samples[6, ident] = np.nan
        samples[7, ticks - 1] = -np.inf
        samples[8, 0] = 3e38
        samples[9, 100] = -1e6
        samples[12, 50] = np.nan  # and masked
    first = channels[0]
    masks = [
        [first + 10, 0, ticks],
        [first + 11, 0, 200],
        [first + 11, 200, ticks + 50],  # dead together with the one before
        [first + 12, -3, ticks],
        [first + 13, 5, 25],
        [first + 13, 20, 47],
        [first + 14, 0, 9],
        [first + 15, ticks - 4, ticks],
        [first + 16, ticks + 10, ticks + 20],  # beyond the readout
        [first + 2, 100 + ident, 120],
        [first + 17, 3, 4],  # absent
    ]
    present = np.delete(np.arange(len(channels)), [17, 40 + ident])
    arrays = wire_cell.event(np.ascontiguousarray(samples[present]), channels[present], ident)
    arrays[f"chanmask_bad_{ident}"] = np.array(masks, dtype=np.int32)
    arrays[f"chanmask_nan_{ident}"] = np.array([[first + 1, 0, 3]], dtype=np.int32)  # of the file
    return arrays


@pytest.fixture(name="frames", scope="module")
def fixture_frames(site: Site) -> wire_cell.Arrays:
    """Events with defects, as many in each as it takes for a warning."""
    whole = site.busy_frames(EVENTS, TICKS)
    arrays: wire_cell.Arrays = {}
    for ident in range(EVENTS):
        arrays |= damaged(whole[f"frame_*_{ident}"], site.anode.channels, ident)
    return arrays


Result = tuple[wire_cell.Arrays, dict[str, Any]]


def result_of(folder: Path, name: str) -> Result:
    """Masks of the output files, and the report about the input."""
    masks: wire_cell.Arrays = {}
    for path in sorted(folder.glob(f"{name}*.npz")):
        arrays = wire_cell.read_arrays(path)
        masks |= {
            path.stem.removeprefix(name) + each: array
            for each, array in arrays.items()
            if each.startswith("chanmask")
        }
        path.unlink()
    return masks, json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))["input"]


def on_cpu(folder: Path, flags: list[str], **arguments: Any) -> Result:
    given = {"input": "adc.npz", "output": "cpu.npz", "model": "none", "threads": 1, **arguments}
    words = wire_cell.settings(**given)
    done = wire_cell.run(
        "-c", wire_cell.PIPELINE, *flags, *words, "-A", "device=cpu", "--timing", "cpu.json", folder=folder
    )
    assert done.returncode == 0, done.stderr
    return result_of(folder, "cpu")


def on_cuda(folder: Path, flags: list[str], /, **arguments: Any) -> Result:
    run = cuda_simulator.job(folder, flags, arguments, "--timing", "cuda.json", emulate=0)
    assert run.done.returncode == 0, run.done.stderr
    run.report.check()
    return result_of(folder, "cuda")


def assert_equal(cuda: Result, cpu: Result) -> None:
    assert list(cuda[0]) == list(cpu[0])
    for name, expected in cpu[0].items():
        np.testing.assert_array_equal(cuda[0][name], expected, err_msg=name)
    assert cuda[1] == cpu[1]


@pytest.fixture(name="cpu", scope="module")
def fixture_cpu(site: Site, frames: wire_cell.Arrays) -> Result:
    """The result of the CPU, which must have every mask and every count."""
    wire_cell.write_arrays(site.folder / "adc.npz", frames)
    masks, report = on_cpu(site.folder, site.flags)
    names = {name.removeprefix("chanmask_").rsplit("_", 1)[0] for name in masks}
    assert names == {"bad", "missing", "nan", "outofrange", "saturated"}
    for key in ("absent", "not_finite", "out_of_range", "constant", "masked", "partly_masked", "saturated"):
        assert sum(plane[key] for plane in report["planes"]) > 0, key
    assert report["events"] == EVENTS and len(report["warnings"]) == 2  # unusable channels, saturated samples
    return masks, report


def counts_of(result: Result) -> list[dict[str, Any]]:
    """Counts of channels by plane, without the measurements of the waveforms."""
    return [
        {key: value for key, value in plane.items() if isinstance(value, int)}
        for plane in result[1]["planes"]
    ]


@pytest.mark.parametrize(
    "mode",
    [
        {"events_in_flight": 1},
        {"events_in_flight": 2, "cuda_graph": "on"},
        {"engine": "TbbFlow", "events_in_flight": 3},
    ],
    ids=lambda mode: "-".join(map(str, mode.values())),
)
def test_mode(site: Site, frames: wire_cell.Arrays, cpu: Result, mode: dict[str, Any]) -> None:
    wire_cell.write_arrays(site.folder / "adc.npz", frames)
    assert_equal(on_cuda(site.folder, site.flags, **mode), cpu)


@pytest.mark.parametrize(
    ("steps", "cuda_graph"), [("channels", "off"), ("channels", "on"), ("coherent,channels", "on")]
)
def test_faults_found_from_the_noise(
    site: Site, frames: wire_cell.Arrays, steps: str, cuda_graph: str
) -> None:
    wire_cell.write_arrays(site.folder / "adc.npz", frames)
    cpu = on_cpu(site.folder, site.flags, noise_filter=steps)
    assert any(
        (array[:, 0] == site.anode.channels[2]).any() for name, array in cpu[0].items() if "bad" in name
    )
    assert_equal(on_cuda(site.folder, site.flags, noise_filter=steps, cuda_graph=cuda_graph), cpu)


def test_frames_in_ordinary_memory(site: Site, frames: wire_cell.Arrays) -> None:
    """Readout windows of samples that were converted are copied to page-locked memory first."""
    arrays = {
        name: array.astype(np.int32) if array.dtype == np.int16 else array for name, array in frames.items()
    }
    wire_cell.write_arrays(site.folder / "adc.npz", arrays)
    arguments = {"window": "240,80,120"}
    assert_equal(on_cuda(site.folder, site.flags, **arguments), on_cpu(site.folder, site.flags, **arguments))


def on_two(site: Site, **settings: object) -> cuda_simulator.Run:
    arguments = {"device": "cuda:0,cuda:1"}
    run = cuda_simulator.job(
        site.folder, site.flags, arguments, "--timing", "cuda.json", emulate=0, **settings
    )
    assert run.done.returncode == 0, run.done.stderr
    return run


@pytest.fixture(name="launches", scope="module")
def fixture_launches(site: Site, frames: wire_cell.Arrays) -> float:
    """Launches of an event, or of a chain of the warm-up."""
    wire_cell.write_arrays(site.folder / "adc.npz", frames)
    return on_two(site).report.kernels() / (2 * WARM_UP + EVENTS)


@pytest.mark.parametrize("chains", [0.4, WARM_UP + 0.4, WARM_UP + 0.95])
def test_a_lost_device(
    site: Site, frames: wire_cell.Arrays, cpu: Result, launches: float, chains: float
) -> None:
    """Events that start again on the other device are counted once; the loss is in the warm-up or in an event."""
    wire_cell.write_arrays(site.folder / "adc.npz", frames)
    run = on_two(site, lost_after=int(chains * launches), lost_device=1)
    assert run.report.all["lost_devices"] == 1
    assert re.search(r"cuda:1 is lost \(.*\); event 1 restarts on cuda:0", run.done.stderr), run.done.stderr
    seen = result_of(site.folder, "cuda")
    assert seen[1]["events"] == EVENTS and counts_of(seen) == counts_of(cpu)
    for name, expected in cpu[0].items():
        np.testing.assert_array_equal(seen[0][name], expected, err_msg=name)


def test_strict(site: Site, frames: wire_cell.Arrays) -> None:
    """The error of the CPU."""
    wire_cell.write_arrays(site.folder / "adc.npz", frames)
    arguments = {"model": "none", "input": "adc.npz", "output": "strict.npz"}
    words = wire_cell.settings(**arguments)
    done = wire_cell.run(
        "-c", wire_cell.PIPELINE, *site.flags, *words, "-A", "device=cpu", "--strict", folder=site.folder
    )
    run = cuda_simulator.job(site.folder, site.flags, arguments, "--strict", emulate=0)
    assert run.done.returncode == done.returncode == 1
    seen, expected = (re.sub(r"(?m)^\[[0-9:.]+\] ", "", each.stderr) for each in (run.done, done))
    assert seen == expected and "too many unusable channels" in expected


@pytest.mark.parametrize("source", ["one file", "a file for each anode"])
def test_anodes(tmp_path: Path, source: str) -> None:
    """Each anode's frame has the masks of its channels; anodes 1 and 2 share their tensors."""
    flags = small_anodes.write_description(tmp_path)
    anodes, rows = len(small_anodes.ANODES), small_anodes.CHANNELS
    readout = small_anodes.readout(tmp_path, anodes, TICKS)
    channels = np.arange(anodes * rows).reshape(anodes, rows)
    parts = [
        damaged(samples, own, 1)
        for samples, own in zip(np.split(readout, anodes, axis=1), channels, strict=True)
    ]
    if source == "one file":
        whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        whole["tickinfo_*_1"] = parts[0]["tickinfo_*_1"]
        wire_cell.write_arrays(tmp_path / "adc.npz", whole)
    else:
        for anode, part in enumerate(parts):
            wire_cell.write_arrays(tmp_path / f"adc-{anode}.npz", part)
    given = {
        "tpcid": "all",
        "batch_anodes": "true",
        "input": "adc.npz" if source == "one file" else "adc-%d.npz",
    }
    cpu = on_cpu(tmp_path, flags, **{**given, "output": "cpu-%d.npz"})
    assert len(cpu[0]) >= 3 * anodes
    assert_equal(on_cuda(tmp_path, flags, **{**given, "output": "cuda-%d.npz"}), cpu)
