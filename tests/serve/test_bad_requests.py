# SPDX-License-Identifier: Apache-2.0
"""Bad requests end with the error block of files, and the server lives on."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.serve import protocol
from tests.serve.conftest import Frame
from tests.serve.serving import Server
from tests.support import wire_cell
from tests.support.small_site import Site

pytestmark = wire_cell.needs_program


@pytest.fixture(autouse=True)
def fixture_lives_on(server: Server, frame: Frame) -> Iterator[None]:
    """After each test the server processes a good frame."""
    yield
    reply = protocol.infer(server.address, "chain", frame.inputs(), ["signal"])
    assert reply.status == 200
    assert reply.arrays()["signal"].tobytes() == frame.result["frame_signal_0"].tobytes()
    assert server.process.poll() is None


def assert_block(text: str, what: str) -> None:
    """One block of an error of this program."""
    assert text.startswith("error: "), text
    assert what in text, text
    labels = re.findall(r"^  (where|seen|expected|hint): ", text, re.MULTILINE)
    assert {"where", "seen", "expected"} <= set(labels) and len(labels) == len(set(labels)), text


def wrong_inputs(frame: Frame) -> dict[str, tuple[dict[str, np.ndarray], dict[str, Any], str]]:
    adc, channels = frame.adc, frame.channels
    repeated = channels.copy()
    repeated[1] = repeated[0]
    foreign = channels.copy()
    foreign[0] = 999_999
    good = {"adc": adc, "channels": channels}
    return {
        "dtype": ({"adc": adc.astype("i1")}, {}, "samples of this type are not accepted"),
        "no frame": ({"channels": channels}, {}, "the request has no frame"),
        "one axis": ({"adc": adc[0]}, {}, "the samples do not have two axes"),
        "batch": ({"adc": adc[None]}, {}, "the samples do not have two axes"),
        "no ticks": ({"adc": adc[:, :0]}, {}, "the shape of the samples is impossible"),
        "other input": ({"adc": adc, "acd": adc}, {}, "the chain has no such input"),
        "too few channels": ({"adc": adc[:10]}, {}, "another count of channels"),
        "ids do not fit": ({"adc": adc, "channels": channels[1:]}, {}, "channel ids and samples do not fit"),
        "type of ids": (
            {"adc": adc, "channels": channels.astype("<i8")},
            {},
            "channel ids and samples do not fit",
        ),
        "repeated": ({"adc": adc, "channels": repeated}, {}, "a channel is repeated"),
        "foreign": ({"adc": adc, "channels": foreign}, {}, "channel"),
        "beyond float": (
            {"adc": np.full(adc.shape, 2**62 + 1, "<i8"), "channels": channels},
            {},
            "",
        ),
        "parameter": (good, {"idnet": 3}, "the chain has no such parameter"),
        "ident": (good, {"ident": 1.5}, "a parameter is not an integer"),
        "large ident": (good, {"ident": 2**40}, "a parameter is not an integer"),
        "tick": (good, {"tick_ns": "fast"}, "a parameter is not a number"),
        "negative tick": (good, {"tick_ns": -1}, "the times of the frame are impossible"),
        "no tick": (good, {"tick_ns": 0}, "the times of the frame are impossible"),
        "boolean": (good, {"ident": True}, "a parameter is not a number"),
        "huge start": (good, {"start_ns": "1e999"}, "a parameter is not a number"),
        "first tick": (good, {"first_tick": 2**63}, "a parameter is not an integer"),
        "timeout": (good, {"timeout": "soon"}, "the time limit of a request"),
        "binary": (good, {"binary_data_output": 1}, "a parameter is not true or false"),
        "masks": (good, {"masks": "{"}, "the parameter masks is not understood"),
        "ranges": (good, {"masks": {"bad": [[1, 2]]}}, "the parameter masks is not understood"),
        "backward": (good, {"masks": {"bad": [[int(channels[0]), 9, 3]]}}, "a channel mask ends before"),
    }


NAMES = (
    "dtype;no frame;one axis;batch;no ticks;other input;too few channels;ids do not fit;type of ids;repeated;"
    "foreign;beyond float;parameter;ident;large ident;tick;negative tick;no tick;boolean;huge start;first tick;"
    "timeout;binary;masks;ranges;backward"
).split(";")


@pytest.mark.parametrize("name", NAMES)
def test_wrong_tensors_are_rejected(server: Server, frame: Frame, name: str) -> None:
    inputs, parameters, what = wrong_inputs(frame)[name]
    reply = protocol.infer(server.address, "chain", inputs, **parameters)
    assert reply.status == 400, reply.json
    assert_block(reply.error, what)


@pytest.mark.parametrize(
    "value", [2**31, 2**32, 2**62, 2**63, 2**64 - 1, 2**64, -(2**63), 1.0, 1.5, True, "1"]
)
@pytest.mark.parametrize("as_text", [False, True], ids=["json", "text"])
def test_masks_hold_integers_of_32_bits(server: Server, frame: Frame, value: Any, as_text: bool) -> None:
    """As an object, and as the text that gRPC has; 2^64 - 1 would be -1 in 64 bits."""
    channel = int(frame.channels[0])
    for row in ([value, 0, 9], [channel, value, 2**31 - 1], [channel, 0, value]):
        masks = {"bad": [row]}
        given = json.dumps(masks) if as_text else masks
        reply = protocol.infer(server.address, "chain", frame.inputs(), masks=given)
        assert reply.status == 400, (row, reply.json)
        assert_block(reply.error, "mask")


@pytest.mark.parametrize(
    "where, given, seen",
    [
        ("input", {"shared_memory_region": "r", "shared_memory_byte_size": 9}, "shared_memory"),
        ("input", {"binary_data_sizes": 3}, "binary_data_sizes"),
        ("output", {"shared_memory_region": "r", "shared_memory_byte_size": 9}, "shared_memory"),
        ("output", {"classification": 3}, "classification"),
        ("output", {"binary_data": "yes"}, "binary_data"),
        ("request", {"idnet": 3}, "idnet"),
    ],
)
@pytest.mark.parametrize("model", ["chain", "dnnroi-standin"])
def test_unknown_parameters_are_rejected(
    server: Server, model: str, where: str, given: dict[str, Any], seen: str
) -> None:
    """Clients would take the response for what they asked."""
    name, shape = ("adc", [1, 1]) if model == "chain" else ("features", [1, 3, 1, 1])
    out = "signal" if model == "chain" else "probability"
    request: dict[str, Any] = {
        "inputs": [{"name": name, "datatype": "FP32", "shape": shape, "data": [0] * int(np.prod(shape))}],
        "outputs": [{"name": out}],
    }
    {"input": request["inputs"][0], "output": request["outputs"][0], "request": request}[where][
        "parameters"
    ] = given
    reply = protocol.ask(server.address, "POST", f"/v2/models/{model}/infer", json.dumps(request).encode())
    assert reply.status == 400, reply.json
    assert_block(reply.error, f"parameter {seen}")


def test_the_error_is_that_of_a_file(server: Server, site: Site, frame: Frame) -> None:
    """The same words for a channel that no anode has."""
    channels = frame.channels.copy()
    channels[0] = 999_999
    wire_cell.write_arrays(site.folder / "foreign.npz", wire_cell.event(frame.adc, channels))
    block = wire_cell.run(
        "-c",
        wire_cell.PIPELINE,
        *site.flags,
        *"-A input=foreign.npz -A model=none".split(),
        folder=site.folder,
    ).stderr
    reply = protocol.infer(server.address, "chain", {"adc": frame.adc, "channels": channels})

    def lines(text: str) -> list[str]:
        """All but the position: a file has a name, a request has none."""
        return [line for line in text.splitlines() if line.startswith(("error:", "  seen:", "  expected:"))]

    assert lines(reply.error) == lines(block)


def test_unknown_outputs_models_versions_and_paths(server: Server, frame: Frame) -> None:
    reply = protocol.infer(server.address, "chain", frame.inputs(), ["signla"])
    assert reply.status == 400
    assert_block(reply.error, "the chain has no such output")
    assert "did you mean 'signal'" in reply.error
    reply = protocol.infer(server.address, "chian", frame.inputs())
    assert reply.status == 404
    assert_block(reply.error, "the server has no such model")
    assert "did you mean 'chain'" in reply.error
    reply = protocol.ask(server.address, "GET", "/v2/models/chain/versions/2")
    assert reply.status == 404
    assert_block(reply.error, "the model has no such version")
    for target in ("/", "/v2/models", "/v2/models//infer", "/v2/models/chain/infer/x", "/x" * 3000, "/%00"):
        reply = protocol.ask(server.address, "GET", target)
        assert reply.status == 404, target
        assert_block(reply.error, "the server has no such path")


def test_wrong_methods_and_headers(server: Server, frame: Frame) -> None:
    target = "/v2/models/chain/infer"
    body, headers = protocol.encode(frame.inputs())
    for method, path, allow in (("GET", target, "POST, OPTIONS"), ("DELETE", "/v2", "GET, HEAD, OPTIONS")):
        reply = protocol.ask(server.address, method, path)
        assert reply.status == 405 and reply.headers["Allow"] == allow
    for encoding in ("br", "gzip, gzip"):
        reply = protocol.ask(server.address, "POST", target, body, headers | {"Content-Encoding": encoding})
        assert reply.status == 415
    for length in ("-1", "x", str(len(body) + 1), "99999999999999999999"):
        reply = protocol.ask(server.address, "POST", target, body, {protocol.LENGTH: length})
        assert reply.status == 400, length
        assert_block(reply.error, "this is not a request")
    opened = protocol.connection(server.address)
    opened.request("POST", target, iter([b"{}"]), {"Transfer-Encoding": "chunked"}, encode_chunked=True)
    assert opened.getresponse().status == 411
    opened.close()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b'{"inputs": 3}',
        b'{"inputs": [3]}',
        b'{"inputs": [{"name": "adc"}]}',
        b'{"inputs": [{"name": 1, "datatype": "INT16", "shape": [1, 1], "data": [1]}]}',
        b'{"inputs": [{"name": "adc", "datatype": "INT16", "shape": [1, 1.5], "data": [1]}]}',
        b'{"inputs": [{"name": "adc", "datatype": "INT16", "shape": [1, 1], "data": [1, 2]}]}',
        b'{"inputs": [{"name": "adc", "datatype": "INT16", "shape": [1, 1], "data": [70000]}]}',
        b'{"inputs": [{"name": "adc", "datatype": "INT16", "shape": [1, 1], "data": ["1"]}]}',
        b'{"inputs": [{"name": "adc", "datatype": "INT16", "shape": [1, 1], "data": [1.0]}]}',
        b'{"inputs": [{"name": "adc", "datatype": "INT64", "shape": [1, 1], "data": [9223372036854775808]}]}',
        b'{"inputs": [{"name": "adc", "datatype": "FP32", "shape": [1, 1], "data": [1e39]}]}',
        b'{"inputs": [{"name": "adc", "datatype": "FP32", "shape": [1, 1], "data": [NaN]}]}',
        b'{"inputs": [{"name": "adc", "datatype": "FP32", "shape": [1, 1], "data": [null]}]}',
        b'{"inputs": [{"name": "adc", "datatype": "FP32", "shape": [1, 1], "data": ["NaN"]}]}',
        b'{"inputs": [{"name": "adc", "datatype": "FP64", "shape": [1, 1], "data": [1e999]}]}',
        b'{"inputs": [{"name": "adc", "datatype": "INT16", "shape": [18446744073709551615, 1], "data": []}]}',
        b'{"inputs": [{"name": "adc", "datatype": "BYTES", "shape": [1, 1], "data": ["1"]}]}',
        b'{"inputs": [{"name": "adc", "datatype": "INT8", "shape": [], "data": [1], "parameters": {"binary_data_size": 0}}]}',
        b'{"inputs": [{"name": "adc", "datatype": "INT16", "shape": [-1, -1], "data": [1]}]}',
        b'{"inputs": [{"name": "adc", "datatype": "INT16", "shape": [4611686018427387904, 4], "data": []}]}',
        b'{"inputs": [{"name": "adc", "datatype": "INT16", "shape": [9, 9]}]}',
        b'{"inputs": [], "parameters": 3}',
        b'{"inputs": [], "id": 3}',
        b'{"inputs": [], "outputs": [{"tpye": "x"}]}',
        b"[" * 100_000,
        b'{"inputs": ' + b"[" * 100_000,
        b"\xff\xfe\x00",
    ],
)
def test_malformed_bodies(server: Server, text: bytes) -> None:
    reply = protocol.ask(server.address, "POST", "/v2/models/chain/infer", text)
    assert reply.status == 400, reply.json
    assert_block(reply.error, "")


@pytest.mark.parametrize("size", [-1, 0, 3, 2**40, "all"])
def test_wrong_sizes_of_binary_tensors(server: Server, size: Any) -> None:
    tensor = {
        "name": "adc",
        "datatype": "INT16",
        "shape": [2, 2],
        "parameters": {"binary_data_size": size},
    }
    text = json.dumps({"inputs": [tensor]}).encode()
    reply = protocol.ask(
        server.address,
        "POST",
        "/v2/models/chain/infer",
        text + b"12345678",
        {protocol.LENGTH: str(len(text))},
    )
    assert reply.status == 400, reply.json
    assert_block(reply.error, "")


def test_oversized_requests_are_rejected_before_they_are_read(server: Server) -> None:
    """A body of 1 TB that is announced and never sent."""
    opened = protocol.connection(server.addresses[1])
    opened.putrequest("POST", "/v2/models/chain/infer")
    opened.putheader("Content-Length", str(10**12))
    opened.endheaders()
    response = opened.getresponse()
    assert response.status == 413
    assert_block(json.loads(response.read())["error"], "the request is too large")
    opened.close()


def test_requests_without_tensors_have_small_bodies(server: Server) -> None:
    for method, target in (
        ("GET", "/v2"),
        ("POST", "/v2/repository/index"),
        ("POST", "/none"),
        ("PUT", "/v2/models/chain/infer"),
    ):
        reply = protocol.ask(server.address, method, target, bytes(100_000))
        assert reply.status == 413, target
        assert_block(reply.error, "the request is too large")
    assert protocol.ask(server.address, "POST", "/v2/repository/index", bytes(1000)).status == 200


def connect(server: Server) -> socket.socket:
    """Open TCP."""
    host, port = server.addresses[1].removeprefix("http://").rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=protocol.TIMEOUT)


def test_a_long_upload_that_is_rejected_gets_its_reply(server: Server) -> None:
    """It takes longer than the server waits for the next byte."""
    with connect(server) as opened:
        opened.sendall(b"POST /v2/models/chain/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n")
        for _ in range(6):
            time.sleep(0.5)
            opened.sendall(b"x" * 1000)
        assert opened.recv(65536).startswith(b"HTTP/1.1 413 ")


def raw(server: Server, text: bytes) -> bytes:
    """Send bytes over TCP and return all that comes back."""
    with connect(server) as opened:
        opened.sendall(text)
        opened.shutdown(socket.SHUT_WR)
        answer = b""
        while part := opened.recv(65536):
            answer += part
    return answer


@pytest.mark.parametrize(
    "text, status",
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"400"),  # a TLS handshake
        (b"GET /v2 HTTP/9.9\r\n\r\n", b"505"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"505"),
        (b"GET /v2 HTTP/1.1\r\n\r\n", b"400"),  # no Host
        (b"GET /v2 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"400"),
        (b"GET /v2 HTTP/1.1\r\nContent-Length: x\r\n\r\n", b"400"),
        (b"GET /v2 HTTP/1.1\r\nX: " + b"y" * 100_000 + b"\r\n\r\n", b"431"),
        (b"POST /v2/models/chain/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", b""),
        (b"GET", b""),
        (b"", b""),
    ],
)
def test_bytes_that_are_no_request(server: Server, text: bytes, status: bytes) -> None:
    answer = raw(server, text)
    assert answer.split(b" ")[1:2] == ([status] if status else []), answer[:200]


def test_the_network_rejects_wrong_tensors(server: Server) -> None:
    features = np.zeros((1, 3, 16, 16), "<f4")
    for inputs, status in (
        ({"features": features.astype("<f8")}, 400),
        ({"features": features[0]}, 400),
        ({"images": features}, 400),
        ({}, 400),
        ({"features": features[:, :1]}, 400),  # the network has three features
        ({"features": np.zeros((1, 3, 16, 0), "<f4")}, 400),
    ):
        reply = protocol.infer(server.address, "dnnroi-standin", inputs)
        assert reply.status == status, reply.json
        assert_block(reply.error, "network")
    reply = protocol.infer(server.address, "dnnroi-standin", {"features": features}, ["other"])
    assert reply.status == 400
    assert_block(reply.error, "the network has no such output")
