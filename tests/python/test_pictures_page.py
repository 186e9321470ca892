# SPDX-License-Identifier: Apache-2.0
"""The page of frames: its data are the samples, and its behaviour in a browser."""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from spng.pictures import show

from profiling.tests.chromium import driven, dump, marks, needs_chromium
from profiling.tests.page_policy import HOSTILE_NAME, assert_policy
from spng import Frame, SparseSamples, Traces

PLANES = "U:40,V:30,W:50"
CHANNELS = np.arange(1000, 1120, dtype=np.int32)
TICKS, TICK_NS, START_NS = 900, 500.0, -20_000.0
SPIKE = (1045, 333)  # channel, tick


def traces(tag: str, samples: np.ndarray | SparseSamples, **values: object) -> Traces:
    """Return traces with the time of all layers."""
    return Traces(tag, samples, CHANNELS, TICK_NS, START_NS, **values)


def event(ident: int) -> dict[str, Frame]:
    """Return one event of three programs: ADC, signal and OSP, which lacks ten channels and begins 100 ticks later."""
    random = np.random.default_rng(ident)
    adc = random.integers(-32768, 32768, (120, TICKS)).astype(np.int16)
    signal = np.where(random.random((120, TICKS)) < 0.1, random.normal(500, 2000, (120, TICKS)), 0).astype(
        np.float32
    )
    signal[SPIKE[0] - 1000, SPIKE[1]] = 1e6
    osp = (signal[10:, 100:] * np.float32(0.9))[::-1].copy()
    other = Traces("gauss0", osp, CHANNELS[:9:-1].copy(), TICK_NS, START_NS, first_tick=100)
    return {
        "adc": Frame(
            {"raw": traces("raw", adc)},
            ident,
            {"bad": np.array([[1003, 0, 900], [1007, 100, 200]])},
            {"program": "</script>&"},
        ),
        "signal": Frame({"signal": traces("signal", signal)}, ident),
        "OSP": Frame({"gauss0": other}, ident),
    }


EVENTS = [event(7), event(9)]


@pytest.fixture(name="text", scope="module")
def fixture_text() -> str:
    """The page of two events."""
    by_label = {label: [each[label] for each in EVENTS] for label in EVENTS[0]}
    return show(
        adc=by_label["adc"], signal=by_label["signal"], layers={"OSP": by_label["OSP"]}, planes=PLANES
    ).text


def unpack(text: str, block: str) -> bytes:
    """Return the content of a block."""
    (packed,) = re.findall(rf'<script type="text/plain" id="{block}">([^<]*)</script>', text)
    return zlib.decompress(base64.b64decode(packed))


def description(text: str) -> dict:
    """Return the description of a page."""
    return json.loads(
        re.search(r'<script type="application/json" id="about">(.*?)</script>', text, re.DOTALL)[1]
    )


def samples_of(text: str, layer: dict) -> np.ndarray:
    """Return the samples (row, tick) of a layer as a reader of the format would decode them."""
    data = unpack(text, layer["block"])
    rows, ticks = sum(count for _, count in layer["channels"]), layer["ticks"]
    rest = np.frombuffer(data, np.uint8, offset=4 * rows)
    if layer["form"] == "int16":
        low, high = rest.reshape(2, -1).astype(np.int64)
        code = low + 256 * high
        difference = np.where(code % 2, -(code + 1) // 2, code // 2).reshape(rows, ticks)
        return np.cumsum(difference, axis=1).astype(np.int16)
    if layer["form"] == "float32":
        return rest.reshape(4, -1).T.copy().view("<f4").reshape(rows, ticks)
    runs = rest[: 12 * layer["runs"]].view("<i4").reshape(3, -1)
    values = rest[12 * layer["runs"] :].reshape(4, -1).T.copy().view("<f4").ravel()
    samples, at = np.zeros((rows, ticks), np.float32), 0
    for row, begin, length in runs.T:
        samples[row, begin : begin + length] = values[at : at + length]
        at += length
    return samples


def test_data_are_the_samples(text: str) -> None:
    about = description(text)
    assert [each["ident"] for each in about["events"]] == [7, 9]
    for each, frames in zip(about["events"], EVENTS):
        assert [layer["label"] for layer in each["layers"]] == ["ADC", "signal", "OSP"]
        assert [layer["form"] for layer in each["layers"]] == ["int16", "runs", "runs"]
        for layer, frame in zip(each["layers"], frames.values()):
            given = frame.only()
            ids = np.concatenate([np.arange(first, first + count) for first, count in layer["channels"]])
            assert (ids == given.channels).all()
            assert (samples_of(text, layer) == given.samples).all()
        assert [layer["start"] for layer in each["layers"]] == [-20.0, -20.0, 30.0]


def test_dense_floats_are_exact() -> None:
    samples = np.random.default_rng(1).normal(size=(120, TICKS)).astype(np.float32)
    text = show(Frame({"": traces("", samples)}), planes=PLANES).text
    (layer,) = description(text)["events"][0]["layers"]
    assert layer["form"] == "float32" and (samples_of(text, layer) == samples).all()


def test_page_is_self_contained(text: str) -> None:
    assert not re.search(r"https?://|@import|url\(|\bfetch\(|XMLHttpRequest|WebSocket|import\(", text)
    assert all(each.startswith("data:,") for each in re.findall(r'(?:src|href)\s*=\s*"([^"]*)"', text))
    assert text.count("</script>") == 1 + 6 + 1, "a note ended a script"
    assert_policy(text)


def test_table_of_charge(text: str) -> None:
    table = dict(description(text)["events"][0]["table"])
    signal = EVENTS[0]["signal"].only().samples.astype(np.float64)
    parts = [signal[:40].sum(), signal[40:70].sum(), signal[70:].sum(), signal.sum()]
    assert table["signal: charge [million electrons]"] == [f"{part / 1e6:,.3f}" for part in parts]
    assert list(table)[0] == "ADC: median noise [ADC counts]"
    truth = replace(EVENTS[0]["signal"].only(), samples=EVENTS[0]["signal"].only().samples * 2)
    with_truth = show(signal=EVENTS[0]["signal"], truth=Frame({"": truth}, 7), planes=PLANES).text
    assert dict(description(with_truth)["events"][0]["table"])["signal / truth [%]"] == ["50.0"] * 4


def test_choice_of_channels() -> None:
    frame = EVENTS[0]["signal"]
    text = show(frame, planes=PLANES, plane="V", channels=(1050, 1054)).text
    about = description(text)
    assert about["planes"] == [{"name": "V", "title": "V plane", "channels": [[1050, 5]]}]
    assert (samples_of(text, about["events"][0]["layers"][0]) == frame.only().samples[50:55]).all()
    assert len(description(show([each["signal"] for each in EVENTS], events=1).text)["events"]) == 1


def test_events_by_ident_else_by_order() -> None:
    adc, signal = ([each[label] for each in EVENTS] for label in ("adc", "signal"))
    crossed = description(show(adc, signal[::-1], planes=PLANES).text)["events"]
    assert [(each["ident"], len(each["layers"])) for each in crossed] == [(7, 2), (9, 2)]
    renumbered = [replace(frame, ident=100 + i) for i, frame in enumerate(signal)]
    text = show(adc, renumbered, planes=PLANES).text
    for each, frame in zip(description(text)["events"], signal):
        assert (samples_of(text, each["layers"][1]) == frame.only().samples).all()


def test_notebooks_get_the_page_in_a_frame() -> None:
    page = show(EVENTS[0]["OSP"])
    source = re.fullmatch(r'<iframe srcdoc="([^"]*)" [^>]*></iframe>', page._repr_html_())
    assert source and html.unescape(source[1]) == page.text


DRIVE = """
window.addEventListener("load", async () => {
  const said = {}, wait = (ms) => new Promise((done) => setTimeout(done, ms));
  while (document.body.dataset.frames !== "drawn") await wait(20);
  const view = window.frameView, {images} = view, {box} = images;
  const frame = () => images.canvas.getBoundingClientRect();
  const at = (i, index, time, more = {}) => { images.paint(); const area = images.areas[i]; return {bubbles: true, cancelable: true, button: 0,
    clientX: frame().left + images.x(area, index), clientY: frame().top + images.y(area, time), ...more}; };
  const pointer = (kind, where) => box.dispatchEvent(new PointerEvent(`pointer${kind}`, where));
  const key = (name) => window.document.body.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true}));
  const sum = (layer) => { let total = 0; for (const channel of layer.rows.keys()) for (let tick = 0; tick < layer.ticks; ++tick)
    total += layer.sample(channel, tick) * ((channel * 31 + tick * 7) % 101); return total; };

  said.sums = view.layers.map(sum);
  said.sample = [view.sample("ADC", 1005, 17), view.sample("signal", SPIKE), view.sample("OSP", 1119, 799), view.sample("OSP", 1003, 0) ?? null];
  const overview = images.pixels(view.a, view.planes[1], 20, 30);  // 1.5 channels and 30 ticks in a pixel
  said.spike = [Math.max(...overview), overview.indexOf(Math.max(...overview))];
  said.absent = images.pixels(view.labelled("OSP"), view.planes[0], 40, 90).slice(0, 90).every(Number.isNaN);

  pointer("down", at(1, 5.5, 100)); pointer("up", at(1, 5.5, 100));
  said.clicked = view.channel;
  pointer("down", at(2, 10, 100)); pointer("move", at(2, 20, 200)); pointer("up", at(2, 20, 200));
  said.box = [view.planes[2].from, view.planes[2].to, view.from, view.to];
  pointer("down", at(2, 15, 150, {shiftKey: true})); pointer("move", at(2, 12, 120)); pointer("up", at(2, 12, 120));
  said.moved = [view.planes[2].from, view.from];
  key("0");
  said.fitted = [view.planes[2].from, view.planes[2].to, view.from, view.to];
  for (let i = 0; i < 60; ++i) box.dispatchEvent(new WheelEvent("wheel", {...at(1, 5.5, 146.75), deltaY: -100}));
  said.finest = [view.planes[1].to - view.planes[1].from, (view.to - view.from) / view.tick];
  const first = view.a.tickAt(view.from + 0.25), line = new Float32Array(8);
  view.a.pool(1045, view.a.start + first * view.tick, view.a.start + (first + 8) * view.tick, line);
  said.pooled = [first, ...line];
  key("0"); view.choose(1045); key("z"); view.paint();
  const wave = view.waves.line(view.a, Math.round(view.waves.area.width));
  said.wave = [wave.first, ...wave.samples];
  key("."); said.next = view.channel; key(",");
  view.setLayer("b", view.labelled("OSP")); key("d");
  said.difference = [view.mode, view.difference().sample(1045, 333), sum(view.difference())];
  view.setLayer("b", view.labelled("ADC"));
  said.units = [view.mode, view.obstacle("difference")];
  key("["); said.range = view.range(view.a) / view.a.range; key("r"); said.automatic = view.range(view.a) / view.a.range;
  said.address = new URLSearchParams(view.address).get("channel");
  key("n"); await wait(500);
  said.event = [view.event.ident, view.sample("ADC", 1005, 17), document.getElementById("subtitle").textContent];
  key("o"); view.paint(); said.overlay = view.images.layers.length;
  said.mask = view.describe(1007, -20 + 150 * 0.5).at(-1);
  said.notes = document.getElementById("notes").textContent;
  document.body.dataset.said = JSON.stringify(said);
});
"""


@needs_chromium
def test_in_a_browser(text: str, tmp_path: Path) -> None:
    """A script in a copy of the page zooms, clicks and changes layers; every sample is the one given."""
    script = DRIVE.replace("SPIKE", f"{SPIKE[0]}, {SPIKE[1]}")
    page = tmp_path / "page.html"
    page.write_text(driven(text, script), encoding="utf-8")
    document, messages = dump(page, tmp_path)
    found = marks(document)
    assert messages == [] and "errors" not in found
    said = json.loads(html.unescape(found["said"]))

    frames = [frame.only() for frame in EVENTS[0].values()]
    adc, signal, osp = (each.samples for each in frames)
    weights = (CHANNELS[:, None] * 31 + np.arange(TICKS) * 7) % 101
    sums = [
        float(
            (each.samples * ((each.channels[:, None] * 31 + np.arange(each.samples.shape[1]) * 7) % 101)).sum(
                dtype=np.float64
            )
        )
        for each in frames
    ]
    assert said["sums"][0] == sums[0] and said["sums"] == pytest.approx(sums, rel=1e-9)
    assert said["sample"] == [adc[5, 17], signal[SPIKE[0] - 1000, SPIKE[1]], osp[0, 799], None]
    # Column 3 is channels 4 and 5 of V; from the top, the row of tick 333 is 29 - 11.
    assert said["spike"] == [1e6, 3 * 30 + 29 - 11] and said["absent"]
    assert said["clicked"] == 1045
    assert said["box"] == pytest.approx([10, 20, 100, 200], abs=0.2)
    assert said["moved"] == pytest.approx([13, 130], abs=0.2)
    assert said["fitted"] == pytest.approx([0, 50, -20, 430]) and said["finest"] == pytest.approx([4, 8])
    first, *line = said["pooled"]
    assert line == signal[45, first : first + 8].tolist() and first <= SPIKE[1] < first + 8
    first, *wave = said["wave"]
    assert wave == signal[45, first : first + len(wave)].tolist() and len(wave) >= 240
    assert said["next"] == 1046
    difference = signal.astype(np.float64)
    difference[:10], difference[:, :100] = 0, 0
    difference[10:, 100:] = (signal[10:, 100:] - osp[::-1]).astype(np.float64)
    assert said["difference"][:2] == ["difference", float(signal[45, 333] - osp[::-1][35, 233])]
    assert said["difference"][2] == pytest.approx((difference * weights).sum(), rel=1e-6)
    assert said["units"] == ["a", "A and B have different units"]
    assert said["range"] == pytest.approx(0.8, rel=1e-3) and said["automatic"] == 1
    assert said["address"] == "1045"
    assert (
        said["event"][:2] == [9, int(EVENTS[1]["adc"].only().samples[5, 17])]
        and "event 9, 2 of 2" in said["event"][2]
    )
    assert said["overlay"] == 2 and said["mask"] == ["masks", "bad"] and "</script>&" in said["notes"]


@needs_chromium
def test_names_do_not_run(tmp_path: Path) -> None:
    """Tags, labels, masks and notes that are HTML with scripts are shown as text."""
    samples = np.ones((120, TICKS), np.float32)
    masks = {HOSTILE_NAME: np.array([[1003, 0, 900]])}
    frame = Frame({HOSTILE_NAME: traces(HOSTILE_NAME, samples)}, 1, masks, {HOSTILE_NAME: HOSTILE_NAME})
    page = show(frame, layers={f"b{HOSTILE_NAME}": frame}, planes=PLANES).save(tmp_path / "page.html")
    assert_policy(page.read_text(encoding="utf-8"))
    document, messages = dump(page, tmp_path)
    found = marks(document)
    assert messages == [] and "ran" not in found and "errors" not in found
    assert document.count("&lt;svg onload=") >= 4
