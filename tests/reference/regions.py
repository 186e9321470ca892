"""Where the charge is, without a model: the region rule of `model=none`.

All images are on pixels (4 ticks), in units of each channel's noise (`roi.in_sigmas`).  docs/decisions/regions.md says
what each part buys.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import coincidence, decon, filters, roi


@dataclass(frozen=True)
class RegionRule:
    """Constants of the rule.  Thresholds are in sigmas of the named image, widths as named."""

    # Induction images: low pass and high pass of each, MHz.
    smooth_mhz: float = 0.12  # low pass of tight and loose: the gauss filter itself, the best bandwidth for this noise
    long_smooth_mhz: float = 0.015  # low pass of long: pulses of 20 us and more
    tight_cut_mhz: float = 0.010  # high pass of tight
    loose_cut_mhz: float = 0.002  # high pass of loose and long: below it the noise rises as 1/f^2
    # Induction thresholds.
    seed: float = 4.0  # a seed that the two other views confirm
    lone_seed: float = 5.0  # a seed without confirmation: one noise pixel in a million
    grow: float = 1.0  # a region extends while its image stays above
    witness: float = 3.0  # tight pixels that may confirm seeds of the other induction view
    neighbour: float = -0.5  # loose image, for confirmed pixels beside a region on the next wire
    # Collection.
    collection_seed: float = 4.0
    collection_grow: float = 2.0
    # Geometry.
    tolerance_wires: int = 1  # crossings are accepted one wire off: cells are as wide as a wire
    witness_pixels: int = 1  # the collection region is widened in time before it confirms
    padding_ticks: int = 4  # on either side, so that the baseline is taken outside the pulse


COLLECTION_WIENER = (0.13623, 3.35324)  # MHz, power: low pass of the tight image of collection views (spng.md 8.3)


def induction_images(spectrum: np.ndarray, ticks: int, rule: RegionRule) -> dict[str, np.ndarray]:
    """Tight, loose and long image of an induction view, in sigmas. spectrum (channel, f) -> three (channel, pixel)."""
    frequency = filters.time_frequencies(decon.PADDED_TICKS)
    smooth = filters.low_pass(frequency, rule.smooth_mhz)
    long_smooth = filters.low_pass(frequency, rule.long_smooth_mhz)
    tight_cut = filters.high_pass(frequency, rule.tight_cut_mhz)
    loose_cut = filters.high_pass(frequency, rule.loose_cut_mhz)
    shapes = {"tight": smooth * tight_cut, "loose": smooth * loose_cut, "long": long_smooth * loose_cut}
    return {name: roi.in_sigmas(decon.to_pixels(spectrum, shape, ticks)) for name, shape in shapes.items()}


def collection_region(spectrum: np.ndarray, ticks: int, rule: RegionRule) -> np.ndarray:
    """Region of a collection view: tight seeds grown in time. spectrum (channel, f) -> (channel, pixel) bool."""
    frequency = filters.time_frequencies(decon.PADDED_TICKS)
    tight = roi.in_sigmas(decon.to_pixels(spectrum, filters.low_pass(frequency, *COLLECTION_WIENER), ticks))
    return roi.grow_in_time(tight > rule.collection_seed, tight > rule.collection_grow)


def induction_core(
    images: dict[str, np.ndarray], rule: RegionRule, confirmed: np.ndarray | None = None
) -> np.ndarray:
    """Seeds grown in time: short pulses in the tight image, long ones found in long and grown in loose.

    `confirmed` (channel, pixel) marks pixels where the two other views cross; without it every seed counts.
    """
    core = np.zeros(images["tight"].shape, dtype=bool)
    for seeding, growing in (("tight", "tight"), ("long", "loose")):
        seeds = images[seeding] > rule.seed
        if confirmed is not None:
            seeds = (seeds & confirmed) | (images[seeding] > rule.lone_seed)
        core |= roi.grow_in_time(seeds, images[growing] > rule.grow)
    return core


def find_regions(
    spectra: list[np.ndarray], cells: np.ndarray, ticks: int, rule: RegionRule = RegionRule()
) -> list[np.ndarray]:
    """Regions of the views U, V, W from their deconvolved spectra (channel, f). -> three (channel, pixel) bool.

    cells (cell, 3): rows of the three views that cross.  U and V are wrapped planes (cyclic channel axis).
    """
    collection = collection_region(spectra[2], ticks, rule)
    images = [induction_images(spectrum, ticks, rule) for spectrum in spectra[:2]]
    witnesses = [induction_core(view, rule) | (view["tight"] > rule.witness) for view in images]
    masks = [*witnesses, roi.pad_in_time(collection, rule.witness_pixels)]
    regions = []
    for view in range(2):
        crossings = coincidence.crossings_hit(cells, masks, view)
        confirmed = coincidence.widen_channels(crossings, rule.tolerance_wires, cyclic=True)
        core = induction_core(images[view], rule, confirmed)
        beside = coincidence.widen_channels(core, 1, cyclic=True)
        regions.append(core | (beside & confirmed & (images[view]["loose"] > rule.neighbour)))
    return [*regions, collection]


def region_ticks(region: np.ndarray, padding_ticks: int) -> np.ndarray:
    """(channel, pixel) bool -> (channel, tick) bool, widened in time by `padding_ticks` on either side."""
    return roi.pad_in_time(np.repeat(region, decon.PIXEL_TICKS, axis=-1), padding_ticks)
