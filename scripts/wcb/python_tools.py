# SPDX-License-Identifier: Apache-2.0
"""The Python tools: their packages, and launchers of their commands in an installed tree."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

from .checkout import ROOT

TEMPLATE = Path(__file__).resolve().parent / "python-tool.sh"

# Commands of the Python packages, and their folders in the checkout. A package has its command's name, with underscores.
TOOLS = {"wirecell-profile": "profiling", "wirecell-campaign": "campaign"}
# The command with our libraries in it, its packages, and their native module, which fits one version of Python.
FRAME_TOOL = "wirecell-frame"
FRAME_PACKAGES = ("spng", "wirecell_frame")


def packages(with_frames: bool) -> dict[str, str]:
    """Return the folders of the packages in the checkout, by package."""
    found = {package_of(command): f"{folder}/{package_of(command)}" for command, folder in TOOLS.items()}
    return found | ({name: f"python/{name}" for name in FRAME_PACKAGES} if with_frames else {})


def package_of(command: str) -> str:
    """Return the package of a command: 'wirecell_profile' for 'wirecell-profile'."""
    return command.replace("-", "_")


def launchers(python: str, packages: str, module_version: str | None) -> dict[str, str]:
    """Return the scripts that start the commands, by command.

    @param python          the Python that configure found
    @param packages        folder of the packages, relative to that of the commands
    @param module_version  version of Python of the native module; None: there is none, and no wirecell-frame
    """
    found = {}
    for command, folder in TOOLS.items():
        project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        modules = [name for name in project["dependencies"] if name not in TOOLS]
        oldest = project["requires-python"].removeprefix(">=")
        found[command] = launcher(python, packages, command, f"{oldest}+", modules)
    if module_version is not None:
        found[FRAME_TOOL] = launcher(python, packages, FRAME_TOOL, module_version, ["numpy"])
    return found


def launcher(python: str, packages: str, command: str, version: str, modules: list[str]) -> str:
    """Return the script that starts one command.

    @param version  "3.11" for this version, "3.11+" for this or a newer one
    """
    wanted = f"{version[:-1]} or newer" if version.endswith("+") else version
    values = {
        "NAME": command,
        "INTERPRETER": f"${{SPNG_PYTHON:-{shlex.quote(python)}}}",
        "EXPECTED": f"{python}, {wanted}, with {' '.join(modules)}".replace("'", "'\\''"),
        "HINT": f"{python} -m pip install {' '.join(modules)}, or give another Python: SPNG_PYTHON=PROGRAM".replace(
            "'", "'\\''"
        ),
        "PYTHON": version,
        "MODULES": " ".join(modules),
        "PACKAGES": packages,
        "PACKAGE": package_of(command),
    }
    return re.sub("@([A-Z]+)@", lambda field: values[field[1]], TEMPLATE.read_text(encoding="utf-8"))
