# SPDX-License-Identifier: Apache-2.0
"""Score of charge against the simulated truth: charge, efficiency and purity of each plane, as metrics.py defines them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from . import metrics
from .arguments import checked
from .channel_planes import Planes, planes_of
from .charge_tags import OUTPUT_TAGS, TRUTH_TAGS, first_of
from .compare.comparison import Source, frames_of, name_of
from .compare.matching import event_pairs, match_events, match_ticks, tag_of
from .errors import Error
from .frame import Frame, Traces
from .metrics import Counts, Figure

ALL = "all"


@dataclass(frozen=True)
class Score:
    """Counts of the events that are in both files.

    output, truth  names of the files and of the tags that were read
    is_by_ident    whether events belong together by their ids; else by their order
    events         id of the output's event, and counts by plane
    absent         channels of the truth that the output lacks, which count as empty, summed over events
    extra          channels of the output that the truth lacks, which are not scored, summed over events
    events_only_output, events_only_truth  ids of the events of only one
    """

    output: str
    truth: str
    is_by_ident: bool
    events: list[tuple[int, dict[str, Counts]]] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    absent: int = 0
    extra: int = 0
    events_only_output: list[int] = field(default_factory=list)
    events_only_truth: list[int] = field(default_factory=list)

    def figures(self) -> dict[str, dict[str, Figure]]:
        """Return the figures of all events by plane, and of all planes: charge, efficiency, purity and kept."""
        planes = list(dict.fromkeys(plane for _, counts in self.events for plane in counts))
        by_plane = {plane: [counts.get(plane, Counts()) for _, counts in self.events] for plane in planes}
        if len(planes) > 1:
            by_plane[ALL] = [sum(counts.values(), Counts()) for _, counts in self.events]
        return {
            plane: {name: metrics.pooled(counts, ratio) for name, ratio in metrics.RATIOS.items()}
            for plane, counts in by_plane.items()
        }

    def json(self) -> dict[str, object]:
        """Return the score as a JSON object; unknown values are null."""
        return {
            "schema": "spng-score-1",
            "output": self.output,
            "truth": self.truth,
            "tags": self.tags,
            "absent_channels": self.absent,
            "extra_channels": self.extra,
            "events_only_output": self.events_only_output,
            "events_only_truth": self.events_only_truth,
            "planes": {
                plane: {
                    name: {"value": known(of.value), "error": known(of.error)} for name, of in row.items()
                }
                for plane, row in self.figures().items()
            },
            "events": [
                {
                    "ident": ident,
                    "planes": {
                        plane: {name: known(value) for name, value in vars(each).items()}
                        for plane, each in counts.items()
                    },
                }
                for ident, counts in self.events
            ],
        }


def known(value: float) -> float | None:
    """Return the value, None for NaN and Inf."""
    return value if np.isfinite(value) else None


@checked
def score(output: Source, truth: Source, tag: str | None = None, planes: Planes = None) -> Score:
    """Compare charge with the truth: files, frames, or sequences of frames, of any program.

    tag     "TAG" or "OUTPUT_TAG:TRUTH_TAG"; None: the first of signal, gauss0 and gauss, and of truth, or the only tag
    planes  as in planes_of() of spng/channel_planes.py

    Raise Error if a file cannot be read, or if the files have no event, channel or tick in common.
    """
    read_output, read_truth = frames_of(output, ["*"]), frames_of(truth, ["*"])
    match = match_events(read_output, read_truth)
    name, true_name = name_of(output, "output"), name_of(truth, "truth")
    tag_of_output, _, tag_of_truth = (tag or "").partition(":")
    events, absent, extra, tags = [], 0, 0, ["", ""]
    for seen, true in event_pairs(read_output, read_truth, match):
        charge = _chosen(seen, tag_of_output, OUTPUT_TAGS, name)
        expected = _chosen(true, tag_of_truth, TRUTH_TAGS, true_name)
        tags = [charge.tag, expected.tag]
        absent += len(np.setdiff1d(expected.channels, charge.channels))
        extra += len(np.setdiff1d(charge.channels, expected.channels))
        events.append((seen.ident, _counts(charge, expected, planes, f"{name}, event {seen.ident}")))
    if not events:
        raise Error(
            "Input", "the files have no event in common", f"{name} and {true_name}", "no pair of events"
        )
    return Score(name, true_name, match.is_by_ident, events, tags, absent, extra, match.only_a, match.only_b)


def _chosen(frame: Frame, wanted: str, usual: tuple[str, ...], name: str) -> Traces:
    if wanted:
        return tag_of(frame, wanted, name)
    try:
        return first_of(frame, usual)
    except ValueError:
        seen = ", ".join(frame.traces) or "none"
        raise Error(
            "Usage",
            "the tag is not clear",
            f"{name}, event {frame.ident}",
            seen,
            f"one of {', '.join(usual[:-1])}, or one tag",
            "give both: OUTPUT_TAG:TRUTH_TAG, the value of tag",
        ) from None


def _counts(charge: Traces, truth: Traces, planes: Planes, where: str) -> dict[str, Counts]:
    """Return the counts by plane of the channels of the truth, over the common ticks."""
    if charge.tick_ns != truth.tick_ns:
        raise Error(
            "Input",
            "output and truth have different sampling periods",
            where,
            f"{charge.tick_ns:g} ns",
            f"{truth.tick_ns:g} ns, that of the truth",
        )
    if not np.isin(charge.channels, truth.channels).any():
        raise Error(
            "Input",
            "output and truth have no channel in common",
            where,
            _range(charge.channels),
            f"channels of the truth: {_range(truth.channels)}",
        )
    of_charge, of_truth = match_ticks(charge, truth)
    if of_charge.stop == of_charge.start:
        raise Error("Input", "output and truth have no tick in common", where)
    # Channels of the output help to recognise the planes.
    found = planes_of(np.union1d(charge.channels, truth.channels), planes)
    return {
        plane: metrics.count(charge.rows(channels)[:, of_charge], truth.rows(channels)[:, of_truth])
        for plane, every in found.items()
        if len(channels := np.intersect1d(every, truth.channels))
    }


def _range(channels: np.ndarray) -> str:
    return f"{len(channels)} channels" + (f", {channels.min()} to {channels.max()}" if len(channels) else "")
