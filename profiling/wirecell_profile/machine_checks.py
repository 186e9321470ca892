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
FROM_NVIDIA = "comes with the CUDA toolkit or its own installer from NVIDIA"
IDLE_LOAD = 0.25  # load per core above which other programs disturb timings


# Hints by check and state.
HINTS = {
    ("NVIDIA driver", DOUBTFUL): "load the module: modprobe nvidia",
    (
        "NVIDIA driver",
        MISSING,
    ): "install the driver; on a machine without a GPU ranges and CPU times are recorded",
    ("CUPTI", DOUBTFUL): "take the CUPTI of the driver's CUDA version",
    (
        "CUPTI",
        MISSING,
    ): "./wcb setup brings nvidia-cuda-cupti; or put CUDA's extras/CUPTI/lib64 on LD_LIBRARY_PATH",
    (
        "GPU performance counters",
        MISSING,
    ): "with an NVIDIA driver: options nvidia NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d, then reload the driver; or run ncu with sudo",
    ("NVML", DOUBTFUL): "library and kernel module differ in version: reboot after a driver update",
    ("NVML", MISSING): "install the NVIDIA driver; without it power and clocks are not sampled",
    (
        "GPU clocks",
        DOUBTFUL,
    ): "nvidia-smi --lock-gpu-clocks=MHZ (needs root); if they are held down, wait until the GPU is cool",
    ("GPU clocks", MISSING): "applies to machines with an NVIDIA GPU only",
    (
        "persistence mode",
        DOUBTFUL,
    ): "nvidia-smi --persistence-mode=1, else the first call pays for the driver's start",
    ("persistence mode", MISSING): "applies to machines with an NVIDIA GPU only",
    ("nsys", MISSING): f"for timelines of Nsight Systems; wire-cell --record works without it; {FROM_NVIDIA}",
    ("ncu", MISSING): f"for single kernels; {FROM_NVIDIA}",
    ("compute-sanitizer", MISSING): f"for memory errors and races on the GPU; {FROM_NVIDIA}",
    ("wire-cell with NVTX", MISSING): "./wcb configure --with-nvtx && ./wcb; or give --build DIR",
    ("recorder", DOUBTFUL): "libsqlite3-0 is needed: ./wcb setup",
    ("recorder", MISSING): "./wcb",
    ("NVTX injection", DOUBTFUL): "unset NVTX_INJECTION64_PATH, unless you want that tool",
    (
        "CPU performance counters",
        MISSING,
    ): "sysctl kernel.perf_event_paranoid=1 (needs root); containers and virtual machines can hide them",
    (
        "CPU clock",
        DOUBTFUL,
    ): "cpupower frequency-set --governor performance (needs root); in a virtual machine alternate the runs (compare-branches) and take more of them",
    ("other programs", DOUBTFUL): "wait, or take more runs; compare-branches shows the load of each run",
}


@dataclass(frozen=True)
class Finding:
    """Result of one check."""

    name: str
    state: str
    seen: str

    @property
    def hint(self) -> str:
        """Hint to correct it; empty if it works."""
        return "" if self.state == WORKS else HINTS[self.name, self.state]


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
    name, version = "NVIDIA driver", machine.text("proc/driver/nvidia/version")
    if not machine.library(("libcuda.so.1",)):
        return Finding(name, MISSING, "no libcuda.so.1")
    if not version:
        return Finding(name, DOUBTFUL, "libcuda.so.1 without the kernel module")
    return Finding(name, WORKS, version.splitlines()[0])


def check_cupti(machine: Machine) -> Finding:
    """Check the library that reports kernels and copies."""
    found = machine.library(CUPTI_NAMES)
    if not found:
        return Finding("CUPTI", MISSING, "no libcupti")
    version = ctypes.c_uint32()
    if status := found[1].cuptiGetVersion(ctypes.byref(version)):
        return Finding("CUPTI", DOUBTFUL, f"{found[0]}: cuptiGetVersion failed with {status}")
    return Finding("CUPTI", WORKS, f"{found[0]}, API {version.value}")


def check_counters(machine: Machine) -> Finding:
    """Check whether users may read the GPU's performance counters. ncu needs them; tracing kernels does not."""
    name, lines = "GPU performance counters", machine.text("proc/driver/nvidia/params").splitlines()
    restricted = dict(line.split(": ", 1) for line in lines if ": " in line).get("RmProfilingAdminOnly")
    if restricted is None:
        return Finding(name, MISSING, "the driver does not report it")
    if restricted == "0":
        return Finding(name, WORKS, "open to all users")
    if os.geteuid() == 0:
        return Finding(name, WORKS, "for administrators only, and you are one")
    return Finding(name, MISSING, "for administrators only (RmProfilingAdminOnly: 1)")


def check_nvml(machine: Machine) -> Finding:
    """Check the library for power, clocks and utilisation."""
    found = machine.library(NVML_NAMES)
    if not found:
        return Finding("NVML", MISSING, "no libnvidia-ml.so.1")
    if status := found[1].nvmlInit_v2():
        return Finding("NVML", DOUBTFUL, f"nvmlInit failed with {status}")
    return Finding("NVML", WORKS, found[0])


def check_tool(machine: Machine, name: str) -> Finding:
    """Check an external program and its version."""
    program = shutil.which(name, path=machine.path)
    if not program:
        return Finding(name, MISSING, "not on the PATH")
    version = machine.output(name, "--version").splitlines()
    return Finding(name, WORKS, version[-1] if version else program)


def check_gpu_state(machine: Machine) -> list[Finding]:
    """Check locked clocks, persistence mode and throttling of each GPU with nvidia-smi."""
    clocks, persistence = "GPU clocks", "persistence mode"
    lines = machine.output("nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader,nounits").splitlines()
    if not lines:
        return [Finding(name, MISSING, "no nvidia-smi, or no GPU") for name in (clocks, persistence)]
    found = []
    for index, line in enumerate(lines):
        now, largest, application, persistent, throttled = (part.strip() for part in line.split(","))
        at = f"GPU {index}: "
        if throttled not in ("0x0000000000000000", "0x0000000000000001", "Not Active"):  # 1: idle
            found.append(Finding(clocks, DOUBTFUL, f"{at}held down, reasons {throttled}"))
        elif application not in ("[N/A]", "[Not Supported]") and application != largest:
            found.append(Finding(clocks, WORKS, f"{at}application clock {application} MHz of {largest}"))
        else:
            found.append(Finding(clocks, DOUBTFUL, f"{at}free, {now} of {largest} MHz now"))
        is_on = persistent == "Enabled"
        found.append(Finding(persistence, WORKS if is_on else DOUBTFUL, at + ("on" if is_on else "off")))
    return found


def check_build(machine: Machine) -> list[Finding]:
    """Check whether wire-cell is built with ranges and the recorder."""
    nvtx, name = "wire-cell with NVTX", "recorder"
    if machine.build is None or not (machine.build / "bin" / "wire-cell").exists():
        return [Finding(nvtx, MISSING, "no build found"), Finding(name, MISSING, "no build found")]
    header = machine.build / "include" / "spng" / "build_info.h"
    text = header.read_text(encoding="utf-8") if header.exists() else ""
    has_ranges = "#define SPNG_HAVE_NVTX 1" in text
    without = "" if has_ranges else ": built without"
    ranges = Finding(nvtx, WORKS if has_ranges else MISSING, f"{machine.build}{without}")
    library = machine.build / "lib" / RECORDER
    if not library.exists():
        return [ranges, Finding(name, MISSING, f"no {library}")]
    if not machine.library((str(library),)):
        return [ranges, Finding(name, DOUBTFUL, f"{library} cannot be loaded")]
    return [ranges, Finding(name, WORKS, str(library))]


def check_injection(machine: Machine) -> Finding:
    """Check NVTX_INJECTION64_PATH: if another tool is set, the recorder gets no ranges."""
    name, given = "NVTX injection", os.environ.get("NVTX_INJECTION64_PATH")
    if not given:
        return Finding(name, WORKS, "free for the recorder")
    if not Path(given).exists():
        does_not = "does not exist, which silently switches all ranges off"
        return Finding(name, DOUBTFUL, f"NVTX_INJECTION64_PATH={given} {does_not}")
    return Finding(name, DOUBTFUL, f"set to {given}: the recorder gets no ranges")


def check_cpu_counters(machine: Machine) -> Finding:
    """Check whether this user may count and sample with perf."""
    name, level = "CPU performance counters", machine.text("proc/sys/kernel/perf_event_paranoid")
    if not level:
        return Finding(name, MISSING, "the kernel has none")
    may_count = int(level) <= 1 or os.geteuid() == 0
    return Finding(name, WORKS if may_count else MISSING, f"perf_event_paranoid {level}")


def check_cpu_clock(machine: Machine) -> Finding:
    """Check whether the CPU clock is constant."""
    governor = machine.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    if not governor:
        return Finding("CPU clock", DOUBTFUL, "no frequency control found, as in a virtual machine")
    return Finding("CPU clock", WORKS if governor == "performance" else DOUBTFUL, f"governor {governor}")


def check_load(machine: Machine) -> Finding:
    """Check whether other programs use the CPU."""
    text = machine.text("proc/loadavg")
    load, cores = float(text.split()[0]) if text else 0.0, os.cpu_count() or 1
    state = WORKS if load <= IDLE_LOAD * cores else DOUBTFUL
    return Finding("other programs", state, f"load {load:.2f} on {cores} cores")


def all_checks(machine: Machine) -> list[Finding]:
    """Run every check."""
    return [
        check_driver(machine),
        check_cupti(machine),
        check_counters(machine),
        check_nvml(machine),
        *check_gpu_state(machine),
        *(check_tool(machine, name) for name in ("nsys", "ncu", "compute-sanitizer")),
        *check_build(machine),
        check_injection(machine),
        check_cpu_counters(machine),
        check_cpu_clock(machine),
        check_load(machine),
    ]
