# SPDX-License-Identifier: Apache-2.0
"""Files of depositions: formats, dropped depositions, rejected files; drift and ideal lines against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.reference import detector, linescan
from tests.support.shared import shared_folder
from tests.support.wire_cell import (
    ENDINGS,
    Arrays,
    description,
    needs_program,
    read_arrays,
    rejected,
    run,
    settings,
    write_arrays,
)

pytestmark = needs_program

COPY = """
local pg = import 'pgraph.jsonnet';
local sim = (import 'sim.jsonnet')((import 'detectors/all.jsonnet').pdhd, 0);
function(input, output) pg.main(pg.pipeline([sim.DepoFileSource(input), sim.DepoFileSink(output)]))
"""
DRIFT = """
local pg = import 'pgraph.jsonnet';
local sim = (import 'sim.jsonnet')((import 'detectors/all.jsonnet').pdhd, 0);
function(input, output) pg.main(pg.pipeline([sim.DepoFileSource(input), sim.Drifter({ fluctuate: false }), sim.DepoFileSink(output)]))
"""
MAKE = """
local pg = import 'pgraph.jsonnet';
function(kind, output, seed='1', plane='0')
    local sim = (import 'sim.jsonnet')((import 'detectors/all.jsonnet').pdhd, 0, std.parseInt(seed));
    pg.main(pg.pipeline([sim.TrackDepos(kind, 3, 2, std.parseInt(plane)), sim.DepoFileSink(output)]))
"""


def depositions(count: int, ident: int = 0) -> Arrays:
    """Return the arrays of an event, (7, count) and (4, count), with different values everywhere, inside
    anode 0.
    """
    rng = np.random.default_rng(count)
    data = np.stack(
        [
            np.sort(rng.uniform(0, 1e5, count)),
            -rng.uniform(1000, 9000, count),
            rng.uniform(-3400, -10, count),
            rng.uniform(100, 6000, count),
            rng.uniform(10, 2290, count),
            rng.uniform(0, 2, count),
            rng.uniform(0, 2, count),
        ]
    ).astype(np.float32)
    info = np.zeros((4, count), dtype=np.int32)
    info[0] = np.arange(count)
    info[1] = 13
    return {f"depo_data_{ident}": data, f"depo_info_{ident}": info}


def job(folder: Path, text: str, **arguments: Any) -> tuple[Arrays, str]:
    """Run a job; return the arrays of its output and its log."""
    (folder / "job.jsonnet").write_text(text)
    given = {"output": "out.npz", **arguments}
    done = run(
        "-c",
        "job.jsonnet",
        *settings(**given),
        folder=folder,
    )
    assert done.returncode == 0, done.stderr
    return read_arrays(folder / str(given["output"])), done.stderr


def copy(folder: Path, arrays: Arrays, ending: str = ".npz") -> tuple[Arrays, str]:
    """Copy a file with source and sink; return the arrays of the copy and the log."""
    write_arrays(folder / f"in{ending}", arrays)
    return job(folder, COPY, input=f"in{ending}")


def fail(folder: Path, arrays: Arrays) -> str:
    """Return the error block for a rejected file."""
    write_arrays(folder / "in.npz", arrays)
    (folder / "job.jsonnet").write_text(COPY)
    block = rejected(
        "-c", "job.jsonnet", "-A", "input=in.npz", "-A", "output=out.npz", folder=folder, status=1
    )
    assert not (folder / "out.npz").exists()
    return block


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_container_either_orientation_either_order(tmp_path: Path, ending: str) -> None:
    """An event for each orientation and order."""
    forms = ((False, "C"), (True, "C"), (True, "F"))
    arrays: Arrays = {}
    given: Arrays = {}
    for event, (turn, order) in enumerate(forms):
        of_event = depositions(50 + event, event)
        arrays |= of_event
        given |= {name: np.asarray(each.T if turn else each, order=order) for name, each in of_event.items()}
    seen, said = copy(tmp_path, given, ending)
    for event in range(len(forms)):
        data, info = seen[f"depo_data_{event}"], seen[f"depo_info_{event}"]
        np.testing.assert_array_equal(data, arrays[f"depo_data_{event}"].T)
        np.testing.assert_array_equal(info, arrays[f"depo_info_{event}"].T)
        assert data.dtype == np.float32 and info.dtype == np.int32
    assert "depositions" not in said


def test_several_events_and_foreign_members(tmp_path: Path) -> None:
    arrays = {
        **depositions(5, 3),
        "track_info_3": np.zeros((2, 2)),
        **depositions(0, 4),
        **depositions(9, 12),
    }
    seen, _ = copy(tmp_path, arrays)
    assert {name: array.shape for name, array in seen.items()} == {
        "depo_data_3": (5, 7),
        "depo_info_3": (5, 4),
        "depo_data_4": (0, 7),
        "depo_info_4": (0, 4),
        "depo_data_12": (9, 7),
        "depo_info_12": (9, 4),
    }


def test_dropped_depositions_give_one_warning(tmp_path: Path) -> None:
    arrays = depositions(20)
    data = arrays["depo_data_0"]
    data[2, 3], data[0, 4], data[1, 5], data[1, 6], data[5, 7] = np.nan, np.inf, 0, 500, -1
    seen, said = copy(tmp_path, arrays)
    assert said.count(" depositions: ") == 1
    assert (
        "event 0: dropped 5 of 20 depositions: 2 not finite, 1 without charge, "
        "1 with charge of the opposite sign, 1 with negative spread" in said
    )
    np.testing.assert_array_equal(seen["depo_info_0"][:, 0], [0, 1, 2, *range(8, 20)])


def test_positive_charge_is_a_number_of_electrons(tmp_path: Path) -> None:
    arrays = depositions(20)
    charge = arrays["depo_data_0"][1].copy()
    arrays["depo_data_0"][1] *= -1
    seen, said = copy(tmp_path, arrays)
    assert said.count("charges are positive") == 1
    np.testing.assert_array_equal(seen["depo_data_0"][:, 1], charge)


def test_damaged_files_give_one_error_block(tmp_path: Path) -> None:
    good = depositions(6)
    data, info = good["depo_data_0"], good["depo_info_0"]
    assert "depo_info_0.npy is missing" in fail(tmp_path, {"depo_data_0": data})
    assert "depo_data_0.npy is missing" in fail(tmp_path, {"depo_info_0": info})
    assert "do not fit" in fail(tmp_path, {"depo_data_0": data[:6], "depo_info_0": info})
    assert "do not fit" in fail(tmp_path, {"depo_data_0": data, "depo_info_0": info[:, :5]})
    assert "does not hold integers" in fail(tmp_path, {"depo_data_0": data, "depo_info_0": info + 0.5})
    block = fail(tmp_path, {"frame_*_0": np.zeros((2, 3))})
    assert "the file holds no event" in block and "frame_*_0.npy" in block
    block = fail(tmp_path, {})
    assert "an empty archive" in block or "no event" in block


def test_drift_against_numpy_and_points_outside(tmp_path: Path) -> None:
    arrays = depositions(300)
    given = arrays["depo_data_0"]
    given[2, 10:20] = -3500  # between response plane and wires, so moved back to the response plane
    outside = np.zeros(300, dtype=bool)
    given[2, 40], given[2, 41], given[3, 42], given[4, 43] = -3600, 20, 6500, -300
    outside[40:44] = True
    write_arrays(tmp_path / "in.npz", arrays)
    seen, said = job(tmp_path, DRIFT, input="in.npz")
    assert said.count("outside of the drift volumes") == 1
    assert "event 0: dropped 4 of 300 depositions outside of the drift volumes" in said
    t, q, x, y, z, longitudinal, transverse = given[:, ~outside].astype(float)
    duration = (x + 3430.465) / 1.60563e-3
    forward = np.maximum(duration, 0)
    expected = np.stack(
        [
            t + duration,
            q * np.exp(-forward / 35e6),
            np.full_like(t, -3430.465),
            y,
            z,
            np.sqrt(longitudinal**2 + 2 * 4.0e-7 * forward),
            np.sqrt(transverse**2 + 2 * 8.8e-7 * forward),
        ],
        axis=1,
    )
    order = np.argsort(expected[:, 0], kind="stable")
    np.testing.assert_allclose(seen["depo_data_0"], expected[order], rtol=2e-6)
    np.testing.assert_array_equal(seen["depo_info_0"][:, 0], np.arange(300)[~outside][order])


@pytest.mark.parametrize("kind", ["tracks", "muons", "blips", "none"])
def test_generated_events_depend_on_the_seed(tmp_path: Path, kind: str) -> None:
    first, _ = job(tmp_path, MAKE, kind=kind, output="first.npz")
    job(tmp_path, MAKE, kind=kind, output="again.npz")
    assert (tmp_path / "first.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()
    assert set(first) == {f"depo_{half}_{event}" for half in ("data", "info") for event in (0, 1)}
    if kind == "none":
        assert first["depo_data_0"].shape == (0, 7)
        return
    other, _ = job(tmp_path, MAKE, kind=kind, output="other.npz", seed=2)
    assert set(first["depo_info_0"][:, 0]) == {0, 1, 2}
    for event in (first["depo_data_1"], other["depo_data_0"]):
        assert event.shape != first["depo_data_0"].shape or not np.array_equal(event, first["depo_data_0"])


@pytest.fixture(scope="module")
def wire_file() -> Path:
    return description("protodunehd-wires-larsoft-v1")


@pytest.mark.parametrize("plane", [0, 1, 2])
def test_ideal_lines_equal_the_reference(tmp_path: Path, wire_file: Path, plane: int) -> None:
    """End points agree, up to the random slot along the pitch direction and the random drift distance."""
    angles = [0, 1, 3, 5, 10, 20, 30, 45, 60, 75, 80, 82, 84, 89]
    seen, _ = job(tmp_path, MAKE, kind="line", output="line.npz", plane=plane)
    wires = detector.load_planes(wire_file, 0)[0, plane]
    expected = linescan.lines(np.random.default_rng(1), wires, angles)  # (line, end, x y z)
    data, info = seen["depo_data_0"].astype(float), seen["depo_info_0"]
    slots = []
    for line in range(len(angles)):
        points = data[info[:, 0] == line]
        steps = len(points)
        spans = expected[line, 1] - expected[line, 0]
        np.testing.assert_allclose(points[-1, 2:5] - points[0, 2:5], spans * (steps - 1) / steps, atol=2e-3)
        np.testing.assert_allclose(-points[:, 1].sum(), 5000 * np.linalg.norm(spans), rtol=1e-6)
        middle = points[:, 2:5].mean(axis=0)
        slot = (middle[[2, 1]] - linescan.CENTRE_Z_Y) @ wires.pitch_direction / linescan.SPACING_MM + 6.5
        assert abs(slot - round(slot)) < 1e-4
        slots.append(round(slot))
        drift = points[:, 2] - linescan.simulate.RESPONSE_PLANE_MM
        assert drift.min() > 700 and drift.max() < 2200
    assert sorted(slots) == list(range(14)) and slots != sorted(slots)


def test_files_of_wct_are_read(tmp_path: Path) -> None:
    """Files of WCT have (n, 7) in Fortran order, with the ancestors of each deposition, which are ignored."""
    shared = shared_folder()
    if shared is None:
        pytest.skip("../shared is absent")
    path = shared / "data" / "pdhd" / "tracks10-drifted.npz"
    seen, _ = job(tmp_path, COPY, input=path)
    original = np.load(path)
    youngest = original["depo_info_0"][:, 2] == 0
    np.testing.assert_array_equal(seen["depo_data_0"], original["depo_data_0"][youngest])
