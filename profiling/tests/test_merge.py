# SPDX-License-Identifier: Apache-2.0
"""Merged files give the same answers as their parts, and equal ids of different processes stay separate."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from synthetic import Synthetic
from wirecell_profile import cli
from wirecell_profile.model.identity import pid_of, process_of, tid_of
from wirecell_profile.model.nodes import NodeProjection, read_node_calls
from wirecell_profile.model.profile import Profile
from wirecell_profile.model.projection import Projection

SESSION = "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT)"


def rank(
    path: Path, pid: int, kernel: str, started: int | None, uuid: str, filler: str = "", schema: str = "3.7.2"
) -> Path:
    """Write one process: a node call for an event, in it a range with one kernel launch.

    `filler` shifts the ids of strings.
    """
    with Synthetic(path, pid=pid, schema=schema) as file:
        if filler:
            file.string(filler)
        file.manifest(host="h", file=path.name, stop_ns="900")
        file.device(0, "GPU", uuid=uuid)
        file.domain("spng", 1)
        file.node(0, "SPNGDecon", "a")
        file.node_call(1, 0, 5, 100, 200)
        file.range("step", 110, 190)
        file.launch(kernel, call=(120, 130), run=(140, 160))
        file.thread_name("main", 1)
    if started is not None:
        with sqlite3.connect(path) as connection:
            connection.execute(SESSION)
            connection.execute(
                "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, ?, ?)", (started, f"at {started}", "")
            )
    return path


def merged(tmp_path: Path, *files: Path) -> Profile:
    """Return the result of the command."""
    target = tmp_path / "all.sqlite"
    assert cli.main(["merge", *map(str, files), "-o", str(target), "--overwrite"]) == 0
    return Profile.open(target)


def test_two_processes(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Check strings, times and nodes; kernels stay with the node calls that launched them."""
    a = rank(tmp_path / "a.sqlite", 100, "alpha", 5000, "gpu-1")
    b = rank(tmp_path / "b.sqlite", 200, "beta", 4000, "gpu-2", filler="other")
    with merged(tmp_path, a, b) as profile:
        assert "processes 100, 200" in capsys.readouterr().out
        operations = profile.operations
        assert list(
            zip(operations.short_name.to_list(), operations.start.tolist(), operations.device.tolist())
        ) == [
            ("beta", 140, 1),
            ("alpha", 1140, 0),
        ]  # b's session began 1000 ns earlier; two GPUs that both called themselves 0
        assert profile.device_names == {0: "GPU", 1: "GPU"} and len(profile.table("TARGET_INFO_GPU")) == 2
        calls = read_node_calls(profile)
        assert sorted(zip(calls.start.tolist(), pid_of(calls.thread).tolist())) == [(100, 200), (1100, 100)]
        assert len(set(calls.id.tolist())) == 2 and calls.node.to_list() == ["SPNGDecon:a"] * 2
        nodes = NodeProjection(profile, calls, Projection.of(profile))
        assert pid_of(calls.thread[nodes.call_of_operation]).tolist() == [200, 100]
        assert sorted(profile.thread_names.values()) == ["main", "main"]
        assert profile.manifest == {
            "host": "h",
            "file": "a.sqlite, b.sqlite",
            "stop_ns": "1900",
            "merged_from": "a.sqlite, b.sqlite",
        }
        assert np.all(np.diff(profile.table("NVTX_EVENTS").integers("start")) >= 0)


def test_equal_process_numbers_stay_apart(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Equal correlation numbers of two processes with one pid must not mix."""
    files = [rank(tmp_path / f"{name}.sqlite", 100, name, 0, "gpu") for name in ("alpha", "beta", "gamma")]
    with merged(tmp_path, *files) as profile:
        assert capsys.readouterr().out.count("VM id is raised") == 2
        ranges = profile.ranges
        assert set(pid_of(ranges.thread).tolist()) == {100} and set(tid_of(ranges.thread).tolist()) == {1}
        assert len(set(process_of(ranges.thread).tolist())) == 3
        assert profile.device_names == {0: "GPU"}  # one uuid, one device
        projection = Projection.of(profile)
        projected = projection.project()
        assert projected.operations.tolist() == [1, 1, 1]


def test_files_of_different_versions(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """The result has the columns of both; times are not shifted if a file has no start of its session."""
    a = rank(tmp_path / "a.sqlite", 100, "alpha", 5000, "", schema="3.16.1")
    b = rank(tmp_path / "b.sqlite", 200, "beta", None, "", schema="3.0.0")
    with merged(tmp_path, b, a) as profile:
        assert "times are not aligned: b.sqlite" in capsys.readouterr().out
        assert profile.table("CUPTI_ACTIVITY_KIND_KERNEL").has("greenContextId")
        assert (
            profile.operations.start.tolist() == [140, 140] and profile.event_types["NvtxPushPopRange"] == 59
        )


def test_a_real_export_with_itself(tmp_path: Path) -> None:
    """A real file merged with itself has everything twice, with the same times."""
    original = Path(__file__).resolve().parents[3] / "shared" / "data" / "nsys" / "radar-a100.sqlite"
    if not original.exists():
        pytest.skip("shared/data/nsys is not there")
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(original.read_bytes())
    with merged(tmp_path, original, copy) as profile, Profile.open(original) as single:
        for part in ("ranges", "calls", "operations"):
            once, twice = getattr(single, part), getattr(profile, part)
            assert len(twice) == 2 * len(once) and twice.duration.sum() == 2 * once.duration.sum()
        names, counts = np.unique(single.ranges.name.to_list(), return_counts=True)
        merged_names, merged_counts = np.unique(profile.ranges.name.to_list(), return_counts=True)
        assert names.tolist() == merged_names.tolist() and (2 * counts).tolist() == merged_counts.tolist()
        assert (
            Projection.of(profile).project().operations.sum()
            == 2 * Projection.of(single).project().operations.sum()
        )


def test_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    a = rank(tmp_path / "a.sqlite", 100, "alpha", 0, "gpu")
    assert cli.main(["merge", str(a), "-o", str(tmp_path / "x")]) == 2
    assert (
        cli.main(["merge", str(a), str(a), "-o", str(tmp_path / "x")]) == 2
        and "given twice" in capsys.readouterr().err
    )
    assert cli.main(["merge", str(a), str(tmp_path / "none"), "-o", str(tmp_path / "x")]) == 1
    assert (
        cli.main(["merge", str(a), str(a), "-o", str(a)]) == 2
        and "overwrite an input" in capsys.readouterr().err
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.sqlite"]
