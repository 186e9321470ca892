# SPDX-License-Identifier: Apache-2.0
"""wirecell-profile stats on the command line."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest
from wirecell_profile.cli import load_commands, main
from wirecell_profile.reports import find


@pytest.fixture
def recorded(profile_file) -> str:
    """Write a profile with two ranges and a kernel, without calls of the operating system."""
    with profile_file.writing() as file:
        file.range("outer", 0, 1_000_000)
        file.range("inner, with a comma", 100, 400)
        file.launch("kernel<int>", (200, 210), (2**53 + 1, 2**53 + 31), short="kernel")
    return str(profile_file.path)


def test_every_command_is_complete() -> None:
    modules = load_commands()
    assert "stats" in [module.NAME for module in modules]
    for module in modules:
        assert module.HELP and module.__doc__ and callable(module.run) and callable(module.add_arguments)


def test_a_table(recorded: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", recorded, "--report", "nvtx_sum"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].endswith("(nvtx_sum)")
    assert lines[3].split()[:3] == ["Time", "(%)", "Total"]
    assert lines[5].split()[:3] == ["100.0", "1,000,000", "1"]
    assert len({line.index("PushPop") for line in lines[5:]}) == 1  # aligned


def test_csv_quotes_and_keeps_integers(recorded: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", recorded, "-r", "nvtx_sum", "-f", "csv"]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows[2][-1] == "inner, with a comma"
    assert main(["stats", recorded, "-r", "cuda_gpu_trace", "-f", "csv"]) == 0
    assert list(csv.DictReader(io.StringIO(capsys.readouterr().out)))[0]["Start (ns)"] == str(2**53 + 1)


def test_json(recorded: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", recorded, "-r", "cuda_gpu_trace", "-f", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["Start (ns)"] == 2**53 + 1 and row["Bytes (MB)"] is None and row["Name"] == "kernel<int>"


def test_several_reports_and_files(recorded: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prefix = str(tmp_path / "run")
    assert (
        main(
            [
                "stats",
                recorded,
                "-r",
                "nvtx_sum,gpukernsum:base",
                "-r",
                "cuda_api_sum",
                "-f",
                "csv",
                "-o",
                prefix,
            ]
        )
        == 0
    )
    assert capsys.readouterr().out == ""
    found = sorted(path.name for path in tmp_path.glob("run_*"))
    assert found == ["run_cuda_api_sum.csv", "run_gpukernsum_base.csv", "run_nvtx_sum.csv"]
    assert "kernel\n" in (tmp_path / "run_gpukernsum_base.csv").read_text()


def test_a_report_that_cannot_apply_says_so_and_the_others_come(
    recorded: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stats", recorded, "-r", "osrt_sum,nvtx_sum"]) == 0
    shown = capsys.readouterr()
    assert "outer" in shown.out
    assert (
        shown.err == "SKIPPED osrt_sum: does not apply: "
        "run.sqlite does not contain calls of the operating system's runtime\n"
    )


def test_no_report_at_all_is_a_failure(recorded: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", recorded, "-r", "osrt_sum", "-f", "csv"]) == 1
    assert capsys.readouterr().out == ""


def test_the_default_set_and_all(recorded: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", recorded]) == 0
    assert capsys.readouterr().out.count("** ") == 3  # nvtx_sum, cuda_api_sum, cuda_gpu_kern_sum
    assert main(["stats", recorded, "-r", "all"]) == 0
    shown = capsys.readouterr()
    assert (
        "SKIPPED cuda_gpu_mem_size_sum, cuda_gpu_mem_time_sum: " in shown.err
        and "** kernels by the NVTX ranges" in shown.out
    )


def test_a_selection(recorded: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["stats", recorded, "-r", "nvtx_sum", "-f", "json", "--range", "inner*", "--time", "100-1us"])
        == 0
    )
    assert [row["Range"] for row in json.loads(capsys.readouterr().out)] == ["inner, with a comma"]


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "--list"]) == 0
    shown = capsys.readouterr().out
    assert "nvtx_gpu_proj_trace" in shown and "formerly gpukernsum" in shown and ":nvtx-name" in shown


@pytest.mark.parametrize(
    "words, status, expected",
    [
        (["-r", "nvtx_summ"], 2, "nearest: nvtx_sum"),
        (["--time", "5"], 2, "A before B"),
        (["--event", "x"], 2, "N-M"),
        (["--range", "nothing"], 2, "no such range"),
        (["-o", "/nonexistent/folder/run"], 1, "cannot write"),
    ],
)
def test_errors_are_one_block(recorded: str, words: list[str], status: int, expected: str, capsys) -> None:
    assert main(["stats", recorded, *words]) == status
    shown = capsys.readouterr().err
    assert shown.splitlines()[-1].startswith("  ") and "error: " in shown and expected in shown
    assert "Traceback" not in shown


def test_no_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["stats"]) == 2
    assert main(["stats", str(tmp_path / "absent.sqlite")]) == 1
    assert "cannot read" in capsys.readouterr().err


def test_abbreviated_options_are_rejected(recorded: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["stats", recorded, "--rep", "nvtx_sum"])
    assert stopped.value.code == 2


def work(profile_file, ranges: int) -> tuple[int, int]:
    """Return the counts of Python calls and SQL statements to load this many ranges and make nvtx_sum."""
    with profile_file.writing() as file:
        names = [file.string(f"range {index}") for index in range(40)]
        thread = file.thread(1)
        file.rows(
            "NVTX_EVENTS",
            "start end eventType globalTid textId domainId",
            [(100 * i, 100 * i + 90, 59, thread, names[i % 40], 0) for i in range(ranges)],
        )
    statements, calls = [], 0

    def count(_frame, event: str, _argument) -> None:
        nonlocal calls
        calls += event == "call"

    scope = profile_file.scope()
    scope.profile.database._connection.set_trace_callback(statements.append)
    report = find("nvtx_sum")[0]
    sys.setprofile(count)
    try:
        result = report.run(scope, frozenset())
    finally:
        sys.setprofile(None)
    profile_file.path.unlink()
    assert sum(row[2] for row in result.rows) == ranges
    return calls, len(statements)


def test_work_does_not_grow_with_the_number_of_ranges(profile_file) -> None:
    """SQLite and numpy load and sum: no Python function runs once per row, and a million ranges take as many
    statements as a thousand.
    """
    few, many = work(profile_file, 1_000), work(profile_file, 50_000)
    assert many[1] == few[1] < 60
    assert many[0] < few[0] + 100
