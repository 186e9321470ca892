# SPDX-License-Identifier: Apache-2.0
"""Published charge of real events: its statistics, and the closure on it (waveforms made of it, processed, compared)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scripts.output import Table
from scripts.wcb.checkout import ROOT
from spng import Frame, metrics, planes, read_frames

from ...program import JobFailed
from .. import measures
from ..datasets import PublicFile
from ..pictures import Panel
from ..study import Context, Findings, first_lines

FROM_CHARGE = ROOT / "cfg" / "from_charge.jsonnet"
TRUE_ELECTRONS = 1500.0  # in a tick of a pixel that must be found
SHORT_PULSE = 100  # ticks, 50 us: longer pulses of induction views are hardly above their slow noise
VIEWS = ("U", "V", "W")


@dataclass(frozen=True)
class Event:
    """A published event. tag: of its charge; models: networks of the closure."""

    file: PublicFile
    detector: str
    anode: int
    tag: str
    models: tuple[str, ...] = ("none",)


def published_rows(event: Event, frame: Frame, views: dict[str, np.ndarray]) -> list[list[str]]:
    """Return the rows of the published charge, by view."""
    traces = frame[event.tag]
    lost = masked_channels(frame)
    rows = []
    for view, channels in views.items():
        charge = traces.rows(channels)
        rows.append(
            [
                view,
                str(np.isin(channels, traces.channels).sum()),
                str(np.isin(channels, lost).sum()),
                f"{measures.charge(charge):.1f}",
                f"{100 * measures.roi_share(charge):.2f}",
            ]
        )
    return rows


def charge_alone(event: Event, frame: Frame) -> Frame:
    """Return the frame with the published charge and its masks alone."""
    traces = frame[event.tag]
    samples = np.asarray(traces.dense(), dtype=np.float32)
    return replace(frame, traces={event.tag: replace(traces, samples=samples, summary=None)}, notes={})


def good_channels(frame: Frame, channels: np.ndarray) -> np.ndarray:
    """Return the channels without a mask."""
    return np.setdiff1d(channels, masked_channels(frame))


def masked_channels(frame: Frame) -> np.ndarray:
    """Return the channels in the mask `bad`, ascending."""
    return np.unique(frame.masks.get("bad", np.zeros((0, 3), np.int64))[:, 0])


def closure(
    context: Context, event: Event, frame: Frame, views: dict[str, np.ndarray], found: Findings
) -> dict[str, np.ndarray]:
    """Add the table and values of the closure; return the charge of the first network by view."""
    jobs = context.jobs
    charge = jobs.input(f"{event.detector}-charge", lambda: charge_alone(event, frame))
    common: dict[str, Any] = {"detname": event.detector, "tpcid": event.anode}
    adc = jobs.make(FROM_CHARGE, charge, f"{event.detector}-adc", intag=event.tag, seed=1, **common)
    rows, seen = [], {}
    for model in event.models:
        # The charge is smeared, so pulses look wider than the response.
        output = jobs.pipeline(adc, model=model, noise_filter="none", check_input="false", **common)
        for view, channels in views.items():
            used = good_channels(frame, channels)
            signal, truth = output.rows(used), frame[event.tag].rows(used)
            counts = metrics.count(signal, truth, electrons=TRUE_ELECTRONS)
            charge_ratio, efficiency = (metrics.RATIOS[name](counts) for name in ("charge", "efficiency"))
            is_short = measures.longest_pulses(truth) <= SHORT_PULSE
            short = measures.ratio(measures.charge(signal[is_short]), measures.charge(truth[is_short]))
            rows.append(
                [
                    *("rule" if model == "none" else "DNNROI", view, f"{charge_ratio:.3f}", f"{short:.3f}"),
                    f"{100 * (~is_short).sum() / len(used):.1f}",
                    *(f"{efficiency:.4f}", f"{100 * measures.roi_share(signal):.2f}"),
                ]
            )
            if model == event.models[0]:
                seen[view] = output.rows(channels)
                found.values |= {f"charge {view}": charge_ratio, f"efficiency {view}": efficiency}
    heads = ["ROIs", "view", "charge / published", "with short pulses only", "channels with longer ones [%]"]
    heads += [f"efficiency above {TRUE_ELECTRONS:g} e", "in ROIs [%]"]
    found.tables.append(Table("Closure", heads, rows, 2))
    return seen


def run(context: Context, event: Event, picture: str, found: Findings) -> None:
    """Measure the published charge, then the closure on it."""
    path = context.folder.need(event.file.name)
    frame = next(read_frames(path))
    views = planes(event.detector, event.anode)
    heads = ["view", "channels", "masked", "charge [10^6 e]", "samples with charge [%]"]
    found.tables.append(Table("Published result", heads, published_rows(event, frame, views)))
    published = {view: frame[event.tag].rows(channels) for view, channels in views.items()}
    first = {view: int(channels[0]) for view, channels in views.items()}
    try:
        seen = closure(context, event, frame, views, found)
    except JobFailed as problem:
        found.problems.append(first_lines(problem))
        seen = {}
    shown = []
    for view in VIEWS:
        shown.append(Panel(f"{view}, published", published[view], first[view]))
        if seen:
            shown.append(Panel(f"{view}, closure", seen[view], first[view]))
    columns = 2 if seen else 1
    found.pictures.append(
        (
            context.gallery.images(picture, shown, columns),
            f"Charge of the event{' and closure' if seen else ''}.",
        )
    )
