# SPDX-License-Identifier: Apache-2.0
"""Each rule that assigns device operations to ranges, by an example that can be worked out by hand."""

from __future__ import annotations

import numpy as np
from synthetic import START_END
from wirecell_profile.model.nodes import NodeProjection, capturing_nodes
from wirecell_profile.model.projection import Projection, union_length


def attributed(projection: Projection) -> dict[str, list[str]]:
    """Return range name -> names of its operations, in order."""
    found: dict[str, list[str]] = {}
    for one, operation in zip(projection.pairs.range.tolist(), projection.pairs.operation.tolist()):
        found.setdefault(projection.ranges.name.text(one), []).append(
            projection.operations.name.text(operation)
        )
    return found


def projected(projection: Projection) -> dict[str, tuple[int, int, int, int]]:
    """Return range name -> (start, end, launches, operations) on the device."""
    table = projection.project()
    parts = zip(
        table.range.tolist(),
        table.start.tolist(),
        table.end.tolist(),
        table.launches.tolist(),
        table.operations.tolist(),
    )
    return {
        projection.ranges.name.text(one): (start, end, launches, count)
        for one, start, end, launches, count in parts
    }


def test_an_operation_belongs_to_every_range_around_its_call(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("outer", 0, 100)
        file.range("inner", 10, 50)
        file.launch("first", call=(20, 30), run=(200, 250))
        file.launch("second", call=(60, 70), run=(240, 300), stream=8)
    projection = profile_file.scope().projection
    assert attributed(projection) == {"outer": ["first", "second"], "inner": ["first"]}
    assert projected(projection) == {"outer": (200, 300, 2, 2), "inner": (200, 250, 1, 1)}
    assert projection.range_of_operation.tolist() == [1, 0]


def test_a_call_across_either_edge_does_not_count(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("range", 100, 200)
        file.launch("across the start", call=(90, 110), run=(300, 310))
        file.launch("across the end", call=(190, 210), run=(320, 330))
        file.launch("edge to edge", call=(100, 200), run=(340, 350))
    projection = profile_file.scope().projection
    assert attributed(projection) == {"range": ["edge to edge"]}
    assert projection.range_of_operation.tolist() == [-1, -1, 0]


def test_when_the_operation_runs_does_not_matter(profile_file) -> None:
    """Asynchronous work that runs after its range, even within another one, belongs to its range."""
    with profile_file.writing() as file:
        file.range("launching", 0, 50)
        file.range("waiting", 60, 500)
        file.launch("kernel", call=(10, 20), run=(100, 400))
    assert attributed(profile_file.scope().projection) == {"launching": ["kernel"]}


def test_another_thread_does_not_count(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("range", 0, 100, tid=1)
        file.launch("elsewhere", call=(10, 20), run=(30, 40), tid=2)
    assert attributed(profile_file.scope().projection) == {}


def test_another_process_with_the_same_numbers(profile_file) -> None:
    """Thread and correlation numbers are unique only within a process."""
    with profile_file.writing() as file:
        file.range("ours", 0, 100, tid=1)
        file.range("theirs", 0, 100, tid=1, pid=200)
        file.call("cudaLaunchKernel", 10, 20, tid=1, correlation=5)
        file.call("cudaLaunchKernel", 10, 20, tid=1, correlation=5, pid=200)
        file.kernel("their kernel", 30, 40, correlation=5, pid=200)
        file.kernel("our kernel", 50, 60, correlation=5)
        file.kernel("nobody's", 70, 80, correlation=5, pid=300)
    projection = profile_file.scope().projection
    assert attributed(projection) == {"ours": ["our kernel"], "theirs": ["their kernel"]}
    assert projection.call_of_operation.tolist() == [1, 0, -1]


def test_operations_without_a_launching_call(profile_file) -> None:
    """Correlation 0 or none, as for moves of unified memory, joins nothing, even if a call has correlation 0."""
    with profile_file.writing() as file:
        file.range("range", 0, 100)
        file.call("cudaFree", 10, 20, correlation=0)
        file.copy(15, 18, 0, kind=11)
        file.copy(15, 18, None, kind=11)
    projection = profile_file.scope().projection
    assert projection.call_of_operation.tolist() == [-1, -1] and attributed(projection) == {}


def test_same_name_nesting_counts_in_both(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("S", 0, 100)
        file.range("S", 10, 90)
        file.launch("kernel", call=(20, 30), run=(200, 300))
    projection = profile_file.scope().projection
    assert projection.pairs.range.tolist() == [0, 1] and projection.pairs.operation.tolist() == [0, 0]
    assert projection.level.tolist() == [0, 1]


def test_a_graph_launch_is_one_launch_with_many_operations(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("replay", 0, 100)
        launch = file.call("cudaGraphLaunch_v10000", 10, 20)
        for node in range(3):
            file.kernel(f"node {node}", 100 + 10 * node, 105 + 10 * node, launch, graphNodeId=node)
    assert projected(profile_file.scope().projection) == {"replay": (100, 125, 1, 3)}


def test_a_graph_recorded_as_a_whole_is_not_projected(profile_file) -> None:
    """A graph that was recorded as a whole has no kernels, and nsys projects only kernels, copies and sets."""
    with profile_file.writing() as file:
        file.range("replay", 0, 100)
        file.graph(100, 200, file.call("cudaGraphLaunch_v10000", 10, 20))
    projection = profile_file.scope().projection
    assert projected(projection) == {}
    assert projection.pairs.operation.tolist() == [0]  # the attribution itself is known
    assert projection.project(np.array([True])).operations.tolist() == [1]


def test_copies_and_sets_are_projected_like_kernels(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("upload", 0, 100)
        file.copy(40, 60, file.call("cudaMemcpyAsync_v3020", 10, 20), source=0)
        file.memset(30, 35, file.call("cudaMemsetAsync_v3020", 22, 25))
    projection = profile_file.scope().projection
    assert attributed(projection) == {"upload": ["[CUDA memcpy Host-to-Device]", "[CUDA memset]"]}
    assert projected(projection) == {"upload": (30, 60, 2, 2)}


def test_start_end_ranges_count_only_on_one_thread(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("on one thread", 0, 100, style=START_END)
        file.range("across threads", 0, 100, style=START_END, end_tid=2)
        file.launch("kernel", call=(10, 20), run=(30, 40))
    projection = profile_file.scope().projection
    assert attributed(projection) == {"on one thread": ["kernel"]}
    assert projection.level.tolist() == [0, 0] and projection.parent.tolist() == [-1, -1]


def test_both_styles_share_one_stack(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("start/end", 0, 100, style=START_END)
        file.range("push/pop", 10, 90)
    projection = profile_file.scope().projection
    assert projection.parent.tolist() == [-1, 0]
    assert projection.exclusive.tolist() == [20, 80]


def test_an_open_range_encloses_what_follows(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("open", 0, None)
        file.range("later", 50, 60)
        file.launch("before the last time", call=(10, 20), run=(100, 110))
        file.launch("after it", call=(70, 80), run=(120, 130))
    assert attributed(profile_file.scope().projection) == {"open": ["before the last time"]}


def test_a_runtime_call_goes_before_the_driver_call_inside_it(profile_file) -> None:
    """Of a runtime call and the driver call inside it, with the same correlation id, the runtime call counts."""
    with profile_file.writing() as file:
        file.range("range", 0, 100)
        file.call("cuLaunchKernel", 22, 28, correlation=9, driver=True)
        file.call("cudaLaunchKernel", 20, 30, correlation=9)
        file.kernel("kernel", 40, 50, 9)
    projection = profile_file.scope().projection
    assert projection.calls.name.text(projection.call_of_operation[0]) == "cudaLaunchKernel"
    assert projected(projection) == {"range": (40, 50, 1, 1)}


def test_the_exclusive_times_of_a_thread_add_up_to_its_outermost_range(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("run", 0, 1000)
        for begin in range(0, 1000, 100):
            file.range("step", begin + 10, begin + 90)
            file.range("part", begin + 20, begin + 50)
    projection = profile_file.scope().projection
    assert projection.exclusive.sum() == 1000
    assert projection.exclusive[0] == 200


def test_union_of_concurrent_streams() -> None:
    start, end = np.array([0, 50, 300, 320]), np.array([100, 150, 400, 330])
    assert union_length(start, end) == 250  # 0-150 and 300-400; the sum of durations is 310
    assert union_length(start[:0], end[:0]) == 0


def node_projection(profile_file) -> NodeProjection:
    """Return the node calls of the profile joined with its events."""
    return profile_file.scope().node_projection


def test_node_calls_from_the_recorder(profile_file) -> None:
    with profile_file.writing() as file:
        file.manifest(tier="cuda")
        file.node(1, "SPNGDecon", "induction")
        file.node(2, "SPNGDNNROI", "v")
        file.node_call(10, 1, 0, 0, 100, bytes_in=4096)
        file.node_call(11, 2, 0, 110, 200)
        file.node_call(12, 1, 1, 210, 300, ok=0)
        file.node(3, "FrameFileSink", "")
        file.node_call(13, 3, 1, 310, 320)
    calls = profile_file.profile().node_calls
    assert calls.node.to_list() == [
        "SPNGDecon:induction",
        "SPNGDNNROI:v",
        "SPNGDecon:induction",
        "FrameFileSink",
    ]
    assert calls.type.to_list() == ["SPNGDecon", "SPNGDNNROI", "SPNGDecon", "FrameFileSink"]
    assert calls.event.tolist() == [0, 0, 1, 1] and calls.ok.tolist() == [1, 1, 0, 1]
    assert calls.bytes_in[0] == 4096 and calls.bytes_in[1] < 0  # not measured is not 0


def test_node_calls_of_an_nsys_export_come_from_the_ranges(profile_file) -> None:
    with profile_file.writing() as file:
        file.domain("spng", 1)
        file.range("SPNGDecon:induction", 0, 100, domainId=1, event=7)
        file.range("Decon::transform", 10, 20, domainId=1)
        file.range("SPNGDecon:induction", 0, 100, event=7)
        file.range("FrameFileSource", 200, 300, domainId=1, event=8)
        file.range("warm-up", 400, 500, domainId=1)
    calls = profile_file.profile().node_calls
    assert calls.node.to_list() == ["SPNGDecon:induction", "FrameFileSource"] and calls.event.tolist() == [
        7,
        8,
    ]
    assert calls.cpu[0] < 0 and calls.id.tolist() == [2, 5]


def test_operations_of_node_calls_by_containment(profile_file) -> None:
    with profile_file.writing() as file:
        file.node(1, "A", "a")
        file.node(2, "B", "b")
        file.node_call(10, 1, 0, 0, 100)
        file.node_call(11, 2, 0, 20, 60)
        file.launch("of a", call=(5, 10), run=(200, 210))
        file.launch("of b", call=(30, 40), run=(220, 230))
        file.launch("of none", call=(110, 120), run=(240, 250))
    found = node_projection(profile_file)
    assert found.call_of_operation.tolist() == [0, 1, -1]


def test_external_correlation_goes_before_containment(profile_file) -> None:
    """Work that a helper thread launches belongs to its node call, even while another call runs."""
    with profile_file.writing() as file:
        file.node(1, "A", "a")
        file.node_call(10, 1, 0, 0, 100, tid=1)
        file.node_call(11, 1, 1, 0, 100, tid=2)
        helper = file.launch("by a helper", call=(20, 30), run=(40, 50), tid=3)
        other = file.launch("within the other call", call=(20, 30), run=(60, 70), tid=2)
        file.launch("by containment", call=(40, 50), run=(80, 90), tid=2)
        file.external(helper, 10)
        file.external(other, 10)
        file.external(other, 11, pid=999)
    assert node_projection(profile_file).call_of_operation.tolist() == [0, 0, 1]


def test_replayed_graph_nodes_belong_to_the_call_that_launched_them(profile_file) -> None:
    with profile_file.writing() as file:
        file.node(1, "Decon", "u")
        file.node(2, "DNNROI", "u")
        file.node(3, "Graph", "all")
        file.node_call(10, 1, 0, 0, 10)
        file.node_call(11, 2, 0, 10, 20)
        file.node_call(12, 3, 1, 100, 200)
        for node, call in ((1, 10), (2, 11)):
            file.row(
                "CUDA_GRAPH_NODE_EVENTS",
                start=node,
                end=node,
                nameId=0,
                globalTid=file.thread(1),
                graphNodeId=node,
                spngCall=call,
            )
            file.row(
                "CUDA_GRAPH_NODE_EVENTS",
                start=50,
                end=50,
                nameId=0,
                globalTid=file.thread(1),
                graphNodeId=node + 100,
                originalGraphNodeId=node,
            )
        launch = file.call("cudaGraphLaunch_v10000", 110, 120)
        file.kernel("deconvolve", 300, 310, launch, graphNodeId=101)
        file.kernel("network", 310, 320, launch, graphNodeId=102)
        file.kernel("unknown node", 320, 330, launch, graphNodeId=555)
    assert node_projection(profile_file).call_of_operation.tolist() == [2, 2, 2]  # the event of the launch
    operations = profile_file.profile().operations
    assert capturing_nodes(profile_file.profile(), operations).to_list() == ["Decon:u", "DNNROI:u", ""]
