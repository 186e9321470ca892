# SPDX-License-Identifier: Apache-2.0
"""Electrons at one channel and tick, through the reference response to ADC counts, come back where they were."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.reference import decon, detector, response
from tests.support import wire_cell

pytestmark = wire_cell.needs_program

JOB = wire_cell.ROOT / "tests" / "endtoend" / "closed_loop.jsonnet"
TICKS = 1800
ELECTRONS = 10_000.0
LOW_PART = 2.0**24
# Rows of U and V are cyclic (wrapped planes), so the ends are like the middle; (view, row, tick at the wires).
WRAPPED = [(0, 0, 400), (0, 799, 650), (0, 400, 900), (1, 0, 433), (1, 799, 677), (1, 123, 901)]
# W0 and W1; the response reaches ten wires, and beyond the ends of a view there is none to see it.
UNWRAPPED = [(0, 240, 400), (0, 10, 650), (1, 469, 433), (1, 77, 677)]
EDGES = [(0, 0, 900), (0, 479, 1150), (1, 0, 901), (1, 479, 1151)]
WINDOW = 60  # ticks on either side of a charge, and no other charge in them


@dataclass(frozen=True)
class Sample:
    """The positions of the electrons as (view, channel, tick), and the charge found there, by group."""

    placed: dict[str, list[tuple[int, int, int]]]
    found: dict[str, np.ndarray]

    def charge(self, group: str) -> np.ndarray:
        """The true charge, shaped as what came back."""
        charge = np.zeros_like(self.found[group])
        for position in self.placed[group]:
            charge[position] = ELECTRONS
        return charge


def add_response(samples: np.ndarray, kernel: np.ndarray, row: int, tick: int, cyclic: bool) -> None:
    """Add the counts that ELECTRONS leave, whose charge arrives at the wires at `tick`. samples (channel, tick), changed."""
    half = kernel.shape[0] // 2
    begin = tick - decon.ROLL_TICKS
    for wire in range(-half, half + 1):
        if cyclic or 0 <= row + wire < len(samples):
            samples[(row + wire) % len(samples), begin : begin + kernel.shape[1]] += (
                ELECTRONS * kernel[half + wire]
            )


def loop(folder: Path, collection: list[tuple[int, int, int]], dtype: str, filtered: str) -> Sample:
    """Make the frame, run the job, read what it dumped.

    Frame files hold float32. So that no digit is lost, the counts go in as two events, their float32 values and the rest
    scaled up; deconvolution is linear, and the baseline of samples that are mostly 0 is 0.
    """
    field = wire_cell.description("dune-garfield-1d565")
    kernels = [response.response_kernel(field, plane) for plane in range(3)]
    u, v, w0, w1 = views = [np.zeros((channels, TICKS)) for channels in (800, 800, 480, 480)]
    for view, row, tick in WRAPPED:
        add_response((u, v)[view], kernels[view], row, tick, cyclic=True)
    for view, row, tick in collection:
        add_response((w0, w1)[view], kernels[detector.W], row, tick, cyclic=False)
    counts, channels = np.concatenate(views), np.concatenate(detector.pdhd_channel_order(0))
    high = counts.astype(np.float32)
    low = ((counts - high) * LOW_PART).astype(np.float32)
    wire_cell.write_arrays(
        folder / "adc.npz", {**wire_cell.event(high, channels, 0), **wire_cell.event(low, channels, 1)}
    )
    done = wire_cell.run(
        "-c",
        JOB,
        *wire_cell.settings("input=adc.npz", "output=charge", f"dtype={dtype}", f"filtered={filtered}"),
        folder=folder,
    )
    assert done.returncode == 0, done.stderr
    found = {}
    for group in ("induction", "collection"):
        parts = wire_cell.read_arrays(folder / f"charge-{group}.npz")
        assert parts["gauss_0"].dtype == np.dtype(dtype)
        found[group] = parts["gauss_0"] + parts["gauss_1"].astype(np.float64) / LOW_PART
    return Sample({"induction": WRAPPED, "collection": collection}, found)


@pytest.fixture(name="exact", scope="module")
def fixture_exact(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """float64 with F = 1."""
    return loop(tmp_path_factory.mktemp("exact"), UNWRAPPED, "float64", "false")


@pytest.fixture(name="filtered", scope="module")
def fixture_filtered(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """float32 with the filters of the charge, charge at the ends of collection views too."""
    return loop(tmp_path_factory.mktemp("filtered"), UNWRAPPED + EDGES, "float32", "true")


@pytest.mark.parametrize("group", ["induction", "collection"])
def test_float64_without_filters(exact: Sample, group: str) -> None:
    """Every sample of the view: N electrons there, none elsewhere."""
    error = np.abs(exact.found[group] - exact.charge(group)).max() / ELECTRONS
    # Response and rounding differ in the last digits of float64; the deconvolution divides by down to 2e-7 of the largest
    # response.
    assert error < 1e-6, f"{group}: largest error {error:.2e} of the charge"


@pytest.mark.parametrize("group", ["induction", "collection"])
def test_float32_with_filters(filtered: Sample, group: str) -> None:
    """The filters spread charge over neighbours and ticks, and keep its sum and its position."""
    for view, row, tick in filtered.placed[group]:
        around = filtered.found[group][view][:, tick - WINDOW : tick + WINDOW + 1]
        total = around.sum() / ELECTRONS
        # What the wires that do not exist would have seen is lost at the ends of unwrapped views.
        limit = 2e-2 if (view, row, tick) in EDGES else 1e-3
        assert abs(total - 1) < limit, f"{group} view {view} row {row}: {total:.5f} of the charge"
        assert np.unravel_index(np.argmax(around), around.shape) == (row, WINDOW)


def test_unwrapped_ends_do_not_touch(filtered: Sample) -> None:
    """Charge on the last wire of a collection view leaves the first one alone, and the other way round."""
    for view, row, tick in EDGES:
        waveforms = filtered.found["collection"][view]
        largest = np.abs(waveforms[479 - row, tick - WINDOW : tick + WINDOW + 1]).max() / waveforms[row, tick]
        assert largest < 1e-3, f"view {view} row {row}: {largest:.1e} of the charge at the other end"
