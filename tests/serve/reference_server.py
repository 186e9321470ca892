# SPDX-License-Identifier: Apache-2.0
"""A server of a network by the standard library and torch, independent of ours, with faults on demand."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

LENGTH = "Inference-Header-Content-Length"
INPUT, OUTPUT = "INPUT__0", "OUTPUT__0"

Forward = Callable[[np.ndarray], np.ndarray]
Reply = tuple[int, bytes, dict[str, str]]  # status, body, headers
# Returns None to reply as usual, or another reply. The index counts the requests.
Fault = Callable[[int], Reply | None]


def forward_of(file: Path) -> Forward:
    """Return the forward of a TorchScript file."""
    import torch

    torch.set_num_threads(1)
    network = torch.jit.freeze(torch.jit.load(str(file)).eval())

    def forward(features: np.ndarray) -> np.ndarray:
        with torch.inference_mode(), torch.jit.optimized_execution(False):
            return network(torch.from_numpy(features.copy())).numpy()

    return forward


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ReferenceServer

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def reply(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self) -> None:
        assert self.path == "/v2/models/net", self.path
        if self.server.description is not None:
            self.reply(*self.server.description)
            return
        tensors = {"datatype": "FP32", "shape": [-1, -1, -1, -1]}
        model = {
            "name": "net",
            "platform": "pytorch_libtorch",
            "inputs": [{"name": INPUT, **tensors}],
            "outputs": [{"name": OUTPUT, **tensors}],
            **self.server.more,
        }
        self.reply(200, json.dumps(model).encode(), {"Content-Type": "application/json"})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            index, self.server.requests = self.server.requests, self.server.requests + 1
        fault = self.server.fault(index)
        if fault is not None:
            self.reply(*fault)
            return
        size = int(self.headers[LENGTH])
        request = json.loads(body[:size])
        (tensor,) = request["inputs"]
        assert tensor["name"] == INPUT and tensor["datatype"] == "FP32"
        assert tensor["parameters"] == {"binary_data_size": len(body) - size}
        assert request["outputs"] == [{"name": OUTPUT, "parameters": {"binary_data": True}}]
        features = np.frombuffer(body[size:], "<f4").reshape(tensor["shape"])
        self.reply(*response(self.server.forward(features)))


def response(result: np.ndarray, **changes: Any) -> Reply:
    """Return the reply with a tensor."""
    content = np.ascontiguousarray(result, "<f4").tobytes()
    tensor = {
        "name": OUTPUT,
        "datatype": "FP32",
        "shape": list(result.shape),
        "parameters": {"binary_data_size": len(content)},
        **changes,
    }
    text = json.dumps({"model_name": "net", "outputs": [tensor]}).encode()
    return 200, text + content, {LENGTH: str(len(text)), "Content-Type": "application/octet-stream"}


class ReferenceServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(
        self, forward: Forward, fault: Fault, description: Reply | None, more: dict[str, Any]
    ) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.forward, self.fault, self.description, self.more = forward, fault, description, more
        self.requests = 0
        self.lock = threading.Lock()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


@contextmanager
def reference_server(
    forward: Forward, fault: Fault = lambda _: None, description: Reply | None = None, **more: Any
) -> Iterator[ReferenceServer]:
    """Serve during a block.

    Args:
        description: the reply to a request for the description of the model, instead of the usual one
        more: keys of the description
    """
    with ReferenceServer(forward, fault, description, more) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
