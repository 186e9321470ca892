# SPDX-License-Identifier: Apache-2.0
"""Files that a campaign may replace: its own. Other files stay, or are moved aside with --overwrite."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from .errors import CampaignError, UsageError
from .layout import OWN_NAMES, Layout
from .options import RunOptions
from .plan import Plan
from .progress import shortened
from .resume import Found, State, set_aside


def check(layout: Layout, options: RunOptions, plan: Plan) -> None:
    """Write nothing. Raise UsageError if a file of the campaign would replace one that it reads, and CampaignError for a folder
    with files that are not of a campaign, without --overwrite.
    """
    targets = [layout.root / name for name in (*plan.entries, *OWN_NAMES)]
    existing = {key: path for path in targets if (key := identity(path))}
    for path, what in sources(options, plan):
        key = identity(path)
        if key and (target := existing.get(key)):
            raise UsageError(
                f"would replace {target}, which is {what}",
                "--output",
                expected="a folder in which no output has the name of a file that the campaign reads",
                hint="choose another folder by --output",
            )
    if not options.overwrite and not layout.internal.is_dir() and layout.root.is_dir():
        foreign = sorted(path.name for path in layout.root.iterdir())
        if foreign:
            raise CampaignError(
                f"would write into {layout.root}, which has files that are not of this campaign",
                "--output",
                shortened(foreign),
                "a new or empty folder, or that of a campaign",
                "choose another folder by --output, or --overwrite",
            )


def sources(options: RunOptions, plan: Plan) -> Iterator[tuple[Path, str]]:
    """Yield the files that the campaign reads, and what they are."""
    for entry in plan.entries.values():
        yield entry.input, "an input"
    yield Path(options.file_list), "the list"
    yield Path(plan.settings.config), "the configuration"
    yield plan.program, "the program"
    for name in plan.settings.files:
        yield Path(plan.settings.arguments[name]), f"the file of -A {name}"


def identity(path: Path) -> tuple[int, int] | None:
    """Return the identity of a file, the same for all its names, or None if there is none."""
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_dev, state.st_ino


def make_room(layout: Layout, is_new: bool) -> None:
    """Move files with the names of the campaign's own files aside, before the first run in a folder (--overwrite)."""
    for name in OWN_NAMES if is_new else ():
        if (layout.root / name).is_file():
            set_aside(layout, name)


def take_names(found: Found, layout: Layout, overwrite: bool) -> None:
    """Move files that the campaign did not write, and which have the names of outputs, aside.

    Raise CampaignError without `overwrite` (--overwrite).
    """
    foreign = found.names(State.FOREIGN)
    if foreign and not overwrite:
        raise CampaignError(
            f"would replace {layout.root / foreign[0]}, which is not of this campaign",
            str(layout.root),
            shortened(foreign),
            hint="move them away, choose another folder by --output, or --overwrite",
        )
    for name in foreign:
        set_aside(layout, name)
