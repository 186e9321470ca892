# SPDX-License-Identifier: Apache-2.0
"""Work of CUDA graphs by the node that captured it."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic import Synthetic
from wirecell_profile import cli
from wirecell_profile.errors import MissingData
from wirecell_profile.model.profile import Profile
from wirecell_profile.model.selection import Scope
from wirecell_profile.tables import node_use
from wirecell_profile.tables.graph_use import graph_nodes


def process(path: Path, pid: int, names: tuple[str, str]) -> Path:
    """Write two launches of a graph by the section: a kernel of 10 ns of one node, two of 30 ns of the other.

    The nodes of the launched graph are clones of those that were captured.
    """
    with Synthetic(path, pid=pid) as file:
        file.manifest(file=path.name)
        for index, name in enumerate(("SPNGDeviceSection", *names)):
            file.node(index, name, "")
        for call, captured in ((1, (11,)), (2, (12, 13))):
            file.row("SPNG_UNCOUNTED_CALL", id=call, node=call)
            for graph_node in captured:
                thread = file.thread(1)
                file.row("CUDA_GRAPH_NODE_EVENTS", globalTid=thread, graphNodeId=graph_node, spngCall=call)
                file.row(
                    "CUDA_GRAPH_NODE_EVENTS",
                    globalTid=thread,
                    graphNodeId=graph_node + 10,
                    originalGraphNodeId=graph_node,
                    spngCall=8,
                )
        for event, at in enumerate((0, 1000)):
            file.node_call(8 + event, 0, event, at, at + 50)
            file.job_event(event, at, at + 50)
            launch = file.call("cudaGraphLaunch", at + 10, at + 20)
            for graph_node, start, end in ((21, 30, 40), (22, 40, 70), (23, 40, 70)):
                file.kernel("k", at + start, at + end, launch, graphNodeId=graph_node, stream=graph_node)
    return path


def rows(path: Path) -> list[tuple]:
    with Profile.open(path) as profile:
        return graph_nodes(Scope(profile)).rows


def test_work_belongs_to_the_node_that_captured_it(tmp_path: Path) -> None:
    path = process(tmp_path / "a.sqlite", 100, ("A", "B"))
    assert rows(path) == [
        ("B", 4, 2, 2.0, 120, 60, pytest.approx(120 / 1.4)),
        ("A", 2, 2, 1.0, 20, 20, pytest.approx(20 / 1.4)),
    ]
    with Profile.open(path) as profile:
        (section,) = node_use.devices(Scope(profile)).records()
    assert (section["Node"], section["GPU ops"], section["Launches"]) == ("SPNGDeviceSection", 6, 2)


def test_graph_nodes_of_two_processes_stay_apart(tmp_path: Path) -> None:
    files = [
        process(tmp_path / "a.sqlite", 100, ("A", "B")),
        process(tmp_path / "b.sqlite", 200, ("C", "D")),
    ]
    assert cli.main(["merge", *map(str, files), "-o", str(tmp_path / "all.sqlite")]) == 0
    assert [row[:2] for row in rows(tmp_path / "all.sqlite")] == [("B", 4), ("D", 4), ("A", 2), ("C", 2)]


def test_without_the_capture_the_node_is_unknown(profile_file) -> None:
    with profile_file.writing() as file:
        file.kernel("k", 0, 10, file.call("cudaGraphLaunch", 0, 1), graphNodeId=5)
    assert graph_nodes(profile_file.scope()).rows == [("(unknown)", 1, 1, 1.0, 10, 10, 100.0)]


def test_without_graphs_the_table_is_missing(profile_file) -> None:
    with profile_file.writing() as file:
        file.launch("k", (0, 1), (2, 3))
    with pytest.raises(MissingData, match="CUDA graphs traced by node"):
        graph_nodes(profile_file.scope())
