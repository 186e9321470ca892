# SPDX-License-Identifier: Apache-2.0
"""All files of a wheel, from the build and from the tracked files of the checkout.

spng/                      the package and its native module
spng/bin/wire-cell         the program
spng/lib/                  our libraries with their dependencies, except those of the torch wheel and of the system
spng/share/wirecell/       cfg and data, where the library looks for them
spng/share/doc/            the pages, LICENSE and NOTICE, and the licences of the libraries of others
wirecell_frame/, wirecell_profile/, wirecell_campaign/
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from .. import python_tools
from ..checkout import ROOT, fail
from .build_facts import BuildFacts
from .libraries import dependencies, own_libraries, put_binary
from .licences import licence_of

# The torch wheel is beside the package; it brings CUDA's libraries as further packages.
MODULE_PATH = "$ORIGIN/lib:$ORIGIN/../torch/lib"
LIBRARY_PATH = "$ORIGIN:$ORIGIN/../../torch/lib:$ORIGIN/../../nvidia/cu13/lib"


def native_module(facts: BuildFacts) -> Path:
    """Return the built module of this checkout's Python. End with a message if there is none."""
    found = sorted((facts.folder / "python" / "spng").glob("_core.*.so"))
    if not found:
        fail("the build has no Python module. To fix: ./wcb setup && ./wcb configure --with-nvtx && ./wcb")
    return found[0]


def fill(stage: Path, facts: BuildFacts) -> None:
    """Put all files except the metadata into `stage`."""
    package = stage / "spng"
    pages = package / "share" / "doc"
    for name, source in python_tools.packages(with_frames=True).items():
        put_tracked(source, stage / name)
    module = native_module(facts)
    put_binary(module, package / module.name, MODULE_PATH, facts)
    put_binary(facts.folder / "bin" / "wire-cell", package / "bin" / "wire-cell", "$ORIGIN/../lib", facts)
    own = own_libraries(facts.folder / "lib")
    libraries: dict[str, Path] = {}
    for library in own:
        libraries |= dependencies(library)
    libraries |= {library.name: library for library in own}
    for name, library in libraries.items():
        put_binary(library, package / "lib" / name, LIBRARY_PATH, facts)
        if licence := licence_of(library.resolve()):
            put(licence.text, pages / "licences" / f"{licence.package}.txt")
    for folder in ("cfg", "data"):
        put_tracked(folder, package / "share" / "wirecell" / folder)
    for page in (ROOT / "LICENSE", ROOT / "NOTICE", *(ROOT / "docs").glob("*.md")):
        put(page, pages / page.name)
    reject_local_paths(stage, facts.folders())


def reject_local_paths(stage: Path, folders: list[str]) -> None:
    """End with a message if a file names a folder of this machine. Licences of others may name any folder."""
    for path in sorted(stage.rglob("*")):
        if path.is_file() and path.parent.name != "licences":
            content = path.read_bytes()
            for folder in folders:
                if f"{folder}/".encode() in content:
                    fail(f"{path.relative_to(stage)} names {folder}, a folder of this machine", 1)


def put_tracked(folder: str, target: Path) -> None:
    """Copy the files below a folder that git tracks; without git, all except Python's caches."""
    source = ROOT / folder
    answer = subprocess.run(
        ["git", "ls-files", "-z", "--", folder], cwd=ROOT, capture_output=True, text=True, check=False
    )
    found = [ROOT / name for name in answer.stdout.split("\0") if name]
    for path in found if answer.returncode == 0 else source.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            put(path, target / path.relative_to(source))


def put(source: Path, target: Path) -> None:
    """Copy one file and create its folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
