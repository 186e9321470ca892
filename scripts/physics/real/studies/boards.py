# SPDX-License-Identifier: Apache-2.0
"""Shared noise of one front-end board on the default event: it must be removed, not masked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scripts.output import Table
from scripts.wcb.checkout import ROOT
from spng import Frame, planes, read_frames

from .. import measures
from ..bars import Limit, at_least, at_most
from ..microboone import NO_STEP
from ..study import Context, Findings, Study

ADC = ROOT / "data" / "tracks10-adc.tar.bz2"
BOARD = slice(280, 320)  # channels of U that share a board
SHARED_ADC, SHARED_HZ, SEED = (
    28.0,
    30e3,
    20,
)  # RMS, frequency above which it falls, and seed of the shared wave
TICK_S = 0.5e-6
CLEAN, SHARED = "clean", f"{SHARED_ADC:g} ADC shared"
STEPS = (NO_STEP, "channels", "coherent", "channels,coherent")


def default_event() -> Frame:
    """Return the event in data/."""
    return next(read_frames(ADC))


def shared_wave(ticks: int) -> np.ndarray:
    """Return a random wave (tick,) with an RMS of SHARED_ADC, whose power falls to a quarter at SHARED_HZ."""
    frequencies = np.fft.rfftfreq(ticks, TICK_S)
    amplitude = np.where(frequencies > 0, 1 / (1 + (frequencies / SHARED_HZ) ** 2), 0)
    parts = np.random.default_rng(SEED).normal(size=(2, len(frequencies)))
    wave = np.fft.irfft(amplitude * (parts[0] + 1j * parts[1]), ticks)
    return SHARED_ADC * wave / wave.std()


def with_shared_noise(frame: Frame) -> Frame:
    """Return the event with the wave on one board."""
    traces = frame.only()
    samples = np.asarray(traces.dense()).copy()
    samples[BOARD] += np.rint(shared_wave(samples.shape[1])).astype(samples.dtype)
    return replace(frame, traces={traces.tag: replace(traces, samples=samples)})


def run(context: Context, found: Findings) -> None:
    """Process the event without and with shared noise."""
    jobs, views = context.jobs, planes("pdhd", 0)
    clean = jobs.input("default-event", default_event)
    shared = jobs.input("shared-noise", lambda: with_shared_noise(default_event()))
    rows, charges, losses = [], {}, []
    cases = [(CLEAN, clean, NO_STEP)] + [(SHARED, shared, steps) for steps in STEPS]
    for label, given, steps in cases:
        output = jobs.pipeline(given, detname="pdhd", noise_filter=steps)
        of_views = [measures.charge(output.rows(channels)) for channels in views.values()]
        board = output.rows(views["U"][BOARD])
        charges[label, steps] = measures.charge(board)
        losses.append(len(measures.whole_readout(output.events[0].masks.get("bad"), board.shape[1])))
        rows.append(
            [label, steps, *(f"{each:.1f}" for each in of_views), f"{charges[label, steps]:.2f}"]
            + [f"{100 * measures.roi_share(board):.2f}", str(losses[-1])]
        )
    clean_charge = charges[CLEAN, NO_STEP]
    found.values |= {
        "harm": abs(measures.ratio(charges[SHARED, NO_STEP], clean_charge) - 1),
        "charge": measures.ratio(charges[SHARED, "channels,coherent"], clean_charge),
        "masked": float(max(losses)),
    }
    heads = (
        "event, noise_filter, U [10^6 e], V [10^6 e], W [10^6 e], board [10^6 e], "
        "board in ROIs [%], masked channels"
    ).split(", ")
    found.tables.append(Table("Shared noise of a board", heads, rows, 2))


STUDY = Study(
    "boards",
    "A board with shared noise",
    (
        "The simulated default event of ProtoDUNE-HD, with a slow wave of 28 ADC RMS on the 40 channels of one board of U; its power "
        "falls to a quarter at 30 kHz.",
        "The wave must harm: the first bar shows that without steps it changes the charge of the board.",
    ),
    (
        at_least("harm", "change of the board's charge by the wave, without steps", 0.03),
        Limit(
            "charge", "charge of the board with `channels,coherent` / charge without shared noise", 0.99, 1.01
        ),
        at_most("masked", "most masked channels", 0, digits=0),
    ),
    run,
)
