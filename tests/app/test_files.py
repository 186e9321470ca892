# SPDX-License-Identifier: Apache-2.0
"""wire-cell --files: a list of files processed by one program, each as by a program of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import wire_cell

pytestmark = wire_cell.needs_program

COPY = str(wire_cell.ROOT / "tests" / "app" / "jobs" / "copy.jsonnet")


def write_events(path: Path, first_ident: int, count: int = 1) -> None:
    """Write small events."""
    arrays: wire_cell.Arrays = {}
    for ident in range(first_ident, first_ident + count):
        arrays |= wire_cell.event(np.full((3, 8), ident, np.int16), np.arange(3), ident=ident)
    wire_cell.write_arrays(path, arrays)


def answers(done: subprocess.CompletedProcess) -> list[dict[str, Any]]:
    """Return the lines of stdout."""
    return [json.loads(line) for line in done.stdout.splitlines()]


def counts(timing: dict[str, Any]) -> dict[str, tuple[int, int, dict[str, int]]]:
    """Return the calls and operations of each node."""
    return {
        node["name"]: (len(node["per_call"]), node["leaf_operations"], node["operations"])
        for node in timing["nodes"]
    }


def without_times(log: str) -> str:
    return re.sub(r"^\[[0-9:.]+\]", "", log, flags=re.MULTILINE)


def statuses(done: subprocess.CompletedProcess) -> list[int]:
    return [answer["status"] for answer in answers(done)]


@pytest.fixture(name="listed")
def fixture_listed(tmp_path: Path) -> Path:
    """Write a list of three small files in a folder of its own, with a comment, a blank line and an absolute path."""
    (tmp_path / "in").mkdir()
    for index, name in enumerate(("a.npz", "b.tar.gz", "c.tar")):
        write_events(tmp_path / "in" / name, 10 * index, index + 1)
    lines = f"# three files\na.npz\n\n  b.tar.gz  \n{tmp_path}/in/c.tar\n"
    (tmp_path / "in" / "list.txt").write_text(lines, encoding="utf-8")
    return tmp_path / "in" / "list.txt"


class TestOutputs:
    """Each file gives what a program of its own gives."""

    def test_the_main_job(self, tmp_path: Path) -> None:
        """Outputs, dumps and warnings are equal byte by byte, counts in the timing files too. The second file has dead, NaN and
        noisy channels, so that findings and warnings of one file must not remain for the next. MKL's count of threads is not
        the job's, which holds from the first file on.
        """
        environment = os.environ | {"MKL_NUM_THREADS": "1"}
        samples, channels, _ = wire_cell.default_adc()
        first = wire_cell.write_arrays(tmp_path / "first.npz", wire_cell.event(samples, channels))
        noisy = samples.astype(np.float32)
        noisy[:300] = 0
        noisy[300:310, 100] = np.nan
        noisy += np.random.default_rng(3).normal(0, 40, noisy.shape).astype(np.float32)
        wire_cell.write_arrays(tmp_path / "second.tar", wire_cell.event(noisy, channels, ident=7))
        shutil.copy(first, tmp_path / "third.npz")
        names = ("first.npz", "second.tar", "third.npz")
        (tmp_path / "list").write_text("\n".join(names), encoding="utf-8")
        same = ["-c", wire_cell.PIPELINE, "-A", "dump=roi", "-A", "device=cpu"]
        folders = [tmp_path / "together", tmp_path / "alone"]
        for folder in folders:
            folder.mkdir()
        together = wire_cell.run(
            *same, "--files", "list", "-A", "output=together/{name}.npz", "--timing", "together/{name}.json",
            folder=tmp_path, env=environment,
        )  # fmt: skip
        assert together.returncode == 0, together.stderr
        assert statuses(together) == [0, 0, 0]
        said = ""
        for name in names[:2]:
            stem = name.split(".", maxsplit=1)[0]
            outputs = [
                *wire_cell.settings(f"input={name}", f"output=alone/{stem}.npz"),
                "--timing",
                f"alone/{stem}.json",
            ]
            alone = wire_cell.run(*same, *outputs, folder=tmp_path, env=environment)
            assert alone.returncode == 0, alone.stderr
            said += alone.stderr
        assert "the noise differs from the detector's" in said
        assert without_times(together.stderr) == without_times(said) + "3 files processed\n"
        for path in sorted(folders[1].glob("*.npz")):
            assert path.read_bytes() == (folders[0] / path.name).read_bytes(), path.name
        assert (folders[0] / "third.npz").read_bytes() == (folders[0] / "first.npz").read_bytes()
        assert len(list(folders[0].glob("*.npz"))) == 2 * 3
        for stem, own in (("first", "first"), ("second", "second"), ("third", "first")):
            of_list = json.loads((folders[0] / f"{stem}.json").read_text())
            of_program = json.loads((folders[1] / f"{own}.json").read_text())
            assert of_list["run"]["events"] == 1
            assert counts(of_list) == counts(of_program)
            assert of_list["input"] == of_program["input"]
            assert 0 < of_list["run"]["startup_seconds"]
            assert (stem == "first") == any(row["name"].startswith("prepare ") for row in of_list["start_up"])

    def test_each_line_is_a_run(self, listed: Path, tmp_path: Path) -> None:
        """Paths start at the list's folder; the copy has the events of its input."""
        done = wire_cell.run(COPY, "--files", "in/list.txt", "-A", "output={name}-copy.npz", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stderr == "3 files processed\n"
        found = answers(done)
        assert [answer["input"] for answer in found] == ["in/a.npz", "in/b.tar.gz", f"{tmp_path}/in/c.tar"]
        assert [answer["events"] for answer in found] == [1, 2, 3]
        for name, idents in (("a", [0]), ("b", [10, 11]), ("c", [20, 21, 22])):
            frames = wire_cell.read_arrays(tmp_path / f"{name}-copy.npz")
            assert [int(frames[f"frame_*_{ident}"][0, 0]) for ident in idents] == idents
            assert len(frames) == 3 * len(idents)

    def test_lines_from_a_program(self, listed: Path, tmp_path: Path) -> None:
        """A line is answered before the next one is written; its keys are placeholders in all names of files."""
        process = subprocess.Popen(
            [
                wire_cell.PROGRAM, COPY, "--files", "-", "-A", "output={to}", "--timing", "{to}.{name}.json",
            ],
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        assert process.stdin and process.stdout
        for name, output, stem in (("in/a.npz", "x.tar", "a"), ("in/b.tar.gz", "y.npz", "{to}")):
            line = {"input": name, "to": output} | ({"name": stem} if stem != "a" else {})
            process.stdin.write(json.dumps(line) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["status"] == 0
            assert (tmp_path / output).exists()
            timing = json.loads((tmp_path / f"{output}.{stem}.json").read_text())
            assert timing["settings"]["arguments"] == {"input": name, "output": output}
        out, errors = process.communicate(timeout=60)
        assert (process.returncode, out, errors) == (0, "", "2 files processed\n")

    def test_the_time_of_a_file_begins_with_its_line(self, listed: Path, tmp_path: Path) -> None:
        process = subprocess.Popen(
            [wire_cell.PROGRAM, COPY, "--files", "-", "-A", "output={name}-copy.npz"],
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin and process.stdout
        for name in ("a.npz", "b.tar.gz"):
            begin = time.monotonic()
            process.stdin.write(f"in/{name}\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert answer["status"] == 0 and answer["seconds"] <= time.monotonic() - begin
            time.sleep(1)
        process.communicate(timeout=60)

    def test_a_placeholder_elsewhere(self, tmp_path: Path) -> None:
        """It is replaced for the first line, on which the services may depend."""
        samples, channels, _ = wire_cell.default_adc()
        wire_cell.write_arrays(tmp_path / "a.npz", wire_cell.event(samples, channels))
        network = str(wire_cell.DATA / "dnnroi.ts")
        line = json.dumps({"input": str(tmp_path / "a.npz"), "net": network}) + "\n"
        words = ["-c", wire_cell.PIPELINE, "-A", "device=cpu", "-A"]
        done = wire_cell.run(
            *words,
            "output={name}-list.npz",
            "-A",
            "model={net}",
            "--files",
            "-",
            folder=tmp_path,
            input=line,
        )
        assert statuses(done) == [0], done.stderr
        alone = wire_cell.run(
            *words, "input=a.npz", "-A", "output=alone.npz", "-A", f"model={network}", folder=tmp_path
        )
        assert alone.returncode == 0, alone.stderr
        assert (tmp_path / "a-list.npz").read_bytes() == (tmp_path / "alone.npz").read_bytes()

    def test_a_recording_holds_one_file(self, listed: Path, tmp_path: Path) -> None:
        words = [COPY, "--record", "p.sqlite", "-A", "output={name}.npz", "--files"]
        done = wire_cell.run(*words, "in/list.txt", folder=tmp_path)
        if "needs a build with --with-nvtx" in done.stderr:
            pytest.skip("built without NVTX")
        assert statuses(done) == [0, 2] and "a recording holds one run" in done.stderr
        assert done.returncode == 2 and (tmp_path / "p.sqlite").exists()


class TestFailures:
    """Failed files, and lists that cannot be processed."""

    @pytest.mark.parametrize("bad", ["a.npz", "b.tar.gz"])
    def test_a_file_that_fails(self, listed: Path, tmp_path: Path, bad: str) -> None:
        """It ends the program, or is skipped; the block is that of a program of its own."""
        (tmp_path / "in" / bad).write_bytes(b"no archive at all")
        words = [COPY, "--files", "in/list.txt", "-A", "output={name}.npz"]
        alone = wire_cell.run(COPY, "-A", f"input=in/{bad}", "-A", "output=alone.npz", folder=tmp_path)
        assert alone.returncode == 1
        before = ["a.npz", "b.tar.gz", "c.tar"].index(bad)
        done = wire_cell.run(*words, folder=tmp_path)
        assert statuses(done) == [0] * before + [1]
        assert done.returncode == 1 and answers(done)[-1]["error"] + "\n" == alone.stderr
        for path in tmp_path.glob("*.npz"):
            path.unlink()
        done = wire_cell.run(*words, "--on-error", "skip", folder=tmp_path)
        assert sorted(statuses(done)) == [0, 0, 1] and statuses(done)[before] == 1
        assert [each.get("kind") for each in answers(done) if each["status"]] == ["Input"]
        assert done.returncode == 1 and done.stderr.endswith("2 files processed, 1 failed\n")
        assert sorted(path.name for path in tmp_path.glob("*.npz")) == sorted(
            f"{name}.npz" for name in "abc" if not bad.startswith(name)
        )

    def test_missing_files_do_not_end_the_others(self, listed: Path, tmp_path: Path) -> None:
        listed.write_text("none.npz\na.npz\nnone.tar\nc.tar\n", encoding="utf-8")
        done = wire_cell.run(
            COPY, "--files", "in/list.txt", "-A", "output={name}.npz", "--on-error", "skip", folder=tmp_path
        )
        assert [status == 0 for status in statuses(done)] == [False, True, False, True]
        assert "in/none.tar" in answers(done)[2]["error"] and answers(done)[2]["kind"] == "Configuration"

    def test_one_output_for_two_files(self, listed: Path, tmp_path: Path) -> None:
        done = wire_cell.run(COPY, "--files", "in/list.txt", "-A", "output=x.npz", folder=tmp_path)
        assert statuses(done) == [0, 2] and "two runs of the list write one file" in done.stderr
        assert "signals/{name}.npz" in done.stderr
        assert list(wire_cell.read_arrays(tmp_path / "x.npz")), "the first output stays"

    def test_one_timing_file_for_two_files(self, listed: Path, tmp_path: Path) -> None:
        """A device is no file that a later run would replace."""
        words = [COPY, "--files", "in/list.txt", "-A", "output={name}.npz", "--timing"]
        done = wire_cell.run(*words, "t.json", folder=tmp_path)
        assert statuses(done) == [0, 2] and "two runs of the list write one file" in done.stderr
        done = wire_cell.run(*words, "/dev/null", folder=tmp_path)
        assert statuses(done) == [0, 0, 0], done.stderr

    @pytest.mark.parametrize(
        "line, said",
        [
            ('{"output": "y.npz"}', "a line of the list of files cannot be understood"),
            ('{"input": ', "a line of the list of files cannot be understood"),
            ('{"input": "in/b.tar.gz", "name": 3}', "a line of the list of files cannot be understood"),
            ("in/none.npz", "in/none.npz"),
            ('{"input": "in/b.tar.gz", "name": "none/y"}', "an output cannot be written"),
            ('{"input": "in/b.tar.gz", "name": "a"}', "two runs of the list write one file"),
        ],
    )
    def test_lines_that_cannot_be_run(self, listed: Path, tmp_path: Path, line: str, said: str) -> None:
        """The job lives on: the next line is processed."""
        lines = ["in/a.npz", line, "in/c.tar"]
        done = wire_cell.run(
            COPY,
            *("--files", "-", "--on-error", "skip", "-A", "output={name}.npz"),
            folder=tmp_path,
            input="\n".join(lines) + "\n",
        )
        assert [status == 0 for status in statuses(done)] == [True, False, True], done.stderr
        assert said in answers(done)[1]["error"]
        assert sorted(path.name for path in tmp_path.glob("*.npz")) == ["a.npz", "c.npz"]
        assert len(wire_cell.read_arrays(tmp_path / "c.npz")) == 9

    def test_placeholders_are_for_names_of_files(self, listed: Path, tmp_path: Path) -> None:
        """A placeholder elsewhere would need another job for each file."""
        words = [COPY, "--files", "in/list.txt", "-A", "output={name}.npz", "--on-error", "skip"]
        done = wire_cell.run(*words, "--tla-code", "plugins=['WireCell{name}']", folder=tmp_path)
        assert statuses(done) == [2] * 3 and "WireCell{name}" in answers(done)[0]["error"]
        job = (wire_cell.ROOT / "tests" / "app" / "jobs" / "copy.jsonnet").read_text(encoding="utf-8")
        named = job.replace("name: 'out'", "name: '{name}'")
        assert named != job
        (tmp_path / "named.jsonnet").write_text(named, encoding="utf-8")
        done = wire_cell.run("named.jsonnet", *words[1:], folder=tmp_path)
        assert statuses(done) == [0, 2, 2]
        assert "a run of the series needs another job" in answers(done)[1]["error"]

    @pytest.mark.parametrize(
        "words, said",
        [
            (["--files", "none.txt"], "cannot read the list of files"),
            (["--files", "in"], "it is a folder"),
            (["--files", "in/list.txt", "--serve", "unix:s"], "--files needs a list"),
            (["--files", "in/list.txt", "--dot", "-"], "--files needs a list"),
            (["--files", ""], "--files needs a list"),
            (
                ["--files", "in/list.txt", "--memory-snapshot", "s.pickle"],
                "an option about one run beside a list",
            ),
        ],
    )
    def test_usage_errors(self, listed: Path, tmp_path: Path, words: list[str], said: str) -> None:
        done = wire_cell.run(COPY, *words, folder=tmp_path)
        assert done.returncode in (1, 2) and done.stdout == ""
        assert done.stderr.startswith("error: ") and said in done.stderr

    def test_an_empty_list(self, tmp_path: Path) -> None:
        done = wire_cell.run(COPY, "--files", "-", folder=tmp_path, input="# nothing\n")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "0 files processed\n")

    def test_a_job_that_cannot_be_loaded(self, listed: Path, tmp_path: Path) -> None:
        """Each line has the error; without a line nothing is said, as nothing was to be done."""
        words = [COPY, "-A", "output={name}.npz", "--tla-code", "plugins=['Absent']", "--files", "-"]
        done = wire_cell.run(*words, folder=tmp_path, input="")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "0 files processed\n")
        done = wire_cell.run(*words, folder=tmp_path, input="in/a.npz\n")
        assert statuses(done) == [2] and done.returncode == 2
        assert done.stderr.count("error: ") == 1 and "Absent" in done.stderr

    def test_a_line_without_end(self, tmp_path: Path) -> None:
        done = wire_cell.run(COPY, "--files", "-", folder=tmp_path, input="x" * (3 << 20))
        assert statuses(done) == [1] and "a line of the list of files is too long" in done.stderr

    def test_a_list_that_cannot_be_read_on(self, tmp_path: Path) -> None:
        """A read of this file ends with EIO, as one of a disk that fails."""
        done = wire_cell.run(COPY, "--files", "/proc/self/mem", folder=tmp_path)
        assert statuses(done) == [1] and "cannot read the list of files" in done.stderr
        assert "Input/output error" in done.stderr


class TestSignals:
    """A signal ends the program between lines and within a run."""

    def start(self, folder: Path) -> subprocess.Popen:
        return subprocess.Popen(
            [wire_cell.PROGRAM, COPY, "--files", "-", "-A", "output={name}.npz"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=wire_cell.default_signals,
        )

    @pytest.mark.parametrize("code", [signal.SIGTERM, signal.SIGINT])
    def test_while_it_waits_for_a_line(self, listed: Path, tmp_path: Path, code: int) -> None:
        process = self.start(tmp_path)
        assert process.stdin and process.stdout
        process.stdin.write("in/a.npz\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["status"] == 0
        process.send_signal(code)
        process.wait(60)
        assert process.returncode == 128 + code
        assert (tmp_path / "a.npz").exists()

    def test_while_it_reads_a_file(self, tmp_path: Path) -> None:
        """The file is a pipe that nobody writes. The answer has the status of the signal, or the watchdog ends the program."""
        os.mkfifo(tmp_path / "pipe.npz")
        process = self.start(tmp_path)
        assert process.stdin
        process.stdin.write("pipe.npz\n")
        process.stdin.flush()
        writer = None
        deadline = time.monotonic() + 60
        while writer is None:
            assert time.monotonic() < deadline
            try:
                writer = os.open(
                    tmp_path / "pipe.npz", os.O_WRONLY | os.O_NONBLOCK
                )  # fails until somebody reads
            except OSError:
                time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        os.close(writer)
        assert process.returncode == 143, errors
        assert not list(tmp_path.glob("*.partial")) and not (tmp_path / "pipe-copy.npz").exists()


def test_a_check_looks_at_the_first_file(listed: Path, tmp_path: Path) -> None:
    words = [COPY, "--files", "in/list.txt", "-A", "output={name}.npz", "--check"]
    assert wire_cell.run(*words, folder=tmp_path).returncode == 0
    (tmp_path / "in" / "a.npz").write_bytes(b"no archive")
    done = wire_cell.run(*words, folder=tmp_path)
    assert done.returncode == 2 and "in/a.npz" in done.stderr, done.stderr
    assert not (tmp_path / "a.npz").exists()
    without = [COPY, "--files", "-", "-A", "output=x.npz", "--check"]
    assert wire_cell.run(*without, folder=tmp_path, input="").returncode == 0
    done = wire_cell.run(*without, "-A", "output=absent/x.npz", folder=tmp_path, input="")
    assert done.returncode == 2 and "absent" in done.stderr, done.stderr


def test_progress(listed: Path, tmp_path: Path) -> None:
    done = wire_cell.run(
        COPY, "--files", "in/list.txt", "-A", "output={name}.npz", "--progress", folder=tmp_path
    )
    assert done.returncode == 0
    assert "wire-cell: 3 of 3 files, " in done.stderr and " files/min, 0:0" in done.stderr
