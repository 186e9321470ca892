# SPDX-License-Identifier: Apache-2.0
"""Measurements from timing files and profiles equal values worked out by hand."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from synthetic import Synthetic
from wirecell_profile.compare import comparison
from wirecell_profile.compare.measurements import WHOLE_EVENT, Run, write_measurements
from wirecell_profile.compare.readers import read_runs, read_side
from wirecell_profile.errors import MissingData


def timing(path: Path, **settings: object) -> Path:
    """Write a timing file: node A is called in events 0 and 1 (twice in 1), node B inside A's call of event
    1.
    """

    def call(event: int, start: int, wall: int, nested: int = 0, depth: int = 0) -> dict:
        return {
            "event": event,
            "depth": depth,
            "failed": False,
            "start_ns": start,
            "wall_ns": wall,
            "nested_wall_ns": nested,
            "cpu_ns": 2 * wall,
            "device_ns": None,
            "in_bytes": 10,
            "out_bytes": 20,
            "leaf_operations": 3,
            "cpu_peak_bytes": 7,
            "device_peak_bytes": None,
        }

    nodes = [
        {
            "name": "A:x",
            "failed": 0,
            "operations": {"aten::add": 9},
            "per_call": [call(0, 100, 50), call(1, 300, 60, 20), call(1, 400, 5)],
        },
        {"name": "B:y", "failed": 0, "operations": {}, "per_call": [call(1, 310, 20, 0, 1)]},
    ]
    run = {
        "synchronising": False,
        "device": "cpu",
        "device_name": "",
        "engine": "Pgrapher",
        "precision": "exact",
        "graph_threads": 1,
        "intra_op_threads": 2,
        "cpu_clock": "process",
    }
    path.write_text(
        json.dumps(
            {
                "schema": "spng-timing-1",
                "time": "2026-01-01T00:00:00Z",
                "program": {"version": "1", "commit": "c", "build": "release"},
                "versions": {"torch": "2"},
                "machine": {"host": "h", "system": "s", "cpu": "c", "cores": 2},
                "run": run,
                "settings": settings,
                "nodes": nodes,
            }
        )
    )
    return path


def test_timing_file(tmp_path: Path) -> None:
    (run,) = read_runs(timing(tmp_path / "t.json"))
    assert run.events == [0, 1] and run.commit == "c"
    assert run.times["wall"]["A:x"].tolist() == [50, 40 + 5]  # own time: without the nested call
    np.testing.assert_array_equal(run.times["wall"]["B:y"], [np.nan, 20])
    assert run.times["wall"][WHOLE_EVENT].tolist() == [50, 105]  # 300 .. 405
    assert run.times["cpu"]["A:x"].tolist() == [100, 130] and "device" not in run.times
    assert run.times["cpu"][WHOLE_EVENT].tolist() == [
        100,
        130,
    ]  # A's time contains that of B, which it called
    assert run.counts["operations"]["A:x"].tolist() == [3, 6] and run.counts["bytes out"]["A:x"].tolist() == [
        20,
        40,
    ]
    assert run.operators["A:x"] == {"aten::add": 9}


def test_conditions(tmp_path: Path) -> None:
    """Conditions ignore the paths of outputs and of the checkout, and keep input and settings."""
    (a,) = read_runs(
        timing(
            tmp_path / "a.json",
            configuration="/one/cfg/pipeline.jsonnet",
            arguments={"input": "x", "output": "1"},
            dtype="f",
        )
    )
    (b,) = read_runs(
        timing(
            tmp_path / "b.json",
            configuration="cfg/pipeline.jsonnet",
            arguments={"input": "x", "output": "2"},
            dtype="f",
        )
    )
    (c,) = read_runs(
        timing(tmp_path / "c.json", configuration="cfg/pipeline.jsonnet", arguments={"input": "y"}, dtype="d")
    )
    assert comparison.different_conditions([a], [b], ("A", "B")) == []
    assert comparison.different_conditions([a], [c], ("A", "B")) == [
        "argument input: A x, B y",
        "setting dtype: A f, B d",
    ]


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        ({"model": "default"}, {}, []),
        ({"model": "'default'"}, {}, []),  # of --tla-code
        ({}, {"tpcid": "0", "batch": "true"}, []),  # strings of -A; their defaults are a number and a boolean
        ({"model": "none"}, {}, ["argument model: A none, B default"]),
        ({"model": "none"}, {"model": "default"}, ["argument model: A none, B default"]),
        ({"device": "auto"}, {"device": "cpu"}, []),  # both ran on the device of the settings
        ({"word": "x"}, {}, ["argument word: A x, B not given"]),
    ],
)
@pytest.mark.parametrize("told_by", ["both", "a", "b"])  # which files have the defaults
def test_arguments_have_their_defaults(
    a: dict, b: dict, told: list[str], told_by: str, tmp_path: Path
) -> None:
    """An argument that was not given has the value of its default; a setting has its effective value."""
    defaults = {"model": "default", "tpcid": 0, "batch": True, "device": "auto", "output": "o.npz"}
    runs = []
    for side, arguments in (("a", a), ("b", b)):
        known = {"defaults": defaults} if told_by in (side, "both") else {}
        file = timing(tmp_path / f"{side}.json", arguments=arguments, device="cpu", **known)
        runs += [Run.from_json(read_runs(file)[0].json())]
    assert comparison.different_conditions(runs[:1], runs[1:], ("A", "B")) == told


def test_file_of_measurements_keeps_everything(tmp_path: Path) -> None:
    (run,) = read_runs(timing(tmp_path / "t.json"))
    write_measurements(tmp_path / "m.json", [run, run])
    first, second = read_runs(tmp_path / "m.json")
    assert first.json() == second.json() == run.json() and isinstance(first, Run)
    assert len(read_side(str(tmp_path))) == 3 == len(read_side(str(tmp_path / "*.json")))


def profile(path: Path) -> Path:
    """Write two events of a node with a nested one; the second event launches one more kernel and waits."""
    with Synthetic(path) as file:
        file.manifest(
            what="nvtx,cuda",
            host="h",
            commit="abc",
            settings='{"dtype": "float32", "arguments": {"input": "x", "output": "y"}, "defaults": {"input": "z"}}',
            **{"source.cuda": "on"},
        )
        file.node(0, "SPNGDecon", "a")
        file.node(1, "SPNGTorchService", "m")
        file.node_call(1, 0, 0, 100, 200)
        file.launch("k", call=(110, 120), run=(130, 150))
        file.node_call(2, 0, 1, 1000, 1300)
        file.node_call(3, 1, 1, 1100, 1200)
        file.launch("k", call=(1010, 1020), run=(1030, 1060))
        file.launch("k", call=(1021, 1025), run=(1040, 1080))
        file.call("cudaStreamSynchronize_v3020", 1030, 1090)
        file.call("cudaMemcpyAsync_v3020", 1110, 1120, correlation=77)
        file.copy(1125, 1145, 77, size=4096)
    return path


def test_recorded_profile(tmp_path: Path) -> None:
    (run,) = read_runs(profile(tmp_path / "p.sqlite"))
    outer, inner = "SPNGDecon:a", "SPNGTorchService:m"
    assert run.events == [0, 1] and run.commit == "abc"
    assert run.times["wall"][outer].tolist() == [100, 200]  # 300 without the nested 100
    assert run.times["wall"][WHOLE_EVENT].tolist() == [100, 300]
    assert run.times["device"][outer].tolist() == [20, 50]  # 1030 .. 1080, overlapping kernels once
    assert run.times["device"][inner].tolist()[1] == 20
    assert run.counts["device operations"][outer].tolist() == [1, 2] and run.counts["launches"][
        outer
    ].tolist() == [1, 2]
    assert run.counts["synchronisations"][outer].tolist() == [0, 1]
    assert [run.counts[count][inner].tolist()[1] for count in ("copies", "bytes copied", "launches")] == [
        1,
        4096,
        0,
    ]
    assert run.conditions == {
        "recorded by": "wire-cell's recorder",
        "events": "2",
        "failed calls": "0",
        "recorded parts": "nvtx,cuda",
        "machine": "h",
        "recorder's source.cuda": "on",
        "setting dtype": "float32",
        "argument input": "x",
    }
    assert run.defaults == {"argument input": "z"}


def test_an_export_of_another_program_counts_by_range(tmp_path: Path) -> None:
    """Every range name is a node, its instances are the events."""
    with Synthetic(tmp_path / "n.sqlite") as file:
        file.range("step", 0, 100)
        file.range("inner", 10, 40)
        file.range("step", 200, 350)
        file.launch("k", call=(210, 220), run=(230, 260))
    (run,) = read_runs(tmp_path / "n.sqlite")
    assert run.times["wall"]["step"].tolist() == [70, 150] and run.times["wall"]["inner"].tolist()[0] == 30
    assert run.counts["launches"]["step"].tolist() == [0, 1] and WHOLE_EVENT not in run.times["wall"]


def test_counts_that_were_not_recorded_are_absent(tmp_path: Path) -> None:
    """Counts of the device are absent, not zero, without the CUDA tier."""
    with Synthetic(tmp_path / "c.sqlite") as file:
        file.manifest(what="nvtx")
        file.node(0, "SPNGDecon", "a")
        file.node_call(1, 0, 0, 100, 200)
    (run,) = read_runs(tmp_path / "c.sqlite")
    assert run.counts == {} and "device" not in run.times
    with Synthetic(tmp_path / "e.sqlite") as file:
        file.manifest(what="nvtx")
    with pytest.raises(MissingData):
        read_runs(tmp_path / "e.sqlite")


def test_a_real_export() -> None:
    """Sums over all ranges equal those of a plain SQL join for launches within any range."""
    path = Path(__file__).resolve().parents[3] / "shared" / "data" / "nsys" / "radar-a100.sqlite"
    if not path.exists():
        pytest.skip("shared/data/nsys is not there")
    (run,) = read_runs(path)
    totals = {
        count: sum(np.nansum(values) for values in nodes.values()) for count, nodes in run.counts.items()
    }
    query = """SELECT COUNT(*), TOTAL({amount}) FROM CUPTI_ACTIVITY_KIND_{table} AS work JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS call
        USING (correlationId) WHERE EXISTS (SELECT 1 FROM NVTX_EVENTS AS range WHERE range.eventType IN (59, 60) AND range.globalTid = call.globalTid
        AND range.endGlobalTid IS NULL AND range.start <= call.start AND range.end >= call.end)"""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        (kernels, _), (copies, copied), (sets, cleared) = (
            connection.execute(query.format(table=table, amount=amount)).fetchone()
            for table, amount in (("KERNEL", "0"), ("MEMCPY", "work.bytes"), ("MEMSET", "work.bytes"))
        )
    assert kernels > 3000 and totals["launches"] == kernels
    assert totals["device operations"] == kernels + copies + sets
    assert totals["copies"] == copies and totals["bytes copied"] == copied + cleared
