# SPDX-License-Identifier: Apache-2.0
"""Agreement of two outputs of the chain: ROIs, charge, values, and the channels in which they differ."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from spng.compare.samples import compare_samples

from bench.gpu.frame_files import FrameFile

Array = np.ndarray[Any, Any]

TICKS_OF_A_DECISION = 4  # ROIs are found at a quarter of the rate
LISTED = 6  # channels that differ, by event


@dataclass(frozen=True)
class Criterion:
    """Limits of agreement.

    regions  least share of samples in ROIs of either output that are in ROIs of both; one decision may always differ
    values   largest difference in channels whose ROIs agree, in standard deviations of the values in ROIs; None: any
    charge   largest difference of the sums, relative to the sum of magnitudes
    """

    regions: float
    values: float | None
    charge: float

    def text(self) -> str:
        """Describe the limits."""
        values = "" if self.values is None else f", values within {self.values:g} sd"
        return f"ROIs {self.regions:g} shared{values}, charge within {self.charge:g}"


EXACT = Criterion(0.9999, 1e-4, 1e-4)  # float32 on both devices
FAST = Criterion(0.995, None, 1e-3)  # precision=fast: the network in bfloat16
DOUBLE = Criterion(0.99999, 1e-5, 1e-5)  # dtype=float64; outputs are float32
SAME_BYTES = Criterion(1.0, 0.0, 0.0)


@dataclass
class Agreement:
    """Comparison of all frames of a tag.

    frames, same_bytes  count of frames, and of those with the same bytes
    both, either        samples that are not zero in both outputs, in at least one
    charge_ratio        1 + difference of the sums / sum of the magnitudes of the reference: a sum itself may be near zero
    worst_sd            largest difference in channels whose ROIs agree [standard deviations of values in ROIs]
    channels, differing count of channels of all frames, and of those whose ROIs differ
    locations           the first of these: event, row, first and last tick
    bad_values          samples that are NaN or infinite
    """

    tag: str
    frames: int = 0
    same_bytes: int = 0
    both: int = 0
    either: int = 0
    charge_ratio: float = 1.0
    worst_sd: float = 0.0
    channels: int = 0
    differing: int = 0
    bad_values: int = 0
    locations: list[tuple[int, int, int, int]] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The share of samples in ROIs of either output that are in ROIs of both."""
        return self.both / self.either if self.either else 1.0

    def json(self) -> dict[str, Any]:
        """Return the content of the result file."""
        return asdict(self)

    def failures(self, criterion: Criterion) -> list[str]:
        """Return the limits that are exceeded."""
        found = []
        if self.frames == 0 or self.either == 0:
            found.append(f"{self.tag}: no frame, or all samples are zero")
        if self.bad_values:
            found.append(f"{self.tag}: {self.bad_values} samples are NaN or infinite")
        allowed = TICKS_OF_A_DECISION * self.frames if criterion.regions < 1 else 0
        if self.either - self.both > max(allowed, (1 - criterion.regions) * self.either):
            found.append(
                f"{self.tag}: ROIs share {self.share:.6f}, limit {criterion.regions:g}{self.where()}"
            )
        if criterion.values is not None and self.worst_sd > criterion.values:
            found.append(f"{self.tag}: values differ by {self.worst_sd:.2e} sd, limit {criterion.values:g}")
        if abs(self.charge_ratio - 1) > criterion.charge:
            found.append(f"{self.tag}: charge is {self.charge_ratio:.7f} of the reference")
        if criterion == SAME_BYTES and self.same_bytes != self.frames:
            found.append(
                f"{self.tag}: {self.frames - self.same_bytes} of {self.frames} frames have other bytes"
            )
        return found

    def where(self) -> str:
        """Name the first channels that differ."""
        if not self.locations:
            return ""
        named = [f"event {event} row {row} ticks {low}-{high}" for event, row, low, high in self.locations]
        return f" ({self.differing} channels: {'; '.join(named[:LISTED])})"

    def summary(self) -> str:
        """Return the figures in one line."""
        if self.frames and self.same_bytes == self.frames:
            return f"{self.tag}: {self.frames} frames, the same bytes"
        return (
            f"{self.tag}: {self.frames} frames, ROIs share {self.both} of {self.either} samples, charge "
            f"{self.charge_ratio:.7f}, values within {self.worst_sd:.1e} sd elsewhere{self.where()}"
        )


def compare(reference: Path, seen: Path) -> list[Agreement]:
    """Compare all frames of `reference` with those of `seen`; return one Agreement for each tag.

    @throws ValueError if `seen` lacks a frame, or has a frame of another shape.
    """
    found = []
    with FrameFile(reference) as one, FrameFile(seen) as other:
        for tag in one.tags():
            agreement = Agreement(tag)
            difference, magnitude = 0.0, 0.0
            for ident in one.idents(tag):
                name = f"frame_{tag}_{ident}"
                if name not in other.names:
                    raise ValueError(f"{name} is missing in {seen.name}")
                expected, values = one.array(name), other.array(name)
                add_frame(agreement, ident, expected, values)
                difference += float(values.sum(dtype=np.float64) - expected.sum(dtype=np.float64))
                magnitude += float(np.abs(expected).sum(dtype=np.float64))
            agreement.charge_ratio = 1 + difference / magnitude if magnitude else 1.0
            found.append(agreement)
    return found


def add_frame(agreement: Agreement, ident: int, expected: Array, seen: Array) -> None:
    """Add one frame, (channel, tick)."""
    if expected.shape != seen.shape or expected.dtype != seen.dtype:
        raise ValueError(f"event {ident}: {seen.shape} {seen.dtype}, not {expected.shape} {expected.dtype}")
    figures = compare_samples(expected, seen).total
    agreement.frames += 1
    agreement.channels += len(expected)
    agreement.bad_values += figures.not_finite_b
    agreement.both += figures.both
    agreement.either += figures.union
    if expected.tobytes() == seen.tobytes():
        agreement.same_bytes += 1
        return
    is_one, is_other = expected != 0, seen != 0
    in_both, disagreeing = is_one & is_other, is_one != is_other
    rows = np.flatnonzero(disagreeing.any(axis=1))
    agreement.differing += len(rows)
    for row in rows[: LISTED - len(agreement.locations)]:
        ticks = np.flatnonzero(disagreeing[row])
        agreement.locations.append((ident, int(row), int(ticks[0]), int(ticks[-1])))
    difference = np.abs(expected.astype(np.float64) - seen)
    difference[rows] = 0
    deviation = float(expected[in_both].std(dtype=np.float64)) if in_both.any() else 0.0
    largest = float(np.nan_to_num(difference, nan=np.inf).max(initial=0.0))
    # Samples of a mask all have the value 1: differences are in units of it.
    agreement.worst_sd = max(agreement.worst_sd, largest / (deviation or 1.0))
