# SPDX-License-Identifier: Apache-2.0
"""The archive: metadata, record and a zip file whose bytes depend on the content only (PEP 427, PEP 491)."""

from __future__ import annotations

import base64
import hashlib
import platform
import time
import zipfile
from pathlib import Path

from .build_facts import BuildFacts
from .libraries import newest_glibc

NAME = "wirecell-spng"
EXTRAS = {
    "pictures": ("jinja2", "matplotlib"),
    "files": ("h5py", "zarr"),
    "progress": ("tqdm",),
    "campaign": ("dask", "distributed"),
}
COMMANDS = ("wirecell-frame", "wirecell-profile", "wirecell-campaign")
PROGRAM = """#!python
# wire-cell of this environment: becomes the program in the package spng.
import importlib.util
import os
import sys

program = os.path.join(importlib.util.find_spec("spng").submodule_search_locations[0], "bin", "wire-cell")
os.execv(program, [program, *sys.argv[1:]])
"""


def tag_of(module: Path, stage: Path) -> str:
    """Return the tags of the wheel: Python and ABI of the native module, and the C library that the filled stage needs."""
    python = module.name.split(".")[1].split("-")[1]  # _core.cpython-311-x86_64-linux-gnu.so
    return f"cp{python}-cp{python}-manylinux_2_{newest_glibc(stage)}_{platform.machine()}"


def file_name(facts: BuildFacts, tag: str) -> str:
    """Return the name of the wheel."""
    return f"{NAME.replace('-', '_')}-{facts.version}-{tag}.whl"


def add_metadata(stage: Path, facts: BuildFacts, tag: str) -> Path:
    """Write the program's script, and the folder of the metadata without the record; return that folder."""
    script = stage / f"{NAME.replace('-', '_')}-{facts.version}.data" / "scripts" / "wire-cell"
    script.parent.mkdir(parents=True)
    script.write_text(PROGRAM, encoding="utf-8")
    folder = stage / f"{NAME.replace('-', '_')}-{facts.version}.dist-info"
    folder.mkdir()
    python = tag.split("-")[0].removeprefix("cp")
    torch = ".".join(facts.torch_release.split(".")[:2])
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {NAME}",
        f"Version: {facts.version}",
        "Summary: GPU signal processing for liquid-argon TPCs: wire-cell, Pipeline, frame files and pictures",
        "License: Apache-2.0",
        f"Requires-Python: =={python[0]}.{python[1:]}.*",
        "Requires-Dist: numpy",
        f"Requires-Dist: torch=={torch}.*",
    ]
    for extra, packages in EXTRAS.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {package}; extra == '{extra}'" for package in packages]
    write(folder / "METADATA", lines)
    write(
        folder / "WHEEL",
        ["Wheel-Version: 1.0", "Generator: wcb wheel", "Root-Is-Purelib: false", f"Tag: {tag}"],
    )
    write(
        folder / "entry_points.txt",
        ["[console_scripts]", *(f"{name} = {name.replace('-', '_')}.cli:main" for name in COMMANDS)],
    )
    return folder


def write(path: Path, lines: list[str]) -> None:
    """Write lines of text."""
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def pack(stage: Path, metadata: Path, target: Path, seconds: int) -> None:
    """Write the record and the archive. Every entry has the time of the commit."""
    files = sorted(path for path in stage.rglob("*") if path.is_file())
    record = []
    for path in files:
        content = path.read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append(f"{path.relative_to(stage).as_posix()},sha256={digest},{len(content)}")
    own = metadata / "RECORD"
    write(own, [*record, f"{own.relative_to(stage).as_posix()},,"])
    date = time.gmtime(seconds)[:6]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in [*files, own]:
            entry = zipfile.ZipInfo(path.relative_to(stage).as_posix(), date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if path.parent.name in ("bin", "scripts", "lib") else 0o644) << 16
            archive.writestr(entry, path.read_bytes())
