# SPDX-License-Identifier: Apache-2.0
"""Frames with few channels of a view give the same on the CPU, which leaves absent rows out, and on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.cuda_simulator import test_modes
from tests.support import cuda_simulator, wire_cell
from tests.support.small_site import Site

pytestmark = cuda_simulator.needs_simulator

TICKS = 600
# The CPU deconvolves with a shorter transform along channels, whose kernel has other samples of the same function.
DIFFERENCE = 1e-3


@pytest.mark.parametrize(
    "mode", [{}, {"cuda_graph": "on"}, {"model": test_modes.NETWORK}], ids=["", "graph", "network"]
)
def test_few_channels(site: Site, mode: dict[str, Any]) -> None:
    whole = site.busy_frames(2, TICKS)
    views = [view.channels for view in site.anode.views]
    arrays: wire_cell.Arrays = {}
    for ident, count in enumerate((12, 5)):  # enough and too few to measure the noise of a view
        kept = np.isin(site.anode.channels, np.concatenate([view[8 : 8 + count] for view in views]))
        arrays |= wire_cell.event(
            np.ascontiguousarray(whole[f"frame_*_{ident}"][kept]), site.anode.channels[kept], ident
        )
    cpu, cuda, _ = test_modes.on_both(site.folder, site.flags, arrays, tags="signal,error,roi", **mode)
    assert list(cuda) == list(cpu)
    for name in (each for each in cpu if each.startswith("frame_")):
        seen, expected = cuda[name].astype(np.float64), cpu[name].astype(np.float64)
        assert expected.any(), name
        assert np.mean((seen != 0) != (expected != 0)) < 1e-4, name
        np.testing.assert_allclose(
            seen, expected, rtol=0, atol=DIFFERENCE * np.abs(expected).max(), err_msg=name
        )
