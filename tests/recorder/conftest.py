# SPDX-License-Identifier: Apache-2.0
"""Compile the annotated program once, and import wirecell_profile from the source tree."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "profiling"))

from tests.recorder import recorded


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded.compile_program(tmp_path_factory.mktemp("annotated"))
