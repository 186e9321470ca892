# SPDX-License-Identifier: Apache-2.0
"""Step detection agrees with a search of all divisions; the history command stores runs and finds steps."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from wirecell_profile import cli
from wirecell_profile.compare import history_store
from wirecell_profile.compare.measurements import WHOLE_EVENT, Run, write_measurements
from wirecell_profile.compare.step_detection import MIN_POINTS, deviations, noise_scale, pieces


def best_of_all(values: np.ndarray, penalty: float) -> float:
    """Return the least cost over all divisions into pieces of at least MIN_POINTS points."""

    def cost(cuts: tuple[int, ...]) -> float:
        limits = [0, *cuts, len(values)]
        parts = [values[a:b] for a, b in zip(limits, limits[1:])]
        if min(map(len, parts)) < MIN_POINTS:
            return np.inf
        return sum(np.abs(part - np.median(part)).sum() + penalty for part in parts)

    inner = range(1, len(values))
    return min(cost(cuts) for size in range(len(values)) for cuts in itertools.combinations(inner, size))


@pytest.mark.parametrize("seed", range(8))
def test_the_division_is_the_best_one(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = random.normal(size=10) + np.repeat([0, 3, -1], [3, 4, 3]) * (seed % 3)
    for penalty in (0.0, 0.5, 2.0, 50.0):
        found = pieces(values, penalty)
        seen = sum(np.abs(values[p.first : p.last + 1] - p.level).sum() + penalty for p in found)
        assert seen == pytest.approx(best_of_all(values, penalty), rel=1e-12)
        assert [p.first for p in found] == [0, *(p.last + 1 for p in found[:-1])] and found[-1].last == 9


def test_running_deviations() -> None:
    values = np.random.default_rng(1).integers(0, 9, 40).astype(float)
    expected = [np.abs(values[:n] - np.median(values[:n])).sum() for n in range(1, 41)]
    assert deviations(values) == pytest.approx(expected, abs=1e-9)


def test_noise_scale() -> None:
    values = np.random.default_rng(2).laplace(0, 0.02, 20_000)
    assert noise_scale(values) == pytest.approx(0.02, rel=0.05)
    assert noise_scale(values + (np.arange(20_000) >= 9000)) == pytest.approx(0.02, rel=0.05)
    assert noise_scale(np.ones(5)) == 0


@pytest.mark.parametrize("draw", ["normal", "laplace"])
def test_noise_alone_seldom_has_steps(draw: str) -> None:
    random = np.random.default_rng(3)
    stepped = sum(len(pieces(getattr(random, draw)(0, 0.02, 40))) > 1 for _ in range(200))
    assert stepped <= 10


def test_a_step_is_found_where_it_is() -> None:
    """A step of four times the spread is found at its index."""
    random, right = np.random.default_rng(4), 0
    for _ in range(100):
        values = random.normal(0, 0.02, 40) + 0.08 * (np.arange(40) >= 25)
        found = pieces(values)
        right += len(found) == 2 and abs(found[1].first - 25) <= 1
    assert right >= 90


def test_an_outlier_and_a_last_point_are_no_steps() -> None:
    values = np.array([1, 1.01, 1, 5, 1.01, 1, 1.01, 1, 1.01, 9])
    assert len(pieces(values)) == 1
    assert len(pieces(np.array([1.0, 1, 1, 1, 2, 2]))) == 2  # without noise two points are enough
    assert pieces(np.array([])) == [] and len(pieces(np.array([3.0]))) == 1


def run_of(commit: str, decon: float, second: int, machine: str = "m") -> Run:
    """Return a run of a commit."""
    events = [0, 1, 2]
    times = {"SPNGDecon:a": decon, "SPNGOther:b": 2e6}
    wall = {node: np.array([9 * value, value, value]) for node, value in times.items()}
    wall[WHOLE_EVENT] = sum(wall.values())
    return Run(
        "r", f"2026-01-01T00:00:{second:02d}Z", commit, {"machine": machine}, events, {"wall": wall}, {}
    )


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, list[str]]:
    """Make a repository with twelve commits whose dates are in order; return it with their hashes."""
    root = tmp_path / "repository"
    root.mkdir()

    def git(*words: str, **environment: str) -> str:
        return subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *words],
            cwd=root,
            check=True,
            text=True,
            capture_output=True,
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)} | environment,
        ).stdout.strip()

    git("init", "-q")
    hashes = []
    for index in range(12):
        git(
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            str(index),
            GIT_COMMITTER_DATE=f"2026-01-{index + 1:02d}T00:00:00Z",
        )
        hashes.append(git("rev-parse", "HEAD")[:12])
    return root, hashes


def test_command(repository: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Runs are added out of order and with a gap; the step is at the first measured commit of the new level,
    by date.
    """
    root, hashes = repository
    store = tmp_path / "kept" / "times.jsonl"
    measured = [hash_ for index, hash_ in enumerate(hashes) if index not in (6, 7)]
    for index in (9, 3, 0, 1, 2, 4, 5, 8, 7, 6):
        commit = measured[index]
        decon = 1e6 * (1.25 if hashes.index(commit) >= 6 else 1) * (1 + 0.002 * (index % 3))
        write_measurements(tmp_path / "runs.json", [run_of(commit, decon, second) for second in (1, 2)])
        status = cli.main(
            ["history", str(store), "--add", str(tmp_path / "runs.json"), "--repository", str(root)]
        )
    capsys.readouterr()
    page, steps = tmp_path / "h.html", tmp_path / "steps.json"
    words = ["history", str(store), "--repository", str(root), "--html", str(page), "--json", str(steps)]
    assert status == 0 and cli.main([*words, "--fail"]) == 1
    told = capsys.readouterr().out
    data = json.loads(steps.read_text())["steps"]
    assert [step["node"] for step in data] == ["SPNGDecon:a", WHOLE_EVENT]
    assert (
        data[0]["commit"] == hashes[8]
        and data[0]["before"] == hashes[5]
        and data[0]["change"] == pytest.approx(0.25, abs=0.005)
    )
    assert re.search(
        rf"SPNGDecon:a: \+2[45]\.\d % \(1 ms -> 1\.25 ms\) at {hashes[8]}, after {hashes[5]}; "
        "not measured between them: 2 commits",
        told,
    )
    assert page.read_text().count("<svg") == 3 and hashes[8][:8] in page.read_text()
    assert cli.main([*words, "--node", "SPNGOther*", "--fail"]) == 0 and "no steps" in capsys.readouterr().out


def test_series_are_kept_apart(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """A change of machine is not a step, and a commit that is measured again replaces its entry."""
    store = tmp_path / "times.jsonl"
    for index in range(6):
        machine = "old" if index < 3 else "new"
        history_store.append(
            store,
            history_store.entry(
                [run_of(f"c{index}", 1e6 if index < 3 else 2e6, index, machine)], tmp_path, 1
            ),
        )
    history_store.append(store, history_store.entry([run_of("c5", 3e6, 9, "new")], tmp_path, 1))
    assert cli.main(["history", str(store)]) == 0
    told = capsys.readouterr().out
    assert told.count("no steps") == 2 and told.count("series ") == 2
    assert [item["wall"]["SPNGDecon:a"] for item in history_store.read(store)][-1] == 3e6


def test_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    store = tmp_path / "times.jsonl"
    assert cli.main(["history", str(store)]) == 2
    write_measurements(tmp_path / "mixed.json", [run_of("c1", 1e6, 1), run_of("c2", 1e6, 2)])
    assert cli.main(["history", str(store), "--add", str(tmp_path / "mixed.json")]) == 2
    assert "needs runs of one commit" in capsys.readouterr().err and not store.exists()
    store.write_text('{"schema": "spng-history-1"')
    assert cli.main(["history", str(store)]) == 1 and "times.jsonl:1" in capsys.readouterr().err


ENTRY = {
    "schema": "spng-history-1",
    "series": "a",
    "commit": "c1",
    "commit_time": None,
    "time": "",
    "conditions": {"machine": "m"},
    "runs": 1,
    "wall": {"SPNGDecon:a": 1.0, "SPNGNone:a": 0.0},
}


@pytest.mark.parametrize(
    "content",
    [
        bytes(range(128, 256)),
        b"SQLite format 3\0" + bytes(100),
        b"[" * 100_000,
        b"[1]",
        *(
            json.dumps(ENTRY | change).encode()
            for change in (
                {"schema": 1},
                {"commit": []},
                {"commit_time": "x"},
                {"time": None},
                {"runs": "x"},
                {"conditions": {"machine": 1}},
                {"wall": 5},
                {"wall": {"a": "b"}},
                {"wall": {"a": float("nan")}},
                {"wall": {"a": 10**30}},
            )
        ),
    ],
)
def test_damaged_stores(tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture) -> None:
    store = tmp_path / "times.jsonl"
    store.write_bytes(json.dumps(ENTRY).encode() + b"\n")
    assert cli.main(["history", str(store), "--html", str(tmp_path / "page.html")]) == 0
    store.write_bytes(content)
    capsys.readouterr()
    for words in ([], ["--add", str(tmp_path / "absent.json")]):
        assert cli.main(["history", str(store), *words]) == 1
        told = capsys.readouterr().err
        assert told.startswith("error: a line of the history is damaged\n  where: ") and told.count("\n") == 5
    assert store.read_bytes() == content
