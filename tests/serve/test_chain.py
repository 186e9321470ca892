# SPDX-License-Identifier: Apache-2.0
"""Whole frames by KServe v2: the answer is that of a job on files."""

from __future__ import annotations

import json
import re
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.serve import protocol
from tests.serve.conftest import Frame, needs_grpc
from tests.serve.serving import Server
from tests.support import wire_cell

pytestmark = wire_cell.needs_program


def assert_equals_file(arrays: protocol.Arrays, frame: Frame) -> None:
    """The dense outputs are those of the output file, byte for byte."""
    for tag in ("signal", "wiener", "roi"):
        expected = frame.result[f"frame_{tag}_0"]
        assert arrays[tag].dtype == expected.dtype
        assert arrays[tag].tobytes() == expected.tobytes(), tag
        np.testing.assert_array_equal(arrays[f"{tag}_channels"], frame.result[f"channels_{tag}_0"])
    np.testing.assert_array_equal(arrays["wiener_summary"], frame.result["summary_wiener_0"])
    assert np.count_nonzero(arrays["signal"])


@pytest.mark.parametrize("transport", [0, 1], ids=["unix", "tcp"])
def test_a_frame_gives_the_result_of_a_file(server: Server, frame: Frame, transport: int) -> None:
    reply = protocol.infer(server.addresses[transport], "chain", frame.inputs(), ident=7)
    assert reply.status == 200, reply.json
    assert_equals_file(reply.arrays(), frame)
    assert reply.parameters["ident"] == 7
    assert reply.parameters["tick_ns"] == 500
    assert "model_sha256" in json.loads(reply.parameters["notes"])


@pytest.mark.parametrize("kind", ["<i4", "<i8", "<u2", "<f4", "<f8"])
def test_every_type_of_samples_gives_it(server: Server, frame: Frame, kind: str) -> None:
    reply = protocol.infer(
        server.address, "chain", {"adc": frame.adc.astype(kind), "channels": frame.channels}
    )
    assert reply.status == 200, reply.json
    assert_equals_file(reply.arrays(), frame)


def test_lists_of_json_give_it(server: Server, frame: Frame) -> None:
    """Also without channel ids: those of the anode."""
    reply = protocol.infer(server.address, "chain", {"adc": frame.adc[:, :64]}, ["signal"], binary=False)
    assert reply.status == 200, reply.json
    binary = protocol.infer(server.address, "chain", {"adc": frame.adc[:, :64]}, ["signal"])
    assert list(binary.arrays()) == ["signal"]
    np.testing.assert_array_equal(reply.arrays()["signal"], binary.arrays()["signal"])


def test_samples_at_an_odd_address_give_it(server: Server, frame: Frame) -> None:
    """Behind a tensor of another size, where int16 is not aligned."""
    inputs = {"channels": frame.channels, "adc": frame.adc}
    body, headers = protocol.encode(inputs)
    size = int(headers[protocol.LENGTH])
    for blanks in range(2):
        text = body[:size] + b" " * blanks
        reply = protocol.ask(
            server.address,
            "POST",
            "/v2/models/chain/infer",
            text + body[size:],
            {protocol.LENGTH: str(len(text))},
        )
        assert reply.status == 200, reply.json
        assert_equals_file(reply.arrays(), frame)


def test_sparse_outputs_hold_the_same_samples(server: Server, frame: Frame) -> None:
    names = ["signal_runs", "signal_values", "signal"]
    arrays = protocol.infer(server.address, "chain", frame.inputs(), names).arrays()
    assert set(arrays) == set(names)
    dense = np.zeros_like(arrays["signal"])
    begin = 0
    for row, first, last in arrays["signal_runs"]:
        dense[row, first:last] = arrays["signal_values"][begin : begin + last - first]
        begin += last - first
    assert begin == len(arrays["signal_values"])
    np.testing.assert_array_equal(dense, arrays["signal"])


def test_masks_are_taken_and_returned(server: Server, frame: Frame) -> None:
    """Their ticks count from the start: the first sample is tick 1000."""
    bad = [[int(frame.channels[3]), 1000, 1000 + frame.adc.shape[1]]]
    reply = protocol.infer(
        server.address, "chain", frame.inputs(), ["signal"], masks={"bad": bad}, first_tick=1000
    )
    assert reply.status == 200, reply.json
    assert json.loads(reply.parameters["masks"])["bad"] == bad and reply.parameters["first_tick"] == 1000
    assert not reply.arrays()["signal"][3].any()


def test_warnings_about_the_input_are_in_the_response(server: Server, frame: Frame) -> None:
    """In every event: a request gets its own warnings, also after others got them."""
    dead = frame.adc.copy()
    dead[::2] = 900
    for adc, is_doubtful in ((frame.adc, False), (dead, True), (dead, True), (frame.adc, False)):
        reply = protocol.infer(server.address, "chain", {"adc": adc}, ["signal_channels"])
        assert reply.status == 200, reply.json
        assert ("warnings" in reply.parameters) == is_doubtful, reply.parameters
        notes = json.loads(reply.parameters["notes"])
        assert reply.parameters.get("warnings") == notes.get("warnings")


def test_the_documented_commands_of_curl_send_a_frame(server: Server, frame: Frame, tmp_path: Path) -> None:
    text = (wire_cell.ROOT / "docs" / "server.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```sh\n([^`]*--data-binary[^`]*)^```", text, re.MULTILINE)
    adc = np.ascontiguousarray(frame.adc, "<i2")
    adc.tofile(tmp_path / "adc.raw")
    for old, new in (
        ("/run/spng.sock", server.address.removeprefix("unix:")),
        ("models/pipeline", "models/chain"),
        ("[2560, 6000]", str(list(adc.shape))),
        ("30720000", str(adc.nbytes)),
    ):
        assert old in block
        block = block.replace(old, new)
    subprocess.run(["bash", "-ec", block], cwd=tmp_path, check=True, capture_output=True)
    (size,) = re.findall(rf"{protocol.LENGTH}: (\d+)", (tmp_path / "header.txt").read_text())
    body = (tmp_path / "response.bin").read_bytes()
    assert body[int(size) :] == frame.result["frame_signal_0"].tobytes()
    assert json.loads(body[: int(size)])["parameters"]["ident"] == 1


def test_nan_is_a_mask_as_in_files(server: Server, frame: Frame) -> None:
    adc = frame.adc.astype("<f4")
    adc[5, 10] = np.nan
    reply = protocol.infer(server.address, "chain", {"adc": adc, "channels": frame.channels})
    assert reply.status == 200, reply.json
    assert [mask[0] for mask in json.loads(reply.parameters["masks"])["nan"]] == [frame.channels[5]]


def test_concurrent_clients_get_their_own_results(server: Server, frame: Frame) -> None:
    expected = frame.result["frame_signal_0"].tobytes()

    def send(ident: int) -> tuple[int, int, bool]:
        address = server.addresses[ident % 2]
        reply = protocol.infer(address, "chain", frame.inputs(), ["signal"], ident=ident)
        return reply.status, reply.parameters["ident"], reply.arrays()["signal"].tobytes() == expected

    with ThreadPoolExecutor(6) as threads:
        results = list(threads.map(send, range(12)))
    assert results == [(200, ident, True) for ident in range(12)]


def test_a_connection_serves_several_requests(server: Server, frame: Frame) -> None:
    opened = protocol.connection(server.addresses[1])
    body, headers = protocol.encode(frame.inputs(), ["signal_channels"])
    for _ in range(3):
        opened.request("POST", "/v2/models/chain/versions/1/infer", body, headers)
        response = opened.getresponse()
        assert response.status == 200
        response.read()
    opened.request("GET", "/v2/health/ready")
    assert json.loads(opened.getresponse().read()) == {"ready": True}
    opened.close()


def test_server_and_models_are_described(server: Server, frame: Frame) -> None:
    def get(target: str) -> Any:
        reply = protocol.ask(server.address, "GET", target)
        assert reply.status == 200, reply.json
        return reply.json

    assert get("/v2")["name"] == "spng"
    assert get("/v2/health/live") == {"live": True}
    assert get("/v2/health/ready") == {"ready": True}
    assert get("/v2/models/chain/ready") == {"ready": True}
    model = get("/v2/models/chain")
    assert model["inputs"][0] == {"name": "adc", "datatype": "INT16", "shape": [-1, -1]}
    assert {"name": "signal", "datatype": "FP32", "shape": [len(frame.channels), -1]} in model["outputs"]
    network = get("/v2/models/dnnroi-standin")
    assert [each["name"] for each in network["inputs"]] == ["features"]
    listed = protocol.ask(server.address, "POST", "/v2/repository/index", b"").json
    assert [each["name"] for each in listed] == server.models == ["chain", "dnnroi-standin"]


def test_metrics_count_requests_and_nodes(server: Server, frame: Frame) -> None:
    sample = re.compile(r'^spng_requests_total\{model="chain",transport="http",result="ok"\} (\d+)$', re.M)

    def metrics() -> str:
        reply = protocol.ask(server.address, "GET", "/metrics")
        assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return reply.json

    protocol.infer(server.address, "chain", frame.inputs(), ["signal"])
    before = sample.search(metrics())
    protocol.infer(server.address, "chain", frame.inputs(), ["signal"])
    text = metrics()
    after = sample.search(text)
    assert before and after and int(after[1]) == int(before[1]) + 1
    for name in (
        "spng_queue_depth 0",
        "spng_queue_capacity 8",
        "spng_ready 1",
        'spng_run_seconds_count{model="chain"}',
        'spng_request_seconds_bucket{model="chain",le="+Inf"}',
        "process_resident_memory_bytes",
        "spng_node_wall_seconds_total{",
    ):
        assert name in text, name
    for line in text.splitlines():
        assert re.fullmatch(r"#.*|\w+(\{[^{}]*\})? \S+", line), line


def test_the_socket_is_private(server: Server) -> None:
    mode = Path(server.address.removeprefix("unix:")).stat().st_mode
    assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600


def test_tritons_client_of_http_gets_it(server: Server, frame: Frame) -> None:
    client_module = pytest.importorskip("tritonclient.http", reason="no tritonclient[http] is installed")
    client = client_module.InferenceServerClient(server.addresses[1].removeprefix("http://"))
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("chain")
    adc = client_module.InferInput("adc", list(frame.adc.shape), "INT16")
    adc.set_data_from_numpy(frame.adc)
    result = client.infer("chain", [adc], parameters={"ident": 3})
    assert result.as_numpy("signal").tobytes() == frame.result["frame_signal_0"].tobytes()
    assert result.get_response()["parameters"]["ident"] == 3


@needs_grpc
def test_tritons_client_of_grpc_gets_it(server: Server, frame: Frame) -> None:
    client_module = pytest.importorskip("tritonclient.grpc", reason="no tritonclient[grpc] is installed")
    client = client_module.InferenceServerClient(server.addresses[2].removeprefix("grpc://"))
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("chain")
    assert [each.name for each in client.get_model_metadata("chain").inputs] == ["adc", "channels"]
    adc = client_module.InferInput("adc", list(frame.adc.shape), "INT16")
    adc.set_data_from_numpy(frame.adc)
    result = client.infer("chain", [adc], parameters={"ident": 3})
    assert result.as_numpy("signal").tobytes() == frame.result["frame_signal_0"].tobytes()
    assert result.get_response().parameters["ident"].int64_param == 3
    with pytest.raises(client_module.InferenceServerException, match="the chain has no such input") as seen:
        wrong = client_module.InferInput("acd", list(frame.adc.shape), "INT16")
        wrong.set_data_from_numpy(frame.adc)
        client.infer("chain", [wrong])
    assert seen.value.status() == "StatusCode.INVALID_ARGUMENT"
    with pytest.raises(client_module.InferenceServerException) as seen:
        client.infer("unknown", [adc])
    assert seen.value.status() == "StatusCode.NOT_FOUND"
    with pytest.raises(client_module.InferenceServerException) as seen:
        large = client_module.InferInput("adc", [1000, 2000], "INT16")
        large.set_data_from_numpy(np.zeros((1000, 2000), np.int16))
        client.infer("chain", [large])
    assert seen.value.status() == "StatusCode.RESOURCE_EXHAUSTED"
    assert client.infer("chain", [adc]).as_numpy("signal").any()
