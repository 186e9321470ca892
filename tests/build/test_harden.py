# SPDX-License-Identifier: Apache-2.0
"""./wcb harden: results, environment, events of its jobs. The sanitizers themselves run nightly."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest

from scripts.harden import command, fuzzing, sanitizers
from scripts.harden.sanitizers import SanitizerResult
from tests.support.small_detector import channels_of_planes

FUZZED = fuzzing.TargetReport("npy", 100, 2.0, 3, 5, 1000, ())
FAILURE = {"reason": "crash", "file": "input", "count": 1, "replay": "spng_fuzz npy --replay input"}


@pytest.mark.parametrize(
    ("result", "clean"),
    [
        (SanitizerResult(tests=3, jobs={"main job": 0}), True),
        (SanitizerResult(tests=0), False),
        (SanitizerResult(tests=3, failed=["a"]), False),
        (SanitizerResult(tests=3, jobs={"main job": 66}), False),
        (SanitizerResult(tests=3, reports=1), False),
    ],
)
def test_clean(result: SanitizerResult, clean: bool) -> None:
    assert result.is_clean is clean and result.as_json()["clean"] is clean


def options(*only: str) -> argparse.Namespace:
    """Return the options of the command line."""
    return argparse.Namespace(only=list(only), tests="", seconds=1.0, seed=1)


def test_result_is_kept_for_the_same_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "harden.json"
    monkeypatch.setattr(command.builds, "make", lambda mode: tmp_path / mode)
    monkeypatch.setattr(command.sanitizers, "run", lambda *_: SanitizerResult(tests=3))
    monkeypatch.setattr(command.fuzzing, "run", lambda *_: [FUZZED])
    monkeypatch.setattr(command, "commit", lambda: "a")
    assert command.main(options("asan"), path) == 0
    assert command.main(options("fuzz"), path) == 0
    found = json.loads(path.read_text())
    assert found["asan"]["tests"] == 3 and found["commit"] == "a"
    assert found["fuzz"][0] | {"target": "npy", "inputs": 100, "failures": 0} == found["fuzz"][0]
    monkeypatch.setattr(command, "commit", lambda: "b")
    failed = fuzzing.TargetReport("npy", 100, 2.0, 3, 5, 1000, (FAILURE,))
    monkeypatch.setattr(command.fuzzing, "run", lambda *_: [failed])
    assert command.main(options("fuzz"), path) == 1
    assert "asan" not in json.loads(path.read_text())


def test_a_selection_of_tests_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "harden.json"
    monkeypatch.setattr(command.builds, "make", lambda mode: tmp_path / mode)
    monkeypatch.setattr(command.sanitizers, "run", lambda *_: SanitizerResult(tests=3))
    selected = options("asan")
    selected.tests = "Clip"
    assert command.main(selected, path) == 0
    assert not path.exists()


def test_every_suppression_has_a_reason() -> None:
    for line in sanitizers.suppressions():
        sanitizer, rest = line.split(": ", 1)
        pattern, reason = rest.split(": ", 1)
        assert sanitizer in ("tsan", "lsan", "ubsan") and ":" in pattern and len(reason) > 20, line


@pytest.mark.parametrize("mode", ["asan", "tsan"])
def test_a_report_ends_the_program_and_goes_to_a_file(mode: str, tmp_path: Path) -> None:
    for name, value in sanitizers.options_of(mode, tmp_path).items():
        if name not in ("LSAN_OPTIONS", "OMP_NUM_THREADS"):
            assert (
                f"log_path={tmp_path}/report" in value
                and "halt_on_error=1" in value
                and "exitcode=66" in value
            )


def test_reports_are_counted(tmp_path: Path) -> None:
    (tmp_path / "report.1").write_text(
        "==1==WARNING: AddressSanitizer failed to allocate 0x4000000000000 bytes\n", encoding="utf-8"
    )
    assert sanitizers.count_reports(tmp_path) == 0
    (tmp_path / "report.2").write_text(
        "=====\n==2==ERROR: AddressSanitizer: heap-use-after-free\n\nSUMMARY: AddressSanitizer: x\n",
        encoding="utf-8",
    )
    (tmp_path / "report.3").write_text(
        "=====\nWARNING: ThreadSanitizer: data race (pid=3)\nSUMMARY: ThreadSanitizer: x\n", encoding="utf-8"
    )
    (tmp_path / "main job.log").write_bytes(b"\xff\nspng/a.cxx:3:2: runtime error: signed integer overflow\n")
    assert sanitizers.count_reports(tmp_path) == 3


def test_events_have_all_channels(tmp_path: Path) -> None:
    sanitizers.write_events(tmp_path / "events.npz")
    arrays = np.load(tmp_path / "events.npz")
    frames = [name for name in arrays if name.startswith("frame")]
    assert len(frames) == sanitizers.EVENTS
    assert all(
        arrays[name].shape == (sum(map(len, channels_of_planes())), sanitizers.TICKS) for name in frames
    )
