# SPDX-License-Identifier: Apache-2.0
"""Type checkers accept the examples of docs/python.md."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checks.test_documents import blocks
from tests.support.wire_cell import ROOT

MYPY = ROOT / ".wcb" / "lint" / "bin" / "mypy"


@pytest.mark.skipif(not MYPY.exists(), reason="no mypy (./wcb lint installs it)")
def test_the_examples_have_types(tmp_path: Path) -> None:
    shown = blocks(ROOT / "docs" / "python.md", "python")
    process, with_progress = shown[:2]
    assert 'signal = result["signal"]' in process and "signal.samples.sum()" in process
    awaited = "async def work(frame: spng.Frame) -> bool:\n    return await pipeline.submit(frame) == frame\n"
    example = tmp_path / "example.py"
    example.write_text("\n".join([process, with_progress, awaited]), encoding="utf-8")
    command = [
        MYPY,
        f"--cache-dir={ROOT / '.wcb' / 'mypy'}",
        f"--python-executable={sys.executable}",
        example,
    ]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": "profiling:campaign:python"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
