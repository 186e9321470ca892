# SPDX-License-Identifier: Apache-2.0
"""Compare the operators on a CUDA device with those on the CPU. Without a device, check that the library
with the kernels loads and is complete.

compute-sanitizer runs over the tests that have a device (docs/decisions/cuda-kernels.md).
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.gpu.test_cuda import needs_device
from tests.support import wire_cell

LIBRARIES = [
    wire_cell.PROGRAM.parents[1] / "lib" / name for name in ("libWireCellSpng.so", "libWireCellSpngCuda.so")
]

pytestmark = pytest.mark.skipif(
    not all(path.exists() for path in LIBRARIES),
    reason="libWireCellSpngCuda.so is not built: no compiler for CUDA, or a LibTorch without it",
)

OPERATORS = (
    "waveform_spectrum",
    "deconvolve",
    "apply_time_filter",
    "robust_noise",
    "plain_rms",
    "pack_ticks",
    "pack_above",
    "unpack_ticks",
    "coincidence",
    "or_neighbours",
    "multi_plane",
    "grow_regions",
    "confirmed_runs",
    "apply_regions_linear",
    "apply_regions_restored",
    "clipped_running_sum",
)

# torch is loaded in a separate process, because the other tests do not need it and its absence is not a failure.
PRELUDE = f"""
import sys
try:
    import torch
except ImportError as error:
    print(error)
    sys.exit(77)
for library in {[str(path) for path in LIBRARIES]}:
    torch.ops.load_library(library)
spng = torch.ops.spng
torch.manual_seed(20261121)
def same(operator, *arguments, tolerance=0.0):
    cuda = [value.cuda() if isinstance(value, torch.Tensor) else value for value in arguments]
    seen, again, expected = operator(*cuda), operator(*cuda), operator(*arguments)
    if isinstance(seen, torch.Tensor):
        seen, again, expected = [seen], [again], [expected]
    for one, two, cpu in zip(seen, again, expected):
        assert torch.equal(one, two), (operator, "does not repeat")
        one = one.cpu()
        assert one.shape == cpu.shape and one.dtype == cpu.dtype, (operator, one.shape, one.dtype)
        if tolerance == 0:
            assert torch.equal(one, cpu), (operator, [value.shape for value in arguments if isinstance(value, torch.Tensor)])
        else:
            difference = (one - cpu).abs().max().item() if one.numel() else 0
            assert difference <= tolerance, (operator, difference)
"""


def run(text: str) -> None:
    """Run the lines in a new Python process."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + text],
        cwd=wire_cell.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77:
        pytest.skip(f"no torch in Python: {done.stdout.strip()}")
    assert done.returncode == 0, done.stdout + done.stderr


def test_loading_the_library_gives_every_operator_its_kernel() -> None:
    run(f"""
for name in {OPERATORS}:
    has, computed = torch._C._dispatch_has_kernel_for_dispatch_key, torch._C._dispatch_has_computed_kernel_for_dispatch_key
    assert has("spng::" + name, "CUDA") and computed("spng::" + name, "CPU"), name
""")


@needs_device
def test_transforms() -> None:
    """Of rows in shared memory, up to 30000 ticks, and of ATen beyond; 22 = 2 x 11 channels."""
    run("""
for ticks, padded in ((1, 1), (33, 35), (64, 64), (700, 1050), (6000, 6300), (30000, 30240), (70000, 70560)):
    for kind, step in ((torch.float32, 1e-6), (torch.float64, 1e-14)):
        tolerance = 300 * step * padded**0.5 * 10
        good = torch.rand(2, 20) < 0.8
        adc = torch.randint(-300, 300, (2, 20, ticks), dtype=torch.int16)
        same(spng.waveform_spectrum, adc, padded, kind, good, tolerance=tolerance)
        same(spng.waveform_spectrum, adc.to(kind), padded, kind, None, tolerance=tolerance)
        complex_kind = torch.complex64 if kind == torch.float32 else torch.complex128
        spectrum = torch.randn(2, 20, padded // 2 + 1, dtype=complex_kind)
        for views, channels in ((2, 20), (1, 25), (1, 22)):
            kernel = torch.randn(views, channels, padded // 2 + 1, dtype=complex_kind)
            same(spng.deconvolve, spectrum, kernel, tolerance=100 * step)
        response = torch.randn(1, 1, padded // 2 + 1, dtype=complex_kind)
        same(spng.apply_time_filter, spectrum, response, padded, ticks, tolerance=10 * step)
        short = response[..., : padded // 4 // 2 + 1].contiguous()
        same(spng.apply_time_filter, spectrum, short, padded // 4 or 1, ticks // 4, tolerance=100 * step)
""")


@needs_device
def test_noise() -> None:
    run("""
for ticks in (1, 31, 33, 64, 1025, 6000, 30000):
    for kind in (torch.float32, torch.float64):
        waves = (torch.randn(7, ticks, dtype=torch.float64) * 300).to(kind)
        same(spng.robust_noise, waves, 5.0, tolerance=1e-3 if kind == torch.float32 else 1e-10)
        same(spng.plain_rms, waves, tolerance=1e-3 if kind == torch.float32 else 1e-10)
        same(spng.robust_noise, waves[:, ::2], 3.0, tolerance=1e-3 if kind == torch.float32 else 1e-10)
""")


@needs_device
def test_packed_ticks() -> None:
    run("""
for ticks in (1, 63, 64, 65, 1500, 2049, 6001):
    mask = torch.rand(9, ticks) < 0.7
    packed, seeds = spng.pack_ticks(mask), spng.pack_ticks(torch.rand(9, ticks) < 0.02)
    same(spng.pack_ticks, mask)
    same(spng.unpack_ticks, packed, ticks)
    waves = torch.randn(9, ticks + 9)[:, 4:4 + ticks]
    same(spng.pack_above, waves, torch.rand(9), 0.7, torch.randn(9), 0.1, torch.rand(9) < 0.8)
    for before, after in ((0, 0), (1, 1), (70, 3), (0, 100000)):
        same(spng.grow_regions, seeds, packed, ticks, before, after)
    same(spng.confirmed_runs, packed, spng.pack_ticks(torch.rand(9, ticks) < 0.5), seeds, ticks, 0.4)
    offsets = torch.tensor([0, 40, 40, 900], dtype=torch.int32)
    same(spng.coincidence, packed, offsets, torch.randint(0, 9, (900, 2), dtype=torch.int32), 860)
    same(spng.or_neighbours, packed, torch.randint(-1, 9, (9, 3), dtype=torch.int32))
    same(spng.multi_plane, packed, seeds, ticks, [2, 3, 0, 1])
""")


@needs_device
def test_waveforms_in_regions() -> None:
    run("""
for ticks in (1, 64, 1025, 6000, 6001):
    slices = (ticks + 3) // 4
    regions = (torch.rand(5, slices) < 0.05).cumsum(-1) % 2 == 1
    for kind, tolerance in ((torch.float32, 2e-3), (torch.float64, 1e-10)):
        waves = (torch.randn(5, ticks, dtype=torch.float64) * 1000).to(kind)
        same(spng.apply_regions_linear, waves, regions, 4, tolerance=tolerance)
        same(spng.apply_regions_restored, waves, regions, 4, tolerance=tolerance)
        unit = torch.full((5,), 900, dtype=kind)
        for samples in (1, 17, 51):
            same(spng.clipped_running_sum, waves, torch.zeros(5, dtype=kind), unit, 4.0, samples, tolerance=1e-4)
""")


@needs_device
def test_rows_of_more_than_two_to_the_31_samples_in_all() -> None:
    run("""
if torch.cuda.mem_get_info()[0] < 24e9:
    sys.exit(0)
rows = 360_000
adc = torch.zeros((rows, 6000), dtype=torch.int16, device="cuda")
adc[-1] = torch.arange(6000, dtype=torch.int16)
result = spng.waveform_spectrum(adc, 6000, torch.float32, None)
first = result[-1, 0].item()  # the sum of -2999 to 3000
assert abs(first - 3000) < 10 and result[0].abs().max().item() == 0
""")
