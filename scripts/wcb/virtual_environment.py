# SPDX-License-Identifier: Apache-2.0
"""Create, complete and repair the checkout's virtual environment from requirements.txt.

A package counts as installed if its INSTALLER file exists, which pip writes last. A package whose unpacking was
interrupted is installed again, finished packages are not.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from . import hashes
from .checkout import ROOT, VENV, fail, run, say

REQUIREMENTS = ROOT / "requirements.txt"
STAMP = VENV / "spng-setup.json"
OWN_PACKAGES = {
    "python": "wirecell-frame",
    "profiling": "wirecell-profile",
    "campaign": "wirecell-campaign",
}  # folder -> command, named as its module
# -P: do not import files of the current folder, such as struct.py.
LAUNCHER_TEXT = """#!/bin/sh
exec "$(dirname -- "$(readlink -f -- "$0")")/python" -P -m {module} "$@"
"""
OLDEST_PYTHON = (3, 11)
DRIVER_FILES = ("/dev/nvidiactl", "/proc/driver/nvidia/version", "/usr/lib/wsl/lib/libcuda.so.1")
LARGE_MB = 20.0  # larger packages are fetched one by one, so that an interruption loses at most one

# Mode -> sets of requirements.txt that it installs.
MODES = {"full": ("base", "torch", "gpu"), "slim": ("base", "torch"), "without-torch": ("base",)}

# Parts of the torch package that --slim keeps: LibTorch for the CPU and its headers.
SLIM_KEPT = ("include", "lib", "share", "version.py", "__init__.py")
SLIM_LIBRARIES = ("libtorch_cpu.so", "libc10.so", "libgomp.so")
SLIM_NOTE = "./wcb setup --slim left out Python's torch; ./wcb setup --full installs it"
SLIM_MODULE = f'raise ModuleNotFoundError("{SLIM_NOTE}", name="torch")\n'  # so that pytest.importorskip skips


@dataclass(frozen=True)
class Requirement:
    """One pinned package with its sizes in MB."""

    name: str
    version: str
    set: str
    download: float
    disk: float
    slim_disk: float


def read_requirements(path: Path = REQUIREMENTS) -> list[Requirement]:
    """Read lines of the form 'name==version # set download disk slim'."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            pin, comment = line.split("#")
            name, version = pin.strip().split("==")
            group, *sizes = comment.split()
            found.append(Requirement(name, version, group, *map(float, sizes)))
    return found


def fingerprint(mode: str) -> str:
    """Return a checksum that changes when the environment has to be checked again."""
    return hashlib.sha256(REQUIREMENTS.read_bytes() + mode.encode()).hexdigest()


def read_stamp() -> dict:
    """Return {'mode': ..., 'given': whether an option chose it, 'fingerprint': ...}, or {} if the set-up is not finished."""
    try:
        return json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def has_nvidia_driver() -> bool:
    """Tell whether this machine has a driver for NVIDIA GPUs."""
    return any(Path(path).exists() for path in DRIVER_FILES)


def wanted_mode(mode: str | None, for_tests: bool = False) -> str:
    """Return the mode to install: the one given, else the one given before, else the smallest that does the task.

    Some tests need CUDA's compiler or Python's torch; programs need these only on a machine with a GPU.
    """
    stamp = read_stamp()
    if mode:
        return mode
    if stamp.get("given"):
        return stamp["mode"]
    if for_tests or has_nvidia_driver():
        return "full"
    return stamp.get("mode", "slim")


def is_ready(mode: str | None, for_tests: bool = False) -> bool:
    """Tell whether the environment is complete for the wanted mode."""
    stamp = read_stamp()
    return (
        bool(stamp)
        and stamp["mode"] == wanted_mode(mode, for_tests)
        and stamp["fingerprint"] == fingerprint(stamp["mode"])
        and are_own_packages_linked()
    )


def ensure(mode: str | None, for_tests: bool = False) -> None:
    """Make or complete the environment. Mode None: see wanted_mode()."""
    if is_ready(mode, for_tests):
        say(f"Python packages: complete ({read_stamp()['mode']}, {VENV}).")
        return
    is_given = bool(mode) or read_stamp().get("given", False)
    if not is_given:
        say_default(for_tests)
    mode = wanted_mode(mode, for_tests)
    make_environment()
    STAMP.unlink(missing_ok=True)
    if is_pruned() and mode == "full":
        shutil.rmtree(torch_folder())
        for record in site_packages().glob("torch-*.dist-info"):
            shutil.rmtree(record)
    wanted = [item for item in read_requirements() if item.set in MODES[mode]]
    install([item for item in wanted if not is_installed(item)], mode)
    if mode == "slim":
        prune_torch()
    link_own_packages()
    stamp = {"mode": mode, "given": is_given, "fingerprint": fingerprint(mode)}
    STAMP.write_text(json.dumps(stamp) + "\n", encoding="utf-8")
    say(f"Python packages: complete ({mode}, {VENV}).")


def say_default(for_tests: bool) -> None:
    """Print which set is installed by default, and the option for the other."""
    if has_nvidia_driver():
        say("Python packages: the full set, for the GPU of this machine.")
    elif for_tests:
        say(
            "Python packages: the full set, for tests of CUDA kernels and training; --slim skips these (0.6 GB, not 2.8 GB)."
        )
    else:
        say(
            "Python packages: no NVIDIA driver, so the slim set: 0.6 GB to download, not 2.8 GB (--full: all)."
        )


def make_environment() -> None:
    """Create .venv. Recreate it if its Python or pip does not run."""
    if sys.version_info < OLDEST_PYTHON:
        fail(f"Python {sys.version.split()[0]} is too old: 3.11 or newer is needed")
    python = VENV / "bin" / "python"
    if python.exists() and run([str(python), "-m", "pip", "--version"], is_quiet=True) == 0:
        return
    say(f"Python packages: {'correcting' if VENV.exists() else 'making'} the virtual environment {VENV}")
    base = getattr(sys, "_base_executable", sys.executable)
    if run([base, "-m", "venv", "--clear", str(VENV)]):
        fail("the virtual environment could not be made (on Debian: apt-get install python3-venv)", 1)


def path_file(folder: str) -> Path:
    """Return the .pth file that puts one of our packages on the path of the environment's Python."""
    return site_packages() / f"spng-{folder}.pth"


def launcher(command: str) -> Path:
    """Return the path of the command of one of our packages."""
    return VENV / "bin" / command


def launcher_text(command: str) -> str:
    """Return the script that starts a command."""
    return LAUNCHER_TEXT.format(module=command.replace("-", "_"))


def link_own_packages() -> None:
    """Put the commands of this checkout's Python packages into the environment.

    Write two small files each. pip install --editable would need a build backend and, for it, the network.
    """
    for folder, command in OWN_PACKAGES.items():
        path_file(folder).write_text(f"{ROOT / folder}\n", encoding="utf-8")
        launcher(command).write_text(launcher_text(command), encoding="utf-8")
        launcher(command).chmod(0o755)


def are_own_packages_linked() -> bool:
    """Tell whether link_own_packages ran for the present path of the checkout."""
    try:
        return all(
            path_file(folder).read_text(encoding="utf-8").strip() == str(ROOT / folder)
            and launcher(command).read_text(encoding="utf-8") == launcher_text(command)
            for folder, command in OWN_PACKAGES.items()
        )
    except OSError:
        return False


def site_packages() -> Path:
    """Return the folder of the environment's packages."""
    return next(iter(sorted((VENV / "lib").glob("python3*/site-packages"))), VENV / "none")


def torch_folder() -> Path:
    """Return the folder of LibTorch in the environment."""
    return site_packages() / "torch"


def is_installed(item: Requirement) -> bool:
    """Tell whether pip finished installing this version."""
    record = f"{item.name.replace('-', '_')}-{item.version}.dist-info"
    return any(
        folder.name.lower() == record and (folder / "INSTALLER").exists()
        for folder in site_packages().glob("*.dist-info")
    )


def install(items: list[Requirement], mode: str) -> None:
    """Print the sizes, then install with progress; pip keeps its downloads in its cache."""
    if not items:
        return
    download = sum(item.download for item in items)
    disk = sum(item.slim_disk if mode == "slim" else item.disk for item in items)
    say(
        f"Python packages: {len(items)} to install into {VENV}: "
        f"{size(download)} to download, {size(disk)} on disk."
    )
    check_space(
        sum(item.disk for item in items) + max(item.download for item in items)
    )  # slim prunes afterwards
    done = 0.0
    for batch in batches(items):
        amount = sum(item.download for item in batch)
        names = batch[0].name if len(batch) == 1 else f"{len(batch)} small packages"
        say(f"  [{100 * done / max(download, 0.1):3.0f} %] {names}: {size(amount)}")
        pip_install(batch)
        done += amount
    say("  [100 %] downloaded and unpacked")


def batches(items: list[Requirement]) -> list[list[Requirement]]:
    """Return all small packages as one batch and each large one as its own."""
    small = [item for item in items if item.download < LARGE_MB]
    return ([small] if small else []) + [[item] for item in items if item.download >= LARGE_MB]


def pip_install(batch: list[Requirement]) -> None:
    """Call pip once. Without dependencies, because requirements.txt lists all of them. A terminal gets pip's own bar."""
    quiet = [] if sys.stdout.isatty() else ["--quiet"]
    pins = [f"{item.name}=={item.version}" for item in batch]
    if hashes.install(VENV / "bin" / "python", pins, "--retries", "10", *quiet):
        fail(
            "pip failed; see its message above. Finished packages are kept: run the same command again to continue.\n"
            "If hashes do not match: docs/security.md#set-up",
            1,
        )


def check_space(needed_mb: float) -> None:
    """End before the download if the disk is too small for it."""
    free = shutil.disk_usage(VENV).free / 1e6
    if free < needed_mb:
        fail(f"not enough room in {VENV}: {size(needed_mb)} needed, {size(free)} free", 1)


def size(megabytes: float) -> str:
    """Format a size: '531 MB' or '2.8 GB'."""
    return f"{megabytes / 1000:.1f} GB" if megabytes >= 1000 else f"{megabytes:.0f} MB"


def is_pruned() -> bool:
    """Tell whether torch is installed as --slim leaves it."""
    module = torch_folder() / "__init__.py"
    return module.exists() and SLIM_NOTE in module.read_text(encoding="utf-8")


def prune_torch() -> None:
    """Remove the parts of the torch package that only a GPU or Python needs.

    Write the marker module first: after an interruption --full then finds that torch is incomplete.
    """
    folder = torch_folder()
    (folder / "__init__.py").write_text(SLIM_MODULE, encoding="utf-8")
    for library in (folder / "lib").iterdir():
        if not library.name.startswith(SLIM_LIBRARIES):
            remove(library)
    for entry in folder.iterdir():
        if entry.name not in SLIM_KEPT:
            remove(entry)


def remove(path: Path) -> None:
    """Remove a file or a folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
