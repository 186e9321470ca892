"""The annotated program, compiled once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.instrument.recorder import recorded


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded.compile_program(tmp_path_factory.mktemp("annotated"))
