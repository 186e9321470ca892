# SPDX-License-Identifier: Apache-2.0
"""MANIFEST.json: origin and requirements of a bundle, and the checksum of every file."""

from __future__ import annotations

import hashlib
import json
import platform
from pathlib import Path
from typing import Any

from . import elf_file
from .build_facts import BuildFacts

NAME = "MANIFEST.json"
KIND = "spng-bundle"


def files(folder: Path) -> list[str]:
    """Return the paths of all files in the folder except the manifest, sorted."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
    return sorted(path for path in found if path != NAME)


def is_elf(path: Path) -> bool:
    """Tell whether the file is a program or a library."""
    with open(path, "rb") as stream:
        return stream.read(4) == b"\x7fELF"


def needed_versions(folder: Path) -> dict[str, str]:
    """Return the highest version of each set of symbols that programs and libraries need: {'GLIBC': '2.36', ...}."""
    highest: dict[str, tuple[int, ...]] = {}
    for path in filter(is_elf, (folder / name for name in files(folder))):
        for text in elf_file.needed_versions(path):
            kind, _, release = text.rpartition("_")
            if kind in ("GLIBC", "GLIBCXX", "CXXABI", "GCC", "GOMP", "OMP"):
                version = tuple(map(int, release.split(".")))
                highest[kind] = max(version, highest.get(kind, version))
    return {kind: ".".join(map(str, highest[kind])) for kind in sorted(highest)}


def write(folder: Path, facts: BuildFacts, needs: dict[str, str], origins: dict[str, dict[str, str]]) -> None:
    """Write the manifest into an otherwise complete bundle. It has no date, so that equal bundles have equal manifests."""
    content = {
        "kind": KIND,
        "version": facts.version,
        "commit": facts.commit,
        "compiler": facts.compiler_version,
        "cxx_abi": "_GLIBCXX_USE_CXX11_ABI=1",
        "machine": platform.machine(),
        "torch": facts.torch_release,
        "needs": needs,
        "libraries_of_others": origins,
        "files": {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in files(folder)},
    }
    (folder / NAME).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a bundle, or None for any other folder."""
    try:
        content = json.loads((folder / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and content.get("kind") == KIND else None
