# SPDX-License-Identifier: Apache-2.0
"""The command ./wcb bundle DIR."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from pathlib import Path

from ..checkout import ROOT, fail, lock_name, one_at_a_time, say, wcb
from . import build_facts, contents, manifest

EXECUTABLE_FOLDERS = ("bin", "libexec", "lib")
EARLIEST = 315532800  # 1980, the first year of zip archives, where the commit's date is not known


def main(arguments: list[str]) -> int:
    """Build, collect the files in a temporary folder, rename it."""
    parser = argparse.ArgumentParser(
        prog="wcb bundle",
        description="Make a folder with wire-cell and its dependencies except LibTorch and the C library, to copy to other "
        "machines. See docs/bundle.md.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "folder", metavar="DIR", type=Path, help="a new or empty folder, or a bundle to replace"
    )
    parser.add_argument(
        "--no-build", action="store_true", help="bundle the present build without building changes"
    )
    options = parser.parse_args(arguments)

    target = Path(os.path.abspath(options.folder))
    reject_foreign(target)
    if not options.no_build:
        wcb("build", "--notests")
    facts = build_facts.read()
    stage = target.parent / f".{target.name}.{os.getpid()}.partial"
    try:
        stage.mkdir(parents=True)
        with one_at_a_time(lock_name().lstrip(".")):  # no build may change the files meanwhile
            origins = contents.fill(stage, facts)
        needs = manifest.needed_versions(stage)
        contents.put_launchers(stage, facts, needs["GLIBC"])
        manifest.write(stage, facts, needs, origins)
        reject_local_paths(stage, facts.folders())
        settle(stage, commit_time())
        replace(target, stage)
    except OSError as problem:
        fail(f"{target} cannot be written: {problem}", 1)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    report(target)
    return 0


def reject_foreign(target: Path) -> None:
    """End with a message unless the target is absent, empty or a bundle without added files."""
    if not os.path.lexists(target):
        return
    if not target.is_dir() or target.is_symlink():
        fail(f"{target} exists and is not a folder. To fix: give a new name")
    if not any(target.iterdir()):
        return
    known = manifest.read(target)
    if known is None:
        fail(f"{target} is not empty and not a bundle. To fix: give a new or an empty folder")
    added = sorted(set(manifest.files(target)) - set(known["files"]))
    if added:
        fail(
            f"{target} has files that do not belong to the bundle and would be lost: {', '.join(added[:3])}"
            f"{' ...' if len(added) > 3 else ''}. To fix: move them, or give a new folder"
        )


def reject_local_paths(stage: Path, folders: list[str]) -> None:
    """End with a message if a file names a folder of this machine. Licences of others may name any folder."""
    for path in sorted(
        path for path in stage.rglob("*") if path.is_file() and path.parent.name != "licences"
    ):
        content = path.read_bytes()
        for folder in folders:
            if f"{folder}/".encode() in content:
                fail(f"{path.relative_to(stage)} names {folder}, a folder of this machine", 1)


def commit_time() -> int:
    """Return the time of the checked-out commit, so that equal bundles make equal archives."""
    answer = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return int(answer.stdout) if answer.stdout.strip().isdigit() else EARLIEST


def settle(stage: Path, seconds: int) -> None:
    """Set permissions and times independent of umask and clock."""
    for path in [*stage.rglob("*"), stage]:
        is_executable = path.is_dir() or path.relative_to(stage).parts[0] in EXECUTABLE_FOLDERS
        path.chmod(0o755 if is_executable else 0o644)
        os.utime(path, (seconds, seconds))


def replace(target: Path, stage: Path) -> None:
    """Rename the new bundle to the target, so that an incomplete bundle never exists under that name."""
    if not target.exists():
        stage.rename(target)
        return
    old = stage.with_suffix(".old")
    target.rename(old)
    stage.rename(target)
    shutil.rmtree(old)


def report(target: Path) -> None:
    """Print size and requirements of the bundle."""
    content = manifest.read(target) or {}
    size = sum((target / name).stat().st_size for name in manifest.files(target))
    needs = content["needs"]
    say(f"Bundle  {target}: {size / 1e6:.1f} MB, {len(content['files'])} files, commit {content['commit']}")
    say(
        f"Needs   {content['machine']}, glibc {needs['GLIBC']}, the wheel torch {content['torch']} (CPU or CUDA), not included"
    )
    say(f"Next    copy it and run {target.name}/bin/spng-demo; see its README.md")
