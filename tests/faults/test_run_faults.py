# SPDX-License-Identifier: Apache-2.0
"""Runs of the whole chain that end early: outputs that cannot be written, and signals.

tests/app/test_command_line.py does the same with a job that only copies: full disk, a missing output folder, signals, the
watchdog. test_input_faults.py says what is tested where.
"""

from __future__ import annotations

import re
import resource
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from tests.support import figures, wire_cell
from tests.support.paced_input import PacedInput
from tests.support.small_site import Site

pytestmark = wire_cell.needs_program

COPY = wire_cell.ROOT / "tests" / "app" / "jobs" / "copy.jsonnet"
SECONDS_TO_STOP = 20  # a node call takes well under a second; the machine may be busy with other tests


def words(site: Site, *arguments: str) -> list[str]:
    return [
        "-c",
        wire_cell.PIPELINE,
        *site.flags,
        *wire_cell.settings("device=cpu", *arguments),
    ]


class TestOutput:
    """One block; neither the output nor a temporary file stays."""

    def test_full_disk(self, site: Site, tmp_path: Path) -> None:
        wire_cell.write_arrays(tmp_path / "adc.npz", site.busy_frames(3, 6000))
        limit = 10_000
        done = wire_cell.run(
            *words(site, "input=adc.npz", "output=out.npz"),
            folder=tmp_path,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )
        assert done.returncode == 1, done.stderr
        assert done.stderr.startswith("error: ") and "out.npz" in done.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["adc.npz"]

    @pytest.mark.parametrize("overlap", ["true", "false"])
    def test_full_disk_where_failed_events_are_skipped(
        self, site: Site, tmp_path: Path, overlap: str
    ) -> None:
        """Without its file no event is done: the job fails, and names the event at which writing stopped."""
        wire_cell.write_arrays(tmp_path / "adc.npz", site.busy_frames(4, 6000))
        limit = 10_000
        done = wire_cell.run(
            *words(site, "input=adc.npz", "output=out.tar", f"overlap_files={overlap}"),
            "--on-error",
            "skip",
            folder=tmp_path,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )
        assert done.returncode == 1, done.stderr
        assert "out.tar" in done.stderr and "writing event 0" in done.stderr
        assert "report this defect" not in done.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["adc.npz"]

    @pytest.mark.parametrize("output", ["adc.npz/out.npz", "folder.npz", "/proc/out.npz"])
    def test_path_that_cannot_be_written(self, tmp_path: Path, output: str) -> None:
        """A file as folder, a folder as file, a file system that takes no files (also from root)."""
        wire_cell.write_arrays(
            tmp_path / "adc.npz", wire_cell.event(np.zeros((5, 100), np.int16), np.arange(5))
        )
        (tmp_path / "folder.npz").mkdir()
        block = wire_cell.rejected(
            COPY, "-A", "input=adc.npz", "-A", f"output={output}", folder=tmp_path, status=1
        )
        assert "FrameFileSink:out" in block and output in block
        assert sorted(path.name for path in tmp_path.iterdir()) == ["adc.npz", "folder.npz"]

    def test_unknown_ending(self, tmp_path: Path) -> None:
        wire_cell.write_arrays(
            tmp_path / "adc.npz", wire_cell.event(np.zeros((5, 100), np.int16), np.arange(5))
        )
        block = wire_cell.rejected(
            COPY, "-A", "input=adc.npz", "-A", "output=out.xyz", folder=tmp_path, status=2
        )
        assert ".xyz" in block and ".tar.bz2" in block


class TestFilesThatMeet:
    """Two names of one file, of which one is written."""

    @pytest.mark.parametrize("output", ["adc.npz", "here/../adc.npz", "link.npz"])
    def test_the_input_is_not_replaced(self, event: wire_cell.Arrays, tmp_path: Path, output: str) -> None:
        wire_cell.write_arrays(tmp_path / "adc.npz", event)
        (tmp_path / "here").mkdir()
        (tmp_path / "link.npz").symlink_to("adc.npz")
        before = (tmp_path / "adc.npz").read_bytes()
        block = wire_cell.rejected(
            COPY, "-A", "input=adc.npz", "-A", f"output={output}", folder=tmp_path, status=2
        )
        assert "FrameFileSink" in block and "FrameFileSource" in block and output in block
        assert (tmp_path / "adc.npz").read_bytes() == before

    def test_outputs_do_not_replace_each_other(self, event: wire_cell.Arrays, tmp_path: Path) -> None:
        wire_cell.write_arrays(tmp_path / "adc.npz", event)
        block = wire_cell.rejected(
            COPY,
            *wire_cell.settings("input=adc.npz", "output=out.npz"),
            "--timing",
            "out.npz",
            folder=tmp_path,
            status=2,
        )
        assert "FrameFileSink:out and --timing" in block
        assert sorted(path.name for path in tmp_path.iterdir()) == ["adc.npz"]


class TestSignals:
    """In mid-run of the chain, with events to go."""

    @pytest.mark.parametrize(
        "engine, sent, status",
        [
            ("Pgrapher", signal.SIGINT, 130),
            ("TbbFlow", signal.SIGTERM, 143),
            ("Pgrapher", signal.SIGXCPU, 152),
            ("TbbFlow", signal.SIGHUP, 129),
        ],
    )
    def test_completed_events_are_kept(
        self,
        site: Site,
        event: wire_cell.Arrays,
        tmp_path: Path,
        engine: str,
        sent: signal.Signals,
        status: int,
    ) -> None:
        count = 60
        feeder = PacedInput(tmp_path / "adc.tar", event, count)
        arguments = words(site, "input=adc.tar", "output=out.npz", f"engine={engine}")
        process = subprocess.Popen(
            [wire_cell.PROGRAM, *arguments],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=wire_cell.default_signals,
        )
        try:
            feeder.wait_for_start(process)
            process.send_signal(sent)
            began = time.monotonic()
            _, errors = process.communicate(timeout=120)
        finally:
            process.kill()
        assert process.returncode == status, errors
        figures.note("time to the end [s]", time.monotonic() - began)
        assert time.monotonic() - began < SECONDS_TO_STOP
        completed = int(re.search(rf"stopped by {sent.name} after (\d+) completed events", errors)[1])
        assert 0 < completed < count
        assert sorted(path.name for path in tmp_path.iterdir()) == ["adc.tar", "out.npz"]
        kept = wire_cell.read_arrays(tmp_path / "out.npz")
        signals = [array for name, array in kept.items() if name.startswith("frame_")]
        assert [name for name in kept if name.startswith("frame_")] == [
            f"frame_signal_{ident}" for ident in range(completed)
        ]
        assert signals[0].any()
        for each in signals[1:]:
            np.testing.assert_array_equal(each, signals[0])
