# SPDX-License-Identifier: Apache-2.0
"""The samples inside ROIs come to the host in one compact copy (docs/decisions/compact-result.md): frames equal the CPU's
for any share of samples inside ROIs, and a second copy is made only where the first was too short.

The kernels themselves are tested by tests/kernels and test_modes.py, so only one job here emulates them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cuda_simulator.test_modes import ROUNDING, TAGS, assert_equal, on_both
from tests.support import cuda_simulator, small_anodes, wire_cell
from tests.support.small_site import NOISE_COUNTS, Site

pytestmark = cuda_simulator.needs_simulator

TICKS = 401  # the last slice of four ticks has one
SHORT_WARM_UP = "readout+: { nticks: 500 }"  # the detectors' 6000 ticks cost more than the events
EVENTS = 4
FINITE = TAGS.replace("error,", "")  # without noise outside of ROIs the error is infinite

# The small detector with a short warm-up, and other thresholds and padding of ROIs.
DETECTOR = """detname=
local base = import 'small.jsonnet';
local witness = {{ threshold_rms_factor: {factor}, weak_rms_factor: 0, pad: {pad} }};
local rois = {{ seed_rms_factor: {factor}, lone_seed_rms_factor: {factor}, pad: {pad} }};
base + {{
    {warm_up},
    filter_sets(anode)::
        local sets = base.filter_sets(anode);
        {{
            [name]: sets[name] {{ induction+: {{ witness+: witness, rois+: rois }}, collection+: {{ witness+: witness }} }}
            for name in std.objectFieldsAll(sets)
        }},
}}"""


def flags(site: Site, factor: float, pad: int) -> list[str]:
    """Describe the small detector with these thresholds [channel RMS] and padding [samples] of ROIs."""
    return [
        "-P",
        str(site.folder),
        "--tla-code",
        DETECTOR.format(factor=factor, pad=pad, warm_up=SHORT_WARM_UP),
    ]


def with_short_warm_up(flags: list[str]) -> list[str]:
    """Return flags that describe a detector, with a shorter warm-up."""
    *others, detector = flags
    name, _, description = detector.partition("=")
    return [*others, f"{name}=({description}) + {{ {SHORT_WARM_UP} }}"]


def events(site: Site, busy: set[int]) -> wire_cell.Arrays:
    """Frames of noise, and with a track in the `busy` ones."""
    arrays = site.busy_frames(EVENTS, TICKS)
    random = np.random.default_rng(20261123)
    for ident in set(range(EVENTS)) - busy:
        samples = arrays[f"frame_*_{ident}"]
        noise = random.normal(np.median(samples, axis=1)[:, None], NOISE_COUNTS, samples.shape)
        arrays[f"frame_*_{ident}"] = np.round(noise).astype(np.int16)
    return arrays


def second_copies(run: cuda_simulator.Run) -> int:
    """Return the count in the log line about second copies."""
    lines = [line for line in run.done.stderr.splitlines() if "needed a second one" in line]
    return int(lines[0].split(" frame")[0].rsplit(" ", 1)[1]) if lines else 0


@pytest.mark.parametrize(
    ("factor", "pad", "mode"),
    [
        (1e6, 1, {"tags": TAGS}),
        (0, 10_000, {"tags": FINITE}),
        # Without wiener, of which one sample rounds to 0 on CUDA only.
        (0, 10_000, {"emulate": 1, "tags": FINITE.replace("wiener,", "")}),
        (0, 10_000, {"cuda_graph": "on", "engine": "TbbFlow", "events_in_flight": 3}),
        (0, 10_000, {"dtype": "float64", "tags": "wiener,signal,roi"}),
    ],
    ids=["nothing", "everything", "everything-kernels", "everything-graph", "everything-float64"],
)
def test_nothing_or_everything_inside(site: Site, factor: float, pad: int, mode: dict[str, Any]) -> None:
    detector = flags(site, factor, pad)
    arguments = {"tags": "signal", "emulate": 0, **mode, "verbosity": 1}
    cpu, cuda, run = on_both(site.folder, detector, events(site, {0, 1, 2, 3}), **arguments)
    for ident in range(EVENTS):
        signal = cpu[f"frame_signal_{ident}"]
        assert np.count_nonzero(signal) / signal.size == (0 if factor else pytest.approx(1, abs=0.02))
    assert_same(cuda, cpu, ROUNDING[mode.get("dtype", "float32")])
    # The room of the copies grows after the first event; by then others may be in flight.
    assert second_copies(run) == 0 if factor else 1 <= second_copies(run) < EVENTS


def assert_same(cuda: wire_cell.Arrays, cpu: wire_cell.Arrays, tolerance: float) -> None:
    """As assert_equal of test_modes, for frames that may be empty."""
    full = {name: array for name, array in cpu.items() if array.any() or not name.startswith("frame_")}
    for name in set(cpu) - set(full):
        assert cuda[name].shape == cpu[name].shape and not cuda[name].any(), name
    assert_equal({name: cuda[name] for name in full}, full, tolerance)


@pytest.mark.parametrize("graph", ["off", "on"])
def test_small_and_large_events_in_turn(site: Site, graph: str) -> None:
    cpu, cuda, run = on_both(
        site.folder,
        flags(site, 5, 60),
        events(site, {1, 3}),
        tags="signal",
        cuda_graph=graph,
        verbosity=1,
        events_in_flight=1,
        emulate=0,
    )
    shares = [np.mean(cpu[f"frame_signal_{ident}"] != 0) for ident in range(EVENTS)]
    assert max(shares[0], shares[2]) < 0.035 < min(shares[1], shares[3]) < 1.25 * shares[1]
    assert_equal(cuda, cpu)
    assert second_copies(run) == 1


@pytest.mark.parametrize("split", [True, False])
def test_several_anodes(tmp_path: Path, split: bool) -> None:
    """Frames of one anode each, and one frame with the rows of seven tensors; channels of anode 1 are absent."""
    anodes = with_short_warm_up(small_anodes.write_description(tmp_path))
    readout = small_anodes.readout(tmp_path, len(small_anodes.ANODES), TICKS)
    samples = np.concatenate(np.split(readout, len(small_anodes.ANODES), axis=1))
    channels = np.arange(len(samples))
    present = (channels < small_anodes.CHANNELS + 5) | (channels >= small_anodes.CHANNELS + 15)
    wire_cell.write_arrays(tmp_path / "adc.npz", wire_cell.event(samples[present], channels[present]))
    name = "-%d.npz" if split else ".npz"
    given = {
        "tpcid": "all",
        "batch_anodes": "false",
        "tags": "signal,decon_charge,roi,mp2,wiener",
        "threads": 1,
    }
    run = cuda_simulator.job(tmp_path, anodes, {**given, "output": "cuda" + name}, emulate=0)
    assert run.done.returncode == 0, run.done.stderr
    run.report.check()
    cpu = {"input": "adc.npz", "model": "none", "device": "cpu", **given, "output": "cpu" + name}
    words = wire_cell.settings(**cpu)
    assert wire_cell.run("-c", wire_cell.PIPELINE, *anodes, *words, folder=tmp_path).returncode == 0
    for anode in small_anodes.ANODES if split else [0]:
        ending = name.replace("%d", str(anode))
        cuda = wire_cell.read_arrays(tmp_path / ("cuda" + ending))
        assert_equal(cuda, wire_cell.read_arrays(tmp_path / ("cpu" + ending)))


def test_taps_have_dense_rows(site: Site) -> None:
    cpu, cuda, _ = on_both(
        site.folder,
        with_short_warm_up(site.flags),
        events(site, {0, 1, 2, 3}),
        tags="signal",
        dump="signal,roi",
        emulate=0,
    )
    assert_equal(cuda, cpu)
    taps = sorted(path.name for path in site.folder.glob("cuda-*.npz"))
    assert taps
    for tap in taps:
        seen = wire_cell.read_arrays(site.folder / tap)
        expected = wire_cell.read_arrays(site.folder / tap.replace("cuda", "output"))
        assert list(seen) == list(expected)
        for name, array in expected.items():
            np.testing.assert_allclose(seen[name], array, rtol=1e-5, atol=1e-2, err_msg=name)
