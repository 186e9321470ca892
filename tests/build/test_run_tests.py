# SPDX-License-Identifier: Apache-2.0
"""How ./wcb test reads the reports: a failure or a crash must never count as passed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from scripts.wcb import run_tests, virtual_environment

GOOGLE = """<?xml version="1.0"?><testsuites tests="4" failures="1" disabled="1">
<testsuite name="Roi"><testcase name="passes" status="run" result="completed" classname="Roi"/>
<testcase name="fails" status="run" result="completed" classname="Roi"><failure message="roi_test.cxx:12&#x0A;Expected: 3&#x0A;  Which is: 4" type=""/></testcase>
<testcase name="skips" status="run" result="skipped" classname="Roi"><skipped message="roi_test.cxx:20&#x0A;no CUDA device"/></testcase>
<testcase name="DISABLED_x" status="notrun" result="suppressed" classname="Roi"/></testsuite></testsuites>"""

PYTEST = """<testsuites><testsuite><testcase classname="tests.x" name="a"/>
<testcase classname="tests.x" name="b"><error message="ImportError: no"/></testcase>
<testcase classname="tests.x" name="c"><skipped message="no ../shared"/></testcase></testsuite></testsuites>"""


def test_counts_and_reasons_of_both_reports(tmp_path):
    report = tmp_path / "report.xml"
    total = run_tests.Outcome()
    for text in (GOOGLE, PYTEST):
        report.write_text(text)
        total.add(run_tests.read_junit(report))
    assert total.passed == ["Roi.passes", "tests.x.a"]
    assert total.failed == {"Roi.fails": "Expected: 3 | Which is: 4", "tests.x.b": "ImportError: no"}
    assert total.skipped == {
        "Roi.skips": "no CUDA device",
        "Roi.DISABLED_x": "disabled",
        "tests.x.c": "no ../shared",
    }


def test_a_file_that_skips_as_a_whole_was_run(tmp_path, monkeypatch):
    """With its reason, as pytest reports it for a module without one of its packages."""
    (tmp_path / "tests").mkdir()
    text = 'import pytest\ntorch = pytest.importorskip("no_torch_here")\ndef test_a(): pass\n'
    (tmp_path / "tests" / "test_slim.py").write_text(text)
    command = [
        sys.executable,
        *"-m pytest -q -p no:cacheprovider --junitxml=report.xml tests".split(),
    ]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode in (0, 5)
    outcome = run_tests.read_junit(tmp_path / "report.xml")
    ((name, why),) = outcome.skipped.items()
    assert (
        name == "tests.test_slim"
        and why == "could not import 'no_torch_here': No module named 'no_torch_here'"
    )
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    assert run_tests.left_out(["tests"], outcome) == []


def test_files_need_no_torch_for_their_collection(tmp_path):
    """As in the environment of ./wcb setup --slim, in which importing torch raises the error of the slim module."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text(virtual_environment.SLIM_MODULE)
    folders = ["tests/dnn", "tests/cuda_simulator"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--collect-only", *folders],
        cwd=run_tests.ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and "error" not in done.stdout.splitlines()[-1], done.stdout[-2000:]


@pytest.mark.parametrize(
    ("script", "how"),
    [
        (
            "echo '[ RUN      ] A.one'; echo '[       OK ] A.one (0 ms)'; echo '[ RUN      ] A.two'; kill -SEGV $$",
            "signal 11",
        ),
        (
            "echo '[ RUN      ] A.one'; echo '[       OK ] A.one (0 ms)'; echo '[ RUN      ] A.two'; exit 3",
            "exit status 3",
        ),
    ],
)
def test_a_crash_is_one_failed_test(monkeypatch, tmp_path, script, how):
    monkeypatch.setattr(run_tests, "REPORTS", tmp_path)
    program = tmp_path / "spng_tests"
    program.write_text(f"#!/bin/bash\n{script}\n")
    program.chmod(0o755)
    outcome = run_tests.run_google_tests(program, "", shards=1)
    assert outcome.passed == ["A.one"]
    assert list(outcome.failed) == ["A.two"] and how in outcome.failed["A.two"]


def test_shards_are_joined(monkeypatch, tmp_path):
    """Each shard runs its part; a shard that crashes fails one test and leaves the others."""
    monkeypatch.setattr(run_tests, "REPORTS", tmp_path)
    program = tmp_path / "spng_tests"
    program.write_text(
        "#!/bin/bash\n"
        'echo "[ RUN      ] A.of$GTEST_SHARD_INDEX"\n'
        '[ "$GTEST_SHARD_INDEX" = 2 ] && kill -SEGV $$\n'
        'echo "[       OK ] A.of$GTEST_SHARD_INDEX (0 ms)"; exit 3\n'
    )
    program.chmod(0o755)
    outcome = run_tests.run_google_tests(program, "", shards=3)
    assert sorted(outcome.passed) == ["A.of0", "A.of1"]
    assert "signal 11" in outcome.failed.pop("A.of2")
    assert set(outcome.failed) == {"spng_tests"} and "exit status 3" in outcome.failed["spng_tests"]


def test_a_file_that_pytest_did_not_enter_is_named(monkeypatch, tmp_path):
    """As with tests/build, which pytest skips by default."""
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    for name in ("tests/test_a.py", "tests/build/test_b.py", "tests/build/test_c.py", "tests/d/test_ab.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    outcome = run_tests.Outcome(["tests.test_a.one"], {}, {"tests.build.test_c.Group.two": "no device"})
    assert run_tests.left_out(["tests"], outcome) == ["tests.build.test_b", "tests.d.test_ab"]
