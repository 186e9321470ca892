# SPDX-License-Identifier: Apache-2.0
"""DNNROI with its network on a server: the answer is that of a network in the process."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from tests.serve import reference_server
from tests.serve.conftest import Frame, needs_grpc, words_of
from tests.serve.reference_server import Forward
from tests.serve.serving import Server
from tests.support import wire_cell
from tests.support.small_site import Site

pytestmark = wire_cell.needs_program

TAGS = "signal,wiener,roi"


def run(site: Site, *flags: str, output: str = "remote.npz", **arguments: str) -> tuple[int, str]:
    """Run the job of the fixture `frame`; return status and stderr."""
    words = words_of(site, tags=TAGS, input="adc.npz", output=output, **arguments)
    done = wire_cell.run(*words, *flags, folder=site.folder)
    return done.returncode, done.stderr


def assert_equal_files(site: Site, notes: bool) -> None:
    """The job with the server wrote the arrays of the job without one."""
    local = wire_cell.read_arrays(site.folder / "signal.npz")
    remote = wire_cell.read_arrays(site.folder / "remote.npz")
    assert local.keys() == remote.keys()
    for name, array in local.items():
        if notes or "notes" not in name:
            assert array.tobytes() == remote[name].tobytes(), name
    (site.folder / "remote.npz").unlink()


def zeros(features: np.ndarray) -> np.ndarray:
    return np.zeros_like(features[:, :1])


@pytest.fixture(name="forward", scope="module")
def fixture_forward() -> Forward:
    return reference_server.forward_of(wire_cell.DATA / "dnnroi-standin.ts")


@pytest.mark.usefixtures("frame")
@pytest.mark.parametrize("transport", [0, 1, pytest.param(2, marks=needs_grpc)], ids=["unix", "tcp", "grpc"])
def test_a_network_on_our_server_gives_the_local_answer(site: Site, server: Server, transport: int) -> None:
    status, messages = run(site, model_server=server.addresses[transport])
    assert status == 0, messages
    assert_equal_files(site, notes=True)


@pytest.mark.usefixtures("frame")
def test_a_network_on_another_server_gives_the_local_answer(site: Site, forward: Forward) -> None:
    """The metadata are those of the local file, and the notes tell that the checksum is not known."""
    with reference_server.reference_server(forward) as other:
        status, messages = run(site, model_server=f"http://{other.address}", remote_model="net")
    assert status == 0, messages
    assert other.requests > 1
    assert_equal_files(site, notes=False)


@pytest.mark.usefixtures("frame")
def test_a_busy_server_is_asked_again(site: Site, forward: Forward) -> None:
    def fault(index: int) -> tuple[int, bytes, dict[str, str]] | None:
        return (503, b'{"error": "busy"}', {}) if index in (0, 2) else None

    with reference_server.reference_server(forward, fault) as other:
        status, messages = run(site, model_server=other.address, remote_model="net")
    assert status == 0, messages
    assert_equal_files(site, notes=False)


@pytest.mark.usefixtures("frame")
def test_an_input_that_is_too_large_is_divided(site: Site, forward: Forward) -> None:
    """One forward before the first event tries the network; then 413 once."""

    def fault(index: int) -> tuple[int, bytes, dict[str, str]] | None:
        return (413, b'{"error": "too large"}', {}) if index == 1 else None

    with reference_server.reference_server(forward, fault) as other:
        status, messages = run(site, model_server=other.address, remote_model="net")
    assert status == 0, messages
    assert "ticks per forward" in messages
    (site.folder / "remote.npz").unlink()


def rejected(site: Site, *flags: str, **arguments: str) -> str:
    """Run a job that fails at its start with one block."""
    status, messages = run(site, *flags, **arguments)
    assert status == 1, messages
    assert messages.count("error: ") == 1, messages
    assert not (site.folder / "remote.npz").exists()
    return messages


def test_a_server_that_cannot_be_reached(site: Site, frame: Frame, tmp_path: Path) -> None:
    del frame
    block = rejected(site, model_server=f"unix:{tmp_path}/none.sock")
    assert "the model server cannot be reached" in block
    assert f"unix:{tmp_path}/none.sock, model dnnroi-standin" in block
    assert "after 6 tries" in block and "hint:" in block


@pytest.mark.usefixtures("frame")
def test_models_that_do_not_fit(site: Site, server: Server) -> None:
    block = rejected(site, model_server=server.address, remote_model="other")
    assert "the model server has no such model" in block and "the key remote_model" in block
    block = rejected(site, model_server=server.address, remote_model="chain")
    assert "the model of the server is no network for DNNROI" in block


@pytest.mark.usefixtures("frame")
@pytest.mark.parametrize("kind", ["inputs", "outputs"])
def test_a_model_without_declared_tensors(site: Site, kind: str) -> None:
    """As MLServer has it for a model whose settings name none."""
    with reference_server.reference_server(zeros, **{kind: []}) as other:
        block = rejected(site, model_server=other.address, remote_model="net")
    assert "does not tell what its model takes and returns" in block and f"no {kind}" in block
    assert "model-settings.json" in block


@pytest.mark.usefixtures("frame")
def test_another_network_than_the_local_file(site: Site) -> None:
    with reference_server.reference_server(zeros, properties={"sha256": "0" * 64}) as other:
        block = rejected(site, model_server=other.address, remote_model="net")
    assert "another network than the file of this job" in block


@pytest.mark.usefixtures("frame")
@pytest.mark.parametrize(
    "fault, words",
    [
        ((500, b'{"error": "out of order"}', {}), "HTTP status 500: out of order"),
        ((200, b"no JSON", {"Content-Type": "application/json"}), "this is not a message"),
        (reference_server.response(np.zeros((1, 1, 2, 2))), "not one value per channel and tick"),
        (reference_server.response(np.zeros((1, 1, 2, 2)), shape=[1, 1, 2, 3]), "bytes of its shape"),
        (reference_server.response(np.zeros((1, 1, 2, 2)), name="x"), "does not return the output"),
    ],
)
def test_servers_with_faults(site: Site, fault: tuple[int, bytes, dict[str, str]], words: str) -> None:
    with reference_server.reference_server(zeros, lambda _: fault) as other:
        block = rejected(site, model_server=other.address, remote_model="net")
    assert words in block, block


@pytest.mark.usefixtures("frame")
def test_a_server_without_an_answer(site: Site) -> None:
    ended = threading.Event()

    def fault(_: int) -> None:
        ended.wait()

    with reference_server.reference_server(zeros, fault) as other:
        block = rejected(site, model_server=other.address, remote_model="net", network_timeout="1")
        ended.set()
    assert "the model server does not respond" in block


@pytest.mark.usefixtures("frame")
def test_the_time_of_a_description_is_not_that_of_a_request(site: Site) -> None:
    with reference_server.reference_server(zeros, description=(504, b"{}", {})) as other:
        block = rejected(site, model_server=other.address, remote_model="net", network_timeout="0")
    assert "a response within 30 s" in block and "network_timeout" not in block


def test_a_failure_fails_the_event_and_not_the_job(site: Site, forward: Forward, frame: Frame) -> None:
    """Of three events the last one has no result."""
    arrays: wire_cell.Arrays = {}
    for ident in range(3):
        arrays |= wire_cell.event(frame.adc, frame.channels, ident)
    wire_cell.write_arrays(site.folder / "three.npz", arrays)
    given = {"remote_model": "net", "input": "three.npz", "output": "three-out.npz"}
    fails_at = -1
    for _ in range(2):  # the first job tells how many requests it makes

        def fault(index: int, wrong: int = fails_at) -> tuple[int, bytes, dict[str, str]] | None:
            return (500, b'{"error": "out of order"}', {}) if index == wrong else None

        with reference_server.reference_server(forward, fault) as other:
            words = words_of(site, model_server=other.address, **given)
            done = wire_cell.run(*words, "--on-error", "skip", folder=site.folder)
        assert done.returncode == 0, done.stderr
        fails_at = other.requests - 1
    assert "1 events skipped, 2 completed" in done.stderr
    assert "the network failed on the model server" in done.stderr


@pytest.mark.usefixtures("frame")
def test_restricted_networks_are_not_on_servers(site: Site, server: Server) -> None:
    block = rejected(site, "--only-shipped-models", model_server=server.address)
    assert "a network on a model server is not in the list of accepted ones" in block


@pytest.mark.usefixtures("frame")
def test_a_wrong_address(site: Site) -> None:
    status, messages = run(site, model_server="https://127.0.0.1:1")
    assert status == 2, messages
    assert "the address of the server cannot be used" in messages
