# SPDX-License-Identifier: Apache-2.0
"""wirecell-profile trace writes valid JSON in which every time is exact and every arrow has two ends."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from decimal import Decimal

import pytest
from wirecell_profile.cli import main
from wirecell_profile.export.chrome_trace import API, DEVICES, microseconds

PID, TID = 100, 1


@pytest.fixture
def recorded(profile_file):
    """Write ranges of both styles, a mark, a kernel with its call, one without, a copy, a sample, a message."""
    base = 2**53 + 1
    with profile_file.writing() as file:
        file.manifest(commit="abc")
        file.thread_name("main", TID)
        file.range('outer "quoted"', base, base + 1_000, event=3)
        file.range("inner", base + 10, base + 20)
        file.range("overlapping", base + 5, base + 2_000, style=60)
        file.mark("here", base + 7)
        file.launch("void k<int>()", (base + 100, base + 110), (base + 150, base + 200), short="k")
        file.kernel("orphan", base + 300, base + 301, 999, short="orphan")
        file.copy(
            base + 400, base + 450, file.call("cudaMemcpyAsync", base + 350, base + 360), size=77, stream=9
        )
        file.sample(base + 50, "process", "resident_bytes", 5.0)
        file.node(1, "A", "")
        file.node(2, "B", "x")
        file.node_call(1, 1, 0, base, base + 1)
        file.row("SPNG_EDGE", id=0, tail=1, tailPort=0, head=2, headPort=0)
        file.row("SPNG_MSG", edge=0, event=3, enq=base + 1, deq=base + 9)
    return profile_file, base


def load(path) -> list[dict]:
    """Load the events; numbers stay exact."""
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else path.open()
    with opened as file:
        return json.load(file, parse_float=Decimal)["traceEvents"]


def test_times_are_exact(recorded, tmp_path) -> None:
    profile_file, base = recorded
    path = tmp_path / "a.json"
    assert main(["trace", str(profile_file.path), "-o", str(path)]) == 0
    events = load(path)
    (outer,) = [event for event in events if event["name"] == 'outer "quoted"']
    assert outer["ts"] * 1000 == base and outer["dur"] * 1000 == 1_000  # not a double: 2**53 + 1 ns
    assert (outer["ph"], outer["pid"], outer["tid"], outer["args"]) == ("X", PID, TID, {"payload": 3})
    (kernel,) = [event for event in events if event["name"] == "k"]
    assert kernel["ts"] * 1000 == base + 150 and kernel["dur"] * 1000 == 50
    assert (kernel["pid"], kernel["tid"], kernel["args"]["name"]) == (DEVICES, 7, "void k<int>()")


def test_start_end_ranges_are_asynchronous(recorded, tmp_path) -> None:
    profile_file, base = recorded
    path = tmp_path / "a.json.gz"
    assert main(["trace", str(profile_file.path), "-o", str(path)]) == 0
    begin, end = [event for event in load(path) if event["name"] == "overlapping"]
    assert (begin["ph"], end["ph"], begin["id"] == end["id"]) == ("b", "e", True)
    assert (end["ts"] - begin["ts"]) * 1000 == 1_995


def test_arrows(recorded, tmp_path) -> None:
    profile_file, base = recorded
    path = tmp_path / "a.json"
    main(["trace", str(profile_file.path), "-o", str(path)])
    events = load(path)
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    assert set(starts) == set(ends) and len(starts) == 2  # not the orphan
    first = min(starts.values(), key=lambda event: event["ts"])
    assert (first["ts"] * 1000, first["tid"]) == (base + 100, TID + API)
    assert ends[first["id"]]["ts"] * 1000 == base + 150 and ends[first["id"]]["bp"] == "e"


def test_everything_else_is_there(recorded, tmp_path) -> None:
    profile_file, base = recorded
    path = tmp_path / "a.json"
    main(["trace", str(profile_file.path), "-o", str(path)])
    events = load(path)
    phases = Counter(event["ph"] for event in events)
    assert phases == {"M": 6, "X": 7, "b": 2, "e": 2, "i": 1, "s": 2, "f": 2, "C": 1}
    names = {event["args"]["name"] for event in events if event["ph"] == "M"}
    assert {"main", "main: CUDA API", "stream 7", "stream 9", "device (0)"} <= names
    assert [event["args"]["value"] for event in events if event["ph"] == "C"] == [5]
    (queue,) = [event for event in events if event["ph"] == "b" and event["cat"] == "queue"]
    assert queue["name"] == "A to B:x"
    assert json.load(path.open())["otherData"]["commit"] == "abc"


@pytest.mark.parametrize("kind", ["call", "system_call", "mark"])
def test_processes_with_one_pid_are_kept_apart(profile_file, tmp_path, kind: str) -> None:
    """As in a merge of containers; each has an event of one kind only."""
    with profile_file.writing() as file:
        for file.vm in (1, 2):
            if kind == "mark":
                file.mark("here", 5)
            else:
                getattr(file, kind)("name", 0, 10)
        file.range("elsewhere", 0, 10, pid=7)
    path = tmp_path / "a.json"
    assert main(["trace", str(profile_file.path), "-o", str(path)]) == 0
    pids = {event["pid"] for event in load(path) if event["name"] in ("here", "name")}
    assert len(pids) == 2


def test_processes_with_operations_have_a_title(profile_file) -> None:
    with profile_file.writing() as file:
        for file.vm in (1, 2):
            file.kernel("k", 0, 10, 1)
    assert sorted(profile_file.profile().process_titles.values()) == ["100 of VM 1", "100 of VM 2"]


def test_a_selection(recorded, tmp_path) -> None:
    profile_file, base = recorded
    path = tmp_path / "a.json"
    assert main(["trace", str(profile_file.path), "-o", str(path), "--range", "inner"]) == 0
    assert [event["name"] for event in load(path) if event["ph"] == "X"] == ["inner"]


def test_numbers() -> None:
    assert [microseconds(time) for time in (0, 5, 1_000, 123_456_789, -1_500)] == [
        "0.000",
        "0.005",
        "1.000",
        "123456.789",
        "-1.500",
    ]


def test_no_file_stays_when_there_is_nothing(
    profile_file, tmp_path, capsys: pytest.CaptureFixture[str]
) -> None:
    with profile_file.writing():
        pass
    assert main(["trace", str(profile_file.path)]) == 1
    assert "does not contain" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["run.sqlite"]


def test_a_folder_that_is_not_there(recorded, capsys: pytest.CaptureFixture[str]) -> None:
    profile_file, _ = recorded
    assert main(["trace", str(profile_file.path), "-o", "/nonexistent/a.json"]) == 1
    assert "cannot write" in capsys.readouterr().err
