# SPDX-License-Identifier: Apache-2.0
"""Ticks of masks count from the start of the frame, not from the first sample, as in the Wire-Cell Toolkit."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.support import wire_cell
from tests.support.small_site import Site

pytestmark = wire_cell.needs_program

TICKS = 600
CHANNEL, BEGIN, END = 130, 200, 330  # where the track crosses a channel of W
FIRST_TICKS = (0, 1000, -3)
EARLIER, OUTSIDE, NONE = 3, 4, 5  # events after those of FIRST_TICKS


@pytest.fixture(name="output", scope="module")
def fixture_output(site: Site) -> wire_cell.Arrays:
    """Process one frame with several first ticks, with the same samples masked; OUTSIDE has a range before them too."""
    (samples,) = (array for name, array in site.busy_frames(1, TICKS).items() if name.startswith("frame"))
    notes = np.frombuffer(json.dumps({"model": "none"}).encode(), np.uint8)
    masks = {ident: [[CHANNEL, first + BEGIN, first + END]] for ident, first in enumerate(FIRST_TICKS)}
    masks |= {
        EARLIER: [[CHANNEL, BEGIN, END]],
        OUTSIDE: [[CHANNEL, 0, 1000], [CHANNEL, 1000 + BEGIN, 1000 + END], [CHANNEL + 1, 1000 + TICKS, 9999]],
        NONE: [],
    }
    arrays: wire_cell.Arrays = {}
    for ident, rows in masks.items():
        arrays |= wire_cell.event(samples, site.anode.channels, ident)
        arrays[f"tickinfo_*_{ident}"][2] = FIRST_TICKS[ident] if ident < len(FIRST_TICKS) else 1000
        if rows:
            arrays[f"chanmask_bad_{ident}"] = np.array(rows, np.int32)
        if ident == EARLIER:
            arrays[f"notes_spng_{ident}"] = notes
    return site.job(arrays, model="none", check_input="false")


def test_the_same_samples_are_masked(output: wire_cell.Arrays) -> None:
    expected = output["frame_signal_0"]
    for ident in (1, 2, EARLIER, OUTSIDE):
        np.testing.assert_array_equal(output[f"frame_signal_{ident}"], expected)
    charge = output[f"frame_signal_{NONE}"][CHANNEL].sum()
    assert abs(expected[CHANNEL].sum()) < charge / 2 and charge > 10_000  # electrons


def test_output_masks_count_as_those_of_the_input(output: wire_cell.Arrays) -> None:
    for ident, first in enumerate(FIRST_TICKS):
        assert output[f"tickinfo_signal_{ident}"][2] == first
        assert output[f"chanmask_bad_{ident}"].tolist() == [[CHANNEL, first + BEGIN, first + END]]
    assert output[f"chanmask_bad_{EARLIER}"].tolist() == [[CHANNEL, 1000 + BEGIN, 1000 + END]]
    assert output[f"chanmask_bad_{OUTSIDE}"].tolist() == [
        [CHANNEL, 0, 1000],
        [CHANNEL, 1000 + BEGIN, 1000 + END],
        [CHANNEL + 1, 1000 + TICKS, 9999],
    ]


def test_output_files_are_marked_where_it_matters(output: wire_cell.Arrays) -> None:
    """A frame that begins at its start has the same bytes as in earlier versions."""
    marked = {ident for ident in range(6) if "mask_ticks" in json.loads(bytes(output[f"notes_spng_{ident}"]))}
    assert marked == {1, 2, EARLIER, OUTSIDE}
