# SPDX-License-Identifier: Apache-2.0
"""Unit tests: checks of outputs, decisions after failures, progress, statistics, checksum lines, the lock."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest
from campaign_support import environment
from wirecell_campaign import lock, manifest, output_check, summary, timing
from wirecell_campaign.attempt import error_block
from wirecell_campaign.errors import CampaignError
from wirecell_campaign.layout import Layout, read_json, write_whole
from wirecell_campaign.progress import Progress, duration
from wirecell_campaign.retries import MAX_LOSSES, MAX_WORKER_FAULTS, History, WorkerWatch
from wirecell_campaign.task import Fault, Outcome, Result

from tests.support.wire_cell import read_arrays, write_arrays

# ---- completeness of outputs


def frame_file(path: Path, events: int = 3) -> Path:
    """Return an .npz as numpy writes it."""
    arrays = {}
    for event in range(events):
        arrays |= {
            f"frame_signal_{event}": np.arange(600.0, dtype="f4").reshape(20, 30),
            f"channels_signal_{event}": np.arange(20),
        }
    np.savez_compressed(path, **arrays)
    return path


FORMATS = [("out.npz", ""), ("out.tar", "w"), ("out.tar.gz", "w:gz"), ("out.tar.bz2", "w:bz2")]


def output(folder: Path, name: str, mode: str) -> Path:
    """Write a complete output in one of the formats."""
    npz = frame_file(folder / "out.npz")
    return write_arrays(folder / name, read_arrays(npz)) if mode else npz


@pytest.mark.parametrize("name, mode", FORMATS)
def test_a_whole_output_is_counted(tmp_path: Path, name: str, mode: str) -> None:
    assert output_check.read_content(output(tmp_path, name, mode)).events == 3


@pytest.mark.parametrize("name, mode", FORMATS)
@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_a_cut_output_is_found(tmp_path: Path, name: str, mode: str, part: float) -> None:
    path = output(tmp_path, name, mode)
    content = path.read_bytes()
    if name == "out.tar":  # its end is padding, of which a part may be missing
        content = content[: content.rstrip(b"\0").__len__() + 512]
    path.write_bytes(content[: int(part * len(content))])
    with pytest.raises(output_check.Unreadable):
        output_check.read_content(path)


def test_a_tar_cut_between_members_is_found(tmp_path: Path) -> None:
    path = output(tmp_path, "out.tar", "w")
    with tarfile.open(path) as archive:
        third = archive.getmembers()[2].offset
    path.write_bytes(path.read_bytes()[:third])
    with pytest.raises(output_check.Unreadable, match="has no end mark"):
        output_check.read_content(path)


def test_an_array_shorter_than_its_header_says_is_found(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(100))
    import zipfile

    with zipfile.ZipFile(tmp_path / "out.npz", "w") as archive:
        archive.writestr("frame_signal_0.npy", buffer.getvalue()[:-8])
    with pytest.raises(output_check.Unreadable, match="792 bytes of data, expected 800"):
        output_check.read_content(tmp_path / "out.npz")


def test_a_flipped_bit_is_found(tmp_path: Path) -> None:
    path = frame_file(tmp_path / "out.npz", 1)
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 4
    path.write_bytes(content)
    with pytest.raises(output_check.Unreadable):
        output_check.read_content(path)


# ---- decisions after a failure


def failure(fault: Fault, worker: str = "w1") -> Result:
    """Return a failed attempt."""
    return Result(Outcome.FAILED, "host", worker, 1.0, fault, "block")


def test_retries_are_further_attempts() -> None:
    history = History()
    assert [history.is_retried(failure(Fault.FILE), 3) for _ in range(4)] == [True, True, True, False]
    assert not History().is_retried(failure(Fault.FILE), 0)
    assert not History().is_retried(failure(Fault.FINAL), 3)


def test_faults_of_workers_are_not_retries_of_the_file() -> None:
    history = History()
    assert [history.is_retried(failure(Fault.WORKER, f"w{i}"), 0) for i in range(MAX_WORKER_FAULTS)] == [
        True
    ] * (MAX_WORKER_FAULTS - 1) + [False]
    assert history.avoided == {f"w{i}" for i in range(MAX_WORKER_FAULTS)}
    assert [History().is_loss_retried() for _ in range(3)] == [True] * 3
    lost = History()
    assert [lost.is_loss_retried() for _ in range(MAX_LOSSES)][-2:] == [True, False]


def test_a_worker_is_faulty_after_two_files_in_a_row() -> None:
    watch = WorkerWatch()
    assert not watch.note("w", "a", Fault.WORKER)
    assert not watch.note("w", "a", Fault.WORKER), "the same file again may be the file"
    assert watch.note("w", "b", Fault.WORKER)
    watch = WorkerWatch()
    watch.note("w", "a", Fault.WORKER)
    watch.note("w", "c", None)
    assert not watch.note("w", "b", Fault.WORKER), "it did well in between"
    assert not watch.note("v", "b", Fault.FILE) and not watch.note("v", "c", Fault.FILE)


# ---- progress


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def test_progress_says_rate_and_time_left() -> None:
    now = [100.0]
    progress = Progress(1000, 100, io.StringIO(), lambda: now[0])
    assert progress.text(100, 0, 0, 0) == "100 of 1000 done, waiting for workers"
    now[0] += 60
    assert (
        progress.text(145, 5, 8, 8)
        == "145 of 1000 done, 5 failed, 8 running on 8 workers, 50 files/min, 17 min left"
    )


@pytest.mark.parametrize("stream, seconds", [(io.StringIO(), 30.0), (Terminal(), 0.5)])
def test_progress_is_shown_now_and_then(stream: io.StringIO, seconds: float) -> None:
    """A terminal has its first line at once; a log has lines of their own, the first after the time of one."""
    now = [0.0]
    progress = Progress(9, 3, stream, lambda: now[0])
    first = "\r3 of 9 done, 1 running on 1 workers" if stream.isatty() else "5 of 9 done"
    for done, step in ((3, 0.0), (4, seconds - 0.01), (5, 0.02)):
        now[0] += step
        progress.show(done, 0, 1, 1)
    assert stream.getvalue().startswith(first)
    assert stream.getvalue().count(" of 9 done") == (2 if stream.isatty() else 1)
    assert "5 of 9 done, 1 running on 1 workers, " in stream.getvalue() and "4 of 9" not in stream.getvalue()
    assert stream.getvalue().endswith("\n") != stream.isatty()
    progress.say("a line")
    assert stream.getvalue().endswith("a line\n")


def test_a_clock_that_stands_still_is_no_division_by_zero() -> None:
    assert "files/min" not in Progress(9, 0, io.StringIO(), lambda: 5.0).text(3, 0, 1, 1)


@pytest.mark.parametrize(
    "seconds, text", [(0, "0 s"), (89, "89 s"), (90, "2 min"), (5400, "1.5 h"), (180000, "2.1 days")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


# ---- summary and manifest


def record(name: str, host: str, walls: list[int], seconds: float) -> dict:
    """Return the part of a record that summaries use."""
    nodes = {"Decon": {"wall_ns": walls, "cpu_ns": 2 * sum(walls)}} if walls else {}
    return {
        "name": name,
        "host": host,
        "events": len(walls),
        "seconds": seconds,
        "number": 1,
        "input": {"size": 1000},
        "products": [{"path": name, "size": 500, "sha256": "0" * 64}],
        "timing": {"nodes": nodes, "process_peak_bytes": 7_000_000},
    }


def test_statistics_are_over_all_calls_of_all_files() -> None:
    records = {
        "a": record("a", "h1", [1_000_000, 2_000_000], 3.0),
        "b": record("b", "h2", [3_000_000, 10_000_000], 5.0),
        "c": record("c", "h1", [], 1.0),
    }
    made = summary.make(records, [{"name": "d", "block": "error: x"}])
    node = made["nodes"]["Decon"]
    assert (node["calls"], node["mean"], node["p50"], node["total"], node["cpu_ns"]) == (
        4,
        4e6,
        2.5e6,
        16e6,
        32_000_000,
    )
    assert node["p95"] == pytest.approx(3e6 + 0.85 * 7e6)
    assert made["hosts"] == {
        "h1": {"files": 2, "events": 2, "busy_seconds": 4.0, "peak_bytes": 7_000_000},
        "h2": {"files": 1, "events": 2, "busy_seconds": 5.0, "peak_bytes": 7_000_000},
    }
    assert (made["files"], made["files_with_timing"], made["events"], made["busy_seconds"]) == (3, 2, 4, 9.0)
    text = summary.as_text(made)
    assert "Decon" in text and "2.50" in text and "error: x" in text and "h2" in text


def test_the_summary_of_nothing() -> None:
    assert summary.as_text(summary.make({}, [])).startswith("0 files done")


def test_a_timing_file_that_is_foreign_or_torn(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('{"schema": "other"}')
    assert timing.read(tmp_path / "t.json") == {} == timing.read(tmp_path / "none.json")
    (tmp_path / "t.json").write_text('{"schema": "spng-ti')
    assert timing.read(tmp_path / "t.json") == {}


def test_checksum_lines_are_those_of_sha256sum(tmp_path: Path) -> None:
    names = (
        "plain.npz",
        "with space.npz",
        "back\\slash.npz",
        "two\nlines.npz",
        "re\rturn.npz",
        "all\\\r\n\\n.npz",
    )
    lines = []
    for name in names:
        (tmp_path / name).write_text(name)
        lines.append(manifest.checksum_line(hashlib.sha256(name.encode()).hexdigest(), name))
        assert (
            lines[-1]
            == subprocess.run(
                ["sha256sum", name], cwd=tmp_path, capture_output=True, text=True, check=True
            ).stdout
        )
    write_whole(tmp_path / "SHA256SUMS", "".join(lines))
    subprocess.run(["sha256sum", "--quiet", "--strict", "-c", "SHA256SUMS"], cwd=tmp_path, check=True)


def test_verify_names_every_difference(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.make()
    entries = []
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(name)
        entries.append({"path": name, "size": 1, "sha256": hashlib.sha256(name.encode()).hexdigest()})
    manifest.write(layout, {"schema": manifest.SCHEMA, "files": entries})
    assert manifest.verify(layout).is_good
    (tmp_path / "a").unlink()
    (tmp_path / "b").write_text("x")
    (tmp_path / "d").write_text("d")
    verdict = manifest.verify(layout)
    assert (verdict.missing, verdict.damaged, verdict.unknown, verdict.checked) == (["a"], ["b"], ["d"], 3)


def test_a_folder_without_manifest(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="no complete manifest"):
        manifest.read(Layout(tmp_path))


# ---- files, lock, processes


def test_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_whole(path, "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError):
        write_whole(path, "new")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_torn_json_is_as_none(tmp_path: Path) -> None:
    (tmp_path / "x").write_text('{"a": [1, 2')
    assert read_json(tmp_path / "x") is None is read_json(tmp_path / "none")


HOLDER = """
import sys, time
from pathlib import Path
from wirecell_campaign import lock
with lock.held(Path(sys.argv[1])):
    print('held', flush=True)
    time.sleep(60)
"""


def test_the_lock_goes_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True, env=environment()
    )
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(CampaignError, match=f"process {holder.pid} on"), lock.held(path):
        pass
    assert lock.holder(path).startswith(f"process {holder.pid} on")
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    with lock.held(path):
        pass
    assert lock.holder(path) == "" == lock.holder(tmp_path / "none")


@pytest.mark.parametrize(
    "text, expected",
    [
        ("log\nerror: a\n  where: b\n", "error: a\n  where: b"),
        ("error: first\nlog\nerror: last\n  x\n", "error: last\n  x"),
        ("error: only", "error: only"),
        ("", ""),
        ("no block\nat all\n", "no block\nat all"),
    ],
)
def test_the_programs_block_is_taken_from_its_messages(text: str, expected: str) -> None:
    assert error_block(text) == expected
    assert len(error_block("x" * 10**6)) <= 8000


def test_json_of_a_manifest_is_the_same_for_any_order(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    full = {name: record(name, "h", [1], 1.0) | {"attempt": "a", "settings": "s"} for name in ("b", "a", "c")}
    turned = dict(reversed(full.items()))
    assert json.dumps(manifest.make({}, full, ["y", "x"], [])) == json.dumps(
        manifest.make({}, turned, ["x", "y"], [])
    )
    assert layout.record("x").name == "x.json"
