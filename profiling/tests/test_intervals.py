# SPDX-License-Identifier: Apache-2.0
"""Unions, gaps and overlaps equal those counted in drawings."""

from __future__ import annotations

import numpy as np
from wirecell_profile.model.intervals import clip, gaps, time_at_once, union_by_owner
from wirecell_profile.model.projection import union_length


def arrays(*pairs: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return starts and ends."""
    return np.array([pair[0] for pair in pairs], np.int64), np.array([pair[1] for pair in pairs], np.int64)


def test_unions_of_owners_do_not_mix() -> None:
    start, end = arrays((0, 10), (5, 20), (0, 10), (30, 40), (32, 35))
    owner = np.array([1, 1, 3, 3, 3])
    assert union_by_owner(start, end, owner, 5).tolist() == [0, 20, 0, 20, 0]


def test_union_is_exact_beyond_doubles() -> None:
    base = 2**60 + 1
    start, end = arrays((base, base + 3), (base + 2, base + 4))
    assert union_by_owner(start, end, np.array([0, 0]), 1).tolist() == [4]


def test_unions_equal_one_by_one() -> None:
    random = np.random.default_rng(1)
    start = random.integers(0, 10_000, 2_000)
    end = start + random.integers(0, 50, 2_000)
    owner = random.integers(0, 40, 2_000)
    expected = [union_length(start[owner == i], end[owner == i]) for i in range(40)]
    assert union_by_owner(start, end, owner, 40).tolist() == expected


def test_gaps_know_their_neighbours() -> None:
    start, end = arrays((50, 60), (0, 40), (5, 10), (70, 71), (60, 65))
    found = gaps(start, end)
    assert found.start.tolist() == [40, 65] and found.end.tolist() == [50, 70]
    assert found.before.tolist() == [1, 4] and found.after.tolist() == [0, 3]


def test_time_at_once() -> None:
    start, end = arrays((0, 10), (5, 15), (8, 9), (15, 20))
    assert [time_at_once(start, end, depth) for depth in (1, 2, 3, 4)] == [20, 5, 1, 0]


def test_clip() -> None:
    rows, start, end = clip(*arrays((0, 5), (4, 12), (10, 20), (8, 8)), 4, 10)
    assert rows.tolist() == [0, 1, 3] and start.tolist() == [4, 4, 8] and end.tolist() == [5, 10, 8]
