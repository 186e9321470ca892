# SPDX-License-Identifier: Apache-2.0
"""The Python tools: their packages, and launchers of their commands in a bundle and in an installed tree."""

from __future__ import annotations

import re
import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path

from .checkout import ROOT, fail

TEMPLATES = Path(__file__).resolve().parent / "launchers"

# Commands of the Python packages, and their folders in the checkout. A package has its command's name, with underscores.
TOOLS = {"wirecell-profile": "profiling", "wirecell-campaign": "campaign"}
# The command with our libraries in it, its packages, and their native module, which fits one version of Python.
FRAME_TOOL = "wirecell-frame"
FRAME_PACKAGES = ("spng", "wirecell_frame")


@dataclass(frozen=True)
class Tree:
    """A folder with tools, and the Python that runs them."""

    name: str  # in comments: "bundle"
    packages: str  # folder of the packages, relative to that of the commands
    interpreter: str  # as a word of the shell
    python_text: str  # the interpreter in messages
    where: str  # behind the name of an interpreter that does not exist
    other_python: str  # end of the hint: how to select another one


BUNDLE = Tree(
    "bundle", "../python", "python3", "python3", " on the path", "put another python3 first on the path"
)


def installed(python: str, packages: str) -> Tree:
    """Return the tree of ./wcb install.

    @param python    the Python that configure found
    @param packages  folder of the packages, relative to that of the commands
    """
    return Tree(
        "installed tree",
        packages,
        f"${{SPNG_PYTHON:-{shlex.quote(python)}}}",
        python,
        "",
        "give another Python: SPNG_PYTHON=PROGRAM",
    )


def packages(with_frames: bool) -> dict[str, str]:
    """Return the folders of the packages in the checkout, by package."""
    found = {package_of(command): f"{folder}/{package_of(command)}" for command, folder in TOOLS.items()}
    return found | ({name: f"python/{name}" for name in FRAME_PACKAGES} if with_frames else {})


def package_of(command: str) -> str:
    """Return the package of a command: 'wirecell_profile' for 'wirecell-profile'."""
    return command.replace("-", "_")


def python_version(module: Path) -> str:
    """Return the version of Python that a native module fits: "3.11" for _core.cpython-311-x86_64-linux-gnu.so."""
    found = re.search(r"\.cpython-(\d)(\d+)-", module.name)
    if found is None:
        fail(f"{module.name} names no version of Python", 1)
    return ".".join(found.groups())


def launchers(tree: Tree, module_version: str | None, start_frames: str | None = None) -> dict[str, str]:
    """Return the scripts that start the commands, by command.

    @param module_version  version of Python of the native module; None: there is none, and no wirecell-frame
    @param start_frames    shell lines that set up wirecell-frame and declare reject()
    """
    found = {}
    for command, folder in TOOLS.items():
        project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        modules = [name for name in project["dependencies"] if name not in TOOLS]
        oldest = project["requires-python"].removeprefix(">=")
        found[command] = launcher(tree, command, f"{oldest}+", modules)
    if module_version is not None:
        found[FRAME_TOOL] = launcher(tree, FRAME_TOOL, module_version, ["numpy"], start_frames)
    return found


def launcher(tree: Tree, command: str, version: str, modules: list[str], start: str | None = None) -> str:
    """Return the script that starts one command.

    @param version  "3.11" for this version, "3.11+" for this or a newer one
    """
    wanted = f"{version[:-1]} or newer" if version.endswith("+") else version
    install = f"{tree.python_text} -m pip install {' '.join(modules)}"
    return filled(
        TEMPLATES / "python-tool.sh",
        {
            "NAME": command,
            "TREE": tree.name,
            "START": start or reject_function(),
            "INTERPRETER": tree.interpreter,
            "EXPECTED": f"{tree.python_text}, {wanted}, with {' '.join(modules)}".replace("'", "'\\''"),
            "WHERE": tree.where,
            "HINT": f"{install}, or {tree.other_python}".replace("'", "'\\''"),
            "PYTHON": version,
            "MODULES": " ".join(modules),
            "PACKAGES": tree.packages,
            "PACKAGE": package_of(command),
        },
    )


def reject_function() -> str:
    """Return the shell function that ends a launcher with an error block."""
    _, function = (TEMPLATES / "reject.sh").read_text(encoding="utf-8").split("\n", 1)  # without the licence
    return function.rstrip("\n")


def filled(template: Path, values: dict[str, str]) -> str:
    """Return a template with its @NAME@ fields filled in."""
    return re.sub(
        "@([A-Z]+)@", lambda field: values.get(field[1], field[0]), template.read_text(encoding="utf-8")
    )
