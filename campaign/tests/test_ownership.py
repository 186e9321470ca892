# SPDX-License-Identifier: Apache-2.0
"""A campaign replaces no file that it did not make: no input, list, model or program, and nothing in a foreign folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from campaign_support import Bench
from wirecell_campaign import cli


def aside(bench: Bench) -> dict[str, str]:
    """Return the files that were moved aside."""
    found = (path for path in (bench.output / ".campaign/aside").rglob("*") if path.is_file())
    return {path.name: path.read_text() for path in found}


def contents(folder: Path) -> dict[str, str]:
    """Return the files of a folder."""
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_a_folder_with_other_files_is_rejected(bench: Bench, capsys, dry: list[str]) -> None:
    bench.make(2)
    bench.output.mkdir()
    (bench.output / "notes.txt").write_text("mine")
    assert bench.run(*dry) == 1
    said = capsys.readouterr().err
    assert f"would write into {bench.output}, which has files that are not of this campaign" in said
    assert "seen:     notes.txt" in said and "or --overwrite" in said
    assert [path.name for path in bench.output.iterdir()] == ["notes.txt"]


def test_overwrite_moves_what_is_in_the_way_aside(bench: Bench, cluster_address: str) -> None:
    """Other files stay, and the next run needs no --overwrite."""
    names = bench.make(2)
    bench.output.mkdir()
    mine = ("notes.txt", "f001.npz", "summary.txt", "SHA256SUMS")
    for name in mine:
        (bench.output / name).write_text(f"my {name}")
    assert bench.run("--cluster", cluster_address, "--overwrite") == 0
    assert aside(bench) == {name: f"my {name}" for name in mine if name != "notes.txt"}
    assert (bench.output / "notes.txt").read_text() == "my notes.txt"
    (bench.output / "notes.txt").unlink()
    bench.check(names)
    assert bench.run("--cluster", cluster_address) == 0


def test_a_foreign_file_in_the_folder_of_a_campaign(bench: Bench, cluster_address: str, capsys) -> None:
    bench.make(1)
    assert bench.run("--cluster", cluster_address) == 0
    names = bench.make(2)
    (bench.output / "f001.npz").symlink_to("nowhere")
    assert bench.run("--cluster", cluster_address) == 1
    said = capsys.readouterr().err
    assert f"would replace {bench.output}/f001.npz, which is not of this campaign" in said
    assert bench.run("--cluster", cluster_address, "--overwrite") == 0
    bench.check(names)


@pytest.mark.parametrize("name", ["f000.npz", "summary.txt"])
@pytest.mark.parametrize("is_link", [False, True])
def test_nothing_that_the_campaign_reads_is_replaced(bench: Bench, capsys, name: str, is_link: bool) -> None:
    """By its own name or by a hard link; --overwrite changes nothing."""
    bench.make(1)
    read = bench.inputs / "f000.npz" if name == "f000.npz" else bench.list
    what = "an input" if name == "f000.npz" else "the list"
    if is_link:
        bench.output.mkdir()
        (bench.output / name).hardlink_to(read)
    else:
        bench.output = bench.inputs if name == "f000.npz" else bench.folder
        bench.list = bench.list.rename(bench.folder / "summary.txt") if name == "summary.txt" else bench.list
    before = contents(bench.output)
    assert bench.run("--overwrite") == 2
    said = capsys.readouterr().err
    assert f"error: would replace {bench.output}/{name}, which is {what}\n" in said
    assert contents(bench.output) == before and not (bench.output / ".campaign").exists()


@pytest.mark.parametrize("what", ["the configuration", "the program", "the file of -A model"])
def test_files_of_the_job_are_not_replaced(bench: Bench, capsys, what: str) -> None:
    bench.make(1)
    bench.output.mkdir()
    named = bench.output / "f000.npz"
    words = bench.words("--overwrite")
    if what == "the program":
        bench.program.rename(named)
        words[words.index("--program") + 1] = str(named)
    elif what == "the configuration":
        bench.config.rename(named)
        words[words.index("--config") + 1] = str(named)
    else:
        named.write_text("weights")
        words += ["-A", f"model={named}"]
    assert cli.main(words) == 2
    assert f"error: would replace {named}, which is {what}\n" in capsys.readouterr().err
    assert list(bench.output.iterdir()) == [named]
