# SPDX-License-Identifier: Apache-2.0
"""Readers of runs from timing files, files of measurements and profiles."""

from __future__ import annotations

import glob
import json
from pathlib import Path

from ..errors import ProfileError, UsageError, system_error
from ..path_names import readable, url_hint
from .measurements import SCHEMA, TIMING_SCHEMA, Run, read_timing
from .profile_measurements import read_profile

PROFILE_ENDINGS = (".sqlite", ".db")


def read_side(text: str) -> list[Run]:
    """Read the runs of a file, of all files of a folder, or of all that match a pattern, in order of time."""
    runs = [run for path in _paths(text) for run in read_runs(path)]
    return sorted(runs, key=lambda run: (run.time, run.source))


def files_of_sides(sides: list[str]) -> list[Path]:
    """Return the existing files that these sides name."""
    return [path for side in sides for path in _matches(side)]


def _matches(text: str) -> list[Path]:
    path = Path(text)
    if path.is_dir():
        return sorted(child for child in path.iterdir() if child.suffix in (".json", *PROFILE_ENDINGS))
    if path.exists():
        return [path]
    return [Path(match) for match in sorted(glob.glob(text, recursive=True))]


def _paths(text: str) -> list[Path]:
    found = _matches(text)
    if not found:
        raise UsageError(
            "nothing to compare",
            text,
            "no file or folder matches",
            "timing files, profiles, or a folder or pattern of them",
            url_hint(text) or "wire-cell --timing run1.json ..., once per run",
        )
    return found


def read_runs(path: Path) -> list[Run]:
    """Read the run of a timing file, or the runs of a profile or of a file of measurements."""
    if path.suffix in PROFILE_ENDINGS:
        return read_profile(path)
    try:
        data = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise system_error("cannot read", path, error) from None
    except (ValueError, RecursionError) as error:
        raise ProfileError("not a JSON file", str(path), str(error), f"{TIMING_SCHEMA} or {SCHEMA}") from None
    schema = data.get("schema") if isinstance(data, dict) else None
    try:
        if schema == TIMING_SCHEMA:
            return [read_timing(data, readable(path))]
        if schema == SCHEMA:
            return [Run.from_json(run) for run in data["runs"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise ProfileError(
            "the file does not follow its schema",
            str(path),
            f"{type(error).__name__}: {error}",
            str(schema),
            "run again",
        ) from None
    raise ProfileError(
        "not a file of measurements",
        str(path),
        f"schema {schema}",
        f"{TIMING_SCHEMA} or {SCHEMA}",
        "wire-cell --timing FILE writes one",
    )
