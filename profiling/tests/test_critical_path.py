# SPDX-License-Identifier: Apache-2.0
"""The critical path of graphs with known answers."""

from __future__ import annotations

import pytest
from synthetic import Synthetic
from wirecell_profile.errors import MissingData
from wirecell_profile.html.overview import charts
from wirecell_profile.model.window import find_window
from wirecell_profile.tables.critical_path import critical_path

DIAMOND = [("S", "A"), ("S", "B"), ("A", "C"), ("B", "C")]


def write(file: Synthetic, edges: list[tuple[str, str]], events: list[dict[str, int]]) -> None:
    """Write a graph, and a call of each node with this time [ns] per event, one after the other."""
    names = dict.fromkeys(name for edge in edges for name in edge)
    index = {name: row for row, name in enumerate(names)}
    file.manifest(what="calls")
    for name in names:
        file.node(index[name], name, "")
    for row, (tail, head) in enumerate(edges):
        file.row("SPNG_EDGE", id=row, tail=index[tail], tailPort=0, head=index[head], headPort=0)
    time, call = 0, 0
    for event, times in enumerate(events):
        for name, length in times.items():
            file.node_call(call, index[name], event, time, time + length)
            time, call = time + length, call + 1


def test_the_longest_branch(profile_file) -> None:
    """The first event does not count; of the others the medians are A 30 and B 50."""
    events = [{"S": 1, "A": 900, "B": 1, "C": 1}]
    events += [{"S": 5, "A": a, "B": b, "C": 10} for a, b in ((30, 40), (29, 50), (200, 60))]
    with profile_file.writing() as file:
        write(file, DIAMOND, events)
    scope = profile_file.scope()
    result = critical_path(scope)
    assert [row[:2] + row[3:] for row in result.rows] == [
        ("S", 5, 5),
        ("B", 50, 55),
        ("C", 10, 65),
        ("whole path", 65, 65),
    ]
    assert [row[2] for row in result.rows] == pytest.approx([500 / 65, 5000 / 65, 1000 / 65, 100])
    (chart,) = (
        chart
        for chart in charts(scope, find_window(scope), {"critical-path": result})
        if chart.heading == "Critical path"
    )
    bars = list(chart.drawing.iter("rect"))
    ends = [float(bar.get("x")) + float(bar.get("width")) for bar in bars]
    assert [float(bar.get("x")) for bar in bars[1:]] == pytest.approx(ends[:-1], abs=0.2)
    assert "65 ns" in chart.caption


def test_one_event_and_nodes_without_calls(profile_file) -> None:
    """A node that was not called takes no time, and calls inside count in the node around them."""
    with profile_file.writing() as file:
        write(file, DIAMOND, [{"S": 10, "A": 20, "C": 5}])
        file.node(9, "Service", "m")
        file.node_call(50, 9, 0, 12, 25)
    assert [row[:2] for row in critical_path(profile_file.scope()).rows] == [
        ("S", 10),
        ("A", 20),
        ("C", 5),
        ("whole path", 35),
    ]


def test_what_has_no_path(profile_file) -> None:
    with profile_file.writing() as file:
        write(file, [("A", "B"), ("B", "A")], [{"A": 1, "B": 2}])
    with pytest.raises(MissingData, match="form a cycle"):
        critical_path(profile_file.scope())


def test_without_edges(profile_file) -> None:
    with profile_file.writing() as file:
        write(file, [], [])
        file.node(1, "A", "")
        file.node_call(1, 1, 0, 0, 10)
    with pytest.raises(MissingData, match="does not contain edges of the graph"):
        critical_path(profile_file.scope())
