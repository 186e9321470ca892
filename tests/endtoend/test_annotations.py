# SPDX-License-Identifier: Apache-2.0
"""Check the calls that a job reports to NVTX tools: each call once, in its domain, with its event."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from tests.support.small_site import Site
from tests.support.wire_cell import ROOT, job, needs_program, rejected, run, settings, write_arrays

pytestmark = needs_program

EVENTS = 2
TICKS = 6000
PUSH_POP, START_END = 59, 60


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The small detector, and adc.npz with two of its events."""
    site = Site.at(tmp_path_factory.mktemp("small"))
    write_arrays(site.folder / "adc.npz", site.busy_frames(EVENTS, TICKS))
    return site


def small_job(site: Site, folder: Path, *flags: str, **arguments: object) -> None:
    """Run the main job in `folder` on the small detector's events."""
    job(folder, *site.flags, *flags, input=site.folder / "adc.npz", **arguments)


def has_recorder() -> bool:
    """Whether this build can record at all."""
    return (ROOT / "build/lib/libSpngRecorder.so").exists()


@pytest.fixture(scope="module", params=["Pgrapher", "TbbFlow"])
def recorded(
    request: pytest.FixtureRequest, site: Site, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple]:
    """Rows (domain, name, category, kind, payload, start, end, thread) of a job at level 3, without the whole run."""
    if not has_recorder():
        pytest.skip("a build without NVTX or without the recorder")
    folder = tmp_path_factory.mktemp("recorded")
    small_job(
        site, folder, "--record", "run.sqlite", "--nvtx-level", "3", "-a", request.param, model="dnnroi.ts"
    )
    with sqlite3.connect(folder / "run.sqlite") as database:
        rows = database.execute("""
            SELECT d.text, COALESCE(e.text, s.value), c.text, e.eventType, e.uint64Value, e.start, e.end, e.globalTid
            FROM NVTX_EVENTS e
            LEFT JOIN StringIds s ON s.id = e.textId
            LEFT JOIN NVTX_EVENTS d ON d.eventType = 75 AND d.domainId = e.domainId
            LEFT JOIN NVTX_EVENTS c ON c.eventType = 33 AND c.domainId = e.domainId AND c.category = e.category
            WHERE e.eventType IN (34, 59, 60)""").fetchall()
    return [row for row in rows if row[1] != "run"]


def test_each_node_is_called_once_for_each_event(recorded: list[tuple]) -> None:
    nodes = [row for row in recorded if row[0] == "spng" and row[2] not in {"step", "service"}]
    calls = Counter((name, payload) for _, name, _, _, payload, *_ in nodes)
    names = {name for name, _ in calls}
    assert {"FrameFileSource", "FrameFileSink"} <= names and len(names) > 15
    assert calls == Counter({(name, ident): 1 for name in names for ident in range(EVENTS)}), (
        "sources included"
    )


def test_steps_lie_in_node_calls_of_their_thread_and_files_beside_them(
    site: Site, recorded: list[tuple]
) -> None:
    nodes = [row for row in recorded if row[0] == "spng" and row[2] not in {"step", "service"}]
    inner = [row for row in recorded if (row[0] == "spng" and row[2] == "step") or row[0] == "spng.io"]
    assert {name for _, name, *_ in inner} >= {"Decon::fft", "FrameReader::next", "FrameWriter::write"}
    written = [row[4] for row in inner if row[1] == "ArchiveWriter::add"]
    assert written.count(len(site.anode.channels) * TICKS * 4) == EVENTS, (
        "payload: bytes of the samples, float32"
    )
    read = [row[4] for row in inner if row[1] == "NpyReader::read"]
    assert len(read) == 3 * EVENTS, "samples, channels, tick information"
    # Files are read ahead and written behind, on threads that call no node and in one range for each event.
    node_threads = {row[7] for row in nodes}
    beside = [row for row in inner if row[7] not in node_threads]
    outer = [row for row in beside if row[1] in {"FrameFileSource::read", "FrameFileSink::write"}]
    assert Counter(row[1] for row in outer) == {
        "FrameFileSource::read": EVENTS,
        "FrameFileSink::write": EVENTS,
    }
    assert {row[1] for row in beside} >= {"FrameReader::next", "FrameWriter::write"}
    loose = [
        name
        for _, name, _, _, _, begin, end, thread in inner
        if not any(row[7] == thread and row[5] <= begin and end <= row[6] for row in [*nodes, *outer])
    ]
    assert set(loose) <= {"FrameFileSink::close", "ArchiveWriter::close"}, (
        "the file is closed after the last event"
    )
    assert {row[2] for row in recorded if row[0] == "spng.io"} == {"io"}


def test_events_in_flight_hold_their_node_calls(recorded: list[tuple]) -> None:
    events = {row[4]: row for row in recorded if row[1] == "event"}
    assert sorted(events) == list(range(EVENTS))
    assert {(row[0], row[2], row[3]) for row in events.values()} == {("spng.sched", "event", START_END)}
    for row in recorded:
        if row[0] == "spng" and row[2] not in {"step", "service"}:
            assert events[row[4]][5] <= row[5] <= row[6] <= events[row[4]][6], row


def test_scheduling_is_in_its_own_domain(recorded: list[tuple]) -> None:
    names = Counter(row[1] for row in recorded if row[0] == "spng.sched" and row[3] == PUSH_POP)
    node_calls = sum(1 for row in recorded if row[0] == "spng" and row[2] not in {"step", "service"})
    # Sources are polled by the head and have no inputs.
    assert names["EventCall::take_inputs"] == names["EventCall::put_outputs"] == node_calls - EVENTS
    # Once more than there are events if the end is found when the next one is to begin.
    assert names["Run::wait_for_slot"] in {EVENTS, EVENTS + 1}


@pytest.mark.parametrize(
    "level, domains",
    [
        ("0", set()),
        ("1", {"spng", "spng.sched", "spng.startup"}),
        ("4", {"spng", "spng.sched", "spng.startup", "spng.io", "spng.torch"}),
    ],
)
def test_levels(level: str, domains: set[str], site: Site, tmp_path: Path) -> None:
    if not has_recorder():
        pytest.skip("a build without NVTX or without the recorder")
    small_job(site, tmp_path, "--record", "run.sqlite", "--nvtx-level", level, nevents=1)
    with sqlite3.connect(tmp_path / "run.sqlite") as database:
        found = {
            text
            for (text,) in database.execute("""
            SELECT DISTINCT d.text FROM NVTX_EVENTS e JOIN NVTX_EVENTS d ON d.eventType = 75 AND d.domainId = e.domainId
            WHERE e.eventType IN (59, 60)""")
        }
        steps = database.execute("""SELECT COUNT(*) FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId
            WHERE e.eventType = 59 AND COALESCE(e.text, s.value) LIKE 'Decon::%'""").fetchone()[0]
    assert found == domains
    assert (steps > 0) == (level == "4")


def test_a_level_that_is_none_is_rejected(tmp_path: Path) -> None:
    text = rejected(
        "-c", "cfg/pipeline.jsonnet", "--nvtx-level", "5", "-A", "output=x.npz", folder=tmp_path, status=2
    )
    assert "--nvtx-level" in text and "'5'" not in text.splitlines()[0]


def test_a_folder_that_is_not_there_is_named(site: Site, tmp_path: Path) -> None:
    missing = tmp_path / "none" / "timing.json"
    done = run(
        "-c",
        "cfg/pipeline.jsonnet",
        *site.flags,
        *settings(f"input={site.folder / 'adc.npz'}", "output=x.npz", "nevents=1"),
        "--timing",
        missing,
        folder=tmp_path,
    )
    assert done.returncode == 1 and "--timing" in done.stderr
