# SPDX-License-Identifier: Apache-2.0
"""A small client of the Open Inference Protocol (KServe v2) over HTTP, with the standard library alone."""

from __future__ import annotations

import http.client
import json
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

TIMEOUT = 120  # seconds
LENGTH = "Inference-Header-Content-Length"
DATATYPES = {
    "INT8": "i1",
    "INT16": "<i2",
    "UINT16": "<u2",
    "INT32": "<i4",
    "INT64": "<i8",
    "FP32": "<f4",
    "FP64": "<f8",
}
NAMES = {np.dtype(code): name for name, code in DATATYPES.items()}

Arrays = dict[str, np.ndarray]


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str | Path) -> None:
        super().__init__("localhost", timeout=TIMEOUT)
        self._path = str(path)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(TIMEOUT)
        self.sock.connect(self._path)


def connection(address: str) -> http.client.HTTPConnection:
    """Open "unix:PATH" or "http://HOST:PORT"."""
    if address.startswith("unix:"):
        return UnixConnection(address.removeprefix("unix:"))
    return http.client.HTTPConnection(address.removeprefix("http://"), timeout=TIMEOUT)


@dataclass(frozen=True)
class Reply:
    """A response with its JSON and what follows it."""

    status: int
    json: Any
    binary: bytes
    headers: Any

    @property
    def error(self) -> str:
        return self.json["error"]

    @property
    def parameters(self) -> dict[str, Any]:
        return self.json["parameters"]

    def arrays(self) -> Arrays:
        """Return the outputs by name."""
        result: Arrays = {}
        rest = self.binary
        for output in self.json["outputs"]:
            kind = DATATYPES[output["datatype"]]
            if "data" in output:
                values = np.array(output["data"], dtype=kind)
            else:
                size = output["parameters"]["binary_data_size"]
                values, rest = np.frombuffer(rest[:size], kind), rest[size:]
            result[output["name"]] = values.reshape(output["shape"])
        assert rest == b""
        return result


def split(status: int, headers: Any, content: bytes) -> Reply:
    """Return the parts of a response."""
    size = int(headers.get(LENGTH, len(content)))
    is_json = headers["Content-Type"] in ("application/json", "application/octet-stream")
    return Reply(status, json.loads(content[:size]) if is_json else content.decode(), content[size:], headers)


def ask(
    address: str,
    method: str,
    target: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> Reply:
    """Send one request over a connection of its own."""
    opened = connection(address)
    try:
        opened.request(method, target, body, headers or {})
        response = opened.getresponse()
        return split(response.status, response.headers, response.read())
    finally:
        opened.close()


def encode(
    inputs: Arrays, outputs: list[str] | None = None, binary: bool = True, **parameters: Any
) -> tuple[bytes, dict[str, str]]:
    """Return body and headers of a request."""
    tensors: list[dict[str, Any]] = []
    behind = b""
    for name, array in inputs.items():
        tensor: dict[str, Any] = {
            "name": name,
            "datatype": NAMES[array.dtype],
            "shape": list(array.shape),
        }
        if binary:
            tensor["parameters"] = {"binary_data_size": array.nbytes}
            behind += np.ascontiguousarray(array).tobytes()
        else:
            tensor["data"] = array.tolist()
        tensors.append(tensor)
    request: dict[str, Any] = {"inputs": tensors, "parameters": {"binary_data_output": binary, **parameters}}
    if outputs is not None:
        request["outputs"] = [{"name": name} for name in outputs]
    text = json.dumps(request).encode()
    return text + behind, {LENGTH: str(len(text))} if binary else {}


def infer(
    address: str,
    model: str,
    inputs: Arrays,
    outputs: list[str] | None = None,
    binary: bool = True,
    **parameters: Any,
) -> Reply:
    """Send tensors to a model."""
    body, headers = encode(inputs, outputs, binary, **parameters)
    return ask(address, "POST", f"/v2/models/{model}/infer", body, headers)
