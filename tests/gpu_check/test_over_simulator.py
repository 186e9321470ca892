# SPDX-License-Identifier: Apache-2.0
"""Every stage of scripts/gpu_check ends well over the simulated CUDA runtime. Checks that need hardware are skipped with a reason."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support import cuda_simulator, wire_cell
from tests.support.small_site import Site

pytestmark = cuda_simulator.needs_simulator

# Checks that run, by stage; all others need hardware.
RUN = {
    "smoke": {
        "the libraries of the program load",
        "chain without network, against the CPU",
        "every product of the chain, against the CPU",
        "chain with the network, against the CPU",
    },
    "modes": {
        *(f"mode {name}" for name in ("exact", "again", "graph", "tbb", "graph-tbb", "two-replicas", "fast")),
        *(
            f"mode {name}"
            for name in ("fast-graph-tbb", "none", "none-graph", "sparse-files", "none-sparse-files")
        ),
        "events of two lengths",
        "long readout",
        "coherent filter",
        "steps on raw data",
        "float64",
        "simulation",
        "recording",
        "recording of CUDA graphs",
    },
    "sanitize": set(),
    "speed": {*(f"events in flight: {count}" for count in (1, 2, 4, 8)), "long run"},
}


@pytest.mark.parametrize("stage", RUN)
def test_stage(site: Site, stage: str) -> None:
    wire_cell.write_arrays(site.folder / "adc.npz", site.busy_frames(1, 400))
    results, work = site.folder / stage, site.folder / f"{stage}-work"
    folder, detector = site.flags[1], site.flags[3]
    done = subprocess.run(
        [
            *(sys.executable, wire_cell.ROOT / "scripts" / "gpu_check", stage, "--simulated", "--no-page"),
            *("--input", site.folder / "adc.npz", "--events", "4", "--out", results, "--work", work),
            *("--job", f'-P {folder} --tla-code "{detector}" -A threads=1'),
        ],
        env=cuda_simulator.environment(site.folder / "simulator.json", emulate=0),
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    checks = json.loads((results / f"{stage}.json").read_text(encoding="utf-8"))["checks"]
    assert {check["name"] for check in checks if check["status"] == "ok"} == RUN[stage]
    for check in checks:
        assert check["status"] == "ok" or (check["status"] == "skipped" and check["note"]), check
