# SPDX-License-Identifier: Apache-2.0
"""The archive: metadata, record and a zip file whose bytes depend on the content only (PEP 427, PEP 491)."""

from __future__ import annotations

import base64
import hashlib
import sysconfig
import time
import zipfile
from pathlib import Path

from ..bundle.build_facts import BuildFacts

NAME = "wirecell-spng"
EXTRAS = {"pictures": ("jinja2", "matplotlib"), "files": ("h5py", "zarr"), "progress": ("tqdm",)}
COMMANDS = {"wirecell-frame": "wirecell_frame.cli:main", "wirecell-profile": "wirecell_profile.cli:main"}


def tag_of(module: Path) -> str:
    """Return the tags of the wheel: Python and ABI of the native module, and this machine."""
    python = module.name.split(".")[1].split("-")[1]  # _core.cpython-311-x86_64-linux-gnu.so
    return f"cp{python}-cp{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def file_name(facts: BuildFacts, tag: str) -> str:
    """Return the name of the wheel."""
    return f"{NAME.replace('-', '_')}-{facts.version}-{tag}.whl"


def add_metadata(stage: Path, facts: BuildFacts, tag: str) -> Path:
    """Write the folder of the metadata without the record, and return it."""
    folder = stage / f"{NAME.replace('-', '_')}-{facts.version}.dist-info"
    folder.mkdir()
    python = tag.split("-")[0].removeprefix("cp")
    torch = ".".join(facts.torch_release.split(".")[:2])
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {NAME}",
        f"Version: {facts.version}",
        "Summary: GPU signal processing for liquid-argon TPCs: Pipeline, frame files and pictures",
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
        ["[console_scripts]", *(f"{name} = {call}" for name, call in COMMANDS.items())],
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
            entry.external_attr = (0o755 if path.suffix == ".so" else 0o644) << 16
            archive.writestr(entry, path.read_bytes())
