# SPDX-License-Identifier: Apache-2.0
"""--profile-control and SIGUSR2 open and close the capture window of a running job."""

from __future__ import annotations

import http.client
import json
import os
import re
import resource
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.recorder import recorded
from tests.recorder.recorded import Recorded
from tests.serve.protocol import UnixConnection
from tests.support import wire_cell

pytestmark = wire_cell.needs_program

COPY = wire_cell.ROOT / "tests" / "app" / "jobs" / "copy.jsonnet"
EVENTS = 1500
FEW_EVENTS = 20
CHANNELS, TICKS = 64, 2000
EVENT_BYTES = CHANNELS * TICKS * 2
PATIENCE = 60  # seconds
SILENT_CLIENTS = 300
TOKEN = "a-token-of-the-test-0123456789"
SAMPLE = re.compile(r'^(\w+)(?:\{node="([^"]*)",type="([^"]*)"\})? (\d+(?:\.\d+)?)$')


def ask(connection: http.client.HTTPConnection, method: str, target: str, **headers: str) -> tuple[int, str]:
    """Return status and text of one request."""
    connection.request(method, target, headers=headers)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.01)


def write_events(path: Path, count: int) -> Path:
    """Write small events."""
    arrays: wire_cell.Arrays = {}
    samples = np.zeros((CHANNELS, TICKS), np.int16)
    for ident in range(count):
        arrays |= wire_cell.event(samples, np.arange(CHANNELS), ident)
    return wire_cell.write_arrays(path, arrays)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write many events, for requests while they are processed."""
    return write_events(tmp_path_factory.mktemp("source") / "adc.tar", EVENTS)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write few events, for requests at any time: the job waits at its end."""
    return write_events(tmp_path_factory.mktemp("short") / "adc.tar", FEW_EVENTS)


@contextmanager
def running(folder: Path, source: Path, *flags: str, **variables: str) -> Iterator[subprocess.Popen]:
    """Start a job that waits at its end until timing.json, a pipe, is read."""
    os.mkfifo(folder / "timing.json")
    command = [
        wire_cell.PROGRAM,
        "-c",
        COPY,
        *wire_cell.settings(f"input={source}", "output=out.tar"),
        "--timing",
        "timing.json",
        *flags,
    ]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("SPNG_", "NVTX_"))
    } | variables
    job = subprocess.Popen(
        list(map(str, command)),
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        yield job
    finally:
        job.kill()
        job.communicate()


def finish(job: subprocess.Popen, folder: Path) -> tuple[dict, str]:
    """Let the job end; return its timing report and its messages."""
    timing = json.loads((folder / "timing.json").read_text(encoding="utf-8"))
    said = job.communicate(timeout=PATIENCE)[1]
    assert job.returncode == 0, said
    return timing, said


def processor_time(process: int) -> float:
    """Return the seconds of user and system time of a process."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def samples(text: str) -> dict[tuple[str, str], str]:
    """Return (metric, node) -> value from Prometheus's text format; check that each metric is described
    before its samples.
    """
    found, described = {}, set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            name, kind = line.split()[2:]
            assert kind == ("counter" if name.endswith("_total") else "gauge")
            described.add(name)
        elif not line.startswith("# HELP "):
            match = SAMPLE.match(line)
            assert match and match[1] in described, line
            found[match[1], match[2] or ""] = match[4]
    return found


def calls(text: str) -> int:
    """Return the calls of all nodes."""
    return sum(int(value) for (name, _), value in samples(text).items() if name == "spng_node_calls_total")


def check_whole_events(file: Recorded, least: int) -> None:
    """Events that SPNG_EVENT calls whole have a call of every node and follow each other: only a switch cuts events.
    Any number of events can be processed during a switch.
    """
    whole = [event for (event,) in file.sql("SELECT event FROM SPNG_EVENT WHERE whole ORDER BY event")]
    complete = {
        event
        for (event,) in file.sql(
            "SELECT event FROM SPNG_CALL GROUP BY event "
            "HAVING COUNT(DISTINCT node) = (SELECT COUNT(*) FROM SPNG_NODE)"
        )
    }
    assert len(whole) >= least and complete.issuperset(whole)
    assert whole == list(range(whole[0], whole[-1] + 1))


@recorded.needs_recorder
class TestWindow:
    def test_over_a_socket(self, source: Path, tmp_path: Path) -> None:
        """The capture window is closed at the start; only calls between start and stop are recorded;
        malformed requests change nothing.
        """
        path = tmp_path / "job.sock"
        with running(tmp_path, source, "--record", "run.sqlite", "--profile-control", f"unix:{path}") as job:
            until(path.exists)
            assert stat.S_IMODE(path.stat().st_mode) == 0o600

            def request(method: str, target: str) -> tuple[int, str]:
                return ask(UnixConnection(path), method, target)

            def wait_for(more: int) -> None:
                goal = calls(request("GET", "/timings")[1]) + more
                until(lambda: calls(request("GET", "/timings")[1]) >= goal)

            assert request("GET", "/health") == (200, "ok\n")
            wait_for(100)
            assert request("POST", "/stop_profile") == (200, "was not recording\n")
            assert request("POST", "/start_profile") == (200, "recording\n")
            assert samples(request("GET", "/timings")[1])["spng_recording", ""] == "1"
            wait_for(200)
            self.send_rubbish(path)
            assert request("POST", "/stop_profile") == (200, "not recording\n")
            wait_for(100)
            assert [
                request("GET", "/start_profile")[0],
                request("POST", "/timings")[0],
                request("GET", "/x")[0],
            ] == [405, 405, 404]
            timing, _ = finish(job, tmp_path)
        assert not path.exists()
        events = sorted(
            {event for (event,) in Recorded(tmp_path / "run.sqlite").sql("SELECT event FROM SPNG_CALL")}
        )
        assert events[0] > 0 and events[-1] < EVENTS - 1
        assert events == list(range(events[0], events[-1] + 1))
        # The capture window was open for 200 calls, two per event; each of the two requests cuts one event.
        check_whole_events(Recorded(tmp_path / "run.sqlite"), least=98)
        phases = [
            each for each in Recorded(tmp_path / "run.sqlite").ranges() if each.name.startswith("prepare ")
        ]
        assert not phases, "the start-up, before the first request"
        assert timing["run"]["events"] == EVENTS

    @staticmethod
    def send_rubbish(path: Path) -> None:
        """Send text that is not HTTP, an endless header, an endless body, and nothing at all."""
        for sent, status in (
            (b"\x00\x01rubbish\r\n\r\n", b"400"),
            (b"GET / HTTP/1.1\r\nx: " + b"y" * 20000, b"431"),
            (b"POST /start_profile HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", b"413"),
            (b"GET", b""),
        ):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
                client.connect(str(path))
                client.sendall(sent)
                if status:
                    client.settimeout(PATIENCE)
                    assert client.recv(100).split()[1] == status

    def test_by_signal(self, source: Path, tmp_path: Path) -> None:
        """The capture window is open at the start, and SIGUSR2 closes it."""
        with running(tmp_path, source, "--record", "run.sqlite") as job:
            until(lambda: sum(path.stat().st_size for path in tmp_path.glob("*out.tar*")) > 50 * EVENT_BYTES)
            job.send_signal(signal.SIGUSR2)
            assert job.stderr.readline() == "wire-cell: SIGUSR2: recording is paused\n"
            finish(job, tmp_path)
        events = [
            event
            for (event,) in Recorded(tmp_path / "run.sqlite").sql(
                "SELECT DISTINCT event FROM SPNG_CALL ORDER BY event"
            )
        ]
        assert events[0] == 0 and events[-1] < EVENTS - 1
        # The output had the bytes of 50 events before the signal; headers and the cut event are less than two.
        check_whole_events(Recorded(tmp_path / "run.sqlite"), least=48)

    def test_events_and_control(self, short: Path, tmp_path: Path) -> None:
        """With --profile-events the control cannot open the capture window."""
        path = tmp_path / "job.sock"
        with running(
            tmp_path,
            short,
            "--record",
            "run.sqlite",
            "--profile-events",
            "3",
            "--profile-control",
            f"unix:{path}",
        ) as job:
            until(path.exists)
            assert ask(UnixConnection(path), "POST", "/start_profile")[0] == 409
            finish(job, tmp_path)
        assert Recorded(tmp_path / "run.sqlite").sql("SELECT DISTINCT event FROM SPNG_CALL") == [(3,)]


class TestTimings:
    def test_equal_the_report(self, short: Path, tmp_path: Path) -> None:
        """The values equal those of the report to the nanosecond at the end of the run, also without
        --record.
        """
        path = tmp_path / "job.sock"
        with running(tmp_path, short, "--profile-control", f"unix:{path}") as job:
            until(path.exists)
            assert ask(UnixConnection(path), "POST", "/start_profile") == (
                409,
                "this job was started without --record\n",
            )

            def read() -> dict[tuple[str, str], str]:
                return samples(ask(UnixConnection(path), "GET", "/timings")[1])

            until(lambda: read().get(("spng_node_calls_total", "FrameFileSink:out")) == str(FEW_EVENTS))
            time.sleep(0.5)  # the end of the stream
            now = read()
            timing, _ = finish(job, tmp_path)
        assert len(timing["nodes"]) >= 2
        for node in timing["nodes"]:
            for metric, key in (
                ("calls", "calls"),
                ("failed_calls", "failed"),
                ("operations", "leaf_operations"),
                ("in_bytes", "in_bytes"),
                ("out_bytes", "out_bytes"),
            ):
                assert int(now[f"spng_node_{metric}_total", node["name"]]) == node[key]
            for metric in ("wall", "cpu"):
                whole, fraction = now[f"spng_node_{metric}_seconds_total", node["name"]].split(".")
                assert int(whole + fraction) == node[f"{metric}_ns"]
            assert int(now["spng_node_host_peak_bytes", node["name"]]) == node["cpu_peak_bytes"]
            assert ("spng_node_device_seconds_total", node["name"]) not in now  # on the CPU


class TestCrowd:
    def test_silent_clients_do_not_keep_others_out(self, short: Path, tmp_path: Path) -> None:
        """Waiting for each silent client to reach its time limit of 5 s would exceed the client's timeout."""
        path = tmp_path / "job.sock"
        with (
            running(tmp_path, short, "--profile-control", f"unix:{path}") as job,
            ExitStack() as silent,
        ):
            until(path.exists)
            for _ in range(SILENT_CLIENTS):
                client = silent.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
                client.settimeout(PATIENCE)
                client.connect(str(path))
            assert ask(UnixConnection(path), "GET", "/health") == (200, "ok\n")
            finish(job, tmp_path)

    def test_a_connection_waits_for_a_file_descriptor(self, short: Path, tmp_path: Path) -> None:
        """Without free descriptors the server pauses instead of spinning."""
        path = tmp_path / "job.sock"
        with running(tmp_path, short, "--profile-control", f"unix:{path}") as job:
            until((tmp_path / "out.tar").exists)
            open_files = max(map(int, os.listdir(f"/proc/{job.pid}/fd"))) + 1
            limits = resource.prlimit(job.pid, resource.RLIMIT_NOFILE)
            resource.prlimit(job.pid, resource.RLIMIT_NOFILE, (open_files, limits[1]))
            connection = UnixConnection(path)
            connection.request("GET", "/health")
            before = processor_time(job.pid)
            time.sleep(1)
            assert processor_time(job.pid) - before < 0.3
            resource.prlimit(job.pid, resource.RLIMIT_NOFILE, limits)
            assert connection.getresponse().read() == b"ok\n"
            connection.close()
            finish(job, tmp_path)


class TestTcp:
    def test_token(self, short: Path, tmp_path: Path) -> None:
        """A request without the right token gets 401, and the server listens on 127.0.0.1 only."""
        with running(tmp_path, short, "--profile-control", "tcp:0", SPNG_PROFILE_TOKEN=TOKEN) as job:
            said = job.stderr.readline()
            port = int(re.fullmatch(r"wire-cell: listening at http://127\.0\.0\.1:(\d+)\n", said)[1])

            def request(**headers: str) -> int:
                return ask(
                    http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE),
                    "GET",
                    "/health",
                    **headers,
                )[0]

            assert request() == 401
            assert request(Authorization="Bearer wrong") == 401
            assert request(Authorization=f"Bearer {TOKEN}x") == 401
            assert request(Authorization=TOKEN) == 401
            assert request(Authorization=f"Bearer {TOKEN}") == 200
            table = (
                Path("/proc/net/tcp").read_text(encoding="ascii") if Path("/proc/net/tcp").exists() else ""
            )
            bound = {
                line.split()[1].split(":")[0]
                for line in table.splitlines()[1:]
                if line.split()[3] == "0A" and int(line.split()[1].split(":")[1], 16) == port
            }
            assert bound in ({"0100007F"}, set())
            with pytest.raises(OSError):  # another address of this machine
                socket.create_connection(("127.0.0.2", port), timeout=5)
            finish(job, tmp_path)


class TestRefused:
    @pytest.mark.parametrize(
        "where, variables, said",
        [
            ("tcp:0", {}, "SPNG_PROFILE_TOKEN"),
            ("tcp:0", {"SPNG_PROFILE_TOKEN": "short"}, "less than 16"),
            ("tcp:x", {"SPNG_PROFILE_TOKEN": TOKEN}, "'tcp:x'"),
            ("tcp:70000", {"SPNG_PROFILE_TOKEN": TOKEN}, "'tcp:70000'"),
            ("unix:", {}, "'unix:'"),
            ("unix:" + "x" * 108, {}, "107"),
            ("here", {}, "'here'"),
            ("unix:/absent/job.sock", {}, "--profile-control"),
        ],
    )
    def test_address(
        self,
        source: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        where: str,
        variables: dict[str, str],
        said: str,
    ) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        block = wire_cell.rejected(
            "-c",
            COPY,
            *wire_cell.settings(f"input={source}", "output=out.tar"),
            "--profile-control",
            where,
            folder=tmp_path,
            status=2,
        )
        assert said in block

    def test_a_file_is_not_replaced_but_a_dead_socket_is(self, short: Path, tmp_path: Path) -> None:
        path = tmp_path / "job.sock"
        path.write_text("mine", encoding="utf-8")
        wire_cell.rejected(
            "-c",
            COPY,
            *wire_cell.settings(f"input={short}", "output=out.tar"),
            "--profile-control",
            f"unix:{path}",
            folder=tmp_path,
            status=2,
        )
        assert path.read_text(encoding="utf-8") == "mine"
        path.unlink()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
            dead.bind(str(path))
        with running(tmp_path, short, "--profile-control", f"unix:{path}") as job:
            until(lambda: job.poll() is not None or "listening" in job.stderr.readline())
            assert ask(UnixConnection(path), "GET", "/health")[0] == 200
            finish(job, tmp_path)
