# SPDX-License-Identifier: Apache-2.0
"""A small simulation for tests and studies: straight tracks -> charge on wires -> ADC counts with noise,
and the truth.

Charge is spread by diffusion, collected on wires, convolved with the wire-averaged response (impact
positions inside a wire region are not resolved) and digitised.  All tracks are on one face.  Geometry,
drift and noise numbers of ProtoDUNE-HD.

Run: python -m tests.reference.simulate WIRES.json.gz FIELD.json.gz NOISE.json.bz2 TRACKS SEED ADC.npz
TRUTH.npz
"""

from __future__ import annotations

import bz2
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import chain as chain_module
from . import detector, frames
from . import response as response_module
from .detector import WirePlane

DRIFT_SPEED_MM_PER_US = 1.60563
LONGITUDINAL_DIFFUSION_MM2_PER_US = 4.0e-4  # 4.0 cm2/s
TRANSVERSE_DIFFUSION_MM2_PER_US = 8.8e-4  # 8.8 cm2/s
RESPONSE_PLANE_MM = -3430.465  # drift coordinate x of the response plane of anode 0, face 0
CATHODE_MM = -20.0
FRAME_START_US = -312.28084926166
TICK_US = 0.5
TICKS = 6000
CHARGE_PER_MM = 5000.0
STEP_MM = 0.5
BASELINE_COUNTS = (9402.0, 9402.0, 3601.0)
# From the response plane to the collection plane, as the truth of the Wire-Cell Toolkit simulation has it.
TRUTH_DELAY_TICKS = 128.35
TRUTH_SMEAR_TICKS = (2.6919, 2.6750, 2.7138)
TRUTH_SMEAR_WIRES = (0.7377, 0.7158, 0.1398)


@dataclass(frozen=True)
class Depositions:
    """Point charges at the response plane:

    time [us], y and z [mm], electrons, sigma along [us] and across [mm].
    """

    time: np.ndarray
    y: np.ndarray
    z: np.ndarray
    electrons: np.ndarray
    sigma_time: np.ndarray
    sigma_across: np.ndarray


def random_tracks(rng: np.random.Generator, count: int) -> np.ndarray:
    """Return isotropic lines that cross the drift volume of one anode: (track, 2, 3) end points x, y, z [mm]."""
    low = np.array([RESPONSE_PLANE_MM + 10, 90.0, 15.0])
    high = np.array([CATHODE_MM, 6045.0, 2285.0])
    tracks = []
    while len(tracks) < count:
        through = rng.uniform(low, high)
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        with np.errstate(divide="ignore"):
            distances = np.sort(np.stack([(low - through) / direction, (high - through) / direction]), axis=0)
        begin, end = distances[0].max(), distances[1].min()
        if end - begin > 300.0:
            tracks.append([through + begin * direction, through + end * direction])
    return np.array(tracks)


def drift(
    rng: np.random.Generator, tracks: np.ndarray, straggling: float = 0.15, spread: float = 0.2
) -> Depositions:
    """Deposit charge every STEP_MM along each track (start, end) and drift it to the response plane.

    straggling: relative fluctuation of each step; spread: tracks differ by a factor uniform in 1.15 (1 -+
    spread), 1 if 0.
    """
    pieces = []
    for start, end in tracks:
        length = float(np.linalg.norm(end - start))
        steps = max(int(round(length / STEP_MM)), 1)
        points = start + (np.arange(steps)[:, None] + 0.5) / steps * (end - start)
        scale = 1.15 * rng.uniform(1 - spread, 1 + spread) if spread else 1.0
        charge = CHARGE_PER_MM * scale * length / steps * rng.normal(1.0, straggling, steps).clip(0.2)
        pieces.append(np.column_stack([points, charge]))
    x, y, z, electrons = np.concatenate(pieces).T
    time = (x - RESPONSE_PLANE_MM) / DRIFT_SPEED_MM_PER_US
    along = np.sqrt(2 * LONGITUDINAL_DIFFUSION_MM2_PER_US * time) / DRIFT_SPEED_MM_PER_US
    across = np.sqrt(2 * TRANSVERSE_DIFFUSION_MM2_PER_US * time)
    return Depositions(time, y, z, electrons, along, across)


_erf = np.vectorize(math.erf, otypes=[float])
_ERF_GRID = np.linspace(-6, 6, 4801)
_ERF_TABLE = _erf(_ERF_GRID)


def _share(centre: np.ndarray, sigma: np.ndarray, reach: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the integrals of unit Gaussians over unit bins around integers.

    -> first bin (n,), shares (n, 2 reach + 1).
    """
    first = np.rint(centre).astype(np.int64) - reach
    edges = first[:, None] + np.arange(2 * reach + 2) - 0.5
    scaled = (edges - centre[:, None]) / (np.sqrt(2.0) * np.maximum(sigma, 1e-3)[:, None])
    return first, 0.5 * np.diff(np.interp(scaled, _ERF_GRID, _ERF_TABLE), axis=1)


def charge_image(
    depositions: Depositions,
    plane: WirePlane,
    row_of_wire: np.ndarray,
    rows: int,
    delay_ticks: float = 0.0,
    smear_ticks: float = 0.0,
    smear_wires: float = 0.0,
) -> np.ndarray:
    """Return the electrons per (row, tick), `delay_ticks` after the charge passes the response plane: (rows,
    TICKS).

    The centre of tick t is at time t.  Extra smears add in quadrature to diffusion.
    """
    image = np.zeros(rows * TICKS)
    wires = len(row_of_wire)
    for part in np.array_split(np.arange(len(depositions.time)), max(len(depositions.time) // 20000, 1)):
        points = np.column_stack([depositions.z[part], depositions.y[part]])
        wire = plane.wire_coordinate(points)
        tick = (depositions.time[part] - FRAME_START_US) / TICK_US + delay_ticks
        wire_sigma = np.hypot(depositions.sigma_across[part] / plane.pitch, smear_wires)
        tick_sigma = np.hypot(depositions.sigma_time[part] / TICK_US, smear_ticks)
        first_wire, share_wire = _share(wire, wire_sigma, int(np.ceil(3.5 * wire_sigma.max())) + 1)
        first_tick, share_tick = _share(tick, tick_sigma, int(np.ceil(4.0 * tick_sigma.max())) + 1)
        wire_index = first_wire[:, None] + np.arange(share_wire.shape[1])
        tick_index = first_tick[:, None] + np.arange(share_tick.shape[1])
        valid_wire = (wire_index >= 0) & (wire_index < wires)
        valid_tick = (tick_index >= 0) & (tick_index < TICKS)
        weight = (share_wire * valid_wire * depositions.electrons[part, None])[:, :, None]
        weight = weight * (share_tick * valid_tick)[:, None, :]
        row = row_of_wire[np.clip(wire_index, 0, wires - 1)]
        target = row[:, :, None] * TICKS + np.clip(tick_index, 0, TICKS - 1)[:, None, :]
        image += np.bincount(target.ravel(), weight.ravel(), minlength=len(image))
    return image.reshape(rows, TICKS)


def convolve(charge: np.ndarray, kernel: np.ndarray, cyclic: bool) -> np.ndarray:
    """Convolve charge (row, tick) with a centred response (wire, tick):

    noise-free ADC counts above the baseline.
    """
    rows, ticks = charge.shape
    padded_rows = rows if cyclic else rows + kernel.shape[0] - 1
    padded_ticks = ticks + kernel.shape[1]
    spectrum = np.fft.fft(np.fft.rfft(charge, padded_ticks, axis=1), padded_rows, axis=0)
    spectrum *= response_module.response_spectrum(kernel, padded_rows, padded_ticks)
    return np.fft.irfft(np.fft.ifft(spectrum, axis=0), padded_ticks, axis=1)[:rows, :ticks]


def noise(
    rng: np.random.Generator, path: str | Path, plane: int, rows: int, ticks: int = TICKS
) -> np.ndarray:
    """Return noise in ADC counts with the measured amplitude spectrum of a plane: (rows, ticks).

    The file gives mean amplitudes (plus a white part, in quadrature) of an unnormalised transform of 6000
    samples, in MV.
    """
    with bz2.open(path) as stream:
        entry = next(item for item in json.load(stream) if item["plane"] == plane)
    frequency = np.fft.rfftfreq(ticks, TICK_US * 1000)
    amplitude = np.hypot(np.interp(frequency, entry["freqs"], entry["amps"]), entry["const"]) * np.sqrt(
        ticks / 6000
    )
    volts_per_count = response_module.FULL_SCALE_V / 2**response_module.ADC_BITS
    amplitude *= 1e6 / volts_per_count * np.sqrt(2 / np.pi)  # Rayleigh: mean -> width of each component
    parts = rng.normal(size=(2, rows, len(frequency)))
    spectrum = amplitude * (parts[0] + 1j * parts[1])
    spectrum[:, 0] = 0.0
    return np.fft.irfft(spectrum, ticks, axis=1)


def digitise(counts: np.ndarray, baseline: float) -> np.ndarray:
    """Add the baseline and truncate to 14-bit integers. -> int16 of the same shape."""
    return np.clip(np.floor(counts + baseline), 0, 2**response_module.ADC_BITS - 1).astype(np.int16)


def face_wires(chain: chain_module.Chain, view: int) -> tuple[WirePlane, np.ndarray]:
    """Return the wires of a view on face 0, and the tensor row of each."""
    plane = detector.load_planes(chain.wires, chain.anode)[0, view]
    row_of = {int(channel): row for row, channel in enumerate(chain.order[view])}
    return plane, np.array([row_of[int(channel)] for channel in plane.channel])


def smeared_charge(chain: chain_module.Chain, depositions: Depositions, view: int) -> np.ndarray:
    """Truth of a view:

    charge at the collection plane, spread as the signal processing spreads it. -> (channel, tick).
    """
    plane, rows = face_wires(chain, view)
    smear = TRUTH_SMEAR_TICKS[view], TRUTH_SMEAR_WIRES[view]
    return charge_image(depositions, plane, rows, len(chain.order[view]), TRUTH_DELAY_TICKS, *smear)


def true_charge(chain: chain_module.Chain, tracks: np.ndarray, view: int) -> np.ndarray:
    """Return the truth of a view for tracks without fluctuations: (channel, tick) [electrons]."""
    return smeared_charge(chain, drift(np.random.default_rng(0), tracks, straggling=0.0, spread=0.0), view)


def event(
    chain: chain_module.Chain,
    noise_file: Path,
    tracks: np.ndarray,
    seed: int,
    add_noise: bool = True,
    uniform: bool = False,
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Make one event of an anode with charge on face 0: ADC counts and true charge, three (channel, tick)
    each.

    tracks (track, 2, 3) may be empty; `uniform` leaves out straggling and the spread of ionisation between
    tracks.
    """
    rng = np.random.default_rng(seed)
    depositions = None
    if len(tracks):
        depositions = drift(rng, tracks, 0.0, 0.0) if uniform else drift(rng, tracks)
    counts, truths = [], []
    for view, order in enumerate(chain.order):
        signal, truth = np.zeros((len(order), TICKS)), np.zeros((len(order), TICKS))
        if depositions is not None:
            charge = charge_image(depositions, *face_wires(chain, view), len(order))
            truth = smeared_charge(chain, depositions, view)
            kernel = response_module.response_kernel(chain.field, view)
            groups = np.split(charge, np.cumsum(chain_module.GROUP_SIZES[view])[:-1])
            signal = np.concatenate([convolve(group, kernel, view != detector.W) for group in groups])
        if add_noise:
            signal = signal + noise(rng, noise_file, view, len(order))
        counts.append(digitise(signal, BASELINE_COUNTS[view]))
        truths.append(truth)
    return counts, truths


def main(arguments: list[str]) -> None:
    """Write the ADC counts and the true charge of one simulated event as frame files."""
    wires, field, noise_file = (Path(argument) for argument in arguments[:3])
    count, seed = int(arguments[3]), int(arguments[4])
    chain = chain_module.Chain(wires, field)
    tracks = random_tracks(np.random.default_rng(seed), count) if count else np.zeros((0, 2, 3))
    channels = np.concatenate(chain.order)
    order = np.argsort(channels)
    for path, views in zip(arguments[5:7], event(chain, noise_file, tracks, seed)):
        samples = np.concatenate(views)[order]
        if samples.dtype != np.int16:
            samples = samples.astype(np.float32)
        frames.write_frame(
            path, frames.Frame(samples, channels[order], FRAME_START_US * 1000, TICK_US * 1000)
        )


if __name__ == "__main__":
    main(sys.argv[1:])
