# SPDX-License-Identifier: Apache-2.0
"""Few channels of a view present: their charge must be that of the whole frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from scripts.output import Table
from spng import Frame, planes

from .. import measures
from ..bars import Limit
from ..study import Context, Findings, Study
from .boards import default_event

COUNTS = (1, 8, 48, 100, 200, 300)
PIECE, SCATTERED = "one piece", "scattered"
LONG, SHORT, LONG_COUNT = "long piece", "short piece", 48
EDGE = 3  # channels at both ends of a piece that do not count: their absent neighbours are part of the deconvolution


def chosen(count: int, total: int, centre: int, kind: str) -> np.ndarray:
    """Return the rows (count,) of a view that stay, with `centre` among them: consecutive ones, or equally spaced ones."""
    if kind == PIECE:
        first = min(max(0, centre - count // 2), total - count)
        return np.arange(first, first + count)
    spacing = total // count
    return np.sort((centre + spacing * np.arange(count)) % total)


def inner(channels: np.ndarray, kind: str) -> np.ndarray:
    """Return the channels that count: all, but of a piece not those at its ends, if it has others."""
    return channels[EDGE:-EDGE] if kind == PIECE and len(channels) > 2 * EDGE else channels


def with_few(frame: Frame, ids: np.ndarray, kept: np.ndarray, ident: int) -> Frame:
    """Return the event with only the channels `kept` of the view with channels `ids`."""
    traces = frame.only()
    is_present = ~np.isin(traces.channels, ids) | np.isin(traces.channels, kept)
    changed = replace(
        traces, samples=np.asarray(traces.dense())[is_present], channels=traces.channels[is_present]
    )
    return replace(frame, traces={traces.tag: changed}, ident=ident)


def cases() -> Iterator[tuple[str, int, str]]:
    """Yield view, count and kind."""
    for view in ("U", "V", "W"):
        for kind in (PIECE, SCATTERED):
            for count in COUNTS:
                yield view, count, kind


def run(context: Context, found: Findings) -> None:
    """Process the default event with few channels of one view, an event for each case."""
    jobs, views = context.jobs, planes("pdhd", 0)
    whole = jobs.pipeline(jobs.input("default-event", default_event), detname="pdhd", noise_filter="none")
    kept = {}
    for view, count, kind in cases():
        charge = whole.rows(views[view]).sum(axis=1)
        which = chosen(count, len(charge), int(np.argmax(charge)), kind)
        kept[view, count, kind] = views[view][which]

    def frames() -> Iterator[Frame]:
        event = default_event()
        for ident, ((view, _, _), channels) in enumerate(kept.items()):
            yield with_few(event, views[view], channels, ident)

    output = jobs.pipeline(jobs.input("few-channels", frames), detname="pdhd", noise_filter="none")
    rows = []
    differences: dict[str, list[float]] = {LONG: [], SHORT: [], SCATTERED: []}
    shares: dict[str, list[float]] = {LONG: [], SHORT: [], SCATTERED: []}
    for event, ((view, count, kind), channels) in enumerate(kept.items()):
        counted = inner(channels, kind)
        seen, true = output.rows(counted, event=event), whole.rows(counted)
        ratio = measures.ratio(measures.charge(seen), measures.charge(true))
        group = kind if kind == SCATTERED else SHORT if count < LONG_COUNT else LONG
        differences[group].append(abs(ratio - 1))
        of_case = (measures.roi_share(true), measures.roi_share(seen))
        shares[group].append(abs(measures.ratio(of_case[1], of_case[0]) - 1))
        rows.append(
            [view, str(count), kind, f"{measures.charge(true):.2f}", f"{ratio:.3f}"]
            + [f"{100 * share:.2f}" for share in of_case]
        )
    found.values |= {group: max(each) for group, each in differences.items()}
    found.values |= {f"{group} ROIs": max(each) for group, each in shares.items()}
    heads = [
        "view",
        "channels",
        "kind",
        "charge [10^6 e]",
        "ratio",
        "in ROIs, whole frame [%]",
        "in ROIs [%]",
    ]
    found.tables.append(Table("Few channels", heads, rows, 3))


STUDY = Study(
    "few",
    "Few channels of a view",
    (
        "The simulated default event with only some channels of one view, compared with the same channels of the whole frame.",
        f"Of a piece the {EDGE} channels at both ends do not count: the deconvolution takes the charge of neighbours off a wire, and "
        "these have absent ones.",
        "One channel, the inner ones of eight and all scattered ones have absent neighbours too, so their charge differs, most on U and V "
        "([reasons](decisions/few-channels.md)).",
    ),
    (
        *(
            Limit(f"{group}{key}", f"largest difference of the {figure}, {which}", None, 0.02)
            for key, figure in (("", "charge"), (" ROIs", "share in ROIs"))
            for group, which in (
                (LONG, f"{LONG_COUNT} and more channels in one piece"),
                (SHORT, "1 and 8 channels in one piece"),
                (SCATTERED, "scattered channels"),
            )
        ),
    ),
    run,
)
