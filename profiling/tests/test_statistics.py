# SPDX-License-Identifier: Apache-2.0
"""Statistics agree with enumeration, closed forms and published values."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from wirecell_profile.compare import statistics


def generator(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def enumerated_p(a: list[float], b: list[float]) -> tuple[float, float]:
    """Return U and the two-sided p by testing every division of the pooled values."""

    def u_of(left: list[float], right: list[float]) -> float:
        return sum((y > x) + 0.5 * (y == x) for x in left for y in right)

    pooled = a + b
    centre, seen = len(a) * len(b) / 2, u_of(a, b)
    far = total = 0
    for chosen in itertools.combinations(range(len(pooled)), len(b)):
        right = [pooled[i] for i in chosen]
        left = [pooled[i] for i in range(len(pooled)) if i not in chosen]
        total += 1
        far += abs(u_of(left, right) - centre) >= abs(seen - centre) - 1e-12
    return seen, far / total


@pytest.mark.parametrize(
    "a, b",
    [
        ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]),
        ([1.0, 4.0, 6.0, 9.0], [2.0, 3.0, 11.0, 12.0, 13.0]),
        ([1.0, 1.0, 2.0, 5.0], [2.0, 2.0, 5.0, 7.0]),
        ([3.0, 3.0, 3.0], [3.0, 3.0, 3.0, 3.0]),
        ([0.3], [0.1, 0.2]),
    ],
)
def test_mann_whitney_is_the_enumeration(a: list[float], b: list[float]) -> None:
    assert statistics.mann_whitney(a, b) == pytest.approx(enumerated_p(a, b), rel=1e-12)


def test_mann_whitney_complete_separation() -> None:
    """p = 2 / C(8, 4) = 0.02857, so four runs per side are not enough for many nodes."""
    assert statistics.mann_whitney([1, 2, 3, 4], [5, 6, 7, 8]) == (16.0, pytest.approx(2 / 70, rel=1e-12))
    assert statistics.smallest_p(4, 4) == pytest.approx(2 / 70)
    assert statistics.smallest_p(10, 10) == pytest.approx(2 / 184756)


def test_mann_whitney_table() -> None:
    """For n = m = 5 there are 1, 1, 2 and 3 of 252 divisions with U = 0, 1, 2, 3 (Mann and Whitney 1947,
    table I).
    """
    u, p = statistics.mann_whitney([3, 6, 7, 8, 9], [1, 2, 3.5, 4, 5])  # three pairs with b > a
    assert u == 3 and p == pytest.approx(2 * (1 + 1 + 2 + 3) / 252, rel=1e-12)


def test_normal_approximation_continues_the_exact_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    random = generator(2)
    a, b = random.normal(size=28), random.normal(0.4, size=28)
    u, exact = statistics.mann_whitney(a, b)
    monkeypatch.setattr(statistics, "EXACT_LIMIT", 0)
    same_u, approximate = statistics.mann_whitney(a, b)
    assert u == same_u and approximate == pytest.approx(exact, rel=0.03)
    assert statistics.mann_whitney([5] * 40, [5] * 40)[1] == 1.0


def test_mann_whitney_p_is_uniform_for_equal_code() -> None:
    """At most alpha of comparisons of equal code have p <= alpha, and close to it: the test is exact."""
    random = generator(3)
    p = np.array(
        [statistics.mann_whitney(random.normal(size=8), random.normal(size=8))[1] for _ in range(1000)]
    )
    for alpha in (0.05, 0.2, 0.5):
        assert abs((p <= alpha).mean() - alpha) < 4 * math.sqrt(alpha * (1 - alpha) / 1000) + 0.02


def test_cliffs_delta() -> None:
    assert statistics.cliffs_delta([1, 2], [3, 4]) == 1
    assert statistics.cliffs_delta([1, 2, 3], [2]) == 0
    a, b = generator(4).integers(0, 9, (2, 12))
    u, _ = statistics.mann_whitney(a, b)
    assert statistics.cliffs_delta(a, b) == pytest.approx(2 * u / 144 - 1, rel=1e-12)


def test_benjamini_hochberg_by_hand() -> None:
    """0.01 * 4 / 1, 0.02 * 4 / 2, 0.03 * 4 / 3 are all 0.04, and 0.2 stays; unsorted on purpose."""
    assert statistics.benjamini_hochberg([0.03, 0.2, 0.01, 0.02]) == pytest.approx([0.04, 0.2, 0.04, 0.04])
    assert statistics.benjamini_hochberg([0.9, 0.8]) == pytest.approx([0.9, 0.9])
    assert len(statistics.benjamini_hochberg([])) == 0


def test_inner_level_is_the_distribution_of_the_resampled_median() -> None:
    """Of three events a < b < c the resampled median is a or c with 7/27 each, b with 13/27 (counted by
    hand).
    """
    medians = statistics.resampled_run_medians([np.array([1.0, 2.0, 4.0])], generator(5), 40_000)[0]
    shares = [(medians == value).mean() for value in (1.0, 2.0, 4.0)]
    assert shares == pytest.approx([7 / 27, 13 / 27, 7 / 27], abs=0.01)


def plain_two_level(a: statistics.Side, b: statistics.Side, resamples: int) -> np.ndarray:
    """Return the interval by its definition, one resample at a time with Python's loops."""
    random = generator(6)

    def centre(side: statistics.Side) -> float:
        runs = [side[i] for i in random.integers(0, len(side), len(side))]
        return float(np.median([np.median(run[random.integers(0, len(run), len(run))]) for run in runs]))

    return np.array([centre(b) / centre(a) for _ in range(resamples)])


def test_bootstrap_is_the_plain_two_level_one() -> None:
    random = generator(7)
    a = [100 * (1 + random.normal(0, 0.02)) * random.lognormal(0, 0.03, 7) for _ in range(9)]
    b = [107 * (1 + random.normal(0, 0.02)) * random.lognormal(0, 0.03, 6) for _ in range(8)]
    seen = statistics.Bootstrap(a, b, generator(8)).ratio()
    low, high = np.percentile(plain_two_level(a, b, 6000), (2.5, 97.5))
    width = high - low
    assert seen.ratio == pytest.approx(
        np.median([np.median(x) for x in b]) / np.median([np.median(x) for x in a]), rel=1e-12
    )
    assert abs(seen.low - low) < 0.08 * width and abs(seen.high - high) < 0.08 * width


def test_interval_covers_the_true_ratio() -> None:
    """The nominal coverage is 95 %; with few runs the percentile bootstrap of a median is inexact, so the
    bound is two-sided and loose.
    """
    random, covered, trials = generator(9), 0, 200
    for _ in range(trials):
        a = [100 * (1 + random.normal(0, 0.03)) + random.normal(0, 1, 6) for _ in range(10)]
        b = [110 * (1 + random.normal(0, 0.03)) + random.normal(0, 1, 6) for _ in range(10)]
        interval = statistics.Bootstrap(a, b, random, 2000).ratio()
        covered += interval.low <= 1.1 <= interval.high
    assert 0.88 <= covered / trials <= 0.995


def test_noise_does_not_see_a_true_difference() -> None:
    random = generator(10)
    a = [100 * (1 + random.normal(0, 0.02)) * np.ones(5) for _ in range(12)]
    faster = [0.5 * run for run in a]
    assert statistics.Bootstrap(a, faster, generator(11)).noise() == pytest.approx(
        statistics.Bootstrap(a, a, generator(11)).noise(), rel=1e-9
    )


def test_noise_is_what_equal_code_shows() -> None:
    """About 5 % of new comparisons of equal code from the same distribution are beyond the estimate."""
    random = generator(12)

    def side() -> statistics.Side:
        return [100 * (1 + random.normal(0, 0.02)) + random.normal(0, 0.5, 5) for _ in range(15)]

    noise = np.mean([statistics.Bootstrap(side(), side(), random, 2000).noise() for _ in range(30)])
    fresh = np.abs(
        [
            np.median(statistics.run_medians(side())) / np.median(statistics.run_medians(side())) - 1
            for _ in range(800)
        ]
    )
    assert 0.02 < (fresh > noise).mean() < 0.09


def test_smallest_detectable_effect_is_found_with_its_power() -> None:
    """For runs with a known spread, an effect of that size passes both conditions in about 80 % of
    comparisons, half of it seldom.
    """
    random, tests, runs, spread = generator(13), 20, 12, 0.02
    noise = np.percentile(
        np.abs(
            [
                np.median(random.normal(1, spread, runs)) / np.median(random.normal(1, spread, runs)) - 1
                for _ in range(4000)
            ]
        ),
        95,
    )
    least = 2 * noise
    effect = statistics.smallest_detectable_effect(noise, least, tests, runs, runs)

    def found(size: float) -> float:
        hits = 0
        for _ in range(400):
            a, b = random.normal(1, spread, runs), (1 + size) * random.normal(1, spread, runs)
            p = statistics.mann_whitney(a, b)[1] * tests
            hits += abs(np.median(b) / np.median(a) - 1) >= least and p < 0.05
        return hits / 400

    assert 0.7 < found(effect) < 0.95
    assert found(effect / 2) < 0.25
    assert found(1.5 * effect) > 0.97


def test_too_few_runs_detect_nothing() -> None:
    assert math.isinf(statistics.smallest_detectable_effect(0.01, 0.03, 20, 4, 4))
    assert statistics.needed_runs(1) == 4 and statistics.needed_runs(26) == 7


@pytest.mark.parametrize("side", [[], [np.array([])]])
def test_nothing_to_compare_is_rejected(side: list) -> None:
    with pytest.raises(ValueError):
        statistics.run_medians(side)
    with pytest.raises(ValueError):
        statistics.mann_whitney([], [1.0])
    with pytest.raises(ValueError, match="positive"):
        statistics.Bootstrap([np.zeros(3)], [np.ones(3)], generator())
