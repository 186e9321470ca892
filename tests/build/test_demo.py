# SPDX-License-Identifier: Apache-2.0
"""./wcb demo: its steps, with commands that are recorded instead of run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.frames import Input
from scripts.wcb import demo


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that the demo ran, in a build with the recorder."""
    ran: list[list[str]] = []
    monkeypatch.setattr(sys, "argv", ["demo"])
    monkeypatch.setattr(demo.setup, "ensure", lambda *_: ran.append(["setup"]))
    monkeypatch.setattr(demo, "build", lambda *words: ran.append(["build", *words]) or tmp_path)
    monkeypatch.setattr(demo, "run", lambda command: ran.append(command) or 0)
    monkeypatch.setattr(demo, "FOLDER", tmp_path / "demo")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libSpngRecorder.so").touch()
    return ran


def test_it_ends_with_the_report_of_its_own_run(
    steps: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert demo.main() == 0
    setup, build, events, job, *pictures, page, report = steps
    assert setup == ["setup"] and build == ["build", "--notests"]
    assert [(each[0].rsplit("/", 1)[-1], each[1], Path(each[-1]).name) for each in pictures] == [
        ("wirecell-frame", "plot", name) for name in demo.PICTURES
    ]
    assert page[1] == "show" and page[-2:] == ["-o", str(demo.PAGE)]
    assert events[1:] == ["-m", "bench.frames", str(demo.ADC), "5", str(demo.FOLDER)]
    assert f"input={demo.INPUT}" in job and demo.INPUT.name == Input(demo.EVENTS).name
    assert job[-2:] == ["--record", str(demo.PROFILE)]
    assert report[0].endswith("wirecell-profile") and report[1:] == [
        "html",
        str(demo.PROFILE),
        "-o",
        str(demo.REPORT),
    ]
    text = capsys.readouterr().out
    assert str(demo.REPORT) in text and text.rstrip().endswith(str(demo.PAGE))


def test_a_build_without_nvtx_has_no_report(
    steps: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lib" / "libSpngRecorder.so").unlink()
    assert demo.main() == 0
    assert steps[-1][1] == "show" and "--record" not in steps[3]
    assert "this build has no NVTX" in capsys.readouterr().out


@pytest.mark.parametrize("failing", [2, 3, 4, 5])
def test_a_failed_step_ends_it(steps: list[list[str]], failing: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo ends with the status of a failed input, job, pictures or report."""
    monkeypatch.setattr(
        demo, "run", lambda command: steps.append(command) or (7 if len(steps) == failing + 1 else 0)
    )
    assert demo.main() == 7
    assert len(steps) == failing + 1
