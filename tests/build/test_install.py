"""./wcb install: an installed program finds its library, configuration and data by its own place."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from wcblib.checkout import build_folder


@pytest.fixture
def installed(run_wcb, tmp_path) -> Path:
    """The prefix under a staging folder, moved after the installation."""
    if build_folder() is None or not (build_folder() / "bin" / "wire-cell").exists():
        pytest.skip("wire-cell is not built")
    done = run_wcb("install", f"--destdir={tmp_path / 'stage'}", "--notests")
    assert done.status == 0, done.err
    library = next((tmp_path / "stage").glob("**/lib/libWireCellSpng.so"))
    moved = tmp_path / "moved here"
    library.parent.parent.rename(moved)
    return moved


def test_layout_and_a_run_from_anywhere(installed, tmp_path):
    for path in (
        "bin/wire-cell",
        "lib/libWireCellSpng.so",
        "include/WireCellSpng/TorchnvTools.h",
        "include/spng/core/error.h",
        "share/wirecell/cfg/pipeline.jsonnet",
        "share/wirecell/data/README.md",
    ):
        assert (installed / path).is_file(), path
    environment = {
        name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "WIRECELL_PATH")
    }
    done = subprocess.run(
        [str(installed / "bin" / "wire-cell"), "--check", "-c", "pipeline.jsonnet"],
        cwd=tmp_path,
        text=True,
        capture_output=True,
        check=False,
        env=environment,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    linked = subprocess.run(
        ["ldd", str(installed / "lib" / "libWireCellSpng.so")], capture_output=True, text=True, check=True
    ).stdout
    assert "not found" not in linked and "libtorch_cuda" not in linked
