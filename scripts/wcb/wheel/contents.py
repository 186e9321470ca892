# SPDX-License-Identifier: Apache-2.0
"""All files of a wheel, from the build and from the tracked files of the checkout.

spng/                      the package and its native module
spng/lib/                  the library with its dependencies, except those of the torch wheel and of the C++ compiler
spng/share/wirecell/       cfg and data, where the library looks for them
wirecell_frame/, wirecell_profile/
"""

from __future__ import annotations

import shutil
from pathlib import Path

from ..bundle.build_facts import BuildFacts
from ..bundle.contents import put, put_licence, put_tracked
from ..bundle.libraries import RUNTIME_FOLDER, libraries
from ..bundle.programs import finish, put_library
from ..checkout import ROOT, fail

PACKAGES = {"spng": "python", "wirecell_frame": "python", "wirecell_profile": "profiling"}
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
    for name, folder in PACKAGES.items():
        put_tracked(f"{folder}/{name}", ROOT / folder / name, stage / name)
    module = native_module(facts)
    shutil.copyfile(module, package / module.name)
    finish(package / module.name, MODULE_PATH, facts)
    for library in libraries(facts.folder / "lib", facts.compiler):
        if library.name in RUNTIME_FOLDER:
            continue  # libstdc++ and libgcc are the system's, libgomp is torch's
        put_library(library, package / "lib", facts, LIBRARY_PATH)
        if not library.is_ours:
            put_licence(library.path, package / "share" / "doc" / "licences")
    for folder in ("cfg", "data"):
        put_tracked(folder, ROOT / folder, package / "share" / "wirecell" / folder)
    for terms in ("LICENSE", "NOTICE"):
        put(ROOT / terms, package / "share" / "doc" / terms)
