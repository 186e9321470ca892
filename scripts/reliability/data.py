# SPDX-License-Identifier: Apache-2.0
"""R14: faulty data. Each fault is an event of its own, so that a job that rejects one shows its status."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scripts.output import Table
from tests.support import wire_cell

from .row import Outcome, judge
from .work import TICKS, Work, names, run

TAGS = "signal,decon_charge"
FULL_SCALE = 2**14 - 1
WIRES = 5  # to which a channel's charge spreads
Samples = np.ndarray


@dataclass(frozen=True)
class Fault:
    """A fault of an event.

    make   samples (channel, tick) int16 and channel ids -> the faulty event
    bad    row of the channel that is wrong, or None
    mask   channel mask that must list it
    words  of the message, if the event is rejected
    """

    name: str
    make: Callable[[Samples, Samples], wire_cell.Arrays]
    bad: int | None = None
    mask: str = ""
    words: tuple[str, ...] = ()


def with_value(row: int, tick: int, value: float) -> Callable[[Samples, Samples], wire_cell.Arrays]:
    """Return a function that sets one sample."""

    def make(samples: Samples, channels: Samples) -> wire_cell.Arrays:
        real = samples.astype(np.float32)
        real[row, tick] = value
        return wire_cell.event(real, channels)

    return make


def without_rows(rows: list[int]) -> Callable[[Samples, Samples], wire_cell.Arrays]:
    """Return a function that leaves out rows."""
    return lambda samples, channels: wire_cell.event(np.delete(samples, rows, 0), np.delete(channels, rows))


def dead(row: int) -> Callable[[Samples, Samples], wire_cell.Arrays]:
    """Return a function that masks a channel."""
    return lambda samples, channels: {
        **wire_cell.event(samples, channels),
        "chanmask_bad_0": np.array([[channels[row], 0, samples.shape[1]]], np.int32),
    }


def saturated(row: int) -> Callable[[Samples, Samples], wire_cell.Arrays]:
    """Return a function that puts some ticks at the end of the scale."""

    def make(samples: Samples, channels: Samples) -> wire_cell.Arrays:
        changed = samples.copy()
        changed[row, 300:310] = FULL_SCALE
        return wire_cell.event(changed, channels)

    return make


def duplicate(samples: Samples, channels: Samples) -> wire_cell.Arrays:
    """Give two rows the same channel id."""
    changed = channels.copy()
    changed[7] = changed[130]
    return wire_cell.event(samples, changed)


def shuffled(samples: Samples, channels: Samples) -> wire_cell.Arrays:
    """Put the rows into another order."""
    order = np.random.default_rng(4).permutation(len(channels))
    return wire_cell.event(samples[order], channels[order])


U, W = 30, 130  # rows of an induction and of a collection channel with charge
FAULTS = (
    Fault("NaN in a U channel", with_value(U, 17, np.nan), U, "nan"),
    Fault("NaN in a W channel", with_value(W, 17, np.nan), W, "nan"),
    Fault("+Inf in a U channel", with_value(U, 300, np.inf), U, "nan"),
    Fault("-Inf in a W channel", with_value(W, 300, -np.inf), W, "nan"),
    Fault("dead U channel (mask bad)", dead(U), U, "bad"),
    Fault("dead W channel (mask bad)", dead(W), W, "bad"),
    Fault("missing U channel", without_rows([U]), U, "missing"),
    Fault("missing W channel", without_rows([W]), W, "missing"),
    Fault("saturated samples", saturated(W), mask="saturated"),
    Fault("all samples zero", lambda samples, channels: wire_cell.event(np.zeros_like(samples), channels)),
    Fault("channels in another order", shuffled),
    Fault("duplicate channel", duplicate, words=("130", "channel")),
    Fault("zero ticks", lambda samples, channels: wire_cell.event(samples[:, :0], channels), words=("tick",)),
    Fault(
        "channels of another anode",
        lambda samples, channels: wire_cell.event(samples, channels + len(channels)),
        words=("do not belong to the anode", "tpcid"),
    ),
    Fault("no channel at all", without_rows(list(range(154))), words=("channel",)),
)


def signal(arrays: wire_cell.Arrays, tag: str = "signal") -> np.ndarray:
    """Return a frame by ascending channel id."""
    return arrays[f"frame_{tag}_0"][np.argsort(arrays[f"channels_{tag}_0"])]


def listing(ids: list[int]) -> str:
    """Return a few channel ids, or their count."""
    return f"channel {', '.join(map(str, ids))}" if len(ids) < 5 else f"{len(ids)} channels"


def faults(work: Work) -> Outcome:
    """Measure R14."""
    samples, channels = work.event["frame_*_0"], work.event["channels_*_0"]
    site = work.site

    def processed(arrays: wire_cell.Arrays) -> wire_cell.Arrays:
        return site.job(arrays, model="none", tags=TAGS)

    clean = processed(work.event)
    zeroed = {row: processed(without_rows([row])(samples, channels)) for row in (U, W)}
    planes = {view.name: np.searchsorted(channels, view.channels) for view in site.anode.views}
    rows, misses, spread, leaks = [], [], [], []
    for index, fault in enumerate(FAULTS):
        folder = work.new(f"fault{index}")
        wire_cell.write_arrays(folder / "adc.npz", fault.make(samples, channels))
        done = run(work.small_job(tags=TAGS), folder)
        if fault.words:
            text = "; ".join(re.findall(r"^(?:error|  seen): +(.*)", done.errors, re.MULTILINE))
            rows.append([fault.name, str(done.status), f"rejected: {text}", "", ""])
            if (
                done.status != 1
                or names(folder) != ["adc.npz"]
                or not all(word in done.errors for word in fault.words)
            ):
                misses.append(f"{fault.name}: status {done.status}, {text}")
            continue
        if done.status != 0:
            misses.append(f"{fault.name}: status {done.status}")
            rows.append([fault.name, str(done.status), done.errors.partition("\n")[0], "", ""])
            continue
        found = wire_cell.read_arrays(folder / "out.npz")
        listed = {
            name.removeprefix("chanmask_").removesuffix("_0"): sorted({int(row[0]) for row in array})
            for name, array in found.items()
            if name.startswith("chanmask_")
        }
        if not all(np.isfinite(signal(found, tag)).all() for tag in TAGS.split(",")):
            misses.append(f"{fault.name}: the output is not finite")
        behaviour = ", ".join(f"{listing(ids)} in mask {name}" for name, ids in listed.items()) or "no mask"
        if fault.mask and fault.mask not in listed:
            misses.append(f"{fault.name}: {behaviour}, expected mask {fault.mask}")
        elif fault.mask and fault.bad is not None and channels[fault.bad] not in listed[fault.mask]:
            misses.append(f"{fault.name}: {behaviour}, expected channel {channels[fault.bad]}")
        elsewhere = other_planes = ""
        if fault.bad is not None:
            rest = np.arange(len(channels)) != fault.bad
            leak = max(
                float(np.abs(signal(found, tag)[rest] - signal(zeroed[fault.bad], tag)[rest]).max())
                for tag in TAGS.split(",")
            )
            change = np.abs(signal(found, "decon_charge") - signal(clean, "decon_charge")).max(axis=1)
            own = next(rows_of for rows_of in planes.values() if fault.bad in rows_of)
            others = np.setdiff1d(np.arange(len(channels)), own)
            far = own[np.abs(own - fault.bad) > WIRES]
            beyond = np.abs(signal(found)[far] - signal(clean)[far]).max() / np.abs(signal(clean)[own]).max()
            elsewhere, other_planes = f"{leak:g}", f"{change[others].max():g}; {beyond:.0e}"
            leaks.append(leak)
            spread.append(float(change[others].max()))
            if signal(found)[fault.bad].any():
                misses.append(f"{fault.name}: its output is not zero")
            if leak:
                misses.append(f"{fault.name}: changes other channels by {leak:g} electrons")
        same = all(np.array_equal(signal(found, tag), signal(clean, tag)) for tag in TAGS.split(","))
        behaviour += "; output of the sound event" if same else ""
        if fault.name.startswith("channels in another") and not same:
            misses.append(f"{fault.name}: another output")
        rows.append([fault.name, str(done.status), behaviour, elsewhere, other_planes])
    assert clean["frame_signal_0"][[U, W]].any(axis=1).all(), "the channels that become bad have charge"
    return judge(
        f"{len(FAULTS) - len({miss.partition(': ')[0] for miss in misses})} of {len(FAULTS)} faults with a defined behaviour; a channel with NaN, Inf or without samples changes all others as a row of zeros does: "
        f"max abs difference {max(leaks):g}; decon_charge of other planes {max(spread):g}",
        misses,
        f"Events of {TICKS} ticks of the small detector; tags {TAGS} [electrons].\n"
        "A bad channel is replaced by zeros before the transform across channels, so its neighbours lack the charge that it shared with them.",
        [
            Table(
                "Behaviours",
                [
                    "fault",
                    "status",
                    "behaviour",
                    "other channels, against a row of zeros [electrons]",
                    f"against the sound event: decon_charge of other planes [electrons]; signal beyond {WIRES} wires [of the largest]",
                ],
                rows,
                words=5,
            )
        ],
    )
