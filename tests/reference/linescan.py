# SPDX-License-Identifier: Apache-2.0
"""Ideal lines at fixed angles: bias, resolution, efficiency and purity per angle, beside those
of OmnibusSigProc (OSP).

The lines are those of osp-linescan.json (its README): per plane one event with a line for each angle, 5000
e/mm, in the plane of the drift and the pitch direction, at most 1 m long, centres 155 mm apart.  Only the
simulation differs (simulate.py).
Run: python -m tests.reference.linescan WIRES.json.gz FIELD.json.gz NOISE.json.bz2 OSP-LINESCAN.json
EVENTS
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from . import chain as chain_module
from . import detector, metrics, simulate

SPACING_MM = 155.0
CENTRE_Z_Y = np.array([1150.0, 3000.0])
PROJECTED_LENGTH_MM, LONGEST_MM = 110.0, 1000.0
DRIFT_MM = (700.0, 2200.0)
INNER_CHANNEL = 0.95  # of the median charge of the line's channels; ends of a line are left out
MARGIN_TICKS = 200  # a channel's charge is summed this far around its true charge: lines do not share it


def lines(rng: np.random.Generator, plane: detector.WirePlane, angles: list[float]) -> np.ndarray:
    """Return one line per angle (degrees to the pitch direction): (line, 2, 3) end points x, y, z [mm]."""
    slots = rng.permutation(len(angles)) - 0.5 * (len(angles) - 1)
    ends = []
    for slot, angle in zip(slots, np.radians(angles)):
        length = min(PROJECTED_LENGTH_MM / np.cos(angle), LONGEST_MM)
        depth = 0.5 * length * np.sin(angle)
        drift = rng.uniform(DRIFT_MM[0] + depth, DRIFT_MM[1] - depth)
        z, y = CENTRE_Z_Y + slot * SPACING_MM * plane.pitch_direction
        along = np.cos(angle) * plane.pitch_direction
        half = 0.5 * length * np.array([np.sin(angle), along[1], along[0]])
        centre = np.array([simulate.RESPONSE_PLANE_MM + drift, y, z])
        ends.append([centre - half, centre + half])
    return np.array(ends)


def line_merit(signal: np.ndarray, truth: np.ndarray, line: np.ndarray) -> tuple[float, float, float, float]:
    """Return bias, resolution, efficiency and purity of one line.

    signal, truth, line = truth of the line alone (channel, tick).
    """
    charge = line.sum(axis=1)
    middle = np.median(charge[charge > 0.5 * charge.max()])
    alone = charge > 0.9 * truth.sum(axis=1)
    ratios = []
    for channel in np.nonzero((charge > INNER_CHANNEL * middle) & alone)[0]:
        hit = np.nonzero(line[channel] > 1.0)[0]
        window = slice(max(hit[0] - MARGIN_TICKS, 0), hit[-1] + MARGIN_TICKS)
        ratios.append(signal[channel, window].sum() / truth[channel].sum())
    rows = np.nonzero((charge > 1000.0) & alone)[0]
    near = np.zeros((len(rows), line.shape[1]), dtype=bool)
    for row, channel in enumerate(rows):
        hit = np.nonzero(line[channel] > 1.0)[0]
        near[row, max(hit[0] - MARGIN_TICKS, 0) : hit[-1] + MARGIN_TICKS] = True
    region = metrics.any_tick((signal[rows] != 0) & near)
    true = metrics.any_tick(truth[rows] > metrics.TRUE_PIXEL_ELECTRONS)
    both = (region & true).sum()
    bias = float(np.mean(ratios) - 1) if ratios else np.nan
    return (
        bias,
        float(np.std(ratios)) if ratios else np.nan,
        both / max(true.sum(), 1),
        both / max(region.sum(), 1),
    )


def main(arguments: list[str]) -> None:
    """Print a table per plane: this chain and OmnibusSigProc (OSP)."""
    wires, field, noise_file, bar = (Path(argument) for argument in arguments[:4])
    events = int(arguments[4])
    chain = chain_module.Chain(wires, field)
    planes = detector.load_planes(wires, 0)
    published = json.loads(bar.read_text())["planes"]
    for view, name in enumerate(chain_module.VIEWS):
        angles = [entry["theta_xz_deg"] for entry in published[name]]
        scores = []
        for event in range(events):
            rng = np.random.default_rng(1000 * view + event)
            ends = lines(rng, planes[0, view], angles)
            counts, truths = simulate.event(chain, noise_file, ends, 7000 + 10 * view + event, uniform=True)
            signal = chain.signal([samples.astype(float) for samples in counts])[view]
            alone = [simulate.true_charge(chain, ends[line : line + 1], view) for line in range(len(ends))]
            scores.append([line_merit(signal, truths[view], line) for line in alone])
        mean = np.nanmean(scores, axis=0)
        titles = [f"{quantity} | OSP" for quantity in ("bias", "resolution", "efficiency", "purity")]
        print(f"\n| {name} angle | " + " | ".join(titles) + " |")
        print("|---" * 9 + "|")
        for entry, row in zip(published[name], mean):
            pairs = zip(row, (entry[key] for key in ("bias", "res", "eff", "pur")))
            print(
                f"| {entry['theta_xz_deg']} | "
                + " | ".join(f"{ours:.3f} | {theirs:.3f}" for ours, theirs in pairs)
                + " |"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
