# SPDX-License-Identifier: Apache-2.0
"""Outcomes of checks, time limits, and the tools that a stage calls."""

from __future__ import annotations

import os
import stat
import sys
import time
from pathlib import Path

import pytest

from bench.gpu import sanitize, speed
from bench.gpu.outcome import FAILED, OK, SKIPPED, Failed, Skipped, exit_status
from bench.gpu.setting import Setting, environment_for, find_program
from bench.gpu.stage import Stage


def make_stage(folder: Path, seconds: float = 100.0, is_simulated: bool = False) -> Stage:
    """Return a stage that has this time."""
    program = folder / "bin" / "wire-cell"
    program.parent.mkdir(exist_ok=True)
    program.touch()
    return Stage("smoke", Setting(program, folder, is_simulated=is_simulated), time.monotonic() + seconds)


def tool(folder: Path, name: str, text: str) -> None:
    """Write a program that stands in for a tool."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_outcomes(tmp_path: Path) -> None:
    """A check passes with its figures, fails, is skipped with the reason, or fails by an unexpected error."""
    stage = make_stage(tmp_path)

    def fail() -> str:
        raise Failed("ROIs differ")

    def skip() -> str:
        raise Skipped("no ncu on this machine")

    def break_down() -> str:
        return str(1 // 0)

    assert stage.check("good", lambda: "1 of 1")
    assert not any([stage.check("bad", fail), stage.check("absent", skip), stage.check("broken", break_down)])
    assert [(one.status, one.note) for one in stage.outcomes[:3]] == [
        (OK, "1 of 1"),
        (FAILED, "ROIs differ"),
        (SKIPPED, "no ncu on this machine"),
    ]
    assert stage.outcomes[3].status == FAILED and "ZeroDivisionError" in stage.outcomes[3].note
    assert exit_status(stage.outcomes) == 1
    assert exit_status([stage.outcomes[0], stage.outcomes[2]]) == 0
    assert "no ncu on this machine" in stage.table().text()


def test_checks_without_time_are_skipped(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, seconds=5)
    assert not stage.check("late", lambda: "done")
    assert stage.outcomes[0].note == "no time left in this stage"


def test_program_is_killed_with_its_children(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, seconds=1000)
    script = f"echo started; sleep 60 & echo $! > {tmp_path}/child; wait"
    done = stage.run("slow", ["sh", "-c", script], limit_s=5.0)
    assert done.is_late and "started" in done.text and done.failure().startswith("killed after 5 s")
    child = int((tmp_path / "child").read_text())
    deadline = time.monotonic() + 5
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(child)


def is_running(process: int) -> bool:
    """Tell whether a process exists and is no zombie."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return False


def test_error_block_is_the_failure(tmp_path: Path) -> None:
    script = "print('noise'); print('error: out of memory\\n  seen: 3\\n  hint: less'); raise SystemExit(1)"
    done = make_stage(tmp_path).run("job", [sys.executable, "-c", script])
    assert done.failure() == "status 1: error: out of memory; seen: 3; hint: less"


def test_simulated_device_skips_what_needs_hardware(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, is_simulated=True)
    sanitize.run(stage)
    stage.check("transfers", lambda: speed.transfers(stage))
    stage.check("ncu", lambda: speed.slowest_kernels(stage))
    assert {one.status for one in stage.outcomes} == {SKIPPED}
    assert all(one.note.startswith("simulated device: ") for one in stage.outcomes)


@pytest.mark.parametrize(
    ("output", "status", "expected"),
    [
        ("========= ERROR SUMMARY: 0 errors", 0, OK),
        ("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)", 0, OK),
        ("========= RACECHECK SUMMARY: 2 hazards displayed (0 errors, 2 warnings)", 0, FAILED),
        (
            "========= Invalid __global__ read of size 4 bytes\n"
            "=========     at grow_regions+0x240\n========= ERROR SUMMARY: 1 error",
            9,
            FAILED,
        ),
        ("no summary", 0, FAILED),
    ],
)
def test_summary_of_the_sanitizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, status: int, expected: str
) -> None:
    tool(tmp_path, "compute-sanitizer", f"cat <<'END'\n{output}\nEND\nexit {status}\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    stage = make_stage(tmp_path)
    one = sanitize.Pass("memcheck, an event", "memcheck", 20, {"model": "none"})
    stage.check(one.name, lambda: sanitize.sanitized(stage, one))
    assert stage.outcomes[0].status == expected, stage.outcomes[0].note
    if status == 9:
        assert "Invalid __global__ read" in stage.outcomes[0].note
        assert stage.results["sanitizer"][0]["kernels"] == {"grow_regions": 1}


def test_own_kernels_are_found() -> None:
    """Without names racecheck watches all kernels."""
    assert len(sanitize.own_kernels()) > 20


def test_kernels_for_ncu_are_the_slow_ones() -> None:
    """Short kernels are left out, and those that are launched too often."""
    rows = [
        {"Name": name, "Total Time (ns)": total, "Instances": count, "Avg (ns)": total / count}
        for name, total, count in (
            ("often", 9_000_000, 390),
            ("short", 500_000, 100),
            ("slow", 8_000_000, 30),
            ("rare", 90_000, 3),
        )
    ]
    assert speed.chosen_kernels(rows, 3) == (["slow", "rare"], 11)


def test_program_of_a_wheel_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "spng" / "bin" / "wire-cell"
    program.parent.mkdir(parents=True)
    program.touch()
    assert find_program(tmp_path / "spng", tmp_path) == find_program(tmp_path, tmp_path) == program
    (tmp_path / "bad.tgz").write_text("no archive")
    with pytest.raises(ValueError, match="cannot unpack"):
        find_program(tmp_path / "bad.tgz", tmp_path)
    monkeypatch.setenv("SPNG_WIRE_CELL", str(tmp_path / "absent"))
    with pytest.raises(ValueError, match="SPNG_WIRE_CELL names no program"):
        find_program(None, tmp_path)


def test_libraries_of_torch_are_for_a_wheel_only(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    given = os.environ.get("LD_LIBRARY_PATH")
    assert environment_for(tmp_path, is_of_wheel=False).get("LD_LIBRARY_PATH") == given
    assert "torch/lib" in environment_for(tmp_path, is_of_wheel=True)["LD_LIBRARY_PATH"]
