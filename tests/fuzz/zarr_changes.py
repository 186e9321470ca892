# SPDX-License-Identifier: Apache-2.0
"""Changes of a Zarr group of frames: values of its JSON, and the files of its folder."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .python_target import ELSEWHERE, change_bytes, remove

CHECKSUMS = "checksums"
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1,
    2**31,
    2**63,
    10**400,
    0.5,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "roi",
    "NaN",
    "Infinity",
    "0x7fc00000",
    "\x1b[31m",
    "\u202e",
    "\ud800",
    "a\nerror: b",
    "../..",
    "/etc",
    "a" * 100_000,
    [],
    {},
    [[]],
    [1],
    [0, 0],
    [[7, 1, 2]],
    {"a": 1},
    {"bad": [[7.5, 1, 2]]},
)
SHAPES = ([100_000, 50_000], [2**40, 2**20], [2**15, 2**15], [30_000, 30_000], [2**62, 0], [3, -4], [])
TYPES = (
    "float64",
    "float16",
    "int8",
    "uint64",
    "bool",
    "complex64",
    "string",
    "r24",
    "variable_length_bytes",
    {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}},
    {"name": "fixed_length_utf32", "configuration": {"length_bytes": 4}},
    {"name": "null_terminated_bytes", "configuration": {"length_bytes": 2**40}},
    {"name": "structured", "configuration": {"fields": [["x", "int16"], ["y", "float64"]]}},
)
CODECS: tuple[list[Any], ...] = (
    [],
    [{"name": "bytes"}],
    [{"name": "bytes", "configuration": {"endian": "big"}}],
    [{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes"}],
    [{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 1}}],
    [{"name": "bytes"}, {"name": "crc32c"}],
    [{"name": "vlen-utf8"}],
    [{"name": "absent"}],
    [{"name": "numcodecs.pickle"}],
    [
        {
            "name": "sharding_indexed",
            "configuration": {
                "chunk_shape": [1, 1],
                "codecs": [{"name": "bytes"}],
                "index_codecs": [{"name": "bytes"}],
            },
        }
    ],
)


def items_of(node: Any, is_free: bool) -> Iterator[tuple[Any, Any]]:
    """Yield each object and list of a document with each of its keys; those of checksums only if `is_free`."""
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        if is_free or key != CHECKSUMS:
            yield node, key
            yield from items_of(node[key], is_free)


def set_value(document: Any, chosen: random.Random, is_free: bool) -> None:
    """Set, remove or copy a value."""
    items = list(items_of(document, is_free))
    node, key = chosen.choice(items)
    kind = chosen.randrange(6)
    if kind == 0:
        del node[key]
    elif kind == 1:
        other, name = chosen.choice(items)
        node[key] = json.loads(json.dumps(other[name]))
    elif kind == 2 and isinstance(node, dict):
        node[chosen.choice(("x", "\x1b[31m", "\u202e", ""))] = node.pop(key)
    else:
        node[key] = chosen.choice(VALUES)


def set_array(document: Any, chosen: random.Random, is_free: bool) -> None:
    """Set shape, chunks, type or codecs of an array."""
    kind = chosen.randrange(4)
    if kind == 0:
        document["shape"] = chosen.choice(SHAPES)
    elif kind == 1:
        document["chunk_grid"]["configuration"]["chunk_shape"] = chosen.choice((*SHAPES, [1, 1], [1], [0, 0]))
    elif kind == 2:
        document["data_type"] = chosen.choice(TYPES)
        document["fill_value"] = chosen.choice((0, "", None, document["fill_value"]))
    else:
        document["codecs"] = chosen.choice(CODECS)


def consolidate(document: Any, chosen: random.Random, is_free: bool) -> None:
    """Add metadata of members that are read in place of the members' own."""
    members = {chosen.choice(("9", "9/frame_signal", "../x", "a")): chosen.choice((document, {}, 1))}
    document["consolidated_metadata"] = json.loads(
        json.dumps({"kind": "inline", "must_understand": False, "metadata": members})
    )


DOCUMENT_CHANGES: tuple[Callable[[Any, random.Random, bool], None], ...] = (
    *(4 * (set_value,)),
    *(2 * (set_array,)),
    consolidate,
)


def own_files(folder: Path) -> list[Path]:
    """Return the files and folders, without links, through which a change would leave the folder, and without pipes."""
    return [
        each
        for each in sorted(folder.rglob("*"))
        if not each.is_symlink() and (each.is_file() or each.is_dir())
    ]


def change_document(folder: Path, chosen: random.Random, is_free: bool) -> None:
    """Change a file of JSON."""
    path = chosen.choice([each for each in own_files(folder) if each.name == "zarr.json"])
    document = json.loads(path.read_bytes())
    chosen.choice(DOCUMENT_CHANGES)(document, chosen, is_free)
    path.write_text(json.dumps(document))


def change_file(folder: Path, chosen: random.Random, is_free: bool) -> None:
    """Remove, replace or add a file or a folder."""
    everything = own_files(folder)
    path, other = chosen.choice(everything), chosen.choice(everything)
    kind = chosen.randrange(7)
    if kind == 0:
        remove(path)
    elif kind == 1:
        remove(path)
        path.mkdir()
    elif kind == 2:
        remove(path)
        os.symlink(chosen.choice((ELSEWHERE, ".", path.name)), path)
    elif kind == 3:
        remove(path)
        os.mkfifo(path)
    elif kind == 4 and path.is_file():
        path.write_bytes(other.read_bytes() if other.is_file() else b"")
    elif kind == 5 and path.is_file():
        path.write_bytes(change_bytes(path.read_bytes(), chosen))
    elif is_free and path.is_dir():
        (path / chosen.choice((".zgroup", ".zattrs", ".zarray", "x", "\x1b[31m"))).write_text("{}")
    elif other.is_dir() and other not in (path, *path.parents) and path not in other.parents:
        remove(path)
        shutil.copytree(other, path, symlinks=True)


def drop_checksums(folder: Path) -> None:
    """Remove all checksums."""
    for path in folder.rglob("zarr.json"):
        document = json.loads(path.read_bytes())
        document["attributes"].pop(CHECKSUMS, None)
        path.write_text(json.dumps(document))


def change(folder: Path, chosen: random.Random, is_free: bool) -> None:
    """Make one to three changes; of the checksums too if `is_free`. An impossible one is left out."""
    for _ in range(chosen.randrange(1, 4)):
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError, shutil.Error):
            chosen.choice((change_document, change_document, change_file))(folder, chosen, is_free)
