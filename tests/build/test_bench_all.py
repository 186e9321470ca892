# SPDX-License-Identifier: Apache-2.0
"""./wcb bench --all: its inputs, points, fits, bounds, pages and pictures, without running the chain."""

from __future__ import annotations

import math
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bench import all_pages, frame_files, frames, line_fit, points, roofline, sweeps
from bench.frames import Input
from bench.result import type_rows
from bench.statistics_of_calls import chain_figures, node_figures
from bench.tables import type_table
from tests.support.wire_cell import ADC, ROOT, default_adc, read_arrays

NODES = {
    "FrameFileSource": 1.0,
    "SPNGDecon:induction": 100.0,
    "SPNGApplyROI:u": 20.0,
    "FrameFileSink": 2.0,
}  # ms


def timing(events: int, factor: float = 1.0) -> dict:
    """Return a report; the first event takes three times as long."""
    nodes = []
    for name, wall in NODES.items():
        calls = [
            {
                "event": event,
                "depth": 0,
                "wall_ns": int(factor * wall * 1e6 * (3 if event == 0 else 1)),
                "cpu_ns": int(factor * wall * 2e6),
                "in_bytes": 1600 * 6000 * 2,
                "out_bytes": 1600 * 3151 * 8,
            }
            for event in range(events)
        ]
        nodes.append(
            {"name": name, "type": name.split(":")[0], "leaf_operations": 5 * events, "per_call": calls}
        )
    return {
        "nodes": nodes,
        "run": {
            "events": events,
            "event_with_files_ns": 130e6 * factor,
            "background_cpu_ns": {"read-ahead": 6e6 * events},
            "startup_seconds": 1.0,
            "process_peak_bytes": 8e8,
            "page_faults_per_later_event": 3.0,
            "device": "cpu",
            "precision": "exact float32",
        },
    }


def test_a_service_inside_a_call_counts_once() -> None:
    """Its time is that of the node that calls it, its operations are its own."""
    report = timing(3)
    report["nodes"].append(
        {
            "name": "SPNGTorchService",
            "type": "SPNGTorchService",
            "leaf_operations": 40 * 3,
            "per_call": [{**call, "depth": 1} for call in report["nodes"][2]["per_call"]],
        }
    )
    for node in report["nodes"]:
        node["cpu_peak_bytes"] = 0
    nodes, chain = node_figures([report]), chain_figures([report])
    assert chain.wall.median == pytest.approx(120) and chain.operations == 50
    result = {"types": type_rows(nodes, report, None), "chain": chain.json()}
    *steps, total = type_table(result).rows
    assert ["SPNGDecon", "SPNGApplyROI", "+ SPNGTorchService", "FrameFileSink", "FrameFileSource"] == [
        row[0] for row in steps
    ]
    assert total[:5] == ["all without files", "2", "120.0", "240.0", "50"]


@pytest.mark.parametrize(
    "wanted",
    [
        Input(2),
        Input(2, 1500),
        Input(1, 9000, anodes=2),
        Input(1, 200, ending=".npz"),
        Input(1, 200, ending=".tar.gz"),
    ],
    ids=lambda wanted: wanted.name,
)
def test_inputs_are_the_default_event_cut_tiled_and_copied(wanted: Input, tmp_path: Path) -> None:
    path = frames.make_input(ADC, wanted, tmp_path)
    arrays = read_arrays(path)
    samples, channels, _ = default_adc()
    assert sorted({int(name.rsplit("_", 1)[1]) for name in arrays}) == list(range(wanted.events))
    found = arrays["frame_*_0"]
    assert found.shape == (2560 * wanted.anodes, wanted.ticks) and found.dtype == np.int16
    np.testing.assert_array_equal(found[:2560, :6000], samples[:, : wanted.ticks])
    np.testing.assert_array_equal(found[-2560:, 6000:], samples[:, : max(0, wanted.ticks - 6000)])
    np.testing.assert_array_equal(
        arrays["channels_*_0"], np.concatenate([channels + 2560 * anode for anode in range(wanted.anodes)])
    )
    assert frames.make_input(ADC, wanted, tmp_path) == path and [
        each.name for each in tmp_path.iterdir()
    ] == [wanted.name]
    if wanted.ending == ".npz":
        assert zipfile.ZipFile(path).infolist()[0].compress_type == zipfile.ZIP_DEFLATED
    elif wanted.ending == ".tar":
        assert tarfile.open(path, "r:").getnames()


def test_a_line_is_found_and_its_farthest_point() -> None:
    exact = line_fit.fitted_line([(x, 7 + 0.03 * x) for x in (1500, 3000, 48_000)])
    assert (
        exact.slope == pytest.approx(0.03)
        and exact.intercept == pytest.approx(7)
        and exact.largest_residual < 1e-9
    )
    bent = line_fit.fitted_line([(1, 1.0), (2, 2.0), (3, 3.0), (4, 8.0)])
    assert bent.largest_residual > 0.3
    for wrong in ([(1, 1.0), (1, 2.0)], [(1, 1.0), (2, 0.0)]):
        with pytest.raises(ValueError, match="two different sizes"):
            line_fit.fitted_line(wrong)


def test_a_readout_of_several_windows_is_their_sum() -> None:
    walls, cpus, first = points.readouts(timing(6), 2)  # three windows each
    assert (
        walls == [pytest.approx(3 * 120.0)]
        and first == pytest.approx(5 * 120.0)
        and cpus == [pytest.approx(6 * 120.0)]
    )
    walls, _, _ = points.readouts(timing(4), 4)
    assert walls == [pytest.approx(120.0)] * 3
    assert points.readouts(timing(1), 1)[0] == [pytest.approx(360.0)], "a single readout is the first one"


def test_bounds_follow_from_bytes_and_transforms() -> None:
    """A real transform over 6300 ticks of 1600 channels; two over 800 channels, complex, for each of 2 x 3151 frequencies."""
    works = roofline.work_of_nodes(timing(2))
    decon = works["SPNGDecon:induction"]
    assert decon.real == pytest.approx(1600 * 2.5 * 6300 * math.log2(6300))
    assert decon.complex == pytest.approx(2 * 2 * 3151 * 5 * 800 * math.log2(800))
    assert decon.bytes == 1600 * (6000 * 2 + 3151 * 8)
    fast = roofline.Machine(copy=1e9, product=1.0, real_transforms=1e15, complex_transforms=1e15)
    slow = roofline.Machine(copy=1e15, product=1.0, real_transforms=1e9, complex_transforms=2e9)
    assert decon.least_ms(fast) == pytest.approx(decon.bytes * 1e-6)
    assert decon.least_ms(slow) == pytest.approx(1e-6 * decon.real + 0.5e-6 * decon.complex)


@pytest.mark.parametrize("quick", [True, False])
def test_points_are_jobs_that_differ(quick: bool) -> None:
    series = sweeps.all_series(quick, 2)
    names = [one.name for one in series]
    assert len(set(names)) == len(names) and {
        "ticks",
        "anodes",
        "batch",
        "threads",
        "in_flight",
        "files",
        "dtype",
    } <= set(names)
    for one in series:
        jobs = [
            (point.input, tuple(point.arguments.items()), point.words, point.output) for point in one.points
        ]
        assert len(set(jobs)) == len(jobs) > 1, one.name
        assert len({point.label for point in one.points}) == len(jobs)
    if not quick:
        assert [point.x for point in series[0].points] == [1500, 3000, 6000, 12_000, 24_000, 48_000]
        assert "model" in names


def figures_of(series: list[sweeps.Series]) -> list[points.SeriesFigures]:
    """Return series whose points ran twice, except one that failed."""
    found = []
    for one in series:
        rows = [
            points.PointFigures(point.label, point.x, ["wire-cell", "-A", f"input={point.label}"])
            for point in one.points
        ]
        for point, figures in zip(one.points, rows):
            factor = point.x / 6000 if one.name == "ticks" else 1.0
            points.fill(figures, [timing(point.input.events, factor)] * 2, point.input.events)
        found.append(points.SeriesFigures(one.name, one.title, one.axis, one.text, rows))
    found[1].points[-1] = points.PointFigures(
        "4, in one batch", 4, ["wire-cell"], failure="error: no such argument"
    )
    return found


def test_pages_and_pictures(tmp_path: Path) -> None:
    series = figures_of(sweeps.all_series(False, 2))
    cold = {
        "start_up_s": 1.0,
        "first_event_ms": 300.0,
        "later_event_ms": 200.0,
        "once_ms": 100.0,
        "cached_bytes": 0,
        "first_call_extra_ms": {"SPNGDecon:u": 50.0},
    }
    step = {
        "nested": False,
        "type": "SPNGDecon",
        "nodes": 2,
        "wall_ms": 100.0,
        "cpu_ms": 180.0,
        "operations": 16.0,
        "moved_mb": 120.0,
        "transforms_gflop": 1.0,
        "roofline_ms": 40.0,
    }
    node = {
        "name": "SPNGDecon:u",
        "first": 110.0,
        "wall": {"median": 100.0, "minimum": 90.0, "p90": 120.0},
        "cpu": 180.0,
        "operations": 8.0,
        "peak_bytes": 1e8,
    }
    result = {
        "command": "./wcb bench --all",
        "time": "2026-11-21T12:00:00Z",
        "cores": 2,
        "environment": {},
        "operators": {},
        "chain": node,
        "nodes": [node],
        "run": timing(2)["run"] | {"device_name": "", "engine": "Pgrapher", "intra_op_threads": 2},
        "settings": {"events_in_flight": 1},
        "machine": {"cpu": "a processor", "cores": 2, "system": "Linux"},
        "program": {"commit": "abc", "build": "release"},
        "versions": {"torch": "2.11.0"},
        "summary": {"chain_ms": 200.0, "start_up_s": 1.0},
        "bars": {"chain_ms": 400.0},
        "start_up_s": {},
        "types": [step],
        "runs": [200.0],
        "yardstick_runs": [100.0],
        "load_text": "nothing else ran",
        "peaks_text": "copy 10 GB/s",
    }
    folder = tmp_path / "out"
    folder.mkdir()
    scaling = {"rounds": 2, "load_text": "nothing else ran", "cold": cold}
    pages = all_pages.write_pages(result, series, scaling, tmp_path / "pages", folder)
    assert [page.name for page in pages] == ["cpu.md", "scaling-cpu.md"]
    text = pages[1].read_text(encoding="utf-8")
    assert (
        "| 48,000 |" in text and "failed: error: no such argument" in text and "no device was present" in text
    )
    assert "Straight line through these" in text and "0.0 ms + 20.00 ms for each 1000 ticks" in text
    for page in pages:
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith("!["):
                assert (page.parent / line.split("(")[1].rstrip(")")).stat().st_size > 5000, line
    assert len(list((tmp_path / "pages" / "images").iterdir())) == 4
    assert (folder / "scaling.json").exists()


def frame_file_result() -> dict:
    """Return a result with the times of two frame files, without the chain."""
    times = {"wall": {"median": 80.0, "minimum": 70.0}, "cpu": 75.0, "file_mb": 1.62}
    fast = {"wall": {"median": 12.0, "minimum": 11.0}, "cpu": 11.5, "file_mb": 61.5}
    return {
        "command": "./wcb bench --only write",
        "time": "2026-11-23T12:00:00Z",
        "program": {"commit": "abc", "build": "release"},
        "machine": {"cpu": "a processor", "system": "Linux 6.18"},
        "load_text": "nothing else ran",
        "file_system": "ext4",
        "operators": {
            "frame_files_bench/write_compact/dense_npz": times,
            "frame_files_bench/write_compact/dense_tar": fast,
        },
    }


def test_frame_files_replace_their_section_of_a_page() -> None:
    result = frame_file_result()
    files = frame_files.table(result)
    assert files is not None and [row[1:] for row in files.rows] == [
        ["80.00", "70.00", "75.00", "1.6", "1.000", ""],
        ["12.00", "11.00", "11.50", "61.5", "0.150", "15 (ext4)"],
    ]
    text = frame_files.section(files, frame_files.origin(result))
    page = frame_files.with_section("# Page\n\n## Frame files\n\nstale\n\n## Operators\n\nkept\n", text)
    assert page == f"# Page\n\n{text}\n## Operators\n\nkept\n"
    for what in (
        "`./wcb bench --only write`",
        "2026-11-23T12:00:00Z",
        "commit abc",
        "a processor",
        "nothing else",
    ):
        assert what in page
    assert frame_files.with_section(page, text) == page
    assert frame_files.median_of(page, "write_compact/dense_tar") == 12.0
    with pytest.raises(ValueError, match="read dense"):
        frame_files.median_of(page, "read_file/dense_tar")
    with pytest.raises(ValueError, match="no section"):
        frame_files.with_section("# Page\n", text)


def test_no_table_without_the_frame_files() -> None:
    assert frame_files.table({"operators": {"operators_bench/pack": {}}}) is None


def test_the_page_has_the_rows_of_the_table() -> None:
    page = (ROOT / "docs" / "benchmarks" / "cpu.md").read_text(encoding="utf-8")
    section = page.partition(f"## {frame_files.TITLE}\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith(("| read", "| write"))]
    assert [row[0].removeprefix("| ") for row in rows] == [text for _, text, _ in frame_files.ROWS]
    bars = [row[-1].removesuffix(" |").strip() for row in rows]
    assert bars == [f"{bar} (ext4)" if bar else "" for _, _, bar in frame_files.ROWS]
    for row, (_, _, bar) in zip(rows, frame_files.ROWS):
        assert not bar or float(row[1]) <= float(bar), row
    assert "\n".join([*frame_files.NOTES, frame_files.PAGE_NOTE]) in section


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/", "ext4"),
        ("/tmp/spng", "tmpfs"),
        ("/tmporary", "ext4"),
        ("/with space/a", "xfs"),
        ("/twice", "zfs"),
    ],
)
def test_the_file_system_is_that_of_the_nearest_mount(folder: str, kind: str) -> None:
    mounts = "none / ext4 rw 0 0\nnone /tmp tmpfs rw 0 0\nnone /with\\040space xfs rw 0 0\n"
    mounts += "none /twice ext4 rw 0 0\nnone /twice zfs rw 0 0\n"
    assert frame_files.file_system_of(Path(folder), mounts) == kind
