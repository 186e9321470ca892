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
FAULTY, MASKED, TONE = range(EVENTS)
DEAD, NOISY, LISTED = 30, 90, 130  # one channel of each plane
TONE_KHZ, TONE_COUNTS = 50.3, 8.0


def masks(output: wire_cell.Arrays, ident: int) -> dict[str, list[list[int]]]:
    """Channel masks of an event, by name."""
    return {
        name.removeprefix("chanmask_").removesuffix(f"_{ident}"): array.tolist()
        for name, array in output.items()
        if name.startswith("chanmask_") and name.endswith(f"_{ident}")
    }


def whole(*channels: int) -> list[list[int]]:
    return [[channel, 0, TICKS] for channel in channels]


@pytest.fixture(name="clean", scope="module")
def fixture_clean(site: Site) -> np.ndarray:
    """A frame with a track and noise, without faults: (channel, tick) [counts]."""
    return site.busy_frames(1, TICKS)["frame_*_0"].astype(np.float64)


@pytest.fixture(name="frames", scope="module")
def fixture_frames(site: Site, clean: np.ndarray) -> wire_cell.Arrays:
    """The frame with faults; the same with a mask of the faulty channels; the frame with a tone on all channels."""
    faulty = clean.copy()
    faulty[DEAD] = 2345
    faulty[NOISY] += np.random.default_rng(5).normal(0, 3 * NOISE_COUNTS, TICKS)
    tone = clean + TONE_COUNTS * np.sin(2e-6 * np.pi * TONE_KHZ * TICK_NS * np.arange(TICKS))
    arrays: wire_cell.Arrays = {}
    for ident, rows in {FAULTY: faulty, MASKED: faulty, TONE: tone}.items():
        counts = np.clip(np.rint(rows), 0, 2**14 - 1).astype(np.int16)
        arrays |= wire_cell.event(counts, site.anode.channels, ident)
        if ident == MASKED:
            arrays[f"chanmask_bad_{ident}"] = np.array(whole(DEAD, NOISY), dtype=np.int32)
    return arrays


@pytest.fixture(name="output", scope="module")
def fixture_output(site: Site, frames: wire_cell.Arrays) -> wire_cell.Arrays:
    (site.folder / "bad.json").write_text(json.dumps({"bad": [LISTED]}), encoding="utf-8")
    return site.job(frames, noise_filter="channels,lines", bad_channels="bad.json", dump="adc")


def test_channels_are_listed(output: wire_cell.Arrays) -> None:
    """The names are those of the Wire-Cell Toolkit: `bad` for all, `noisy` for those with too much noise."""
    listed = {
        ident: {name: sorted(rows) for name, rows in masks(output, ident).items()} for ident in range(EVENTS)
    }
    assert listed[FAULTY] == {"bad": whole(DEAD, NOISY, LISTED), "noisy": whole(NOISY)}
    assert listed[MASKED] == {"bad": whole(DEAD, NOISY, LISTED)}
    assert listed[TONE] == {"bad": whole(LISTED)}


def test_charge_is_that_of_masked_channels(output: wire_cell.Arrays) -> None:
    charge = [output[f"frame_signal_{ident}"] for ident in range(EVENTS)]
    assert charge[TONE][[DEAD, NOISY]].any(axis=1).all()
    assert not charge[FAULTY][[DEAD, NOISY, LISTED]].any()
    np.testing.assert_array_equal(charge[FAULTY], charge[MASKED])


def test_tone_is_removed(site: Site, clean: np.ndarray, output: wire_cell.Arrays) -> None:
    wave = np.exp(-2e-6j * np.pi * TONE_KHZ * TICK_NS * np.arange(TICKS)) * 2 / TICKS
    for group in ("induction", "collection"):
        tap = wire_cell.read_arrays(site.folder / f"output-adc-{group}.npz")
        rows, ids = (tap[f"{group}{name}_{TONE}"] for name in ("", "_ids"))
        left = rows.reshape(-1, TICKS) - clean[ids.reshape(-1)]
        left = left[ids.reshape(-1) != LISTED]
        assert abs((left @ wave).mean()) < 0.05 * TONE_COUNTS


def test_unknown_channels_end_the_job_before_the_first_event(site: Site, frames: wire_cell.Arrays) -> None:
    """Three channels of the file, and the three with other electronics of the small detector."""
    wire_cell.write_arrays(site.folder / "adc.npz", frames)
    (site.folder / "unknown.json").write_text(json.dumps({"bad": [3, 154, 9999]}), encoding="utf-8")
    words = [f"{name}={value}" for name, value in {"input": "adc.npz", "output": "unknown.npz"}.items()]
    block = wire_cell.rejected(
        "-c",
        wire_cell.PIPELINE,
        *site.flags,
        *wire_cell.settings(*words, "device=cpu", "bad_channels=unknown.json"),
        folder=site.folder,
        status=2,
    )
    assert "channels that the detector lacks" in block and "2 of 6 channels: 154, 9999" in block
    assert "0 to 153" in block and "unknown.json" in block
    assert not list(site.folder.glob("unknown.npz*"))
