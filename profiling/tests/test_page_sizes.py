# SPDX-License-Identifier: Apache-2.0
"""Pages are readable on narrow screens and on paper, measured in a browser."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest
from chromium import driven, dump, marks, needs_chromium
from wirecell_profile.cli import main

EXPORT = Path(__file__).parent / "data" / "radar-a100.sqlite.xz"
PAPER = 1047  # CSS pixels of A4 across, between margins of 10 mm

# Counts of boxes that are narrower than their content, of the page itself, and the height of the smallest text of charts.
MEASURE = """
const wide = (box) => box.scrollWidth > box.clientWidth + 1;
const measure = () => ({
  boxes: [...document.querySelectorAll(".scroll, figure")].filter(wide).length, page: wide(document.documentElement),
  text: Math.min(...[...document.querySelectorAll("figure svg text")].map((text) => text.getBoundingClientRect().height)),
});
const show = (name, values) => Object.entries(values).forEach(([key, value]) => { document.body.dataset[name + key] = value; });
document.querySelectorAll("details").forEach((part) => { part.open = true; });
show("screen", measure());
for (const rule of document.styleSheets[0].cssRules) if (rule.media?.mediaText === "print") rule.media.mediaText = "all";
show("print", measure());
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of the export, which has the widest tables, with a script that measures it."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "radar.sqlite").write_bytes(lzma.decompress(EXPORT.read_bytes()))
    path = folder / "page.html"
    assert main(["html", str(folder / "radar.sqlite"), "-o", str(path)]) == 0
    path.write_text(driven(path.read_text(encoding="utf-8"), MEASURE), encoding="utf-8")
    return path


@needs_chromium
def test_paper_cuts_nothing(page: Path, tmp_path: Path) -> None:
    """On the screen wide tables scroll; on paper of the same width everything fits."""
    document, messages = dump(page, tmp_path, f"--window-size={PAPER},900")
    said = marks(document)
    assert messages == [] and int(said["screenboxes"]) > 0
    assert (said["printboxes"], said["printpage"]) == ("0", "false")


@needs_chromium
@pytest.mark.parametrize("width", [390, 500])
def test_narrow_screens(width: int, page: Path, tmp_path: Path) -> None:
    """The page itself does not scroll sideways; charts do rather than have letters below 11 pixels."""
    document, messages = dump(page, tmp_path, f"--window-size={width},900")
    said = marks(document)
    assert messages == [] and said["screenpage"] == "false" and float(said["screentext"]) >= 11
