# SPDX-License-Identifier: Apache-2.0
"""--record where it cannot work, and runs that end early. tests/recorder does the same with programs that know nothing
of the recorder: every way to end, full disk, limits."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from tests.recorder import recorded
from tests.recorder.recorded import PUSH_POP, Recorded
from tests.support import wire_cell
from tests.support.measured_runs import names
from tests.support.paced_input import PacedInput
from tests.support.small_site import Site

pytestmark = wire_cell.needs_program

COPY = wire_cell.ROOT / "tests" / "app" / "jobs" / "copy.jsonnet"
JOB = (COPY, "-A", "input=adc.npz", "-A", "output=out.npz")
SECONDS_TO_STOP = 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a small input for the job that copies."""
    wire_cell.write_arrays(tmp_path / "adc.npz", wire_cell.event(np.zeros((5, 100), np.int16), np.arange(5)))
    return tmp_path


@recorded.needs_recorder
class TestRefused:
    """One block and status 2 before the run begins; no file."""

    @pytest.mark.parametrize(
        "arguments, said",
        [
            (("--record", "absent/run.sqlite"), "absent/run.sqlite"),
            (("--record", "/proc/run.sqlite"), "/proc/run.sqlite"),
            (("--record", "run-%z.sqlite"), "%z"),
            (("--record", "run-%q{NO_SUCH_VARIABLE}.sqlite"), "NO_SUCH_VARIABLE"),
            (("--record", ""), "--record"),
            (("--record", "run.sqlite", "--record-what", "nvtx,kuda"), "'kuda'"),
            (("--record", "run.sqlite", "--record-rank", "first"), "'first'"),
            (("--profile-events", "5-3"), "'5-3'"),
            (("--profile-events", "x"), "'x'"),
            (("--profile-events", "-3"), "'-3'"),
            (("--profile-schedule", "wait=1,aktive=2"), "did you mean 'active'?"),
            (("--profile-schedule", "wait=1"), "active"),
            (("--profile-events", "1", "--profile-schedule", "active=1"), "--profile-schedule"),
        ],
    )
    def test_wrong_use(self, folder: Path, arguments: tuple[str, ...], said: str) -> None:
        block = wire_cell.rejected(*JOB, *arguments, folder=folder, status=2)
        assert said in block
        assert names(folder) == ["adc.npz"]

    def test_a_wrong_job_leaves_no_recording(self, folder: Path) -> None:
        wire_cell.rejected(
            COPY,
            *wire_cell.settings("input=adc.npz", "output=out.xyz"),
            "--record",
            "run.sqlite",
            folder=folder,
            status=2,
        )
        assert names(folder) == ["adc.npz"]


class TestOtherTools:
    @pytest.mark.parametrize("variable", ["NVTX_INJECTION64_PATH", "NSYS_PROFILING_SESSION_ID"])
    def test_another_tool_is_attached(self, folder: Path, variable: str) -> None:
        """nsys and ncu set these; the run takes place, the recorder stays off and reports it."""
        tool = str(folder / "no-such-tool.so")
        done = wire_cell.run(
            *JOB, "--record", "run.sqlite", folder=folder, env={**os.environ, variable: tool}
        )
        assert done.returncode == 0 and "another tool records this run" in done.stderr and tool in done.stderr
        assert names(folder) == ["adc.npz", "out.npz"]

    @recorded.needs_recorder
    def test_the_recorder_named_by_the_user_is_no_other_tool(self, folder: Path) -> None:
        environment = {**os.environ, "NVTX_INJECTION64_PATH": str(recorded.RECORDER)}
        done = wire_cell.run(*JOB, "--record", "run.sqlite", folder=folder, env=environment)
        assert done.returncode == 0 and "another tool" not in done.stderr
        assert Recorded(folder / "run.sqlite").run()["events"] == "1"


@recorded.needs_recorder
class TestVariables:
    def test_variables_do_what_options_do(self, folder: Path) -> None:
        environment = {
            **os.environ,
            "SPNG_RECORD": "from-%q{JOB}.sqlite",
            "SPNG_RECORD_WHAT": "nvtx,calls",
            "JOB": "batch",
            "SPNG_PROFILE_EVENTS": "0-0",
        }
        done = wire_cell.run(*JOB, folder=folder, env=environment)
        assert done.returncode == 0 and "profile recorded in from-batch.sqlite" in done.stderr
        file = Recorded(folder / "from-batch.sqlite")
        assert file.run()["what"] == "calls,nvtx" and "SPNG_SAMPLE" not in file.tables()

    def test_options_win(self, folder: Path) -> None:
        done = wire_cell.run(
            *JOB,
            "--record",
            "option.sqlite",
            folder=folder,
            env={**os.environ, "SPNG_RECORD": "variable.sqlite"},
        )
        assert done.returncode == 0 and names(folder) == ["adc.npz", "option.sqlite", "out.npz"]

    def test_only_one_rank(self, folder: Path) -> None:
        for rank, count in (("0", 2), ("3", 3)):
            environment = {**os.environ, "OMPI_COMM_WORLD_RANK": rank}
            done = wire_cell.run(
                *JOB, "--record", "run.sqlite", "--record-rank", "3", folder=folder, env=environment
            )
            assert done.returncode == 0 and len(names(folder)) == count
        assert Recorded(folder / "run.sqlite").run()["rank"] == "3"

    def test_only_runs_are_recorded(self, folder: Path) -> None:
        assert (
            wire_cell.run("--check-configuration", *JOB, "--record", "run.sqlite", folder=folder).returncode
            == 0
        )
        assert names(folder) == ["adc.npz"]


@recorded.needs_recorder
class TestEarlyEnds:
    @staticmethod
    def start(site: Site, event: wire_cell.Arrays, folder: Path) -> subprocess.Popen:
        """The pipeline with 60 events, of which the first is done."""
        feeder = PacedInput(folder / "adc.tar", event, 60)
        words = wire_cell.settings("device=cpu", "input=adc.tar", "output=out.npz")
        process = subprocess.Popen(
            [wire_cell.PROGRAM, "-c", wire_cell.PIPELINE, *site.flags, "--record", "run.sqlite", *words],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=wire_cell.default_signals,
        )
        feeder.wait_for_start(process)
        time.sleep(1.2)  # twice the period in which rows go to the disk
        return process

    @pytest.mark.parametrize(
        "sent, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGUSR1, 138)]
    )
    def test_stopped(
        self, site: Site, event: wire_cell.Arrays, tmp_path: Path, sent: signal.Signals, status: int
    ) -> None:
        """The completed events and the recording of them are kept."""
        process = self.start(site, event, tmp_path)
        process.send_signal(sent)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == status, errors
        assert names(tmp_path) == ["adc.tar", "out.npz", "run.sqlite"]
        file = Recorded(tmp_path / "run.sqlite")
        assert 0 < int(file.run()["events"]) < 60 and file.run()["end"] == "stop"

    @pytest.mark.parametrize("sent, end", [(signal.SIGABRT, "signal 6"), (signal.SIGSEGV, "signal 11")])
    def test_crashed(
        self, site: Site, event: wire_cell.Arrays, tmp_path: Path, sent: signal.Signals, end: str
    ) -> None:
        process = self.start(site, event, tmp_path)
        process.send_signal(sent)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == -sent, errors
        assert errors.count("error: ") == 1 and f"wire-cell crashed ({sent.name})" in errors, errors
        file = Recorded(tmp_path / "run.sqlite")
        assert file.run()["end"] == end and len(file.sql("SELECT 1 FROM SPNG_CALL WHERE event = 0")) > 20

    def test_killed(self, site: Site, event: wire_cell.Arrays, tmp_path: Path) -> None:
        """Lose at most the calls since the last spill; the .part file becomes a whole one."""
        process = self.start(site, event, tmp_path)
        process.kill()
        process.communicate(timeout=120)
        [part] = tmp_path.glob("run.sqlite.*.part")
        assert not (tmp_path / "run.sqlite").exists()
        assert wire_cell.run("--recover-record", part, folder=tmp_path).returncode == 0
        file = Recorded(tmp_path / "run.sqlite")
        assert (
            file.run()["end"] == "recovered" and len(file.sql("SELECT 1 FROM SPNG_CALL WHERE event = 0")) > 20
        )
        [run] = [each for each in file.ranges(PUSH_POP) if each.name == "run"]
        [(last,)] = file.sql("SELECT MAX(end) FROM SPNG_CALL")
        assert run.end >= last and not list(tmp_path.glob("run.sqlite.*"))

    def test_full_disk(self, tmp_path: Path) -> None:
        """The output is small and complete; the recording is not, which is an error at the end, status 1."""
        wire_cell.write_arrays(
            tmp_path / "adc.npz", wire_cell.event(np.zeros((5, 100), np.int16), np.arange(5))
        )
        limit = 130_000  # room for the empty tables, not for the finished file
        done = wire_cell.run(
            *JOB,
            "--record",
            "run.sqlite",
            folder=tmp_path,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )
        assert (
            done.returncode == 1
            and "the recording cannot be written" in done.stderr
            and ".part" in done.stderr
        )
        assert (tmp_path / "out.npz").exists() and not (tmp_path / "run.sqlite").exists()

    @pytest.mark.parametrize("limit", [0, 5000, 50_000])
    def test_disk_that_is_full_at_the_start(self, tmp_path: Path, limit: int) -> None:
        """Nothing runs, and no empty .part file stays."""
        wire_cell.write_arrays(
            tmp_path / "adc.npz", wire_cell.event(np.zeros((5, 100), np.int16), np.arange(5))
        )
        done = wire_cell.run(
            *JOB,
            "--record",
            "run.sqlite",
            folder=tmp_path,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )
        assert done.returncode == 2 and "the recording cannot be made" in done.stderr, done.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["adc.npz"]


class TestBuildWithoutNvtx:
    PROGRAM = """
#include "spng/core/error.h"
#include "spng/instrument/recording.h"
#include <cstdio>
namespace spng::instrument { // of capture_range.cxx, which needs LibTorch
void start_device_profiler() {}
void stop_device_profiler() {}
void note_page_faults_of_event() noexcept {} // of page_faults.cxx, which needs it too
}
int main() {
    spng::instrument::Recording nothing({});
    std::printf("%d\\n", nothing.active());
    try {
        spng::instrument::Recording recording({.file = "run.sqlite"});
    } catch (const spng::Error& error) {
        std::printf("%d\\n%s\\n", error.exit_status(), error.what());
    }
}
"""

    def test_it_says_how_to_build_again(self, tmp_path: Path) -> None:
        compiler = shutil.which(os.environ.get("CXX", "g++"))
        if compiler is None:
            pytest.skip("no compiler")
        (tmp_path / "main.cxx").write_text(self.PROGRAM, encoding="utf-8")
        root = wire_cell.ROOT
        sources = [
            root / "spng" / each
            for each in (
                "core/error.cxx",
                "core/printable.cxx",
                "core/nearest.cxx",
                "instrument/background_thread.cxx",
                "instrument/clock.cxx",
                "instrument/event_window.cxx",
                "instrument/recording.cxx",
                "instrument/recorder_library.cxx",
            )
        ]
        subprocess.run(
            [
                compiler,
                "-std=c++20",
                "-O0",
                f"-I{root}",
                f"-I{root / 'spng' / 'include'}",
                "main.cxx",
                *sources,
                "-o",
                "program",
                "-ldl",
                "-pthread",
            ],
            cwd=tmp_path,
            check=True,
            timeout=120,
        )
        said = subprocess.run(
            ["./program"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
        ).stdout
        assert (
            said.startswith("0\n2\nerror: this build cannot record a profile\n")
            and "./wcb configure --with-nvtx" in said
        )
        assert not (tmp_path / "run.sqlite").exists()
