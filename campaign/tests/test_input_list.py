# SPDX-License-Identifier: Apache-2.0
"""The list of inputs: entries, and errors with their lines."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from wirecell_campaign.errors import UsageError
from wirecell_campaign.input_list import output_name, read_entries, unreadable


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Some inputs."""
    for name in ("a/one.npz", "a/two.tar.bz2", "b/three.tar", "b/[odd].npz", "b/four"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    return tmp_path


def entries(folder: Path, text: str, suffix: str = ".npz") -> list[tuple[str, str]]:
    """Return inputs relative to the folder, and outputs, of a list with this text."""
    (folder / "list.txt").write_text(text)
    return [
        (entry.input.relative_to(folder).as_posix(), entry.name)
        for entry in read_entries(str(folder / "list.txt"), suffix)
    ]


def test_lines_comments_and_patterns(folder: Path) -> None:
    text = "# a comment\n\n  b/three.tar  \na/*\nb/[odd].npz\n" + f"{folder}/b/four\n"
    assert entries(folder, text) == [
        ("b/three.tar", "three.npz"),
        ("a/one.npz", "one.npz"),
        ("a/two.tar.bz2", "two.npz"),
        ("b/[odd].npz", "[odd].npz"),
        ("b/four", "four.npz"),
    ]


def test_relative_paths_start_at_the_list(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert entries(folder, "a/one.npz\n") == [("a/one.npz", "one.npz")]


def test_standard_input_starts_at_the_working_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "a")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"one.npz\n../b/three.tar\n")))
    assert [entry.input for entry in read_entries("-", ".npz")] == [
        folder / "a/one.npz",
        folder / "b/three.tar",
    ]


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "the list is empty"),
        ("# only this\n", "the list is empty"),
        ("a/one.npz\na/two.tar.bz2\na/one.npz\n", "lines 1 and 3"),
        ("a/one.npz\nb/../a/one.npz\n", "given twice"),
        ("a/one.npz\na/*.npz\n", "given twice"),
        ("c/*.npz\n", "no file matches the pattern"),
        ("a/one.npz\nb/one.tar\n", "outputs of the same name"),
        ("a/manifest.json\n", None),
    ],
)
def test_bad_lists(folder: Path, text: str, said: str | None) -> None:
    if said is None:
        assert entries(folder, text) == [("a/manifest.json", "manifest.npz")]
        return
    with pytest.raises(UsageError, match=said):
        entries(folder, text)


@pytest.mark.parametrize(
    "text, said",
    [
        ("a/one.npz\n\0\0abc\n", "the list is not text\n  where:    .*list.txt, line 2"),
        ("a/one.npz\nloop/one.npz\n", "links of a path form a loop\n  where:    .*list.txt, line 2"),
        ("a/one.npz\nloop/*.npz\n", "links of a path form a loop\n  where:    .*list.txt, line 2"),
        ("50%data.npz\n", "the path of an input contains %d\n  where:    .*list.txt, line 1"),
        ("b/four\nrun%d/one.npz\n", "the path of an input contains %d\n  where:    .*list.txt, line 2"),
        ("y" * 300 + "[1].npz\n", "no file matches the pattern"),
    ],
)
def test_paths_that_no_run_can_use(folder: Path, text: str, said: str) -> None:
    (folder / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match=said):
        entries(folder, text)


def test_a_link_leads_around_a_name_that_cannot_be_used(folder: Path) -> None:
    (folder / "50%data.npz").write_text("x")
    (folder / "half-data.npz").symlink_to("50%data.npz")
    assert entries(folder, "half-data.npz\n100%.npz\n") == [
        ("half-data.npz", "half-data.npz"),
        ("100%.npz", "100%.npz"),
    ]


def test_an_input_that_is_a_link_in_a_circle_may_be_skipped(folder: Path) -> None:
    (folder / "loop.npz").symlink_to("loop.npz")
    (folder / "list.txt").write_text("loop.npz\n")
    assert unreadable(read_entries(str(folder / "list.txt"), ".npz")) == {
        "loop.npz": "Too many levels of symbolic links"
    }


def test_names_that_are_too_long_count_in_bytes(folder: Path) -> None:
    (folder / "list.txt").write_text("é" * 8 + ".npz\n")
    assert len(read_entries(str(folder / "list.txt"), ".npz", longest=20)) == 1
    with pytest.raises(
        UsageError, match="too long a name\n  where:    .*list.txt, line 1\n  seen:     é{8}.npz, 20 bytes"
    ):
        read_entries(str(folder / "list.txt"), ".npz", longest=19)


def test_standard_input_that_is_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\0.tar\n"), encoding="utf-8"))
    with pytest.raises(UsageError, match="not text"):
        read_entries("-", ".npz")


def test_lists_that_cannot_be_read(folder: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read_entries(str(folder / "none.txt"), ".npz")
    (folder / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not text"):
        read_entries(str(folder / "bytes"), ".npz")


@pytest.mark.parametrize(
    "given, expected",
    [
        ("x/ev-adc.tar.bz2", "ev-adc.tar"),
        ("ev.1.tar.gz", "ev.1.tar"),
        ("ev.npz", "ev.tar"),
        ("ev", "ev.tar"),
        ("run5.dat", "run5.tar"),
    ],
)
def test_names_of_outputs(given: str, expected: str) -> None:
    assert output_name(Path(given), ".tar") == expected


def test_a_thousand_inputs_with_one_that_is_missing(tmp_path: Path) -> None:
    for index in range(1000):
        (tmp_path / f"f{index:04d}.npz").write_text("x")
    (tmp_path / "list.txt").write_text("f*.npz\n")
    found = read_entries(str(tmp_path / "list.txt"), ".npz")
    assert len(found) == 1000
    (tmp_path / "f0617.npz").unlink()
    assert unreadable(found) == {"f0617.npz": "No such file or directory"}
