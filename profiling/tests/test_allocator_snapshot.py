# SPDX-License-Identifier: Apache-2.0
"""wirecell-profile memory --snapshot: numbers equal those worked out by hand, and a pickle executes nothing."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from wirecell_profile.cli import main


def frames(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "filename": f"/source/{name[-1]}.cxx", "line": 7} for name in names]


def entry(action: str, address: int, size: int, *names: str) -> dict[str, Any]:
    return {"action": action, "addr": address, "size": size, "stream": 0, "frames": frames(*names)}


def block(address: int, size: int, state: str, *names: str, requested: int = 0) -> dict[str, Any]:
    return {
        "address": address,
        "size": size,
        "requested_size": requested or size,
        "state": state,
        "frames": frames(*names),
    }


def segment(device: int, *blocks: dict[str, Any]) -> dict[str, Any]:
    total = sum(each["size"] for each in blocks)
    return {"device": device, "address": blocks[0]["address"], "total_size": total, "blocks": list(blocks)}


# Device 1 has two segments of 1000 bytes, had a third of 500, and 40 bytes from before the history. Its requested
# level is 40, 340, 940, 640, 740 and 140: the peak is 940, and 140 = 100 + 40 remain at the end.
SNAPSHOT: dict[str, Any] = {
    "segments": [
        segment(
            1,
            block(0x10, 128, "active_allocated", "c10::malloc", "spng::B", requested=100),
            block(0x90, 672, "inactive"),
            block(0x330, 200, "active_pending_free", "spng::C"),
        ),
        segment(1, block(0x1000, 64, "active_allocated", requested=40), block(0x1040, 936, "inactive")),
    ],
    "device_traces": [
        [],
        [
            entry("segment_alloc", 0x10, 1000),
            entry("alloc", 0x10, 300, "c10::malloc", "at::empty", "spng::A", "main"),
            entry("segment_alloc", 0x2000, 500),
            entry("alloc", 0x330, 600, "spng::C"),
            entry("free_requested", 0x10, 300),
            entry("free_completed", 0x10, 300),
            entry("alloc", 0x10, 100, "c10::malloc", "spng::B"),
            entry("segment_free", 0x2000, 500),
            entry("free_requested", 0x330, 600),
            entry("oom", 0, 5000),
        ],
    ],
}


@pytest.fixture(name="snapshot")
def fixture_snapshot(tmp_path: Path) -> Path:
    return written(tmp_path, SNAPSHOT)


def written(folder: Path, content: object) -> Path:
    path = folder / "memory.pickle"
    path.write_bytes(pickle.dumps(content))
    return path


def tables(path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    assert main(["memory", "--snapshot", str(path), "-f", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_devices(snapshot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = tables(snapshot, capsys)["tables"]["devices"]
    assert row == {
        "Device": 1,
        "Segments": 2,
        "Reserved (B)": 2000,
        "Active (B)": 392,
        "Allocated (B)": 192,
        "Requested (B)": 140,
        "Largest free (B)": 936,
        "Fragmentation (%)": pytest.approx(100 * 672 / 1608),
        "Peak reserved (B)": 2500,
        "Peak requested (B)": 940,
        "Out of memory": 1,
    }


def test_peak_by_owner(snapshot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [tuple(row.values()) for row in tables(snapshot, capsys)["tables"]["at-peak"]]
    assert rows == [
        (600, 1, 1, "spng::C", "C.cxx:7"),
        (300, 1, 1, "spng::A", "A.cxx:7"),
        (40, 1, None, "before the history", None),
    ]


def test_largest_blocks(snapshot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [tuple(row.values()) for row in tables(snapshot, capsys)["tables"]["blocks"]]
    assert rows == [
        (200, 1, "0x330", "active_pending_free", "spng::C", "C.cxx:7"),
        (128, 1, "0x10", "active_allocated", "spng::B", "B.cxx:7"),
        (64, 1, "0x1000", "active_allocated", None, None),
    ]


def test_no_history_is_not_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = tables(written(tmp_path, SNAPSHOT | {"device_traces": [[], []]}), capsys)
    (row,) = found["tables"]["devices"]
    assert row["Peak reserved (B)"] is row["Peak requested (B)"] is row["Out of memory"] is None
    assert found["missing"] == {"at-peak": "the snapshot has no history of allocations"}


def test_a_history_that_does_not_fit_the_blocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The history allocates 600 bytes and frees none, but 40 are allocated at its end."""
    content = {
        "segments": [segment(0, block(0x10, 64, "active_allocated", requested=40))],
        "device_traces": [[entry("alloc", 0x10, 300), entry("alloc", 0x200, 300)]],
    }
    found = tables(written(tmp_path, content), capsys)
    assert found["missing"] == {"at-peak": "the history does not fit the blocks"}
    assert set(found["tables"]) == {"devices", "blocks"}


def test_an_offset_in_a_library_is_no_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = {"name": "spng::A", "filename": "/lib/libWireCellSpng.so", "line": 3313386}
    used = block(0x10, 512, "active_allocated") | {"frames": [frame]}
    path = written(tmp_path, {"segments": [segment(0, used)], "device_traces": []})
    (row,) = tables(path, capsys)["tables"]["blocks"]
    assert (row["Allocated by"], row["Source"]) == ("spng::A", None)


def test_text(snapshot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", "--snapshot", str(snapshot), "-t", "at-peak"]) == 0
    shown = capsys.readouterr().out
    assert "C.cxx:7" in shown and "before the history" in shown and "blocks)" not in shown


class Trap:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (str(self.path), "w")


def test_a_pickle_executes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, SNAPSHOT | {"more": Trap(tmp_path / "executed")})
    assert main(["memory", "--snapshot", str(path)]) == 1
    error = capsys.readouterr().err
    assert (
        "seen:     the class or function io.open" in error
        and "hint:     wire-cell --memory-snapshot" in error
    )
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"SQLite format 3\0",
        pickle.dumps(SNAPSHOT)[:-20],
        pickle.dumps([]),
        pickle.dumps({"segments": []}),
        pickle.dumps(SNAPSHOT | {"segments": [{"device": "x"}]}),
        pickle.dumps(SNAPSHOT | {"device_traces": [[{"action": "alloc", "size": None}]]}),
    ],
)
def test_other_files(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    assert main(["memory", "--snapshot", str(path)]) == 1
    assert capsys.readouterr().err.startswith("error: not a snapshot of LibTorch's allocator\n  where:")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["run.sqlite", "--snapshot", "SNAPSHOT"],
        ["--snapshot", "SNAPSHOT", "-f", "svg"],
        ["--snapshot", "SNAPSHOT", "--node", "A"],
        ["--snapshot", "SNAPSHOT", "-t", "leaks"],
    ],
)
def test_usage_errors(words: list[str], snapshot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", *(str(snapshot) if word == "SNAPSHOT" else word for word in words)]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", "--snapshot", str(tmp_path / "absent")]) == 1
    assert "No such file" in capsys.readouterr().err
