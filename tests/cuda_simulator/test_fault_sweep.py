# SPDX-License-Identifier: Apache-2.0
"""A device is lost at any launch of an event, or its memory ends at any size: the events completed before are kept to
the byte, the job ends with one clear error or goes on, and nothing crashes.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cuda_simulator import counts
from tests.support import cuda_simulator, wire_cell
from tests.support.small_site import Site

pytestmark = cuda_simulator.needs_simulator

TICKS, EVENTS = 400, 3
MODES: dict[str, dict[str, object]] = {
    "one device": {"events_in_flight": 1},
    "graph": {"events_in_flight": 1, "cuda_graph": "on"},
    "two devices": {"device": "cuda:0,cuda:1", "engine": "TbbFlow"},
}


@pytest.fixture(name="good", scope="module")
def fixture_good(site: Site) -> dict[str, np.ndarray]:
    """The signals without a fault."""
    wire_cell.write_arrays(site.folder / "adc.npz", site.busy_frames(EVENTS, TICKS))
    arrays = wire_cell.job(site.folder, *site.flags, input="adc.npz", model="none", threads=1)
    return {name: array for name, array in arrays.items() if name.startswith("frame_")}


def run(
    site: Site, mode: dict[str, object], **settings: object
) -> tuple[cuda_simulator.Run, dict[str, np.ndarray]]:
    """Run the job; return it and the signals in its output, none if there is no output."""
    output: Path = site.folder / "cuda.npz"
    output.unlink(missing_ok=True)
    arguments = {"overlap_files": "false", **mode}
    job = cuda_simulator.job(site.folder, site.flags, arguments, emulate=0, **settings)
    arrays = wire_cell.read_arrays(output) if output.exists() else {}
    assert not [path for path in site.folder.iterdir() if "tmp" in path.name or "part" in path.name]
    return job, {name: array for name, array in arrays.items() if name.startswith("frame_")}


def check_kept(seen: dict[str, np.ndarray], good: dict[str, np.ndarray]) -> None:
    """The output has the first events, each equal to the byte."""
    assert list(seen) == list(good)[: len(seen)]
    for name, array in seen.items():
        np.testing.assert_array_equal(array, good[name], err_msg=name)


def errors(job: cuda_simulator.Run) -> list[str]:
    return [line for line in job.done.stderr.splitlines() if line.startswith("error: ")]


def launches(mode: str) -> tuple[int, int]:
    """Return (launches of start and first event, launches of a later event)."""
    found = json.loads(counts.FILE.read_text(encoding="utf-8"))[mode]
    event = found["event"]["kernels"] + found["event"].get("launches of graphs", 0)
    start = found[f"start and {counts.FIRST} events"]
    first = start["kernels"] + start.get("launches of graphs", 0) - (counts.FIRST - 1) * event
    return int(first), int(event)


def launches_of_second_event(mode: str) -> range:
    first, event = launches(mode)
    return range(first, first + event)


def check_loss(job: cuda_simulator.Run, seen: dict[str, np.ndarray], good: dict[str, np.ndarray]) -> None:
    """The only device was lost in the second event: the first one is kept."""
    assert job.done.returncode == 1, job.done.stderr
    job.report.check()
    assert job.report.all["lost_devices"] == 1
    assert errors(job) == ["error: the device cuda:0 stopped working"]
    assert len(job.done.stderr.splitlines()) <= 7, job.done.stderr
    check_kept(seen, good)
    assert len(seen) in (1, 2)  # the second is complete if the loss shows after its last launch


@pytest.mark.parametrize("launch", launches_of_second_event("none"))
def test_the_only_device_is_lost(site: Site, good: dict[str, np.ndarray], launch: int) -> None:
    job, seen = run(site, MODES["one device"], lost_after=launch)
    check_loss(job, seen, good)


@pytest.mark.parametrize("launch", launches_of_second_event("none, cuda_graph"))
def test_the_only_device_is_lost_with_a_graph(site: Site, good: dict[str, np.ndarray], launch: int) -> None:
    job, seen = run(site, MODES["graph"], lost_after=launch)
    check_loss(job, seen, good)


@pytest.mark.parametrize("chains", [0, 0.4, 1, 1.5, 2, 2.3, 2.7, 2.95])
def test_one_of_two_devices_is_lost(site: Site, good: dict[str, np.ndarray], chains: float) -> None:
    """The device is lost in one of the two chains of its warm-up or in an event; the other one does the whole job."""
    lost_after = int(chains * launches("none")[1])
    job, seen = run(site, MODES["two devices"], lost_after=lost_after, lost_device=1)
    assert job.report.all["lost_devices"] == 1
    job.report.check()
    assert job.done.returncode == 0, job.done.stderr
    assert len(seen) == len(good)
    check_kept(seen, good)
    assert "cuda:1 is lost" in job.done.stderr and len(job.done.stderr.splitlines()) <= 4, job.done.stderr


@pytest.mark.parametrize("mode", ["one device", "graph"])
@pytest.mark.parametrize("memory_mb", [2, 12, 20, 28, 40])
def test_memory_ends(site: Site, good: dict[str, np.ndarray], mode: str, memory_mb: float) -> None:
    """The device has less than it says, as if another program took it meanwhile."""
    job, seen = run(site, MODES[mode], memory_mb=memory_mb, memory_seen_mb=80_000)
    job.report.check()
    check_kept(seen, good)
    if job.done.returncode == 0:
        assert len(seen) == len(good)
    else:
        assert job.done.returncode == 1 and len(errors(job)) == 1 and "memory" in errors(job)[0], (
            job.done.stderr
        )
