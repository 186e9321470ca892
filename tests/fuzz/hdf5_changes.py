# SPDX-License-Identifier: Apache-2.0
"""Changes of a file of frames in HDF5: types, shapes, names, links, and where the bytes of arrays are."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .python_target import ELSEWHERE

try:
    import h5py
except ImportError:  # optional
    h5py = None

CHECKSUMS = "checksums_spng"
NUMBERS = (0, -1, 1, 2**31, -(2**31) - 1, 2**53 + 1, 2**63 - 1, 0.5, 1e308, np.inf, -np.inf, np.nan)
NAMES = ("", "x", "frame_", "frame_\x1b[31m", "channels_\u202e", "9", "00", "-0", "99999999999", "a" * 5000)
TEXTS = (
    b"",
    b"{}",
    b"[1]",
    b"null",
    b"1e999",
    b"NaN",
    b'{"9": true, "4": 0.5}',
    b'{"a": "\\u001b[31m"}',
    b'{"a": "\\ud800"}',
    b'{"a\\u202e": 1}',
    b'"\xff"',
    b"\x1b[31m",
    b"[" * 100_000,
    b'{"a":' * 400 + b"1" + b"}" * 400,
    b"{}\0 no more",
    b"9" * 5000,
)
SHAPES = (
    ((100_000, 50_000), (1000, 1000)),
    ((2**40, 2**20), (1, 1)),
    ((2**15, 2**15), (1, 1)),
    ((30_000, 30_000), (100, 30_000)),
    ((2**62, 0), (1, 1)),
    ((3, 4), (2**15, 2**16)),
)
Changer = Callable[[Any, str, random.Random], None]


def types() -> list[Any]:
    """Return types of values, of which frames have few."""
    pair = np.dtype([("x", "i2"), ("y", "f8")])
    special = [h5py.string_dtype(), h5py.ref_dtype, h5py.enum_dtype({"a": 1, "b": 2}), h5py.vlen_dtype("i4")]
    return [*map(np.dtype, ("f8", "f2", ">i2", "u8", "i1", "S3", "c8", "?", "V4", "g")), pair, *special]


def put(file: Any, name: str, content: Any, **options: Any) -> None:
    """Write an array in place of another one."""
    with contextlib.suppress(KeyError):
        del file[name]
    file.create_dataset(name, data=content, **options)


def other_type(file: Any, name: str, chosen: random.Random) -> None:
    """Give an array another type, with its numbers if the type has them."""
    array, dtype = file[name][()], chosen.choice(types())
    with contextlib.suppress(TypeError, ValueError):
        return put(file, name, np.asarray(array).astype(dtype))
    del file[name]
    file.create_dataset(name, np.shape(array), dtype)


def other_numbers(file: Any, name: str, chosen: random.Random) -> None:
    """Change one number or all."""
    array = np.array(file[name][()], chosen.choice((None, np.float64, np.int64)))
    at = chosen.randrange(array.size) if chosen.random() < 0.7 else slice(None)
    array.reshape(-1)[at] = chosen.choice(NUMBERS)
    put(file, name, array)


def other_shape(file: Any, name: str, chosen: random.Random) -> None:
    """Change the axes, or keep no or one number, or none and no shape."""
    array = np.asarray(file[name][()])
    empty = h5py.Empty(array.dtype)
    less = array[: len(array) // 2] if array.ndim else array
    put(
        file,
        name,
        chosen.choice((array.T, array.reshape(-1), array[None], array[:0], array.flat[0], less, empty)),
    )


def claim(file: Any, name: str, chosen: random.Random) -> None:
    """Declare an array that the file does not hold."""
    shape, chunks = chosen.choice(SHAPES)
    shape, chunks = (shape, chunks) if chosen.random() < 0.7 else (shape[:1], chunks[:1])
    dtype = chosen.choice(("i1", "f4", "f8"))
    del file[name]
    file.create_dataset(name, shape, dtype, chunks=chunks, fillvalue=chosen.choice((0, 7)))


def remove(file: Any, name: str, chosen: random.Random) -> None:
    """Remove a member or an event."""
    del file[name]


def rename(file: Any, name: str, chosen: random.Random) -> None:
    """Give a member or an event another name, which may be one of another member."""
    folder, _, _ = name.rpartition("/")
    siblings = [each.replace("signal", "roi") for each in file[folder or "/"]]
    file.move(name, f"{folder}/{chosen.choice((*NAMES, *siblings))}")


def text(file: Any, name: str, chosen: random.Random) -> None:
    """Write a text."""
    content = chosen.choice(TEXTS)
    put(file, name, chosen.choice((content, np.bytes_(content), np.array([content, content]))))


def group(file: Any, name: str, chosen: random.Random) -> None:
    """Write a group in place of an array, or an array in place of an event."""
    is_array = isinstance(file[name], h5py.Dataset)
    del file[name]
    if is_array:
        file.create_group(name)
    else:
        file[name] = np.arange(3)


def link(file: Any, name: str, chosen: random.Random) -> None:
    """Write a link: to nothing, itself, another file, another member, or a group that holds it."""
    others = [each for each in file if each != name]
    del file[name]
    file[name] = chosen.choice(
        (
            h5py.SoftLink("/absent"),
            h5py.SoftLink(f"/{name}"),
            h5py.SoftLink(f"/{chosen.choice(others)}"),
            h5py.ExternalLink(file.filename, name),
            h5py.ExternalLink(ELSEWHERE, "/"),
            file["/"],
            file[name.rpartition("/")[0] or "/"],
        )
    )


def elsewhere(file: Any, name: str, chosen: random.Random) -> None:
    """Take the bytes of an array from another file."""
    shape, dtype = file[name].shape, file[name].dtype
    del file[name]
    if chosen.random() < 0.5:
        file.create_dataset(name, shape, dtype, external=[(ELSEWHERE, 0, 1 << 20)])
        return
    layout = h5py.VirtualLayout(shape, dtype)
    layout[...] = h5py.VirtualSource(chosen.choice((".", ELSEWHERE, "absent.h5")), "a", shape)
    file.create_virtual_dataset(name, layout)


def stored(file: Any, name: str, chosen: random.Random) -> None:
    """Store an array otherwise: in other chunks, with other filters."""
    array = np.asarray(file[name][()])
    options = chosen.choice(
        (
            {"compression": "lzf"},
            {"compression": "gzip", "shuffle": True, "fletcher32": True},
            {"scaleoffset": 4},
            {"chunks": (1,) * array.ndim},
            {"maxshape": (None,) * array.ndim},
        )
    )
    put(file, name, array, **options)


def named_type(file: Any, name: str, chosen: random.Random) -> None:
    """Write a type in place of an array."""
    del file[name]
    file[name] = np.dtype("f8")


CHANGES: tuple[Changer, ...] = (
    *(3 * (other_type, other_numbers, other_shape, text)),
    *(2 * (claim, remove, rename, link)),
    group,
    elsewhere,
    stored,
    named_type,
)


def names_of(file: Any, is_free: bool) -> list[str]:
    """Return the names of events and members, with those of the checksums if `is_free`."""
    names = []
    for event in file:
        names.append(event)
        if isinstance(file.get(event, getlink=True), h5py.HardLink) and isinstance(file[event], h5py.Group):
            names += [f"{event}/{member}" for member in file[event]]
    return [name for name in names if is_free or not name.endswith(CHECKSUMS)]


def drop_checksums(path: Path) -> None:
    """Remove all checksums."""
    with h5py.File(path, "r+") as file:
        for name in names_of(file, True):
            if name.endswith(CHECKSUMS):
                del file[name]


def change(path: Path, chosen: random.Random, is_free: bool) -> None:
    """Make one to three changes; of the checksums too if `is_free`. One that HDF5 does not allow is left out."""
    with h5py.File(path, "r+") as file, np.errstate(all="ignore"):
        for _ in range(chosen.randrange(1, 4)):
            changer, name = chosen.choice(CHANGES), chosen.choice(names_of(file, is_free))
            with contextlib.suppress(Exception):
                changer(file, name, chosen)
