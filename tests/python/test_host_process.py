# SPDX-License-Identifier: Apache-2.0
"""A Pipeline uses the process of its host, and changes nothing in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.support import wire_cell
from tests.support.wire_cell import needs_program

pytestmark = needs_program


@pytest.mark.parametrize("model", ["default", "none"])
def test_a_pipeline_changes_nothing_in_the_process(model: str) -> None:
    """Signals, environment, locale, limits, floating point, malloc, logging; LibTorch's allocator, threads and observers."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.process_state", str(wire_cell.ADC), model],
        cwd=wire_cell.ROOT,
        env={**os.environ, "PYTHONPATH": f"{wire_cell.ROOT / 'python'}"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["changes"] == []
    missing = [key for key, value in found["seen"].items() if value is None]
    assert missing in ([], ["oneTBB"]), "the test can look at everything"
    assert done.stderr == ""
