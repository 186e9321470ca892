# SPDX-License-Identifier: Apache-2.0
"""Deconvolution and time filters on a device are launches of SPNG's kernels, without cuFFT."""

from __future__ import annotations

import pytest

from tests.cuda_simulator import counts
from tests.support import cuda_simulator
from tests.support.small_site import Site

pytestmark = cuda_simulator.needs_simulator


@pytest.mark.parametrize("real", ["float32", "float64"])
def test_launches(site: Site, real: str) -> None:
    """For each group two launches in SPNGDecon; its filters, at the full and at a quarter of the rate, one each."""
    counts.write_frames(site)
    kernels = counts.run_events(site, {"model": "none", "dtype": real}, 2).all["kernels"]
    assert not any(name.startswith("cufft") for name in kernels)
    groups = kernels[f"deconvolve_{real}"]
    assert kernels[f"waveform_spectrum_int16_{real}"] == groups > 0
    assert kernels[f"apply_time_filter_{real}"] > groups
