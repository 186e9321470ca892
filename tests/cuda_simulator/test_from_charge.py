# SPDX-License-Identifier: Apache-2.0
"""cfg/from_charge.jsonnet over the simulated CUDA runtime gives the CPU's waveforms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support import cuda_simulator, wire_cell
from tests.support.small_site import Site

pytestmark = cuda_simulator.needs_simulator

TICKS = 701


@pytest.mark.parametrize("emulate", [0, 1])
def test_waveforms_are_those_of_the_cpu(site: Site, tmp_path: Path, emulate: int) -> None:
    """With LibTorch's operations only, and with SPNG's kernels. Two events, one of them with a damaged channel."""
    rng = np.random.default_rng(9)
    arrays: wire_cell.Arrays = {}
    for ident in range(2):
        charge = rng.normal(0, 2000, (len(site.anode.channels), TICKS)).astype(np.float32)
        charge[12 * ident, 5] = np.nan
        arrays |= wire_cell.event(charge, site.anode.channels, ident, "gauss0")
    wire_cell.write_arrays(tmp_path / "charge.npz", arrays)
    given = {"input": "charge.npz", "threads": 1, "noise": "none"}
    cpu = wire_cell.job(
        tmp_path, *site.flags, job_file="cfg/from_charge.jsonnet", **given, signal="cpu-signal.npz"
    ) | wire_cell.read_arrays(tmp_path / "cpu-signal.npz")
    given |= {"device": "cuda", "output": "cuda.npz", "signal": "cuda-signal.npz"}
    words = wire_cell.settings(**given)
    run = cuda_simulator.run(
        tmp_path, "-c", "cfg/from_charge.jsonnet", *site.flags, *words, devices=1, emulate=emulate
    )
    assert run.done.returncode == 0, run.done.stderr
    run.report.check()
    cuda = wire_cell.read_arrays(tmp_path / "cuda.npz") | wire_cell.read_arrays(tmp_path / "cuda-signal.npz")
    assert list(cuda) == list(cpu)
    for ident in range(2):
        signal = cpu[f"frame_adc_{ident}"]
        assert np.abs(signal).max() > 100
        np.testing.assert_allclose(
            cuda[f"frame_adc_{ident}"], signal, rtol=0, atol=1e-6 * np.abs(signal).max()
        )
        # Rounding moves some samples to the next count.
        counts = np.abs(cuda[f"frame_*_{ident}"].astype(int) - cpu[f"frame_*_{ident}"])
        assert counts.max() <= 1 and (counts > 0).mean() < 1e-3
        np.testing.assert_array_equal(cuda[f"chanmask_nan_{ident}"], [[12 * ident, 0, TICKS]])
