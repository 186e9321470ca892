# SPDX-License-Identifier: Apache-2.0
"""SVG drawings as element trees."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring

from ..terminal import HIDDEN_IN_LINES


def drawing(width: float, height: float, label: str = "", **attributes: object) -> Element:
    """Make an empty drawing as wide as its page. `label`: title for screen readers."""
    svg = Element("svg", viewBox=f"0 0 {width} {height}", width="100%", role="img")
    svg.attrib |= {"aria-label": label} if label else {}
    svg.attrib |= _attributes(attributes)
    return svg


def add(parent: Element, tag: str, text: str = "", title: str = "", **attributes: object) -> Element:
    """Add an element. `title`: tooltip. In names of attributes, `_` becomes `-`."""
    element = SubElement(parent, tag, _attributes(attributes))
    if title:
        SubElement(element, "title").text = title
    if text:
        element.text = text
    return element


def line(parent: Element, x: tuple[float, float], y: tuple[float, float], **attributes: object) -> None:
    """Add a line from (x[0], y[0]) to (x[1], y[1])."""
    ends = {"x1": x[0], "x2": x[1], "y1": y[0], "y2": y[1]}
    SubElement(parent, "line", _attributes(ends | attributes))


def text(parent: Element, x: float, y: float, words: str, **attributes: object) -> None:
    """Add a text at (x, y)."""
    SubElement(parent, "text", _attributes({"x": x, "y": y} | attributes)).text = words


def to_string(svg: Element) -> str:
    """Return the drawing as a string. XML has no control characters."""
    return tostring(svg, encoding="unicode").translate(HIDDEN_IN_LINES)


def _attributes(values: dict[str, object]) -> dict[str, str]:
    """Convert attributes to strings, with one digit for floats."""
    return {
        name.rstrip("_").replace("_", "-"): f"{value:.1f}" if isinstance(value, float) else str(value)
        for name, value in values.items()
    }
