# SPDX-License-Identifier: Apache-2.0
"""Put programs and libraries into the bundle: stripped, with search paths relative to their own folders."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from ..checkout import fail
from . import icu_stub
from .build_facts import BuildFacts
from .elf_file import set_search_path
from .libraries import Library


def put_program(source: Path, target: Path, facts: BuildFacts) -> None:
    """Copy wire-cell; its libraries are in lib/ beside its folder."""
    shutil.copyfile(source, target)
    finish(target, "$ORIGIN/../lib", facts)


def put_native_module(source: Path, target: Path, facts: BuildFacts) -> None:
    """Copy a module of a Python package; its libraries are in lib/ of the bundle, beside the folder of the packages."""
    shutil.copyfile(source, target)
    finish(target, "$ORIGIN/../../lib", facts)


def put_library(library: Library, folder: Path, facts: BuildFacts, search_path: str = "$ORIGIN") -> None:
    """Copy a library to its location below `folder`."""
    target = folder / library.location
    target.parent.mkdir(parents=True, exist_ok=True)
    if icu_stub.NAME.fullmatch(library.name):
        icu_stub.make(facts.compiler, library.path, target)
    else:
        shutil.copyfile(library.path, target)
    finish(target, search_path, facts)


def finish(path: Path, search_path: str, facts: BuildFacts) -> None:
    """Strip a file, set its search path, and remove the names of this machine's folders.

    LibTorch's headers put the source paths of their checks into our library, as parts of error messages. Overwrite a
    folder's name there by a name of the same length that means the current folder, so that nothing moves.
    """
    # The build's identity depends on the folder it was built in.
    if subprocess.run(
        ["strip", "--strip-unneeded", "--remove-section=.note.gnu.build-id", str(path)], check=False
    ).returncode:
        fail(f"strip failed on {path.name}; see its message above", 1)
    set_search_path(path, search_path)
    content = path.read_bytes()
    for folder in map(str.encode, facts.folders()):
        content = content.replace(folder + b"/", b"." + b"/" * len(folder))
    path.write_bytes(content)
