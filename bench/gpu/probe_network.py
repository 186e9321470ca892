# SPDX-License-Identifier: Apache-2.0
"""Measure ways to run the network, and print them as JSON: python -m bench.gpu.probe_network

The network (scripts/dnnroi/network.py, random weights) on the input of one anode, by type, layout in memory and choice of
algorithms, launched as a CUDA graph, so that times are those of the device; and its depthwise convolutions alone, which
take most of its time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from itertools import product

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.fusion import fuse_conv_bn_eval

from bench.gpu.device_time import seconds_of_call
from scripts.dnnroi.network import INPUTS, DNNROINet, Separable

SHAPE = (2, len(INPUTS), 800, 1500)  # view, feature, channel, sample
# Channels, height and width of the depthwise convolutions, and size of their kernels.
DEPTHWISE = ((32, 400, 375, (3, 5)), (64, 200, 188, (5, 5)), (96, 100, 47, (5, 5)))
LAYOUTS = {"contiguous": torch.contiguous_format, "channels last": torch.channels_last}
TYPES = {"float32": torch.float32, "TF32": torch.float32, "bfloat16": torch.bfloat16}


def network(dtype: torch.dtype, layout: torch.memory_format) -> nn.Module:
    """Return the network for inference, with norms folded into convolutions, that computes in the given layout."""
    net = DNNROINet().eval()
    for block in net.modules():
        if isinstance(block, Separable):
            block.mix = fuse_conv_bn_eval(block.mix, block.norm)
            block.norm = nn.Identity()  # type: ignore[assignment]
    # The network itself chooses channels last: change that before its first convolution.
    net.stem.register_forward_pre_hook(lambda _, inputs: inputs[0].contiguous(memory_format=layout))
    return net.to(device="cuda", dtype=dtype, memory_format=layout)  # type: ignore[call-overload]


def graph_of(net: nn.Module, images: torch.Tensor) -> torch.cuda.CUDAGraph:
    """Return a captured graph of the network; run it before on another stream, as captures need."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            net(images)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        net(images)
    return graph


def networks() -> Iterator[dict[str, object]]:
    """Yield the time of the whole network in each way."""
    for kind, layout, search in product(TYPES, LAYOUTS, (False, True)):
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = kind == "TF32"
        torch.backends.cudnn.benchmark = search
        images = torch.rand(SHAPE, device="cuda").to(TYPES[kind])
        with torch.inference_mode():
            net = network(TYPES[kind], LAYOUTS[layout])
            graph = graph_of(net, images)
            yield {
                "type": kind,
                "layout": layout,
                "search": search,
                "ms": 1e3 * seconds_of_call(graph.replay),
            }
    torch.backends.cudnn.benchmark = False


def depthwise() -> Iterator[dict[str, object]]:
    """Yield the times of the depthwise convolutions."""
    for kind, (channels, height, width, kernel), layout in product(
        ("float32", "bfloat16"), DEPTHWISE, LAYOUTS
    ):
        images = torch.randn(2, channels, height, width, device="cuda", dtype=TYPES[kind])
        images = images.contiguous(memory_format=LAYOUTS[layout])
        weights = torch.randn(channels, 1, *kernel, device="cuda", dtype=TYPES[kind])
        padding = (kernel[0] // 2, kernel[1] // 2)
        convolution = partial(functional.conv2d, images, weights, padding=padding, groups=channels)
        shape = f"{channels} x {height} x {width}, {kernel[0]} x {kernel[1]}"
        yield {"type": kind, "shape": shape, "layout": layout, "ms": 1e3 * seconds_of_call(convolution)}


if __name__ == "__main__":
    print(json.dumps({"network": list(networks()), "depthwise": list(depthwise())}))
