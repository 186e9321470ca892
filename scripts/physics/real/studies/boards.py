# SPDX-License-Identifier: Apache-2.0
"""Shared noise of one front-end board on the default event: it must be removed, not masked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scripts.output import Table
from scripts.wcb.checkout import ROOT
from spng import Frame, planes, read_frames

from .. import measures
from ..bars import Limit
from ..study import Context, Findings, Study

ADC = ROOT / "data" / "tracks10-adc.tar.bz2"
BOARD = slice(280, 320)  # channels of U that share a board
SHARED_ADC, SHARED_HZ, SEED = 28.0, 30e3, 20  # RMS, highest frequency and seed of the shared wave
TICK_S = 0.5e-6
CLEAN = "clean"
STEPS = ("none", "channels", "coherent", "channels,coherent")


def default_event() -> Frame:
    """Return the event in data/."""
    return next(read_frames(ADC))


def shared_wave(ticks: int) -> np.ndarray:
    """Return a random wave (tick,) of frequencies up to SHARED_HZ with an RMS of SHARED_ADC."""
    frequencies = np.fft.rfftfreq(ticks, TICK_S)
    parts = np.random.default_rng(SEED).normal(size=(2, len(frequencies)))
    spectrum = np.where((frequencies > 0) & (frequencies < SHARED_HZ), parts[0] + 1j * parts[1], 0)
    wave = np.fft.irfft(spectrum, ticks)
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
    rows, charges = [], {}
    cases = [(CLEAN, clean, "none")] + [("28 ADC shared", shared, steps) for steps in STEPS]
    for label, given, steps in cases:
        output = jobs.pipeline(given, detname="pdhd", noise_filter=steps)
        of_views = [measures.charge(output.rows(channels)) for channels in views.values()]
        charges[label, steps] = of_views[0]
        share = measures.roi_share(output.rows(views["U"]))
        lost = measures.whole_readout(output.events[0].masks.get("bad"), output.rows(views["U"]).shape[1])
        rows.append(
            [label, steps, *(f"{each:.1f}" for each in of_views), f"{100 * share:.2f}", str(len(lost))]
        )
    found.values["charge"] = measures.ratio(
        charges["28 ADC shared", "channels,coherent"], charges[CLEAN, "none"]
    )
    heads = [
        "event",
        "noise_filter",
        "U [10^6 e]",
        "V [10^6 e]",
        "W [10^6 e]",
        "U in ROIs [%]",
        "masked channels",
    ]
    found.tables.append(Table("Shared noise of a board", heads, rows, 2))


STUDY = Study(
    "boards",
    "A board with shared noise",
    (
        "The simulated default event of ProtoDUNE-HD, with a wave below 30 kHz of 28 ADC RMS on the 40 channels of one board of U.",
    ),
    (Limit("charge", "charge of U with `channels,coherent` / charge without shared noise", 0.99, 1.01),),
    run,
)
