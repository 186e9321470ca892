# SPDX-License-Identifier: Apache-2.0
"""Colours of pictures, the same on pages and in plots."""

from __future__ import annotations

ADC = ("#0b3c6f", "#5b9bd5", "#ffffff", "#ef8a62", "#8b1a1a")  # from -range to range
CHARGE = ("#ffffff", "#f9a655", "#d9376e", "#6a1b9a", "#1a0033")  # from 0 to range
NEGATIVE_CHARGE = ("#0b3c6f", "#5b9bd5", "#ffffff")  # from -range to 0
OVERLAY = (
    "#e66100",
    "#1a66d6",
)  # of layers A and B, multiplied where both are; distinct for colour-blind people

ROI = "#ffe9b0"
LINES = {"adc": "#1d4e89", "charge": "#b5179e", "truth": "#222222"}  # by role
OTHER_LINES = ("#e07a1f", "#2a9d8f", "#3a6ea5", "#8c6d31")  # of further layers of the same role
MASKS = ("#6b7683", "#d9534f", "#2e8b57", "#8e44ad")  # by position


def line_colours(roles: list[str]) -> list[str]:
    """Return a line colour for each layer: that of its role, then OTHER_LINES."""
    seen: dict[str, int] = {}
    colours = []
    for role in roles:
        position = seen[role] = seen.get(role, -1) + 1
        colours.append(LINES[role] if position == 0 else OTHER_LINES[(position - 1) % len(OTHER_LINES)])
    return colours
