# SPDX-License-Identifier: Apache-2.0
"""Find the ROIs without a network: the rule of `model=none`.

All images are on pixels (4 ticks), in units of each channel's noise (`roi.in_sigmas`).
docs/decisions/regions.md gives the effect of each part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import coincidence, decon, filters, roi


@dataclass(frozen=True)
class RegionRule:
    """Constants of the rule.  Thresholds are in sigmas of the named image, widths as named."""

    # Noise level of every image: the samples within so many sigmas count as noise (roi.robust_levels), and
    # every fourth pixel is enough to find it.
    rms_cut: float = 3.0
    rms_stride: int = 4
    # Images of induction views. Low pass of tight and loose (MHz, power): the gauss filter's own. High passes
    # (MHz): below 2 kHz the noise rises as 1/f^2; 10 kHz keeps pulses up to 30 us whole.
    smooth: tuple[float, float] = (0.12, 2.0)
    tight_cut_mhz: float = 0.010
    loose_cut_mhz: float = 0.002
    # Long pulses of steep tracks: the loose image is clipped, so that a short bright pulse does not look
    # long, and summed over 34 and 102 us (odd numbers of pixels), for tracks above 75 and 84 degrees.
    long_clip: float = 5.0
    long_pixels: tuple[int, ...] = (17, 51)
    # Seeds of tight and long: where the two other views cross, and anywhere (one noise pixel in a million).
    seed: float = 4.0
    lone_seed: float = 5.0
    # A region goes on while tight, or loose for long pulses, is above.
    grow: float = 1.0
    # Share of a long pulse's pixels where the two other views must cross.
    long_confirmed: float = 0.25
    # Tight pixels above count as hits when they confirm seeds of the other induction view.
    witness: float = 3.0
    # Tight image on the wires beside a short pulse, where the two other views cross. A seed there needs no crossing.
    beside: float = -1.0
    # Collection views. No channel is noisier than collection_cap times the view's median: the rest is signal.
    collection_seed: float = 5.0
    collection_grow: float = 2.0
    collection_cap: float = 3.0
    # Crossings count one wire off, since a cell is as wide as a wire.
    tolerance_wires: int = 1
    # The collection region is wider by so many pixels on either side when it confirms.
    witness_pixels: int = 1
    # The final region is wider by one pixel on either side: its ends lie at the foot of the pulse.
    padding_ticks: int = 4


# Low pass (MHz, power) of the tight ROI image of collection views (docs/physics-notes.md#filters).
COLLECTION_LOW_PASS = (0.17, 3.4)


def induction_images(spectrum: np.ndarray, ticks: int, rule: RegionRule) -> dict[str, np.ndarray]:
    """Return the images of a wrapped induction view, in sigmas. spectrum (channel, f) -> three (channel, pixel).

    tight: single wires.  loose: sum of a wire and its neighbours, since a steep track covers several
    wires at once while their slow noise is independent.  long: the largest of the running sums of the
    clipped loose image, each the matched filter of a long weak pulse and in its own sigmas.
    """
    frequency = filters.time_frequencies(decon.PADDED_TICKS)
    smooth = filters.low_pass(frequency, *rule.smooth)
    tight = decon.to_pixels(spectrum, smooth * filters.high_pass(frequency, rule.tight_cut_mhz), ticks)
    wide = decon.to_pixels(spectrum, smooth * filters.high_pass(frequency, rule.loose_cut_mhz), ticks)
    three = wide + np.roll(wide, 1, axis=0) + np.roll(wide, -1, axis=0)
    loose = roi.in_sigmas(three, rule.rms_cut, rule.rms_stride)
    clipped = np.clip(loose, -rule.long_clip, rule.long_clip)
    long = np.full_like(loose, -np.inf)
    for pixels in rule.long_pixels:
        total = roi.running_sum(clipped, pixels)
        long = np.maximum(long, roi.in_sigmas(total, rule.rms_cut, rule.rms_stride))
    return {"tight": roi.in_sigmas(tight, rule.rms_cut, rule.rms_stride), "loose": loose, "long": long}


def collection_region(spectrum: np.ndarray, ticks: int, rule: RegionRule) -> np.ndarray:
    """Return the tight seeds of a collection view, grown in time. spectrum (channel, f) -> (channel, pixel) bool."""
    frequency = filters.time_frequencies(decon.PADDED_TICKS)
    waveform = decon.to_pixels(spectrum, filters.low_pass(frequency, *COLLECTION_LOW_PASS), ticks)
    tight = roi.in_sigmas(waveform, rule.rms_cut, rule.rms_stride, rule.collection_cap)
    return roi.grow_in_time(tight > rule.collection_seed, tight > rule.collection_grow)


def induction_cores(
    images: dict[str, np.ndarray], rule: RegionRule, confirmed: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return seeds grown in time: short pulses in the tight image; long ones seeded in long and grown in
    loose.

    `confirmed` (channel, pixel) marks pixels where the two other views cross.  A short pulse needs it at
    its seed; a long one along `long_confirmed` of its length, since among many pixels some are confirmed by
    chance.  Seeds above lone_seed need no confirmation; without `confirmed` no seed does.
    -> short, long (channel, pixel) bool
    """
    tight, long = images["tight"], images["long"]
    short_seeds, long_seeds = tight > rule.seed, long > rule.seed
    if confirmed is not None:
        short_seeds = (short_seeds & confirmed) | (tight > rule.lone_seed)
    short_core = roi.grow_in_time(short_seeds, tight > rule.grow)
    long_core = roi.grow_in_time(long_seeds, images["loose"] > rule.grow)
    if confirmed is not None:
        length = roi.count_in_runs(long_core, long_core)
        crossed = roi.count_in_runs(long_core, confirmed) >= rule.long_confirmed * length
        lone = roi.count_in_runs(long_core, long > rule.lone_seed) > 0
        long_core &= crossed | lone
    return short_core, long_core


def find_regions(
    spectra: list[np.ndarray], cells: np.ndarray, ticks: int, rule: RegionRule = RegionRule()
) -> list[np.ndarray]:
    """Return the ROIs of U, V, W from their deconvolved spectra (channel, f). -> three (channel, pixel) bool.

    cells (cell, 3): rows of the three views that cross.  U and V are wrapped planes (cyclic channel axis).
    """
    collection = collection_region(spectra[2], ticks, rule)
    images = [induction_images(spectrum, ticks, rule) for spectrum in spectra[:2]]
    witnesses = []
    for view in images:
        short, long = induction_cores(view, rule)
        witnesses.append(short | long | (view["tight"] > rule.witness))
    masks = [*witnesses, roi.pad_in_time(collection, rule.witness_pixels)]
    regions = []
    for view in range(2):
        crossings = coincidence.crossings_hit(cells, masks, view)
        confirmed = coincidence.widen_channels(crossings, rule.tolerance_wires, cyclic=True)
        short, long = induction_cores(images[view], rule, confirmed)
        beside = coincidence.widen_channels(short, 1, cyclic=True)
        tight = images[view]["tight"]
        supported = roi.grow_in_time(beside & (tight > rule.seed), tight > rule.grow)
        regions.append(short | long | supported | (beside & confirmed & (tight > rule.beside)))
    return [*regions, collection]


def region_ticks(region: np.ndarray, padding_ticks: int) -> np.ndarray:
    """Convert (channel, pixel) bool to (channel, tick) bool, widened in time by `padding_ticks` on either
    side.
    """
    return roi.pad_in_time(np.repeat(region, decon.PIXEL_TICKS, axis=-1), padding_ticks)
