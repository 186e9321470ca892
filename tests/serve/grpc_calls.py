# SPDX-License-Identifier: Apache-2.0
"""Calls of gRPC by curl, and the few parts of protobuf that they need: a client that shares nothing with ours."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.serve import protocol

OK, INVALID_ARGUMENT, NOT_FOUND, DEADLINE_EXCEEDED = 0, 3, 5, 4
SERVICE = "inference.GRPCInferenceService"
Value = int | str | bytes | float | list["Value"]


def has_http2() -> bool:
    """Return whether there is a curl that speaks HTTP/2."""
    if shutil.which("curl") is None:
        return False
    return "HTTP2" in subprocess.run(["curl", "-V"], capture_output=True, text=True, check=False).stdout


needs_curl = pytest.mark.skipif(not has_http2(), reason="no curl with HTTP/2")


def varint(value: int) -> bytes:
    """Encode an integer; negative ones as 64 bits."""
    value &= 2**64 - 1
    encoded = b""
    while value > 127:
        encoded += bytes([value & 127 | 128])
        value >>= 7
    return encoded + bytes([value])


def message(*fields: tuple[int, Value]) -> bytes:
    """Encode a message: id and value of each field."""
    encoded = b""
    for field, value in fields:
        if isinstance(value, list):
            value = b"".join(varint(each) for each in value if isinstance(each, int))  # packed
        if isinstance(value, float):
            encoded += varint(field << 3 | 1) + struct.pack("<d", value)
        elif isinstance(value, int):
            encoded += varint(field << 3) + varint(value)
        else:
            content = value.encode() if isinstance(value, str) else value
            encoded += varint(field << 3 | 2) + varint(len(content)) + content
    return encoded


def fields_of(encoded: bytes) -> Iterator[tuple[int, int | float | bytes]]:
    """Yield id and value of each field, in the order of the bytes."""

    def take_varint() -> int:
        nonlocal encoded
        value = shift = 0
        while True:
            byte, encoded = encoded[0], encoded[1:]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while encoded:
        key = take_varint()
        if key & 7 == 0:
            yield key >> 3, take_varint()
        elif key & 7 == 1:
            yield key >> 3, struct.unpack("<d", encoded[:8])[0]
            encoded = encoded[8:]
        else:
            size = take_varint()
            yield key >> 3, encoded[:size]
            encoded = encoded[size:]


def parameter(name: str, field: int, value: Value) -> bytes:
    """Encode an entry of a map of parameters; fields: 1 bool, 2 int64, 3 string, 4 double, 5 uint64."""
    return message((1, name), (2, message((field, value))))


@dataclass(frozen=True)
class Reply:
    status: int
    text: str
    content: bytes


def call(address: str, method: str, content: bytes, folder: Path) -> Reply:
    """Call a method, "Service/Method" or one of the inference service."""
    sent, header, body = (folder / name for name in ("sent", "header", "body"))
    sent.write_bytes(b"\0" + struct.pack(">I", len(content)) + content)
    target = method if "/" in method else f"{SERVICE}/{method}"
    command = ["curl", "-sS", "--http2-prior-knowledge", "--max-time", str(protocol.TIMEOUT)]
    command += ["-H", "TE: trailers"]  # codespell:ignore te
    command += ["-H", "Content-Type: application/grpc", "--data-binary", f"@{sent}"]
    command += ["-D", str(header), "-o", str(body), f"http://{address.removeprefix('grpc://')}/{target}"]
    body.write_bytes(b"")
    subprocess.run(command, check=True)
    lines = header.read_text().splitlines()
    trailers = dict(line.split(": ", 1) for line in lines if line.startswith("grpc-"))
    return Reply(
        int(trailers["grpc-status"]), unquote(trailers.get("grpc-message", "")), body.read_bytes()[5:]
    )
