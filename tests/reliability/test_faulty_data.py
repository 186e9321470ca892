# SPDX-License-Identifier: Apache-2.0
"""Frames without content; tests/endtoend/test_bad_channels.py has faults of channels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support import wire_cell
from tests.support.measured_runs import main_job, names, run
from tests.support.small_site import Site

pytestmark = [wire_cell.needs_program, pytest.mark.reliability]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [30, 130])
def test_one_sample_that_is_no_number_counts_as_a_missing_channel(site: Site, row: int, value: float) -> None:
    """Of an induction and of a collection channel; the other channels are equal to the last bit."""
    event = site.busy_frames(1, 600)
    samples, channels = event["frame_*_0"].astype(np.float32), event["channels_*_0"]
    given = {"model": "none", "tags": "signal,decon_charge"}
    missing = site.job(wire_cell.event(np.delete(samples, row, 0), np.delete(channels, row)), **given)
    samples[row, 17] = value
    found = site.job(wire_cell.event(samples, channels), **given)
    assert found["chanmask_nan_0"][:, 0].tolist() == [channels[row]]
    for tag in ("signal", "decon_charge"):
        assert missing[f"frame_{tag}_0"].any()
        np.testing.assert_array_equal(found[f"frame_{tag}_0"], missing[f"frame_{tag}_0"])


def test_samples_that_are_all_zero(site: Site) -> None:
    """They lie at the end of the scale."""
    event = site.busy_frames(1, 600)
    event["frame_*_0"] = np.zeros_like(event["frame_*_0"])
    found = site.job(event, model="none")
    assert not found["frame_signal_0"].any()
    assert set(found["chanmask_saturated_0"][:, 0]) == set(event["channels_*_0"])


def test_no_channel(site: Site, tmp_path: Path) -> None:
    wire_cell.write_arrays(tmp_path / "adc.npz", wire_cell.event(np.zeros((0, 600), np.int16), np.arange(0)))
    done = run(main_job(*site.flags), tmp_path)
    assert done.status == 1 and "channel" in done.errors and names(tmp_path) == ["adc.npz"]
