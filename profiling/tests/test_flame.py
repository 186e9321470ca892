# SPDX-License-Identifier: Apache-2.0
"""The flame graph has a bar per stack of ranges, as wide as the sum of its times."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import pytest
from wirecell_profile.html.flame import ROW, WIDTH, flame_graph
from wirecell_profile.model.window import find_window


def bars(profile_file, **selection: object) -> dict[str, list[tuple[int, float, float]]]:
    """Return tooltip -> (depth, left, width in ns of 1000) of the bars."""
    scope = profile_file.scope(**selection)
    found: dict[str, list[tuple[int, float, float]]] = {}
    for chart in flame_graph(scope, find_window(scope), lambda name: "#123456"):
        for box in chart.drawing.iter("g"):
            rect: Element = box.find("rect")
            left, top, width = (float(rect.get(key)) for key in ("x", "y", "width"))
            box_of = (int(top // ROW), round(1000 * left / WIDTH), round(1000 * (width + 0.6) / WIDTH))
            found.setdefault(box.find("title").text, []).append(box_of)
    return found


def test_stacks_are_summed(profile_file) -> None:
    """Two instances of A, with B in both and C in one, and B alone on a second thread: 1000 ns in all."""
    with profile_file.writing() as file:
        file.range("A", 0, 300)
        file.range("B", 0, 100)
        file.range("A", 400, 900)
        file.range("C", 400, 700)
        file.range("B", 700, 800)
        file.range("B", 0, 200, tid=2)
    assert bars(profile_file) == {
        "A: 800 ns, 80.0 %, 2 instances": [(0, 0, 800)],
        "C: 300 ns, 30.0 %, 1 instance": [(1, 0, 300)],
        "B: 200 ns, 20.0 %, 2 instances": [(1, 300, 200)],
        "B: 200 ns, 20.0 %, 1 instance": [(0, 800, 200)],
    }


def test_only_the_window_counts(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("A", 0, 3000)
        file.range("B", 1500, 2500)
    assert bars(profile_file, time=(0, 2000)) == {
        "A: 2.00 µs, 100.0 %, 1 instance": [(0, 0, 1000)],
        "B: 500 ns, 25.0 %, 1 instance": [(1, 0, 250)],
    }


def test_overlapping_ranges_stay_within_their_parent(profile_file) -> None:
    """Start/end ranges of one thread may overlap: A and B together take longer than the range around them."""
    with profile_file.writing() as file:
        file.range("run", 0, 1000)
        file.range("A", 0, 900, style=60)
        file.range("B", 100, 1000, style=60)
        file.range("elsewhere", 0, 1000, style=60, end_tid=2)
    found = bars(profile_file)
    assert [found[name][0] for name in sorted(found)] == [(1, 0, 500), (1, 500, 500), (0, 0, 1000)]


def test_tiny_bars_and_deep_stacks(profile_file) -> None:
    """Bars below a pixel are left out; a stack of 400 ranges is cut."""
    with profile_file.writing() as file:
        file.range("long", 0, 1_000_000)
        file.range("short", 0, 100)
        for depth in range(400):
            file.range(f"r{depth}", 2_000_000 + depth, 3_000_000 - depth)
    found = bars(profile_file)
    assert len(found) == 31 and not any(name.startswith("short") for name in found)


def test_no_ranges_no_graph(profile_file) -> None:
    with profile_file.writing() as file:
        file.launch("k", (0, 1), (2, 30))
    assert bars(profile_file) == {}


@pytest.mark.parametrize("ends", [(0, 0), (5, 5)])
def test_ranges_without_length(ends: tuple[int, int], profile_file) -> None:
    with profile_file.writing() as file:
        file.range("A", *ends)
        file.launch("k", (0, 1), (2, 30))
    assert bars(profile_file) == {}
