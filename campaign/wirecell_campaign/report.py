# SPDX-License-Identifier: Apache-2.0
"""Status of a campaign, read from its folder alone: for the end of a run and for the other commands."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from . import manifest, record, settings, summary
from .errors import CampaignError, UsageError
from .layout import INTERNAL, JOINED_PROFILE, PROFILES, Layout, read_json
from .process import run_limited

FAILURE_KEYS = {"name", "attempts", "block"}
ATTEMPT = re.compile(r"(.+)\.\d+-[0-9a-f]{8}\.[0-9a-f]{8}")  # scratch folder of an attempt at a file


@dataclass
class Status:
    """Names of all outputs of a campaign, its records and its failures."""

    names: list[str]
    records: dict[str, dict]
    failures: list[dict]
    settings: dict

    @property
    def left(self) -> list[str]:
        """Return the outputs that are neither done nor failed."""
        failed = {failure["name"] for failure in self.failures}
        return [name for name in self.names if name not in self.records and name not in failed]


def open_folder(given: str) -> Layout:
    """Return the layout of an existing campaign. Raise UsageError for any other folder."""
    layout = Layout(Path(given).absolute())
    if not layout.records.is_dir():
        raise UsageError(
            "the folder has no campaign", str(layout.root), f"no {INTERNAL} in it", "the --output of a run"
        )
    return layout


def read_status(layout: Layout) -> Status:
    """Return the status, without failures of files that are done by now or no longer in the list."""
    records = record.read_all(layout)
    failures = [
        found for path in sorted(layout.failures.glob("*.json")) if is_failure(found := read_json(path))
    ]
    names = read_json(layout.names)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        names = sorted({*records, *(failure["name"] for failure in failures)})
    wanted = set(names) - set(records)
    return Status(
        names,
        records,
        [failure for failure in failures if failure["name"] in wanted],
        settings.read(layout) or {},
    )


def begun(layout: Layout, now: Status) -> list[str]:
    """Return the outputs that are being made: those with an attempt's scratch folder and without a record."""
    found = (ATTEMPT.match(path.name) for path in layout.scratch.iterdir())
    return sorted({match[1] for match in found if match} - set(now.records))


def is_failure(found: object) -> TypeGuard[dict]:
    """Tell whether the content of a file is a failure as the dispatcher writes it."""
    return isinstance(found, dict) and set(found) >= FAILURE_KEYS


def write(layout: Layout) -> Status:
    """Write manifest, checksums and summary of the folder; return the status."""
    now = read_status(layout)
    manifest.write(
        layout, manifest.make(now.settings, now.records, [one["name"] for one in now.failures], now.left)
    )
    summary.write(layout, summary.make(now.records, now.failures))
    return now


def join_profiles(layout: Layout, timeout: float | None = None) -> Path:
    """Merge the profiles of all files by wirecell-profile merge. Raise CampaignError if there is none or it fails.

    timeout: for each profile [s]; None: without limit.
    """
    found = sorted((layout.root / PROFILES).glob("*.sqlite"))
    if not found:
        raise CampaignError(
            "there are no profiles to merge",
            str(layout.root / PROFILES),
            hint="wirecell-campaign run --record makes profiles",
        )
    target = layout.root / JOINED_PROFILE
    if len(found) == 1:
        shutil.copyfile(found[0], target)
        return target
    words = ["merge", "--overwrite", "-o", str(target), *map(str, found)]
    command = [sys.executable, "-P", "-m", "wirecell_profile", *words]
    limit = None if timeout is None else timeout * len(found)
    try:
        done = run_limited(command, limit)
    except subprocess.TimeoutExpired:
        raise CampaignError(
            "cannot merge the profiles",
            str(layout.root / PROFILES),
            f"no end in {limit:g} s; it was stopped",
            hint="without a limit: wirecell-campaign summary --profiles",
        ) from None
    if done.returncode:
        raise CampaignError("cannot merge the profiles", seen=done.stderr.strip())
    return target
