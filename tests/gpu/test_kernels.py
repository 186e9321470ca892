# SPDX-License-Identifier: Apache-2.0
"""Compare the operators on a CUDA device with those on the CPU. Without a device, check that the library
with the kernels loads and is complete.

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

OPERATORS = (
    "select_rows",
    "waveform_spectrum",
    "interpolate_rows_",
    "deconvolve",
    "apply_time_filter",
    "robust_noise",
    "capped_noise",
    "plain_rms",
    "pack_ticks",
    "pack_levels",
    "unpack_ticks",
    "coincidence",
    "multi_plane",
    "find_regions",
    "compact_regions_linear",
    "compact_regions_restored",
    "expand_rows",
    "copy_compacted",
    "gather_words",
    "gather_rows",
    "clipped_running_sum",
    "sum_of_neighbours",
    "stack_features",
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
def to_device(value):
    if isinstance(value, list):
        return [to_device(part) for part in value]
    return value.cuda() if isinstance(value, torch.Tensor) else value
def same(operator, *arguments, tolerance=0.0):
    cuda = to_device(list(arguments))
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


def test_the_program_for_compute_sanitizer_calls_every_operator() -> None:
    words = [sys.executable, "-m", "bench.gpu.probe_operators", "--device", "cpu", *map(str, LIBRARIES)]
    done = subprocess.run(words, cwd=wire_cell.ROOT, capture_output=True, text=True, check=False)
    if "No module named 'torch'" in done.stderr:
        pytest.skip("no torch in Python")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split(": ")[1].split() == sorted(OPERATORS)


@pytest.mark.gpu
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
        for cyclic in (False, True):
            filled, on_device = spectrum.clone(), spectrum.cuda()
            spng.interpolate_rows_(filled, good, cyclic)
            spng.interpolate_rows_(on_device, good.cuda(), cyclic)
            assert on_device.cpu().equal(filled), (padded, cyclic)
        for views, channels in ((2, 20), (1, 25), (1, 22)):
            kernel = torch.randn(views, channels, padded // 2 + 1, dtype=complex_kind)
            same(spng.deconvolve, spectrum, kernel, channels, tolerance=100 * step)
        response = torch.randn(1, 1, padded // 2 + 1, dtype=complex_kind)
        same(spng.apply_time_filter, spectrum, response, padded, ticks, tolerance=10 * step)
        short = response[..., : padded // 4 // 2 + 1].contiguous()
        same(spng.apply_time_filter, spectrum, short, padded // 4 or 1, ticks // 4, tolerance=100 * step)
""")


@pytest.mark.gpu
def test_noise() -> None:
    run("""
for ticks in (1, 31, 33, 64, 1025, 6000, 30000):
    for kind in (torch.float32, torch.float64):
        waves = (torch.randn(7, ticks, dtype=torch.float64) * 300).to(kind)
        same(spng.robust_noise, waves, 5.0, tolerance=1e-3 if kind == torch.float32 else 1e-10)
        rms = torch.rand(3, 900, dtype=torch.float64).to(kind) - 0.1
        good = torch.rand(3, 900) < torch.tensor([[0.9], [0.005], [0.0]])
        same(spng.capped_noise, rms - 1, rms + 2, rms, None, None, 1.2)
        same(spng.capped_noise, rms - 1, rms + 2, rms, good, rms * 0 + 0.4, 1.2)
        same(spng.plain_rms, waves, tolerance=1e-3 if kind == torch.float32 else 1e-10)
        same(spng.robust_noise, waves[:, ::2], 3.0, tolerance=1e-3 if kind == torch.float32 else 1e-10)
""")


@pytest.mark.gpu
def test_packed_ticks() -> None:
    run("""
for ticks in (1, 63, 64, 65, 1500, 2049, 6001):
    mask = torch.rand(9, ticks) < 0.7
    packed, seeds = spng.pack_ticks(mask), spng.pack_ticks(torch.rand(9, ticks) < 0.02)
    same(spng.pack_ticks, mask)
    same(spng.unpack_ticks, packed, ticks)
    waves = torch.randn(9, ticks + 9)[:, 4:4 + ticks]
    pedestals, good = [torch.randn(9), None], torch.rand(9) < 0.8
    same(spng.pack_levels, [waves, 2 * waves], [torch.rand(9), None], pedestals, good, [0, 1, 0], [0.7, 0, 2], [0.1, 1, 0])
    levels = torch.stack([seeds, packed, seeds.roll(1, 0), packed.roll(1, 0)]).view(4, 1, 9, -1)
    sure = [spng.pack_ticks(torch.rand(1, 9, ticks) < 0.3) for _ in range(2)]
    for pad in (0, 1, 70, 100000):
        same(spng.find_regions, levels, [], ticks, [1, 5], [0, 0], [1, 3], [0, 0], 4, -1, False, pad)
        same(spng.find_regions, levels, sure, ticks, [1, 5], [4, 1], [1, 3], [0, 0.4], 0, 3, True, pad)
    offsets = torch.tensor([0, 40, 40, 900], dtype=torch.int32)
    same(spng.coincidence, packed, offsets, torch.randint(0, 9, (900, 2), dtype=torch.int32), 860)
    same(spng.multi_plane, packed, seeds, None, ticks, [2, 3, 0, 1])
    same(spng.multi_plane, packed, seeds, torch.randint(-1, 9, (9, 3), dtype=torch.int32), ticks, [2])
    charge = waves[:8].view(2, 4, ticks)
    same(spng.stack_features, [charge, packed[:8].view(2, 4, -1)], ticks, 0.25, 0.5, torch.rand(1, 2, 4) + 1)
""")


@pytest.mark.gpu
def test_waveforms_in_regions() -> None:
    run("""
for ticks in (1, 64, 1025, 6000, 6001):
    slices = (ticks + 3) // 4
    regions = spng.pack_ticks((torch.rand(5, slices) < 0.05).cumsum(-1) % 2 == 1)
    def linear(waves, regions):
        return spng.expand_rows(spng.compact_regions_linear(waves, regions, 4), regions, 4)
    def restored(waves, regions):
        return spng.expand_rows(spng.copy_compacted(spng.compact_regions_restored(waves, regions, 4), regions, 4), regions, 4)
    def gathered(rows, regions, origins):
        words = torch.empty(6, regions.size(1), dtype=torch.int64, device=rows.device)
        extents = torch.empty(6, 2, dtype=torch.int32, device=rows.device)
        tiles = torch.empty(1, dtype=torch.int64, device=rows.device)
        spng.gather_words([regions[:3], regions[3:]], origins, 4, ticks, words, extents, tiles)
        values = torch.zeros(6 * ticks, device=rows.device)
        spng.gather_rows([rows[:3], rows[3:]], origins, extents, tiles, 0, values)
        return words, extents, tiles, values
    origins = torch.tensor([[1, 1], [-1, -1], [0, 2], [0, 0], [1, 0], [0, 1]], dtype=torch.int32)
    rows, offsets = torch.tensor([3, -1, 0, 1, 4]), torch.tensor([0, 0, 0, 1, 2, 3])
    bad = torch.tensor([[0, ticks], [ticks // 3, ticks // 2 + 1], [ticks // 2, ticks]])
    adc = torch.randint(-60, 61, (5, ticks), dtype=torch.int16)
    same(spng.select_rows, adc, rows, offsets, bad, -60, 60, 1e6)
    same(spng.select_rows, adc.float(), rows, offsets, bad, None, None, 59.5)
    for kind, tolerance in ((torch.float32, 2e-3), (torch.float64, 1e-10)):
        waves = (torch.randn(5, ticks, dtype=torch.float64) * 1000).to(kind)
        same(linear, waves, regions, tolerance=tolerance)
        same(restored, waves, regions, tolerance=tolerance)
        same(gathered, waves, regions, origins)
        unit = torch.full((5,), 900, dtype=kind)
        same(spng.clipped_running_sum, waves, torch.zeros(5, dtype=kind), unit, 4.0, [1, 51, 17], tolerance=1e-4)
        same(spng.sum_of_neighbours, waves[None], True)
""")


@pytest.mark.gpu
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
