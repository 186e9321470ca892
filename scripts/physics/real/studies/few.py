# SPDX-License-Identifier: Apache-2.0
"""Few channels of a view present: their charge must be that of the whole frame."""

from __future__ import annotations

from collections.abc import Iterator

from scripts.output import Table
from spng import Frame, planes

from .. import measures
from ..bars import at_most
from ..few_channels import EDGE, SCATTERED, STRIPE, Case, cases, edge_distances, striped, with_few
from ..jobs import Output
from ..microboone import NO_STEP
from ..study import Context, Findings, Study
from .boards import default_event

LONG, SHORT, LONG_COUNT = "long piece", "short piece", 48
ABSENT = "absent neighbours"
DISTANCES = range(8)  # from the edge of a stripe, of the table


def distance_row(case: Case, output: Output, event: int, whole: Output) -> list[str]:
    """Return a row of the table of stripes: charge over that in the whole frame, by distance from the edge."""
    channels = [case.channels[edge_distances(case) == distance] for distance in DISTANCES]
    charges = [
        (measures.charge(output.rows(each, event=event)), measures.charge(whole.rows(each)))
        for each in channels
    ]
    return [case.view, *(f"{measures.ratio(*each):.3f}" for each in charges)]


def run(context: Context, found: Findings) -> None:
    """Process the default event with few channels of one view, an event for each case."""
    jobs, views = context.jobs, planes("pdhd", 0)
    whole = jobs.pipeline(jobs.input("default-event", default_event), detname="pdhd", noise_filter=NO_STEP)
    few = list(cases(views, {view: whole.rows(ids).sum(axis=1) for view, ids in views.items()}))
    stripes = [striped(view, ids) for view, ids in views.items()]

    def frames() -> Iterator[Frame]:
        event = default_event()
        for ident, case in enumerate((*few, *stripes)):
            yield with_few(event, case, views[case.view], ident)

    output = jobs.pipeline(jobs.input("few-channels", frames), detname="pdhd", noise_filter=NO_STEP)
    rows = []
    differences: dict[str, list[float]] = {LONG: [], SHORT: [], SCATTERED: []}
    shares: dict[str, list[float]] = {LONG: [], SHORT: [], SCATTERED: []}
    for event, case in enumerate(few):
        seen, true = output.rows(case.inner, event=event), whole.rows(case.inner)
        ratio = measures.ratio(measures.charge(seen), measures.charge(true))
        count = len(case.channels)
        group = SCATTERED if case.kind == SCATTERED else SHORT if count < LONG_COUNT else LONG
        differences[group].append(abs(ratio - 1))
        of_case = (measures.roi_share(true), measures.roi_share(seen))
        shares[group].append(abs(measures.ratio(of_case[1], of_case[0]) - 1))
        rows.append(
            [case.view, str(count), case.kind, f"{measures.charge(true):.2f}", f"{ratio:.3f}"]
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
    title = f"Charge over that in the whole frame, by distance from the edge of pieces of {STRIPE} channels"
    distances = [distance_row(case, output, len(few) + index, whole) for index, case in enumerate(stripes)]
    found.tables.append(Table(title, ["view", *map(str, DISTANCES)], distances))


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
            at_most(
                f"{group}{key}",
                f"largest difference of the {figure}, {which}",
                0.02,
                exception="" if group == LONG else ABSENT,
                worst=worst,
            )
            for key, figure, worst in (("", "charge", 0.75), (" ROIs", "share in ROIs", 0.35))
            for group, which in (
                (LONG, f"{LONG_COUNT} and more channels in one piece"),
                (SHORT, "1 and 8 channels in one piece"),
                (SCATTERED, "scattered channels"),
            )
        ),
    ),
    run,
)
