# SPDX-License-Identifier: Apache-2.0
"""One server for the tests of a file, with the small detector and a network that is not trained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from tests.serve import serving
from tests.serve.serving import Server
from tests.support import wire_cell
from tests.support.small_site import Site

TICKS = 600
MODEL = {"model": "standin", "device": "cpu", "threads": "1", "check_input": "false"}
GRPC = wire_cell.PROGRAM.parent.parent / "lib" / "libWireCellSpngGrpc.so"
needs_grpc = pytest.mark.skipif(not GRPC.exists(), reason="built without gRPC")


def words_of(site: Site, **arguments: str) -> list[str]:
    """Return the command line of jobs and servers on the small detector."""
    given = MODEL | arguments
    return [
        "-c",
        wire_cell.PIPELINE,
        *site.flags,
        *wire_cell.settings(**given),
    ]


@dataclass(frozen=True)
class Frame:
    """An event and its result by a job on files."""

    adc: np.ndarray
    channels: np.ndarray
    result: wire_cell.Arrays

    def inputs(self) -> dict[str, np.ndarray]:
        return {"adc": self.adc, "channels": self.channels}


TAGS = "signal,wiener,roi"
OPTIONS = ["--serve-queue", "8", "--serve-max-bytes", "2000000"]


@pytest.fixture(name="frame", scope="module")
def fixture_frame(site: Site) -> Frame:
    arrays = site.busy_frames(1, TICKS)
    wire_cell.write_arrays(site.folder / "adc.npz", arrays)
    done = wire_cell.run(*words_of(site, tags=TAGS, input="adc.npz", output="signal.npz"), folder=site.folder)
    assert done.returncode == 0, done.stderr
    channels = np.asarray(arrays["channels_*_0"], np.int32)
    return Frame(arrays["frame_*_0"], channels, wire_cell.read_arrays(site.folder / "signal.npz"))


@pytest.fixture(name="server", scope="module")
def fixture_server(site: Site) -> Iterator[Server]:
    """HTTP over a Unix socket and TCP, and gRPC where the build has it."""
    addresses = ["unix:spng.sock", "localhost:0"] + (["grpc://127.0.0.1:0"] if GRPC.exists() else [])
    words = [*words_of(site, tags=TAGS), *OPTIONS, "--serve-name", "chain"]
    with serving.serving(*words, addresses=addresses, folder=site.folder) as server:
        unix = f"unix:{site.folder}/spng.sock"
        server.addresses[0] = unix
        yield server
