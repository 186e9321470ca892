# SPDX-License-Identifier: Apache-2.0
"""ROIs from the truth and the charge in them, computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from scripts.physics import perfect_rois


def test_regions_are_true_pixels_and_two_ticks_more() -> None:
    truth = np.zeros((2, 30))
    truth[0, 9], truth[0, 17] = 101, 100  # only more than 100 electrons count
    truth[1, 1], truth[1, 27] = 500, 500
    found = perfect_rois.regions(truth)
    assert np.flatnonzero(found[0]).tolist() == list(range(6, 14))
    assert np.flatnonzero(found[1]).tolist() == [*range(6), *range(22, 30)]


@pytest.mark.parametrize("induction", [True, False])
def test_charge(induction: bool) -> None:
    """A pulse on a slope: on induction views the line through the ends of the ROI is subtracted."""
    truth = np.zeros((1, 40))
    truth[0, 16:20] = 1000
    waveform = truth + 5 * np.arange(40)
    seen = perfect_rois.charge(waveform, truth, induction)
    expected = np.zeros((1, 40))
    expected[0, 14:22] = (truth if induction else waveform)[0, 14:22]
    assert seen == pytest.approx(expected)
