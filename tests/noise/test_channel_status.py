# SPDX-License-Identifier: Apache-2.0
"""Dead and noisy channels, and listed bad channels, are treated as channels that the input masks, and are listed."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.support import wire_cell
from tests.support.small_site import NOISE_COUNTS, TICK_NS, Site

pytestmark = wire_cell.needs_program

TICKS, EVENTS = 1200, 3
FAULTY, MASKED, CLEAN = range(EVENTS)
DEAD, NOISY, LISTED = 20, 90, 140  # one channel of each plane
TONE_KHZ, TONE_COUNTS = 50.3, 20.0


def masks(output: wire_cell.Arrays, ident: int) -> dict[str, list[list[int]]]:
    """Channel masks of an event, by name."""
    return {
        name.removeprefix("chanmask_").removesuffix(f"_{ident}"): array.tolist()
        for name, array in output.items()
        if name.startswith("chanmask_") and name.endswith(f"_{ident}")
    }


def whole(*channels: int) -> list[list[int]]:
    return [[channel, 0, TICKS] for channel in channels]


@pytest.fixture(name="frames", scope="module")
def fixture_frames(site: Site) -> wire_cell.Arrays:
    """A frame with faults and a tone on all channels; the same with a mask of the faulty channels; one without faults."""
    [samples] = [
        array
        for name, array in site.busy_frames(1, TICKS).items()
        if name.startswith("frame")
    ]
    tone = TONE_COUNTS * np.sin(2e-6 * np.pi * TONE_KHZ * TICK_NS * np.arange(TICKS))
    clean = samples + tone
    faulty = clean.copy()
    faulty[DEAD] = 2345
    faulty[NOISY] += np.random.default_rng(5).normal(0, 3 * NOISE_COUNTS, TICKS)
    arrays: wire_cell.Arrays = {}
    for ident, rows in {FAULTY: faulty, MASKED: faulty, CLEAN: clean}.items():
        counts = np.clip(np.rint(rows), 0, 2**14 - 1).astype(np.int16)
        arrays |= wire_cell.event(counts, site.anode.channels, ident)
    arrays[f"chanmask_bad_{MASKED}"] = np.array(whole(DEAD, NOISY), dtype=np.int32)
    return arrays


@pytest.fixture(name="output", scope="module")
def fixture_output(site: Site, frames: wire_cell.Arrays) -> wire_cell.Arrays:
    (site.folder / "bad.json").write_text(json.dumps({"bad": [LISTED]}), encoding="utf-8")
    return site.job(frames, noise_filter="channels,lines", bad_channels="bad.json", dump="adc")


def test_channels_are_listed(output: wire_cell.Arrays) -> None:
    """The names are those of the Wire-Cell Toolkit: `bad` for all, `noisy` for those with too much noise."""
    listed = {ident: {name: sorted(rows) for name, rows in masks(output, ident).items()} for ident in range(EVENTS)}
    assert listed[FAULTY] == {"bad": whole(DEAD, NOISY, LISTED), "noisy": whole(NOISY)}
    assert listed[MASKED] == {"bad": whole(DEAD, NOISY, LISTED)}
    assert listed[CLEAN] == {"bad": whole(LISTED)}


def test_charge_is_that_of_masked_channels(output: wire_cell.Arrays) -> None:
    charge = [output[f"frame_signal_{ident}"] for ident in range(EVENTS)]
    assert not charge[FAULTY][[DEAD, NOISY, LISTED]].any()
    assert charge[CLEAN].any(axis=1)[[DEAD, NOISY]].sum() + charge[FAULTY].any() >= 1
    np.testing.assert_array_equal(charge[FAULTY], charge[MASKED])


def test_tone_is_removed_first(site: Site, frames: wire_cell.Arrays, output: wire_cell.Arrays) -> None:
    """The tone of all channels is gone, also where a channel is noisy."""
    wave = np.exp(-2e-6j * np.pi * TONE_KHZ * TICK_NS * np.arange(TICKS)) * 2 / TICKS
    for group in ("induction", "collection"):
        tap = wire_cell.read_arrays(site.folder / f"output-adc-{group}.npz")
        rows, ids = tap[f"{group}_{CLEAN}"].reshape(-1, TICKS), tap[f"{group}_ids_{CLEAN}"].reshape(-1)
        left = (rows @ wave)[ids != LISTED]
        assert abs(left.mean()) < 0.05 * TONE_COUNTS


def test_unknown_channels_end_the_job_before_the_first_event(site: Site, frames: wire_cell.Arrays) -> None:
    wire_cell.write_arrays(site.folder / "adc.npz", frames)
    (site.folder / "unknown.json").write_text(json.dumps({"bad": [3, 154, 9999]}), encoding="utf-8")
    words = [f"{name}={value}" for name, value in {"input": "adc.npz", "output": "unknown.npz"}.items()]
    block = wire_cell.rejected(
        "-c",
        wire_cell.PIPELINE,
        *site.flags,
        *(word for each in (*words, "device=cpu", "bad_channels=unknown.json") for word in ("-A", each)),
        folder=site.folder,
        status=2,
    )
    assert "channels that the detector lacks" in block and "2 of 3 channels: 154, 9999" in block
    assert "0 to 153" in block and "unknown.json" in block
    assert not list(site.folder.glob("unknown.npz*"))
