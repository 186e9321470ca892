# SPDX-License-Identifier: Apache-2.0
"""Named baselines: runs of a side in a file of measurements."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..errors import UsageError
from .measurements import Run, write_measurements
from .readers import read_runs


def baseline_folder() -> Path:
    """Return WIRECELL_PROFILE_BASELINES, else wirecell-profile/baselines in XDG_DATA_HOME or ~/.local/share."""
    given = os.environ.get("WIRECELL_PROFILE_BASELINES")
    home = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return Path(given) if given else home / "wirecell-profile" / "baselines"


def path_of(name: str) -> Path:
    """Return the file of a baseline. Raise UsageError if the name is not a valid file name."""
    if not re.fullmatch(r"[\w][\w.+-]*", name):
        raise UsageError(
            "invalid name of a baseline",
            seen=repr(name),
            expected="letters, digits, and . _ + - after the first",
        )
    return baseline_folder() / f"{name}.json"


def save(name: str, runs: list[Run]) -> Path:
    """Save the runs under a name, replacing an earlier baseline of this name."""
    path = path_of(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_measurements(path, runs)
    return path


def load(name: str) -> list[Run]:
    """Load the runs of a baseline."""
    path = path_of(name)
    if not path.exists():
        known = sorted(file.stem for file in path.parent.glob("*.json"))
        raise UsageError(
            f"no baseline {name}",
            str(path.parent),
            "baselines " + (", ".join(known) or "none"),
            hint=f"wirecell-profile compare RUNS --save-baseline {name}",
        )
    return read_runs(path)
