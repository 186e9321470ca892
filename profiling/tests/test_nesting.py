# SPDX-License-Identifier: Apache-2.0
"""Nesting agrees with a direct search over all pairs, and its work is bounded."""

from __future__ import annotations

import numpy as np
import pytest
from wirecell_profile.model import nesting
from wirecell_profile.model.nesting import Nesting, exclusive_within, nest


def columns(*rows: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (start, end, thread) of rows."""
    return tuple(np.array(part, dtype=np.int64) for part in zip(*rows))


def test_a_stack_by_hand() -> None:
    """a(0-100) { b(10-40) { c(20-30) }  d(50-60) }  e(200-210)"""
    found = nest(columns((0, 100, 1), (10, 40, 1), (20, 30, 1), (50, 60, 1), (200, 210, 1)))
    assert found.parent.tolist() == [-1, 0, 1, 0, -1]
    assert found.level.tolist() == [0, 1, 2, 1, 0]
    assert found.children.tolist() == [2, 1, 0, 0, 0]
    assert found.exclusive.tolist() == [60, 20, 10, 10, 10]


def test_threads_do_not_nest() -> None:
    found = nest(columns((0, 100, 1), (10, 40, 2)), columns((20, 30, 2), (50, 60, 2), (50, 60, 1)))
    assert found.parent.tolist() == [-1, -1]
    assert found.innermost.tolist() == [1, -1, 0]


def test_edges_are_inside() -> None:
    """A range or call may share its edges with the enclosing range; of equal ranges the earlier row is the
    outer one.
    """
    found = nest(columns((0, 100, 1), (0, 100, 1)), columns((0, 100, 1), (0, 0, 1), (100, 100, 1)))
    assert found.parent.tolist() == [-1, 0]
    assert found.innermost.tolist() == [1, 1, 1]


def test_overlap_is_not_nesting() -> None:
    """a(0-50) and b(30-80) overlap; a call in 35-45 lies in both, one in 45-60 only in b, one across b's end
    in neither.
    """
    found = nest(columns((0, 50, 1), (30, 80, 1)), columns((35, 45, 1), (45, 60, 1), (70, 90, 1)))
    assert found.parent.tolist() == [-1, -1]
    assert found.exclusive.tolist() == [50, 50]
    assert list(pairs_of(found)) == [(0, 0), (1, 0), (1, 1)]


def test_exclusive_counts_overlapping_children_once() -> None:
    """Children 10-40 and 30-60 of 0-100 cover 50."""
    assert nest(columns((0, 100, 1), (10, 40, 1), (30, 60, 1))).exclusive.tolist() == [50, 30, 30]


def test_nothing_in_nothing() -> None:
    empty = (np.empty(0, np.int64),) * 3
    assert len(nest(empty).parent) == 0
    assert nest(empty, columns((0, 1, 1))).innermost.tolist() == [-1]


def direct(ranges: list[tuple], calls: list[tuple]) -> tuple[list[int], set[tuple[int, int]]]:
    """Return parents and pairs by testing every pair."""

    def holds(outer: tuple, inner: tuple) -> bool:
        return outer[2] == inner[2] and outer[0] <= inner[0] and inner[1] <= outer[1]

    order = sorted(range(len(ranges)), key=lambda i: (ranges[i][2], ranges[i][0], -ranges[i][1], i))
    parents = [-1] * len(ranges)
    for position, i in enumerate(order):
        around = [j for j in order[:position] if holds(ranges[j], ranges[i])]
        parents[i] = min(reversed(around), key=lambda j: ranges[j][1] - ranges[j][0]) if around else -1
    pairs = {(i, j) for i, one in enumerate(ranges) for j, call in enumerate(calls) if holds(one, call)}
    return parents, pairs


def pairs_of(found: Nesting) -> list[tuple[int, int]]:
    """Return all pairs (range, interval) in their order."""
    return list(zip(*(part.tolist() for part in found.pairs())))


def in_order(pairs: set[tuple[int, int]], ranges: list[tuple], calls: list[tuple]) -> list[tuple[int, int]]:
    """Sort pairs by the call's thread and start, outermost range first."""

    def key(event: tuple, row: int) -> tuple:
        return event[2], event[0], -event[1], row

    return sorted(pairs, key=lambda pair: (key(calls[pair[1]], pair[1]), key(ranges[pair[0]], pair[0])))


@pytest.mark.parametrize("seed", range(30))
def test_agrees_with_the_direct_search(seed: int) -> None:
    """Both agree on random overlapping ranges on three threads, many with equal edges."""
    random = np.random.default_rng(seed)

    def rows(count: int, longest: int) -> list[tuple[int, int, int]]:
        start = random.integers(0, 60, count)
        return list(
            zip(
                start.tolist(),
                (start + random.integers(0, longest, count)).tolist(),
                random.integers(0, 3, count).tolist(),
            )
        )

    ranges, calls = rows(80, 40), rows(60, 8)
    parents, pairs = direct(ranges, calls)
    found = nest(columns(*ranges), columns(*calls))
    assert found.parent.tolist() == parents
    assert set(pairs_of(found)) == pairs and len(pairs_of(found)) == len(pairs)
    assert pairs_of(found) == in_order(pairs, ranges, calls)


class Counted(np.ndarray):
    """Indices that count how many of them are read or replaced."""

    looks: list[int] = []

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        self.looks.append(np.size(rows) if isinstance(rows, np.ndarray) else 0)
        return super().__getitem__(rows)

    def __setitem__(self, rows: np.ndarray, values: np.ndarray) -> None:
        self.looks.append(len(rows))
        super().__setitem__(rows, values)


def counter(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the indices that searches replace."""
    climb = nesting._climb

    def counted(found: np.ndarray, above: np.ndarray, *ends: np.ndarray) -> None:
        view = found.view(Counted)
        climb(view, view if above is found else above, *ends)

    monkeypatch.setattr(nesting, "_climb", counted)
    return Counted.looks


def shapes(count: int) -> dict[str, list[tuple[int, int, int]]]:
    """Return ranges for which a careless search needs quadratic work."""
    return {
        "flat": [(10 * i, 10 * i + 5, 1) for i in range(count)],
        "chain of overlaps": [(10 * i, 10 * i + 15, 1) for i in range(count)],
        "below one long range": [(0, 10 * count, 1), *((10 * i, 10 * i + 5, 1) for i in range(count))],
        "beside a late long range": [
            (0, 20, 1),
            (1, 10 * count, 1),
            *((10 * i + 3, 10 * i + 8, 1) for i in range(count)),
        ],
        "four deep": [(40 * (i // 4) + i % 4, 40 * (i // 4) + 30 - i % 4, 1) for i in range(count)],
    }


@pytest.mark.parametrize("shape", shapes(1))
def test_work_grows_with_the_number_of_ranges(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps per range grow no faster than those of sorting, however many ranges there are."""
    looks = counter(monkeypatch)
    for count in (1_000, 10_000):
        ranges = columns(*shapes(count)[shape])
        calls = (ranges[0] + 1, ranges[0] + 2, ranges[2])
        looks.clear()
        assert len(nest(ranges, calls).pairs()[0]) >= count
        assert sum(looks) < 4 * count * np.log2(count)


@pytest.mark.parametrize("after", ("nothing", "a nest", "a row"))
def test_work_grows_with_the_number_of_ranges_in_each_other(
    after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parents and levels of all ranges of a deep nest and of those that follow it, and calls across their ends."""
    looks, totals = counter(monkeypatch), []
    for count in (1_000, 10_000):
        deep, late = np.arange(count), 4 * count
        start, end, level = [deep], [late - 5 - deep], [deep]
        if after == "a nest":
            start, end, level = start + [late + deep], end + [2 * late - 5 - deep], level * 2
        elif after == "a row":
            start, end, level = start + [late + 9 * deep], end + [late + 9 * deep + 4], level + [0 * deep]
        ranges = np.concatenate(start), np.concatenate(end), np.ones(len(start) * count, dtype=np.int64)
        calls = (ranges[1] - 1, ranges[1] + 1, ranges[2])  # each is in the range around the one that ends
        looks.clear()
        found = nest(ranges, calls)
        found._ranges.shortest = found._ranges.shortest.view(Counted)
        around = np.concatenate(level)
        assert (found.level == around).all()
        assert (found.innermost == np.where(around > 0, np.arange(len(around)) - 1, -1)).all()
        totals.append(sum(looks))
    assert totals[1] < 15 * totals[0]


def test_exclusive_time_within_two_times() -> None:
    """a(0-100) { b(10-40)  c(35-60) }, d(90-120) overlaps a; between 20 and 95, e(200-210) is outside."""
    ranges = columns((0, 100, 1), (10, 40, 1), (35, 60, 1), (90, 120, 1), (200, 210, 1))
    assert exclusive_within(*ranges, 20, 95).tolist() == [75 - 40, 20, 25, 5, 0]


def test_ranges_outside_of_two_times_are_not_nested(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges cut to nothing would all lie in each other; a touching pair starts a search along them."""
    nested = []
    monkeypatch.setattr(nesting, "nest", lambda ranges: nested.append(len(ranges[0])) or nest(ranges))
    count = 200_000
    start = np.arange(count) * 10
    ranges = (start, start + np.where(start == 0, 10, 5), np.ones(count, dtype=np.int64))
    assert exclusive_within(*ranges, 0, 22).sum() == 10 + 5 + 2
    assert nested == [3]


@pytest.mark.parametrize("step", (0, 1))
def test_one_touching_pair_costs_no_search_in_deep_nests(step: int) -> None:
    """200,000 ranges in each other, of one time or of different ones, are searched in steps of all at once."""
    count = 200_000
    inner = np.arange(count) * step
    start = np.concatenate([[-10, 0], inner])
    end = np.concatenate([[0, 2 * count], 2 * count * step - inner])
    parent = nest((start, end, np.ones(count + 2, dtype=np.int64))).parent
    assert parent[2:].tolist() == ([0, *range(2, count + 1)] if step == 0 else [*range(1, count + 1)])
