"""Where everything of a campaign is: one folder with the outputs, and its bookkeeping in `.campaign` inside of it.

NAME.npz ...           outputs
profiles/NAME.sqlite   with --record
manifest.json          every output with its checksum, input and circumstances
SHA256SUMS             the same checksums, for sha256sum -c
summary.json, .txt     where the time went
.campaign/records/     one file per done output, written once: what makes an output done
.campaign/failures/    one file per input that failed, until it is done
.campaign/scratch/     one folder per attempt; nothing in it is a result
.campaign/aside/       damaged outputs and records that were found, moved here and done again
"""

from __future__ import annotations

import errno
import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path

INTERNAL = ".campaign"
PROFILES = "profiles"
MANIFEST = "manifest.json"
CHECKSUMS = "SHA256SUMS"
SUMMARY = "summary.json"
SUMMARY_TEXT = "summary.txt"
JOINED_PROFILE = "profile.sqlite"
OWN_NAMES = (INTERNAL, PROFILES, MANIFEST, CHECKSUMS, SUMMARY, SUMMARY_TEXT, JOINED_PROFILE)
OWN_DISK = "wirecell-campaign."  # begins the name of an attempt's folder on a worker's own disk

NAME_MOST = 255  # bytes of a file's name
# The longest names that are made of an output's: .NAME.4194304-01234567.partial, which wire-cell writes; without a file of its
# own .NAME.json.4194304.partial for a moment among the failures, NAME.20260728-120000.123456 in aside, and
# NAME.1234-01234567.01234567 in scratch, on a worker's own disk with OWN_DISK in front.
PARTIAL_MORE = 26
SCRATCH_MORE = 23


def longest_name(on_own_disk: bool) -> int:
    """Bytes of an output's name with which all names that are made of it can be given; `on_own_disk`: also those on workers."""
    return NAME_MOST - max(PARTIAL_MORE, SCRATCH_MORE + (len(OWN_DISK) if on_own_disk else 0))


@dataclass(frozen=True)
class Layout:
    """The paths of one campaign's folder."""

    root: Path

    @property
    def internal(self) -> Path:
        return self.root / INTERNAL

    @property
    def records(self) -> Path:
        return self.internal / "records"

    @property
    def failures(self) -> Path:
        return self.internal / "failures"

    @property
    def scratch(self) -> Path:
        return self.internal / "scratch"

    @property
    def aside(self) -> Path:
        return self.internal / "aside"

    @property
    def logs(self) -> Path:
        return self.internal / "logs"

    @property
    def lock(self) -> Path:
        return self.internal / "lock"

    @property
    def settings(self) -> Path:
        return self.internal / "settings.json"

    @property
    def names(self) -> Path:
        """Names of the outputs that the last run was to make."""
        return self.internal / "names.json"

    def record(self, name: str) -> Path:
        return self.records / f"{name}.json"

    def failure(self, name: str) -> Path:
        return self.failures / f"{name}.json"

    def make(self) -> None:
        """All folders. OSError when that is not possible."""
        for folder in (self.records, self.failures, self.scratch, self.logs):
            folder.mkdir(parents=True, exist_ok=True)


def replaceable(path: Path) -> Path:
    """The regular file, there or not, that a file of the client replaces: symbolic links are followed. OSError for anything else
    that has the name (a folder, a device, a pipe): it is never replaced."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        mode = stat.S_IFREG  # a link may lead to a file that is not there yet
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise FileExistsError(
            errno.EEXIST, "a device, pipe or socket has the name of a file of the campaign", str(path)
        )
    return Path(os.path.realpath(path))


def write_whole(path: Path, text: str) -> None:
    """Write a file of the client: complete or not at all, on the disk before it gets its name. OSError."""
    target = replaceable(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with open(partial, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def write_json(path: Path, content: object) -> None:
    """write_whole of JSON with sorted keys, so that equal content is equal bytes."""
    write_whole(path, json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n")


def read_json(path: Path) -> object | None:
    """The content; None for a file that is absent or is no JSON, such as one that a crash left torn."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
