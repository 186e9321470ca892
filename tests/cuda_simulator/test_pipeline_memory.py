# SPDX-License-Identifier: Apache-2.0
"""Frames in memory over the simulated runtime: arrays of the host, and torch tensors that stay on the device."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from tests.support import cuda_simulator
from tests.support.small_site import Site

TICKS = 2000
CONFIGURATION = """
local memory = import 'memory.jsonnet';
local pipeline = import 'pipeline.jsonnet';
function(device, results_on_device='false')
    pipeline(input=memory.MemorySource(), output=memory.MemorySink(), detname=import 'small.jsonnet', device=device,
             threads=1, check_input=false, results_on_device=results_on_device)
"""
PROGRAM = """
import sys
import weakref

import numpy as np
import spng

folder, kind = sys.argv[1:]
waveforms = list(np.load(folder + "/adc.npy"))
on_device = kind == "tensor"
if on_device:
    import torch

    from_dlpack, current_stream, sources, checked = torch.from_dlpack, torch.cuda.current_stream, [], []

    def seen_from_dlpack(capsule):
        tensor = from_dlpack(capsule)
        sources.append(weakref.ref(tensor))
        return tensor

    def seen_current_stream(device):
        # The memory of a result must live until its copy is waited for.
        assert all(source() is not None for source in sources)
        checked.extend(sources)
        sources.clear()
        return current_stream(device)

    torch.from_dlpack, torch.cuda.current_stream = seen_from_dlpack, seen_current_stream
    waveforms = [torch.from_numpy(each).cuda() for each in waveforms]
with spng.Pipeline(
    configuration=folder + "/job.jsonnet", device="cuda", results_on_device=on_device
) as pipeline:
    pending = [pipeline.submit(each, ident=ident) for ident, each in enumerate(waveforms)]
    results = [each.result() for each in pending]
    assert [each.ident for each in results] == list(range(len(waveforms)))
    found = [each["signal"].samples for each in results]
    if on_device:
        assert all(each.is_cuda for each in found)
        assert len(checked) == len(waveforms)
        found = [each.cpu().numpy() for each in found]
    np.save(folder + f"/{kind}.npy", np.stack(found))
"""


@dataclass(frozen=True)
class Result:
    """Signals (event, channel, tick) and the counts of the simulator."""

    samples: np.ndarray
    report: cuda_simulator.Report


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    small = Site.at(tmp_path_factory.mktemp("memory"))
    (small.folder / "job.jsonnet").write_text(CONFIGURATION, encoding="utf-8")
    frames = small.busy_frames(3, TICKS)
    waveforms = [array for name, array in frames.items() if name.startswith("frame_")]
    np.save(small.folder / "adc.npy", np.stack(waveforms))
    return small


def over_simulator(site: Site, kind: str) -> Result:
    report = site.folder / f"{kind}.json"
    environment = cuda_simulator.environment(report) | {"WIRECELL_PATH": str(site.folder)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(site.folder), kind],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return Result(np.load(site.folder / f"{kind}.npy"), cuda_simulator.Report(report))


@pytest.fixture(scope="module")
def on_cpu(site: Site) -> np.ndarray:
    program = PROGRAM.replace('device="cuda"', 'device="cpu"')
    environment = os.environ | {"WIRECELL_PATH": str(site.folder)}
    subprocess.run([sys.executable, "-c", program, str(site.folder), "cpu"], env=environment, check=True)
    return np.load(site.folder / "cpu.npy")


def require_equal(seen: np.ndarray, expected: np.ndarray) -> None:
    """ROIs are equal, and values as far as other transforms allow."""
    assert np.count_nonzero(expected) > 1000
    assert np.array_equal(seen != 0, expected != 0)
    np.testing.assert_allclose(seen, expected, atol=1e-5 * np.abs(expected).max())


@cuda_simulator.needs_simulator
def test_arrays_of_the_host(site: Site, on_cpu: np.ndarray) -> None:
    result = over_simulator(site, "array")
    require_equal(result.samples, on_cpu)
    result.report.check()


@cuda_simulator.needs_simulator
def test_tensors_stay_on_the_device(site: Site, on_cpu: np.ndarray) -> None:
    """No frame goes to the host between the program's own copies, one each way for each event."""
    pytest.importorskip("torch").cuda  # noqa: B018  (the slim environment has no torch for Python)
    result = over_simulator(site, "tensor")
    require_equal(result.samples, on_cpu)
    result.report.check()
    frame_bytes = on_cpu[0].nbytes
    _, to_host = result.report.copies("to_host")
    assert to_host < (len(on_cpu) + 0.5) * frame_bytes
