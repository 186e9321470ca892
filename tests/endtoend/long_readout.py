# SPDX-License-Identifier: Apache-2.0
"""Share between tests of long readouts: the rule of docs/decisions/long-readouts.md in NumPy."""

from __future__ import annotations

import numpy as np

from tests.support import wire_cell
from tests.support.small_site import START_NS, TICK_NS

REGION_TAGS = ("signal", "error", "wiener", "roi")


def idents(arrays: wire_cell.Arrays) -> list[int]:
    """Numbers of the events, in the order of the file."""
    return list(dict.fromkeys(int(name.rpartition("_")[2]) for name in arrays if name.startswith("frame_")))


def whole(arrays: wire_cell.Arrays, tag: str) -> np.ndarray:
    """The frames of a readout one after the other, which their times must say too. -> (channel, tick)."""
    parts = []
    for ident in idents(arrays):
        start, tick, first = arrays[f"tickinfo_{tag}_{ident}"]
        assert (
            start == START_NS + TICK_NS * sum(part.shape[1] for part in parts)
            and tick == TICK_NS
            and first == 0
        )
        parts.append(arrays[f"frame_{tag}_{ident}"])
    return np.concatenate(parts, axis=1)


def window_positions(ticks: int, core: int, before: int, after: int) -> list[tuple[int, int, int, int]]:
    """(begin, end, core begin, core end) of the readout windows of a long readout."""
    length = core + before + after
    count = 1 + -(-(ticks - length) // core)
    found = []
    for index in range(count):
        last = index == count - 1
        begin = -(-(ticks - length) // 4) * 4 if last else index * core
        core_begin = 0 if index == 0 else index * core + before
        found.append(
            (begin, ticks if last else begin + length, core_begin, ticks if last else begin + before + core)
        )
    return found


def stitched(
    windows: list[tuple[int, int, int, int]], outputs: list[dict[str, np.ndarray]], tag: str
) -> np.ndarray:
    """The output of a readout from those of its readout windows, each processed as an event of its own; tick by tick."""
    result = np.zeros((outputs[0][tag].shape[0], windows[-1][1]), outputs[0][tag].dtype)
    taken = np.zeros(result.shape, bool)
    for (begin, end, core_begin, core_end), output in zip(windows, outputs, strict=True):
        free = np.zeros(result.shape, bool)
        free[:, core_begin:core_end] = ~taken[:, core_begin:core_end]
        result[free] = output[tag][free[:, begin:end]]
        if tag in REGION_TAGS:
            inside = output["roi"] != 0
            for tick in range(core_end, end):
                goes_on = inside[:, tick - begin] & (
                    inside[:, core_end - 1 - begin] if tick == core_end else taken[:, tick - 1]
                )
                result[goes_on, tick] = output[tag][goes_on, tick - begin]
                taken[goes_on, tick] = True
    return result
