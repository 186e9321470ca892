"""Programs and libraries as they go into the bundle: stripped, finding each other by their own place."""

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
    """Copy wire-cell itself; its libraries are in lib/ beside its folder."""
    shutil.copyfile(source, target)
    finish(target, "$ORIGIN/../lib", facts)


def put_library(library: Library, folder: Path, facts: BuildFacts) -> None:
    """Copy a library under the name that others need it by."""
    target = folder / library.place
    target.parent.mkdir(parents=True, exist_ok=True)
    if icu_stub.NAME.fullmatch(library.name):
        icu_stub.make(facts.compiler, library.path, target)
    else:
        shutil.copyfile(library.path, target)
    finish(target, "$ORIGIN", facts)


def finish(path: Path, search_path: str, facts: BuildFacts) -> None:
    """Strip, set where libraries are found, and take this machine's folders out.

    LibTorch's headers put the places of their checks into our library, as texts of error messages. A folder's name there
    is overwritten by one of the same length that means the current folder, so that nothing moves.
    """
    # The build's identity depends on the folder it was built in.
    if subprocess.run(
        ["strip", "--strip-unneeded", "--remove-section=.note.gnu.build-id", str(path)], check=False
    ).returncode:
        fail(f"strip failed on {path.name}; see its message above", 1)
    set_search_path(path, search_path)
    content = path.read_bytes()
    for place in map(str.encode, facts.places()):
        content = content.replace(place + b"/", b"." + b"/" * len(place))
    path.write_bytes(content)
