# SPDX-License-Identifier: Apache-2.0
"""Choices of few channels of a view, for the study `few` and for tests/endtoend/few_channels.py."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from spng import Frame

COUNTS = (1, 8, 48, 100, 200, 300)
PIECE, SCATTERED, STRIPED = "one piece", "scattered", "striped"
EDGE = 3  # channels at both ends of a piece that do not count: their absent neighbours are part of the deconvolution
STRIPE = 20  # channels of a stripe


@dataclass(frozen=True)
class Case:
    """Channels of a view that a frame has; it has all channels of the other views too if `is_beside` is true."""

    view: str
    kind: str
    channels: np.ndarray
    is_beside: bool = True

    @property
    def inner(self) -> np.ndarray:
        """The channels that count: all, but of a piece not those at its ends, if it has others."""
        is_long = self.kind == PIECE and len(self.channels) > 2 * EDGE
        return self.channels[EDGE:-EDGE] if is_long else self.channels


def chosen(count: int, total: int, centre: int, kind: str) -> np.ndarray:
    """Return the rows (count,) of a view that stay, with `centre` among them: consecutive ones, or equally spaced ones."""
    if kind == PIECE:
        first = min(max(0, centre - count // 2), total - count)
        return np.arange(first, first + count)
    spacing = total // count
    return np.sort((centre + spacing * np.arange(count)) % total)


def cases(views: dict[str, np.ndarray], charges: dict[str, np.ndarray]) -> Iterator[Case]:
    """Yield the cases of all views. charges: (channel,) of the whole frame; a piece is around the channel with the most."""
    for view, channels in views.items():
        centre = int(np.argmax(charges[view]))
        for kind in (PIECE, SCATTERED):
            for count in COUNTS:
                yield Case(view, kind, channels[chosen(count, len(channels), centre, kind)])


def striped(view: str, channels: np.ndarray) -> Case:
    """Return the case of STRIPE absent and STRIPE present channels in turn."""
    return Case(view, STRIPED, channels[np.arange(len(channels)) // STRIPE % 2 == 1])


def edge_distances(case: Case) -> np.ndarray:
    """Return the distance (channel,) of the channels of a striped case from the edge of their stripe."""
    offset = np.arange(len(case.channels)) % STRIPE
    return np.minimum(offset, STRIPE - 1 - offset)


def present(case: Case, of_view: np.ndarray, channels: np.ndarray) -> np.ndarray:
    """Return which channels of the whole frame the frame of a case has (bool). of_view: all channels of the case's view."""
    return np.isin(channels, case.channels) | (case.is_beside & ~np.isin(channels, of_view))


def with_few(frame: Frame, case: Case, of_view: np.ndarray, ident: int) -> Frame:
    """Return the event with only the channels of a case."""
    traces = frame.only()
    kept = present(case, of_view, traces.channels)
    changed = replace(traces, samples=np.asarray(traces.dense())[kept], channels=traces.channels[kept])
    return replace(frame, traces={traces.tag: changed}, ident=ident)
