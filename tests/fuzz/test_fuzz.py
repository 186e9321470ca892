# SPDX-License-Identifier: Apache-2.0
"""Readers of damaged input: the corpus of each target and a few mutations of it, always the same ones."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from scripts.harden import fuzzing
from tests.fuzz import make_corpus
from tests.support import wire_cell

PROGRAM = Path(os.environ.get("SPNG_FUZZ", wire_cell.ROOT / "build" / "tests" / "spng_fuzz"))
SEED = 20261125
MUTATIONS = {"jsonnet": 20}  # each takes 50 ms: Jsonnet parses its standard library
DEFAULT_MUTATIONS = 300
SIZES_FROM_THE_CORPUS = 10  # powers of two that mutations of a single byte reach

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built")
TARGETS = sorted(make_corpus.corpus())


def test_each_target_has_seeds() -> None:
    assert fuzzing.targets(PROGRAM) == TARGETS


def test_corpus_is_that_of_the_script(tmp_path: Path) -> None:
    make_corpus.main(tmp_path)
    written = {
        path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
    }
    different = [
        name for name, content in written.items() if (make_corpus.CORPUS / name).read_bytes() != content
    ]
    assert written and not different, "run python -m tests.fuzz.make_corpus"


@pytest.mark.parametrize("target", TARGETS)
def test_corpus_and_mutations_of_it_end_in_a_result_or_an_error(target: str, tmp_path: Path) -> None:
    count = MUTATIONS.get(target, DEFAULT_MUTATIONS)
    report = fuzzing.run_target(PROGRAM, target, ["--count", str(count), "--seed", str(SEED)], tmp_path)
    assert not report.failures, "\n".join(
        f"{failure['reason']}\n{failure['replay']}" for failure in report.failures
    )
    assert report.inputs == report.corpus_files + count
    assert report.corpus_files == len(list((make_corpus.CORPUS / target).iterdir()))
    assert report.results > 1


def test_same_seed_gives_the_same_inputs(tmp_path: Path) -> None:
    first, second = (
        fuzzing.run_target(PROGRAM, "npy", ["--count", "500", "--seed", "7"], tmp_path) for _ in range(2)
    )
    assert (first.inputs, first.results, first.peak_bytes) == (
        second.inputs,
        second.results,
        second.peak_bytes,
    )


def test_sweep_cuts_and_flips_every_bit(tmp_path: Path) -> None:
    files = list((make_corpus.CORPUS / "masks").iterdir())
    report = fuzzing.run_target(PROGRAM, "masks", ["--sweep", "--count", "0"], tmp_path)
    assert report.inputs == sum(1 + 64 + 8 * path.stat().st_size for path in files)


def test_replay_prints_the_results(tmp_path: Path) -> None:
    (tmp_path / "terabytes.npy").write_bytes(make_corpus.arrays()["terabytes.npy"])
    done = subprocess.run(
        [PROGRAM, "npy", "--replay", tmp_path / "terabytes.npy"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "the array's header claims too | at most  bytes" in done.stdout


@pytest.mark.parametrize(
    ("defect", "reason"),
    [
        ("crash", "signal: Segmentation fault|SEGV"),
        ("hang", "no end within 2 s of processor time"),
        ("exception", "an exception that is not Error: std::out_of_range"),
        ("memory", "too much memory: 67[0-9]* bytes"),
        ("leak", "memory is not freed"),
        ("seen", "an error without 'seen'"),
        ("internal", "an error that reports a defect of the program"),
    ],
)
def test_driver_finds_each_kind_of_defect(defect: str, reason: str, tmp_path: Path) -> None:
    """The driver saves the input, continues with the next one, and the saved input fails again."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for index, content in enumerate(("error", defect, "fine")):
        (corpus / str(index)).write_text(content)
    command = [PROGRAM, "broken", "--corpus", corpus, "--out", tmp_path / "out", "--count", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    (failure,) = report["failures"]
    assert re.search(reason, failure["reason"]) and failure["count"] == 1
    assert report["inputs"] == 3 and report["results"] == 2
    assert Path(failure["file"]).read_text() == defect
    assert f"broken --replay {failure['file']}" in done.stderr
    again = subprocess.run([PROGRAM, "broken", "--replay", failure["file"]], capture_output=True, check=False)
    assert again.returncode != 0


def test_seeds_outlive_the_child_that_found_them(tmp_path: Path) -> None:
    """A mutation adds at most some hundred bytes; only mutations of mutations reach many thousand."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "plus").write_text("+")
    command = [PROGRAM, "broken", "--corpus", corpus, "--out", tmp_path / "out", "--seed", "2"]
    command += ["--count", "12000"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    report = json.loads(done.stdout.splitlines()[-1])
    (failure,) = report["failures"]
    assert failure["count"] > 10, "children that ended early"
    assert report["results"] > SIZES_FROM_THE_CORPUS + 2


def test_time_is_shared_and_reports_have_the_order_of_the_targets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program"
    report = {"inputs": 10, "seconds": 2, "corpus_files": 1, "results": 3, "peak_bytes": 4, "failures": []}
    program.write_text(
        "#!/bin/sh\n"
        f"[ $1 = --list ] && echo a frames && exit\n"
        f'echo "$*" > {tmp_path}/$1.words\n'
        f"echo '{json.dumps(report)}'\n"
    )
    program.chmod(0o755)
    in_python: dict[str, float] = {}

    def run_python(name: str, share: float, *_: object) -> fuzzing.TargetReport:
        in_python[name] = share
        return fuzzing.TargetReport(name, 1, 1.0, 1, 0, 0, ())

    monkeypatch.setattr(fuzzing, "run_python", run_python)
    monkeypatch.setattr(fuzzing, "missing_packages", lambda name: [])
    reports = fuzzing.run(program, 100, 1, tmp_path)
    assert [(one.target, one.inputs_per_second) for one in reports] == [
        ("a", 5),
        ("frames", 5),
        ("profiles", 1),
        ("formats", 1),
    ]
    shares = [float((tmp_path / f"{name}.words").read_text().split()[7]) for name in ("a", "frames")]
    assert shares[1] == pytest.approx(4 * shares[0], rel=0.01)
    assert in_python == pytest.approx({"profiles": 3 * shares[0], "formats": 4 * shares[0]}, rel=0.01)
    monkeypatch.setattr(fuzzing, "missing_packages", lambda name: ["zarr"] if name == "formats" else [])
    assert "formats" not in [one.target for one in fuzzing.run(program, 1, 1, tmp_path)]


def test_report_names_each_failure_and_its_command() -> None:
    failure = {"reason": "hang", "file": "a", "count": 3, "replay": "spng_fuzz npy --replay a"}
    report = fuzzing.TargetReport("npy", 100, 2.0, 14, 16, 5_000_000, (failure,))
    assert report.failures
    head, *rest = report.line().split("\n")
    assert head.split() == "npy 100 inputs 50 /s 16 results 5.0 MB 1 failures".split()
    assert rest == ["    3 x hang", "    spng_fuzz npy --replay a"]
    assert report.as_json()["failed"] == [
        {"reason": "hang", "count": 3, "replay": "spng_fuzz npy --replay a"}
    ]


def test_program_without_a_report_is_a_failure(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho out of luck >&2\nexit 2\n")
    program.chmod(0o755)
    (failure,) = fuzzing.run_target(program, "npy", [], tmp_path).failures
    assert failure["reason"] == "out of luck"
