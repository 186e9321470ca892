# SPDX-License-Identifier: Apache-2.0
"""Stage smoke: does the program start here, and do the chain and every operator agree with the CPU?"""

from __future__ import annotations

import sys
from typing import Any

from . import jobs
from .agreement import EXACT
from .jobs import Job, agree, run_job
from .outcome import Failed, Skipped
from .pytest_run import run_tests
from .stage import Stage

EVERY_TAG = "signal,error,decon_charge,wiener,loose,mp2,mp3,roi"
TORCH = """
import torch
assert torch.cuda.is_available(), "torch finds no device"
free, total = torch.cuda.mem_get_info()
print(torch.__version__, "cuDNN", torch.backends.cudnn.version(), torch.cuda.get_device_name(0), end=", ")
print(f"{free / 1e9:.1f} of {total / 1e9:.1f} GB free")
"""


def run(stage: Stage) -> None:
    """Run the checks."""
    stage.check("the GPU and its driver", lambda: gpu(stage))
    stage.check("torch in Python", lambda: torch_in_python(stage))
    stage.check("the libraries of the program load", lambda: libraries_load(stage))
    stage.check("chain without network, against the CPU", lambda: chain(stage, "none", 3))
    stage.check("every product of the chain, against the CPU", lambda: every_product(stage))
    stage.check("chain with the network, against the CPU", lambda: chain(stage, "default", 2))
    stage.check("every operator, against the CPU", lambda: operators(stage))


def gpu(stage: Stage) -> str:
    """Name the GPUs."""
    found = stage.results["machine"]["gpus"]
    if not found:
        stage.needs_hardware("nvidia-smi shows real devices only")
        raise Failed("nvidia-smi shows no GPU: no driver, or no permission")
    return "; ".join(
        f"{one['GPU']}, driver {one['driver']}, PCIe {one['PCIe generation']} x{one['PCIe width']}"
        for one in found
    )


def torch_in_python(stage: Stage) -> str:
    """Import torch in a new process and ask for the device."""
    stage.needs_hardware("torch in Python is not used")
    done = stage.run("torch", [sys.executable, "-c", TORCH], 60)
    if "ModuleNotFoundError" in done.text:
        raise Skipped("no torch in this Python")
    if done.status:
        raise Failed(done.failure())
    return done.last_lines(1)


def libraries_load(stage: Stage) -> str:
    """Resolve every symbol at the start."""
    words = [str(stage.setting.program), "-c", jobs.PIPELINE, "--check", *stage.setting.words]
    words += ["-A", f"device={stage.setting.device}"]
    done = stage.run("libraries", words, 60, {"LD_BIND_NOW": "1"}, stage.setting.work)
    if done.status:
        raise Failed(done.failure())
    return "every symbol is found at the start (LD_BIND_NOW=1)"


def cpu_job(stage: Stage, model: str, count: int) -> Job:
    """Run the chain on the CPU."""
    return run_job(stage, f"cpu-{model}", device="cpu", model=model, nevents=count)


def chain(stage: Stage, model: str, count: int) -> str:
    """Compare the chain on the device with that on the CPU."""
    reference = cpu_job(stage, model, count)
    try:
        seen = run_job(stage, f"cuda-{model}", model=model, nevents=count)
    except Failed as failure:
        again = jobs.blocking_failure(stage, "blocking", model=model)
        raise Failed(f"{failure}; with CUDA_LAUNCH_BLOCKING=1: {again.failure()}") from failure
    return agree(stage, reference, seen, EXACT)


def every_product(stage: Stage) -> str:
    """Compare all tags of one event."""
    settings: dict[str, Any] = {"model": "none", "nevents": 1, "tags": EVERY_TAG}
    reference = run_job(stage, "cpu-tags", **{**settings, "device": "cpu"})
    return agree(stage, reference, run_job(stage, "cuda-tags", **settings), EXACT)


def operators(stage: Stage) -> str:
    """Run the tests of the operators."""
    stage.needs_hardware("the operators are compared by the tests of the simulator")
    return run_tests(stage, "operators", ["-x", "tests/gpu/test_kernels.py"], 180)
