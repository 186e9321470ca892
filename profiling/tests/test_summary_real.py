# SPDX-License-Identifier: Apache-2.0
"""The summary of real files: an A100 export compared with nsys's tables, and a recording of the pipeline on
this machine.
"""

from __future__ import annotations

import csv
import lzma
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from wirecell_profile.model.profile import Profile
from wirecell_profile.model.selection import Scope
from wirecell_profile.model.window import find_window
from wirecell_profile.tables import device_use, node_use, range_use

from tests.support.shared import shared_folder
from tests.support.wire_cell import PIPELINE, ROOT, default_adc, event, job, needs_program, write_arrays

TICKS = 1000
CLOSING = ("FrameFileSink::close", "ArchiveWriter::close")
CUT = Path(__file__).parent / "data" / "radar-a100.sqlite.xz"


@pytest.fixture(scope="module")
def radar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scope]:
    """Return the A100 export that is in the repository."""
    path = tmp_path_factory.mktemp("radar") / "radar-a100.sqlite"
    path.write_bytes(lzma.decompress(CUT.read_bytes()))
    with Profile.open(path) as profile:
        yield Scope(profile)


def test_published_shares_of_the_a100(radar: Scope) -> None:
    (use,) = device_use.device_uses(radar)
    assert round(100 * use.gpu_busy / use.window.length, 1) == 77.9
    assert round(100 * use.kernel_busy / use.window.length, 1) == 72.6
    assert use.gpu_busy + sum(use.idle_classes().values()) == use.window.length
    operations = radar.profile.operations
    assert use.kernel_sum == int(operations.duration[operations.kind == 0].sum())


def test_ratio_of_the_field_is_that_of_nsys_tables(radar: Scope) -> None:
    """upstream_eff is the ratio of two tables of nsys: total kernel time over total projected time, by range
    name.
    """
    shared = shared_folder()
    folder = shared / "data" / "nsys" if shared else None
    if folder is None or not folder.is_dir():
        pytest.skip("no shared data (SPNG_SHARED, or a folder shared beside the checkout)")

    def totals(report: str, name: str, value: str) -> dict[str, int]:
        found: dict[str, int] = defaultdict(int)
        with (folder / f"radar-a100.{report}.csv").open() as file:
            for row in csv.DictReader(file):
                found[row[name].removeprefix(":")] += int(row[value])
        return found

    kernels = totals("nvtx_kern_sum", "NVTX Range", "Total Time (ns)")
    spans = totals("nvtx_gpu_proj_sum", "Range", "Total Proj Time (ns)")
    result = range_use.devices(radar)
    column_index = [column.name for column in result.columns].index("upstream_eff (%)")
    seen = {row[0]: row[column_index] for row in result.rows}
    assert len(seen) == 42 and set(seen) == {name for name in spans if name}
    for name, ratio in seen.items():
        assert ratio == pytest.approx(100 * kernels[name] / spans[name], rel=1e-12), name


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scope]:
    """Record the pipeline on two events, in the executor with one thread, files included."""
    folder = tmp_path_factory.mktemp("recording")
    path = folder / "run.sqlite"
    with_two = folder / "two.npz"
    samples, channels, _ = default_adc()
    write_arrays(with_two, event(samples[:, :TICKS], channels, 0) | event(samples[:, :TICKS], channels, 1))
    job(folder, "--record", str(path), job_file=ROOT / PIPELINE, input=with_two, overlap_files="false")
    with Profile.open(path) as profile:
        yield Scope(profile)


@needs_program
def test_exclusive_times_add_up_to_the_run(recording: Scope) -> None:
    """The exclusive times of the ranges add up to the run, and those of the nodes to the time in which a node is
    called. Ranges outside of the calls are those of the run, the events, the nodes themselves and the end of
    the output.
    """
    window = find_window(recording)
    assert window.what == "range run"
    ranges, exclusive = recording.profile.ranges, recording.projection.exclusive
    inside = (ranges.start >= window.start) & (ranges.end <= window.end) & ranges.on_one_thread
    threads = np.unique(ranges.thread[inside])
    assert len(threads) == 1
    assert int(exclusive[inside].sum()) == window.length
    use = node_use.NodeUse.of(recording)
    calls = use.calls
    assert np.unique(calls.thread).tolist() == threads.tolist()
    assert calls.start.min() >= window.start and calls.end.max() <= window.end
    called, until = 0, window.start
    for start, end in sorted(zip(calls.start.tolist(), calls.end.tolist(), strict=True)):
        called += max(0, end - max(start, until))
        until = max(until, end)
    assert int(use.exclusive.sum()) == called
    outside = {
        text
        for text, start, end in zip(ranges.text.to_list(), ranges.start, ranges.end, strict=True)
        if window.start <= start
        and end <= window.end
        and not np.any((calls.start <= start) & (end <= calls.end))
    }
    assert {"run", "event"} <= outside
    assert outside <= {"run", "event", *CLOSING, *calls.node.to_list()}


@needs_program
def test_every_node_and_substep_is_there(recording: Scope) -> None:
    nodes = recording.profile.table("SPNG_NODE")
    expected = {
        f"{kind}:{name}" if name else kind
        for kind, name in zip(nodes.text_column("type").to_list(), nodes.text_column("name").to_list())
    }
    shown = {row[0]: row for row in node_use.times(recording).rows}
    assert set(shown) == expected and len(shown) >= 20
    strings = set(recording.profile.ranges.text.to_list())
    assert {
        "Decon::fft",
        "Decon::ifft",
        "ThresholdROIs::threshold",
        "NoTileMPCoincidence::gather_channels",
    } <= strings
    kinds = {row[0]: row[2] for row in node_use.events(recording).rows}
    assert kinds == {"0": "first", "1": "steady", "median": "steady"}


@needs_program
def test_latency_of_an_event_is_within_the_run(recording: Scope) -> None:
    rows = [row for row in node_use.events(recording).rows if row[0] != "median"]
    assert sum(row[4] for row in rows) <= find_window(recording).length * 1.001
    assert all(0 < row[5] <= row[3] for row in rows)  # node time within the latency: one thread
