# SPDX-License-Identifier: Apache-2.0
"""Wires of an anode: positions, channels, the order of channels in the tensors, and the three-wire cells.

Source of the conventions: wire file format of the Wire-Cell Toolkit; docs/physics-notes.md#conventions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from tests.reference.files import read_json

U, V, W = 0, 1, 2


@dataclass(frozen=True)
class WirePlane:
    """Wires of one plane of one face in increasing pitch order.

    tail, head (wire, 2)  end points (z, y) in mm
    channel    (wire,)    channel id read out by the wire
    segment    (wire,)    0 for the wire attached to the electronics, 1, 2 for its continuations
    direction  (2,)       unit vector along the wires, (z, y)
    pitch_direction (2,)  unit vector across the wires with a positive z component (y if the wires run along z)
    pitch      mm         distance of neighbouring wires
    first      mm         pitch coordinate of the centre of wire 0
    """

    tail: np.ndarray
    head: np.ndarray
    channel: np.ndarray
    segment: np.ndarray
    direction: np.ndarray
    pitch_direction: np.ndarray
    pitch: float
    first: float

    def wire_coordinate(self, points: np.ndarray) -> np.ndarray:
        """Return the position of points (..., 2) in units of wires; an integer is the CENTRE of that wire."""
        return (points @ self.pitch_direction - self.first) / self.pitch


def _plane(wires: list[dict], points: np.ndarray) -> WirePlane:
    tail = points[[wire["tail"] for wire in wires]]
    head = points[[wire["head"] for wire in wires]]
    spans = head - tail
    # Every wire points upwards, or to smaller z if it runs along z, so that the mean direction is meaningful.
    spans *= np.where(spans[:, 1] != 0, np.sign(spans[:, 1]), -np.sign(spans[:, 0]))[:, None]
    direction = spans.sum(axis=0)
    direction /= np.linalg.norm(direction)
    pitch_direction = np.array([direction[1], -direction[0]])
    position = 0.5 * (tail + head) @ pitch_direction
    order = np.argsort(position, kind="stable")
    position = position[order]
    pitch = float((position[-1] - position[0]) / (len(position) - 1))
    first = float(np.mean(position - pitch * np.arange(len(position))))
    channel = np.array([wire["channel"] for wire in wires])[order]
    segment = np.array([wire["segment"] for wire in wires])[order]
    return WirePlane(tail[order], head[order], channel, segment, direction, pitch_direction, pitch, first)


@lru_cache(maxsize=4)
def _store(path: str) -> dict:
    return read_json(path)["Store"]


@lru_cache(maxsize=16)
def load_planes(path: str | Path, anode: int) -> dict[tuple[int, int], WirePlane]:
    """Return the planes of one anode (its id) by (face, plane), the same object for every call.  The file's x coordinate (drift)
    is not needed here.
    """
    store = _store(str(path))
    anode = [entry["Anode"]["ident"] for entry in store["anodes"]].index(anode)
    points = np.array([[entry["Point"]["z"], entry["Point"]["y"]] for entry in store["points"]])
    planes: dict[tuple[int, int], WirePlane] = {}
    for face_index in store["anodes"][anode]["Anode"]["faces"]:
        face = store["faces"][face_index]["Face"]
        for plane_index in face["planes"]:
            plane = store["planes"][plane_index]["Plane"]
            wires = [store["wires"][index]["Wire"] for index in plane["wires"]]
            planes[face["ident"], plane["ident"]] = _plane(wires, points)
    return planes


def joined_planes(path: str | Path, parts: tuple[int, ...]) -> dict[tuple[int, int], WirePlane]:
    """Return the planes of one-faced anodes (their ids) as the faces 0, 1, ... of one anode. Wires end where the U wires of
    their part end.
    """
    joined = {}
    for face, part in enumerate(parts):
        planes = {plane: wires for (_, plane), wires in load_planes(path, part).items()}
        ends = np.concatenate([planes[U].tail, planes[U].head])
        beside = abs(planes[U].pitch_direction) * planes[U].pitch / 2
        for plane, wires in planes.items():
            joined[face, plane] = _clipped(wires, ends.min(axis=0) - beside, ends.max(axis=0) + beside)
    return joined


def _clipped(plane: WirePlane, low: np.ndarray, high: np.ndarray) -> WirePlane:
    """Return the parts of the wires within a rectangle with corners (z, y)."""
    span = plane.head - plane.tail
    with np.errstate(divide="ignore", invalid="ignore"):
        cuts = np.sort([(low - plane.tail) / span, (high - plane.tail) / span], axis=0)
    first, last = cuts[0].max(axis=1).clip(min=0), cuts[1].min(axis=1).clip(max=1)
    kept = np.flatnonzero(first < last)
    assert (np.diff(kept) == 1).all(), "neighbouring wires"
    return replace(
        plane,
        tail=(plane.tail + first[:, None] * span)[kept],
        head=(plane.tail + last[:, None] * span)[kept],
        channel=plane.channel[kept],
        segment=plane.segment[kept],
        first=plane.first + plane.pitch * kept[0],
    )


def pdhd_channel_order(anode: int) -> list[np.ndarray]:
    """Return the channel ids of the rows of the views U (800), V (800), W (960 = face 0 then face 1) of a PDHD
    anode.

    U and V join the two faces so that neighbouring rows are neighbouring wires also across the wrap (cyclic
    axis).
    """
    u = np.arange(0, 800)
    v = np.concatenate([np.arange(1199, 799, -1), np.arange(1599, 1199, -1)])
    w = np.concatenate([np.arange(2080, 2560), np.arange(1600, 2080)])
    return [2560 * anode + view for view in (u, v, w)]


def face_cells(planes: dict[tuple[int, int], WirePlane], face: int) -> np.ndarray:
    """Return the cells of one face: crossings of V wire centre lines with the U wires, and the W wire nearest to each
    crossing.

    A crossing belongs to the face when it lies between the ends of its U wire (half open), which all end at
    the frame.
    -> (cell, 3) int wire indices (u, v, w) in pitch order, sorted by u then v.  The W index is clamped to
    the plane. Formula: docs/physics-notes.md#cells.
    """
    plane_u, plane_v, plane_w = (planes[face, view] for view in (U, V, W))
    ends = np.stack([plane_v.wire_coordinate(plane_u.tail), plane_v.wire_coordinate(plane_u.head)])
    low, high = np.clip(np.ceil(np.sort(ends, axis=0)), 0, len(plane_v.channel)).astype(np.int64)
    u = np.repeat(np.arange(len(low)), high - low)
    v = np.concatenate([np.arange(first, last) for first, last in zip(low, high)])
    # Along a U wire every coordinate is linear in the V coordinate.
    fraction = (v - ends[0, u]) / (ends[1, u] - ends[0, u])
    crossing = plane_u.tail[u] + fraction[:, None] * (plane_u.head - plane_u.tail)[u]
    w = np.rint(plane_w.wire_coordinate(crossing)).astype(np.int64)
    return np.stack([u, v, np.clip(w, 0, len(plane_w.channel) - 1)], axis=1)


def channel_cells(planes: dict[tuple[int, int], WirePlane], order: list[np.ndarray]) -> np.ndarray:
    """Return the cells of all faces of an anode as tensor rows: (cell, 3) row in view U, V, W.

    `order[view]` lists the channel id of every row of that view.
    """
    row_of = [{int(channel): row for row, channel in enumerate(view)} for view in order]
    tables = []
    for face in sorted({key[0] for key in planes}):
        cells = face_cells(planes, face)
        columns = []
        for view in (U, V, W):
            rows = np.array([row_of[view][int(channel)] for channel in planes[face, view].channel])
            columns.append(rows[cells[:, view]])
        tables.append(np.stack(columns, axis=1))
    return np.concatenate(tables)
