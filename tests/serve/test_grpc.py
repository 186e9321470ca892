# SPDX-License-Identifier: Apache-2.0
"""gRPC in bytes, as foreign clients send and read it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.serve import grpc_calls
from tests.serve.conftest import Frame, needs_grpc
from tests.serve.grpc_calls import DEADLINE_EXCEEDED, INVALID_ARGUMENT, NOT_FOUND, OK, message, parameter
from tests.serve.serving import Server
from tests.support import wire_cell

pytestmark = [wire_cell.needs_program, needs_grpc, grpc_calls.needs_curl]


def tensor(name: str, datatype: str, shape: tuple[int, ...], *more: tuple[int, grpc_calls.Value]) -> bytes:
    """Encode an input; fields of `more`: 4 parameter, 5 contents."""
    return message((1, name), (2, datatype), (3, list(shape)), *more)


def request(*fields: tuple[int, grpc_calls.Value], model: str = "chain") -> bytes:
    """Encode a request; fields: 3 id, 4 parameter, 5 input, 6 output, 7 raw contents."""
    return message((1, model), *fields)


def infer(server: Server, folder: Path, content: bytes) -> grpc_calls.Reply:
    return grpc_calls.call(server.addresses[2], "ModelInfer", content, folder)


def good(frame: Frame) -> list[tuple[int, grpc_calls.Value]]:
    return [(5, tensor("adc", "INT16", frame.adc.shape)), (7, frame.adc.tobytes())]


def test_numbers_with_fraction_are_for_both_kinds_of_clients(
    server: Server, frame: Frame, tmp_path: Path
) -> None:
    """Triton's clients know double_param and take the last of both; KServe's know string_param alone."""
    given = [(4, parameter("tick_ns", 3, "500.0")), (4, parameter("start_ns", 4, 0.25))]
    reply = infer(server, tmp_path, request(*given, *good(frame)))
    assert reply.status == OK, reply.text
    entries = [
        dict(grpc_calls.fields_of(value)) for key, value in grpc_calls.fields_of(reply.content) if key == 4
    ]
    values = {entry[1].decode(): list(grpc_calls.fields_of(entry[2])) for entry in entries}
    assert values["tick_ns"] == [(3, b"500"), (4, 500.0)]
    assert values["start_ns"] == [(3, b"0.25"), (4, 0.25)]
    assert values["first_tick"] == [(2, 0)]


SMALL = tensor("adc", "INT16", (1, 2))
INTEGERS = message((2, [1, 2]))  # int_contents
REJECTED = {
    "no message": (b"\xff" * 20, "cannot be parsed"),
    "text that is not UTF-8": (request((3, b"\xff\xfe")), "cannot be parsed"),
    "both contents": (
        request((5, tensor("adc", "INT16", (1, 2), (5, INTEGERS))), (7, bytes(4))),
        "contents and raw contents",
    ),
    "contents of two types": (
        request((5, tensor("adc", "INT16", (1, 2), (5, INTEGERS + message((3, [1])))))),
        "contents of several types",
    ),
    "bytes": (
        request((5, tensor("adc", "BYTES", (1,))), (7, b"\1\0\0\0a")),
        "tensors of this type are not accepted",
    ),
    "batch": (request((5, tensor("adc", "INT16", (1, 1, 2))), (7, bytes(4))), "a request holds one frame"),
    "shared memory in": (
        request((5, tensor("adc", "INT16", (1, 2), (4, parameter("shared_memory_region", 3, "r"))))),
        "parameter shared_memory_region",
    ),
    "shared memory out": (
        request(
            (5, SMALL),
            (6, message((1, "signal"), (2, parameter("shared_memory_region", 3, "r")))),
            (7, bytes(4)),
        ),
        "parameter shared_memory_region",
    ),
    "classes": (
        request(
            (5, SMALL), (6, message((1, "signal"), (2, parameter("classification", 2, 3)))), (7, bytes(4))
        ),
        "parameter classification",
    ),
    "masks": (
        request(
            (4, parameter("masks", 3, '{"bad": [[0, 0, 18446744073709551615]]}')), (5, SMALL), (7, bytes(4))
        ),
        "the parameter masks is not understood",
    ),
    "ident": (
        request((4, parameter("ident", 5, 2**64 - 1)), (5, SMALL), (7, bytes(4))),
        "integer of 32 bits",
    ),
    "tick": (
        request((4, parameter("tick_ns", 4, float("nan"))), (5, SMALL), (7, bytes(4))),
        "the times of the frame",
    ),
    "features": (
        request((5, tensor("features", "FP32", (1, 2, 16, 16))), (7, bytes(2048)), model="dnnroi-standin"),
        "with 3 features",
    ),
}


@pytest.mark.parametrize("name", sorted(REJECTED))
def test_faults_of_the_client_are_invalid_arguments(server: Server, tmp_path: Path, name: str) -> None:
    content, words = REJECTED[name]
    reply = infer(server, tmp_path, content)
    assert reply.status == INVALID_ARGUMENT, reply.text
    assert reply.text.startswith("error: ") and words in reply.text


def test_a_client_may_limit_the_time(server: Server, frame: Frame, tmp_path: Path) -> None:
    """By the parameter of Triton's clients [microseconds]."""
    reply = infer(server, tmp_path, request((4, parameter("timeout", 2, 1)), *good(frame)))
    assert reply.status == DEADLINE_EXCEEDED and "the request has no result in time" in reply.text


def test_configuration_statistics_and_index(server: Server, tmp_path: Path) -> None:
    def ask(method: str, content: bytes) -> list[tuple[int, int | float | bytes]]:
        reply = grpc_calls.call(server.addresses[2], method, content, tmp_path)
        assert reply.status == OK, reply.text
        return list(grpc_calls.fields_of(reply.content))

    ((_, config),) = ask("ModelConfig", message((1, "chain")))
    inputs = [list(grpc_calls.fields_of(value)) for key, value in grpc_calls.fields_of(config) if key == 5]
    minus_one = b"\xff" * 9 + b"\1"
    assert inputs[0] == [(1, b"adc"), (2, 7), (4, minus_one + minus_one)]  # TYPE_INT16
    names = [dict(grpc_calls.fields_of(model)) for _, model in ask("ModelStatistics", b"")]
    assert [each[1].decode() for each in names] == server.models
    models = [dict(grpc_calls.fields_of(model)) for _, model in ask("RepositoryIndex", message((2, 1)))]
    assert [(each[1].decode(), each[3]) for each in models] == [(name, b"READY") for name in server.models]
    for method in ("ModelConfig", "ModelStatistics"):
        reply = grpc_calls.call(server.addresses[2], method, message((1, "chian")), tmp_path)
        assert reply.status == NOT_FOUND and "did you mean 'chain'" in reply.text


def test_health_and_reflection_are_answered(server: Server, tmp_path: Path) -> None:
    for service in ("", grpc_calls.SERVICE):
        reply = grpc_calls.call(
            server.addresses[2], "grpc.health.v1.Health/Check", message((1, service)), tmp_path
        )
        assert (reply.status, reply.content) == (OK, message((1, 1)))  # SERVING
    reflection = "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
    reply = grpc_calls.call(server.addresses[2], reflection, message((7, "")), tmp_path)
    assert reply.status == OK and grpc_calls.SERVICE.encode() in reply.content


def test_results_are_those_of_a_file(server: Server, frame: Frame, tmp_path: Path) -> None:
    """Samples in contents; the response is raw."""
    values = [int(value) for value in frame.adc.ravel()]
    contents = message((2, values))
    reply = infer(server, tmp_path, request((5, tensor("adc", "INT16", frame.adc.shape, (5, contents)))))
    assert reply.status == OK, reply.text
    raw = [value for key, value in grpc_calls.fields_of(reply.content) if key == 6]
    assert frame.result["frame_signal_0"].tobytes() in raw
    assert np.frombuffer(raw[0], "<f4").size == frame.adc.size
