# SPDX-License-Identifier: Apache-2.0
"""The chain on LibTorch's own CUDA code, over the simulated CUDA runtime, gives the CPU's numbers in every mode.

Kernels of LibTorch are replaced by the CPU's function of their operator, and SPNG's own kernels, with their own
transforms, run in the emulator, so results differ by the rounding of SPNG's kernels at most (docs/limits.md).
"""

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

TICKS, EVENTS = 800, 3
REAL_TICKS = 1600  # pulses of boards are long
NETWORK = wire_cell.DATA / "dnnroi.ts"
TAGS = "signal,error,decon_charge,wiener,loose,mp2,mp3,roi"


@pytest.fixture(name="frames", scope="module")
def fixture_frames(site: Site) -> wire_cell.Arrays:
    """Events of two lengths in turn, with other bad channels in each."""
    whole = site.busy_frames(EVENTS, TICKS)
    arrays: wire_cell.Arrays = {}
    for ident in range(EVENTS):
        ticks = TICKS - 300 * (ident % 2)
        samples = np.ascontiguousarray(whole[f"frame_*_{ident}"][:, :ticks])
        arrays |= wire_cell.event(samples, site.anode.channels, ident)
        bad = site.anode.channels[20 + 30 * ident]
        arrays[f"chanmask_bad_{ident}"] = np.array([[bad, 0, ticks]], dtype=np.int32)
    return arrays


def on_both(
    folder: Path, flags: list[str], arrays: wire_cell.Arrays, /, *, emulate: int = 1, **arguments: Any
) -> tuple[wire_cell.Arrays, wire_cell.Arrays, cuda_simulator.Run]:
    """Process frames on the CPU and over the simulator; return both outputs. emulate: 0 leaves out SPNG's kernels."""
    wire_cell.write_arrays(folder / "adc.npz", arrays)
    arguments = {"tags": TAGS, **arguments}
    run = cuda_simulator.job(folder, flags, arguments, emulate=emulate)
    on_cpu = {"model": "none", "threads": 1, **arguments, "device": "cpu"}
    cpu = wire_cell.job(folder, *flags, input="adc.npz", **on_cpu)
    assert run.done.returncode == 0, run.done.stderr
    run.report.check()
    return cpu, wire_cell.read_arrays(folder / "cuda.npz"), run


# Largest difference of a value, relative to the largest value of its array. SPNG's kernels have their own transforms and
# sums, so in float32 both outputs are rounded independently: each has an RMS error of 2e-7 (test_rounding), and values
# differ by up to eight steps of float32 of the largest one, 2^-24 to 2^-23 each, also where a baseline is subtracted. In
# float64 the difference, below 1e-12, is lost in files of float32.
ROUNDING = {"float32": 1e-6, "float64": 1e-14}
# A summary is the noise of an image with larger values, whose rounding it has (test_rounding): float32 on the CPU is up
# to 3e-6 of the largest summary off float64, as CUDA is. So has the error of the charge, which is up to 1.2e-6 off float64 on
# the CPU and 2.1e-6 over the simulator (test_resampling).
OF_NOISE = 10
NOISE = ("summary", "frame_error")
# decon_charge keeps the rounding of the waveform before its baseline was subtracted, which is up to tens of times larger, and
# a file has it in float32.
BASELINE = "frame_decon_charge"
FLOAT32_STEP = 2.0**-23


def assert_equal(
    cuda: wire_cell.Arrays, cpu: wire_cell.Arrays, tolerance: float = ROUNDING["float32"]
) -> None:
    """ROIs are equal; values differ by at most `tolerance`, values of NOISE by OF_NOISE times as much."""
    assert list(cuda) == list(cpu)
    for tag in {name.rsplit("_", 1)[0] for name in cpu if name.startswith("frame_")}:
        assert any(array.any() for name, array in cpu.items() if name.startswith(tag)), tag
    for name, expected in cpu.items():
        if name.startswith("notes"):
            continue  # names of devices
        assert np.isfinite(cuda[name]).all(), name
        seen = cuda[name].astype(np.float64)
        assert seen.shape == expected.shape and cuda[name].dtype == expected.dtype, name
        if name.startswith("frame_"):
            # A sample of decon_charge is 0 by rounding too: where it is the median that was subtracted.
            axis = 1 if name.startswith(BASELINE) else ()
            np.testing.assert_array_equal((seen != 0).any(axis), (expected != 0).any(axis), err_msg=name)
        limit = tolerance * np.abs(expected).max(initial=0)
        limit *= OF_NOISE if name.startswith((*NOISE, BASELINE)) else 1
        step = FLOAT32_STEP if name.startswith(BASELINE) else 0
        np.testing.assert_allclose(seen, expected, rtol=step, atol=limit, err_msg=name)


def name_of_mode(mode: dict[str, Any]) -> str:
    return "-".join(str(getattr(value, "name", value)) for value in mode.values())


def rms(values: np.ndarray[Any, Any]) -> float:
    return float(np.sqrt((values.astype(np.float64) ** 2).mean()))


def test_rounding(site: Site, frames: wire_cell.Arrays) -> None:
    """The differences are rounding: float32 on CUDA is as close to float64 as float32 on the CPU."""
    arguments = {"tags": "signal,decon_charge,wiener,loose,roi", "model": "standin"}
    cpu, cuda, _ = on_both(site.folder, site.flags, frames, **arguments)
    flags = {**arguments, "threads": 1, "dtype": "float64", "device": "cpu"}
    exact = wire_cell.job(site.folder, *site.flags, input="adc.npz", **flags)
    for name in (each for each in cpu if each.startswith(("frame_", "summary_"))):
        reference = exact[name].astype(np.float64)
        error = rms(cuda[name] - reference)
        if name.startswith("frame_roi"):
            assert error == 0, name  # a mask
            continue
        assert error <= 1.5 * rms(cpu[name] - reference), name
        limit = 3e-7 * (OF_NOISE if name.startswith((*NOISE, BASELINE)) else 1)
        assert 0 < error <= limit * rms(reference), name


@pytest.mark.parametrize(
    "mode",
    [
        {"events_in_flight": 2},
        {"engine": "TbbFlow", "events_in_flight": 4},
        {"cuda_graph": "on"},
        {"cuda_graph": "on", "engine": "TbbFlow", "events_in_flight": 3},
        {"dtype": "float64"},
        {"noise_filter": "coherent"},
        {"noise_filter": "sticky,tails"},
        {"noise_filter": "lines,channels", "cuda_graph": "on"},
        {"noise_filter": "coherent,channels"},
        {"batch": "false"},
        {"model": NETWORK},
        {"model": NETWORK, "cuda_graph": "on"},
        {"model": "standin", "engine": "TbbFlow"},
        {"device": "cuda:0,cuda:1", "engine": "TbbFlow"},
    ],
    ids=name_of_mode,
)
def test_mode(site: Site, frames: wire_cell.Arrays, mode: dict[str, Any]) -> None:
    cpu, cuda, _ = on_both(site.folder, site.flags, frames, **mode)
    assert_equal(cuda, cpu, ROUNDING[mode.get("dtype", "float32")])


@pytest.mark.parametrize("graph", ["off", "on"])
def test_steps_for_real_noise(site: Site, graph: str) -> None:
    """Channels that chirp, and a negative pulse of a board: both steps find and mask them, as on the CPU."""
    frames = site.busy_frames(EVENTS, REAL_TICKS)
    rng = np.random.default_rng(11)
    w = site.anode.views[2].channels
    pulse = 150 * np.exp(-(((np.arange(REAL_TICKS) - 1000) / 50) ** 2) / 2)
    for ident in range(EVENTS):
        samples = frames[f"frame_*_{ident}"]
        for channel in (31, 92, 131):
            chirp = np.median(samples[channel]) + rng.normal(0, 0.4, 500)
            samples[channel, 200 * ident : 200 * ident + 500] = np.rint(chirp)
        samples[w] -= np.rint(pulse).astype(np.int16)
    steps = {"noise_filter": "response,chirping,negative,coherent", "cuda_graph": graph}
    cpu, cuda, _ = on_both(site.folder, site.flags, frames, **steps)
    for ident in range(EVENTS):
        assert set(cpu[f"chanmask_chirp_{ident}"][:, 0]) >= {31, 92, 131}
        assert set(cpu[f"chanmask_femb_noise_{ident}"][:, 0]) == set(w)
    assert_equal(cuda, cpu)


@pytest.mark.parametrize(
    "mode",
    [
        {"events_in_flight": 1},
        {"engine": "TbbFlow", "events_in_flight": 1},
        {"device": "cuda:0,cuda:0"},
    ],
    ids=name_of_mode,
)
def test_schedule(site: Site, frames: wire_cell.Arrays, mode: dict[str, Any]) -> None:
    """Other orders of the same calls; without the emulator, which takes most of the time above."""
    cpu, cuda, _ = on_both(site.folder, site.flags, frames, emulate=0, **mode)
    assert_equal(cuda, cpu)


def test_resampling(site: Site, frames: wire_cell.Arrays) -> None:
    """Frames with ticks of 512 ns, node by node and as a CUDA graph. Masks that the device finds are converted too."""
    raw = {name: array.copy() for name, array in frames.items()}
    for ident in range(EVENTS):
        raw[f"tickinfo_*_{ident}"][1:] = [512, ident]
        raw[f"frame_*_{ident}"][40, 100:103] = 2**14 - 1
    flags = site.raw_flags(512, TICKS)
    cpu, cuda, _ = on_both(site.folder, flags, raw, cuda_graph="on")
    assert cpu["frame_signal_0"].shape[1] == 820 and cpu["chanmask_saturated_0"].tolist() == [[40, 102, 106]]
    assert_equal(cuda, cpu)


@pytest.mark.parametrize("graph", ["off", "on"])
def test_fast(site: Site, frames: wire_cell.Arrays, graph: str) -> None:
    """Bfloat16, where the CPU may compute in float32. ROIs agree to 99.5 %, the criterion of tests/gpu; charge to the
    same share, because one ROI has 0.1 % of these small events.
    """
    cpu, cuda, _ = on_both(
        site.folder, site.flags, frames, model=NETWORK, precision="fast", cuda_graph=graph, tags="signal"
    )
    for name in (each for each in cpu if each.startswith("frame_")):
        fast, expected = cuda[name] != 0, cpu[name] != 0
        assert (fast & expected).sum() >= 0.995 * (fast | expected).sum() > 0
        charge = cpu[name].sum(dtype=np.float64)
        assert abs(cuda[name].sum(dtype=np.float64) - charge) <= 5e-3 * abs(charge)


@pytest.mark.parametrize("graph", ["off", "on"])
def test_noise_of_the_network_is_noted(site: Site, frames: wire_cell.Arrays, graph: str) -> None:
    """In every event, also in those that are a launch of a graph."""
    cpu, cuda, _ = on_both(site.folder, site.flags, frames, model=NETWORK, cuda_graph=graph, tags="signal")
    for ident in range(EVENTS):
        seen, expected = (
            json.loads(bytes(each[f"notes_spng_{ident}"]))["network_noise"] for each in (cuda, cpu)
        )
        values, others = ([float(word) for word in re.findall(r"[0-9.]+", text)] for text in (seen, expected))
        assert len(values) == 4 and values == pytest.approx(others, abs=0.011)


@pytest.mark.parametrize("graph", ["off", "on"])
def test_a_network_that_no_frame_needs(site: Site, frames: wire_cell.Arrays, graph: str) -> None:
    """It runs beside the packing of the frame, whose notes do not wait for its noise."""
    cpu, cuda, _ = on_both(
        site.folder, site.flags, frames, model=NETWORK, cuda_graph=graph, tags="decon_charge"
    )
    assert_equal(cuda, cpu)


def test_graphs_are_replayed(site: Site) -> None:
    """One graph is captured in the first event; each later event is one launch of it."""
    events = 4
    arrays = site.busy_frames(events, TICKS)
    _, _, run = on_both(site.folder, site.flags, arrays, cuda_graph="on", events_in_flight=1)
    assert run.report.all["replays"] == events - 1
    assert run.report.calls("cudaStreamBeginCapture") == run.report.calls("cudaGraphExecDestroy") == 1
    captured = sum(run.report.all["captured_kernels"].values())
    assert run.report.all["replayed_operations"] >= (events - 1) * captured > 100


def test_long_readout(site: Site) -> None:
    """A readout in two readout windows."""
    cpu, cuda, _ = on_both(site.folder, site.flags, site.busy_frames(1, 13_000), window=5000)
    assert sum(name.startswith("frame_signal_") for name in cpu) == 2
    assert_equal(cuda, cpu)


def test_batched_anodes(tmp_path: Path) -> None:
    """By default, anodes 1 and 2 share their tensors on a device, and do not on the CPU."""
    flags = small_anodes.write_description(tmp_path)
    readout = small_anodes.readout(tmp_path, len(small_anodes.ANODES), TICKS)
    samples = np.concatenate(np.split(readout, len(small_anodes.ANODES), axis=1))
    arrays = wire_cell.event(samples, np.arange(len(samples)))
    cpu, cuda, run = on_both(tmp_path, flags, arrays, tpcid="all")
    assert "anodes1+2-induction" in run.done.stdout and "anode2-" not in run.done.stdout
    assert_equal(cuda, cpu)


def test_replicas_share_the_layout_of_the_network(site: Site, frames: wire_cell.Arrays) -> None:
    """Only the first one measures, so that events do not depend on their device."""
    wire_cell.write_arrays(site.folder / "adc.npz", frames)
    arguments = {"device": "cuda:0,cuda:1", "model": "standin", "network_layout": "auto"}
    run = cuda_simulator.job(site.folder, site.flags, arguments, "-L", "info", emulate=0)
    assert run.done.returncode == 0, run.done.stderr
    run.report.check()
    assert (run.done.stdout + run.done.stderr).count("memory layout ") == 1
