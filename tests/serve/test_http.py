# SPDX-License-Identifier: Apache-2.0
"""HTTP as clients, proxies and load balancers speak it."""

from __future__ import annotations

import gzip
import json
import socket
import zlib
from collections.abc import Callable

import pytest

from tests.serve import protocol
from tests.serve.conftest import Frame
from tests.serve.serving import Server
from tests.support import wire_cell

pytestmark = wire_cell.needs_program

INFER = "/v2/models/chain/infer"
PACKERS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "deflate": zlib.compress}
UNPACKERS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.decompress, "deflate": zlib.decompress}


def exchange(server: Server, *requests: str) -> bytes:
    """Send requests over one connection of TCP; return all bytes until the server closes it."""
    host, port = server.addresses[1].removeprefix("http://").rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=protocol.TIMEOUT) as opened:
        opened.sendall("".join(requests).replace("\n", "\r\n").encode())
        answer = b""
        while part := opened.recv(65536):
            answer += part
    return answer


def headers_of(answer: bytes) -> dict[str, str]:
    """Return the header of the first response, its status as ""."""
    status, *lines = answer.split(b"\r\n\r\n")[0].decode().split("\r\n")
    return {"": status.split()[1]} | {line.split(": ")[0].lower(): line.split(": ")[1] for line in lines}


def test_head_is_get_without_a_body(server: Server) -> None:
    close = "Host: x\nConnection: close\n\n"
    for target, status in (("/v2", "200"), ("/metrics", "200"), ("/none", "404"), (INFER, "405")):
        answer = exchange(server, f"HEAD {target} HTTP/1.1\n{close}")
        head, body = answer.split(b"\r\n\r\n")
        assert headers_of(answer)[""] == status and body == b"", answer
        assert int(headers_of(head)["content-length"]) > 0


def test_a_request_after_head_is_answered(server: Server) -> None:
    answer = exchange(
        server,
        "HEAD /v2/health/ready HTTP/1.1\nHost: x\nContent-Length: 3\n\nabc",
        "GET /v2/health/live HTTP/1.1\nHost: x\nConnection: close\n\n",
    )
    assert answer.count(b"HTTP/1.1 200") == 2 and answer.endswith(b'{"live":true}')


@pytest.mark.parametrize(
    "target", ["http://host:1/v2/health/live", "HTTPS://x/v2/health/live?a=b", "/v2/health/live/"]
)
def test_forms_of_a_target(server: Server, target: str) -> None:
    answer = exchange(server, f"GET {target} HTTP/1.1\nHost: x\nConnection: close\n\n")
    assert headers_of(answer)[""] == "200"
    assert (
        headers_of(exchange(server, "GET http://host HTTP/1.1\nHost: x\nConnection: close\n\n"))[""] == "404"
    )


def test_http_1_0_ends_with_the_response_unless_asked(server: Server) -> None:
    answer = exchange(server, "GET /v2/health/live HTTP/1.0\n\n")  # returns: the server closes the connection
    assert headers_of(answer)[""] == "200" and headers_of(answer)["connection"] == "close"
    answer = exchange(
        server,
        "GET /v2/health/live HTTP/1.0\nConnection: keep-alive\n\n",
        "GET /v2/health/ready HTTP/1.0\n\n",
    )
    assert headers_of(answer)["connection"] == "keep-alive" and answer.endswith(b'{"ready":true}')
    asked = exchange(server, f"POST {INFER} HTTP/1.0\nExpect: 100-continue\nContent-Length: 2\n\n{{}}")
    assert headers_of(asked)[""] == "400"  # and no 100, which HTTP/1.0 does not have


@pytest.mark.parametrize(
    "target, status, allow",
    [
        ("/", "200", "GET, HEAD, OPTIONS"),
        ("*", "200", "GET, HEAD, OPTIONS"),
        ("/v2/health/ready", "200", "GET, HEAD, OPTIONS"),
        (INFER, "200", "POST, OPTIONS"),
        ("/none", "404", None),
    ],
)
def test_options_tells_methods_and_state(server: Server, target: str, status: str, allow: str | None) -> None:
    """The check of HAProxy is OPTIONS / HTTP/1.0."""
    answer = headers_of(exchange(server, f"OPTIONS {target} HTTP/1.0\n\n"))
    assert (answer[""], answer.get("allow")) == (status, allow)


@pytest.mark.parametrize("coding", sorted(PACKERS))
@pytest.mark.parametrize("binary", [True, False], ids=["binary", "json"])
def test_compressed_requests_and_responses(server: Server, frame: Frame, coding: str, binary: bool) -> None:
    body, headers = protocol.encode({"adc": frame.adc[:, :64]}, ["signal"], binary)
    plain = protocol.ask(server.address, "POST", INFER, body, headers).arrays()["signal"]
    headers |= {"Content-Encoding": coding, "Accept-Encoding": f"br, {coding}"}
    opened = protocol.connection(server.address)
    opened.request("POST", INFER, PACKERS[coding](body), headers)
    response = opened.getresponse()
    content = response.read()
    opened.close()
    assert response.status == 200 and response.headers["Content-Encoding"] == coding
    unpacked = UNPACKERS[coding](content)
    assert len(content) < len(unpacked)
    reply = protocol.split(response.status, response.headers, unpacked)
    assert reply.arrays()["signal"].tobytes() == plain.tobytes()


def test_members_of_gzip_are_joined(server: Server, frame: Frame) -> None:
    body, headers = protocol.encode({"adc": frame.adc[:, :64]}, ["signal_channels"])
    packed = gzip.compress(body[:1000]) + gzip.compress(body[1000:])
    reply = protocol.ask(server.address, "POST", INFER, packed, headers | {"Content-Encoding": "gzip"})
    assert reply.status == 200, reply.json


@pytest.mark.parametrize(
    "accept",
    ["", "identity", "gzip;q=0", "gzip; q=0.0, deflate;q=0", "br, zstd"],
    ids=lambda text: text or "none",
)
def test_responses_are_plain_unless_asked(server: Server, accept: str) -> None:
    reply = protocol.ask(server.address, "GET", "/metrics", headers={"Accept-Encoding": accept})
    assert reply.headers["Content-Encoding"] is None and "spng_ready 1" in reply.json


@pytest.mark.parametrize("coding", sorted(PACKERS))
def test_bad_compressed_bodies_are_rejected(server: Server, frame: Frame, coding: str) -> None:
    body, _ = protocol.encode(frame.inputs(), binary=False)
    packed = PACKERS[coding](body)
    damaged = packed[:50] + bytes(len(packed) - 50)
    for content in (packed[:-5], damaged, packed + b"x", body, b"", packed[:-4] + b"\0\0\0\0"):
        reply = protocol.ask(server.address, "POST", INFER, content, {"Content-Encoding": coding})
        assert reply.status == 400, reply.json
        assert "the compressed body of a request cannot be unpacked" in reply.error
    bomb = PACKERS[coding](b" " * 10_000_000)  # beyond --serve-max-bytes
    reply = protocol.ask(server.address, "POST", INFER, bomb, {"Content-Encoding": coding})
    assert reply.status == 413, reply.json
    assert "the request is too large" in reply.error


def test_configuration_statistics_and_index(server: Server, frame: Frame) -> None:
    def get(target: str) -> dict:
        reply = protocol.ask(server.address, "GET", target)
        assert reply.status == 200, reply.json
        return reply.json

    config = get("/v2/models/chain/config")
    assert config["max_batch_size"] == 0
    assert config["input"][0] == {"name": "adc", "data_type": "TYPE_INT16", "dims": [-1, -1]}
    assert get("/v2/models/chain/versions/1/config") == config
    before = get("/v2/models/chain/stats")["model_stats"][0]
    assert protocol.infer(server.address, "chain", frame.inputs(), ["signal_channels"]).status == 200
    assert protocol.infer(server.address, "chain", {}).status == 400
    after = get("/v2/models/chain/stats")["model_stats"][0]
    counts = [
        [
            each["inference_count"],
            each["inference_stats"]["fail"]["count"],
            each["inference_stats"]["queue"]["count"],
        ]
        for each in (before, after)
    ]
    assert [new - old for old, new in zip(*counts, strict=True)] == [1, 1, 1]
    assert after["inference_stats"]["success"]["ns"] > before["inference_stats"]["success"]["ns"]
    assert [each["name"] for each in get("/v2/models/stats")["model_stats"]] == server.models
    for target in ("/v2/models/none/config", "/v2/models/none/stats", "/v2/models/chain/versions/2/stats"):
        assert protocol.ask(server.address, "GET", target).status == 404
    listed = protocol.ask(server.address, "POST", "/v2/repository/index", b'{"ready": true}').json
    assert [(each["name"], each["state"]) for each in listed] == [(name, "READY") for name in server.models]


def test_lists_of_json_have_no_nan(server: Server, frame: Frame) -> None:
    """JSON has no NaN: the response is an error that names the binary form, which has it."""
    features = {"features": frame.adc[None, :48, :48].astype("<f4").reshape(1, 3, 16, 48) * float("nan")}
    reply = protocol.infer(server.address, "dnnroi-standin", features, binary=True)
    assert reply.status == 200, reply.json
    body, headers = protocol.encode(features)
    request = json.loads(body[: int(headers[protocol.LENGTH])])
    request["parameters"]["binary_data_output"] = False
    text = json.dumps(request).encode()
    content = text + body[int(headers[protocol.LENGTH]) :]
    plain = protocol.ask(
        server.address, "POST", "/v2/models/dnnroi-standin/infer", content, {protocol.LENGTH: str(len(text))}
    )
    assert plain.status == 400, plain.json
    assert "a list of JSON cannot have this value" in plain.error and "nan" in plain.error
