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
ENGINES = ["Pgrapher", "TbbFlow"]


@dataclass(frozen=True)
class Job:
    """A job over the simulator, its output without a fault, and the launches of each device until its end."""

    site: Site
    arguments: dict[str, object]
    expected: wire_cell.Arrays
    launches: int

    def run(self, **settings: object) -> cuda_simulator.Run:
        (self.site.folder / "output.npz").unlink(missing_ok=True)
        return run(self.site, self.arguments, **settings)

    def output(self) -> wire_cell.Arrays:
        return wire_cell.read_arrays(self.site.folder / "output.npz")

    def frames(self) -> int:
        path = self.site.folder / "output.npz"
        return sum(name.startswith("frame_") for name in self.output()) if path.exists() else 0


def run(site: Site, arguments: dict[str, object], **settings: object) -> cuda_simulator.Run:
    words = [word for name, value in arguments.items() for word in ("-A", f"{name}={value}")]
    return cuda_simulator.run(
        site.folder,
        "-c",
        wire_cell.PIPELINE,
        *site.flags,
        *words,
        devices=1 + str(arguments["device"]).count(","),
        **settings,
    )


def job_on(site: Site, device: str, **arguments: object) -> Job:
    """Run the job without a fault."""
    wire_cell.write_arrays(site.folder / "adc.npz", site.busy_frames(EVENTS, TICKS))
    given = {
        "input": "adc.npz",
        "output": "output.npz",
        "model": "none",
        "threads": 1,
        "device": device,
        **arguments,
    }
    sound = run(site, given)
    assert sound.done.returncode == 0, sound.done.stderr
    launches = sound.report.kernels() // (1 + device.count(","))
    return Job(site, given, wire_cell.read_arrays(site.folder / "output.npz"), launches)


def assert_quiet(stderr: str) -> None:
    """No warning of LibTorch, no stack trace, no end by an exception."""
    for sign in ("Warning:", "frame #", "terminate", "Exception raised", "Compile with `TORCH_USE_CUDA_DSA`"):
        assert sign not in stderr, stderr


def points(job: Job, count: int) -> list[int]:
    """Numbers of launches from the first to the last, in as many steps."""
    return [int(at) for at in np.linspace(0, job.launches - 2, count)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("lost", [0, 1])
def test_the_other_device_goes_on(site: Site, engine: str, lost: int) -> None:
    job = job_on(site, "cuda:0,cuda:1", engine=engine)
    moved = 0
    for at in points(job, 8):
        run = job.run(lost_after=at, lost_device=lost)
        assert run.done.returncode == 0, run.done.stderr
        assert_quiet(run.done.stderr)
        assert not re.search("^error: ", run.done.stderr, re.MULTILINE), run.done.stderr
        moved += bool(re.search(rf"cuda:{lost} is lost .* restarts on cuda:{1 - lost}", run.done.stderr))
        output = job.output()
        assert list(output) == list(job.expected)
        for name, expected in job.expected.items():
            if not name.startswith("notes"):  # names of devices
                np.testing.assert_array_equal(output[name], expected, err_msg=f"{name}, lost after {at}")
    assert moved >= 4


@pytest.mark.parametrize("engine", ENGINES)
def test_the_only_device_leaves_what_was_complete(site: Site, engine: str) -> None:
    job = job_on(site, "cuda:0", engine=engine)
    kept = []
    for at in points(job, 6):
        run = job.run(lost_after=at, lost_device=0)
        assert run.done.returncode == 1, run.done.stderr
        assert_quiet(run.done.stderr)
        errors = [line for line in run.done.stderr.splitlines() if line.startswith("error: ")]
        assert errors == ["error: the device cuda:0 stopped working"], run.done.stderr
        kept.append(job.frames())
        if kept[-1] > 0:
            for name, samples in job.output().items():
                if name.startswith("frame_"):
                    np.testing.assert_array_equal(samples, job.expected[name], err_msg=name)
    assert kept == sorted(kept) and kept[0] == 0 and kept[-1] >= EVENTS - 2


def test_the_other_device_goes_on_with_cuda_graphs(site: Site) -> None:
    job = job_on(site, "cuda:0,cuda:1", engine="TbbFlow", cuda_graph="on")
    for at in points(job, 5):
        run = job.run(lost_after=at, lost_device=1)
        assert run.done.returncode == 0, run.done.stderr
        assert_quiet(run.done.stderr)
        assert "a capture failed" not in run.done.stderr, run.done.stderr
        output = job.output()
        for name, expected in job.expected.items():
            if not name.startswith("notes"):
                np.testing.assert_array_equal(output[name], expected, err_msg=f"{name}, lost after {at}")


def test_a_loss_after_the_last_event_is_one_warning(site: Site) -> None:
    """The device has nothing to do any more, so no event fails."""
    job = job_on(site, "cuda:0,cuda:1", engine="Pgrapher")
    run = job.run(lost_after=job.launches - 1, lost_device=1)
    assert run.done.returncode == 0, run.done.stderr
    assert_quiet(run.done.stderr)
    assert job.frames() == EVENTS
