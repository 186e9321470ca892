# SPDX-License-Identifier: Apache-2.0
"""Deconvolution and time filters on a device are launches of SPNG's kernels, without cuFFT."""

from __future__ import annotations

import pytest

from tests.cuda_simulator import counts
from tests.support import cuda_simulator
from tests.support.small_site import Site

pytestmark = cuda_simulator.needs_simulator


@pytest.mark.parametrize(("real", "own"), [("float32", "yes"), ("float64", "yes"), ("float32", "no")])
def test_launches(site: Site, real: str, own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For each group two launches in SPNGDecon; its filters, at the full and at a quarter of the rate, one each."""
    monkeypatch.setenv("SPNG_CUDA_KERNELS", own)
    counts.write_frames(site)
    kernels = counts.run_events(site, {"model": "none", "dtype": real}, 2).all["kernels"]
    transforms = sum(count for name, count in kernels.items() if name.startswith("cufft"))
    if own == "no":
        assert transforms > 0
        return
    assert transforms == 0
    groups = kernels[f"deconvolve_{real}"]
    assert kernels[f"waveform_spectrum_int16_{real}"] == groups > 0
    assert kernels[f"apply_time_filter_{real}"] > groups
