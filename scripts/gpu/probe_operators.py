# SPDX-License-Identifier: Apache-2.0
"""Call every operator once for several shapes, for compute-sanitizer: python -m scripts.gpu.probe_operators LIBRARY...

Rows are few, but reach every branch: of one tick, of whole and broken words, too long for shared memory, with a stride.
Inputs are computed on the CPU and uploaded, because a tool that follows our kernels only does not know the memory that
other kernels write.
"""

from __future__ import annotations

import sys

import torch

LENGTHS = {1: 1, 33: 35, 375: 375, 1500: 1500, 6000: 6000, 13000: 13122}  # of rows, and padded for transforms
ROWS = 5


def main(libraries: list[str]) -> None:
    """Load the libraries and call the operators."""
    for library in libraries:
        torch.ops.load_library(library)
    torch.manual_seed(20261123)
    for ticks, padded in LENGTHS.items():
        call_all(ticks, padded)
    torch.cuda.synchronize()
    print(f"done: {len(LENGTHS)} lengths")


def noise(*shape: int) -> torch.Tensor:
    """Return random values on the device."""
    return torch.randn(*shape).cuda()


def integers(low: int, high: int, *shape: int) -> torch.Tensor:
    """Return random int32 values on the device."""
    return torch.randint(low, high, shape, dtype=torch.int32).cuda()


def call_all(ticks: int, padded: int) -> None:
    """Call the operators on rows of this length."""
    spng = torch.ops.spng
    cpu_waves = torch.randn(ROWS, ticks)
    waves, counts = cpu_waves.cuda(), (50 * cpu_waves).to(torch.int16).cuda()
    rms, good = torch.rand(ROWS).cuda(), (torch.rand(ROWS) < 0.8).cuda()
    spectrum = spng.waveform_spectrum(counts.view(1, ROWS, ticks), padded, torch.float32, good.view(1, ROWS))
    spng.deconvolve(spectrum, torch.randn(1, ROWS, spectrum.size(2), dtype=torch.complex64).cuda(), ROWS)
    spng.apply_time_filter(spectrum, spectrum[:, :1], padded, ticks)
    spng.robust_noise(waves, 5.0)
    spng.robust_noise(waves[:, ::2], 5.0)
    spng.plain_rms(waves)
    spng.capped_noise(noise(2, ROWS), noise(2, ROWS), noise(2, ROWS), 3.0)
    levels = spng.pack_levels(
        [waves, waves.neg()], [rms, None], [noise(ROWS), None], good, [0, 1, 0], [0.7, 0, 2], [0.1, 1, 0]
    )
    packed = levels[0]
    seeds = spng.pack_ticks((cpu_waves > 2).cuda())
    spng.unpack_ticks(packed, ticks)
    views = levels[:, None]
    spng.find_regions(views, [], ticks, [4], [0], [0], [0.0], 2, -1, False, 70)
    spng.find_regions(
        views, [seeds[None], views[1]], ticks, [1, 4], [2, 2], [1, 0], [0.0, 0.4], 0, 1, True, 3
    )
    spng.multi_plane(packed, seeds, integers(-1, ROWS, ROWS, 3), ticks, [0, 1, 2, 3])
    spng.stack_features([waves[None], packed[None]], ticks, 0.25, 0.5, rms[None, None])
    offsets = torch.tensor([0, 4, 4, 90], dtype=torch.int32).cuda()
    spng.coincidence(packed, offsets, integers(0, ROWS, 90, 2), 86)
    regions = (cpu_waves[:, : (ticks + 3) // 4] > 1).cuda()
    spng.apply_regions_linear(waves, regions, 4)
    spng.apply_regions_restored(waves, regions, 4)
    spng.clipped_running_sum(waves, noise(ROWS), rms, 4.0, [17, 51])
    spng.sum_of_neighbours(waves[None], True)


if __name__ == "__main__":
    main(sys.argv[1:])
