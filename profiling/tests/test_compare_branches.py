# SPDX-License-Identifier: Apache-2.0
"""Run compare-branches from end to end on a small repository whose ./wcb writes a program with known times."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from wirecell_profile import cli
from wirecell_profile.commands import compare_branches
from wirecell_profile.compare.branch_builds import BuildProgress, time_left
from wirecell_profile.compare.measurements import WHOLE_EVENT
from wirecell_profile.units import short_time

from tests.support import small_detector, wire_cell

# Writes build/bin/wire-cell: a program that writes a timing file with the time given in time.txt, and appends to a list.
WCB = """
import pathlib, sys
root = pathlib.Path(__file__).parent
if sys.argv[1] == "configure":
    (root / "configured").write_text(" ".join(sys.argv[2:]))
else:
    assert "--notests" in sys.argv
    assert (root / ".venv" / "marker").exists(), "the environment is not shared"
    if (root / "broken").exists():
        sys.exit("this commit does not compile")
    (root / "builds").open("a").write("built\\n")
    (root / "build" / "bin").mkdir(parents=True, exist_ok=True)
    program = root / "build" / "bin" / "wire-cell"
    program.write_text("#!" + sys.executable + "\\n" + (root / "program.py").read_text().replace("TIME", (root / "time.txt").read_text()))
    program.chmod(0o755)
"""
PROGRAM = """
import json, os, pathlib, random, sys, time
with open(os.environ["STUB_LOG"], "a") as log:
    log.write("TIME %d\\n" % len(os.environ["WIRECELL_PROFILE_PADDING"]))
if os.environ.get("STUB_FAIL") == str(len(open(os.environ["STUB_LOG"]).readlines())):
    sys.exit("out of luck")
def call(event):
    wall = int(TIME * random.uniform(0.998, 1.002))
    return dict(event=event, depth=0, failed=False, start_ns=event * 10**9, wall_ns=wall, nested_wall_ns=0, cpu_ns=wall, device_ns=None,
                in_bytes=8, out_bytes=8, leaf_operations=3, cpu_peak_bytes=64, device_peak_bytes=None)
node = dict(name="Stub:one", type="Stub", instance="one", failed=0, operations={}, per_call=[call(e) for e in range(4)])
run = dict(synchronising=False, device="cpu", device_name="", engine="Pgrapher", precision="exact", graph_threads=1,
           intra_op_threads=1, cpu_clock="process")
words = sys.argv[1:]
if "new=1" in words and TIME < 1100000:
    sys.exit("unknown argument new")
arguments = dict(words[i + 1].split("=", 1) for i, word in enumerate(words) if word == "-A")
document = dict(schema="spng-timing-1", time="2026-01-01T00:00:%09.6fZ" % (time.time() % 60), program=dict(version="1", commit="TIME", build="stub"),
                versions=dict(torch="none"), machine=dict(host="h", system="s", cpu="c", cores=1), run=run,
                settings=dict(arguments=arguments), nodes=[node])
pathlib.Path(words[words.index("--timing") + 1]).write_text(json.dumps(document))
"""


def git(folder: Path, *words: str) -> str:
    """Run a git command with a test identity."""
    identity = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    return subprocess.run(
        ["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository with the tags fast, slow (20 % more) and broken."""
    root = tmp_path / "checkout"
    (root / ".venv").mkdir(parents=True)
    (root / ".venv" / "marker").touch()
    git(root, "init", "-q")
    for name, text in (("wcb", WCB), ("program.py", PROGRAM), (".gitignore", ".venv\nbuild\nout\n")):
        (root / name).write_text(text)
    for tag, nanoseconds in (("fast", "1000000"), ("slow", "1200000")):
        (root / "time.txt").write_text(nanoseconds)
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", tag)
        git(root, "tag", tag)
    (root / "broken").touch()
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "broken")
    git(root, "tag", "broken")
    monkeypatch.chdir(root)
    monkeypatch.setenv("STUB_LOG", str(tmp_path / "log"))
    (tmp_path / "in.npz").touch()
    return root


def branches(*words: str) -> int:
    """Run the command with a job whose input is a path relative to the checkout."""
    return cli.main(["compare-branches", *words, "--job", "-c job.jsonnet -A input=../in.npz"])


def runs_of(repository: Path) -> list[str]:
    """Return the time that each run program was built with, in order of the runs."""
    return [line.split()[0] for line in (repository.parent / "log").read_text().splitlines()]


def test_two_commits(repository: Path, capsys: pytest.CaptureFixture) -> None:
    """Each commit is built once with the same options, runs are interleaved, and the slowdown is found with
    its size.
    """
    result = repository.parent / "result.json"
    assert branches("fast", "slow", "--runs", "6", "--json", str(result)) == 1
    seen = capsys.readouterr()
    assert "B is slower" in seen.out and "Stub:one" in seen.out and "[ 12/12]" in seen.err
    rows = {row["node"]: row for row in json.loads(result.read_text())["times"]}
    assert rows["Stub:one"]["verdict"] == "slower" and rows["Stub:one"]["ratio"] == pytest.approx(
        1.2, rel=0.003
    )
    trees = sorted((repository / "out" / "compare-branches").glob("*/configured"))
    assert len(trees) == 2 and all(tree.read_text() == "--with-nvtx" for tree in trees)
    order = runs_of(repository)[2:]
    blocks = {
        "".join("F" if time == "1000000" else "S" for time in order[i : i + 4]) for i in range(0, 12, 4)
    }
    assert blocks <= {"FSSF", "SFFS"} and order.count("1000000") == 6
    inputs = {
        json.loads(file.read_text())["settings"]["arguments"]["input"]
        for file in repository.glob("out/*/runs-*/a-*.json")
    }
    assert inputs == {str(repository.parent / "in.npz")}
    assert branches("slow", "fast", "--runs", "6", "--configure=--with-nvtx") == 0  # the default
    assert "B is faster" in capsys.readouterr().out
    assert all(tree.with_name("builds").read_text() == "built\n" for tree in trees), "built twice"


def test_equal_commits_show_nothing(repository: Path, capsys: pytest.CaptureFixture) -> None:
    git(repository, "tag", "again", "fast")
    assert branches("fast", "again", "--runs", "5") == 0
    assert "no evidence of a difference" in capsys.readouterr().out


def test_it_goes_on_where_it_stopped(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """A run that fails ends the command with status 2; the next call does only the missing runs."""
    monkeypatch.setenv("STUB_FAIL", "7")
    assert branches("fast", "slow", "--runs", "4") == 2
    told = capsys.readouterr().err
    assert "out of luck" in told and "continues from here" in told
    (tree,) = repository.glob(f"out/compare-branches/{git(repository, 'rev-parse', 'slow')[:12]}-*/")
    (tree.with_suffix(".built.json")).unlink()  # as if the checkout had been stopped
    (tree / "program.py").unlink()
    monkeypatch.delenv("STUB_FAIL")
    assert branches("fast", "slow", "--runs", "4") == 1
    assert "4 of 8 are done" in capsys.readouterr().err
    assert len(runs_of(repository)) == 7 + 2 + 4
    assert branches("fast", "slow", "--runs", "6") == 1  # more runs keep those that are done
    assert "8 of 12 are done" in capsys.readouterr().err
    assert branches("fast", "slow", "--runs", "4", "--restart") == 1
    assert "0 of 8 are done" in capsys.readouterr().err


def test_arguments_of_one_side(repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """An argument that only one commit knows is given to it alone, and is no difference of the conditions."""
    job = ("--job", "-c job.jsonnet -A input=x -A new=1")
    assert cli.main(["compare-branches", "fast", "slow", "--runs", "2", *job]) == 2
    told = capsys.readouterr().err
    assert "unknown argument new" in told and "--job-b" in told
    result = tmp_path / "result.json"
    wanted = ("--job-b", "-A new=1", "--runs", "5", "--json", str(result))
    assert branches("fast", "slow", *wanted) == 1
    assert {row["verdict"] for row in json.loads(result.read_text())["times"]} == {"slower"}
    arguments = [
        json.loads(next(repository.glob(f"out/*/runs-*/{side}-005.json")).read_text())["settings"][
            "arguments"
        ]
        for side in "ab"
    ]
    assert "new" not in arguments[0] and arguments[1]["new"] == "1"


def test_progress_of_a_build() -> None:
    """One line in 30 s, with the time left at the pace since the first step that was seen."""
    times = iter([0, 10, 20, 35, 50, 70])
    said: list[str] = []
    progress = BuildProgress("main", said.append, clock=lambda: float(next(times)))
    for step in ("Checking for g++", "[ 10/100] Compiling a", "[ 20/100] Compiling b"):
        progress.take(step)
    assert said == []
    for step in ("[ 35/100] Compiling c", "[ 50/100] Compiling d", "[ 70/100] Linking e"):
        progress.take(step)
    assert said == ["main: step 35 of 100, 65 s left", "main: step 70 of 100, 30 s left"]
    assert time_left(600) == "10 min left"


def test_times_have_three_digits() -> None:
    assert [short_time(ns) for ns in (999, 999_400, 999_700, 1_230_000, 59e9)] == [
        *("999 ns", "999 us", "1 ms", "1.23 ms", "59 s")
    ]


def test_a_stop_ends_the_build(repository: Path) -> None:
    """All processes of a build end with the command, so that the next one can continue it."""
    (repository / "wcb").write_text(
        "import subprocess, sys, pathlib\n"
        "if sys.argv[1] == 'build':\n"
        "    child = subprocess.Popen(['sleep', '100'])\n"
        "    pathlib.Path('child').write_text(str(child.pid) + '\\n')\n"
        "    child.wait()\n"
    )
    git(repository, "commit", "-qam", "endless")
    command = [sys.executable, "-P", "-m", "wirecell_profile", "compare-branches", "HEAD", "fast"]
    with subprocess.Popen(command, cwd=repository, stderr=subprocess.PIPE) as process:
        noted: list[Path] = []
        while not (noted and noted[0].read_text().endswith("\n")):
            assert process.poll() is None
            time.sleep(0.02)
            noted = list(repository.glob("out/*/*/child"))
        process.terminate()
        assert process.wait(60) != 0
    child = Path("/proc") / noted[0].read_text().strip()
    deadline = time.monotonic() + 60
    while child.exists() and "Z" not in (child / "stat").read_text().split()[2]:
        assert time.monotonic() < deadline, "the build goes on"
        time.sleep(0.02)


def test_existing_builds(repository: Path, capsys: pytest.CaptureFixture) -> None:
    assert branches("fast", "slow", "--runs", "2") in (0, 1)
    a, b = (
        [
            str(tree)
            for tree in sorted(
                (repository / "out" / "compare-branches").glob(
                    f"{git(repository, 'rev-parse', tag)[:12]}*/build"
                )
            )
        ][0]
        for tag in ("fast", "slow")
    )
    assert branches("--build-a", a, "--build-b", b, "--runs", "5") == 1
    assert branches("fast", "--build-b", a, "--runs", "5") == 0
    assert (
        branches("--build-a", str(repository), "slow") == 2
        and "not a build folder" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "words, told",
    [
        (("fast", "broken"), "this commit does not compile"),
        (("fast", "nowhere"), "no commit 'nowhere'\n  where:"),
        (("fast", "slo"), "hint:     nearest: slow"),
        (("fast", "0123456789abcdef"), "no commit '0123456789abcdef'"),
        (("", "slow"), "no commit ''"),
        (("fast", "slow^{tree}"), "no commit 'slow^{tree}'"),
        (("fast", "slow", "--repository", "/"), "git rev-parse failed"),
        (("fast", "slow", "--folder", "/dev/null/x"), "cannot make the folder"),
        (("fast",), "two sides are needed"),
        (("fast", "slow", "--runs", "1"), "too few runs"),
        (("fast", "slow", "--events", "3"), "the job names one"),
    ],
)
def test_what_cannot_be_compared_is_status_2(
    words: tuple[str, ...], told: str, repository: Path, capsys: pytest.CaptureFixture
) -> None:
    assert branches(*words) == 2 and told in capsys.readouterr().err


def test_order_of_runs() -> None:
    """Both sides have equally many runs, both kinds of blocks occur, and a seed always gives the same order."""
    order = compare_branches.block_order(9, np.random.default_rng(1))
    assert len(order) == 18 and sum(order) == 9
    assert order == compare_branches.block_order(9, np.random.default_rng(1))
    longer = compare_branches.block_order(40, np.random.default_rng(1))
    assert {tuple(longer[i : i + 4]) for i in range(0, 80, 4)} == {(0, 1, 1, 0), (1, 0, 0, 1)} and longer[
        :16
    ] == order[:16]


def test_the_environment_is_padded(repository: Path) -> None:
    """The size of the environment varies between runs, so that memory layout does not look like a difference."""
    branches("fast", "slow", "--runs", "3")
    sizes = [int(line.split()[1]) for line in (repository.parent / "log").read_text().splitlines()][2:]
    assert len(set(sizes)) > 3 and max(sizes) < 4096
    assert sys.executable and os.environ.get("WIRECELL_PROFILE_PADDING") is None


ROOT = Path(__file__).resolve().parents[2]
TICKS = 500


@pytest.mark.skipif(
    not (ROOT / "build" / "bin" / "wire-cell").exists(), reason="wire-cell is not built (./wcb)"
)
def test_the_program_against_itself(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """New runs of the pipeline on three events of a small detector have equal conditions and equal counts, and
    give no verdict.
    """
    build, result = str(ROOT / "build"), tmp_path / "result.json"
    channels = np.concatenate(small_detector.channels_of_planes())
    samples = wire_cell.default_adc()[0][: len(channels), :TICKS]
    source = wire_cell.write_arrays(tmp_path / "adc.tar", wire_cell.event(samples, channels))
    detector = small_detector.write_description(tmp_path)
    status = cli.main(
        [
            "compare-branches",
            "--build-a",
            build,
            "--build-b",
            build,
            "--runs",
            "2",
            "--events",
            "3",
            "--input",
            str(source),
            "--job",
            f"{shlex.join(detector)} -c cfg/pipeline.jsonnet -A threads=1 -A model=none",
            "--repository",
            str(ROOT),
            "--folder",
            str(tmp_path / "runs"),
            "--json",
            str(result),
        ]
    )
    told = capsys.readouterr()
    assert status == 0, told.err
    data = json.loads(result.read_text())
    counts = {(row["node"], row["count"]): row for row in data["counts"]}
    assert len(counts) > 60 and {row["verdict"] for row in data["counts"]} == {"same"}
    assert counts[WHOLE_EVENT, "operations"]["a"][0] > 20
    assert {row["verdict"] for row in data["times"]} <= {"too few runs", "too short to judge"} and not data[
        "forced"
    ]
    assert "too few runs: " in told.out
