# SPDX-License-Identifier: Apache-2.0
"""Compare two frames, or the frames of two files, event by event."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from wirecell_profile.path_names import readable

from ..arguments import checked
from ..channel_planes import Planes, planes_of
from ..formats.members import as_numpy
from ..frame import Frame, Traces, require_frame
from ..frame_files import read_frames
from . import matching, pictures
from .planes import group_rows
from .result import Comparison, EventComparison, Location, MaskDifference, SummaryDifference, TagComparison
from .samples import EXACT, Tolerance, compare_samples

MAX_LOCATIONS = 10
TIMES = ("first_tick", "start_ns", "tick_ns")
Source = str | os.PathLike[str] | Frame | Sequence[Frame]


@checked
def compare(
    a: Source,
    b: Source,
    tags: Sequence[str] | None = None,
    planes: Planes = None,
    tolerance: Tolerance = EXACT,
    names: tuple[str, str] | None = None,
) -> Comparison:
    """Compare A and B: files, frames, or a sequence of frames.

    tags       "TAG" or "A_TAG:B_TAG"; None: the tags of both, or the only tag of each
    planes     as in planes_of() of spng/channel_planes.py
    tolerance  default: samples, channels, times, summaries and masks are equal
    names      of A and B in the result

    Raise Error if a file cannot be read or nothing can be compared.
    """
    wanted = matching.parse_tags(tags) if tags else None
    frames_a, frames_b = (
        frames_of(source, sorted({pair[side] for pair in wanted}) if wanted else ["*"])
        for side, source in enumerate((a, b))
    )
    match = matching.match_events(frames_a, frames_b)
    name_a, name_b = names or (name_of(a, "A"), name_of(b, "B"))
    result = Comparison(name_a, name_b, tolerance, match.is_by_ident, match.only_a, match.only_b)
    for one, other in matching.event_pairs(frames_a, frames_b, match):
        result.events.append(_compare_event(result, one, other, wanted, planes))
    return result


def frames_of(source: Source, tags: list[str]) -> matching.Frames:
    if isinstance(source, Frame):
        return lambda: [require_frame(source)]
    if isinstance(source, (str, os.PathLike)):
        return partial(read_frames, Path(source), tags)
    return lambda: map(require_frame, source)


def name_of(source: Source, default: str) -> str:
    return readable(Path(source)) if isinstance(source, (str, os.PathLike)) else default


def _compare_event(
    result: Comparison, a: Frame, b: Frame, wanted: list[matching.TagPair] | None, planes: Planes
) -> EventComparison:
    """Compare an event, and add the first locations that differ to the result."""
    pairs = matching.match_tags(a, b, wanted)
    compared = [
        _compare_tag(
            result,
            a.ident,
            matching.tag_of(a, one, result.a),
            matching.tag_of(b, other, result.b),
            planes,
        )
        for one, other in pairs
    ]
    only_a = [] if wanted else [tag for tag in a.traces if tag not in [one for one, _ in pairs]]
    only_b = [] if wanted else [tag for tag in b.traces if tag not in [other for _, other in pairs]]
    keys = dict.fromkeys((*a.notes, *b.notes))
    notes = [key for key in keys if a.notes.get(key) != b.notes.get(key)]
    return EventComparison(a.ident, b.ident, compared, _compare_masks(a, b), only_a, only_b, notes)


def _compare_tag(result: Comparison, event: int, a: Traces, b: Traces, planes: Planes) -> TagComparison:
    tag = a.tag if a.tag == b.tag else f"{a.tag}:{b.tag}"
    rows_a, rows_b = matching.match_rows(a, b, f"event {event}, tag {tag}")
    ticks_a, ticks_b = matching.match_ticks(a, b)
    x, y = (
        _chosen(as_numpy(traces.dense()), rows, ticks)
        for traces, rows, ticks in ((a, rows_a, ticks_a), (b, rows_b, ticks_b))
    )
    channels = a.channels[rows_a]
    known = planes_of(a.channels, planes)
    names, group_of_row = group_rows(known, channels)
    found = compare_samples(x, y, group_of_row, len(names), result.tolerance)
    first_tick = max(a.first_tick, b.first_tick)
    for row, tick in found.positions[: MAX_LOCATIONS - len(result.locations)].tolist():
        values = float(x[row, tick]), float(y[row, tick])
        result.locations.append(Location(event, tag, int(channels[row]), first_tick + tick, *values))
    is_first = len(found.positions) and all(each.picture is None for _, each in result.each_tag(tag))
    return TagComparison(
        tag,
        dict(zip(names, found.groups)),
        len(channels),
        np.setdiff1d(a.channels, b.channels).tolist(),
        np.setdiff1d(b.channels, a.channels).tolist(),
        _times(a, b),
        _compare_summaries(a, b, rows_a, rows_b, result.tolerance),
        _remarks(x, y, a, b),
        result.tolerance,
        pictures.picture(x, y, channels, first_tick, found.positions) if is_first else None,
    )


def _chosen(samples: np.ndarray, rows: np.ndarray, ticks: slice) -> np.ndarray:
    """Return rows and ticks; without a copy if these are all rows in order."""
    is_whole = len(rows) == len(samples) and (rows == np.arange(len(rows))).all()
    return samples[:, ticks] if is_whole else samples[rows, ticks]


def _times(a: Traces, b: Traces) -> dict[str, tuple[float, float]]:
    values = {name: (float(getattr(a, name)), float(getattr(b, name))) for name in TIMES}
    values["ticks"] = (float(a.samples.shape[1]), float(b.samples.shape[1]))
    return {name: pair for name, pair in values.items() if pair[0] != pair[1]}


def _compare_summaries(
    a: Traces, b: Traces, rows_a: np.ndarray, rows_b: np.ndarray, tolerance: Tolerance
) -> SummaryDifference | None:
    if a.summary is None or b.summary is None:
        only_in = "A" if a.summary is not None else "B" if b.summary is not None else ""
        return SummaryDifference(only_in=only_in) if only_in else None
    x, y = a.summary[rows_a][:, None], b.summary[rows_b][:, None]
    figures = compare_samples(x, y, tolerance=tolerance).total
    return SummaryDifference(figures.differing, figures.largest) if figures.differing else None


def _remarks(x: np.ndarray, y: np.ndarray, a: Traces, b: Traces) -> list[str]:
    found = []
    if x.dtype != y.dtype:
        found.append(f"samples are {x.dtype} in A and {y.dtype} in B")
    if set(a.channels.tolist()) == set(b.channels.tolist()) and (a.channels != b.channels).any():
        found.append("the channels are in another order")
    return found


def _compare_masks(a: Frame, b: Frame) -> list[MaskDifference]:
    found = []
    for name in dict.fromkeys((*a.masks, *b.masks)):
        rows_a, rows_b = (
            {tuple(row) for row in np.asarray(masks.get(name, [])).tolist()} for masks in (a.masks, b.masks)
        )
        if rows_a != rows_b:
            only = [[list(row) for row in sorted(rows)] for rows in (rows_a - rows_b, rows_b - rows_a)]
            found.append(MaskDifference(name, *only))
    return found
