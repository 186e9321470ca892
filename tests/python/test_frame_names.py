# SPDX-License-Identifier: Apache-2.0
"""Names and notes that fake lines or command a terminal, and paths that are not UTF-8, through the commands of wirecell-frame."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from spng.formats import members
from wirecell_frame.cli import main

import spng
from tests.python.frame_examples import frame, signal
from tests.support.wire_cell import ENDINGS, needs_program

pytest.importorskip("h5py")
pytest.importorskip("zarr")
pytestmark = needs_program

Run = Callable[..., tuple[int, str, str]]
TAG, MASK = "s\nfake", "b\n\x1b[31m"
NOTES = {"key\n  note      model: real": "one\nerror: two\x1b[2J", "turned": "\u202etxt\x9b"}


@pytest.fixture(name="events", scope="module")
def fixture_events() -> dict[str, spng.Frame]:
    """Return an event with such names for HDF5 and Zarr, and one with such notes for archives."""
    mask = np.array([[1, 0, 3]])
    return {
        ending: frame(
            signal(),
            tag=TAG if ending in (".h5", ".zarr") else "s",
            masks={MASK if ending in (".h5", ".zarr") else "bad": mask},
            notes=NOTES,
        )
        for ending in (*ENDINGS, ".h5", ".zarr")
    }


def write_as_others(path: str, event: spng.Frame) -> None:
    """Write an event as another program could, with any names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(members, "check_names", lambda *_: None)
        spng.write_frames(path, event)


@pytest.fixture(name="run")
def fixture_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command in an empty folder, and returns its status and output."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        status = main(list(words))
        return status, *capsys.readouterr()

    return run


@pytest.mark.parametrize("ending", [".npz", ".tar.gz", ".h5", ".zarr"])
def test_texts_of_a_file_stay_on_their_lines(ending: str, events: dict[str, spng.Frame], run: Run) -> None:
    path = f"a{ending}"
    write_as_others(path, events[ending])
    status, out, _ = run("info", path)
    assert status == 0 and out.count("\n  note ") == 2 and len(out.splitlines()) == 10
    assert "  note      key\\n  note      model: real: one\\nerror: two\\x1b[2J\n" in out
    assert "  note      turned: \\u202etxt\\x9b\n" in out
    for words in (["compare", path, path], ["score", path, path], ["show", path]):
        status, out, _ = run(*words)
        assert status == 0 and not any(line.startswith("fake") for line in out.splitlines())
        assert "\x1b" not in out
    assert json.loads(run("info", "--json", path)[1])[0]["events"][0]["notes"] == NOTES


def test_names_that_archives_do_not_take(events: dict[str, spng.Frame], run: Run) -> None:
    write_as_others("a.h5", events[".h5"])
    for output in ("a.npz", "b.h5", "a.zarr"):
        status, _, err = run("convert", "a.h5", output)
        assert status == 1 and "\nfake" not in err and not os.path.exists(output)
        assert "printable ASCII characters, no '/'" in err


@pytest.mark.parametrize("ending", [".npz", ".h5", ".zarr"])
@pytest.mark.parametrize("name", ["\u00e9", "a/b", "a\nb", "\x7f", "t" * 86])
def test_names_that_no_format_takes(ending: str, name: str, run: Run) -> None:
    for event in (frame(signal(), tag=name), frame(signal(), masks={name: np.array([[1, 0, 3]])})):
        with pytest.raises(spng.Error, match="printable ASCII characters, no '/'"):
            spng.write_frames(f"a{ending}", event)
    for longest in ("t" * 85, "t"):
        event = frame(signal(), tag=longest, masks={longest: np.array([[1, 0, 3]])})
        spng.write_frames(f"a{ending}", event)
        assert next(spng.read_frames(f"a{ending}")) == event


BYTES = os.fsdecode(b"p\xe9")


@pytest.mark.parametrize("ending", [*ENDINGS, ".h5", ".zarr"])
def test_paths_that_are_not_utf8(ending: str, events: dict[str, spng.Frame], run: Run) -> None:
    os.mkdir(BYTES)
    path = f"{BYTES}/{BYTES}{ending}"
    spng.write_frames(path, events[".npz"])
    for words in (
        ["info", path],
        ["info", "--json", path],
        ["show", path, f"{BYTES}={path}", "--truth", path, "-o", f"{BYTES}.html"],
        ["plot", path, "-o", f"{BYTES}.svg"],
        ["compare", path, path, "--json", f"{BYTES}.json", "--html", f"{BYTES}.page"],
        ["score", path, path, "--json", f"{BYTES}.score"],
        ["convert", path, f"{BYTES}.h5"],
        ["convert", path, f"{BYTES}.zarr"],
    ):
        status, out, err = run(*words)
        assert (status, err) == (0, ""), words
        out.encode()  # valid UTF-8
    for name in (f"{BYTES}.html", f"{BYTES}.json", f"{BYTES}.page", f"{BYTES}.score"):
        assert r"\udc" not in Path(name).read_text(encoding="utf-8")
    assert json.loads(Path(f"{BYTES}.json").read_text())["a"] == f"p\\xe9/p\\xe9{ending}"
    for words in (["info", f"{BYTES}/absent{ending}"], ["convert", path, f"{BYTES}/absent/x{ending}"]):
        status, _, err = run(*words)
        assert status == 1 and "p\\xe9/absent" in err


def test_in_the_locale_of_c(tmp_path: Path) -> None:
    """One process for all formats: each is slow to start."""
    script = f"""
import os
import spng
from tests.python.frame_examples import frame, require_equal, signal
from wirecell_frame.cli import main

for ending in {(".npz", ".tar.gz", ".h5", ".zarr")}:
    path = os.fsdecode(b"p\\xe9") + ending
    spng.write_frames(path, frame(signal()))
    require_equal(next(spng.read_frames(path)), frame(signal()))
    assert main(["info", path]) == main(["convert", path, "o" + path]) == main(["show", path, "-o", path + ".html"]) == 0
"""
    path = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    environment = {"PYTHONPATH": path, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=os.environ | environment,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"p\\xe9") >= 8 and done.stdout.isascii()
