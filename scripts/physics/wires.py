# SPDX-License-Identifier: Apache-2.0
"""Wires of an anode from WCT's wire file: the channels of each view, and positions in units of wires."""

from __future__ import annotations

import bz2
import gzip
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

VIEWS = ("U", "V", "W")
COLLECTION = 2  # index of W; the others are induction views
OPENERS: dict[str, Callable[[Path, Literal["rb"]], io.BufferedIOBase]] = {".gz": gzip.open, ".bz2": bz2.open}


@dataclass(frozen=True)
class Plane:
    """Wires of one view on one face, by increasing pitch coordinate.

    channel (wire,); pitch_direction (2,) unit vector (z, y) across the wires, towards growing z, or y if wires run along z;
    pitch [mm];
    first [mm]: pitch coordinate of wire 0.
    """

    channel: np.ndarray
    pitch_direction: np.ndarray
    pitch: float
    first: float

    def wire_coordinate(self, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the position of points [mm] in units of wires; a whole number is the centre of that wire."""
        return (z * self.pitch_direction[0] + y * self.pitch_direction[1] - self.first) / self.pitch


@dataclass(frozen=True)
class Anode:
    """channels: the channel ids of each view U, V, W in increasing order; planes: (face, view) -> wires."""

    channels: tuple[np.ndarray, ...]
    planes: dict[tuple[int, int], Plane]


def load_anode(path: Path, *idents: int) -> Anode:
    """Read an anode from a wire file (.json, .json.gz or .json.bz2) with wire ends in mm.

    idents  of one anode, or of those that are the faces 0, 1, ... of one
    """
    with OPENERS.get(path.suffix, open)(path, "rb") as stream:
        store = json.load(stream)["Store"]
    points = np.array([[entry["Point"]["z"], entry["Point"]["y"]] for entry in store["points"]])
    by_ident = {entry["Anode"]["ident"]: entry["Anode"] for entry in store["anodes"]}
    planes: dict[tuple[int, int], Plane] = {}
    for position, ident in enumerate(idents):
        for face_index in by_ident[ident]["faces"]:
            face = store["faces"][face_index]["Face"]
            of_face = position if len(idents) > 1 else face["ident"]
            for plane_index in face["planes"]:
                plane = store["planes"][plane_index]["Plane"]
                wires = [store["wires"][wire_index]["Wire"] for wire_index in plane["wires"]]
                planes[of_face, plane["ident"]] = _plane(wires, points)
    channels = tuple(
        np.unique(np.concatenate([plane.channel for (_, view), plane in planes.items() if view == wanted]))
        for wanted in range(len(VIEWS))
    )
    return Anode(channels, planes)


def _plane(wires: list[dict], points: np.ndarray) -> Plane:
    tail, head = (points[[wire[end] for wire in wires]] for end in ("tail", "head"))
    spans = head - tail
    # All upwards, or to smaller z along z, so that they do not cancel in the sum.
    spans *= np.where(spans[:, 1] != 0, np.sign(spans[:, 1]), -np.sign(spans[:, 0]))[:, None]
    along = spans.sum(axis=0) / np.linalg.norm(spans.sum(axis=0))
    across = np.array([along[1], -along[0]])
    position = 0.5 * (tail + head) @ across
    order = np.argsort(position, kind="stable")
    position = position[order]
    pitch = float((position[-1] - position[0]) / (len(position) - 1))
    first = float(np.mean(position - pitch * np.arange(len(position))))
    return Plane(np.array([wire["channel"] for wire in wires])[order], across, pitch, first)
