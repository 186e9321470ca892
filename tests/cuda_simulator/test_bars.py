# SPDX-License-Identifier: Apache-2.0
"""An event of full size costs a device no more than its bars: launches, traffic, transfers and waits, without network."""

from __future__ import annotations

import re

import pytest

from tests.cuda_simulator import default_event, estimate
from tests.cuda_simulator.default_event import EventCost
from tests.support import cuda_simulator

pytestmark = cuda_simulator.needs_simulator

MAX_KERNELS = 45  # with transforms
MAX_TRAFFIC = 0.7e9
MAX_DOWNLOAD = 3e6
FRAME_BYTES = 2560 * 6000 * 2  # as read: int16
SMALL_BYTES = 100_000  # tables, indices, flags
# Calls of the CUDA runtime, which are most of the host's work with a driver. Queries depend on the progress of the device.
MAX_CALLS = {"off": 100, "on": 30}
QUERIES = ("cudaEventQuery", "cudaEventElapsedTime")


@pytest.fixture(name="costs", scope="module")
def fixture_costs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, EventCost]:
    """The cost of an event without and with a CUDA graph."""
    folder = tmp_path_factory.mktemp("bars")
    frames = default_event.write_frames(folder)
    return {graph: default_event.run(folder, frames, cuda_graph=graph) for graph in ("off", "on")}


@pytest.mark.parametrize("graph", ["off", "on"])
class TestEvent:
    def test_kernels(self, costs: dict[str, EventCost], graph: str) -> None:
        total = costs[graph].total
        assert 0 < total.kernels + total.transforms <= MAX_KERNELS

    def test_traffic(self, costs: dict[str, EventCost], graph: str) -> None:
        """A graph reads and writes its tensors where the other nodes leave and expect them."""
        assert 0 < costs[graph].total.traffic <= MAX_TRAFFIC

    def test_downloads(self, costs: dict[str, EventCost], graph: str) -> None:
        """The result comes as the samples inside ROIs, not as a frame."""
        assert 0 < costs[graph].total.download_bytes <= MAX_DOWNLOAD

    def test_uploads(self, costs: dict[str, EventCost], graph: str) -> None:
        """The frame is uploaded as it was read: the host gathers no channels."""
        large = [size for size in costs[graph].uploads if size > SMALL_BYTES]
        assert large == [FRAME_BYTES]
        assert costs[graph].total.upload_bytes <= FRAME_BYTES + SMALL_BYTES

    def test_waits(self, costs: dict[str, EventCost], graph: str) -> None:
        assert costs[graph].count(default_event.WAITS) == 1

    def test_allocations(self, costs: dict[str, EventCost], graph: str) -> None:
        """Memory of the device and page-locked memory come from earlier events."""
        assert costs[graph].count(default_event.ALLOCATIONS) == 0

    def test_calls(self, costs: dict[str, EventCost], graph: str) -> None:
        calls = costs[graph].calls
        assert calls.total() - costs[graph].count(QUERIES) <= MAX_CALLS[graph], calls


def test_a_graph_is_one_launch(costs: dict[str, EventCost]) -> None:
    assert (costs["off"].graph_launches, costs["on"].graph_launches) == (0, 1)


def test_the_estimate_has_the_counts_of_the_code(costs: dict[str, EventCost]) -> None:
    """A change that changes them writes the page again: .venv/bin/python -m tests.cuda_simulator.estimate"""
    now = estimate.page(costs["off"], host=None)
    page = estimate.PAGE.read_text(encoding="utf-8")
    assert estimate.counts_of(now) == estimate.counts_of(page)
    assert re.search(
        rf"^{estimate.ORIGIN}\d{{4}}-\d\d-\d\dT[\d:]+Z, commit [0-9a-f]+, on .+\.$", page, re.MULTILINE
    )
