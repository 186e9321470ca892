# SPDX-License-Identifier: Apache-2.0
"""Pages of paragraphs, tables and pictures, without script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar
from xml.etree.ElementTree import Element

from .render import render

Row = tuple[Sequence[str], str]  # cells, and the kind of the row: "", slower, faster, short or met


@dataclass(frozen=True)
class Paragraph:
    """A text, which may have several lines. style: "", about, warning, or verdict with slower, faster or few."""

    block: ClassVar[str] = "paragraph"
    text: str
    style: str = ""


@dataclass(frozen=True)
class Table:
    """A table. words: count of leading columns with words. told: column, from the end, that a row's kind colours."""

    block: ClassVar[str] = "table"
    heads: Sequence[str]
    rows: Iterable[Row]
    words: int = 1
    told: int = 1
    title: str = ""


@dataclass(frozen=True)
class Picture:
    """A drawing below its caption, without one as wide as the page, or the text of an SVG file."""

    block: ClassVar[str] = "picture"
    caption: str
    drawing: Element | str


@dataclass(frozen=True)
class Folded:
    """Blocks below a line that shows and hides them."""

    block: ClassVar[str] = "folded"
    summary: str
    blocks: list[Block]
    is_open: bool = False


Block = Paragraph | Table | Picture | Folded


@dataclass
class Part:
    """A part of a page. anchor: the page lists parts with one at its top."""

    title: str
    blocks: list[Block] = field(default_factory=list)
    anchor: str = ""


def document(title: str, heading: str, top: list[Block], parts: Iterable[Part]) -> str:
    """Return the page. Raise ProfileError if Jinja2 is not installed."""
    return render("document.html", title=title, heading=heading, top=top, parts=list(parts))
