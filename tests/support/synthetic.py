# SPDX-License-Identifier: Apache-2.0
"""Make frames of any detector with known charge: point charges at wires, convolved with the reference
response.

Independent of the product: wires come from tests.reference.detector, responses from tests.reference.response; detector
numbers are written down here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from tests.reference import detector, response
from tests.reference.detector import WirePlane
from tests.support import wire_cell

TICK_US = 0.5
BASELINE_COUNTS = (2350, 2350, 900)  # of planes U, V, W


@dataclass(frozen=True)
class View:
    """Channels of a tensor, in an order in which neighbours are next to each other."""

    name: str
    plane: int
    channels: np.ndarray
    is_cyclic: bool


@dataclass(frozen=True)
class Detector:
    """One anode of a detector: its files and constants.

    volts_per_count  of the digitiser
    electronics      response to a pulse [mV/fC] at times [us]
    drift_us         from the response plane, where charge is put, to the wires, where the output shows it
    """

    name: str
    anode: int
    wires: Path
    field: Path
    views: tuple[View, ...]
    volts_per_count: float
    bits: int
    electronics: Callable[[np.ndarray], np.ndarray]
    drift_us: float

    def planes(self) -> dict[tuple[int, int], WirePlane]:
        """Return the wires by (face, plane)."""
        return detector.load_planes(self.wires, self.anode)

    def kernel(self, plane: int) -> np.ndarray:
        """Return ADC counts per electron at (wire -10..10, tick)."""
        reference_lsb = response.FULL_SCALE_V / 2**response.ADC_BITS
        kernel = response.kernel_of(self.field, plane, self.electronics)
        return kernel * reference_lsb / self.volts_per_count

    @property
    def delay_ticks(self) -> float:
        """Return the ticks between charge at the response plane and its output."""
        return self.drift_us / TICK_US

    @property
    def channels(self) -> np.ndarray:
        """Return all channel ids, ascending: the rows of frames."""
        return np.sort(np.concatenate([view.channels for view in self.views]))


def cold(gain_mv_per_fc: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return the response of cold electronics with 2.2 us."""
    return partial(response.cold_electronics, gain_mv_per_fc=gain_mv_per_fc)


def two_faced_views(anode: int) -> tuple[View, ...]:
    """Return the views of a ProtoDUNE-HD or -SP anode (docs/physics-notes.md#conventions)."""
    u, v, w = detector.pdhd_channel_order(anode)
    return (
        View("U", 0, u, True),
        View("V", 1, v, True),
        View("W0", 2, w[:480], False),
        View("W1", 2, w[480:], False),
    )


def protodune_hd(anode: int, name: str = "pdhd") -> Detector:
    """Anode 0 of pdhd_badAPA1 has a V plane that collects, and the field response with it."""
    is_special = (name, anode) == ("pdhd_badAPA1", 0)
    field = "np04hd-garfield-6paths-mcmc-bestfit" if is_special else "dune-garfield-1d565"
    return Detector(
        name,
        anode,
        wire_cell.description("protodunehd-wires-larsoft-v1"),
        wire_cell.description(field),
        two_faced_views(anode),
        1.4 / 2**14,
        14,
        cold(14.0),
        100 / 1.565,
    )


def protodune_sp(data: Path, anode: int) -> Detector:
    """Return an anode of ProtoDUNE-SP. data: folder of the public detector files."""
    return Detector(
        "pdsp",
        anode,
        data / "protodune-wires-larsoft-v4.json.bz2",
        data / "dune-garfield-1d565.json.bz2",
        two_faced_views(anode),
        1.4 / 2**12,
        12,
        cold(14.0 * 1.1365),
        100 / 1.565,
    )


def microboone(data: Path) -> Detector:
    """Return the anode of MicroBooNE. data: folder of the public detector files."""
    views = (
        View("U", 0, np.arange(2400), False),
        View("V", 1, np.arange(2400, 4800), False),
        View("W", 2, np.arange(4800, 8256), False),
    )
    return Detector(
        "microboone",
        0,
        data / "microboone-celltree-wires-v2.1.json.bz2",
        data / "ub-10-half.json.bz2",
        views,
        2.0 / 2**12,
        12,
        cold(14.0 * 1.2),
        100 / 1.114,
    )


def sbnd(data: Path, anode: int) -> Detector:
    """Return an anode of SBND. data: folder of the public detector files."""
    first = 5638 * anode
    ids = [
        np.arange(first, first + 1984),
        np.arange(first + 1984, first + 3968),
        np.arange(first + 3968, first + 5638),
    ]
    views = tuple(View(name, plane, ids[plane], False) for plane, name in enumerate("UVW"))
    return Detector(
        "sbnd",
        anode,
        data / "sbnd-wires-geometry-v0202.json.bz2",
        data / "garfield-sbnd-v1.json.bz2",
        views,
        1.8 / 2**12,
        12,
        cold(14.0),
        100 / 1.59,
    )


def protodune_vd(data: Path, anode: int) -> Detector:
    """Return an anode of ProtoDUNE-VD: bottom (0 to 3) or top. data: folder of the public detector files.

    Two anodes beside each other along z have consecutive channels: U of both, V of both, then W of both. Channels of falling
    strips increase along z, those of rising ones decrease.
    """
    is_top = anode > 3
    first, second = 3072 * (anode // 2), anode % 2
    u, v = (first + offset + 476 * second + np.arange(476) for offset in (0, 952))
    w = first + 1904 + 584 * second + np.arange(584)
    wires = data / "protodunevd-wires-larsoft-v5.json.bz2"
    views = (
        View("U", 0, u if is_top else u[::-1], False),
        View("V", 1, v[::-1] if is_top else v, False),
        View("W0", 2, w[292:], False),
        View("W1", 2, w[:292], False),
    )
    samples = data / "dunevd-coldbox-elecresp-top-psnorm_400.json.bz2"
    return Detector(
        "pdvd_top" if is_top else "pdvd_bottom",
        anode,
        wires,
        data / "protodunevd_FR_norminal_260324.json.bz2",
        views,
        (2.0 if is_top else 1.4) / 2**14,
        14,
        partial(response.sampled_electronics, path=samples, postgain=1.36) if is_top else cold(7.8),
        181 / 1.53,
    )


@dataclass(frozen=True)
class Charge:
    """Point charges on the wires of one face, one entry each.

    channel (3, point)  the nearest wire's channel in planes U, V, W
    tick    (point,)    when they are at the response plane, in ticks
    electrons (point,)
    """

    channel: np.ndarray
    tick: np.ndarray
    electrons: np.ndarray

    def of_plane(self, plane: int) -> Charge:
        """Return the charge as seen by one plane only."""
        channel = np.full_like(self.channel, -1)
        channel[plane] = self.channel[plane]
        return replace(self, channel=channel)


def joined(charges: list[Charge]) -> Charge:
    """Join the points of several charges."""
    return Charge(
        np.concatenate([charge.channel for charge in charges], axis=1),
        np.concatenate([charge.tick for charge in charges]),
        np.concatenate([charge.electrons for charge in charges]),
    )


def nearest_channels(planes: dict[tuple[int, int], WirePlane], face: int, points: np.ndarray) -> np.ndarray:
    """Return the channels of the wires of U, V, W nearest to points (point, 2) = (z, y) [mm]: (3, point)."""
    found = []
    for plane in range(3):
        wires = planes[face, plane]
        index = np.rint(wires.wire_coordinate(points)).astype(np.int64)
        assert index.min() >= 0 and index.max() < len(wires.channel), "a point beside the plane"
        found.append(wires.channel[index])
    return np.stack(found)


def at_cell(
    planes: dict[tuple[int, int], WirePlane], face: int, cell: np.ndarray, tick: float, electrons: float
) -> Charge:
    """Return a point charge where three wires (u, v, w in pitch order) of a face meet."""
    channel = [planes[face, plane].channel[wire] for plane, wire in enumerate(cell)]
    return Charge(np.array(channel)[:, None], np.array([tick]), np.array([electrons]))


def straight_track(
    planes: dict[tuple[int, int], WirePlane],
    face: int,
    ends_zy: np.ndarray,
    ticks: tuple[float, float],
    electrons_per_mm: float = 5000.0,
) -> Charge:
    """Return charges every 0.2 mm from one end (z, y) [mm] to the other; ticks: at the response plane, of
    both ends.
    """
    length = float(np.linalg.norm(ends_zy[1] - ends_zy[0]))
    count = math.ceil(length / 0.2)
    fraction = (np.arange(count) + 0.5) / count
    points = ends_zy[0] + fraction[:, None] * (ends_zy[1] - ends_zy[0])
    tick = ticks[0] + fraction * (ticks[1] - ticks[0])
    return Charge(
        nearest_channels(planes, face, points), tick, np.full(count, electrons_per_mm * length / count)
    )


def charge_image(
    view: View, charge: Charge, ticks: int, sigma_ticks: float, delay: float = 0.0
) -> np.ndarray:
    """Return the electrons of a view at (channel, tick), each point a Gaussian along ticks, `delay` ticks
    later.
    """
    row_of = {int(channel): row for row, channel in enumerate(view.channels)}
    image = np.zeros((len(view.channels), ticks))
    seen = np.isin(charge.channel[view.plane], view.channels)
    grid = np.arange(ticks)
    for channel in np.unique(charge.channel[view.plane][seen]):
        here = charge.channel[view.plane] == channel
        shape = np.exp(-0.5 * ((grid - (charge.tick[here] + delay)[:, None]) / sigma_ticks) ** 2)
        shape /= sigma_ticks * np.sqrt(2 * np.pi)
        image[row_of[int(channel)]] = charge.electrons[here] @ shape
    return image


def waveforms(view: View, kernel: np.ndarray, image: np.ndarray) -> np.ndarray:
    """Return ADC counts above the baseline: `image` (channel, tick) convolved with a centred response (wire,
    tick).
    """
    rows, ticks = image.shape
    if not image.any():
        return np.zeros_like(image)
    padded_rows = rows if view.is_cyclic else rows + len(kernel) - 1
    padded_ticks = ticks + kernel.shape[1]
    spectrum = np.fft.rfft2(image, (padded_rows, padded_ticks))
    spectrum *= response.response_spectrum(kernel, padded_rows, padded_ticks)
    return np.fft.irfft2(spectrum, (padded_rows, padded_ticks))[:rows, :ticks]


def frame(
    anode: Detector,
    charge: Charge,
    ticks: int = 1000,
    sigma_ticks: float = 2.0,
    noise_counts: float = 0.0,
    seed: int = 20261121,
    ident: int = 0,
) -> wire_cell.Arrays:
    """Return the arrays of an event of a frame file: digitised with white noise, or real numbers without
    noise.

    noise_counts: RMS of the noise; 0 leaves out noise and digitiser.
    """
    row_of = {int(channel): row for row, channel in enumerate(anode.channels)}
    samples = np.zeros((len(row_of), ticks))
    for view in anode.views:
        counts = waveforms(view, anode.kernel(view.plane), charge_image(view, charge, ticks, sigma_ticks))
        samples[[row_of[int(channel)] for channel in view.channels]] = counts + BASELINE_COUNTS[view.plane]
    if noise_counts == 0:
        return wire_cell.event(samples.astype(np.float32), anode.channels, ident)
    samples += np.random.default_rng(seed).normal(0, noise_counts, samples.shape)
    digitised = np.clip(np.floor(samples + 0.5), 0, 2**anode.bits - 1).astype(np.int16)
    return wire_cell.event(digitised, anode.channels, ident)
