# SPDX-License-Identifier: Apache-2.0
"""Measure the effect of each part of the ROI rule on simulated frames, and fit Wiener filters to simulated
spectra.

Run: python -m tests.reference.study WIRES.json.gz FIELD.json.gz NOISE.json.bz2 [ADC.npz TRUTH.npz]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from . import chain as chain_module
from . import decon, filters, frames, metrics, regions, roi, simulate

Views = list[np.ndarray]
Finder = Callable[[Views, np.ndarray, int], Views]
SAMPLES = {
    "10 tracks a": (10, 901),
    "10 tracks b": (10, 902),
    "30 tracks": (30, 903),
    "60 tracks": (60, 904),
    "noise": (0, 905),
}
INFINITE = float("inf")
RULE = regions.RegionRule()
BARE = replace(RULE, long_pixels=(), beside=INFINITE, lone_seed=RULE.seed)


def traditional_threshold(seed: float) -> Finder:
    """Return the simple rule without coincidence: tight (80 kHz high pass) seeds grown in loose, PDSP filters."""
    wiener = ((0.1487880, 3.76194), (0.1596568, 4.36125))

    def find(spectra: Views, cells: np.ndarray, ticks: int) -> Views:
        frequency = filters.time_frequencies(decon.PADDED_TICKS)
        found = []
        for spectrum, shape in zip(spectra, wiener):
            tight, loose = (
                decon.to_pixels(
                    spectrum, filters.low_pass(frequency, *shape) * filters.high_pass(frequency, cut), ticks
                )
                for cut in (0.080, 0.002)
            )
            tight, loose = (image / roi.robust_levels(image)[2] for image in (tight, loose))
            found.append(roi.grow_in_time(tight > seed, loose > 1.0))
        return [*found, regions.collection_region(spectra[2], ticks, RULE)]

    return find


def with_rule(rule: regions.RegionRule) -> Finder:
    """Return the ROI rule with other constants."""
    return lambda spectra, cells, ticks: regions.find_regions(spectra, cells, ticks, rule)


VARIANTS: dict[str, Finder] = {
    "simple rule, 3 sigma": traditional_threshold(3.0),
    "simple rule, 4 sigma": traditional_threshold(4.0),
    "tight at 10 kHz, 4 sigma": with_rule(BARE),
    "+ coincidence for 4 to 5 sigma": with_rule(replace(BARE, lone_seed=RULE.lone_seed)),
    "+ neighbouring wires": with_rule(replace(RULE, long_pixels=())),
    "+ long pulses, 34 us": with_rule(replace(RULE, long_pixels=RULE.long_pixels[:1])),
    "+ long pulses, 102 us (the rule)": with_rule(RULE),
    "rule without coincidence for seeds": with_rule(replace(RULE, lone_seed=RULE.seed)),
    "rule with RMS cut at 5 sigma": with_rule(replace(RULE, rms_cut=5.0)),
    "rule with no wire tolerance": with_rule(replace(RULE, tolerance_wires=0)),
    "rule with PDSP low pass": with_rule(replace(RULE, smooth=(0.1487880, 3.76194))),
    "rule with PDHD low pass": with_rule(replace(RULE, smooth=(0.221933, 6.55413))),
    "rule with 150 kHz low pass": with_rule(replace(RULE, smooth=(0.15, 2.0))),
}


def table(chain: chain_module.Chain, samples: dict[str, tuple[Views, Views]]) -> None:
    """Print charge / efficiency / purity of every variant and sample, U and V (W is the same in all but the
    last line).
    """
    spectra = {
        name: chain.spectra([view.astype(float) for view in views]) for name, (views, _) in samples.items()
    }
    for label, find in VARIANTS.items():
        cells = [label]
        for name, (views, truths) in samples.items():
            ticks = views[0].shape[1]
            found = find(spectra[name], chain.cells, ticks)
            signals = chain.apply(spectra[name], found, ticks)
            if truths[0].any():
                scores = [metrics.merit(signal, truth) for signal, truth in zip(signals, truths)]
                text = ", ".join(f"{s.charge:.2f} {s.efficiency:.3f} {s.purity:.2f}" for s in scores)
            else:
                text = ", ".join(f"{region.mean():.1e}" for region in found)
            cells.append(text)
        print("| " + " | ".join(cells) + " |", flush=True)


def wiener_filters(chain: chain_module.Chain, noise_file: Path) -> None:
    """Print low passes fitted to S/(S+N), S and N the mean power of simulated tracks and noise after
    deconvolution.
    """
    tracks = simulate.random_tracks(np.random.default_rng(911), 20)
    with_signal, _ = simulate.event(chain, noise_file, tracks, 912, add_noise=False)
    only_noise, _ = simulate.event(chain, noise_file, np.zeros((0, 2, 3)), 913)
    frequency = filters.time_frequencies(decon.PADDED_TICKS)
    fitted = (frequency > 0.05) & (frequency < 0.4)
    signal_spectra, noise_spectra = (
        chain.spectra([view.astype(float) for view in views]) for views in (with_signal, only_noise)
    )
    for name, signal, noise in zip(chain_module.VIEWS, signal_spectra, noise_spectra):
        hit = np.abs(signal).max(axis=1) > 1e3
        power = np.mean(np.abs(signal[hit]) ** 2, axis=0)
        target = (power / (power + np.mean(np.abs(noise) ** 2, axis=0)))[fitted]
        grid = [(s, p) for s in np.arange(0.08, 0.40, 0.005) for p in np.arange(1.0, 8.0, 0.25)]
        shapes = (filters.low_pass(frequency[fitted], s, p) for s, p in grid)
        best = min(zip(grid, (np.sum((target - shape) ** 2) for shape in shapes)), key=lambda pair: pair[1])
        print(f"Wiener low pass {name}: scale {best[0][0]:.3f} MHz, power {best[0][1]:.2f}")


def main(arguments: list[str]) -> None:
    """Simulate the samples, print the tables."""
    wires, field, noise_file = (Path(argument) for argument in arguments[:3])
    chain = chain_module.Chain(wires, field)
    wiener_filters(chain, noise_file)
    samples: dict[str, tuple[Views, Views]] = {}
    if len(arguments) == 5:
        adc, truth = (chain.rows(frames.read_frame(path)) for path in arguments[3:])
        samples["given frame"] = (adc, truth)
    for name, (count, seed) in SAMPLES.items():
        tracks = simulate.random_tracks(np.random.default_rng(seed), count) if count else np.zeros((0, 2, 3))
        samples[name] = simulate.event(chain, noise_file, tracks, seed + 50)
    print("| rule | " + " | ".join(samples) + " |")
    table(chain, samples)


if __name__ == "__main__":
    main(sys.argv[1:])
