# SPDX-License-Identifier: Apache-2.0
"""Compare the operators on a CUDA device with those on the CPU. Without a device, check that the library
with the kernels loads and that each operator has its cases.

compute-sanitizer runs over the tests that have a device (docs/decisions/cuda-kernels.md).
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support import wire_cell

LIBRARIES = [
    wire_cell.PROGRAM.parents[1] / "lib" / name for name in ("libWireCellSpng.so", "libWireCellSpngCuda.so")
]

pytestmark = pytest.mark.skipif(
    not all(path.exists() for path in LIBRARIES),
    reason="libWireCellSpngCuda.so is not built: no compiler for CUDA, or a LibTorch without it",
)

# torch is loaded in a separate process, because the other tests do not need it and its absence is not a failure.
PRELUDE = f"""
import torch
for library in {[str(path) for path in LIBRARIES]}:
    torch.ops.load_library(library)
"""


def run(*words: str) -> str:
    """Run Python with these words and return the output."""
    done = subprocess.run(
        [sys.executable, *words], cwd=wire_cell.ROOT, capture_output=True, text=True, check=False
    )
    if "No module named 'torch'" in done.stderr:
        pytest.skip("no torch in Python")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def probe(*words: str) -> list[str]:
    """Run bench/gpu/probe_operators and return the operators that it called."""
    return run("-m", "bench.gpu.probe_operators", *words, *map(str, LIBRARIES)).split(": ")[1].split()


@pytest.mark.parametrize("words", [(), ("--compare",)])
def test_every_operator_for_a_device_has_cases(words: tuple[str, ...]) -> None:
    registered = run(
        "-c",
        PRELUDE
        + """
for name in torch._C._dispatch_get_all_op_names():
    if name.startswith("spng::") and torch._C._dispatch_has_kernel_for_dispatch_key(name, "CUDA"):
        assert torch._C._dispatch_has_kernel_for_dispatch_key(name, "CPU"), name
        print(name.removeprefix("spng::"))
""",
    )
    assert probe("--device", "cpu", *words) == sorted(registered.split())


@pytest.mark.gpu
def test_devices_agree_with_the_cpu() -> None:
    probe("--compare")


@pytest.mark.gpu
def test_rows_of_more_than_two_to_the_31_samples_in_all() -> None:
    run(
        "-c",
        PRELUDE
        + """
if torch.cuda.mem_get_info()[0] > 24e9:
    rows = 360_000
    adc = torch.zeros((rows, 6000), dtype=torch.int16, device="cuda")
    adc[-1] = torch.arange(6000, dtype=torch.int16)
    result = torch.ops.spng.waveform_spectrum(adc, 6000, torch.float32, None)
    first = result[-1, 0].item()  # the sum of -2999 to 3000
    assert abs(first - 3000) < 10 and result[0].abs().max().item() == 0
""",
    )
