# SPDX-License-Identifier: Apache-2.0
"""Measure the output of a network at other noise than that of its training, run by the program on frames
made with NumPy.

Run: python -m tests.reference.noise_study [MODEL.ts] [SIGNAL.npz]
MODEL: default data/dnnroi.ts. SIGNAL: the default event without noise in units of MV (tracks10-signal.npz), for less noise.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.support import wire_cell
from tests.support.noisy_frames import EMPTY_BASELINE, PLANES, counts, noise, noisier, with_hot_channels

from . import metrics

FACTORS = (1.0, 1.25, 1.5, 2.0)
LESS = (0.0, 0.7)
MV_PER_COUNT = 8.5449e-11
FAR_TICKS, FAR_CHANNELS = 48, 3  # a false pixel is farther than this from any true charge


def frames_of(signal: Path | None) -> dict[str, np.ndarray]:
    """Return name -> (channel, tick) ADC counts; frames whose name begins with "noise" have no tracks."""
    rng = np.random.default_rng(20261122)
    tracks = wire_cell.default_adc()[0].astype(np.float64)
    empty, extra = EMPTY_BASELINE + noise(rng), noise(rng)
    frames = {}
    for name, frame in (("tracks", tracks), ("noise", empty)):
        frames |= {f"{name} x{factor}": noisier(frame, factor, extra) for factor in FACTORS}
        frames[f"{name} 3 % hot x3"] = with_hot_channels(frame, extra, np.random.default_rng(1))
    if signal is not None:
        arrays = wire_cell.read_arrays(signal)
        (name,) = [key for key in arrays if key.startswith("frame_")]
        pure = np.empty_like(tracks)
        pure[arrays[name.replace("frame", "channels")]] = arrays[name] / MV_PER_COUNT
        own = tracks - pure
        level = np.median(own, axis=1, keepdims=True)
        frames |= {f"tracks x{factor}": pure + level + factor * (own - level) for factor in LESS}
    return frames


def near(truth: np.ndarray) -> np.ndarray:
    """Return the pixels within FAR_TICKS and FAR_CHANNELS of more than 10 electrons: (channel, tick) ->
    (channel, pixel).
    """
    out = metrics.any_tick(truth > 10)
    for axis, reach in ((1, FAR_TICKS // metrics.PIXEL_TICKS), (0, FAR_CHANNELS)):
        grown = out.copy()
        for step in range(1, reach + 1):
            ahead, behind = [slice(None)] * 2, [slice(None)] * 2
            ahead[axis], behind[axis] = slice(step, None), slice(None, -step)
            grown[tuple(ahead)] |= out[tuple(behind)]
            grown[tuple(behind)] |= out[tuple(ahead)]
        out = grown
    return out


def main(arguments: list[str]) -> None:
    """Print a row for each frame."""
    model = Path(arguments[0] if arguments else wire_cell.DATA / "dnnroi.ts").resolve()
    frames = frames_of(Path(arguments[1]) if len(arguments) > 1 else None)
    truth = wire_cell.read_arrays(wire_cell.TRUTH)["frame_*_0"].astype(np.float64)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arrays: wire_cell.Arrays = {}
        for ident, samples in enumerate(frames.values()):
            arrays |= wire_cell.event(counts(samples), np.arange(len(samples)), ident)
        wire_cell.write_arrays(folder / "adc.tar", arrays)
        output = wire_cell.job(folder, input="adc.tar", model=model)
    print("| frame | view | charge | efficiency | purity | false pixels |\n|---|---|---|---|---|---|")
    for ident, name in enumerate(frames):
        for view in ("U", "V"):
            signal, true = (
                output[f"frame_signal_{ident}"][PLANES[view]].astype(np.float64),
                truth[PLANES[view]],
            )
            kept = metrics.any_tick(signal != 0)
            far = ~near(true) if name.startswith("tracks") else np.ones_like(kept)
            false = (kept & far).sum() / far.sum()
            merit = metrics.merit(signal, true)
            figures = (
                f"{merit.charge:.3f} | {merit.efficiency:.3f} | {merit.purity:.3f}"
                if name.startswith("tracks")
                else "- | - | -"
            )
            print(f"| {name} | {view} | {figures} | {false:.1e} |")


if __name__ == "__main__":
    main(sys.argv[1:])
