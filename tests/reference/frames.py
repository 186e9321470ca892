# SPDX-License-Identifier: Apache-2.0
"""Frame files of WCT: NumPy arrays inside an .npz archive."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Frame:
    """One event of one anode.

    samples  (channel, tick), any dtype; ADC counts or electrons
    channels (channel,) int channel ids of the rows
    start_ns, tick_ns  time of the first sample and sampling period, both in ns
    """

    samples: np.ndarray
    channels: np.ndarray
    start_ns: float
    tick_ns: float


def read_frame(path: str | Path, tag: str = "*", ident: int = 0) -> Frame:
    """Read `frame_<tag>_<ident>` with its channel ids and tick information.

    Arrays may be stored in C or Fortran order; the result is always C contiguous.
    Raises KeyError when the archive has no such frame.
    """
    with np.load(path) as archive:
        suffix = f"{tag}_{ident}"
        samples = np.ascontiguousarray(archive[f"frame_{suffix}"])
        channels = archive[f"channels_{suffix}"].astype(np.int64)
        start_ns, tick_ns, first_tick = archive[f"tickinfo_{suffix}"]
    return Frame(samples, channels, float(start_ns + first_tick * tick_ns), float(tick_ns))


def write_frame(path: str | Path, frame: Frame, tag: str = "*", ident: int = 0) -> None:
    """Write a frame so that `read_frame` and programs of LArTPC experiments read it back."""
    suffix = f"{tag}_{ident}"
    arrays = {
        f"frame_{suffix}": frame.samples,
        f"channels_{suffix}": frame.channels.astype(np.int32),
        f"tickinfo_{suffix}": np.array([frame.start_ns, frame.tick_ns, 0.0]),
    }
    np.savez_compressed(path, **arrays)


def rows_of(frame: Frame, channel_order: np.ndarray, dtype: type = np.float64) -> np.ndarray:
    """Return the rows of `frame` in `channel_order` (channel,), zero if the frame has no such channel.

    -> (channel, tick).
    """
    position = {int(channel): row for row, channel in enumerate(frame.channels)}
    out = np.zeros((len(channel_order), frame.samples.shape[1]), dtype=dtype)
    for row, channel in enumerate(channel_order):
        source = position.get(int(channel))
        if source is not None:
            out[row] = frame.samples[source]
    return out
