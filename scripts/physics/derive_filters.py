# SPDX-License-Identifier: Apache-2.0
"""Derive Wiener-like low and high passes of a detector from simulated signal and noise.

    .venv/bin/python -m scripts.physics.derive_filters --plot filters.png

Simulates tracks without noise and noise without tracks, deconvolves both with the main job (tap `decon`) and computes
from their mean power at each frequency

    W(f) = S(f) / (S(f) + N(f)),

where S is the power of the channels with true charge, per tick with charge, and N the power of noise, per tick. Fits
exp(-(f / sigma)^power / 2) (1 - exp(-(f / tau)^2)) to W over its largest value; the second factor is for induction
planes only. Prints the lines of the filter set for cfg/detectors/filters.jsonnet.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scripts.wcb.checkout import ROOT
from spng import read_frames

from .program import JobFailed, Program, Variant

TICK_US = 0.5
TRUE_CHARGE = 100.0  # electrons; a tick with more has signal
FIT_MHZ = 0.5  # there is no signal above
PLANES = ("U", "V", "W")


@dataclass
class Power:
    """Sum of |spectrum|^2 over channels (frequency,) and number of ticks that count, by plane."""

    total: dict[str, np.ndarray]
    ticks: dict[str, float]

    def mean(self, plane: str) -> np.ndarray:
        """Return the power per tick (frequency,)."""
        return self.total[plane] / self.ticks[plane]


@dataclass(frozen=True)
class Fit:
    """sigma and tau [MHz]; tau is 0 without a high pass."""

    sigma: float
    power: float
    tau: float

    def value(self, frequency: np.ndarray) -> np.ndarray:
        """Return the filter at frequencies [MHz]."""
        low = np.exp(-0.5 * (frequency / self.sigma) ** self.power)
        return low if self.tau == 0 else low * (1 - np.exp(-((frequency / self.tau) ** 2)))


def planes_of(group: str, views: int) -> list[str]:
    """Return the plane of each view of a group of the detector files."""
    return ["U", "V"] if group == "induction" else ["W"] * views


def measure(program: Program, folder: Path, count: int, **simulated: Any) -> Power:
    """Deconvolve `count` simulated events and sum their power."""
    adc, truth = folder / "adc.tar", folder / "truth.tar"
    program.simulate(folder, output=adc, truth=truth, nevents=count, **simulated)
    program.process(folder, Variant("power", "", {"dump": "decon"}), adc)
    total: dict[str, np.ndarray] = {}
    ticks: dict[str, float] = {}
    for group in ("induction", "collection"):
        with np.load(folder / f"power-decon-{group}.npz") as tap:
            for frame in read_frames(truth, "truth"):
                spectrum = tap[f"spectrum_{frame.ident}"]  # (view, channel, frequency, real or imaginary)
                channels, true = tap[f"spectrum_ids_{frame.ident}"], frame["truth"]
                for view, plane in enumerate(planes_of(group, len(spectrum))):
                    charged = (true.rows(channels[view]) > TRUE_CHARGE).sum(axis=1)
                    hit = charged > 0 if simulated["kind"] != "none" else np.ones(len(charged), dtype=bool)
                    power = (spectrum[view][hit].astype(np.float64) ** 2).sum(axis=(0, 2))
                    counted = (
                        charged[hit].sum()
                        if simulated["kind"] != "none"
                        else len(hit) * true.samples.shape[1]
                    )
                    total[plane] = total.get(plane, 0) + power
                    ticks[plane] = ticks.get(plane, 0) + float(counted)
    return Power(total, ticks)


def fit(frequency: np.ndarray, target: np.ndarray, high_pass: bool) -> Fit:
    """Fit by least squares on a grid that is refined twice around its best point."""
    used = (frequency > 0) & (frequency < FIT_MHZ)
    frequency, target = frequency[used], target[used] / target[used].max()
    sigmas, powers = np.geomspace(0.05, 0.4, 25), np.geomspace(1.0, 12.0, 25)
    taus = np.geomspace(1e-3, 0.08, 25) if high_pass else np.zeros(1)
    for _ in range(3):
        low = np.exp(-0.5 * (frequency / sigmas[:, None, None]) ** powers[:, None])
        best, found = np.inf, (0, 0, 0)
        for index, tau in enumerate(taus):
            high = 1 - np.exp(-((frequency / tau) ** 2)) if tau else 1.0
            misfit = ((low * high - target) ** 2).sum(axis=-1)
            least = np.unravel_index(int(misfit.argmin()), misfit.shape)
            if misfit[least] < best:
                best, found = float(misfit[least]), (int(least[0]), int(least[1]), index)
        result = Fit(float(sigmas[found[0]]), float(powers[found[1]]), float(taus[found[2]]))
        sigmas, powers = _around(sigmas, found[0]), _around(powers, found[1])
        taus = _around(taus, found[2]) if high_pass else taus
    return result


def _around(grid: np.ndarray, index: int) -> np.ndarray:
    """Return a grid of the same size between the neighbours of one point."""
    return np.geomspace(grid[max(index - 1, 0)], grid[min(index + 1, len(grid) - 1)], len(grid))


def draw(path: Path, frequency: np.ndarray, wanted: dict[str, np.ndarray], fits: dict[str, Fit]) -> None:
    """Draw W and its fit for each plane."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(13, 4), sharey=True, layout="constrained")
    for axis, plane in zip(axes, PLANES):
        axis.semilogx(
            frequency[1:] * 1e3,
            wanted[plane][1:] / wanted[plane][1:].max(),
            color="0.65",
            lw=0.8,
            label="S / (S + N), simulated",
        )
        axis.semilogx(frequency[1:] * 1e3, fits[plane].value(frequency[1:]), color="C0", label="fit")
        axis.set(title=f"plane {plane}", xlabel="frequency [kHz]", xlim=(0.3, 1000), ylim=(0, 1.1))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("filter")
    axes[0].legend(loc="lower left")
    figure.savefig(path, dpi=110)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.physics.derive_filters",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--detname", default="pdhd", help="detector (default: pdhd)")
    parser.add_argument(
        "--events", type=int, default=3, help="events with signal, and as many with noise (default: 3)"
    )
    parser.add_argument("--tracks", type=int, default=20, help="tracks in an event (default: 20)")
    parser.add_argument("--seed", type=int, default=800_000, help="default: 800000")
    parser.add_argument("--threads", type=int, default=2, help="default: 2")
    parser.add_argument("--plot", type=Path, help="picture of the spectra and the fits")
    arguments = parser.parse_args()
    program = Program(ROOT / "build" / "bin" / "wire-cell", arguments.threads)
    common = {"detname": arguments.detname, "seed": arguments.seed}
    try:
        with tempfile.TemporaryDirectory() as folder:
            signal = measure(
                program,
                Path(folder),
                arguments.events,
                kind="tracks",
                tracks=arguments.tracks,
                noise="false",
                **common,
            )
            noise = measure(program, Path(folder), arguments.events, kind="none", noise="true", **common)
    except JobFailed as error:
        print(error, file=sys.stderr)
        return 1
    frequency = np.linspace(0, 0.5 / TICK_US, len(signal.total["U"]))
    wanted = {plane: signal.mean(plane) / (signal.mean(plane) + noise.mean(plane)) for plane in PLANES}
    fits = {plane: fit(frequency, wanted[plane], high_pass=plane != "W") for plane in PLANES}
    lows = ", ".join(f"low_pass({fits[plane].sigma:.4f}, {fits[plane].power:.3f})" for plane in PLANES)
    print(f"low passes [MHz]:  [{lows}]")
    print("high passes [kHz]: " + ", ".join(f"{plane} {1e3 * fits[plane].tau:.2f}" for plane in PLANES[:2]))
    for plane in PLANES:
        used = frequency < FIT_MHZ
        misfit = np.sqrt(
            np.mean((wanted[plane][used] / wanted[plane].max() - fits[plane].value(frequency[used])) ** 2)
        )
        print(f"{plane}: largest S / (S + N) {wanted[plane].max():.3f}, RMS misfit {misfit:.3f}")
    if arguments.plot:
        draw(arguments.plot, frequency, wanted, fits)
    return 0


if __name__ == "__main__":
    sys.exit(main())
