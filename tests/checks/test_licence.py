# SPDX-License-Identifier: Apache-2.0
"""Every source names its licence in its first lines, and the terms are complete."""

from __future__ import annotations

from pathlib import Path

from scripts.wcb.lint import files

ROOT = Path(__file__).resolve().parents[2]
LINE = "SPDX-License-Identifier: Apache-2.0"
SOURCES = (".h", ".cxx", ".cu", ".cuh", ".c", ".py", ".jsonnet", ".js", ".css", ".sh")
HEAD_LINES = 3  # after #! or the encoding


def test_every_source_names_the_licence() -> None:
    without = []
    for name in files.with_ending(files.every(), *SOURCES):
        head = (ROOT / name).read_text(encoding="utf-8").split("\n")[:HEAD_LINES]
        if not any(LINE in line for line in head):
            without.append(name)
    assert not without, without


def test_terms_are_complete() -> None:
    assert "Apache License\n                           Version 2.0" in (ROOT / "LICENSE").read_text(
        encoding="utf-8"
    )
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    missing = [path.name for path in (ROOT / "data").iterdir() if path.name not in notice]
    assert not missing, f"data without origin and terms in NOTICE: {missing}"
