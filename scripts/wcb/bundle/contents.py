# SPDX-License-Identifier: Apache-2.0
"""All files of a bundle, from the build and from the tracked files of the checkout."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

from .. import python_tools
from ..checkout import ROOT, fail
from .build_facts import BuildFacts
from .libraries import libraries
from .licences import origin
from .programs import put_library, put_native_module, put_program

TEMPLATES = Path(__file__).resolve().parent / "templates"
LOADERS = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}
# wirecell-frame loads our libraries, which need LibTorch.
START_FRAMES = 'bundle=$(dirname -- "$here")\n. "$bundle/libexec/find-torch.sh"\n'


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
    module = native_module(facts)
    for package, folder in python_tools.packages(with_frames=module is not None).items():
        put_tracked(folder, ROOT / folder, stage / "python" / package)
    if module is not None:
        put_native_module(module, stage / "python" / "spng" / module.name, facts)
    return origins


def native_module(facts: BuildFacts) -> Path | None:
    """Return the native module of the package spng; None if the build left it out."""
    return next(iter(sorted((facts.folder / "python" / "spng").glob("_core.*.so"))), None)


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
        "REJECT": python_tools.reject_function(),
    }
    put_filled("README.md", stage / "README.md", values | {"VERSION": facts.version, "COMMIT": facts.commit})
    put_filled("find-torch.sh", stage / "libexec" / "find-torch.sh", values)
    put_filled("wire-cell.sh", stage / "bin" / "wire-cell", {})
    put_filled("spng-demo.sh", stage / "bin" / "spng-demo", {})
    module = native_module(facts)
    version = python_tools.python_version(module) if module is not None else None
    for command, text in python_tools.launchers(python_tools.BUNDLE, version, START_FRAMES).items():
        (stage / "bin" / command).write_text(text, encoding="utf-8")


def put_filled(template: str, target: Path, values: dict[str, str]) -> None:
    """Write a template with its @NAME@ fields filled in."""
    target.parent.mkdir(exist_ok=True)
    target.write_text(python_tools.filled(TEMPLATES / template, values), encoding="utf-8")


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
