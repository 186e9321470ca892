# SPDX-License-Identifier: Apache-2.0
"""Damage files of frames in HDF5 and Zarr, and read, describe and convert them (see python_target.py).

Files with checksums give the frames that were written, or an error; other files any frames, or an error.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from .python_target import ROOT, Target, change_bytes, main, remove, status_of_child

sys.path[:0] = [
    str(ROOT / folder) for folder in ("profiling", "python") if str(ROOT / folder) not in sys.path
]

from wirecell_frame import cli  # noqa: E402

import spng  # noqa: E402
from spng import Frame, Traces  # noqa: E402
from tests.python.frame_examples import require_equal  # noqa: E402

from . import hdf5_changes, zarr_changes  # noqa: E402

cli.load_commands()  # once, not in each child
CHANGES = {".h5": hdf5_changes, ".zarr": zarr_changes}
FORMS = ("dense", "sparse")
SAME = "same"  # the command for files whose frames must be those that were written
COMMANDS = ("read", "info", "convert")
BLOCK = re.compile(r"error: [^\n]+\n(  (where|seen|expected|hint): +[^\n]+\n(            .*\n)*)*")


def events() -> list[Frame]:
    """Return events with all kinds of members and bits that are easily lost."""
    values = np.random.default_rng(1)
    samples = np.where(values.random((8, 150)) < 0.2, values.normal(size=(8, 150)), 0).astype(np.float32)
    samples[3, :3] = [-0.0, np.nan, -np.inf]
    found = []
    for ident in (9, 4, 10):
        traces = [
            Traces(
                "signal",
                samples * ident,
                np.arange(8, dtype=np.int32) + 7,
                512.0,
                1000.25 * ident,
                3,
                values.normal(size=8),
            ),
            Traces("roi", np.arange(6, dtype=np.int16).reshape(2, 3), np.array([4, 2], np.int32)),
        ]
        masks = {"bad": np.array([[8, 1, 5], [9, 0, 300]]), "noisy": np.array([[12, 0, 9]])}
        found.append(Frame({each.tag: each for each in traces}, ident, masks, {"model": "none", "by": "µ\n"}))
    return found


@cache
def seeds(ending: str, form: str) -> dict[str, bytes]:
    """Return the content of each file of the frames as they are written, by their names in the folder."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"seed{ending}"
        spng.write_frames(path, events(), form=form)
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        return {str(each.relative_to(path)): each.read_bytes() for each in files if each.is_file()}


def write_content(path: Path, content: dict[str, bytes]) -> None:
    """Write a file, or the files of a folder, in place of what is there."""
    remove(path)
    for name, data in content.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)


def write_damaged(folder: Path, seed: int, index: int) -> tuple[Path, str]:
    """Write input `index` of a sequence; return it and its command."""
    chosen = random.Random(f"{seed} {index}")
    ending = chosen.choice(tuple(CHANGES))
    path = folder / f"frames-{seed}-{index}{ending}"
    content = dict(seeds(ending, chosen.choice(FORMS)))
    kind = chosen.choice(("bytes", "structure", "free", "free"))
    is_free = kind == "free"
    command = chosen.choice(COMMANDS) if is_free else SAME
    if kind == "bytes":
        name = chosen.choice(list(content))
        content[name] = change_bytes(content[name], chosen)
    write_content(path, content)

    def change() -> int:
        if is_free and chosen.random() < 0.7:
            CHANGES[ending].drop_checksums(path)
        CHANGES[ending].change(path, chosen, is_free)
        return 0

    if kind != "bytes" and status_of_child(change) != 0:  # libraries may crash when they write, too
        write_content(path, content)
    return path, command


def read(path: Path, must_be_same: bool) -> int:
    """Read the frames in this process; return the status."""
    try:
        frames = list(spng.read_frames(path))
    except spng.Error as error:
        if error.kind not in ("Input", "Device"):  # of the file, or too little memory
            raise
        print(error, file=sys.stderr)
        return 1
    for frame in frames:
        for traces in frame.traces.values():
            traces.dense()
    if must_be_same:
        for seen, expected in zip(frames, events(), strict=True):
            require_equal(seen, expected)
    return 0


def run_here(command: str, path: Path, folder: Path) -> int:
    """Run a command in this process; return its status."""
    if command in (SAME, "read"):
        return read(path, command == SAME)
    outputs = [str(folder / "result.npz"), "--overwrite"] if command == "convert" else []
    return cli.main([command, str(path), *outputs])


def is_explained(status: int, errors: str, results: str) -> bool:
    """Tell whether a command ended with a result, or with one block."""
    return errors == "" if status == 0 else BLOCK.fullmatch(errors) is not None


TARGET = Target(
    "formats",
    "tests.fuzz.damaged_frames",
    len(CHANGES) * len(FORMS),
    write_damaged,
    run_here,
    is_explained,
)

if __name__ == "__main__":
    sys.exit(main(TARGET, __doc__))
