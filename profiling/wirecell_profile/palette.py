# SPDX-License-Identifier: Apache-2.0
"""Colours of ranges by their kind, the same in every tool, table and picture.

The kinds are the NVTX categories of wire-cell's ranges. The table repeats `palette` of
spng/include/WireCellSpng/TorchnvTools.h, where the hues are explained; a test compares the two.
"""

from __future__ import annotations

PALETTE: dict[str, str] = {
    "other": "#9E9E9E",
    "step": "#C7C7C7",
    "source": "#8C6D31",
    "sink": "#BD9E39",
    "plumbing": "#7F7F7F",
    "frame": "#E7CB94",
    "decon": "#1F4E9C",
    "filter": "#4EA3D9",
    "roi": "#F28E2B",
    "coincidence": "#D62728",
    "dnn": "#8E44AD",
    "service": "#C39BD3",
    "tap": "#17A589",
    "sim": "#2E8B57",
    "noise": "#98C379",
    "event": "#34495E",
    "scheduling": "#5D6D7E",
    "io": "#6E4B2A",
    "torch": "#E377C2",
    "capture": "#F1C40F",
    "replay": "#F7DC6F",
}


# Names of common colours, 0xAARRGGBB; TorchnvTools.h has the same in Colour.
COLOURS: dict[str, int] = {
    "black": 0xFF000000,
    "blue": 0xFF0000FF,
    "brown": 0xFFA52A2A,
    "cyan": 0xFF00FFFF,
    "green": 0xFF008000,
    "grey": 0xFF808080,
    "magenta": 0xFFFF00FF,
    "orange": 0xFFFFA500,
    "pink": 0xFFFFC0CB,
    "purple": 0xFF800080,
    "red": 0xFFFF0000,
    "white": 0xFFFFFFFF,
    "yellow": 0xFFFFFF00,
}


def argb_named(colour: int | str) -> int:
    """Return a colour as NVTX takes it: the value of a name, or a number as it is. Raise ValueError for other names."""
    if isinstance(colour, int):
        return colour
    if colour.lower() not in COLOURS:
        raise ValueError(f"no colour has the name {colour!r}; the names are {', '.join(COLOURS)}")
    return COLOURS[colour.lower()]


def colour_of(kind: str) -> str:
    """Return the colour of a kind as #RRGGBB; unknown kinds have that of "other"."""
    return PALETTE.get(kind, PALETTE["other"])


def argb_of(kind: str) -> int:
    """Return the colour as NVTX takes it: 0xAARRGGBB, opaque."""
    return 0xFF000000 | int(colour_of(kind)[1:], 16)
