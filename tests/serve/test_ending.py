# SPDX-License-Identifier: Apache-2.0
"""Limits, signals and sockets of a server. Its network is on a server of the test, which holds requests
for as long as a test needs: no test depends on times.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.serve import grpc_calls, protocol, reference_server, serving
from tests.serve.conftest import GRPC, Frame, needs_grpc, words_of
from tests.serve.protocol import Reply
from tests.serve.serving import Server
from tests.support import wire_cell
from tests.support.small_site import Site

pytestmark = wire_cell.needs_program


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + serving.SECONDS
    while not condition():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.01)


@dataclass
class Held:
    """A server whose frames wait in the network until `release` is called."""

    server: Server
    frame: Frame
    threads: ThreadPoolExecutor
    is_held: threading.Event
    may_go: threading.Event

    def send(self) -> Future[Reply]:
        """Send a frame from a thread."""
        return self.threads.submit(
            protocol.infer, self.server.address, "chain", self.frame.inputs(), ["signal"]
        )

    def send_and_hold(self) -> Future[Reply]:
        """Send a frame and wait until its network is asked."""
        reply = self.send()
        until(self.is_held.is_set)
        return reply

    def release(self) -> None:
        self.may_go.set()


Make = Callable[..., Held]


@pytest.fixture(name="held")
def fixture_held(site: Site, frame: Frame, tmp_path: Path) -> Iterator[Make]:
    is_held, may_go, holds = threading.Event(), threading.Event(), threading.Event()

    def fault(_: int) -> None:
        if holds.is_set():
            is_held.set()
            may_go.wait()

    def zeros(features: np.ndarray) -> np.ndarray:
        return np.zeros_like(features[:, :1])

    with ExitStack() as stack:
        stack.callback(may_go.set)
        network = stack.enter_context(reference_server.reference_server(zeros, fault))
        threads = stack.enter_context(ThreadPoolExecutor(8))

        def make(*flags: str, more: tuple[str, ...] = ()) -> Held:
            words = words_of(site, model_server=network.address, remote_model="net")
            unix = f"unix:{tmp_path}/s.sock"
            server = stack.enter_context(
                serving.serving(
                    *words, "--serve-name", "chain", *flags, addresses=[unix, *more], folder=site.folder
                )
            )
            holds.set()
            return Held(server, frame, threads, is_held, may_go)

        stack.callback(may_go.set)
        yield make
        may_go.set()


def test_sigterm_finishes_the_requests(held: Make) -> None:
    each = held()
    first = each.send_and_hold()
    each.server.process.send_signal(signal.SIGTERM)
    until(lambda: protocol.ask(each.server.address, "GET", "/v2/health/ready").status == 400)
    assert protocol.ask(each.server.address, "GET", "/v2/health/live").status == 200
    late = each.send().result()
    assert late.status == 503 and "the server ends" in late.error
    assert each.server.process.poll() is None
    each.release()
    assert first.result().status == 200
    _, messages = each.server.process.communicate(timeout=serving.SECONDS)
    assert each.server.process.returncode == 0, messages
    assert "SIGTERM, finishing 1 requests" in messages
    assert not os.path.lexists(each.server.address.removeprefix("unix:"))


@needs_grpc
@grpc_calls.needs_curl
def test_health_over_grpc_tells_the_end(held: Make, tmp_path: Path) -> None:
    """While requests are finished: SERVING is 1, NOT_SERVING is 2."""
    each = held(more=("grpc://127.0.0.1:0",))

    def state() -> bytes:
        address = each.server.addresses[1]
        return grpc_calls.call(address, "grpc.health.v1.Health/Check", b"", tmp_path).content

    first = each.send_and_hold()
    assert state() == grpc_calls.message((1, 1))
    each.server.process.send_signal(signal.SIGTERM)
    until(lambda: state() == grpc_calls.message((1, 2)))
    each.release()
    assert first.result().status == 200
    each.server.process.communicate(timeout=serving.SECONDS)
    assert each.server.process.returncode == 0


def test_a_second_signal_ends_it_at_once(held: Make) -> None:
    each = held()
    first = each.send_and_hold()
    each.server.process.send_signal(signal.SIGINT)
    until(lambda: protocol.ask(each.server.address, "GET", "/v2/health/ready").status == 400)
    time.sleep(0.4)  # two signals at the same time are one
    each.server.process.send_signal(signal.SIGINT)
    each.server.process.communicate(timeout=serving.SECONDS)
    assert each.server.process.returncode == 128 + signal.SIGINT
    assert first.exception() is not None


def test_a_full_queue_rejects(held: Make) -> None:
    """One frame runs, one waits in the queue, and one may be read ahead."""
    each = held("--serve-queue", "1")
    replies = [each.send_and_hold()] + [each.send() for _ in range(5)]
    until(lambda: any(reply.done() for reply in replies))
    each.release()
    statuses = [reply.result().status for reply in replies]
    assert statuses[0] == 200 and 503 in statuses and set(statuses) == {200, 503}
    rejected = next(reply.result() for reply in replies if reply.result().status == 503)
    assert "the queue of the server is full" in rejected.error
    assert rejected.headers["Retry-After"] == "1"


def test_frames_that_wait_keep_their_part_of_the_memory(held: Make, frame: Frame) -> None:
    """Also if the body was JSON, which is not needed any more."""
    body, headers = protocol.encode(frame.inputs(), ["signal"], binary=False)
    each = held("--serve-max-bytes", str(len(body)))

    def send() -> Future[Reply]:
        target = "/v2/models/chain/infer"
        return each.threads.submit(protocol.ask, each.server.address, "POST", target, body, headers)

    def metrics() -> str:
        return protocol.ask(each.server.address, "GET", "/metrics").json

    replies = [send(), send()]
    until(lambda: "spng_requests_in_flight 2\n" in metrics())
    rejected = send().result()
    assert rejected.status == 503 and "no memory for a request" in rejected.error
    each.release()
    assert [reply.result().status for reply in replies] == [200, 200]


def test_a_request_has_a_time_limit(held: Make) -> None:
    each = held("--serve-timeout", "0.5")
    late = each.send_and_hold().result()
    assert late.status == 504 and "the request has no result in time" in late.error
    each.release()
    until(lambda: each.send().result().status == 200)


def test_slow_and_silent_clients_are_disconnected(held: Make) -> None:
    each = held("--serve-idle-timeout", "0.3")
    each.release()
    target = b"POST /v2/models/chain/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"
    for text in (b"", target[:20], target, target + b'{"inputs":'):
        opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        opened.settimeout(protocol.TIMEOUT)
        opened.connect(each.server.address.removeprefix("unix:"))
        opened.sendall(text)
        assert opened.recv(1) == b""
        opened.close()
    assert each.send().result().status == 200


def test_connections_beyond_the_limit_are_told_so(held: Make) -> None:
    each = held("--serve-max-connections", "2")
    each.release()
    opened = [protocol.connection(each.server.address) for _ in range(2)]
    for connection in opened:
        connection.request("GET", "/v2")
        assert connection.getresponse().read()
    reply = protocol.ask(each.server.address, "GET", "/v2/health/live")
    assert reply.status == 503 and "the server is busy" in reply.error
    for connection in opened:
        connection.close()
    until(lambda: protocol.ask(each.server.address, "GET", "/v2/health/live").status == 200)


def words(site: Site) -> list[str]:
    return words_of(site, model="none")


def error_of(site: Site, *flags: str) -> str:
    """Return the block of a server that does not start."""
    done = wire_cell.run(*words(site), *flags, folder=site.folder)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("error: ") == 1, done.stderr
    return done.stderr


def test_sockets_of_killed_servers_are_replaced(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    with serving.serving(*words(site), addresses=[f"unix:{path}"], folder=site.folder) as server:
        assert "another process that listens" in error_of(site, "--serve", f"unix:{path}")
        server.process.kill()
        server.process.communicate(timeout=serving.SECONDS)
    assert path.is_socket()
    with serving.serving(*words(site), addresses=[f"unix:{path}"], folder=site.folder) as server:
        assert protocol.ask(f"unix:{path}", "GET", "/v2/health/ready").json == {"ready": True}
        status, messages = server.end(signal.SIGINT)
    assert status == 0, messages
    assert not path.exists()


def test_other_files_are_left_alone(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    assert "a file that is no socket" in error_of(site, "--serve", f"unix:{path}")
    assert path.read_text() == "mine"
    assert "cannot open its address" in error_of(site, "--serve", f"unix:{tmp_path}/none/s.sock")


def test_a_port_in_use_is_named(site: Site) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        assert "already in use" in error_of(site, "--serve", address).lower()


def test_other_machines_can_connect_only_if_told(site: Site) -> None:
    with serving.serving(
        *words(site), addresses=[":0", "localhost:0", "0.0.0.0:0"], folder=site.folder
    ) as server:
        hosts = [address.rsplit(":", 1)[0] for address in server.addresses]
        assert hosts == ["http://127.0.0.1", "http://localhost", "http://0.0.0.0"]
        status, messages = server.end()
    assert status == 0
    assert messages.count("can be reached from other machines") == 1
    assert "docs/security.md" in messages


def test_options_that_have_no_meaning(site: Site, tmp_path: Path) -> None:
    unix = ["--serve", f"unix:{tmp_path}/s.sock"]
    assert "a server has no input and output files" in error_of(site, *unix, "-A", "output=x.npz")
    assert "no meaning for a server" in error_of(site, *unix, "--record", "x.sqlite")
    assert "more than one action" in error_of(site, *unix, "--list")
    assert wire_cell.run(*words(site), *unix, "--check", folder=site.folder).returncode == 0
    for option, value in (("queue", "0"), ("timeout", "nan"), ("name", "a/b")):
        assert f"--serve-{option}" in error_of(site, *unix, f"--serve-{option}", value)
    assert "--serve-queue" in error_of(site, "--serve-queue", "3")
    assert "cannot be used" in error_of(site, "--serve", "here")


@needs_grpc
def test_grpc_over_a_unix_socket_is_private(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "g.sock"
    address = f"grpc://unix:{path}"
    with serving.serving(*words(site), addresses=[address], folder=site.folder) as server:
        assert server.addresses == [address]
        assert path.stat().st_mode & 0o777 == 0o600
        status, messages = server.end()
    assert status == 0, messages
    assert not path.exists()


@pytest.mark.skipif(GRPC.exists(), reason="built with gRPC")
def test_without_grpc_the_error_names_the_way_to_it(site: Site) -> None:
    assert "./wcb setup" in error_of(site, "--serve", "grpc://127.0.0.1:0")


def test_the_timing_of_a_server_is_written(site: Site, frame: Frame, tmp_path: Path) -> None:
    unix = f"unix:{tmp_path}/s.sock"
    file = tmp_path / "timing.json"
    given = [*words(site), "--timing", str(file), "--serve-name", "chain"]
    with serving.serving(*given, addresses=[unix], folder=site.folder) as server:
        assert protocol.infer(unix, "chain", frame.inputs()).status == 200
        assert server.end()[0] == 0
    assert json.loads(file.read_text())["run"]["events"] == 1
