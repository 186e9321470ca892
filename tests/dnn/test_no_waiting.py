# SPDX-License-Identifier: Apache-2.0
"""Operations of the chain with the network: none between source and sink makes the host wait for a device."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.endtoend.test_counts import FILE_NODES, HIDDEN_SYNCHRONISATIONS
from tests.support import wire_cell

pytestmark = wire_cell.needs_program

# Nine operations on one value per channel for the input noise: quotient, NaN for bad channels (two), median, two
# limits, product, comparison, selection. Five for views with few channels: number of good channels, comparison, two
# selections, NaN. One for the features and one for the ROIs.
NODE_OPERATIONS = {"SPNGDNNROI:induction": 20, "SPNGChannelRMS:loose-induction": 1}


@pytest.mark.parametrize("precision", ["exact", "fast"])
def test_no_operation_waits(tmp_path: Path, precision: str) -> None:
    """This includes the operations of the network, which are counted for its service."""
    wire_cell.job(tmp_path, "--timing", "timing.json", precision=precision)
    nodes = json.loads((tmp_path / "timing.json").read_text(encoding="utf-8"))["nodes"]
    seen = {node["name"]: node["leaf_operations"] for node in nodes if node["name"] in NODE_OPERATIONS}
    assert seen == NODE_OPERATIONS
    assert any(node["type"] == "SPNGTorchService" and node["leaf_operations"] > 20 for node in nodes)
    for node in nodes:
        if node["type"] not in FILE_NODES:
            assert not HIDDEN_SYNCHRONISATIONS & set(node["operations"]), (node["name"], node["operations"])
