# SPDX-License-Identifier: Apache-2.0
"""Inputs of every operator, for compute-sanitizer and for comparisons of a device with the CPU.

A new operator gets its cases here, in the family of its shapes; tests/gpu/test_kernels.py requires one for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Run = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """A call of one or more operators on the CPU's tensors.

    operator: its name, or a function of torch.ops.spng and the arguments; tolerance: of floating-point results
    """

    operator: str | Run
    arguments: tuple[Any, ...]
    tolerance: float = 0.0

    def run(self, operators: Any, arguments: tuple[Any, ...]) -> list[Tensor]:
        """Return the results; those written into the arguments follow."""
        call = getattr(operators, self.operator) if isinstance(self.operator, str) else self.operator
        if isinstance(self.operator, str):
            results = call(*arguments)
        else:
            results = call(operators, *arguments)
        if results is None:
            return [value for value in arguments if isinstance(value, Tensor)]
        return [results] if isinstance(results, Tensor) else list(results)


def mask(fraction: float, *shape: int) -> Tensor:
    """Return a random mask."""
    return torch.rand(*shape) < fraction


def real(kind: torch.dtype, scale: float, *shape: int) -> Tensor:
    """Return Gaussian noise that does not depend on the type."""
    return (torch.randn(*shape, dtype=torch.float64) * scale).to(kind)


def transforms(ticks: int, padded: int, kind: torch.dtype, rows: int = 20) -> Iterator[Case]:
    """Baselines, deconvolution and filters of two views."""
    step = 1e-6 if kind == torch.float32 else 1e-14
    complex_kind = torch.complex64 if kind == torch.float32 else torch.complex128
    adc, good = torch.randint(-300, 300, (2, rows, ticks), dtype=torch.int16), mask(0.8, 2, rows)
    tolerance = 3000 * step * padded**0.5
    yield Case("waveform_spectrum", (adc, padded, kind, good), tolerance)
    yield Case("waveform_spectrum", (adc.to(kind), padded, kind, None), tolerance)
    spectrum = torch.randn(2, rows, padded // 2 + 1, dtype=complex_kind)
    for cyclic in (False, True):
        yield Case("interpolate_rows_", (spectrum, good, cyclic))
    for views, channels in ((2, rows), (1, rows + 5), (1, rows + 2)):
        kernel = torch.randn(views, channels, padded // 2 + 1, dtype=complex_kind)
        yield Case("deconvolve", (spectrum, kernel, channels), 100 * step)
    response = torch.randn(1, 1, padded // 2 + 1, dtype=complex_kind)
    yield Case("apply_time_filter", (spectrum, response, padded, ticks), 10 * step)
    short = response[..., : padded // 4 // 2 + 1].contiguous()
    yield Case("apply_time_filter", (spectrum, short, padded // 4 or 1, ticks // 4), 100 * step)

    def chain(spng: Any, adc: Tensor, good: Tensor, kernel: Tensor) -> Tensor:
        spectrum = spng.waveform_spectrum(adc, padded, kind, good)  # its rows are aligned on a device
        spng.interpolate_rows_(spectrum, good, True)
        return spng.apply_time_filter(
            spng.deconvolve(spectrum, kernel, rows), kernel[:, :1] / 10, padded, ticks
        )

    yield Case(chain, (adc, good, kernel[:, :rows]), 10 * tolerance)


def noise(ticks: int, kind: torch.dtype, channels: int = 900) -> Iterator[Case]:
    """Noise levels."""
    waves, tolerance = real(kind, 300, 7, ticks), 1e-3 if kind == torch.float32 else 1e-10
    yield Case("robust_noise", (waves, 5.0), tolerance)
    yield Case(lambda spng, waves: spng.robust_noise(waves[:, ::2], 3.0), (waves,), tolerance)
    yield Case("plain_rms", (waves,), tolerance)
    rms = torch.rand(3, channels, dtype=torch.float64).to(kind) - 0.1
    good = torch.rand(3, channels) < torch.tensor([[0.9], [0.005], [0.0]])
    yield Case("capped_noise", (rms - 1, rms + 2, rms, None, None, 1.2))
    yield Case("capped_noise", (rms - 1, rms + 2, rms, good, rms * 0 + 0.4, 1.2))


def masks(ticks: int) -> Iterator[Case]:
    """Packed masks: levels, regions and coincidence."""
    spng = torch.ops.spng
    seen, waves = mask(0.7, 9, ticks), torch.randn(9, ticks + 9)
    packed, seeds = spng.pack_ticks(seen), spng.pack_ticks(mask(0.02, 9, ticks))
    yield Case("pack_ticks", (seen,))
    yield Case("unpack_ticks", (packed, ticks))

    def levels_of_a_crop(spng: Any, waves: Tensor, *rest: Any) -> Tensor:
        crop = waves[:, 4 : 4 + ticks]
        return spng.pack_levels([crop, 2 * crop], *rest)

    factors = ([0, 1, 0], [0.7, 0, 2], [0.1, 1, 0])
    noise_of_rows = ([torch.rand(9), None], [torch.randn(9), None])
    yield Case(levels_of_a_crop, (waves, *noise_of_rows, mask(0.8, 9), *factors))
    levels = torch.stack([seeds, packed, seeds.roll(1, 0), packed.roll(1, 0)]).view(4, 1, 9, -1)
    sure = [spng.pack_ticks(mask(0.3, 1, 9, ticks)) for _ in range(2)]
    for pad in (0, 1, 70, 100000):
        yield Case("find_regions", (levels, [], ticks, [1, 5], [0, 0], [1, 3], [0, 0], 4, -1, False, pad))
        yield Case("find_regions", (levels, sure, ticks, [1, 5], [4, 1], [1, 3], [0, 0.4], 0, 3, True, pad))
    offsets = torch.tensor([0, 40, 40, 900], dtype=torch.int32)
    pairs = torch.randint(0, 9, (900, 2), dtype=torch.int32)
    yield Case("coincidence", (packed, offsets, pairs, 860))
    yield Case("multi_plane", (packed, seeds, None, ticks, [2, 3, 0, 1]))
    neighbours = torch.randint(-1, 9, (9, 3), dtype=torch.int32)
    yield Case("multi_plane", (packed, seeds, neighbours, ticks, [2]))
    images = [waves[:8, :ticks].reshape(2, 4, ticks), packed[:8].view(2, 4, -1)]
    yield Case("stack_features", (images, ticks, 0.25, 0.5, torch.rand(1, 2, 4) + 1))


def regions(ticks: int, kind: torch.dtype) -> Iterator[Case]:
    """Waveforms in regions, and frames of them."""
    spng, slices = torch.ops.spng, (ticks + 3) // 4
    inside = spng.pack_ticks(mask(0.05, 5, slices).cumsum(-1) % 2 == 1)
    waves, tolerance = real(kind, 1000, 5, ticks), 2e-3 if kind == torch.float32 else 1e-10

    def linear(spng: Any, waves: Tensor, inside: Tensor) -> Tensor:
        return spng.expand_rows(spng.compact_regions_linear(waves, inside, 4), inside, 4)

    def restored(spng: Any, waves: Tensor, inside: Tensor) -> Tensor:
        compact = spng.compact_regions_restored(waves, inside, 4)
        return spng.expand_rows(spng.copy_compacted(compact, inside, 4), inside, 4)

    def gathered(spng: Any, rows: Tensor, inside: Tensor, origins: Tensor) -> tuple[Tensor, ...]:
        words = torch.empty(6, inside.size(1), dtype=torch.int64, device=rows.device)
        extents = torch.empty(6, 2, dtype=torch.int32, device=rows.device)
        tiles = torch.empty(1, dtype=torch.int64, device=rows.device)
        spng.gather_words([inside[:3], inside[3:]], origins, 4, ticks, words, extents, tiles)
        values = torch.zeros(6 * ticks, device=rows.device)
        spng.gather_rows([rows[:3], rows[3:]], origins, extents, tiles, 0, values)
        return words, extents, tiles, values

    yield Case(linear, (waves, inside), tolerance)
    yield Case(restored, (waves, inside), tolerance)
    origins = torch.tensor([[1, 1], [-1, -1], [0, 2], [0, 0], [1, 0], [0, 1]], dtype=torch.int32)
    yield Case(gathered, (waves, inside, origins))
    unit = torch.full((5,), 900, dtype=kind)
    sums = (waves, torch.zeros(5, dtype=kind), unit, 4.0, [1, 51, 17])
    yield Case("clipped_running_sum", sums, 1e-4)
    yield Case("sum_of_neighbours", (waves[None], True))
    rows, offsets = torch.tensor([3, -1, 0, 1, 4]), torch.tensor([0, 0, 0, 1, 2, 3])
    bad = torch.tensor([[0, ticks], [ticks // 3, ticks // 2 + 1], [ticks // 2, ticks]])
    adc = torch.randint(-60, 61, (5, ticks), dtype=torch.int16)
    yield Case("select_rows", (adc, rows, offsets, bad, -60, 60, 1e6))
    yield Case("select_rows", (adc.to(kind), rows, offsets, bad, None, None, 59.5))


def compositions() -> Iterator[Case]:
    """Operators whose bodies on a device are ATen's operations."""
    ticks, good = 400, torch.ones(16, dtype=torch.bool)
    waves = torch.randn(16, ticks) * 14 + torch.sin(torch.arange(ticks) * 0.05) * 20
    boards, bad = torch.arange(16).view(2, 8), torch.zeros(16, 1, 2, dtype=torch.int32)
    yield Case("remove_coherent_noise", (waves, good, boards, bad, 4.0, 5.0, 8, 10, 0.25, 3.0), 1e-3)
    electrons, first_run = torch.rand(7), torch.tensor([0, 1, 1, 2], dtype=torch.int32)
    runs = torch.tensor([[0, 3, 4, 0], [1, 10, 3, 4]], dtype=torch.int32)
    first_wire, wires = (torch.tensor(values, dtype=torch.int32) for values in ([0, 2, 3], [0, 1, 2]))

    def convolved(spng: Any, kernel: Tensor) -> Tensor:
        return spng.impact_convolution(electrons, runs, first_run, kernel, first_wire, wires, 0, 30)

    yield Case(convolved, (torch.randn(3, 2, 9, dtype=torch.float64),), 1e-12)


REALS = (torch.float32, torch.float64)


def cases_to_compare() -> Iterator[Case]:
    """Return cases that reach every branch: rows in shared memory, too long for it, whole and broken words."""
    lengths = ((1, 1), (33, 35), (64, 64), (700, 1050), (6000, 6300), (30000, 30240), (70000, 70560))
    for kind in REALS:
        for ticks, padded in lengths:
            yield from transforms(ticks, padded, kind)
        for ticks in (1, 31, 33, 64, 1025, 6000, 30000):
            yield from noise(ticks, kind)
        for ticks in (1, 64, 1025, 6000, 6001):
            yield from regions(ticks, kind)
    for ticks in (1, 63, 64, 65, 1500, 2049, 6001):
        yield from masks(ticks)
    yield from compositions()


def cases_to_sanitize() -> Iterator[Case]:
    """Return fewer and smaller cases, because a sanitizer is slow."""
    for ticks, padded in ((1, 1), (33, 35), (375, 375), (1500, 1500), (6000, 6000), (13000, 13122)):
        yield from transforms(ticks, padded, torch.float32, rows=5)
        yield from noise(ticks, torch.float32, channels=5)
        yield from masks(ticks)
        yield from regions(ticks, torch.float32)
    yield from compositions()
