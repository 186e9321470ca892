# SPDX-License-Identifier: Apache-2.0
"""All cells of docs/tutorial.ipynb run, and print what the file shows."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
from typing import Any

import pytest

from tests.support import wire_cell
from tests.support.wire_cell import needs_program

NOTEBOOK = wire_cell.ROOT / "docs" / "tutorial.ipynb"
CELLS = [
    cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"
]


def run_cell(source: str, names: dict[str, Any]) -> tuple[str, Any]:
    """Run the statements of a cell; return what it prints, and the value of a last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, str(NOTEBOOK), "exec"), names)
        value = eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names) if last else None
    return printed.getvalue(), value


def shown(cell: dict[str, Any], kind: str) -> str:
    """Return the text of the outputs of a kind in the file."""
    outputs = [each for each in cell["outputs"] if each["output_type"] == kind]
    strings = [each["text"] if kind == "stream" else each["data"]["text/plain"] for each in outputs]
    return "".join("".join(text) for text in strings)


@needs_program
def test_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(NOTEBOOK.parent)
    names: dict[str, Any] = {}
    for cell in CELLS:
        printed, value = run_cell("".join(cell["source"]), names)
        if "timing_table" in "".join(cell["source"]):
            assert "SPNGDecon:induction" in printed
            continue
        assert re.findall(r"\d\.\d\d", printed) == re.findall(r"\d\.\d\d", shown(cell, "stream"))
        if value is not None and "spng.plot" not in "".join(cell["source"]):
            assert repr(value) == shown(cell, "execute_result")
        elif value is not None:
            assert len(value.axes) >= 3 and value._repr_png_()
    assert names["pipeline"].is_closed
