# SPDX-License-Identifier: Apache-2.0
"""Faults of a channel change no other channel, and none of another plane; frames without content."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support import wire_cell
from tests.support.measured_runs import main_job, names, run
from tests.support.small_site import Site

pytestmark = [wire_cell.needs_program, pytest.mark.reliability]

TAGS = ("signal", "decon_charge")
U, W = 30, 130  # rows of an induction and of a collection channel with charge


@pytest.fixture(name="event", scope="module")
def fixture_event(site: Site) -> wire_cell.Arrays:
    """An event of the small detector with a track."""
    return site.busy_frames(1, 600)


def processed(site: Site, arrays: wire_cell.Arrays) -> wire_cell.Arrays:
    """Return the output."""
    return site.job(arrays, model="none", tags=",".join(TAGS))


@pytest.fixture(name="clean", scope="module")
def fixture_clean(site: Site, event: wire_cell.Arrays) -> wire_cell.Arrays:
    """The output of the sound event."""
    return processed(site, event)


def frame(arrays: wire_cell.Arrays, tag: str) -> np.ndarray:
    """Return a frame by ascending channel id."""
    return arrays[f"frame_{tag}_0"][np.argsort(arrays[f"channels_{tag}_0"])]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, None], ids=str)
@pytest.mark.parametrize("row", [U, W])
def test_a_bad_channel_counts_as_missing(
    site: Site, event: wire_cell.Arrays, clean: wire_cell.Arrays, row: int, value: float | None
) -> None:
    """One sample that is no number, or a mask of the input."""
    samples, channels = event["frame_*_0"].astype(np.float32), event["channels_*_0"]
    missing = processed(site, wire_cell.event(np.delete(samples, row, 0), np.delete(channels, row)))
    arrays = wire_cell.event(samples, channels)
    if value is None:
        arrays["chanmask_bad_0"] = np.array([[channels[row], 0, samples.shape[1]]], np.int32)
    else:
        samples[row, 17] = value
    found = processed(site, arrays)
    assert frame(clean, "signal")[row].any() and not frame(found, "signal")[row].any()
    assert channels[row] in found["chanmask_bad_0" if value is None else "chanmask_nan_0"][:, 0]
    others = np.arange(len(channels)) != row
    for tag in TAGS:
        np.testing.assert_array_equal(frame(found, tag)[others], frame(missing, tag)[others])
    for view in site.anode.views:
        if channels[row] not in view.channels:
            rows = np.searchsorted(channels, view.channels)
            np.testing.assert_array_equal(
                frame(found, "decon_charge")[rows], frame(clean, "decon_charge")[rows]
            )


def test_samples_that_are_all_zero(site: Site, event: wire_cell.Arrays) -> None:
    """They lie at the end of the scale."""
    channels = event["channels_*_0"]
    found = processed(site, wire_cell.event(np.zeros_like(event["frame_*_0"]), channels))
    assert np.isfinite(frame(found, "decon_charge")).all() and not frame(found, "signal").any()
    assert set(found["chanmask_saturated_0"][:, 0]) == set(channels)


def test_no_channel(site: Site, event: wire_cell.Arrays, tmp_path: Path) -> None:
    wire_cell.write_arrays(tmp_path / "adc.npz", wire_cell.event(event["frame_*_0"][:0], np.arange(0)))
    done = run(main_job(*site.flags), tmp_path)
    assert done.status == 1 and "channel" in done.errors and names(tmp_path) == ["adc.npz"]
