# SPDX-License-Identifier: Apache-2.0
"""Call every operator once for several shapes, for compute-sanitizer:

    python -m bench.gpu.probe_operators [--device DEVICE] LIBRARY...

Rows are few, but reach every branch: of one tick, of whole and broken words, too long for shared memory, with a stride.
Inputs are computed on the CPU and uploaded, because a tool that follows our kernels only does not know the memory that
other kernels write.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


class Operators:
    """The operators by name. called: those that were asked for"""

    def __init__(self) -> None:
        self.called: set[str] = set()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        self.called.add(name)
        return getattr(torch.ops.spng, name)


OPERATORS = Operators()
LENGTHS = {1: 1, 33: 35, 375: 375, 1500: 1500, 6000: 6000, 13000: 13122}  # of rows, and padded for transforms
ROWS = 5


def main() -> None:
    """Load the libraries and call the operators."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("libraries", nargs="+")
    parser.add_argument("--device", default="cuda", help="default: %(default)s")
    given = parser.parse_args()
    for library in given.libraries:
        torch.ops.load_library(library)
    torch.manual_seed(20261123)
    for ticks, padded in LENGTHS.items():
        call_all(ticks, padded, torch.device(given.device))
    if given.device == "cuda":
        torch.cuda.synchronize()
    print(f"{len(LENGTHS)} lengths:", *sorted(OPERATORS.called))


def call_all(ticks: int, padded: int, device: torch.device) -> None:
    """Call the operators on rows of this length."""
    spng = OPERATORS

    def noise(*shape: int) -> Tensor:
        return torch.randn(*shape).to(device)

    def integers(low: int, high: int, *shape: int) -> Tensor:
        return torch.randint(low, high, shape, dtype=torch.int32).to(device)

    cpu_waves = torch.randn(ROWS, ticks)
    waves, counts = cpu_waves.to(device), (50 * cpu_waves).to(torch.int16).to(device)
    rms, good = torch.rand(ROWS).to(device), (torch.rand(ROWS) < 0.8).to(device)
    spectrum = spng.waveform_spectrum(counts.view(1, ROWS, ticks), padded, torch.float32, good.view(1, ROWS))
    spng.interpolate_rows_(spectrum, good.view(1, ROWS), True)
    kernel = torch.randn(1, ROWS, spectrum.size(2), dtype=torch.complex64).to(device)
    spng.deconvolve(spectrum, kernel, ROWS)
    spng.apply_time_filter(spectrum, spectrum[:, :1], padded, ticks)
    spng.robust_noise(waves, 5.0)
    spng.robust_noise(waves[:, ::2], 5.0)
    spng.plain_rms(waves)
    spng.capped_noise(noise(2, ROWS), noise(2, ROWS), noise(2, ROWS), None, None, 3.0)
    view_good = good.expand(2, ROWS)
    spng.capped_noise(noise(2, ROWS), noise(2, ROWS), noise(2, ROWS), view_good, noise(2, ROWS), 3.0)
    levels = spng.pack_levels(
        [waves, waves.neg()], [rms, None], [noise(ROWS), None], good, [0, 1, 0], [0.7, 0, 2], [0.1, 1, 0]
    )
    packed = levels[0]
    seeds = spng.pack_ticks((cpu_waves > 2).to(device))
    spng.unpack_ticks(packed, ticks)
    views = levels[:, None]
    spng.find_regions(views, [], ticks, [4], [0], [0], [0.0], 2, -1, False, 70)
    spng.find_regions(
        views, [seeds[None], views[1]], ticks, [1, 4], [2, 2], [1, 0], [0.0, 0.4], 0, 1, True, 3
    )
    spng.multi_plane(packed, seeds, integers(-1, ROWS, ROWS, 3), ticks, [0, 1, 2, 3])
    spng.stack_features([waves[None], packed[None]], ticks, 0.25, 0.5, rms[None, None])
    offsets = torch.tensor([0, 4, 4, 90], dtype=torch.int32).to(device)
    spng.coincidence(packed, offsets, integers(0, ROWS, 90, 2), 86)
    rows = torch.tensor([3, -1, 0, 1, 4]).to(device)
    bad = torch.tensor([[0, (ticks + 1) // 2]]).to(device)
    spng.select_rows(counts, rows, torch.tensor([0, 0, 0, 1, 1, 1]).to(device), bad, -60, 60, 1e6)
    regions = spng.pack_ticks((cpu_waves[:, : (ticks + 3) // 4] > 1).to(device))
    compact = spng.compact_regions_restored(waves, regions, 4)
    spng.expand_rows(spng.copy_compacted(compact, regions, 4), regions, 4)
    compact = spng.compact_regions_linear(waves, regions, 4)
    words = torch.empty(ROWS, regions.size(1), dtype=torch.int64, device=device)
    extents = torch.empty(ROWS, 2, dtype=torch.int32, device=device)
    tiles = torch.empty(1, dtype=torch.int64, device=device)
    origins = torch.tensor([[1, 1], [-1, -1], [0, 2], [0, 0], [1, 0]], dtype=torch.int32).to(device)
    spng.gather_words([regions[:2], regions[2:]], origins, 4, ticks, words, extents, tiles)
    values = torch.zeros(ROWS * ticks).to(device)
    spng.gather_rows([compact[:2], compact[2:]], origins, extents, tiles, 0, values)
    spng.clipped_running_sum(waves, noise(ROWS), rms, 4.0, [17, 51])
    spng.sum_of_neighbours(waves[None], True)


if __name__ == "__main__":
    main()
