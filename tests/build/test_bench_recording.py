# SPDX-License-Identifier: Apache-2.0
"""./wcb bench --recording: the tools take turns, and the table has the medians of their rounds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench import recording

# Writes Google Benchmark's report: to a file if asked, else once without a tool and once with the recorder.
PROGRAM = """#!{python}
import json, os, sys
options = dict(word.partition("=")[::2] for word in sys.argv[1:])
def report(prefix, ns):
    names = dict(nothing=0.1, step_range=ns, node_range=ns + 1, mark=ns / 2)
    entries = [dict(run_name=f"{{prefix}}/{{name}}", run_type="iteration", cpu_time=time, time_unit="ns", real_time=9e9)
               for name, time in names.items()]
    entries.append(dict(run_name=f"{{prefix}}/burst_of_1000_ranges/iterations:300", run_type="iteration",
                        cpu_time=ns, time_unit="us", real_time=9e9))
    return json.dumps(dict(context=dict(), benchmarks=entries))
with open(os.environ["LOG"], "a") as log:
    log.write("nsys " if "--benchmark_out" in options else "both ")
rounds = len(open(os.environ["LOG"]).read().split())
if "--benchmark_out" in options:
    open(options["--benchmark_out"], "w").write(report("recorder", 400 + rounds))
else:
    print(report("no_tool", 0.9), report("recorder", 80 + rounds), sep="\\n")
"""
NSYS = """#!/bin/sh
if [ "$1" = --version ]; then echo "nsys 1.2"; exit; fi
while [ "$1" != "--output" ]; do shift; done
echo "Generating $2.nsys-rep"; shift 2; exec "$@"
"""


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a build folder with a stand-in of the benchmark, and a path without nsys."""
    program = tmp_path / "build" / "bench" / "recorder_bench"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    return tmp_path / "build"


def test_the_tools_take_turns(build: Path, tmp_path: Path) -> None:
    (tmp_path / "bin" / "nsys").write_text(NSYS)
    (tmp_path / "bin" / "nsys").chmod(0o755)
    figures = recording.measured(build, tmp_path / "out", 3)
    assert (tmp_path / "log").read_text() == "both nsys " * 3
    assert figures["costs_ns"]["--record"]["step_range"] == pytest.approx([81, 83, 85])
    assert figures["costs_ns"]["nsys"]["burst_of_1000_ranges"] == pytest.approx([402, 404, 406])  # ns a range
    table = recording.recording_table(figures)
    assert table.heads[1:] == ["no tool", "--record", "nsys"]
    assert table.rows[0] == ["step range", "0.9", "83 (81 to 85)", "404 (402 to 406)"]
    assert recording.note(figures) == "nsys 1.2" and not list((tmp_path / "out").iterdir())


def test_without_nsys_its_column_is_missing(
    build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording.shutil, "which", lambda name: None)
    figures = recording.measured(build, tmp_path / "out", 1)
    assert recording.recording_table(figures).heads[1:] == ["no tool", "--record"]
    assert "not on the path" in recording.note(figures)
