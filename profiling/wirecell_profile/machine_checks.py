# SPDX-License-Identifier: Apache-2.0
"""Checks of `wirecell-profile doctor`: whether this machine can record, count and give stable timings.

The checks work without a GPU and without tools, and change nothing.
"""

from __future__ import annotations

import ctypes
import glob
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

WORKS, MISSING, DOUBTFUL = "works", "missing", "doubtful"
CUPTI_NAMES = ("libcupti.so.13", "libcupti.so.12", "libcupti.so")
NVML_NAMES = ("libnvidia-ml.so.1",)
RECORDER = "libSpngRecorder.so"
QUERY = "clocks.sm,clocks.max.sm,clocks.applications.graphics,persistence_mode,clocks_throttle_reasons.active"
IDLE_LOAD = 0.25  # load per core above which other programs disturb timings


@dataclass(frozen=True)
class Finding:
    """Result of one check, with a hint to correct it."""

    name: str
    state: str
    seen: str
    hint: str = ""


def works(name: str, seen: str) -> Finding:
    """Make a finding of something that works."""
    return Finding(name, WORKS, seen)


def missing(name: str, seen: str, hint: str) -> Finding:
    """Make a finding of something that is missing."""
    return Finding(name, MISSING, seen, hint)


def doubtful(name: str, seen: str, hint: str) -> Finding:
    """Make a finding of something that may disturb."""
    return Finding(name, DOUBTFUL, seen, hint)


@dataclass
class Machine:
    """Inputs of the checks; tests replace them."""

    root: Path = Path("/")
    build: Path | None = None  # build folder of wire-cell
    path: str | None = None  # search path of programs
    load: Callable[[str], ctypes.CDLL] = ctypes.CDLL
    libraries: tuple[Path, ...] = ()  # folders to search besides the loader's

    def text(self, path: str) -> str:
        """Return the content of a system file, empty if there is none."""
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def output(self, *command: str) -> str:
        """Return the output of a program, empty if it is missing or fails."""
        program = shutil.which(command[0], path=self.path)
        if not program:
            return ""
        try:
            done = subprocess.run(
                [program, *command[1:]], capture_output=True, text=True, timeout=20, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout.strip() if done.returncode == 0 else ""

    def library(self, names: tuple[str, ...]) -> tuple[str, ctypes.CDLL] | None:
        """Load the first available library; return its name or path, and the library."""
        for name in names:
            for candidate in [name, *(str(folder / name) for folder in self.libraries if "/" not in name)]:
                try:
                    return candidate, self.load(candidate)
                except OSError:
                    continue
        return None


def cupti_folders() -> tuple[Path, ...]:
    """Return the folders of CUPTI in CUDA_HOME and in the Python packages of this environment."""
    import sysconfig

    packages = Path(sysconfig.get_paths()["purelib"]) / "nvidia"
    patterns = [
        f"{packages}/cu1[23]/lib",
        f"{packages}/cuda_cupti/lib",
        f"{os.environ.get('CUDA_HOME', '/usr/local/cuda')}/extras/CUPTI/lib64",
    ]
    return tuple(Path(found) for pattern in patterns for found in glob.glob(pattern))


def check_driver(machine: Machine) -> Finding:
    """Check the kernel module and the driver's library."""
    version = machine.text("proc/driver/nvidia/version")
    library = machine.library(("libcuda.so.1",))
    if version and library:
        return works("NVIDIA driver", version.splitlines()[0])
    if library:
        return doubtful(
            "NVIDIA driver", "libcuda.so.1 without the kernel module", "load the module: modprobe nvidia"
        )
    return missing(
        "NVIDIA driver",
        "no libcuda.so.1",
        "install the driver; on a machine without a GPU ranges and CPU times are recorded",
    )


def check_cupti(machine: Machine) -> Finding:
    """Check the library that reports kernels and copies."""
    found = machine.library(CUPTI_NAMES)
    if not found:
        return missing(
            "CUPTI",
            "no libcupti",
            "./wcb setup brings nvidia-cuda-cupti; or put CUDA's extras/CUPTI/lib64 on LD_LIBRARY_PATH",
        )
    version = ctypes.c_uint32()
    status = found[1].cuptiGetVersion(ctypes.byref(version))
    if status:
        return doubtful(
            "CUPTI",
            f"{found[0]}: cuptiGetVersion failed with {status}",
            "take the CUPTI of the driver's CUDA version",
        )
    return works("CUPTI", f"{found[0]}, API {version.value}")


def check_counters(machine: Machine) -> Finding:
    """Check whether users may read the GPU's performance counters. ncu needs them; tracing kernels does not."""
    name = "GPU performance counters"
    parameters = dict(
        line.split(": ", 1) for line in machine.text("proc/driver/nvidia/params").splitlines() if ": " in line
    )
    restricted = parameters.get("RmProfilingAdminOnly")
    if restricted is None:
        return missing(
            name,
            "the driver does not report it",
            "applies to machines with an NVIDIA GPU and its driver only",
        )
    if restricted == "0" or os.geteuid() == 0:
        return works(
            name, "open to all users" if restricted == "0" else "for administrators only, and you are one"
        )
    return missing(
        name,
        "for administrators only (RmProfilingAdminOnly: 1)",
        "options nvidia NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d, then reload the driver; or run ncu with sudo",
    )


def check_nvml(machine: Machine) -> Finding:
    """Check the library for power, clocks and utilisation."""
    found = machine.library(NVML_NAMES)
    if not found:
        return missing(
            "NVML",
            "no libnvidia-ml.so.1",
            "install the NVIDIA driver; without it power and clocks are not sampled",
        )
    status = found[1].nvmlInit_v2()
    return (
        works("NVML", found[0])
        if status == 0
        else doubtful(
            "NVML",
            f"nvmlInit failed with {status}",
            "library and kernel module differ in version: reboot after a driver update",
        )
    )


def check_tool(machine: Machine, name: str, use: str) -> Finding:
    """Check an external program and its version."""
    if not shutil.which(name, path=machine.path):
        return missing(
            name, "not on the PATH", f"{use}; comes with the CUDA toolkit or its own installer from NVIDIA"
        )
    version = machine.output(name, "--version").splitlines()
    return works(name, version[-1] if version else shutil.which(name, path=machine.path) or "")


def check_gpu_state(machine: Machine) -> list[Finding]:
    """Check locked clocks, persistence mode and throttling of each GPU with nvidia-smi."""
    lines = machine.output("nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader,nounits").splitlines()
    if not lines:
        return [
            missing(name, "no nvidia-smi, or no GPU", "applies to machines with an NVIDIA GPU only")
            for name in ("GPU clocks", "persistence mode")
        ]
    found = []
    for index, line in enumerate(lines):
        now, largest, application, persistent, throttled = (part.strip() for part in line.split(","))
        at = f"GPU {index}: "
        if throttled not in ("0x0000000000000000", "0x0000000000000001", "Not Active"):  # 1: idle
            found.append(
                doubtful(
                    "GPU clocks",
                    f"{at}held down, reasons {throttled}",
                    "wait until it is cool, or lock lower clocks",
                )
            )
        elif application not in ("[N/A]", "[Not Supported]") and application != largest:
            found.append(works("GPU clocks", f"{at}application clock {application} MHz of {largest}"))
        else:
            found.append(
                doubtful(
                    "GPU clocks",
                    f"{at}free, {now} of {largest} MHz now",
                    "nvidia-smi --lock-gpu-clocks=MHZ (needs root)",
                )
            )
        found.append(
            works("persistence mode", at + "on")
            if persistent == "Enabled"
            else doubtful(
                "persistence mode",
                at + "off",
                "nvidia-smi --persistence-mode=1, else the first call pays for the driver's start",
            )
        )
    return found


def check_build(machine: Machine) -> list[Finding]:
    """Check whether wire-cell is built with ranges and the recorder."""
    if machine.build is None or not (machine.build / "bin" / "wire-cell").exists():
        return [
            missing(
                "wire-cell with NVTX",
                "no build found",
                "./wcb configure --with-nvtx && ./wcb; or give --build DIR",
            ),
            missing("recorder", "no build found", "./wcb"),
        ]
    header = machine.build / "include" / "spng" / "build_info.h"
    text = header.read_text(encoding="utf-8") if header.exists() else ""
    findings = [
        works("wire-cell with NVTX", str(machine.build))
        if "#define SPNG_HAVE_NVTX 1" in text
        else missing(
            "wire-cell with NVTX", f"{machine.build}: built without", "./wcb configure --with-nvtx && ./wcb"
        )
    ]
    recorder = machine.build / "lib" / RECORDER
    if not recorder.exists():
        return [*findings, missing("recorder", f"no {recorder}", "./wcb")]
    loaded = machine.library((str(recorder),))
    return [
        *findings,
        works("recorder", str(recorder))
        if loaded
        else doubtful("recorder", f"{recorder} cannot be loaded", "libsqlite3-0 is needed: ./wcb setup"),
    ]


def check_injection(machine: Machine) -> Finding:
    """Check NVTX_INJECTION64_PATH: if another tool is set, the recorder gets no ranges."""
    given = os.environ.get("NVTX_INJECTION64_PATH")
    if not given:
        return works("NVTX injection", "free for the recorder")
    if not Path(given).exists():
        return doubtful(
            "NVTX injection",
            f"NVTX_INJECTION64_PATH={given} does not exist, which silently switches all ranges off",
            "unset NVTX_INJECTION64_PATH",
        )
    return doubtful(
        "NVTX injection",
        f"set to {given}: the recorder gets no ranges",
        "unset NVTX_INJECTION64_PATH, unless you want that tool",
    )


def check_cpu_counters(machine: Machine) -> Finding:
    """Check whether this user may count and sample with perf."""
    level = machine.text("proc/sys/kernel/perf_event_paranoid")
    if not level:
        return missing(
            "CPU performance counters", "the kernel has none", "containers and virtual machines can hide them"
        )
    if int(level) <= 1 or os.geteuid() == 0:
        return works("CPU performance counters", f"perf_event_paranoid {level}")
    return missing(
        "CPU performance counters",
        f"perf_event_paranoid {level}",
        "sysctl kernel.perf_event_paranoid=1 (needs root)",
    )


def check_cpu_clock(machine: Machine) -> Finding:
    """Check whether the CPU clock is constant."""
    governor = machine.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    if not governor:
        return doubtful(
            "CPU clock",
            "no frequency control found, as in a virtual machine",
            "alternate the runs (compare-branches) and take more of them",
        )
    return (
        works("CPU clock", governor)
        if governor == "performance"
        else doubtful(
            "CPU clock", f"governor {governor}", "cpupower frequency-set --governor performance (needs root)"
        )
    )


def check_load(machine: Machine) -> Finding:
    """Check whether other programs use the CPU."""
    text = machine.text("proc/loadavg")
    load, cores = float(text.split()[0]) if text else 0.0, os.cpu_count() or 1
    if load <= IDLE_LOAD * cores:
        return works("other programs", f"load {load:.2f} on {cores} cores")
    return doubtful(
        "other programs",
        f"load {load:.2f} on {cores} cores",
        "wait, or take more runs; compare-branches shows the load of each run",
    )


def all_checks(machine: Machine) -> list[Finding]:
    """Run every check."""
    return [
        check_driver(machine),
        check_cupti(machine),
        check_counters(machine),
        check_nvml(machine),
        *check_gpu_state(machine),
        check_tool(machine, "nsys", "for timelines of Nsight Systems; wire-cell --record works without it"),
        check_tool(machine, "ncu", "for single kernels"),
        check_tool(machine, "compute-sanitizer", "for memory errors and races on the GPU"),
        *check_build(machine),
        check_injection(machine),
        check_cpu_counters(machine),
        check_cpu_clock(machine),
        check_load(machine),
    ]
