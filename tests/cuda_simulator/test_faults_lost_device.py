# SPDX-License-Identifier: Apache-2.0
"""A device that is lost in mid-run, over the simulated CUDA runtime: with another device the output is complete and the
same; alone, the events that were complete are kept, and one error names the device.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest

from tests.support import cuda_simulator, wire_cell
from tests.support.small_site import Site

pytestmark = cuda_simulator.needs_simulator

EVENTS, TICKS = 5, 600
WARM_UP = 2  # chains on each device before the first event, one for each event in flight


@dataclass(frozen=True)
class Jobs:
    """Jobs on the same events."""

    site: Site
    expected: wire_cell.Arrays  # output without a fault
    launches: float  # of an event

    def run(self, device: str, after_events: float, lost: int, **arguments: object) -> str:
        """Lose a device when it has worked on so many events; return stderr."""
        (self.site.folder / "output.npz").unlink(missing_ok=True)
        lost_after = int((WARM_UP + after_events) * self.launches)
        run = run_job(self.site, device, lost_after=lost_after, lost_device=lost, arguments=arguments)
        stderr: str = run.done.stderr
        # No warning of LibTorch, no stack trace, no end by an exception, no advice for programmers.
        for sign in ("Warning:", "frame #", "terminate", "Exception raised", "TORCH_USE_CUDA_DSA"):
            assert sign not in stderr, stderr
        errors = re.findall("^error: .*", stderr, re.MULTILINE)
        alone = "," not in device
        assert errors == ([f"error: the device cuda:{lost} stopped working"] if alone else []), stderr
        assert run.done.returncode == (1 if alone else 0), stderr
        return stderr

    def frames(self) -> wire_cell.Arrays:
        """Frames of the output, each as without a fault."""
        path = self.site.folder / "output.npz"
        output = wire_cell.read_arrays(path) if path.exists() else {}
        frames = {name: samples for name, samples in output.items() if name.startswith("frame_")}
        for name, samples in frames.items():
            np.testing.assert_array_equal(samples, self.expected[name], err_msg=name)
        return frames


def run_job(
    site: Site, device: str, arguments: dict[str, object] | None = None, **settings: object
) -> cuda_simulator.Run:
    given = {"output": "output.npz", "device": device, **(arguments or {})}
    return cuda_simulator.job(site.folder, site.flags, given, emulate=0, **settings)


@pytest.fixture(name="jobs", scope="module")
def fixture_jobs(site: Site) -> Jobs:
    wire_cell.write_arrays(site.folder / "adc.npz", site.busy_frames(EVENTS, TICKS))
    sound = run_job(site, "cuda:0,cuda:1")
    assert sound.done.returncode == 0, sound.done.stderr
    expected = wire_cell.read_arrays(site.folder / "output.npz")
    assert any(samples.any() for name, samples in expected.items() if name.startswith("frame_"))
    return Jobs(site, expected, sound.report.kernels() / (2 * WARM_UP + EVENTS))


@pytest.mark.parametrize(
    "engine, lost, after_events",
    [
        ("Pgrapher", 0, 0.99),  # the fault shows while the sink waits
        ("TbbFlow", 1, 0.99),
        ("TbbFlow", 1, -1.5),  # during the warm-up
    ],
)
def test_the_other_device_goes_on(jobs: Jobs, engine: str, lost: int, after_events: float) -> None:
    stderr = jobs.run("cuda:0,cuda:1", after_events, lost, engine=engine)
    assert re.search(rf"cuda:{lost} is lost \(.*\); event \d+ restarts on cuda:{1 - lost}", stderr), stderr
    assert len(jobs.frames()) == EVENTS


def test_the_other_device_goes_on_with_cuda_graphs(jobs: Jobs) -> None:
    stderr = jobs.run("cuda:0,cuda:1", 0.5, 1, engine="TbbFlow", cuda_graph="on")
    assert "cuda:1 is lost" in stderr and "a capture failed" not in stderr, stderr
    assert len(jobs.frames()) == EVENTS


@pytest.mark.parametrize("engine", ["Pgrapher", "TbbFlow"])
def test_the_only_device_leaves_what_was_complete(jobs: Jobs, engine: str) -> None:
    jobs.run("cuda:0", 3.5, 0, engine=engine)
    assert 1 <= len(jobs.frames()) < EVENTS
