# SPDX-License-Identifier: Apache-2.0
"""The C++ header and wirecell_profile have the same palette, and every kind of node has a different colour."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from wirecell_profile.palette import COLOURS, PALETTE, argb_named, argb_of, colour_of

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "spng/include/WireCellSpng/TorchnvTools.h"


def test_header_and_analysis_have_the_same_palette() -> None:
    text = HEADER.read_text(encoding="utf-8")
    table = re.search(r"palette\{\{(.*?)\}\};", text, re.DOTALL)
    assert table is not None
    stated = re.findall(r'\{"(\w+)", 0xFF([0-9A-F]{6})\}', table.group(1))
    assert [(kind, f"#{colour}") for kind, colour in stated] == list(PALETTE.items())
    kinds = re.search(r"enum class Kind : std::uint32_t \{(.*?)\};", text, re.DOTALL)
    assert kinds is not None
    assert len(re.findall(r"^\s+\w+", kinds.group(1), re.MULTILINE)) == len(PALETTE)


def test_header_and_scripts_have_the_same_names_of_colours() -> None:
    stated = re.findall(
        r"static constexpr unsigned (\w+) = 0x([0-9A-F]{8});", HEADER.read_text(encoding="utf-8")
    )
    assert {name.lower(): int(value, 16) for name, value in stated} == COLOURS


def test_colours_by_name() -> None:
    assert argb_named("Orange") == COLOURS["orange"] == 0xFFFFA500
    assert argb_named(0x80010203) == 0x80010203
    with pytest.raises(ValueError, match="no colour has the name 'ornage'; the names are black, blue"):
        argb_named("ornage")


def test_colours_are_distinct() -> None:
    assert len(set(PALETTE.values())) == len(PALETTE)


def test_every_kind_of_component_has_a_colour() -> None:
    kinds = {
        kind
        for path in (ROOT / "spng").rglob("*.cxx")
        for kind in re.findall(r'\.kind = "(\w+)"', path.read_text(encoding="utf-8"))
    }
    assert len(kinds) >= 10
    assert kinds <= set(PALETTE)


def test_values_for_nvtx() -> None:
    assert argb_of("decon") == 0xFF1F4E9C
    assert colour_of("no such kind") == "#9E9E9E"
