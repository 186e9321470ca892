# SPDX-License-Identifier: Apache-2.0
"""wirecell-profile html: the content of the page, and its behaviour in a browser."""

from __future__ import annotations

import base64
import json
import lzma
import re
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from chromium import driven, dump, marks, needs_chromium, screenshot
from wirecell_profile.cli import main
from wirecell_profile.html.payload import NO_EVENT
from wirecell_profile.html.timeline import assign_tracks
from wirecell_profile.palette import PALETTE
from wirecell_profile.units import bytes_text, ticks, time_text

RADAR = Path(__file__).parent / "data" / "radar-a100.sqlite.xz"
MS = 1_000_000


class Page:
    """A page, and its data as templates/data.js unpacks them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        (packed,) = re.findall(r'<script type="text/plain" id="timeline-data">([^<]*)</script>', self.text)
        data = zlib.decompress(base64.b64decode(packed))
        (length,) = struct.unpack_from("<I", data)
        self.about = json.loads(data[4 : 4 + length])
        self._data, self._at = data, 4 + length
        n = self.about["events"]
        self.start, self.duration = self._column("<f8", n), self._column("<f8", n)
        self.name, self.note = self._column("<u4", n), self._column("<u4", n)
        self.event, self.link, self.colour = (
            self._column("<i4", n),
            self._column("<i4", n),
            self._column("<u2", n),
        )
        self._at += -self._at % 8
        several = self.about["merged"]
        self.busy, self.merged, self.count = (self._column(kind, several) for kind in ("<f8", "<u4", "<u4"))
        self.time, self.value = (
            self._column("<f8", self.about["points"]),
            self._column("<f8", self.about["points"]),
        )
        assert self._at == len(data)

    def _column(self, kind: str, count: int) -> np.ndarray:
        values = np.frombuffer(self._data, kind, count, self._at)
        self._at += values.nbytes
        return values

    def row(self, title: str) -> list[list[tuple[str, float, float]]]:
        """Return the tracks of a row: (name, start, duration) of each event."""
        (row,) = [row for row in self.about["rows"] if row["title"] == title]
        names = self.about["strings"]
        return [
            [(names[self.name[i]], self.start[i], self.duration[i]) for i in range(first, first + count)]
            for first, count in row["tracks"]
        ]

    def index_of(self, name: str) -> int:
        """Return the index of the only event of a name."""
        (found,) = np.flatnonzero(self.name == self.about["strings"].index(name))
        return int(found)

    def counter(self, title: str) -> tuple[dict, np.ndarray, np.ndarray]:
        """Return a counter with its times and values."""
        (counter,) = [counter for counter in self.about["counters"] if counter["title"] == title]
        mine = slice(counter["first"], counter["first"] + counter["count"])
        return counter, self.time[mine], self.value[mine]


def tables(text: str) -> dict[str, list[list[str | float | None]]]:
    """Return name -> rows of the tables. Numeric cells have their exact values."""
    found = {}
    for name, body in re.findall(r'data-table="([\w-]+)">.*?<tbody>(.*?)</tbody>', text, re.DOTALL):
        rows = []
        for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL):
            cells = re.findall(r"<td([^>]*)>(.*?)</td>", row, re.DOTALL)
            exact = [re.search(r'data-v="([^"]*)"', attributes) for attributes, _ in cells]
            rows.append(
                [float(value[1]) if value else content or None for value, (_, content) in zip(exact, cells)]
            )
        found[name] = rows
    return found


@pytest.fixture
def page(profile_file) -> Page:
    """Write two events of two nodes with a kernel and a copy each, a mark, an event in flight, samples,
    metrics.
    """
    with profile_file.writing() as file:
        file.manifest(
            command_line="wire-cell --record run.sqlite job.jsonnet",
            configuration_file="/x/job.jsonnet",
            what="nvtx,cuda",
            host="here",
        )
        file.thread_name("main", 1)
        file.device(0, "Test GPU")
        for domain, name in ((1, "spng"), (2, "spng.sched")):
            file.domain(name, domain)
            for category, kind in ((1, "decon"), (2, "roi"), (3, "event")):
                file.category(kind, category, domain=domain)
        file.range("run", 0, 100 * MS, domainId=1)
        for event, at in enumerate((0, 50)):
            file.range("event", at * MS, (at + 45) * MS, style=60, domainId=2, category=3, event=event)
            file.range(
                "SPNGDecon:induction",
                (at + 1) * MS,
                (at + 21 - event * 10) * MS,
                domainId=1,
                category=1,
                event=event,
            )
            file.range("SPNGDNNROI:v", (at + 30) * MS, (at + 35) * MS, domainId=1, category=2, event=event)
            file.launch(
                "kernel<float>",
                ((at + 2) * MS, (at + 3) * MS),
                ((at + 4) * MS, (at + 9) * MS),
                short=f"kernel{event}",
            )
            copy = file.call("cudaMemcpyAsync_v3020", (at + 31) * MS, (at + 32) * MS)
            file.copy((at + 32) * MS, (at + 34) * MS, copy, size=2_000_000, stream=8)
        file.mark('checkpoint </script> & "marked"', 40 * MS, domainId=1)
        for time in range(0, 101, 10):
            file.sample(time * MS, "process", "resident_bytes", 1e6 * time)
            file.sample(time * MS, "process", "cpu_ns", 1.5e6 * time)
        file.row("TARGET_INFO_GPU_METRICS", typeId=0, metricId=4, metricName="SMs Active [Throughput %]")
        for time in range(9000):
            file.row("GPU_METRICS", timestamp=time * 10_000, typeId=0, metricId=4, value=time % 3)
    return make_page(profile_file.path)


def make_page(profile: Path, *options: str) -> Page:
    """Make the page of a profile."""
    path = profile.with_name("page.html")
    assert main(["html", str(profile), "-o", str(path), *options]) == 0
    return Page(path)


@pytest.fixture(scope="module")
def radar(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """Make the page of an export of Nsight Systems."""
    profile = tmp_path_factory.mktemp("radar") / "radar-a100.sqlite"
    profile.write_bytes(lzma.decompress(RADAR.read_bytes()))
    return make_page(profile)


def assert_loads_nothing(text: str) -> None:
    """Check that the page has no address except XML names, fetches nothing, and refers only to itself."""
    visible = re.sub(r'<script type="text/plain".*?</script>', "", text, flags=re.DOTALL)
    assert not re.search(r"https?://|@import|url\(|\bfetch\(|XMLHttpRequest|WebSocket|import\(", visible)
    sources = re.findall(r'(?:src|href)\s*=\s*"([^"]*)"', visible)
    assert sources and all(source.startswith("#") or source == "data:," for source in sources)


def test_page_is_self_contained(page: Page, radar: Page) -> None:
    for profile_file in (page, radar):
        assert_loads_nothing(profile_file.text)
        assert profile_file.text.count("</script>") == 2, "a name of the profile ended a script"


def test_title_says_which_run(page: Page, radar: Page) -> None:
    assert "<title>Profile of wire-cell job.jsonnet, run.sqlite</title>" in page.text
    assert "GPU 0: Test GPU" in page.text and "on here" in page.text
    assert "radar-a100.sqlite</title>" in radar.text


def test_sizes(radar: Page) -> None:
    assert radar.path.stat().st_size < 1_000_000


def test_rows_of_the_timeline(page: Page) -> None:
    assert [(row["group"], row["title"]) for row in page.about["rows"]] == [
        ("Start/end ranges, marks", "Events in flight"),
        ("Start/end ranges, marks", "Marks"),
        ("CPU main (thread 1)", "NVTX ranges"),
        ("CPU main (thread 1)", "CUDA API"),
        ("GPU 0: Test GPU", "stream 7"),
        ("GPU 0: Test GPU", "stream 8"),
    ]
    top, below = page.row("NVTX ranges")
    assert top == [("run", 0, 100 * MS)]
    assert below == [
        ("SPNGDecon:induction", 1 * MS, 20 * MS),
        ("SPNGDNNROI:v", 30 * MS, 5 * MS),
        ("SPNGDecon:induction", 51 * MS, 10 * MS),
        ("SPNGDNNROI:v", 80 * MS, 5 * MS),
    ]
    assert page.row("Events in flight") == [[("event", 0, 45 * MS), ("event", 50 * MS, 45 * MS)]]
    assert page.row("stream 7") == [[("kernel0", 4 * MS, 5 * MS), ("kernel1", 54 * MS, 5 * MS)]]
    assert page.about["window"] == [0, 100 * MS, "range run"]


def test_colours_numbers_and_links(page: Page) -> None:
    decon, roi = (page.about["strings"].index(name) for name in ("SPNGDecon:induction", "SPNGDNNROI:v"))
    colours = [page.about["colours"][code] for code in page.colour]
    assert {colours[i] for i in np.flatnonzero(page.name == decon)} == {PALETTE["decon"]}
    assert {colours[i] for i in np.flatnonzero(page.name == roi)} == {PALETTE["roi"]}
    assert page.event[page.name == decon].tolist() == [0, 1]
    kernel = page.index_of("kernel1")
    assert page.event[kernel] == NO_EVENT
    call = page.link[kernel]
    assert (page.about["strings"][page.name[call]], page.start[call]) == ("cudaLaunchKernel", 52 * MS)
    copy = int(page.link.max())
    assert page.about["strings"][page.name[copy]] == "cudaMemcpyAsync"
    notes = [page.about["strings"][code] for code in page.note]
    assert "2,000,000 B, 1 GB/s, Pinned to Device" in notes


def test_counters(page: Page) -> None:
    _, time, value = page.counter("resident memory")
    assert time.tolist() == [MS * t for t in range(0, 101, 10)] and value.tolist() == [
        1e6 * t for t in range(0, 101, 10)
    ]
    assert page.counter("processor in use")[2].tolist() == [1.5] * 10
    counter, time, value = page.counter("SMs Active [Throughput %]")
    assert counter["averaged"] == 3 and len(time) == 3000 and set(value) == {1.0} and counter["unit"] == "%"
    busy = page.counter("GPU busy")[2]
    assert busy.mean() == pytest.approx(14.0)  # 2 x (5 + 2) ms of 100
    assert busy[45] == 100 and busy[0] == 0


def test_numbers_are_those_of_the_summary(page: Page, profile_file, tmp_path: Path) -> None:
    assert_equals_summary(page, profile_file.path, tmp_path)


def test_numbers_of_an_export_are_those_of_the_summary(radar: Page, tmp_path: Path) -> None:
    assert_equals_summary(radar, radar.path.with_name("radar-a100.sqlite"), tmp_path)
    rows = {row[1]: row for row in tables(radar.text)["utilisation"]}
    assert rows["gpu_busy"][3] == pytest.approx(77.9, abs=0.05)  # from a prototype


def assert_equals_summary(page: Page, profile: Path, folder: Path) -> None:
    """Check that all cells of all tables are equal."""
    output = folder / "summary.json"
    assert main(["summary", str(profile), "--format", "json", "-o", str(output)]) == 0
    expected = json.loads(output.read_text(encoding="utf-8"))["tables"]
    shown = tables(page.text)
    assert shown.keys() == expected.keys() and len(shown) >= 5
    for name, rows in expected.items():
        assert len(shown[name]) == len(rows)
        for cells, row in zip(shown[name], rows):
            assert [cell if isinstance(cell, float) else None for cell in cells] == [
                float(value) if isinstance(value, (int, float)) else None for value in row.values()
            ], name


def test_what_is_missing_is_said_and_not_zero(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("work", 0, 10 * MS)
    page = make_page(profile_file.path)
    assert '<span>GPU utilisation</span><b title="—">—</b><span>not recorded</span>' in page.text
    said = page.text.split('id="missing"')[1]
    assert "does not contain CUDA kernels" in said and "timeline: streams" in said and "node calls" in said
    assert "utilisation" not in tables(page.text) and "nodes" not in tables(page.text)


def test_a_part_of_a_profile(profile_file, page: Page) -> None:
    part = make_page(profile_file.path, "--event", "1")
    assert {name for track in part.row("NVTX ranges") for name, _, _ in track} == {
        "SPNGDecon:induction",
        "SPNGDNNROI:v",
    }
    assert part.row("stream 7") == [[("kernel1", 54 * MS - part.about["origin"], 5 * MS)]]
    assert "only a selected part" in part.text


def test_output_beside_the_profile(profile_file, capsys: pytest.CaptureFixture[str]) -> None:
    with profile_file.writing() as file:
        file.range("work", 0, 10)
    assert main(["html", str(profile_file.path)]) == 0
    assert profile_file.path.with_suffix(".html").exists() and "run.html" in capsys.readouterr().out


def test_an_empty_profile_makes_no_page(profile_file, capsys: pytest.CaptureFixture[str]) -> None:
    with profile_file.writing() as file:
        file.table("NVTX_EVENTS")
    assert main(["html", str(profile_file.path)]) == 1
    assert (
        not profile_file.path.with_suffix(".html").exists() and "does not contain" in capsys.readouterr().err
    )


def test_without_jinja2_the_error_says_how_to_install_it(
    profile_file, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with profile_file.writing() as file:
        file.range("work", 0, 10)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert main(["html", str(profile_file.path)]) == 1
    shown = capsys.readouterr().err
    assert "need the Python package jinja2" in shown and f"{sys.executable} -m pip install jinja2" in shown


def test_tracks_never_overlap() -> None:
    """Nested ranges keep their levels, crossing ones move down."""
    start, end = np.array([0, 1, 5, 4, 20]), np.array([10, 5, 8, 12, 30])
    assert assign_tracks(start, end, np.array([0, 1, 1, 0, 0])).tolist() == [0, 1, 1, 2, 0]


def test_texts_of_charts() -> None:
    assert [time_text(ns) for ns in (0, 999, 1234, 56_700_000, 1.5e12)] == [
        "0 ns",
        "999 ns",
        "1.23 µs",
        "56.7 ms",
        "1,500 s",
    ]
    assert bytes_text(730e6) == "730 MB"
    assert ticks(3.2) == [0, 1, 2, 3] and ticks(0) == [0.0]


@needs_chromium
@pytest.mark.parametrize("which", ["page", "radar"])
def test_in_a_browser(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """The console has no message, everything is drawn, and the tables have the written values."""
    page = request.getfixturevalue(which)
    document, messages = dump(page.path, tmp_path)
    assert messages == []
    said = marks(document)
    assert said.get("timeline") == "drawn" and "errors" not in said
    assert int(said["events"]) == page.about["events"] and int(said["points"]) == page.about["points"]
    assert int(said["rows"]) == len(page.about["rows"])
    assert int(said["inked"]) > 20_000  # pixels of the canvas that have a colour
    assert tables(document) == tables(page.text)


@needs_chromium
def test_picture_of_the_page(page: Page, tmp_path: Path) -> None:
    """The screenshot has the colours of the nodes, kernels and copies."""
    picture = screenshot(page.path, tmp_path)
    assert picture.shape == (900, 1400, 3)
    for colour in (PALETTE["decon"], PALETTE["roi"], PALETTE["event"], "#2CA02C"):
        wanted = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
        assert (picture == wanted).all(axis=2).sum() > 500, colour


@needs_chromium
def test_many_ranges(profile_file, tmp_path: Path) -> None:
    """With 120 000 ranges the page is of moderate size and still draws; ranges shorter than a pixel leave a
    trace.
    """
    with profile_file.writing() as file:
        thread = file.thread(1)
        file.rows(
            "NVTX_EVENTS",
            "start end eventType text globalTid domainId",
            [(1000 * i, 1000 * i + 900, 59, f"range {i % 50}", thread, 0) for i in range(120_000)],
        )
    page = make_page(profile_file.path)
    assert page.path.stat().st_size < 3_000_000
    document, messages = dump(page.path, tmp_path)
    said = marks(document)
    assert messages == [] and said["events"] == "120000" and int(said["inked"]) > 10_000


@needs_chromium
def test_hands_on_the_timeline(page: Page, tmp_path: Path) -> None:
    """Wheel, keys, search, click, double click and sorting work; a script in a copy of the page uses them."""
    script = """
    window.addEventListener("load", () => setTimeout(() => {
      const t = window.timeline, box = t.box, said = {}, near = (a, b) => Math.abs(a - b) < 1e-6 * t.data.length;
      const key = (name) => box.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true}));
      const frame = () => box.getBoundingClientRect(), at = (time, item, track) => ({bubbles: true, button: 0,
        clientX: frame().left + t.x(time), clientY: frame().top + item.y + 26 + track * 18 + 9 - box.scrollTop});
      const [from, to] = [t.from, t.to];
      key("+"); said.zoomed = (t.to - t.from) / (to - from);
      const left = t.from; key("ArrowRight"); said.panned = t.from > left;
      key("0"); said.fitted = near(t.from, from) && near(t.to, to);
      const time = t.time(600);
      box.dispatchEvent(new WheelEvent("wheel", {deltaY: -100, clientX: frame().left + 600, clientY: frame().top + 50, cancelable: true}));
      t.paint(); said.held = Math.abs(t.x(time) - 600) < 0.5; key("0"); t.paint();
      const search = document.getElementById("search");
      search.value = "dnnroi"; search.dispatchEvent(new Event("input"));
      said.found = document.getElementById("matches").textContent;
      search.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"})); t.paint();
      said.first = document.getElementById("matches").textContent;
      said.details = document.getElementById("details").textContent;
      search.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"})); key("0"); t.paint();
      const item = t.items.find((other) => other.row && other.row.title === "NVTX ranges");
      box.dispatchEvent(new MouseEvent("mousemove", at(55e6, item, 1)));
      said.tip = document.getElementById("tip").textContent;
      box.dispatchEvent(new MouseEvent("dblclick", at(55e6, item, 1)));
      said.fittedTo = Math.round((t.from + t.to) / 2);
      const head = t.items.find((other) => other.head === "GPU 0: Test GPU"), height = t.height;
      t.fit(); t.paint();
      box.dispatchEvent(new MouseEvent("click", {...at(0, head, 0), clientX: frame().left + 20}));
      said.closed = t.height < height;
      const table = document.querySelector("table[data-table=nodes]"), first = () => table.tBodies[0].rows[0].cells[0].textContent;
      const buttons = table.querySelectorAll("th button");
      buttons[3].click(); said.sorted = first(); buttons[3].click(); said.reversed = first();
      document.body.dataset.said = JSON.stringify(said);
    }, 500));
    """
    copy = tmp_path / "driven.html"
    copy.write_text(driven(page.text, script), encoding="utf-8")
    document, messages = dump(copy, tmp_path)
    assert messages == []
    said = json.loads(
        marks(document)["said"].replace("&quot;", '"').replace("&lt;", "<").replace("&amp;", "&")
    )
    assert said["zoomed"] == pytest.approx(0.7) and said["panned"] and said["fitted"] and said["held"]
    assert said["found"] == "2 found" and said["first"] == "1 of 2"
    assert "SPNGDNNROI:v" in said["details"] and "5 ms" in said["details"] and "event0" in said["details"]
    assert "SPNGDecon:induction" in said["tip"] and "10 ms" in said["tip"] and "kind decon" in said["tip"]
    assert said["fittedTo"] == 56 * MS and said["closed"]
    assert (said["sorted"], said["reversed"]) == ("SPNGDecon:induction", "SPNGDNNROI:v")
