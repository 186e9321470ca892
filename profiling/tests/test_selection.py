# SPDX-License-Identifier: Apache-2.0
"""--range, --node, --event and --time."""

from __future__ import annotations

import pytest
from wirecell_profile.errors import MissingData, UsageError
from wirecell_profile.model.selection import Scope, parse_events, parse_time, parse_window


def names(scope: Scope) -> dict[str, list[str]]:
    """Return the selected ranges, calls and operations."""
    profile = scope.profile
    return {
        "ranges": profile.ranges.take(scope.range_rows).text.to_list(),
        "calls": profile.calls.take(scope.call_rows).name.to_list(),
        "operations": profile.operations.take(scope.operation_rows).name.to_list(),
    }


def two_events(file) -> None:
    """Write two events with two nodes each. Decon launches in a step, ROI in a helper thread; both run later."""
    file.domain("spng", 1)
    file.node(1, "SPNGDecon", "induction")
    file.node(2, "SPNGROI", "u")
    for event, begin in ((0, 0), (1, 1000)):
        file.node_call(10 + event, 1, event, begin, begin + 400)
        file.range("SPNGDecon:induction", begin + 1, begin + 399, domainId=1, event=event)
        file.range("Decon::transform", begin + 100, begin + 200, domainId=1)
        file.launch(
            f"fft of {event}", (begin + 110, begin + 120), (begin + 5000, begin + 5100), api="cuLaunchKernel"
        )
        file.launch(f"multiply of {event}", (begin + 210, begin + 220), (begin + 5100, begin + 5200))
        file.node_call(20 + event, 2, event, begin + 500, begin + 900)
        file.range("SPNGROI:u", begin + 501, begin + 899, domainId=1, event=event)
        helper = file.launch(
            f"threshold of {event}", (begin + 600, begin + 610), (begin + 5200, begin + 5300), tid=2
        )
        file.external(helper, 20 + event)


def test_everything(profile_file) -> None:
    with profile_file.writing() as file:
        two_events(file)
    scope = profile_file.scope()
    assert scope.selection.is_everything
    assert len(scope.range_rows) == 6 and len(scope.call_rows) == len(scope.operation_rows) == 6


def test_a_range_keeps_what_runs_and_what_was_launched_within_it(profile_file) -> None:
    with profile_file.writing() as file:
        two_events(file)
    expected = {
        "ranges": ["Decon::transform"] * 2,
        "calls": ["cuLaunchKernel"] * 2,
        "operations": ["fft of 0", "fft of 1"],
    }
    for pattern in ("Decon::transform", "spng:Decon::transform", "Decon::*"):
        assert names(profile_file.scope(ranges=(pattern,))) == expected


def test_ranges_of_several_names(profile_file) -> None:
    with profile_file.writing() as file:
        two_events(file)
    both = names(profile_file.scope(ranges=("Decon::transform", "SPNGROI:u")))
    assert both["ranges"] == ["Decon::transform", "SPNGROI:u"] * 2


@pytest.mark.parametrize("pattern", ("SPNGROI:u", "SPNGROI", "u", "SPNGR*"))
def test_a_node_keeps_what_other_threads_launched_for_it(profile_file, pattern: str) -> None:
    with profile_file.writing() as file:
        two_events(file)
    kept = names(profile_file.scope(nodes=(pattern,)))
    assert kept["ranges"] == ["SPNGROI:u"] * 2
    assert kept["operations"] == ["threshold of 0", "threshold of 1"]
    assert kept["calls"] == []  # the helper's calls lie in no call of the node


def test_an_event_keeps_all_its_nodes(profile_file) -> None:
    with profile_file.writing() as file:
        two_events(file)
    kept = names(profile_file.scope(events=(1, 1)))
    assert kept["ranges"] == ["SPNGDecon:induction", "Decon::transform", "SPNGROI:u"]
    assert kept["operations"] == ["fft of 1", "multiply of 1", "threshold of 1"]
    assert len(profile_file.scope(events=(0, 1)).operation_rows) == 6


def test_filters_add_up(profile_file) -> None:
    with profile_file.writing() as file:
        two_events(file)
    assert names(profile_file.scope(nodes=("SPNGDecon",), events=(0, 0)))["operations"] == [
        "fft of 0",
        "multiply of 0",
    ]
    assert names(profile_file.scope(ranges=("Decon::*",), events=(0, 0)))["operations"] == ["fft of 0"]
    assert names(profile_file.scope(nodes=("SPNGDecon",), ranges=("SPNGROI:u",)))["operations"] == []


def test_windows_side_by_side_share_nothing_and_lose_nothing(profile_file) -> None:
    with profile_file.writing() as file:
        two_events(file)
    whole = profile_file.scope()
    for cut in (0, 110, 1110, 5100, 5101, 9999):
        before, after = profile_file.scope(time=(None, cut)), profile_file.scope(time=(cut, None))
        for rows in ("range_rows", "call_rows", "operation_rows", "node_call_rows"):
            parts = [*getattr(before, rows).tolist(), *getattr(after, rows).tolist()]
            assert sorted(parts) == getattr(whole, rows).tolist()
    assert names(profile_file.scope(time=(5100, 5200)))["operations"] == ["multiply of 0"]


def test_attribution_is_that_of_the_whole_profile(profile_file) -> None:
    """The time selection contains the kernel but not its launch. The kernel still belongs to its range."""
    with profile_file.writing() as file:
        two_events(file)
    scope = profile_file.scope(time=(5000, 6000))
    assert len(scope.range_rows) == 0 and len(scope.pairs.range) == 0
    inner = scope.projection.range_of_operation[scope.operation_rows]
    assert [scope.projection.ranges.text.text(i) for i in inner[:2]] == [
        "Decon::transform",
        "SPNGDecon:induction",
    ]


def test_a_node_keeps_its_own_range_though_the_clock_starts_later(profile_file) -> None:
    """The recorder writes the range 0-100 around the call 5-95; a launch between the two belongs to the
    range.
    """
    with profile_file.writing() as file:
        file.domain("spng", 1)
        file.node(1, "SPNGDecon", "u")
        file.node_call(10, 1, 0, 5, 95)
        file.range("SPNGDecon:u", 0, 100, domainId=1, event=0)
        file.range("SPNGDecon:u", 200, 300, domainId=1, event=1)
        file.launch("kernel", (96, 98), (200, 210))
    scope = profile_file.scope(nodes=("SPNGDecon:u",))
    assert names(scope) == {
        "ranges": ["SPNGDecon:u"],
        "calls": ["cudaLaunchKernel"],
        "operations": ["kernel"],
    }
    assert scope.node_projection.own_range.tolist() == [0]
    assert len(scope.node_call_rows) == 1


def test_projection_of_a_part(profile_file) -> None:
    with profile_file.writing() as file:
        two_events(file)
    projected = profile_file.scope(events=(1, 1)).projected
    ranges = profile_file.profile().ranges
    parts = zip(
        projected.range.tolist(),
        projected.start.tolist(),
        projected.end.tolist(),
        projected.operations.tolist(),
    )
    assert [(ranges.text.text(i), *rest) for i, *rest in parts] == [
        ("SPNGDecon:induction", 6000, 6200, 2),
        ("Decon::transform", 6000, 6100, 1),
    ]


def test_nodes_of_an_nsys_export(profile_file) -> None:
    """Without the recorder's tables the ranges of nodes are used."""
    with profile_file.writing() as file:
        file.domain("spng", 1)
        file.range("SPNGDecon:u", 0, 100, domainId=1, event=3)
        file.range("SPNGDecon:v", 200, 300, domainId=1, event=3)
        file.launch("kernel of u", (10, 20), (30, 40))
        file.launch("kernel of v", (210, 220), (230, 240))
    assert names(profile_file.scope(nodes=("SPNGDecon:v",), events=(3, 3)))["operations"] == ["kernel of v"]


def test_unknown_names_are_rejected_with_the_nearest_name(profile_file) -> None:
    with profile_file.writing() as file:
        two_events(file)
    with pytest.raises(UsageError, match="no such range(.|\n)*nearest: .*Decon::transform"):
        profile_file.scope(ranges=("Decon::transfrom",)).range_rows
    with pytest.raises(UsageError, match="no such node(.|\n)*SPNGDecon:induction"):
        profile_file.scope(nodes=("SPNGDecon:collection",)).operation_rows
    with pytest.raises(UsageError, match="no such event"):
        profile_file.scope(events=(7, 8)).range_rows


def test_node_calls_that_the_file_lacks_are_missing(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("range", 0, 10)
    with pytest.raises(MissingData, match="node calls"):
        profile_file.scope(events=(0, 0)).range_rows


@pytest.mark.parametrize(
    "text, nanoseconds",
    [
        ("15", 15),
        ("15ns", 15),
        ("2us", 2_000),
        ("1.5ms", 1_500_000),
        ("0.1s", 100_000_000),
        ("9007199.254740993s", 9_007_199_254_740_993),
    ],
)
def test_times_are_exact(text: str, nanoseconds: int) -> None:
    """Times are exact; the last one, 2^53 + 1 ns, would change in floating point."""
    assert parse_time(text) == nanoseconds


def test_windows_and_events() -> None:
    assert parse_window("1.2s-1500ms") == (1_200_000_000, 1_500_000_000)
    assert parse_window("100-") == (100, None) and parse_window("-2us") == (None, 2_000)
    assert parse_events("3") == (None, (3, 3)) and parse_events("2-5") == (None, (2, 5))
    assert parse_events("4711:2-5") == (4711, (2, 5))


@pytest.mark.parametrize("text", ("", "-", "5", "9-5", "5-5", "1-2-3", "a-b", "1x-2x", "1e3-2e3"))
def test_windows_that_make_no_sense(text: str) -> None:
    with pytest.raises(UsageError):
        parse_window(text)


@pytest.mark.parametrize("text", ("", "a", "5-2", "-1", "1-2-3", "1.5"))
def test_events_that_make_no_sense(text: str) -> None:
    with pytest.raises(UsageError):
        parse_events(text)
