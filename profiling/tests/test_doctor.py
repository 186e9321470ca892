# SPDX-License-Identifier: Apache-2.0
"""The checks of `doctor`, on machines that consist of files and stand-in libraries."""

from __future__ import annotations

import ctypes
import json
import os
from pathlib import Path

import pytest
from wirecell_profile import cli, machine_checks
from wirecell_profile.machine_checks import DOUBTFUL, MISSING, WORKS, Machine


class Library:
    """Answer every function with the same status."""

    def __init__(self, status: int) -> None:
        self._status = status

    def __getattr__(self, name: str):
        return lambda *arguments: self._status


def machine(
    root: Path, status: int | None = None, programs: dict[str, str] | None = None, **files: str
) -> Machine:
    """Make a machine with these files and programs, whose libraries answer with `status` (None: none can be
    loaded).
    """
    for name, content in files.items():
        file = root / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    (root / "bin").mkdir(exist_ok=True)
    for name, answer in (programs or {}).items():
        program = root / "bin" / name
        program.write_text(f"#!/bin/sh\ncat <<'end'\n{answer}\nend\n")
        program.chmod(0o755)

    def load(name: str) -> Library:
        if status is None:
            raise OSError(name)
        return Library(status)

    return Machine(root=root, path=f"{root}/bin:/bin:/usr/bin" if programs else f"{root}/bin", load=load)


def states(findings: list) -> dict[str, str]:
    return {finding.name: finding.state for finding in findings}


def test_a_bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a bare machine all parts of a GPU are reported as missing, each with a hint, and nothing fails."""
    monkeypatch.delenv("NVTX_INJECTION64_PATH", raising=False)
    findings = machine_checks.all_checks(machine(tmp_path))
    seen = states(findings)
    for name in (
        "NVIDIA driver",
        "CUPTI",
        "NVML",
        "GPU performance counters",
        "GPU clocks",
        "persistence mode",
        "nsys",
        "ncu",
        "compute-sanitizer",
        "wire-cell with NVTX",
        "recorder",
        "CPU performance counters",
    ):
        assert seen[name] == MISSING, name
    assert seen["NVTX injection"] == WORKS and all(
        finding.hint for finding in findings if finding.state != WORKS
    )


def test_a_gpu_machine(tmp_path: Path) -> None:
    ready = machine(
        tmp_path,
        0,
        {
            "nsys": "NVIDIA Nsight Systems version 2023.4",
            "nvidia-smi": "1200, 1980, 1410, Enabled, 0x0000000000000000",
        },
        proc__driver__nvidia__version="NVRM version: 580.1",
        proc__driver__nvidia__params="RmProfilingAdminOnly: 0\nOther: 1",
    )
    seen = states(machine_checks.all_checks(ready))
    for name in (
        "NVIDIA driver",
        "CUPTI",
        "NVML",
        "GPU performance counters",
        "GPU clocks",
        "persistence mode",
        "nsys",
    ):
        assert seen[name] == WORKS, name
    assert machine_checks.check_tool(ready, "nsys").seen == "NVIDIA Nsight Systems version 2023.4"


@pytest.mark.parametrize(
    "line, clocks, persistence",
    [
        ("1200, 1980, 1980, Disabled, 0x0000000000000000", DOUBTFUL, DOUBTFUL),
        ("1200, 1980, [N/A], Enabled, 0x0000000000000001", DOUBTFUL, WORKS),
        ("700, 1980, 1410, Enabled, 0x0000000000000020", DOUBTFUL, WORKS),
    ],
)
def test_gpu_state(line: str, clocks: str, persistence: str, tmp_path: Path) -> None:
    assert states(machine_checks.check_gpu_state(machine(tmp_path, 0, {"nvidia-smi": line}))) == {
        "GPU clocks": clocks,
        "persistence mode": persistence,
    }


def test_restricted_counters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    locked = machine(
        tmp_path,
        0,
        proc__driver__nvidia__params="RmProfilingAdminOnly: 1",
        proc__sys__kernel__perf_event_paranoid="4",
    )
    assert (
        machine_checks.check_counters(locked).state == MISSING
        and "NVreg_Restrict" in machine_checks.check_counters(locked).hint
    )
    assert machine_checks.check_cpu_counters(locked).state == MISSING
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert (
        machine_checks.check_counters(locked).state
        == WORKS
        == machine_checks.check_cpu_counters(locked).state
    )


def test_libraries_that_fail(tmp_path: Path) -> None:
    broken = machine(tmp_path, 999)
    assert machine_checks.check_cupti(broken).state == DOUBTFUL == machine_checks.check_nvml(broken).state


def test_load_and_clock(tmp_path: Path) -> None:
    governor = "sys__devices__system__cpu__cpu0__cpufreq__scaling_governor"
    busy = machine(tmp_path, **{governor: "powersave"}, proc__loadavg="99.0 9 9 1/2 3")
    assert machine_checks.check_cpu_clock(busy).state == DOUBTFUL == machine_checks.check_load(busy).state
    quiet = machine(tmp_path, **{governor: "performance"}, proc__loadavg="0.01 0 0 1/2 3")
    assert machine_checks.check_cpu_clock(quiet).state == WORKS == machine_checks.check_load(quiet).state


def test_build(tmp_path: Path) -> None:
    build = tmp_path / "build"
    for folder in ("bin", "lib", "include/spng"):
        (build / folder).mkdir(parents=True)
    (build / "bin" / "wire-cell").touch()
    subject = machine(tmp_path, 0)
    subject.build = build
    header = build / "include" / "spng" / "build_info.h"
    for content, state in (("#define SPNG_HAVE_NVTX 0", MISSING), ("#define SPNG_HAVE_NVTX 1", WORKS)):
        header.write_text(content)
        assert states(machine_checks.check_build(subject)) == {
            "wire-cell with NVTX": state,
            "recorder": MISSING,
        }
    (build / "lib" / machine_checks.RECORDER).touch()
    assert states(machine_checks.check_build(subject))["recorder"] == WORKS
    subject.load = ctypes.CDLL  # an empty file is not a library
    assert states(machine_checks.check_build(subject))["recorder"] == DOUBTFUL


def test_injection_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVTX_INJECTION64_PATH", "/nowhere.so")
    assert "silently" in machine_checks.check_injection(machine(tmp_path)).seen
    monkeypatch.setenv("NVTX_INJECTION64_PATH", __file__)
    assert "gets no ranges" in machine_checks.check_injection(machine(tmp_path)).seen


def test_command(capsys: pytest.CaptureFixture) -> None:
    """On this machine every finding has a state, and the text has the checklist."""
    assert cli.main(["doctor", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)
    assert len(findings) >= 15 and {finding["state"] for finding in findings} <= {WORKS, MISSING, DOUBTFUL}
    assert cli.main(["doctor"]) == 0 and "A profile is reliable if:" in capsys.readouterr().out
    expected = int(next(finding for finding in findings if finding["name"] == "CUPTI")["state"] != WORKS)
    assert cli.main(["doctor", "--require", "CUPTI"]) == expected
    assert cli.main(["doctor", "--require", "luck"]) == 2
