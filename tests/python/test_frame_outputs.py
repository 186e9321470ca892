# SPDX-License-Identifier: Apache-2.0
"""Outputs of wirecell-frame, spng.write_frames and Page.save: none replaces an input, and none a file of another kind unless
that is confirmed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from wirecell_frame.cli import main

import spng
from tests.python.frame_examples import frame, signal
from tests.support.wire_cell import ROOT, needs_program

h5py = pytest.importorskip("h5py")
zarr = pytest.importorskip("zarr")
pytestmark = needs_program

# The last word of each is the option of the output, or "" for convert.
COMMANDS = {
    "show": "show a.npz b.h5 --truth c.zarr -o",
    "plot": "plot a.npz b.h5 --truth c.zarr -o",
    "plot of a label": "plot mine=a.npz b.h5:signal c.zarr -o",
    "compare html": "compare {0} {1} --html",
    "compare json": "compare {0} {1} --json",
    "score": "score a.npz b.h5 --json",
    "convert": "convert a.npz",
}
ENDINGS = {
    "plot": ".svg",
    "plot of a label": ".png",
    "show": ".html",
    "compare html": ".html",
    "convert": ".h5",
}
FOREIGN = {
    "text": b"results of a year\n----\n",
    "script": b"#!/bin/sh\necho mine\n",
    "page": b"<!DOCTYPE html><p>mine<svg/>",
    "JSON": b'{"mine": 1}',
    "HDF5": b"\x89HDF\r\n\x1a\n",
    "picture": b"\x89PNG\r\n\x1a\n\0",
    "zip": b"PK\3\4",
    "other XML": b"<?xml version='1.0'?><mine/>",
}
OWN_KIND = {
    "page": ("show", "compare html"),
    "JSON": ("compare json", "score"),
    "picture": ("plot of a label",),
}


@pytest.fixture(name="site", autouse=True)
def fixture_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the working folder one with three inputs, and hard and symbolic links to the first."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.npz", "b.h5", "c.zarr"):
        spng.write_frames(name, frame(signal()))
    os.link("a.npz", "hard.npz")
    os.symlink("a.npz", "soft.npz")
    os.symlink("c.zarr", "soft.zarr")
    return tmp_path


def contents() -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in Path(".").rglob("*") if each.is_file()}


def run(command: str, output: str, *options: str, inputs: tuple[str, str] = ("a.npz", "b.h5")) -> int:
    return main([*COMMANDS[command].format(*inputs).split(), output, *options])


@pytest.mark.parametrize("options", [(), ("--overwrite",)])
@pytest.mark.parametrize("command", COMMANDS)
def test_inputs_are_never_replaced(
    command: str,
    options: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By their names, by links, in other spellings, and as a file in the folder of an input."""
    monkeypatch.setattr("wirecell_frame.outputs.PICTURES", _AnyEnding())
    before = contents()
    outputs = ["a.npz", "./a.npz", "hard.npz", "soft.npz", f"{Path.cwd()}/a.npz"]
    if command != "convert":
        outputs.append("b.h5")
    if command in ("show", "plot", "plot of a label"):
        outputs += ["c.zarr", "c.zarr/zarr.json", "soft.zarr/0/new", "c.zarr/new.html"]
    for output in outputs:
        assert run(command, output, *options) == 2, output
        assert "error: an output would overwrite an input\n" in capsys.readouterr().err
        assert contents() == before


class _AnyEnding(dict):
    """Kinds of pictures in which each ending is that of a picture."""

    def get(self, ending: str, default: object = None) -> object:
        from wirecell_profile.output_kind import PNG

        return PNG


@pytest.mark.parametrize(
    "output", ["in.zarr", "in.zarr/0", "in.zarr/new.npz", "link.zarr", "../{}/in.zarr", "folder.zarr"]
)
def test_conversion_of_a_folder(output: str, site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither the input, nor a part, nor a folder with the input is replaced."""
    Path("folder.zarr").mkdir()
    os.rename("c.zarr", "folder.zarr/in.zarr")
    os.symlink("folder.zarr/in.zarr", "link.zarr")
    os.symlink("folder.zarr/in.zarr", "in.zarr")
    before = contents()
    assert main(["convert", "folder.zarr/in.zarr", output.format(site.name), "--overwrite"]) == 2
    assert "error: an output would overwrite an input\n" in capsys.readouterr().err
    assert contents() == before


@pytest.mark.parametrize("command", COMMANDS)
def test_files_of_other_kinds_are_replaced_only_if_confirmed(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(f"out{ENDINGS.get(command, '.json')}")
    for name, content in FOREIGN.items():
        if command in OWN_KIND.get(name, ()):
            continue
        path.write_bytes(content)
        assert run(command, str(path)) in (1, 2), name
        message = capsys.readouterr().err
        assert "error: an output would replace a file of another kind\n" in message and "overwrite" in message
        assert path.read_bytes() == content
    assert run(command, str(path), "--overwrite") == 0
    made = path.read_bytes()
    assert made != content
    assert run(command, str(path)) == 0  # its own kind
    capsys.readouterr()


def test_two_outputs_in_one_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("compare html", "out", "--json", "out") == 2
    assert "two outputs are one file" in capsys.readouterr().err
    assert not Path("out").exists()


def other_hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["0/table"] = np.arange(5)


def other_archive(path: Path) -> None:
    with path.open("wb") as file:
        np.savez(file, mine=np.arange(3))


@pytest.mark.parametrize("make", [lambda path: path.write_text("mine"), other_hdf5, other_archive])
@pytest.mark.parametrize("ending", [".npz", ".tar.gz", ".h5", ".hdf5"])
def test_files_without_frames(
    ending: str, make: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Also such of the format of the output."""
    path = Path(f"out{ending}")
    make(path)
    before = path.read_bytes()
    assert main(["convert", "a.npz", str(path)]) == 1
    assert "an output would replace a file of another kind" in capsys.readouterr().err
    with pytest.raises(spng.Error, match="another kind"):
        spng.write_frames(path, frame(signal()))
    assert path.read_bytes() == before
    assert main(["convert", "a.npz", str(path), "--overwrite"]) == 0
    assert main(["convert", "a.npz", str(path)]) == 0
    assert next(spng.read_frames(path)) == frame(signal())


def with_letter(path: Path) -> None:
    spng.write_frames(path, frame(signal()))
    (path / "0" / "letter.txt").write_text("mine")


def with_link(path: Path) -> None:
    spng.write_frames(path, frame(signal()))
    os.symlink("/tmp", path / "1")


def other_group(path: Path) -> None:
    zarr.create_group(path, attributes={"mine": 1})


def other_arrays(path: Path) -> None:
    zarr.create_group(path, attributes={"events": []}).create_array("0/my_data", data=np.arange(4))


def other_array(path: Path) -> None:
    zarr.create_array(path, data=np.arange(4))


def damaged(path: Path) -> None:
    spng.write_frames(path, frame(signal()))
    (path / "zarr.json").write_text("mine")


@pytest.mark.parametrize("make", [with_letter, with_link, other_group, other_arrays, other_array, damaged])
def test_folders_with_other_files(make: Callable[[Path], None], capsys: pytest.CaptureFixture[str]) -> None:
    path = Path("out.zarr")
    make(path)
    before = contents()
    assert main(["convert", "a.npz", str(path)]) == 1
    assert "an output would replace a file of another kind" in capsys.readouterr().err
    assert contents() == before
    assert main(["convert", "a.npz", str(path), "--overwrite"]) == 0
    assert main(["convert", "a.npz", str(path)]) == 0
    assert sorted(os.listdir(path)) == ["0", "zarr.json"]


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch, lambda path: os.mkfifo(path)])
def test_what_is_no_group_is_never_replaced(
    make: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path("out.zarr")
    make(path)
    mode = path.lstat().st_mode
    for options in ([], ["--overwrite"]):
        assert main(["convert", "a.npz", str(path), *options]) == 1
        assert "is no Zarr group" in capsys.readouterr().err
    assert path.lstat().st_mode == mode


def test_a_saved_page(capsys: pytest.CaptureFixture[str]) -> None:
    page = spng.show(frame(signal()))
    Path("mine").write_text("mine")
    with pytest.raises(spng.Error, match="another kind"):
        page.save("mine")
    assert Path("mine").read_text() == "mine"
    page.save("mine", overwrite=True)
    page.save("mine")


def test_standard_output_is_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("-").write_text("mine")
    assert run("compare json", "-") == 0
    assert json.loads(capsys.readouterr().out)
    assert run("compare html", "-") == 2 and Path("-").read_text() == "mine"


FULL_DISK = """
import resource, sys
from pathlib import Path
import spng
from tests.python.frame_examples import frame, rich_events, signal
from wirecell_frame.cli import main

for words in (
    ["show", "a.npz", "-o", "x.html"],
    ["plot", "a.npz", "-o", "x.png"],
    ["plot", "a.npz", "-o", "x.pdf"],
    ["plot", "a.npz", "-o", "x.svg"],
    ["compare", "a.npz", "b.h5", "--json", "x.json"],
    ["compare", "a.npz", "b.h5", "--html", "x.html"],
    ["score", "a.npz", "b.h5", "--json", "x.json"],
    *(["convert", "a.npz", f"x{ending}"] for ending in (".npz", ".tar.gz", ".h5", ".zarr")),
):
    for size in (0, 100, 500):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        assert main(words) in (1, 2), (words, size)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        assert not [name for name in Path().iterdir() if "x." in name.name or "partial" in name.name]
"""


def test_a_full_disk(site: Path) -> None:
    """Every output ends in one block, and leaves nothing."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("error: cannot write the output") == 11 * 3
    assert done.stderr.count("  seen:     File too large") == 11 * 3


def test_standard_output_of_a_full_disk() -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "wirecell_frame", "info", "a.npz"],
            env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1 and done.stderr.startswith("error: cannot write to standard output")


def test_scores_that_are_not_finite(capsys: pytest.CaptureFixture[str]) -> None:
    samples = signal()
    samples[0, 0], samples[5, 5] = np.nan, np.inf
    spng.write_frames("nan.npz", frame(samples))
    for words in (["nan.npz", "a.npz"], ["a.npz", "nan.npz"]):
        assert main(["score", *words, "--json", "-"]) == 0
        assert json.loads(capsys.readouterr().out)["planes"]["all channels"]["charge"]["value"] is None
        assert main(["compare", *words, "--json", "-"]) == 1
        json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(name))
