# SPDX-License-Identifier: Apache-2.0
"""Facts stored by configure and build: folder, version, LibTorch."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from ..checkout import ROOT, build_folder, fail


@dataclass(frozen=True)
class BuildFacts:
    """A finished release build."""

    folder: Path
    version: str  # of this project
    torch_release: str  # "2.11.0", without the kind of wheel
    torch_folder: Path

    def folders(self) -> list[str]:
        """Return the folders of this machine that a wheel must not name, longest first."""
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
            f"{folder} is a build of mode {info['build_mode']}; a wheel needs a release build. To fix: ./wcb configure"
        )
    cache = (folder / "c4che" / "_cache.py").read_text(encoding="utf-8")
    [torch] = re.findall(r"^TORCH_FOLDER = '(.*)'$", cache, re.MULTILINE)
    return BuildFacts(folder, info["version"], info["torch_version"], Path(torch))
