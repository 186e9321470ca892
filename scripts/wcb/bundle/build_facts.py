# SPDX-License-Identifier: Apache-2.0
"""Facts stored by configure and build: LibTorch, compiler, commit."""

from __future__ import annotations

import ast
import os
import re
from dataclasses import dataclass
from pathlib import Path

from ..checkout import ROOT, build_folder, fail


@dataclass(frozen=True)
class BuildFacts:
    """A finished release build."""

    folder: Path
    compiler: str  # program
    compiler_version: str
    version: str  # of this project
    commit: str
    torch_release: str  # "2.11.0", without the kind of wheel
    torch_folder: Path

    def folders(self) -> list[str]:
        """Return the folders of this machine that a bundle must not name, longest first."""
        given = [str(ROOT), str(self.folder), str(self.torch_folder), os.environ.get("CONDA_PREFIX", "")]
        return sorted({folder for folder in given if folder}, key=lambda folder: (-len(folder), folder))


def read() -> BuildFacts:
    """Read the build folder that the last configure chose. End with a message if it has no release build."""
    folder = build_folder()
    headers = ("include/spng/build_info.h", "include/spng/build_commit.h")
    wanted = ("bin/wire-cell", "lib/libWireCellSpng.so", *headers)
    if folder is None or not all((folder / name).exists() for name in wanted):
        fail("nothing is built, or the last build failed. To fix: ./wcb configure --with-nvtx && ./wcb")
    text = "".join((folder / header).read_text(encoding="utf-8") for header in headers)
    info = dict(re.findall(r'const char\* (\w+) = "(.*?)";', text))
    if info["build_mode"] != "release":
        fail(
            f"{folder} is a build of mode {info['build_mode']}; a bundle needs a release build. To fix: ./wcb configure"
        )
    cache = (folder / "c4che" / "_cache.py").read_text(encoding="utf-8")
    variables = {
        name: ast.literal_eval(value) for name, value in re.findall(r"^(\w+) = (.*)$", cache, re.MULTILINE)
    }
    return BuildFacts(
        folder=folder,
        compiler=variables["CXX"][0],
        compiler_version=info["compiler"],
        version=info["version"],
        commit=info["commit"],
        torch_release=info["torch_version"],
        torch_folder=Path(variables["TORCH_FOLDER"]),
    )
