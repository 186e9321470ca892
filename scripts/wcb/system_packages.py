# SPDX-License-Identifier: Apache-2.0
"""Find and install missing system packages.

With apt and root, or sudo without a password, install them after printing the command. Otherwise install nothing and
list the missing packages by name.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from .checkout import fail, run, say

LIST = Path(__file__).with_name("system-packages.txt")


@dataclass(frozen=True)
class Package:
    """One line of system-packages.txt."""

    apt: str
    el9: str  # of Enterprise Linux 9; "-" where it has none
    conda: str  # "-" where conda-forge has none
    sign: str  # "command:g++", "header:fmt/core.h", "python-header:Python.h" or "module:ensurepip"
    purpose: str

    @property
    def optional(self) -> bool:
        """Tell whether only some tests need the package; they skip without it."""
        return self.purpose.startswith("optional: ")

    @property
    def needed(self) -> bool:
        """Tell whether there is no build without the package."""
        return not self.optional and not self.purpose.startswith("wanted: ")

    def present(self) -> bool:
        """Tell whether its sign is in the system or in an active conda environment."""
        kind, name = self.sign.split(":", 1)
        if kind == "command":
            return shutil.which(name) is not None or (name == "g++" and bool(os.environ.get("CXX")))
        if kind == "module":
            return importlib.util.find_spec(name) is not None
        if kind == "python-header":
            return (Path(sysconfig.get_path("include")) / name).exists()
        return any((folder / name).exists() for folder in include_folders())


def include_folders() -> list[Path]:
    """Return the header folders that a compiler searches by default, and conda's."""
    multiarch = f"/usr/include/{os.uname().machine}-linux-gnu"
    folders = ["/usr/local/include", "/usr/include", multiarch]
    folders += [f"{os.environ['CONDA_PREFIX']}/include"] if os.environ.get("CONDA_PREFIX") else []
    return [Path(folder) for folder in folders]


def read_list(path: Path = LIST) -> list[Package]:
    """Return the packages of the list, in its order."""
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [Package(*(cell.strip() for cell in line.split("|"))) for line in lines if line and line[0] != "#"]


def rights() -> list[str] | None:
    """Return the prefix of commands that need root: [] for root, ['sudo', '-n'] if sudo asks for no password, else None."""
    if os.geteuid() == 0:
        return []
    if (
        shutil.which("sudo")
        and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0
    ):
        return ["sudo", "-n"]
    return None


def ensure(for_tests: bool = False) -> None:
    """Install missing packages, or end with a list of those that a build needs (status 2). Others are never an error.

    @param for_tests  install the optional packages too, which only tests need
    """
    listed = [package for package in read_list() if for_tests or not package.optional]
    absent = [package for package in listed if not package.present()]
    missing = [package for package in absent if package.needed]
    if not absent:
        say("System packages: all present.")
        return
    prefix = rights() if shutil.which("apt-get") else None
    if prefix is None and missing:
        fail(
            report(
                missing,
                "no apt-get" if not shutil.which("apt-get") else "neither root nor sudo without a password",
            )
        )
    if missing:
        failed = install(prefix or [], missing)
        if failed:
            fail(failed, 1)
        still = [package for package in missing if not package.present()]
        if still:
            fail(report(still, "still missing after apt-get"), 1)
    for package in absent:
        if package.needed:
            continue
        if prefix is None or install(prefix, [package]) or not package.present():
            say(f"System packages: {package.apt} is missing and was not installed ({package.purpose}).")


def install(prefix: list[str], packages: list[Package]) -> str:
    """Print the command that installs the packages, and run it. Return an error text, empty on success."""
    wanted = [package.apt for package in packages]
    apt = prefix + ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    command = apt + ["install", "-y", "--no-install-recommends", *wanted]
    say(f"System packages: {len(wanted)} missing. This installs them:\n  {' '.join(command)}")
    known = (
        subprocess.run(
            ["apt-get", "install", "--simulate", "--no-install-recommends", *wanted],
            capture_output=True,
            check=False,
        ).returncode
        == 0
    )
    if not known:
        say("  (the package lists are absent or old: apt-get update first)")
        if run(apt + ["update"]):
            return "apt-get update failed; see its message above"
    return "apt-get install failed; see its message above" if run(command) else ""


def names(system: str, packages: list[Package]) -> list[str]:
    """Return the names of the packages in 'apt', 'el9' or 'conda', each once, without those that it does not have."""
    return list(dict.fromkeys(name for package in packages if (name := getattr(package, system)) != "-"))


def report(missing: list[Package], reason: str) -> str:
    """Return the error text: the missing packages by their names in apt, Enterprise Linux 9 and conda-forge."""
    width = max(len(package.apt) for package in missing)
    lines = [
        f"  {package.apt:{width}}  conda-forge: {package.conda:15} {package.purpose}" for package in missing
    ]
    conda, el9 = " ".join(names("conda", missing)), " ".join(names("el9", missing))
    return (
        f"system packages are missing and nothing was installed ({reason}):\n"
        + "\n".join(lines)
        + "\nTo fix, one of:\n"
        f"  sudo apt-get install -y --no-install-recommends {' '.join(package.apt for package in missing)}\n"
        + (
            f"  sudo dnf install -y {el9}     (with the repositories CRB and EPEL; docs/packages.md)\n"
            if el9
            else ""
        )
        + (
            f"  conda install -c conda-forge {conda}     (and run ./wcb in that environment)\n"
            if conda
            else ""
        )
        + "  ./wcb setup --no-system, then ./wcb configure --with-NAME=DIR for parts in other folders"
    )


if (
    __name__ == "__main__"
):  # python3 -m scripts.wcb.system_packages el9: the names of all packages that a build needs
    print(*names(sys.argv[1], [package for package in read_list() if package.needed]))
