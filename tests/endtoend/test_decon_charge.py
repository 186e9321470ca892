# SPDX-License-Identifier: Apache-2.0
"""The tag decon_charge: the deconvolved charge before ROIs, with a baseline of 0."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import wire_cell
from tests.support.small_site import Site

pytestmark = wire_cell.needs_program

TICKS = 600
DEAD = 30  # on U


def test_is_the_gauss_waveform_less_the_median_of_each_channel(site: Site) -> None:
    frames = site.busy_frames(1, TICKS)
    frames["chanmask_bad_0"] = np.array([[DEAD, 0, TICKS]], np.int32)
    out = site.job(frames, tags="signal,decon_charge,roi", dump="gauss", model="none")
    seen = out["frame_decon_charge_0"]
    offsets = []
    for group in ("induction", "collection"):
        dumped = wire_cell.read_arrays(site.folder / f"output-gauss-{group}.npz")
        channels, waveforms = dumped["gauss_ids_0"].reshape(-1), dumped["gauss_0"].reshape(-1, TICKS)
        medians = np.sort(waveforms, axis=1)[:, (TICKS - 1) // 2 : (TICKS + 1) // 2]
        offsets.append(medians[channels != DEAD])
        expected = np.where((channels == DEAD)[:, None], 0, waveforms - medians)
        np.testing.assert_array_equal(seen[channels], expected)
    assert np.abs(np.concatenate(offsets)).max() > 1000  # there is a baseline to remove [electrons per tick]
    # The charge within an ROI is that of the signal but for the line through the ends of the ROI.
    inside = out["frame_roi_0"] > 0
    collection = site.anode.views[-1].channels
    charge = seen[collection][inside[collection]].sum(dtype=float)
    assert charge == pytest.approx(out["frame_signal_0"][collection].sum(dtype=float), rel=0.03)


def test_gauss_is_another_name(site: Site) -> None:
    """Of the charge within ROIs in other programs, of the charge before ROIs in earlier versions."""
    block = wire_cell.rejected(
        "-c", wire_cell.PIPELINE, *site.flags, "-A", "tags=signal,gauss", folder=site.folder, status=2
    )
    assert "unknown tag gauss" in block and "did you mean signal" in block and "decon_charge" in block
