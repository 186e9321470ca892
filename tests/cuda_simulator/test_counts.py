# SPDX-License-Identifier: Apache-2.0
"""Launches, copies, bytes and allocations of an event are those of counts.json, in each mode."""

from __future__ import annotations

import json

import pytest

from tests.cuda_simulator import counts
from tests.support import cuda_simulator, small_anodes
from tests.support.small_site import Site

pytestmark = cuda_simulator.needs_simulator

EXPECTED = json.loads(counts.FILE.read_text(encoding="utf-8"))


def test_every_mode_is_in_the_file() -> None:
    assert list(EXPECTED) == list(counts.MODES)


@pytest.mark.parametrize("name", counts.MODES)
def test_counts(site: Site, name: str) -> None:
    """A change that changes a number updates the file: .venv/bin/python -m tests.cuda_simulator.counts"""
    counts.write_frames(site)
    assert counts.of_mode(site, counts.MODES[name]) == EXPECTED[name]


@pytest.mark.parametrize("name", counts.MODES)
def test_later_events_allocate_nothing(name: str) -> None:
    event = EXPECTED[name]["event"]
    for what in ("allocations", "allocations of page-locked memory", "page-locked bytes"):
        assert event.get(what, 0) == 0, what
    assert event.get("copies of pageable memory", 0) == 0


@pytest.mark.parametrize("name", counts.MODES)
def test_the_frame_is_uploaded_as_it_was_read(name: str) -> None:
    """One copy of the samples of all channels, nothing else."""
    event = EXPECTED[name]["event"]
    assert event["to_device: operations"] == 1
    assert event["to_device: bytes"] == small_anodes.CHANNELS * counts.TICKS * 2


def test_a_graph_is_one_launch() -> None:
    """With cuda_graph=on only the selection of channels and the filling of the graph's inputs remain beside it."""
    event = EXPECTED["none, cuda_graph"]["event"]
    assert event["launches of graphs"] == 1 and event["kernels"] <= 5


def leaks(report: cuda_simulator.Report) -> dict[str, int]:
    """Return how many objects and bytes the process still had when it ended."""
    return {name: report.all["alive"][name] for name in ("events", "graphs", "page_locked_bytes")}


@pytest.mark.parametrize("graph", ["off", "on"])
def test_nothing_is_leaked(site: Site, graph: str) -> None:
    """More events leave no more behind, neither on the device nor on the host."""
    counts.write_frames(site)
    left = []
    for events in (counts.FIRST, counts.LAST):
        report = counts.run_events(site, {"cuda_graph": graph}, events)
        left.append((leaks(report), report.all["held_bytes"], report.all["peak_bytes"]))
    assert left[0] == left[1] and left[0][0]["graphs"] == 0


def test_events_are_equal() -> None:
    """The numbers of an event are whole: the two runs differ by whole events."""
    for name, mode in EXPECTED.items():
        assert all(float(value).is_integer() for value in mode["event"].values()), name
