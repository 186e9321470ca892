# SPDX-License-Identifier: Apache-2.0
"""All files of a bundle, from the build and from the tracked files of the checkout."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

from ..checkout import ROOT, fail
from .build_facts import BuildFacts
from .libraries import libraries
from .licences import origin
from .programs import put_library, put_native_module, put_program

TEMPLATES = Path(__file__).resolve().parent / "templates"
LOADERS = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}

# Commands of the Python packages, and their folders in the checkout. A package has its command's name, with underscores.
PYTHON_TOOLS = {"wirecell-profile": "profiling", "wirecell-campaign": "campaign"}
# The command with our libraries in it, its packages, and their native module, which fits one version of Python.
FRAME_TOOL = "wirecell-frame"
FRAME_PACKAGES = ("spng", "wirecell_frame")


def fill(stage: Path, facts: BuildFacts) -> dict[str, dict[str, str]]:
    """Put all files except launchers and manifest into `stage`; return the origins of third-party libraries by file."""
    (stage / "libexec").mkdir()
    put_program(facts.folder / "bin" / "wire-cell", stage / "libexec" / "wire-cell", facts)
    origins = {}
    for library in libraries(facts.folder / "lib", facts.compiler):
        put_library(library, stage / "lib", facts)
        if not library.is_ours:
            origins[f"lib/{library.location}"] = put_licence(
                library.path, stage / "share" / "doc" / "licences"
            )
    for folder in ("cfg", "data"):
        put_tracked(folder, ROOT / folder, stage / "share" / "wirecell" / folder)
    for page in tracked("docs"):
        if page.parent == ROOT / "docs" and page.suffix == ".md":
            put(page, stage / "share" / "doc" / page.name)
    for terms in ("LICENSE", "NOTICE"):
        put(ROOT / terms, stage / terms)
    for command, folder in PYTHON_TOOLS.items():
        package = package_of(command)
        put_tracked(f"{folder}/{package}", ROOT / folder / package, stage / "python" / package)
    if (module := native_module(facts)) is not None:
        for package in FRAME_PACKAGES:
            put_tracked(f"python/{package}", ROOT / "python" / package, stage / "python" / package)
        put_native_module(module, stage / "python" / "spng" / module.name, facts)
    return origins


def native_module(facts: BuildFacts) -> Path | None:
    """Return the native module of the package spng; None if the build left it out."""
    return next(iter(sorted((facts.folder / "python" / "spng").glob("_core.*.so"))), None)


def python_version(module: Path) -> str:
    """Return the version of Python that a native module fits: "3.11" for _core.cpython-311-x86_64-linux-gnu.so."""
    found = re.search(r"\.cpython-(\d)(\d+)-", module.name)
    if found is None:
        fail(f"{module.name} names no version of Python", 1)
    return ".".join(found.groups())


def package_of(command: str) -> str:
    """Return the package of a command: 'wirecell_profile' for 'wirecell-profile'."""
    return command.replace("-", "_")


def put_launchers(stage: Path, facts: BuildFacts, glibc: str) -> None:
    """Write bin/, the scripts that check the machine and start the program or a tool; and README.md."""
    machine = platform.machine()
    if machine not in LOADERS:
        fail(f"bundles are made for {' and '.join(LOADERS)}; this machine is {machine}")
    values = {
        "MACHINE": machine,
        "LOADER": LOADERS[machine],
        "GLIBC": glibc,
        "TORCH": facts.torch_release,
        "SYSTEM": platform.freedesktop_os_release()["PRETTY_NAME"],
    }
    put_filled("README.md", stage / "README.md", values | {"VERSION": facts.version, "COMMIT": facts.commit})
    put_filled("find-torch.sh", stage / "libexec" / "find-torch.sh", values)
    put_filled("wire-cell.sh", stage / "bin" / "wire-cell", {})
    if (module := native_module(facts)) is not None:
        put_filled(
            "wirecell-frame.sh",
            stage / "bin" / FRAME_TOOL,
            {"NAME": FRAME_TOOL, "PYTHON": python_version(module)},
        )
    put_filled("spng-demo.sh", stage / "bin" / "spng-demo", {})
    for command, folder in PYTHON_TOOLS.items():
        project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        modules = [name for name in project["dependencies"] if name not in PYTHON_TOOLS]
        put_filled(
            "python-tool.sh",
            stage / "bin" / command,
            {
                "NAME": command,
                "PACKAGE": package_of(command),
                "PYTHON": project["requires-python"].removeprefix(">="),
                "MODULES": " ".join(modules),
            },
        )


def put_filled(template: str, target: Path, values: dict[str, str]) -> None:
    """Write a template with its @NAME@ fields filled in."""
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    target.parent.mkdir(exist_ok=True)
    target.write_text(text, encoding="utf-8")


def put_licence(library: Path, folder: Path) -> dict[str, str]:
    """Copy the licence of a library's package; return package and version for the manifest."""
    found = origin(library)
    if found is None:
        return {"package": "unknown"}
    if found.licence:
        put(found.licence, folder / f"{found.package}.txt")
    return {"package": found.package, "version": found.version}


def put_tracked(folder: str, source: Path, target: Path) -> None:
    """Copy the files of a folder that git tracks."""
    for path in tracked(folder):
        put(path, target / path.relative_to(source))


def tracked(folder: str) -> list[Path]:
    """Return the files below a folder that git tracks, sorted; without git, all except Python's caches."""
    answer = subprocess.run(
        ["git", "ls-files", "-z", "--", folder], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if answer.returncode == 0:
        names = answer.stdout.split("\0")
        return sorted(path for path in (ROOT / name for name in names if name) if path.is_file())
    start = ROOT / folder
    found = [start] if start.is_file() else start.rglob("*")
    return sorted(path for path in found if path.is_file() and "__pycache__" not in path.parts)


def put(source: Path, target: Path) -> None:
    """Copy one file and create its folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
