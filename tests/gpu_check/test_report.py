# SPDX-License-Identifier: Apache-2.0
"""Results become a page: the same text for the same results, each stage in its own section."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.gpu import result_file
from bench.gpu.page import page
from tests.support.wire_cell import ROOT

COMMAND = [sys.executable, str(ROOT / "scripts" / "gpu_check")]


def result(stage: str, time: str = "2026-11-23T10:00:00Z", **more: Any) -> dict[str, Any]:
    """Return a result with one check."""
    return {
        "schema": result_file.SCHEMA,
        "stage": stage,
        "command": f"scripts/gpu_check {stage}",
        "time": time,
        "seconds": 12.3,
        "simulated": False,
        "machine": {"processor": "Some CPU", "gpus": [{"GPU": "Some GPU", "driver": "1.2"}]},
        "program": {"commit": "0123456789ab", "build": "release", "LibTorch": "2.11.0"},
        "checks": [{"name": f"check of {stage}", "status": "ok", "seconds": 1.0, "note": "a | b"}],
        **more,
    }


def write(folder: Path, content: dict[str, Any]) -> Path:
    """Write a result into a folder."""
    folder.mkdir(exist_ok=True)
    name = content["stage"] + (result_file.AGAIN if content.get("only") else "")
    (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def report(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run scripts/gpu_check report."""
    return subprocess.run([*COMMAND, "report", *map(str, words)], capture_output=True, text=True, check=False)


def test_page_has_every_table() -> None:
    """Each kind of entry becomes a table with its figures; a cell does not end its row."""
    job = {
        "name": "exact",
        "settings": {
            "engine": "Pgrapher",
            "precision": "exact",
            "model": "default",
            "cuda_graph": "on",
            "device": "cuda:0",
            "events_in_flight": 2,
        },
        **dict.fromkeys(("events", "steady", "slow"), 7),
        **dict.fromkeys(("device_ms", "host_ms", "start_up_s", "warm_up_s", "operations"), 16.954),
        **dict.fromkeys(("device_peak_gb", "process_peak_gb"), 0.434),
        "with_files_ms": 20.0,
        "nodes": [
            {"name": "SPNGDecon", "nested": True, "device_ms": 0.55, "host_ms": 0.5, "operations": 7.0},
            {"name": "tiny", "nested": False, "device_ms": 0.01, "host_ms": 0.01, "operations": 1.0},
        ],
    }
    agreement = {
        "job": "cuda-none",
        "reference": "cpu-none",
        "limits": "",
        "tag": "signal",
        "frames": 3,
        "same_bytes": 0,
        "both": 99,
        "either": 100,
        "charge_ratio": 1.5,
        "worst_sd": 1.9e-5,
        "channels": 60,
        "differing": 1,
        "bad_values": 0,
        "locations": [[0, 1, 2, 3]],
    }
    profile = {
        "name": "recorded",
        "events": 3,
        "reports": {
            "cuda_gpu_kern_sum": [
                {"Name": "a<b>", "Instances": 30, "Avg (ns)": 1e5, "Total Time (ns)": 3e6, "Time (%)": 40.0}
            ],
            "cuda_gpu_mem_time_sum": [{"Operation": "[up]", "Count": 6, "Total Time (ns)": 6e6}],
            "cuda_gpu_mem_size_sum": [{"Operation": "[up]", "Total (MB)": 90.0}],
            "cuda_api_sum": [
                {"Name": "cudaLaunchKernel_v7000", "Num Calls": 600, "Total Time (ns)": 9e6},
                {"Name": "cudaMemcpyAsync", "Num Calls": 30, "Total Time (ns)": 9e6},
            ],
        },
    }
    counters = {"Kernel": "a", "Launches": 10, "Time (ns)": 6e6, "SM (%)": 21.6, "Verdict": "cache-bound"}
    text = page(
        {
            "modes": result("modes", jobs=[job], agreements=[agreement], profiles=[profile]),
            "sanitize": result(
                "sanitize", sanitizer=[{"name": "memcheck", "summaries": ["1 error"], "kernels": {"k": 1}}]
            ),
            "speed": result(
                "speed",
                transfers=[{"mb": 31, "direction": "up", "memory": "page-locked", "gb_s": 54.8}],
                network=[{"type": "TF32", "layout": "contiguous", "search": True, "ms": 3.2}],
                depthwise=[
                    {"type": "float32", "shape": "32 x 4", "layout": layout, "ms": time}
                    for layout, time in (("contiguous", 0.162), ("channels last", 0.767))
                ],
                ncu=[counters],
            ),
        }
    )
    for row in (
        "| check of modes | ok | a \\| b |",
        "| cuda-none | cpu-none | signal | 3 | 0 | 99 / 100 | 0.990000 | 1.5000000 | 1.9e-05 | 1 / 60 |",
        "| an anode, precision exact, on the device [ms] | 17.0 | 15 |",
        "| recorded: kernels and copies alone [ms] | 3.0 |  |",
        "| recorded: launches of an event | 200.0 | 300 |",
        "| anodes per second with files, fastest job | 50.0 | 200 |",
        "| exact | + SPNGDecon | 0.550 | 0.500 | 7 |",
        "| recorded | `a<b>` | 10.0 | 100.0 | 1.000 | 40.0 |",
        "| recorded | up | 2.0 | 30.00 | 2.000 |",
        "| memcheck | 1 error | k: 1 |",
        "| up | page-locked | 31 | 54.8 |",
        "| TF32 | contiguous | yes | 3.20 |",
        "| 32 x 4 | float32 | 0.162 | 0.767 |",
        "| `a` | cache-bound | 10 | 600.0 | 22 |  |  |  |",
    ):
        assert row in text.splitlines(), row
    assert "tiny" not in text


def test_a_stage_replaces_its_own_section(tmp_path: Path) -> None:
    """Sections of other stages stay, to the byte; the order is that of the stages."""
    file = tmp_path / "cuda.md"
    assert report(write(tmp_path / "one", result("speed")), "--page", file).returncode == 0
    speed_only = file.read_text()
    assert report(write(tmp_path / "two", result("smoke")), "--page", file).returncode == 0
    both = file.read_text()
    assert both.index("check of smoke") < both.index("check of speed")
    speed_section = speed_only.split("<!-- stage speed -->")[1]
    assert both.endswith(speed_section)
    later = result("smoke", command="later")
    assert report(write(tmp_path / "two", later), "--page", file).returncode == 0
    assert "| command | later; 12 s |" in file.read_text() and file.read_text().endswith(speed_section)


def test_same_results_give_the_same_page(tmp_path: Path) -> None:
    for stage in ("smoke", "modes"):
        write(tmp_path / "out", result(stage))
    for name in ("a.md", "b.md"):
        assert report(tmp_path / "out", "--page", tmp_path / name).returncode == 0
    assert (tmp_path / "a.md").read_bytes() == (tmp_path / "b.md").read_bytes()


def test_later_result_of_a_stage_is_used(tmp_path: Path) -> None:
    old = write(tmp_path / "old", result("smoke", time="2026-11-22T10:00:00Z"))
    new = write(tmp_path / "new", result("smoke"))
    for folders in ([old, new], [new, old]):
        assert result_file.read_all(folders)["smoke"]["time"] == "2026-11-23T10:00:00Z"


def test_checks_that_ran_again_complete_the_earlier_result(tmp_path: Path) -> None:
    """With --only: checks and entries of the same name are replaced, others stay; the order stays."""

    def check(name: str, note: str) -> dict[str, Any]:
        return {"name": name, "status": "ok", "seconds": 1.0, "note": note}

    names = ("before", "again", "after")
    tools = [{"name": name, "summaries": [f"first {name}"], "kernels": {}} for name in names]
    first = result("sanitize", checks=[check(name, "first") for name in names], sanitizer=tools)
    later = result("sanitize", time="2026-11-23T11:00:00Z", command="gpu_check --only again", only=["again"])
    later |= {
        "checks": [check("again", "second")],
        "sanitizer": [{**tools[1], "summaries": ["second again"]}],
    }
    write(tmp_path / "out", later)
    assert report(write(tmp_path / "out", first), "--page", tmp_path / "x.md").returncode == 0
    text = (tmp_path / "x.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line[:1] == "|"]
    assert [row[2] for row in rows if row[0] in names and row[1] == "ok"] == ["first", "second", "first"]
    assert [row[1] for row in rows if row[0] in names and row[1] != "ok"] == [
        "first before",
        "second again",
        "first after",
    ]
    assert (
        "12 s. Later, at 2026-11-23T11:00:00Z with commit 0123456789ab: gpu_check --only again; 12 s" in text
    )


@pytest.mark.parametrize("content", ["", "{}", '{"schema": "spng-gpu-check-1", "stage": "other"}', "[1]"])
def test_other_files_are_rejected(tmp_path: Path, content: str) -> None:
    (tmp_path / "smoke.json").write_text(content)
    done = report(tmp_path, "--page", tmp_path / "x.md")
    assert done.returncode == 2 and "is no result" in done.stderr and not (tmp_path / "x.md").exists()


def test_a_folder_without_results_is_rejected(tmp_path: Path) -> None:
    done = report(tmp_path, "--page", tmp_path / "x.md")
    assert done.returncode == 2 and "no result in" in done.stderr


def test_simulated_results_make_no_page(tmp_path: Path) -> None:
    done = report(write(tmp_path / "out", result("smoke", simulated=True)), "--page", tmp_path / "x.md")
    assert done.returncode == 0 and "simulated" in done.stdout and not (tmp_path / "x.md").exists()


@pytest.mark.parametrize(
    "words", [["other"], ["smoke", "--events", "3"], ["report"], ["smoke", "folder"], ["smoke", "--what"]]
)
def test_usage_errors(words: list[str]) -> None:
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "usage:" in done.stderr
