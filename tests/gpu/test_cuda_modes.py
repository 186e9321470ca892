# SPDX-License-Identifier: Apache-2.0
"""Modes of the chain on a CUDA device: CUDA graphs, bfloat16, several events in flight; skipped without a
device.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.support import wire_cell

pytestmark = [pytest.mark.gpu, wire_cell.needs_program]

EVENTS = 6
ENGINES = ("Pgrapher", "TbbFlow")


@pytest.fixture(name="frames", scope="module")
def fixture_frames(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write events of two lengths in turn, each with other bad channels."""
    samples, channels, _ = wire_cell.default_adc()
    arrays: wire_cell.Arrays = {}
    for ident in range(EVENTS):
        piece = np.ascontiguousarray(np.roll(samples, 100 * ident, axis=1)[:, : 6000 if ident % 3 else 4000])
        arrays |= wire_cell.event(piece, channels, ident)
        arrays[f"chanmask_bad_{ident}"] = np.array(
            [[channels[37 * ident + 5], 0, piece.shape[1]]], dtype=np.int32
        )
    return wire_cell.write_arrays(tmp_path_factory.mktemp("frames") / "adc.npz", arrays)


def run(frames: Path, folder: Path, **arguments: object) -> tuple[wire_cell.Arrays, str]:
    """Return the arrays of the output, and the log."""
    words = wire_cell.settings(**{"input": frames, "output": "out.npz", "device": "cuda", **arguments})
    done = wire_cell.run("-c", wire_cell.PIPELINE, "-l", "stderr", "-L", "info", *words, folder=folder)
    assert done.returncode == 0, done.stderr
    return wire_cell.read_arrays(folder / "out.npz"), done.stderr


@pytest.fixture(name="plain", scope="module")
def fixture_plain(frames: Path, tmp_path_factory: pytest.TempPathFactory) -> wire_cell.Arrays:
    return run(frames, tmp_path_factory.mktemp("plain"), cuda_graph="off")[0]


def assert_same(seen: wire_cell.Arrays, expected: wire_cell.Arrays) -> None:
    assert list(seen) == list(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(seen[name], array, err_msg=name)


@pytest.mark.parametrize("engine", ENGINES)
def test_launched_as_one(frames: Path, plain: wire_cell.Arrays, tmp_path: Path, engine: str) -> None:
    """CUDA graphs give the same bytes without a warning, and are captured at least once for each length."""
    seen, log = run(frames, tmp_path, cuda_graph="on", engine=engine)
    assert "captured" in log and "a capture failed" not in log
    assert_same(seen, plain)


def test_events_side_by_side(frames: Path, plain: wire_cell.Arrays, tmp_path: Path) -> None:
    assert_same(run(frames, tmp_path, engine="TbbFlow")[0], plain)


def test_warm_up_says_what_it_took(frames: Path, tmp_path: Path) -> None:
    log = run(frames, tmp_path, nevents=1)[1]
    assert re.search(r"ready after [0-9.]+ s; keeps (all plans of transforms|\d+ FFT plans)", log)
    assert "the warm-up before the first event failed" not in log


@pytest.mark.parametrize("graph", ["off", "on"])
def test_fast(frames: Path, plain: wire_cell.Arrays, tmp_path: Path, graph: str) -> None:
    """ROIs agree to 99.5 %, charge to 0.1 %."""
    seen = run(frames, tmp_path, precision="fast", cuda_graph=graph)[0]
    for name in (each for each in plain if each.startswith("frame_signal")):
        fast, exact = seen[name] != 0, plain[name] != 0
        assert (fast & exact).sum() >= 0.995 * (fast | exact).sum()
        charge = plain[name].sum(dtype=np.float64)
        assert abs(seen[name].sum(dtype=np.float64) - charge) <= 1e-3 * abs(charge)
