# SPDX-License-Identifier: Apache-2.0
"""Builds with sanitizers, each in a folder of its own beside the normal build."""

from __future__ import annotations

import os
from pathlib import Path

from scripts.wcb.checkout import ROOT, fail, run

# Parts that the tests under a sanitizer do not need. The build leaves out the Python module by itself.
LEFT_OUT = ("--with-benchmark=no", "--cuda-compiler=none")
LINES_ONLY = (
    "--build-debug=-g1"  # line numbers for the reports; all debug information takes half of the build's time
)


def make(mode: str) -> Path:
    """Configure and build with --build-mode=MODE; return the build folder. End the program if that fails."""
    folder = ROOT / f"build-{mode}"
    lock = f".lock-wcb-{mode}"
    os.environ["WAFLOCK"] = lock
    try:
        if not (ROOT / lock).exists() or not (folder / "c4che").is_dir():
            wcb("configure", "-o", folder.name, f"--build-mode={mode}", "--with-nvtx", LINES_ONLY, *LEFT_OUT)
        wcb("build")
    finally:
        del os.environ["WAFLOCK"]
    return folder


def wcb(*arguments: str) -> None:
    """Run ./wcb; end the program if it fails."""
    if status := run([str(ROOT / "wcb"), *arguments]):
        fail(f"./wcb {' '.join(arguments)} failed", status)
