# SPDX-License-Identifier: Apache-2.0
"""Limits of time: their form on the command line, and programs and inputs that would keep a campaign waiting for ever."""

from __future__ import annotations

import os
import re
import socket
import sys
from pathlib import Path

import psutil
import pytest
from campaign_support import Bench
from test_publish import task_of
from wirecell_campaign import attempt, cli, lock, report
from wirecell_campaign.errors import CampaignError
from wirecell_campaign.layout import Layout
from wirecell_campaign.task import Fault
from wirecell_campaign.times import clock

SLEEP = "1234.5"  # s


def sleepers() -> list[psutil.Process]:
    """Return the processes that a hung program of these tests left."""
    return [each for each in psutil.process_iter(["cmdline"]) if each.info["cmdline"] == ["sleep", SLEEP]]


@pytest.mark.parametrize(
    "given, seconds, of_slurm",
    [
        ("08:00:00", 28800, "08:00:00"),
        ("8h", 28800, "08:00:00"),
        ("28800", 28800, "08:00:00"),
        ("90m", 5400, "01:30:00"),
        ("1d12h", 129600, "36:00:00"),
        ("1-12:00:00", 129600, "36:00:00"),
        ("1h30m5s", 5405, "01:30:05"),
        ("0.5", 0.5, "00:00:01"),
    ],
)
def test_all_times_have_one_form(given: str, seconds: float, of_slurm: str) -> None:
    words = ["run", "list", "--walltime", given, "--timeout", given, "--cluster-timeout", given]
    parsed = cli.make_parser().parse_args(words)
    assert parsed.walltime == parsed.timeout == parsed.cluster_timeout == seconds
    assert clock(seconds) == of_slurm


@pytest.mark.parametrize(
    "given", ["10:00", "0", "-1", "8 h", "4H", "1:60:00", "0h", "h", "", "nan", "inf", "1e9h", "٣h"]
)
def test_times_that_are_none(given: str, capsys) -> None:
    with pytest.raises(SystemExit):
        cli.make_parser().parse_args(["run", "list", f"--walltime={given}"])
    assert f"'{given}' is no time above 0; expected seconds, 8h, 30m" in capsys.readouterr().err


@pytest.mark.parametrize("call", ["--version", "--check"])
def test_a_hung_call_of_the_program_is_ended_with_its_children(bench: Bench, capsys, call: str) -> None:
    """The child holds the pipe of its output; it outlives its parent unless it is ended too."""
    real = bench.program.rename(bench.program.with_name("real"))
    bench.program.write_text(
        f'#!/bin/sh\ncase "$*" in *{call}*) sleep {SLEEP} & wait;; esac\nexec "{real}" "$@"\n',
        encoding="utf-8",
    )
    bench.program.chmod(0o755)
    bench.make(1)
    assert bench.run("--timeout", "0.3") == 1
    said = capsys.readouterr().err
    assert "error: the program does not answer" in said and "no end in 0.3 s; it was stopped" in said
    assert call in said and not sleepers() and not bench.output.exists()


def test_the_profile_of_one_file_is_that_of_all(bench: Bench) -> None:
    (bench.output / "profiles").mkdir(parents=True)
    (bench.output / "profiles/a.npz.sqlite").write_text("profile")
    assert report.join_profiles(Layout(bench.output)).read_text() == "profile"


def test_a_hung_merge_of_profiles_is_ended(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    hung = bench.folder / "python"
    hung.write_text(f"#!/bin/sh\nsleep {SLEEP} & wait\n", encoding="utf-8")
    hung.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(hung))
    (bench.output / "profiles").mkdir(parents=True)
    for name in ("a", "b"):
        (bench.output / f"profiles/{name}.npz.sqlite").write_text("profile")
    with pytest.raises(CampaignError, match="no end in 0.2 s; it was stopped"):
        report.join_profiles(Layout(bench.output), 0.1)
    assert not sleepers()


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_an_input_that_never_ends_is_not_read(bench: Bench, capsys, kind: str) -> None:
    bench.make(1)
    path = bench.inputs / "f000.npz"
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    assert bench.run() == 1
    assert f"cannot read 1 input\n  seen:     {path}: it is no regular file" in capsys.readouterr().err
    Layout(bench.output).make()
    result = attempt.run_attempt(task_of(bench, "f000.npz", "a", input_seen=False))
    assert result.fault is Fault.FINAL and "it is no regular file" in result.block


def test_status_names_the_files_that_are_processed(bench: Bench, capsys) -> None:
    bench.make(3)
    layout = Layout(bench.output)
    layout.make()
    for folder in (
        "f.000.npz.1-0123abcd.89abcdef",
        "f001.npz.12-0123abcd.89abcdef",
        "stop-f002.npz.1-0123abcd",
    ):
        (layout.scratch / folder).mkdir()
    with lock.held(layout.lock):
        assert cli.main(["status", str(bench.output)]) == 0
        shown = capsys.readouterr().out
        assert f"\nrunning: process {os.getpid()} on {socket.gethostname()}: f.000.npz, f001.npz\n" in shown
    assert cli.main(["status", str(bench.output)]) == 0
    assert "\nnot running\n" in capsys.readouterr().out


def test_all_programs_are_started_where_there_is_a_limit() -> None:
    package = Path(report.__file__).parent
    sources = {path.name: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    starts = {name for name, text in sources.items() if re.search(r"subprocess\.(run|Popen|c\w+)\(", text)}
    assert starts == {"process.py", "warm.py"}
