# SPDX-License-Identifier: Apache-2.0
"""spng.compare and wirecell-frame compare: figures against NumPy, matching, tolerances, the page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from spng.compare import Tolerance, compare, compare_samples
from spng.compare.page import html_page
from spng.compare.samples import THRESHOLDS
from spng.compare.text import percent, ratio, share, text_report
from wirecell_frame.cli import main

from profiling.tests.chromium import dump, marks, needs_chromium
from profiling.tests.page_policy import HOSTILE_NAME, assert_policy
from spng import Error, Frame, Traces, formats
from tests.python.frame_examples import PLANES, frame, signal
from tests.support.wire_cell import ROOT

pytest.importorskip("h5py")
PLANE_ROWS = {"U": slice(0, 8), "V": slice(8, 16), "W": slice(16, 26)}


def changed(samples: np.ndarray) -> np.ndarray:
    """Return samples with every kind of difference."""
    random = np.random.default_rng(5)
    other = samples * (1 + 10.0 ** random.uniform(-6, 0, samples.shape)).astype(np.float32)
    other[:5] = samples[:5]
    other[6, ::2] = 0
    other[20, 40:60] = 77
    return other.astype(np.float32)


def report(a: Frame | list[Frame], b: Frame | list[Frame], **options: object) -> str:
    """Return the report of a comparison with the planes of the examples."""
    return text_report(compare(a, b, planes=PLANES, **options))


class TestFigures:
    """The figures of each plane, computed again from the dense arrays."""

    @pytest.mark.parametrize("kind", [np.float32, np.int16])
    def test_planes_and_totals(self, kind: type) -> None:
        a, b = (array.astype(kind) for array in (signal(), changed(signal())))
        result = compare([frame(a, 1), frame(b, 2)], [frame(b, 1), frame(b, 2)], planes=PLANES)
        (tag,) = result.events[0].tags
        assert list(tag.planes) == ["U", "V", "W"]
        for plane, rows in PLANE_ROWS.items():
            x, y, figures = a[rows].astype(float), b[rows].astype(float), tag.planes[plane]
            in_a, in_b = x != 0, y != 0
            union, both = in_a | in_b, in_a & in_b
            assert figures.samples == x.size
            assert (figures.in_a, figures.in_b, figures.both) == (in_a.sum(), in_b.sum(), both.sum())
            assert (figures.only_a, figures.only_b) == ((in_a & ~in_b).sum(), (in_b & ~in_a).sum())
            assert figures.charge_a == pytest.approx(x.sum(), rel=1e-12)
            assert figures.charge_ratio == pytest.approx(y.sum() / x.sum(), rel=1e-12)
            assert figures.overlap == both.sum() / union.sum()
            assert (figures.found_of_a, figures.found_of_b) == (
                both.sum() / in_a.sum(),
                both.sum() / in_b.sum(),
            )
            relative = np.abs(x - y)[union] / np.maximum(np.abs(x), np.abs(y))[union]
            assert figures.shares_above() == [(relative > limit).mean() for limit in THRESHOLDS]
            assert figures.differing == (x != y).sum() and figures.largest == np.abs(x - y).max()
            assert figures.histogram.sum() == union.sum() and figures.histogram[0] == (x == y)[union].sum()
        total = result.total("signal")
        assert total.in_a == (a != 0).sum() + (b != 0).sum() and total.differing == (a != b).sum()
        assert total.largest == np.abs(a.astype(float) - b).max()

    def test_several_blocks_of_rows(self) -> None:
        a = np.tile(signal(), (80, 10))  # 6.2 million samples, blocks of 349 rows
        b = a.copy()
        b[[0, 348, 349, 2079], 5] = 4321
        found = compare_samples(a, b, np.arange(len(a)) % 3, 3)
        assert found.positions.tolist() == [[0, 5], [348, 5], [349, 5], [2079, 5]]
        assert [figures.differing for figures in found.groups] == [3, 1, 0]
        assert found.total.in_a == (a != 0).sum()

    def test_values_that_are_not_finite(self) -> None:
        a = np.array([[np.nan, np.nan, np.inf, np.inf, -np.inf, 1, 0, -0.0]], np.float32)
        b = np.array([[np.nan, 1, np.inf, 2, np.inf, np.inf, np.nan, 0]], np.float32)
        found = compare_samples(a, b, tolerance=Tolerance(relative=10, absolute=10))
        assert found.positions[:, 1].tolist() == [1, 3, 4, 5, 6]
        total = found.total
        assert (total.not_finite_a, total.not_finite_b) == (5, 5) and total.above.tolist() == [5] * 4
        assert total.histogram[[0, -1]].tolist() == [2, 5]
        assert (total.charge_a, total.charge_b, total.largest) == (1, 3, np.inf)

    def test_shapes_must_agree(self) -> None:
        with pytest.raises(ValueError, match="differ"):
            compare_samples(np.zeros((2, 3)), np.zeros((3, 2)))

    def test_sparse_against_dense(self, tmp_path: Path) -> None:
        for form in ("dense", "sparse"):
            formats.write(tmp_path / f"{form}.h5", [frame(signal())], form)
        assert compare(tmp_path / "dense.h5", tmp_path / "sparse.h5").is_equal

    def test_tensors(self) -> None:
        torch = pytest.importorskip("torch")
        assert compare(frame(signal()), frame(torch.from_numpy(signal()))).is_equal


class TestTolerance:
    """Which differences count."""

    @pytest.mark.parametrize(
        ("tolerance", "is_equal"),
        [
            (Tolerance(), False),
            (Tolerance(relative=0.01), True),
            (Tolerance(relative=0.0099), False),
            (Tolerance(absolute=10), True),
            (Tolerance(absolute=9.99), False),
            (Tolerance(share=0.25), True),
            (Tolerance(share=0.24), False),
        ],
    )
    def test_one_of_four_samples(self, tolerance: Tolerance, is_equal: bool) -> None:
        a, b = np.zeros((2, 9), np.float32), np.zeros((2, 9), np.float32)
        a[0, :4], b[0, :4] = 1000, [1000, 990, 1000, 1000]
        assert compare(frame(a), frame(b), tolerance=tolerance).is_equal == is_equal

    def test_the_tolerance_is_named(self) -> None:
        text = report(frame(signal()), frame(signal()), tolerance=Tolerance(1e-5, share=0.5))
        assert text.endswith("A and B are equal within the tolerance (relative 1e-05, share 0.5).\n")


class TestMatching:
    """Events, tags, channels and ticks."""

    def test_events_by_id(self) -> None:
        a = [frame(signal(ident), ident) for ident in (1, 2, 3, 7)]
        b = [frame(signal(ident), ident) for ident in (3, 9, 1, 2)]
        result = compare(a, b)
        assert [event.ident_a for event in result.events] == [1, 2, 3]
        assert (result.events_only_a, result.events_only_b) == ([7], [9]) and not result.is_equal
        assert not any(event.failures() for event in result.events)
        text = text_report(result)
        assert "3 events compared, matched by id" in text and "only in A: 1 event: 7" in text
        assert text.endswith("A and B differ: 1 only in A, 1 only in B.\n")

    @pytest.mark.parametrize("idents", [(100, 101, 102), (1, 1, 2)])
    def test_events_by_order(self, idents: tuple[int, ...]) -> None:
        """If no id is in both files, or ids repeat."""
        a = [frame(signal(seed), seed) for seed in (1, 2)]
        b = [frame(signal(index + 1), ident) for index, ident in enumerate(idents)]
        result = compare(a, b)
        assert not result.is_by_ident and [event.ident_b for event in result.events] == list(idents[:2])
        assert result.events_only_b == [idents[2]] and not any(event.failures() for event in result.events)

    def test_events_of_later_order_wait(self, tmp_path: Path) -> None:
        events = [frame(signal(ident), ident) for ident in range(5)]
        formats.write(tmp_path / "a.h5", events)
        formats.write(tmp_path / "b.zarr", events[::-1])
        assert compare(tmp_path / "a.h5", tmp_path / "b.zarr").is_equal

    def test_tags(self) -> None:
        def event(*tags: str) -> Frame:
            return Frame({tag: frame(signal(), tag=tag)[tag] for tag in tags})

        assert compare(event("gauss"), event("signal")).tags() == ["gauss:signal"]
        result = compare(event("signal", "roi"), event("error", "signal"))
        assert result.tags() == ["signal"] and not result.is_equal
        assert result.events[0].failures() == ["tag roi is only in A", "tag error is only in B"]
        assert compare(event("signal", "roi"), event("error", "signal"), ["signal"]).is_equal
        assert compare(event("a", "b"), event("c", "d"), ["a:d", "b:c"]).tags() == ["a:d", "b:c"]
        with pytest.raises(Error, match="no tag in common") as caught:
            compare(event("a", "b"), event("c"))
        assert "A: a, b; B: c" in str(caught.value)
        with pytest.raises(Error, match="no such tag"):
            compare(event("a"), event("a"), ["b"])

    def test_channels_in_another_order(self) -> None:
        order = np.random.default_rng(3).permutation(26)
        other = frame(signal()[order], channels=order)
        assert compare(frame(signal()), other).is_equal
        assert "not counted: tag signal: the channels are in another order" in report(frame(signal()), other)
        samples = signal()[order]
        samples[list(order).index(11), 100] = 5000
        (location,) = compare(frame(signal()), frame(samples, channels=order), planes=PLANES).locations
        assert (location.channel, location.tick, location.b) == (11, 100, 5000.0)

    def test_channels_of_only_one(self) -> None:
        result = compare(frame(signal()[:20]), frame(signal()[2:], channels=np.arange(2, 26)))
        (tag,) = result.events[0].tags
        assert (tag.channels, tag.only_a, tag.only_b) == (18, [0, 1], [20, 21, 22, 23, 24, 25])
        assert tag.failures() == ["2 channels only in A: 0-1", "6 channels only in B: 20-25"]
        assert tag.total.in_a == (signal()[2:20] != 0).sum()

    def test_no_channel_in_common(self) -> None:
        result = compare(frame(signal()), frame(signal(), channels=np.arange(26, 52)))
        assert "tag signal: no channel in common\n" in text_report(result)
        assert "No channel in common." in html_page(result) and not result.is_equal

    def test_a_channel_with_two_rows(self) -> None:
        with pytest.raises(Error, match="two rows") as caught:
            compare(frame(signal()), frame(signal(), channels=np.arange(26) // 2))
        assert "B, event 0, tag signal" in str(caught.value)

    def test_ticks_of_a_part(self) -> None:
        """Samples are matched by their tick; a difference in times counts."""
        part = signal()[:, 20:250].copy()
        part[4, 10] = 1234
        result = compare(frame(signal()), frame(part, first_tick=20))
        (tag,) = result.events[0].tags
        assert tag.times == {"first_tick": (0, 20), "ticks": (300, 230)}
        assert tag.total.samples == 26 * 230 and tag.total.differing == 1
        assert [(location.channel, location.tick) for location in result.locations] == [(4, 30)]

    def test_ticks_without_overlap(self) -> None:
        result = compare(frame(signal()), frame(signal(), first_tick=400))
        assert result.total("signal").samples == 0 and not result.is_equal

    @pytest.mark.parametrize(("name", "value"), [("start_ns", 5.0), ("tick_ns", 512.0)])
    def test_times(self, name: str, value: float) -> None:
        result = compare(frame(signal()), frame(signal(), **{name: value}))
        (failure,) = result.events[0].failures()
        assert failure.startswith(f"tag signal: times differ: {name} ") and failure.endswith(f"and {value:g}")


class TestOtherParts:
    """Masks, summaries, notes, types."""

    def test_masks(self) -> None:
        rows = np.array([[3, 0, 300], [5, 10, 20]])
        a = frame(signal(), masks={"bad": rows, "noisy": rows[:1]})
        assert compare(a, frame(signal(), masks={"bad": rows[::-1], "noisy": rows[:1]})).is_equal
        result = compare(a, frame(signal(), masks={"bad": rows[:1], "nan": rows[1:]}))
        assert result.events[0].failures() == [
            "mask bad: 1 row only in A: channel 5 ticks 10-20",
            "mask noisy: 1 row only in A: channel 3 ticks 0-300",
            "mask nan: 1 row only in B: channel 5 ticks 10-20",
        ]

    def test_summaries(self) -> None:
        order = np.random.default_rng(3).permutation(26)
        a = frame(signal(), summary=np.arange(26.0))
        b = frame(signal()[order], channels=order, summary=order.astype(float))
        assert compare(a, b).is_equal
        b["signal"].summary[4] += 0.5
        assert compare(a, b).events[0].failures() == [
            "tag signal: the summary differs in 1 channel, by at most 0.5"
        ]
        assert compare(a, b, tolerance=Tolerance(absolute=0.5)).is_equal
        assert compare(a, frame(signal())).events[0].failures() == ["tag signal: only A has a summary"]

    def test_notes_and_types_count_as_equal(self) -> None:
        mask = (signal() > 0).astype(np.int16)
        a = frame(mask, notes={"model": "x", "same": "1"})
        b = frame(mask.astype(np.float32), notes={"same": "1", "device": "cuda"})
        text = report(a, b)
        assert "not counted: tag signal: samples are int16 in A and float32 in B" in text
        assert "not counted: notes differ: model, device\n" in text
        assert text.endswith("A and B are equal.\n")


class TestPlanes:
    """Planes that the caller gives."""

    def test_channels_of_no_plane(self) -> None:
        result = compare(frame(signal()), frame(signal()), planes={"U": np.arange(20)})
        assert [(plane, each.samples) for plane, each in result.totals("signal").items()] == [
            ("U", 6000), ("other channels", 1800),
        ]  # fmt: skip


@pytest.fixture(name="files", scope="module")
def fixture_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return two files with three common events, of which the second differs."""
    folder = tmp_path_factory.mktemp("files")
    a = [frame(signal(ident), ident) for ident in (0, 1, 2, 8)]
    b = [frame(changed(signal(1)) if ident == 1 else signal(ident), ident) for ident in (0, 1, 2)]
    formats.write(folder / "a.h5", a)
    formats.write(folder / "b.h5", b)
    return folder / "a.h5", folder / "b.h5"


class TestCommand:
    """wirecell-frame compare."""

    def test_equal(self, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["compare", str(files[0]), str(files[0]), "--planes", PLANES]) == 0
        assert capsys.readouterr().out.endswith("A and B are equal.\n")

    def test_different(
        self, files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        words = ["compare", *map(str, files), "--planes", PLANES, "--json", str(tmp_path / "out.json")]
        assert main(words) == 1
        text = capsys.readouterr().out
        assert max(map(len, text.splitlines())) <= 100
        assert "only in A: 1 event: 8" in text and "the first 10 samples that differ" in text
        document = json.loads((tmp_path / "out.json").read_text())
        a, b = signal(1), changed(signal(1))
        rows, ticks = np.nonzero(a != b)
        assert [
            (p["event"], p["channel"], p["tick"], p["a"], p["b"]) for p in document["first_locations"]
        ] == [(1, row, tick, a[row, tick], b[row, tick]) for row, tick in zip(rows[:10], ticks[:10])]
        assert document["totals"]["signal"]["all"]["differing"] == len(rows)
        assert document["events_only_a"] == [8] and not document["is_equal"]

    def test_json_alone(self, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["compare", *map(str, files), "--json", "-"]) == 1
        assert json.loads(capsys.readouterr().out)["totals"]["signal"].keys() == {"all channels", "all"}

    def test_tolerances(self, files: tuple[Path, Path]) -> None:
        b = str(files[1])
        same = ["compare", b, str(files[0]), "--tag", "signal"]
        assert main([*same, "--share", "1"]) == 1  # event 8 is still missing
        assert main(["compare", b, b, "--tolerance", "0.1", "--absolute", "3"]) == 0

    @pytest.mark.parametrize(
        "words", [["--tag", "gauss"], ["--planes", "U"], ["--html", "/absent/page.html"]]
    )
    def test_faults(
        self, files: tuple[Path, Path], words: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["compare", *map(str, files), *words]) == 2
        assert capsys.readouterr().err.startswith("error: ")

    def test_unreadable(
        self, files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "bad.h5").write_bytes(b"no frames")
        assert main(["compare", str(files[0]), str(tmp_path / "bad.h5")]) == 2
        assert "bad.h5" in capsys.readouterr().err

    @pytest.mark.parametrize("option", ["--tolerance", "--absolute", "--share"])
    @pytest.mark.parametrize("value", ["-1", "nan", "much"])
    def test_sizes(self, files: tuple[Path, Path], option: str, value: str) -> None:
        with pytest.raises(SystemExit) as caught:
            main(["compare", *map(str, files), f"{option}={value}"])
        assert caught.value.code == 2


class TestPage:
    """The page with figures."""

    def test_content(self, files: tuple[Path, Path]) -> None:
        page = html_page(compare(*files, planes=PLANES))
        assert "The frames differ" in page and "://" not in page.replace("http://www.w3.org", "")
        for figure in (
            "Samples that are not 0",
            "Sizes of the differences",
            "Charge of B",
            "Where samples differ",
        ):
            assert figure in page
        assert page.count("First difference in channel") == 4
        assert_policy(page)

    def test_equal_frames_without_samples(self) -> None:
        page = html_page(compare(frame(signal() * 0), frame(signal() * 0)))
        assert "The frames are equal" in page and "Where samples differ" not in page

    @needs_chromium
    def test_in_a_browser(self, files: tuple[Path, Path], tmp_path: Path) -> None:
        path = tmp_path / "page.html"
        assert main(["compare", *map(str, files), "--planes", PLANES, "--html", str(path)]) == 1
        document, messages = dump(path, tmp_path)
        assert messages == [] and document.count("<svg") == 8

    @needs_chromium
    def test_names_do_not_run(self, tmp_path: Path) -> None:
        frames = [frame(signal() * size, tag=HOSTILE_NAME) for size in (1, 2)]
        path = tmp_path / "page.html"
        path.write_text(html_page(compare(*frames, planes=PLANES)), encoding="utf-8")
        assert_policy(path.read_text(encoding="utf-8"))
        document, messages = dump(path, tmp_path)
        assert messages == [] and "ran" not in marks(document) and "&lt;svg onload=" in document


def test_summaries_and_pictures_of_traces_with_gaps() -> None:
    """Rows of a map are ordered by channel id."""
    samples = np.zeros((3, 50), np.float32)
    other = samples.copy()
    other[0, 49] = 1.0
    channels = np.array([900, 5, 30])
    (tag,) = compare(frame(samples, channels=channels), frame(other, channels=channels)).events[0].tags
    assert tag.picture.channels == (5, 900) and tag.picture.counts.shape == (3, 50)
    assert np.argwhere(tag.picture.counts).tolist() == [[2, 49]]
    assert [(each.channel, each.first_tick, len(each.a)) for each in tag.picture.waveforms] == [(900, 0, 50)]


@pytest.mark.parametrize(
    ("value", "as_percent", "as_share", "as_ratio"),
    [
        (0.0, "0", "0", "0.00000"),
        (1.0, "100 %", "1", "1"),
        (1 - 1e-6, ">99.9 %", "<1.0000", "1-1e-06"),
        (1e-6, "0.0001 %", "<0.0001", "0.00000"),
        (0.0456, "4.6 %", "0.0456", "0.04560"),
    ],
)
def test_shares_look_exact_only_if_they_are(
    value: float, as_percent: str, as_share: str, as_ratio: str
) -> None:
    assert (percent(value), share(value), ratio(value)) == (as_percent, as_share, as_ratio)


def test_the_code_of_the_page(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The Python of docs/frame-files.md, on files in HDF5."""
    text = (ROOT / "docs" / "frame-files.md").read_text(encoding="utf-8")
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "compare" in block]
    monkeypatch.chdir(files[0].parent)
    exec(code.replace("cpu.npz", "a.h5").replace("cuda.npz", "b.h5"), {})
    assert capsys.readouterr().out.startswith("False 0.9")


def test_names_of_the_result(files: tuple[Path, Path]) -> None:
    assert (compare(*files).a, compare(*files, names=("cpu", "cuda")).b) == (str(files[0]), "cuda")
    assert isinstance(frame(signal())["signal"], Traces)
