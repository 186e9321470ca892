# SPDX-License-Identifier: Apache-2.0
"""A Debian with nothing but python3, in which programs run as on a foreign machine.

debootstrap makes it once; an archive stays in the user's cache (120 MB), and each test unpacks it. Mounts live in a name
space of the process that runs inside, so that none remains, however it ends.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

SUITE = "bookworm"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spng"
LEFT_OUT = (
    "./var/cache/apt",
    "./var/lib/apt/lists",
    "./usr/share/doc",
    "./usr/share/locale",
    "./usr/share/man",
)
NOBODY = 65534  # a user without rights, in every Debian
PATH = "/usr/local/bin:/usr/bin:/bin"

# $1 root, then pairs of what is mounted and where, --, the folder to run in, and the command of env.
INSIDE = f"""
root=$1
shift
while [ "$1" != -- ]; do
    mount --bind "$1" "$root$2"
    mount -o remount,bind,ro "$root$2"
    shift 2
done
shift
mount -t proc proc "$root/proc"
exec chroot --userspec={NOBODY}:{NOBODY} "$root" env -i "$@"
"""


def obstacle() -> str:
    """Return the reason why no clean root can be made here, or nothing."""
    if os.geteuid() != 0:
        return "a clean root needs the rights of root"
    for program in ("unshare", "chroot", "mount", "tar"):
        if not shutil.which(program):
            return f"no program {program}"
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        return "this machine allows no name space of mounts"
    if not archive().exists() and not shutil.which("debootstrap"):
        return "debootstrap is not installed (./wcb test installs it)"
    if not archive().exists() and not mirror():
        return f"the apt sources of this machine have no {SUITE}"
    return ""


def mirror(suite: str = SUITE) -> str:
    """Return the address from which apt of this machine fetches the release; empty if there is none."""
    if not shutil.which("apt-get"):
        return ""
    targets = subprocess.run(
        [
            "apt-get",
            "indextargets",
            "--format",
            "$(REPO_URI) $(COMPONENT) $(RELEASE) $(CODENAME)",
            "Created-By: Packages",
        ],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    for line in targets.splitlines():
        address, component, *releases = line.split()
        if component == "main" and suite in releases:
            return address
    return ""


def archive(suite: str = SUITE) -> Path:
    """Return the path of the finished root of a release of Debian."""
    return CACHE / f"clean-root-{suite}-{platform.machine()}.tar"


def make_archive(suite: str = SUITE) -> str:
    """Make the archive if it does not exist (50 MB to download, a minute); return the failure, or nothing."""
    target = archive(suite)
    if target.exists():
        return ""
    CACHE.mkdir(parents=True, exist_ok=True)
    stage, partial = CACHE / f".{target.name}.{os.getpid()}", CACHE / f".{target.name}.{os.getpid()}.partial"
    try:
        made = subprocess.run(
            ["debootstrap", "--variant=minbase", "--include=python3", suite, str(stage), mirror(suite)],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            return "debootstrap failed: " + " ".join(made.stdout.splitlines()[-1:])
        left_out = [f"--exclude={path}/*" for path in LEFT_OUT]
        subprocess.run(["tar", "-C", str(stage), *left_out, "-cf", str(partial), "."], check=True)
        partial.rename(target)
        return ""
    finally:
        partial.unlink(missing_ok=True)
        shutil.rmtree(stage, ignore_errors=True)


@dataclass
class CleanRoot:
    """An unpacked root. `mounts` are folders to show in it, read-only: {path inside: path outside}."""

    folder: Path
    mounts: dict[str, Path] = field(default_factory=dict)

    @classmethod
    def unpack(cls, folder: Path, suite: str = SUITE) -> CleanRoot:
        """Unpack the archive into a new folder."""
        folder.mkdir()
        subprocess.run(["tar", "-C", str(folder), "-xpf", str(archive(suite))], check=True)
        return cls(folder)

    def path_of(self, inside: str) -> Path:
        """Return the outside path of a path in the root."""
        return self.folder / inside.lstrip("/")

    def run(
        self, *command: str, folder: str = "/tmp", seconds: float = 300, **variables: str
    ) -> subprocess.CompletedProcess:
        """Run as a user without rights and without a home, in `folder`, with no variables but PATH and those given."""
        points = [self.path_of(inside) for inside in self.mounts]
        for point in points:
            point.mkdir(parents=True, exist_ok=True)
        words = [word for inside, outside in self.mounts.items() for word in (str(outside), inside)]
        given = [f"{name}={value}" for name, value in ({"PATH": PATH} | variables).items()]
        try:
            return subprocess.run(
                [
                    "unshare",
                    "--mount",
                    "--propagation",
                    "private",
                    "sh",
                    "-euc",
                    INSIDE,
                    "sh",
                    str(self.folder),
                    *words,
                    "--",
                    f"--chdir={folder}",
                    *given,
                    *command,
                ],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
            )
        finally:
            for point in points:
                point.rmdir()  # an empty folder that was left would count as a Python package
