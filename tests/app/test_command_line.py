# SPDX-License-Identifier: Apache-2.0
"""wire-cell as a user runs it: flags, exit statuses, error blocks, files found from any folder, signals."""

from __future__ import annotations

import bz2
import contextlib
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.support import figures
from tests.support.wire_cell import default_signals, read_arrays, settings

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("SPNG_WIRE_CELL", ROOT / "build" / "bin" / "wire-cell"))
COPY = str(ROOT / "tests" / "app" / "jobs" / "copy.jsonnet")

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built")


def run(*arguments: str | Path, folder: Path | None = None, **options) -> subprocess.CompletedProcess:
    """Run wire-cell to its end. Fail if a signal ended it."""
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )
    assert done.returncode >= 0, done.stderr
    return done


def rejected(*arguments: str | Path, folder: Path | None = None, status: int = 2) -> dict[str, str]:
    """Run a command that must fail; return the lines of the error block by label."""
    done = run(*arguments, folder=folder)
    assert done.returncode == status, done.stderr
    assert done.stderr.startswith("error: "), done.stderr
    block = dict(re.findall(r"^  (where|seen|expected|hint): +(.*)$", done.stderr, re.MULTILINE))
    return {
        "what": done.stderr.splitlines()[0],
        "all": done.stderr,
        "where": "",
        "seen": "",
        "expected": "",
        "hint": "",
        **block,
    }


def write_events(path: Path, count: int, channels: int = 40, ticks: int = 500) -> dict[str, np.ndarray]:
    """Write a frame file of noise; return the arrays by their names."""
    random = np.random.default_rng(20261121)
    arrays: dict[str, np.ndarray] = {}
    for ident in range(count):
        arrays[f"frame_*_{ident}"] = random.integers(0, 4000, (channels, ticks), dtype=np.int16)
        arrays[f"channels_*_{ident}"] = np.arange(channels, dtype=np.int32)
        arrays[f"tickinfo_*_{ident}"] = np.array([0.0, 500.0, 0.0])
    np.savez(path, **arrays)
    return arrays


@pytest.fixture(name="adc")
def fixture_adc(tmp_path: Path) -> Path:
    """Write three small events."""
    write_events(tmp_path / "adc.npz", 3)
    return tmp_path / "adc.npz"


def leftovers(folder: Path) -> list[str]:
    """Return temporary files that should have been removed."""
    return [path.name for path in folder.iterdir() if path.name.endswith(".partial")]


class TestInformation:
    """Flags that print information instead of running a job."""

    def test_version_names_the_parts(self) -> None:
        done = run("-v")
        assert done.returncode == 0
        assert re.match(r"wire-cell \(SPNG\) \d+\.\d+\.\d+\n", done.stdout)
        assert "LibTorch  2." in done.stdout and "commit" in done.stdout

    def test_help_names_every_flag(self) -> None:
        done = run("--help")
        assert done.returncode == 0
        for flag in (
            "-c [ --config ]",
            "-A [ --tla-str ]",
            "--tla-code",
            "-V [ --ext-str ]",
            "-C [ --ext-code ]",
            "-P [ --path ]",
            "-p [ --plugin ]",
            "-l [ --logsink ]",
            "-L [ --loglevel ]",
            "-t [ --threads ]",
            "-a [ --app ]",
            "-v [ --version ]",
            "-h [ --help ]",
            "--check",
            "--dot",
            "--list",
            "--describe",
            "--schema",
            "--timing",
            "--on-error",
            "--sync-timing",
        ):
            assert flag in done.stdout, flag

    def test_list_and_describe(self) -> None:
        assert "FrameFileSource" in run("--list").stdout
        described = run("--describe", "FrameFileSource")
        assert (
            described.returncode == 0 and "inname" in described.stdout and "must be given" in described.stdout
        )
        everything = run("--describe", "all").stdout
        assert everything.startswith("# Node reference") and "### FrameFileSource" in everything

    def test_schema_is_json(self) -> None:
        schema = json.loads(run("--schema", "FrameFileSink").stdout)
        assert schema["properties"]["level"]["type"] == "integer"
        assert schema["additionalProperties"] is False

    def test_unknown_type(self) -> None:
        assert rejected("--describe", "FrameFileSorce")["hint"] == "did you mean 'FrameFileSource'?"

    def test_closed_pipe_is_no_crash(self) -> None:
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            [PROGRAM, "--check-configuration", COPY, "-A", "input=x.npz"],
            stdout=writer,
            check=False,
            timeout=60,
        )
        os.close(writer)
        assert done.returncode in (
            0,
            -signal.SIGPIPE,
        )  # before the handlers are installed, the shell's habit holds


class TestMisuse:
    """Usage errors end with status 2 and a hint."""

    @pytest.mark.parametrize(
        "arguments, hint",
        [
            (["--timming", "x"], "did you mean --timing?"),
            (["--dto", "x"], "did you mean --dot?"),
            (["-L", "debgu", COPY], "did you mean 'debug'?"),
            (["-l", "stdout:inof", COPY], "did you mean 'info'?"),
            (["--on-error", "stopp", COPY], "did you mean 'stop'?"),
            (["-p", "WireCellSpgn", COPY, "-A", "input=x.npz"], "did you mean 'WireCellSpng'?"),
            (["-A", "inptu=x.npz", COPY], "did you mean 'input'?"),
            (["-A", "input=x.npz", "-a", "TbbFlw", COPY], "did you mean 'TbbFlow'?"),
        ],
    )
    def test_nearest_name(self, arguments: list[str], hint: str) -> None:
        assert rejected(*arguments)["hint"] == hint

    @pytest.mark.parametrize(
        "arguments",
        [
            [],
            ["-A", "input", COPY],
            ["-t", "none", COPY],
            [COPY, COPY],
            ["--list", "--version"],
            ["-A"],
            ["-p", "./no-such-plugin.so", COPY, "-A", "input=x.npz"],
        ],
    )
    def test_rejected(self, arguments: list[str]) -> None:
        assert rejected(*arguments)["what"] != "error: "

    def test_missing_argument(self) -> None:
        assert rejected(COPY)["hint"] == "-A input=VALUE"

    def test_missing_configuration_names_the_nearest(self) -> None:
        assert rejected("cfg/pipelin.jsonnet")["hint"] == "did you mean 'cfg/pipeline.jsonnet'?"


class TestConfigurationErrors:
    """Configuration errors end with status 2 in under a second, and name node, key and position."""

    @pytest.mark.parametrize(
        "changes, words",
        [
            ("{ levle: 3 }", ["unknown configuration key 'levle'", "FrameFileSink:out", "'level'"]),
            ("{ level: 'high' }", ["FrameFileSink:out", "key level", '"high" (string)', "integer"]),
            ("{ level: 10 }", ["FrameFileSink:out", "key level", "-1 <= value <= 9"]),
            ("{ masks: 1 }", ["FrameFileSink:out", "key masks", "boolean"]),
        ],
    )
    def test_wrong_key_or_value(self, changes: str, words: list[str]) -> None:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        block = rejected(COPY, "-A", "input=x.npz", "--tla-code", f"changes={changes}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        # Processor time: other work on the machine must not fail the test.
        assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1.0
        assert "copy.jsonnet" in block["where"]
        for word in words:
            assert word in block["all"], block["all"]

    def test_jsonnet_error_has_file_and_line(self, tmp_path: Path) -> None:
        (tmp_path / "broken.jsonnet").write_text("local a = 1;\n{ b: a.c }\n")
        assert "broken.jsonnet:2:6" in rejected("broken.jsonnet", folder=tmp_path)["where"]
        (tmp_path / "broken.jsonnet").write_text("local a = 1;\n{ b: c }\n")
        assert "broken.jsonnet:2:6" in rejected("broken.jsonnet", folder=tmp_path)["where"]

    @pytest.mark.parametrize("text", ["{}", "[1]", '[{"type": "NoSuchType"}]', "[]", "[", '[{"tpye": "x"}]'])
    def test_wrong_json(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "job.json").write_text(text)
        assert "job.json" in rejected("job.json", folder=tmp_path)["all"]


class TestPlaces:
    """Configurations and their imports are found."""

    def test_own_configuration_from_any_folder(self, tmp_path: Path) -> None:
        done = run("-c", "cfg/pipeline.jsonnet", "--check-configuration", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "valid" in done.stdout

    def test_path_flag_before_environment(self, tmp_path: Path) -> None:
        for name in ("flag", "environment"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "job.jsonnet").write_text("import 'part.libsonnet'")
            (tmp_path / name / "part.libsonnet").write_text(f"error 'from {name}'")
        environment = dict(os.environ, WIRECELL_PATH=str(tmp_path / "environment"))
        assert "from environment" in run("job.jsonnet", env=environment).stderr
        assert "from flag" in run("job.jsonnet", "-P", tmp_path / "flag", env=environment).stderr

    def test_own_configurations_search_the_environment_last(self, tmp_path: Path) -> None:
        """WIRECELL_PATH of users of the Wire-Cell Toolkit names its Jsonnet, with files of the same names."""
        (tmp_path / "spng_job.jsonnet").write_text("error 'from environment'")
        environment = dict(os.environ, WIRECELL_PATH=f"{tmp_path / 'absent'}:{tmp_path}")
        own = ("-c", "cfg/pipeline.jsonnet", "--check-configuration")
        done = run(*own, folder=tmp_path / "..", env=environment)
        assert done.returncode == 0, done.stderr
        assert "from environment" in run(*own, "-P", tmp_path, folder=tmp_path / "..", env=environment).stderr
        (tmp_path / "job.jsonnet").write_text("import 'spng_job.jsonnet'")
        assert "from environment" in run(tmp_path / "job.jsonnet", env=environment).stderr

    def test_json_configuration_also_compressed(self, tmp_path: Path, adc: Path) -> None:
        end = {"port": 0}
        job = [
            {"type": "SPNGContext", "data": {"device": "cpu"}},
            {"type": "FrameFileSource", "data": {"inname": str(adc)}},
            {"type": "FrameFileSink", "data": {"outname": "out.npz"}},
            {
                "type": "Pgrapher",
                "data": {
                    "edges": [
                        {"tail": {"node": "FrameFileSource", **end}, "head": {"node": "FrameFileSink", **end}}
                    ]
                },
            },
        ]
        (tmp_path / "job.json").write_text(json.dumps(job))
        (tmp_path / "job.json.bz2").write_bytes(bz2.compress(json.dumps(job).encode()))
        for name in ("job.json", "job.json.bz2"):
            (tmp_path / "out.npz").unlink(missing_ok=True)
            done = run(name, folder=tmp_path)
            assert done.returncode == 0, done.stderr
            assert (tmp_path / "out.npz").exists()
        assert "takes no arguments" in rejected("job.json", "-A", "input=x", folder=tmp_path)["what"]

    def test_copied_checkout_is_found_by_the_programs_path(self, tmp_path: Path) -> None:
        """An installation has bin, lib and share/wirecell under any prefix."""
        library = PROGRAM.parent.parent / "lib" / "libWireCellSpng.so"
        if not library.exists():
            pytest.skip("the program was built without the shared library")
        for folder, source in (("bin", PROGRAM), ("lib", library)):
            (tmp_path / folder).mkdir()
            shutil.copy(source, tmp_path / folder)
        shutil.copytree(ROOT / "cfg", tmp_path / "share" / "wirecell" / "cfg")
        (tmp_path / "share/wirecell/cfg/mark.jsonnet").write_text("error 'the installed one'")
        done = subprocess.run(
            [tmp_path / "bin" / "wire-cell", "mark.jsonnet"],
            capture_output=True,
            text=True,
            cwd=tmp_path / "lib",
            timeout=60,
            check=False,
        )
        assert "the installed one" in done.stderr


class TestRuns:
    """A job that copies a frame file."""

    @pytest.mark.parametrize("engine", ["Pgrapher", "TbbFlow"])
    def test_copy_keeps_the_arrays(self, tmp_path: Path, engine: str) -> None:
        arrays = write_events(tmp_path / "adc.npz", 3)
        done = run(
            COPY,
            *settings("input=adc.npz", "output=out.npz"),
            "-a",
            engine,
            "-t",
            "2",
            "-p",
            "WireCellPgraph",
            folder=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        with np.load(tmp_path / "out.npz") as copied:
            for name, array in arrays.items():
                np.testing.assert_array_equal(copied[name], array)
        assert "FrameFileSink:out" in done.stdout and engine in done.stdout
        assert done.stderr == ""

    def test_timing_file(self, tmp_path: Path, adc: Path) -> None:
        done = run(COPY, "-A", f"input={adc}", "--timing", "timing.json", "--sync-timing", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "SYNCHRONISING" in done.stdout
        timing = json.loads((tmp_path / "timing.json").read_text())
        assert {node["name"]: node["calls"] for node in timing["nodes"]} == {
            "FrameFileSource:in": 3,
            "FrameFileSink:out": 3,
        }

    def test_table_has_the_width_of_the_terminal(self, tmp_path: Path, adc: Path) -> None:
        """In a file at most 100 characters, unless the whole table is requested."""
        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 40, 72, 0, 0))
        job = [PROGRAM, COPY, "-A", f"input={adc}"]
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        done = subprocess.run(job, cwd=tmp_path, stdout=theirs, env=environment, timeout=60, check=False)
        assert done.returncode == 0
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # the end of a pseudo-terminal
            while part := os.read(ours, 65536):
                shown += part
        os.close(ours)
        in_file = run(*job[1:], folder=tmp_path, env=environment).stdout
        asked = run(*job[1:], folder=tmp_path, env={**environment, "COLUMNS": "88"}).stdout
        wide = run(*job[1:], "--table", "wide", folder=tmp_path).stdout
        widths = [max(map(len, text.splitlines())) for text in (shown.decode(), asked, in_file, wide)]
        assert widths[0] <= 72 < widths[1] <= 88 < widths[2] <= 100 < widths[3]
        for text in (shown.decode(), in_file, wide):
            assert "start-up, times in ms" in text and "program start to first node" in text

    def test_check_and_dot_do_not_run(self, tmp_path: Path) -> None:
        done = run(COPY, "-A", "input=absent.npz", "--check-configuration", folder=tmp_path)
        assert done.returncode == 0 and "2 nodes, 1 edges" in done.stdout
        assert run(COPY, "-A", "input=absent.npz", "--dot", "graph.dot", folder=tmp_path).returncode == 0
        drawing = (tmp_path / "graph.dot").read_text()
        assert drawing.startswith("digraph") and "FrameFileSource" in drawing and "n0 -> n1" in drawing
        assert run(COPY, "-A", "input=absent.npz", "--dot", "-", folder=tmp_path).stdout == drawing
        assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.dot"]

    def test_log_lines_have_the_fields_form(self, tmp_path: Path, adc: Path) -> None:
        done = run(
            COPY, "-A", f"input={adc}", "-l", "job.log:info", "-l", "stderr", "-L", "debug", folder=tmp_path
        )
        form = re.compile(r"\[\d\d:\d\d:\d\d\.\d{3}\] [TDIWEC] \[ \S+ \] .+")
        lines = (tmp_path / "job.log").read_text().splitlines()
        assert lines and all(form.fullmatch(line) for line in lines)
        assert all(form.fullmatch(line) for line in done.stderr.splitlines())
        assert len(done.stderr.splitlines()) >= len(lines)

    def test_missing_input(self, tmp_path: Path) -> None:
        block = rejected(COPY, "-A", "input=absent.npz", folder=tmp_path)
        assert "absent.npz" in block["what"] and "FrameFileSource:in" in block["where"]
        assert list(tmp_path.iterdir()) == []

    def test_output_folder_that_is_not_there(self, tmp_path: Path, adc: Path) -> None:
        block = rejected(COPY, "-A", f"input={adc}", "-A", "output=none/out.npz", folder=tmp_path, status=1)
        assert "none" in block["all"]

    def test_full_disk(self, tmp_path: Path) -> None:
        write_events(tmp_path / "adc.npz", 20)
        limit = 100_000
        done = run(
            COPY,
            *settings("input=adc.npz", "output=out.npz"),
            folder=tmp_path,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )
        assert done.returncode == 1, done.stderr
        assert "out.npz" in done.stderr
        assert not (tmp_path / "out.npz").exists() and not leftovers(tmp_path)


@pytest.fixture(scope="module", name="many")
def fixture_many(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, np.ndarray]]:
    """Write a file of 600 events; return its path and its arrays."""
    path = tmp_path_factory.mktemp("many") / "adc.npz"
    return path, write_events(path, 600)


STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGXCPU)


def start_copy(folder: Path, output: str, dispositions: Callable[[], None]) -> subprocess.Popen:
    """Start to copy adc.npz to `output`. dispositions: called in the new process, of its signals."""
    return subprocess.Popen(
        [PROGRAM, COPY, "-A", "input=adc.npz", "-A", f"output={output}"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=dispositions,
    )


class TestSignals:
    """The end of a job after a signal."""

    @staticmethod
    def start_and_wait_for_output(folder: Path, dispositions: Callable[[], None]) -> subprocess.Popen:
        """Copy adc.npz to out.tar.bz2; return the process once some of the output is on the disk."""
        process = start_copy(folder, "out.tar.bz2", dispositions)
        deadline = time.monotonic() + 60
        while not any(path.stat().st_size > 0 for path in folder.glob(".out.tar.bz2.*.partial")):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.01)
        return process

    @staticmethod
    def stopped_while_it_writes(folder: Path, *signals: signal.Signals) -> tuple[int, dict[str, np.ndarray]]:
        """Send signals to the copying job; return the number of completed events in the message, and the
        arrays that are kept.
        """
        process = TestSignals.start_and_wait_for_output(folder, default_signals)
        for each in signals:
            process.send_signal(each)
            time.sleep(0.01)  # else the kernel may merge equal ones
        _, errors = process.communicate(timeout=60)
        first = signal.Signals(process.returncode - 128)
        assert first in signals, errors  # two threads may take two signals in either order
        assert not leftovers(folder)
        stopped = re.search(rf"stopped by {first.name} after (\d+) completed events", errors)
        return int(stopped[1]), read_arrays(folder / "out.tar.bz2")

    @pytest.mark.parametrize(
        "signals",
        [(each,) for each in STOP_SIGNALS]
        + [
            # A closed terminal and an exhausted CPU limit repeat their signals; the job still ends in order.
            (signal.SIGHUP, signal.SIGHUP),
            (signal.SIGXCPU, signal.SIGXCPU, signal.SIGXCPU),
            (signal.SIGTERM, signal.SIGHUP),
            # The command timeout signals the process and then its group.
            (signal.SIGTERM, signal.SIGTERM),
        ],
    )
    def test_completed_events_are_kept(
        self, tmp_path: Path, many: tuple[Path, dict[str, np.ndarray]], signals: tuple[signal.Signals, ...]
    ) -> None:
        source, arrays = many
        (tmp_path / "adc.npz").symlink_to(source)
        completed, kept = self.stopped_while_it_writes(tmp_path, *signals)
        assert 0 < completed < 600
        if signals == (signal.SIGINT,):
            again = run(COPY, "-A", "input=out.tar.bz2", "-A", "output=again.npz", folder=tmp_path)
            assert again.returncode == 0, again.stderr
            assert read_arrays(tmp_path / "again.npz").keys() == kept.keys()
        assert sum(name.startswith("frame_") for name in kept) == completed
        for name, array in kept.items():
            np.testing.assert_array_equal(array, arrays[name])

    def test_an_event_being_written_is_waited_for(self, tmp_path: Path) -> None:
        """The job waits longer than the two seconds of a job without results: the reader of a pipe takes an event
        after three seconds of at most 30.
        """
        arrays = write_events(tmp_path / "adc.npz", 1, channels=400)
        os.mkfifo(tmp_path / "out.tar")
        process = start_copy(tmp_path, "out.tar", default_signals)
        with (tmp_path / "out.tar").open("rb") as pipe:
            first = pipe.read(1)
            process.send_signal(signal.SIGINT)
            time.sleep(3.0)
            assert process.poll() is None
            (tmp_path / "read.tar").write_bytes(first + pipe.read())
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 128 + signal.SIGINT, errors
        assert "stopped by SIGINT after 1 completed events" in errors
        kept = read_arrays(tmp_path / "read.tar")
        assert kept.keys() == arrays.keys()
        np.testing.assert_array_equal(kept["frame_*_0"], arrays["frame_*_0"])

    def test_ignored_signals_stay_ignored(self, tmp_path: Path) -> None:
        """Signals that are ignored at the start, as under nohup or in the background of a script, stay
        ignored.
        """
        write_events(tmp_path / "adc.npz", 100)

        def ignore() -> None:
            for each in STOP_SIGNALS:
                signal.signal(each, signal.SIG_IGN)

        process = self.start_and_wait_for_output(tmp_path, ignore)
        for each in STOP_SIGNALS:
            process.send_signal(each)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        assert (tmp_path / "out.tar.bz2").exists() and not leftovers(tmp_path)

    @pytest.fixture(name="stuck")
    def fixture_stuck(self, tmp_path: Path):
        """Start a job that waits for ever in a call, because nobody writes into the pipe that it reads."""
        os.mkfifo(tmp_path / "adc.npz")
        process = subprocess.Popen(
            [PROGRAM, COPY, "-A", "input=adc.npz", "-l", "stderr", "-L", "info"],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=default_signals,
        )
        # The line about the evaluation comes just before the handlers are installed.
        assert "evaluated" in process.stderr.readline()
        time.sleep(1.0)
        yield process
        process.kill()
        process.wait()

    def test_watchdog_ends_a_stuck_job(self, tmp_path: Path, stuck: subprocess.Popen) -> None:
        stuck.send_signal(signal.SIGINT)
        began = time.monotonic()
        assert stuck.wait(timeout=20) == 130
        assert time.monotonic() - began > 1.5
        assert not leftovers(tmp_path)

    @pytest.mark.parametrize(
        "first, second",
        [(signal.SIGINT, signal.SIGTERM), (signal.SIGHUP, signal.SIGQUIT), (signal.SIGUSR1, signal.SIGUSR1)],
    )
    def test_second_signal_ends_at_once(
        self, tmp_path: Path, stuck: subprocess.Popen, first: signal.Signals, second: signal.Signals
    ) -> None:
        stuck.send_signal(first)
        time.sleep(0.4)
        began = time.monotonic()
        stuck.send_signal(second)
        assert stuck.wait(timeout=20) == 128 + second
        figures.note("time to the end after the second signal [s]", time.monotonic() - began)
        assert time.monotonic() - began < 1.5
        assert not leftovers(tmp_path)
