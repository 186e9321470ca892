# SPDX-License-Identifier: Apache-2.0
"""Facts about the machine and the program, for the head of a stage's section."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

# Columns of nvidia-smi and their names in the facts.
GPU_FACTS = {
    "name": "GPU",
    "driver_version": "driver",
    "memory.total": "memory of the GPU",
    "compute_cap": "compute capability",
    "pcie.link.gen.current": "PCIe generation",
    "pcie.link.width.current": "PCIe width",
    "ecc.mode.current": "ECC",
    "mig.mode.current": "MIG",
    "power.limit": "power limit",
}
TOOLS = ("nvcc", "nsys", "ncu", "compute-sanitizer")


def gpu_facts() -> list[dict[str, str]]:
    """Return the facts of each GPU by nvidia-smi; an empty list without it."""
    text = output_of(["nvidia-smi", f"--query-gpu={','.join(GPU_FACTS)}", "--format=csv,noheader"])
    return [
        dict(zip(GPU_FACTS.values(), (cell.strip() for cell in line.split(","))))
        for line in text.splitlines()
        if line.count(",") == len(GPU_FACTS) - 1
    ]


def machine_facts() -> dict[str, str]:
    """Return the facts of the machine without its GPUs."""
    return {
        "processor": f"{processor()}, {os.cpu_count()} cores",
        "memory": f"{memory_gb():.0f} GB",
        "system": f"{system()}, Linux {platform.release()}, glibc {platform.libc_ver()[1]}",
        "Python": platform.python_version(),
        "tools": ", ".join(filter(None, map(tool_version, TOOLS))) or "none of CUDA's",
    }


def program_facts(program: Path, environment: dict[str, str]) -> dict[str, str]:
    """Return version, commit, build and LibTorch of the program; an empty dictionary if it does not start."""
    text = output_of([str(program), "--version"], environment)
    found = dict(re.findall(r"^  (\w+) +(.+)$", text, re.MULTILINE))
    return {"version": text.splitlines()[0], **found} if text else {}


def output_of(command: list[str], environment: dict[str, str] | None = None) -> str:
    """Return what a program prints; empty if it fails or does not exist."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=30, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def processor() -> str:
    """Return the name of the processor."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    found = re.search(r"^model name\s*: (.+)$", text, re.MULTILINE)
    return found[1] if found else platform.machine()


def memory_gb() -> float:
    """Return the memory of the machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 1e-9


def system() -> str:
    """Return the name of the distribution."""
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return "Linux"


def tool_version(name: str) -> str:
    """Return a tool of CUDA with its version; empty if there is none."""
    path = shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")
    if path is None:
        return ""
    found = re.search(r"\b(\d{2,4}\.\d+(\.\d+)*)\b", output_of([path, "--version"]))
    return f"{name} {found[1]}" if found else name
