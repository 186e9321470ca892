# SPDX-License-Identifier: Apache-2.0
"""An output of wire-cell never replaces what it did not make: inputs, lists, models, and files of another kind."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.support import wire_cell
from tests.support.small_site import Site

pytestmark = wire_cell.needs_program

COPY = str(wire_cell.ROOT / "tests" / "app" / "jobs" / "copy.jsonnet")
OTHER_KIND = "error: an output would replace a file of another kind"


def write_events(path: Path, ident: int = 0) -> Path:
    return wire_cell.write_arrays(
        path, wire_cell.event(np.full((3, 8), ident, np.int16), np.arange(3), ident=ident)
    )


def write_foreign(path: Path, kind: str) -> None:
    """Write a file that is no output of a job."""
    path.unlink(missing_ok=True)
    if kind == "text":
        path.write_text("results of three years\n", encoding="utf-8")
    elif kind == "foreign archive":
        with path.open("wb") as file:
            np.savez(file, np.arange(3))
    elif kind == "foreign tar":
        with tarfile.open(path, "w") as archive:
            archive.add(__file__, "thesis.tex")
    elif kind == "database":
        with closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE mine (x)")
            database.commit()
    else:
        path.write_bytes(bytes(range(256)))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


KINDS = ("text", "foreign archive", "foreign tar", "database", "bytes")
OPTIONS = {
    "output": ("-A", "output={}"),
    "timing": ("--timing", "{}"),
    "log": ("-l", "{}"),
    "recording": ("--record", "{}"),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_files_of_another_kind_stay(tmp_path: Path, option: str) -> None:
    """With each kind of foreign file under the name of the output, and under a link to it; --overwrite replaces it."""
    write_events(tmp_path / "in.npz")
    name = "kept.npz"
    words = [word.format(name) for word in OPTIONS[option]]
    rest = ["-c", COPY, "-A", "input=in.npz"] + ([] if option == "output" else ["-A", "output=out.npz"])
    for kind in KINDS:
        write_foreign(tmp_path / name, kind)
        before = digest(tmp_path / name)
        done = wire_cell.run(*rest, *words, folder=tmp_path)
        assert done.returncode != 0, kind
        assert name in done.stderr and "--overwrite" in done.stderr and done.stderr.startswith("error: "), (
            kind
        )
        assert digest(tmp_path / name) == before, kind
        assert sorted(path.name for path in tmp_path.iterdir()) == ["in.npz", name], kind
    done = wire_cell.run(*rest, *words, "--overwrite", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert digest(tmp_path / name) != before


@pytest.mark.parametrize("option", OPTIONS)
def test_files_of_the_same_kind_are_replaced(tmp_path: Path, option: str) -> None:
    """A run may be repeated."""
    write_events(tmp_path / "in.npz")
    words = [word.format("kept.npz") for word in OPTIONS[option]]
    rest = ["-c", COPY, "-A", "input=in.npz"] + ([] if option == "output" else ["-A", "output=out.npz"])
    for _ in range(2):
        done = wire_cell.run(*rest, *words, "-L", "debug", folder=tmp_path)
        assert done.returncode == 0, done.stderr


def test_frames_replace_frames_in_every_form(tmp_path: Path) -> None:
    """Also an empty file, and one that a link names."""
    write_events(tmp_path / "in.npz")
    for name in ("out.npz", "out.tar", "out.tar.gz", "out.tar.bz2"):
        (tmp_path / name).touch()
        for _ in range(2):
            done = wire_cell.run("-c", COPY, "-A", "input=in.npz", "-A", f"output={name}", folder=tmp_path)
            assert done.returncode == 0, done.stderr
    write_foreign(tmp_path / "foreign.txt", "text")
    (tmp_path / "link.npz").symlink_to("foreign.txt")
    done = wire_cell.run("-c", COPY, "-A", "input=in.npz", "-A", "output=link.npz", folder=tmp_path)
    assert done.returncode != 0 and done.stderr.startswith(OTHER_KIND)


class TestLists:
    """All lines are checked before the first byte is written."""

    @pytest.mark.parametrize("link", [None, os.symlink, os.link])
    def test_a_line_that_names_the_input_of_another(self, tmp_path: Path, link: object) -> None:
        """The output of the last line is the input of an earlier one, under its name or a link."""
        names = ("first.npz", "second.tar", "third.npz")
        for ident, name in enumerate(names):
            write_events(tmp_path / name, ident)
        (tmp_path / "out").mkdir()
        target = "first.npz" if link is None else "alias.npz"
        if link is not None:
            link(tmp_path / "first.npz", tmp_path / "alias.npz")  # type: ignore[operator]
        lines = [f'{{"input": "{name}", "to": "out/{name}"}}' for name in names[:2]]
        lines.append(f'{{"input": "third.npz", "to": "{target}"}}')
        (tmp_path / "list.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        before = [digest(tmp_path / name) for name in names]
        words = ("-c", COPY, "--files", "list.txt", "-A", "output={to}")
        for more in ((), ("--on-error", "skip")):
            done = wire_cell.run(*words, *more, folder=tmp_path)
            assert done.returncode == 2
            assert "error: a run of the list would overwrite the input of another one" in done.stderr
            assert [digest(tmp_path / name) for name in names] == before
            assert list((tmp_path / "out").iterdir()) == []

    @pytest.mark.parametrize(
        "words",
        [
            ("--timing", "{input}"),
            ("-l", "list.txt"),
            ("--timing", "list.txt"),
            ("--record", "list.txt", "--overwrite"),
        ],
    )
    def test_reports_over_inputs_and_the_list(self, tmp_path: Path, words: tuple[str, ...]) -> None:
        for ident, name in enumerate(("a.npz", "b.npz")):
            write_events(tmp_path / name, ident)
        (tmp_path / "list.txt").write_text("a.npz\nb.npz\n", encoding="utf-8")
        before = [digest(path) for path in sorted(tmp_path.iterdir())]
        done = wire_cell.run(
            "-c", COPY, "--files", "list.txt", "-A", "output={name}.tar", *words, folder=tmp_path
        )
        assert done.returncode == 2, done.stderr
        assert [digest(path) for path in sorted(tmp_path.iterdir())] == before


class TestServers:
    """The files of a server are checked before it opens its log."""

    @pytest.mark.parametrize(
        ("option", "target", "error"),
        [
            ("-l", "net.ts", "error: an output would overwrite an input"),
            ("--timing", "job.jsonnet", "error: an output would overwrite an input"),
            ("-l", "accepted.sha256", "error: an output would overwrite an input"),
            ("-l", "notes.txt", OTHER_KIND),
        ],
    )
    def test_nothing_is_replaced(self, tmp_path: Path, option: str, target: str, error: str) -> None:
        (tmp_path / "site").mkdir()
        site = Site.at(tmp_path / "site")
        shutil.copyfile(wire_cell.ROOT / "data" / "dnnroi-standin.ts", tmp_path / "net.ts")
        shutil.copyfile(wire_cell.ROOT / "cfg" / "pipeline.jsonnet", tmp_path / "job.jsonnet")
        (tmp_path / "accepted.sha256").write_text(
            f"{digest(tmp_path / 'net.ts')}  net.ts\n", encoding="utf-8"
        )
        (tmp_path / "notes.txt").write_text("of a user\n", encoding="utf-8")
        files = sorted(path for path in tmp_path.iterdir() if path.is_file())
        before = [digest(path) for path in files]
        words = ["-c", "job.jsonnet", *site.flags, "-A", "model=net.ts", "-A", "device=cpu", "-L", "debug"]
        done = wire_cell.run(
            *words,
            "--only-models",
            "accepted.sha256",
            "--serve",
            "unix:s.sock",
            option,
            target,
            folder=tmp_path,
        )
        assert done.returncode != 0 and error in done.stderr, done.stderr
        assert [digest(path) for path in files] == before
        assert sorted(path for path in tmp_path.iterdir() if path.is_file()) == files
