# SPDX-License-Identifier: Apache-2.0
"""The rendered page of frames: colours and switches of the curves, labels of the axes, and the page on paper."""

from __future__ import annotations

import html
import json
from typing import Any

import numpy as np
import pytest
from spng.pictures import colours, show

from profiling.tests.chromium import driven, dump, marks, needs_chromium
from spng import Frame, Traces

pytestmark = needs_chromium

CHANNELS, TICKS = np.arange(2560, dtype=np.int32), 600

SCRIPT = """
const labels = [], fillText = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (words, x, y) {  // upright words have another transformation
  const width = this.measureText(words).width, left = {left: x, right: x - width, center: x - width / 2}[this.textAlign];
  if (this.getTransform().b === 0) labels.push([this.canvas.parentElement.id, words, left, left + width, y]);
  fillText.call(this, words, x, y);
};
window.addEventListener("load", async () => {
  const said = {}, wait = (ms) => new Promise((done) => setTimeout(done, ms));
  while (document.body.dataset.frames !== "drawn") await wait(20);
  const view = window.frameView, legend = document.getElementById("legend"), {canvas} = view.waves;
  const colour = (item) => getComputedStyle(item.querySelector(".swatch")).backgroundColor;
  const amount = (wanted) => {  // pixels of a colour, whatever is below it
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const [red, green, blue] = wanted.match(/[0-9]+/g).map(Number);
    let found = 0;
    for (let i = 0; i < pixels.length; i += 4) {
      found += Math.abs(pixels[i] - red) + Math.abs(pixels[i + 1] - green) + Math.abs(pixels[i + 2] - blue) < 60;
    }
    return found;
  };
  said.legend = [...legend.children].map((item) => {
    const box = item.querySelector(".swatch").getBoundingClientRect();
    return [item.textContent, colour(item), box.width, box.height, Boolean(item.querySelector("input"))];
  });
  said.curves = [...legend.querySelectorAll("label")].map((item) => {
    const box = item.querySelector("input"), counts = [], pictures = [];
    for (let i = 0; i < 3; ++i, box.click()) { view.paint(); counts.push(amount(colour(item))); pictures.push(canvas.toDataURL()); }
    const kept = box.isConnected;
    box.click();
    return [...counts, pictures[0] === pictures[2] && pictures[0] !== pictures[1], kept];
  });
  document.querySelector("#legend input").click();
  said.address = new URLSearchParams(view.address).getAll("hidden");
  document.querySelector("#legend input").click();

  labels.length = 0; view.paint();
  said.wide = [...labels];
  document.body.style.width = "390px";
  labels.length = 0; view.paint();
  said.narrow = [...labels];
  document.body.style.width = "";
  view.paint();

  view.draw = view.paint = () => {};  // paper does not draw again
  for (const sheet of document.styleSheets) for (const rule of sheet.cssRules) if (rule.media?.mediaText === "print") rule.media.mediaText = "all";
  document.body.style.width = "700px";
  said.paper = [...document.querySelectorAll("canvas")].map((each) => {
    const inner = each.getBoundingClientRect(), outer = each.parentElement.getBoundingClientRect();
    return [inner.right <= outer.right + 1 && outer.right <= 701, Math.abs(inner.width / inner.height - each.width / each.height) < 0.01];
  });
  said.onPaper = [...legend.children].map((item) => item.getBoundingClientRect().width > 0);
  document.body.dataset.said = JSON.stringify(said);
});
"""


@pytest.fixture(name="said", scope="module")
def fixture_said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what the script found on a page with ADC counts of little noise, charge, a second program, truth and a mask."""
    random = np.random.default_rng(5)
    adc = (900 + np.clip(random.normal(0, 1.5, (2560, TICKS)).round(), -4, 4)).astype(np.int16)
    signal = np.zeros((2560, TICKS), np.float32)
    signal[:, 100:180] = 5000

    def frame(tag: str, samples: np.ndarray) -> Frame:
        return Frame({tag: Traces(tag, samples, CHANNELS)}, 1, {"bad": np.array([[3, 0, TICKS]])})

    page = show(
        adc=frame("raw", adc),
        signal=frame("signal", signal),
        layers={"OSP": frame("gauss", np.roll(signal, 150, axis=1) * np.float32(0.7))},
        truth=frame("truth", np.roll(signal, 300, axis=1)),
    )
    folder = tmp_path_factory.mktemp("page")
    path = folder / "page.html"
    path.write_text(driven(page.text, SCRIPT), encoding="utf-8")
    document, messages = dump(path, folder)
    found = marks(document)
    assert messages == [] and "errors" not in found
    return json.loads(html.unescape(found["said"]))


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))})"


def test_each_entry_of_the_legend_has_its_colour(said: dict[str, Any]) -> None:
    names = [words for words, *_ in said["legend"]]
    assert names == ["ADC − 900 (median)", "signal", "OSP", "truth", "ROIs of signal", "mask bad"]
    lines = [colours.LINES["adc"], colours.LINES["charge"], colours.OTHER_LINES[0], colours.LINES["truth"]]
    expected = [rgb(colour) for colour in (*lines, colours.ROI, colours.MASKS[0])]
    assert [colour for _, colour, *_ in said["legend"]] == expected
    assert all(width >= 10 and height >= 10 for _, _, width, height, _ in said["legend"])
    assert [has_switch for *_, has_switch in said["legend"]] == [True] * 4 + [False] * 2


def test_switches_hide_and_show_curves(said: dict[str, Any]) -> None:
    for *_, is_switched, is_kept in said["curves"]:
        assert is_switched and is_kept
    for shown, hidden, *_ in said["curves"][:3]:  # the truth has the colour of the text
        assert shown > 50 and hidden == 0
    assert said["address"] == ["ADC"]


def numbers(labels: list[Any], box: str) -> list[Any]:
    """Return the labels of a picture that are integers."""
    return [
        label for label in labels if label[0] == box and label[1].strip("−").replace("\u2009", "").isdecimal()
    ]


def test_axes_have_a_scale(said: dict[str, Any]) -> None:
    """The ADC counts of a quiet channel are from -4 to 4."""
    values = [(words, y) for _, words, _, right, y in numbers(said["wide"], "waves") if right < 80]
    assert [words for words, y in values if y < 160] == ["−4", "−2", "0", "2", "4"]
    assert len([words for words, y in values if y > 160]) >= 3


@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_labels_do_not_overlap(said: dict[str, Any], width: str) -> None:
    rows: dict[tuple[str, float], list[tuple[float, float]]] = {}
    for box, words, left, right, y in said[width]:
        if words != "channel" and not words.endswith("plane"):
            rows.setdefault((box, round(y)), []).append((left, right))
    for row in rows.values():
        ordered = sorted(row)
        assert all(end <= begin for (_, end), (begin, _) in zip(ordered, ordered[1:])), row
    assert len(numbers(said[width], "images")) >= 8 and len(numbers(said[width], "waves")) >= 8


def test_the_page_fits_on_paper(said: dict[str, Any]) -> None:
    assert said["paper"] == [[True, True], [True, True]]
    assert all(said["onPaper"])
