# SPDX-License-Identifier: Apache-2.0
"""Measure ways to run the network, and print them as JSON: python -m scripts.gpu.probe_network MODEL

The shipped network on the input of one anode, by type, layout in memory and choice of algorithms; and its depthwise
convolutions alone, which take most of its time.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

import torch
import torch.nn.functional as F

SHAPE = (2, 3, 800, 1500)  # view, feature, channel, sample
# Channels, height and width of the images, and size of the kernel.
DEPTHWISE = ((32, 400, 375, (3, 5)), (64, 200, 188, (5, 5)), (96, 100, 47, (5, 5)))
LAYOUTS = {"contiguous": torch.contiguous_format, "channels last": torch.channels_last}
TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
REPEATS = 20


def milliseconds(work: Callable[[], object]) -> float:
    """Return the time of a call, from REPEATS calls in a row after three."""
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(REPEATS):
        work()
    torch.cuda.synchronize()
    return 1e3 * (time.perf_counter() - begin) / REPEATS


def networks(path: str) -> Iterator[dict[str, object]]:
    """Yield the time of the whole network in each way."""
    for kind, tf32 in (("float32", False), ("float32", True), ("bfloat16", True)):
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
        for layout, memory_format in LAYOUTS.items():
            for search in (False, True):
                torch.backends.cudnn.benchmark = search
                model = torch.jit.load(path, map_location="cuda").eval()
                model = torch.jit.freeze(model.to(TYPES[kind], memory_format=memory_format))
                images = torch.randn(SHAPE, device="cuda").to(TYPES[kind], memory_format=memory_format)
                with torch.inference_mode():
                    time_ms = milliseconds(partial(model, images))
                name = "TF32" if tf32 and kind == "float32" else kind
                yield {"type": name, "layout": layout, "search": search, "ms": time_ms}
    torch.backends.cudnn.benchmark = False


def depthwise() -> Iterator[dict[str, object]]:
    """Yield the times of the depthwise convolutions."""
    for kind, dtype in TYPES.items():
        for channels, height, width, kernel in DEPTHWISE:
            for layout, memory_format in LAYOUTS.items():
                images = torch.randn(2, channels, height, width, device="cuda", dtype=dtype)
                images = images.contiguous(memory_format=memory_format)
                weights = torch.randn(channels, 1, *kernel, device="cuda", dtype=dtype)
                padding = (kernel[0] // 2, kernel[1] // 2)
                convolution = partial(F.conv2d, images, weights, padding=padding, groups=channels)
                time_ms = milliseconds(convolution)
                shape = f"{channels} x {height} x {width}, {kernel[0]} x {kernel[1]}"
                yield {"type": kind, "shape": shape, "layout": layout, "ms": time_ms}


if __name__ == "__main__":
    print(json.dumps({"network": list(networks(sys.argv[1])), "depthwise": list(depthwise())}))
