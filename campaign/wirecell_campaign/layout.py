# SPDX-License-Identifier: Apache-2.0
"""Layout of a campaign: one folder with the outputs, and its bookkeeping in `.campaign` inside it.

NAME.npz ...           outputs
profiles/NAME.sqlite   with --record
manifest.json          every output with its checksum, input, host and attempt
SHA256SUMS             the same checksums, for sha256sum -c
summary.json, .txt     time spent per node and machine
.campaign/records/     one file per output, written once; an output with a record is done
.campaign/failures/    one file per failed input, until it is done
.campaign/scratch/     one folder per attempt, without results
.campaign/aside/       damaged outputs and records, moved here before the output is made again
.campaign/tls-*/       key and certificate of a run, for its duration
"""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

from wirecell_profile.output_file import output_file, target_of

INTERNAL = ".campaign"
PROFILES = "profiles"
MANIFEST = "manifest.json"
CHECKSUMS = "SHA256SUMS"
SUMMARY = "summary.json"
SUMMARY_TEXT = "summary.txt"
JOINED_PROFILE = "profile.sqlite"
OWN_NAMES = (INTERNAL, PROFILES, MANIFEST, CHECKSUMS, SUMMARY, SUMMARY_TEXT, JOINED_PROFILE)
OWN_DISK = "wirecell-campaign."  # prefix of an attempt's folder on a worker's own disk

MAX_NAME = 255  # bytes of a file's name
# The longest names derived from an output's: .NAME.4194304-01234567.partial.json among the failures,
# NAME.20260728-120000.123456 in aside, and NAME.1234-01234567.01234567 in scratch, with the prefix OWN_DISK on a worker's own
# disk.
PARTIAL_MORE = 31
SCRATCH_MORE = 23


def longest_name(on_own_disk: bool) -> int:
    """Return the largest length [bytes] of an output's name for which all derived names are possible.

    on_own_disk: also those on workers' own disks.
    """
    return MAX_NAME - max(PARTIAL_MORE, SCRATCH_MORE + (len(OWN_DISK) if on_own_disk else 0))


class Layout:
    """Paths in a campaign's folder. names: names of all outputs of the last run's list."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.internal = root / INTERNAL
        self.records = self.internal / "records"
        self.failures = self.internal / "failures"
        self.scratch = self.internal / "scratch"
        self.aside = self.internal / "aside"
        self.logs = self.internal / "logs"
        self.lock = self.internal / "lock"
        self.settings = self.internal / "settings.json"
        self.names = self.internal / "names.json"

    def record(self, name: str) -> Path:
        return self.records / f"{name}.json"

    def failure(self, name: str) -> Path:
        return self.failures / f"{name}.json"

    def stop(self, scratch: str) -> Path:
        """Return the mark on the task with this scratch folder that it must not begin."""
        return self.scratch / f"stop-{scratch}"

    def make(self) -> None:
        """Create all folders. Raise OSError if that fails."""
        for folder in (self.records, self.failures, self.scratch, self.logs):
            folder.mkdir(parents=True, exist_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a file of the client completely or not at all; sync it to disk before it gets its name. Raise OSError."""
    if target_of(path) is None:
        raise FileExistsError(
            errno.EEXIST, "a device or pipe has the name of a file of the campaign", str(path)
        )
    with output_file(path) as partial:
        with open(partial, "w", encoding="utf-8", errors="surrogateescape") as file:  # names may be any bytes
            file.write(text)
            file.flush()
            os.fsync(file.fileno())


def write_json(path: Path, content: object) -> None:
    """Write JSON by write_whole, with sorted keys, so that equal content has equal bytes."""
    write_whole(path, json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n")


def read_json(path: Path) -> object | None:
    """Return the content, or None for an absent or incomplete file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
