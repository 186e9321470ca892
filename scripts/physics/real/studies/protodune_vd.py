# SPDX-License-Identifier: Apache-2.0
"""The published event of ProtoDUNE-VD: its channels must be accepted, and the closure on it."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np

from scripts.output import Table
from spng import Frame, Traces, read_frames

from ...program import JobFailed
from ..bars import Limit, at_least
from ..datasets import PDVD, VD_FRAMES, DataMissing
from ..study import Context, Findings, Study, first_lines
from . import protodune

EVENT = protodune.Event(PDVD, "pdvd_bottom", 0, "gauss0")
FIRST_TOP_ANODE = 4
TICKS, NOISE_ADC, BASELINE = 2000, 3.0, 2048  # of the frame whose channels are tried
LOWEST, HIGHEST, EFFICIENCY = 0.90, 1.10, 0.99


def channels_of(path: Path) -> tuple[int, np.ndarray]:
    """Return the anode of a published file, from its name, and the channels of its frame."""
    anode = int(re.findall(r"anode(\d+)", path.name)[-1])
    return anode, next(iter(next(read_frames(path)).traces.values())).channels


def noise_frame(channels: np.ndarray) -> Frame:
    """Return noise on these channels."""
    noise = np.random.default_rng(1).normal(BASELINE, NOISE_ADC, (len(channels), TICKS))
    return Frame({"*": Traces("*", np.rint(noise).astype(np.int16), channels)})


def accepted(context: Context, found: Findings) -> list[list[str]]:
    """Process noise with the channels of each published frame; return the rows of the table."""
    files = context.folder.every(VD_FRAMES)
    if not files:
        raise DataMissing(f"{VD_FRAMES} is not in {context.folder.path}")
    rows, right = [], 0
    for path in files:
        anode, channels = channels_of(path)
        detector = "pdvd_top" if anode >= FIRST_TOP_ANODE else "pdvd_bottom"
        given = context.jobs.input(f"vd-channels-{anode}", partial(noise_frame, channels))
        try:
            context.jobs.pipeline(
                given, detname=detector, tpcid=anode, noise_filter="none", check_input="false"
            )
            result, right = "accepted", right + 1
        except JobFailed as problem:
            found.problems.append(first_lines(problem))
            result = first_lines(problem)
        rows.append([str(anode), detector, str(len(channels)), result])
    found.values["accepted"] = right / len(files)
    return rows


def run(context: Context, found: Findings) -> None:
    """Try the channels, then measure the event and the closure on it."""
    heads = ["anode", "detector", "channels", "result"]
    found.tables.append(Table("Channels of the published frames", heads, accepted(context, found), 4))
    protodune.run(context, EVENT, "real-pdvd", found)


STUDY = Study(
    "pdvd",
    "ProtoDUNE-VD: channels and charge of data",
    (
        "As for ProtoDUNE-HD; and noise on all channels of each published frame, with the channel ids of data.",
        "Most of the missing charge of U and V is on the few channels with pulses above 50 us: tracks that go along the drift.",
    ),
    (
        at_least("accepted", "share of the published frames whose channels are accepted", 1.0),
        *(
            Limit(f"charge {view}", f"closure, charge of {view} / published", LOWEST, HIGHEST)
            for view in protodune.VIEWS
        ),
        *(
            at_least(
                f"efficiency {view}",
                f"closure, efficiency of {view} above 1500 electrons",
                EFFICIENCY,
                digits=4,
            )
            for view in protodune.VIEWS
        ),
    ),
    run,
)
