# SPDX-License-Identifier: Apache-2.0
"""Coincidence of the three views through the cells, on 4-tick pixels.

For a target channel c let X_c be the OR, over the cells of c, of the AND of the other two views' masks.  Then
MP3 = mask & X, MP2 = ~mask & X, MP1 = mask & ~X, MP0 = ~mask & ~X (docs/physics-notes.md#mp2-and-mp3-coincidence).
"""

from __future__ import annotations

import numpy as np


def pack(mask: np.ndarray) -> np.ndarray:
    """Pack a boolean mask (channel, pixel) along pixels -> (channel, word) uint64, zero padded."""
    packed = np.packbits(mask, axis=-1, bitorder="little")
    padding = -packed.shape[-1] % 8
    return np.ascontiguousarray(np.pad(packed, ((0, 0), (0, padding)))).view(np.uint64)


def unpack(words: np.ndarray, pixels: int) -> np.ndarray:
    """Undo `pack`: (channel, word) uint64 -> (channel, pixels) bool."""
    return np.unpackbits(words.view(np.uint8), axis=-1, bitorder="little")[:, :pixels].astype(bool)


def crossings_hit(cells: np.ndarray, masks: list[np.ndarray], target: int) -> np.ndarray:
    """Return X of the target view: whether the two other views cross on the channel in the same pixel.

    cells (cell, 3) rows per view; masks three (channel, pixel) bool; target 0..2.  -> (channel of target,
    pixel) bool
    """
    first, second = (view for view in range(3) if view != target)
    pairs = cells[np.argsort(cells[:, target], kind="stable")]
    starts = np.searchsorted(pairs[:, target], np.arange(masks[target].shape[0] + 1))
    words_first, words_second = pack(masks[first]), pack(masks[second])
    hit = np.zeros((masks[target].shape[0], words_first.shape[1]), dtype=np.uint64)
    for channel in range(len(hit)):
        block = pairs[starts[channel] : starts[channel + 1]]
        if len(block):
            both = words_first[block[:, first]] & words_second[block[:, second]]
            hit[channel] = np.bitwise_or.reduce(both, axis=0)
    return unpack(hit, masks[target].shape[1])


def widen_channels(mask: np.ndarray, wires: int, cyclic: bool) -> np.ndarray:
    """Return the OR of each row with its `wires` neighbours on either side; wrapped planes are cyclic.

    (..., channel, pixel) bool.
    """
    out = mask.copy()
    for step in range(1, wires + 1):
        for shift in (step, -step):
            moved = np.roll(mask, shift, axis=-2)
            if not cyclic:
                edge = slice(0, step) if shift > 0 else slice(-step, None)
                moved[..., edge, :] = False
            out |= moved
    return out


def multi_plane(mask: np.ndarray, crossings: np.ndarray) -> dict[str, np.ndarray]:
    """Return MP0 (neither), MP1 (target only), MP2 (crossing only), MP3 (both) of a target mask and its X."""
    return {
        "mp0": ~mask & ~crossings,
        "mp1": mask & ~crossings,
        "mp2": ~mask & crossings,
        "mp3": mask & crossings,
    }
