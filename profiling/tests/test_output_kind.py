# SPDX-License-Identifier: Apache-2.0
"""An output replaces only files of its own kind, and no input, also by another name; all are checked before any is written."""

from __future__ import annotations

import importlib
import os
import shutil
from pathlib import Path

import pytest
from wirecell_profile.cli import main

# The last word of each is the output.
COMMANDS = {
    "summary": "summary {f} -o",
    "summary json": "summary {f} -f json -o",
    "timeline": "summary {f} --timeline -o",
    "rules": "rules {f} -o",
    "rules markdown": "rules {f} -f markdown -o",
    "rules junit": "rules {f} -f junit -o",
    "html": "html {f} -o",
    "trace": "trace {f} -o",
    "ncu": "ncu {f} -o",
    "hdf5": "export {f} -t nvtx_sum -f hdf5 -o",
    "compare": "compare {f} {g} -o",
    "compare markdown": "compare {f} {g} -f markdown -o",
    "compare json": "compare {f} {g} --json",
    "compare html": "compare {f} {g} --html",
    "compare runs": "compare {f} --save-runs",
    "merge": "merge {f} {g} -o",
}
FOREIGN = {
    "text": b"results of a year\n----\n",
    "script": b"#!/bin/sh\necho mine\n",
    "page": b"<!DOCTYPE html><p>mine",
    "JSON": b'{"mine": 1}',
    "gzip": b"\x1f\x8b\x08\0\0\0",
    "HDF5": b"\x89HDF\r\n\x1a\n",
    "picture": b"\x89PNG\r\n\x1a\n\0",
    "other XML": b"<?xml version='1.0'?><mine/>",
}
OWN_KIND = {
    "page": ("html", "compare html"),
    "JSON": ("summary json", "trace", "compare json", "compare runs"),
    "HDF5": ("hdf5",),
}


class Bench:
    """Two profiles."""

    def __init__(self, folder: Path, honest: Path) -> None:
        self.folder = folder
        self.names = {letter: folder / f"{letter}.sqlite" for letter in "fg"}
        for path in self.names.values():
            shutil.copy(honest, path)

    def run(self, command: str, output: Path, *options: str) -> int:
        """Run a command of COMMANDS."""
        words = [word.format(**self.names) for word in COMMANDS[command].split()]
        return main([*words, str(output), *options])

    def contents(self) -> dict[str, bytes]:
        """Return the files of the folder."""
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}


@pytest.fixture(name="bench")
def fixture_bench(tmp_path: Path, honest: Path) -> Bench:
    return Bench(tmp_path, honest)


@pytest.mark.parametrize("command", COMMANDS)
def test_inputs_are_never_replaced(command: str, bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    """By the name of the input, a hard link or a symbolic link; also with --overwrite."""
    hard, soft = bench.folder / "hard", bench.folder / "soft"
    first = bench.names["f"]
    hard.hardlink_to(first)
    soft.symlink_to(first.name)
    before = bench.contents()
    for path in (first, hard, soft):
        for options in ([], ["--overwrite"]):
            assert bench.run(command, path, *options) == 2
            assert "error: an output would overwrite an input\n" in capsys.readouterr().err
    assert bench.contents() == before and soft.is_symlink()


@pytest.mark.parametrize("command", COMMANDS)
def test_files_of_other_kinds_are_replaced_only_if_confirmed(
    command: str, bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    path = bench.folder / "out"
    for name, content in (FOREIGN | {"recording": bench.names["f"].read_bytes()}).items():
        if command in OWN_KIND.get(name, ()):
            continue
        path.write_bytes(content)
        assert bench.run(command, path) == 2, name
        assert "choose another name, or give --overwrite" in capsys.readouterr().err
        assert path.read_bytes() == content
    assert bench.run(command, path, "--overwrite") == 0
    made = path.read_bytes()
    assert made != content
    if command != "merge":  # always asks
        assert bench.run(command, path) == 0  # its own kind


def test_tables_in_a_folder(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    """All files are checked before the first is written."""
    folder = bench.folder / "tables"
    folder.mkdir()
    (folder / "osrt_sum.csv").write_bytes(bytes(range(256)))
    words = ["export", str(bench.names["f"]), "-t", "nvtx_sum,osrt_sum", "-o", str(folder)]
    assert main(words) == 2
    assert "osrt_sum.csv: a file of another kind" in capsys.readouterr().err
    assert os.listdir(folder) == ["osrt_sum.csv"]
    assert main([*words, "--overwrite"]) == 0
    assert main(words) == 0
    report = ["stats", str(bench.names["f"]), "-r", "nvtx_sum", "-o", str(folder / "report")]
    (folder / "report_nvtx_sum.txt").write_text("mine")
    assert main(report) == 2
    assert main([*report, "--overwrite"]) == 0
    assert main(report) == 0


def test_csv_of_another_table_is_foreign(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    """A table of the user has other columns. All files are checked before the first is written."""
    folder = bench.folder / "tables"
    folder.mkdir()
    profile, mine = str(bench.names["f"]), "run,result\n1,2\n"
    for words, last in (
        (["export", profile, "-t", "nvtx_sum,timeline", "-o", str(folder)], "timeline.csv"),
        (
            ["stats", profile, "-f", "csv", "-r", "nvtx_sum,nvtx_pushpop_sum", "-o", f"{folder}/o"],
            "o_nvtx_pushpop_sum.csv",
        ),
    ):
        for content in (mine, "no table\n", "\x00"):
            (folder / last).write_text(content)
            assert main(words) == 2
            assert f"{last}: a " in capsys.readouterr().err
            assert (folder / last).read_text() == content and os.listdir(folder) == [last]
        assert main([*words, "--overwrite"]) == 0
        assert main(words) == 0  # its own table
        for path in folder.iterdir():
            path.unlink()


@pytest.mark.parametrize("option", ["--output", "--json", "--save-runs"])
def test_two_outputs_in_one_file(option: str, bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    path = bench.folder / "out"
    assert bench.run("compare html", path, option, str(path)) == 2
    assert "two outputs are one file" in capsys.readouterr().err
    assert not path.exists()


def test_a_default_name_that_is_the_input(bench: Bench) -> None:
    page = bench.names["f"].rename(bench.folder / "run.html")
    before = page.read_bytes()
    assert main(["html", str(page)]) == 2
    assert page.read_bytes() == before


def test_devices_and_empty_files(bench: Bench) -> None:
    path = bench.folder / "out"
    path.touch()
    assert bench.run("html", path) == 0
    assert bench.run("summary", Path("/dev/null")) == 0


@pytest.mark.parametrize("style", ["parquet", "arrow", "hdf5"])
def test_a_format_without_its_package_leaves_nothing(
    style: str, bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent(name: str, package: str | None = None) -> object:
        if name.startswith(("pyarrow", "h5py")):
            raise ImportError(name)
        return found(name, package)

    found = importlib.import_module
    monkeypatch.setattr(importlib, "import_module", absent)
    before = sorted(bench.folder.iterdir())
    assert main(["export", str(bench.names["f"]), "-f", style]) == 1
    assert "this format needs the Python package" in capsys.readouterr().err
    assert sorted(bench.folder.iterdir()) == before
