# SPDX-License-Identifier: Apache-2.0
"""The network: a small U-Net of separable convolutions on patches of the ROI images.

Every convolution works on patches of 2 channels x 4 samples or coarser, with an eighth of the operations on samples; the 8
outputs of a patch are rearranged into its samples. Pooling is coarser along time than across channels, since pulses of steep
tracks last hundreds of samples, but a track crosses one channel at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

IMAGES = ("loose", "tight")  # of the charge
MASKS = ("mp2", "mp3")
INPUTS = (*IMAGES, *MASKS)
ELECTRONS = 4000.0  # one unit of the charge image; the metadata's scale is its inverse
REBIN = 4  # ticks of a sample
PATCH = (2, 4)  # channels, samples
POOLS = ((2, 2), (2, 4))  # channels, patches: from one level to the next
NOISE_UNITS = 8.0  # scales the noise of the charge images, about 300 electrons, to about 1 before asinh


@dataclass(frozen=True)
class Shape:
    """Features at the three levels, fine to coarse, and numbers of separable convolutions at each, down and up."""

    features: tuple[int, int, int] = (32, 64, 96)
    down: tuple[int, int, int] = (2, 2, 4)
    up: tuple[int, int] = (2, 2)


class Separable(nn.Module):
    """x + relu(norm(1x1(depthwise(x)))): (view, feature, channel, tick) of any size -> the same."""

    def __init__(self, features: int, kernel: tuple[int, int]) -> None:
        super().__init__()
        padding = (kernel[0] // 2, kernel[1] // 2)
        self.spread = nn.Conv2d(features, features, kernel, padding=padding, groups=features, bias=False)
        self.mix = nn.Conv2d(features, features, 1, bias=False)
        self.norm = nn.BatchNorm2d(features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the same shape."""
        return x + functional.relu(self.norm(self.mix(self.spread(x))))


def _blocks(count: int, features: int, kernel: tuple[int, int]) -> nn.Sequential:
    return nn.Sequential(*(Separable(features, kernel) for _ in range(count)))


class DNNROINet(nn.Module):
    """(view, 4, channel, tick) ROI images [loose / ELECTRONS, tight / ELECTRONS, mp2, mp3] -> (view, 1, channel, tick) logits.

    The last two axes may have any size: the network pads the bottom and right edges with zeros to whole patches of the
    coarsest level, and removes the padding from its output.
    """

    def __init__(self, shape: Shape = Shape()) -> None:
        super().__init__()
        fine, middle, coarse = shape.features
        narrow, wide = (3, 5), (5, 5)
        # TorchScript can use attributes of a module, but not constants of a file.
        self.multiple = (PATCH[0] * POOLS[0][0] * POOLS[1][0], PATCH[1] * POOLS[0][1] * POOLS[1][1])
        self.patch = PATCH
        self.images = len(IMAGES)
        self.noise_units = NOISE_UNITS
        self.stem = nn.Conv2d(len(INPUTS), fine, PATCH, PATCH)
        self.down_fine = _blocks(shape.down[0], fine, narrow)
        self.pool_middle = nn.Conv2d(fine, middle, POOLS[0], POOLS[0])
        self.down_middle = _blocks(shape.down[1], middle, wide)
        self.pool_coarse = nn.Conv2d(middle, coarse, POOLS[1], POOLS[1])
        self.down_coarse = _blocks(shape.down[2], coarse, wide)
        self.rise_middle = nn.ConvTranspose2d(coarse, middle, POOLS[1], POOLS[1])
        self.up_middle = _blocks(shape.up[0], middle, wide)
        self.rise_fine = nn.ConvTranspose2d(middle, fine, POOLS[0], POOLS[0])
        self.up_fine = _blocks(shape.up[1], fine, narrow)
        self.head = nn.Conv2d(fine, PATCH[0] * PATCH[1], 1)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return logits, (view, 1, channel, tick)."""
        views, _, channels, ticks = images.shape
        more_channels = (self.multiple[0] - channels % self.multiple[0]) % self.multiple[0]
        more_ticks = (self.multiple[1] - ticks % self.multiple[1]) % self.multiple[1]
        charge = torch.asinh(images[:, : self.images] * self.noise_units)
        x = torch.cat([charge, images[:, self.images :]], dim=1)
        x = functional.pad(x, [0, more_ticks, 0, more_channels])
        x = x.contiguous(memory_format=torch.channels_last)  # oneDNN needs no copies between layers then
        fine = self.down_fine(functional.relu(self.stem(x)))
        middle = self.down_middle(self.pool_middle(fine))
        coarse = self.down_coarse(self.pool_coarse(middle))
        middle = self.up_middle(middle + self.rise_middle(coarse))
        fine = self.up_fine(fine + self.rise_fine(middle))
        patches = self.head(fine)
        rows, columns = patches.size(2), patches.size(3)
        samples = patches.view(views, self.patch[0], self.patch[1], rows, columns).permute(0, 3, 1, 4, 2)
        samples = samples.reshape(views, 1, rows * self.patch[0], columns * self.patch[1])
        return samples[:, :, :channels, :ticks]

    def halo(self) -> int:
        """Return the receptive field along time to either side [samples], computed from the kernels."""
        reach, step = 0, PATCH[1]
        levels = ((self.down_fine, self.up_fine), (self.down_middle, self.up_middle), (self.down_coarse,))
        for level, blocks in enumerate(levels):
            for block in (block for part in blocks for block in part if isinstance(block, Separable)):
                reach += block.spread.kernel_size[1] // 2 * step
            step *= POOLS[level][1] if level < len(POOLS) else 1
        return (
            reach + step
        )  # an output and its input may lie at opposite ends of a patch of the coarsest level


def parameters(network: nn.Module) -> int:
    """Return the number of trained values."""
    return sum(parameter.numel() for parameter in network.parameters())


def operations_per_sample(network: DNNROINet) -> float:
    """Return the floating-point operations (two per multiply-add) of the convolutions for each sample of a view."""
    channels, ticks = network.multiple
    total = 0

    def count(
        layer: nn.Conv2d | nn.ConvTranspose2d, inputs: tuple[torch.Tensor, ...], output: torch.Tensor
    ) -> None:
        nonlocal total
        positions = inputs[0] if isinstance(layer, nn.ConvTranspose2d) else output
        total += 2 * layer.weight.numel() * positions.shape[2] * positions.shape[3]

    layers = [layer for layer in network.modules() if isinstance(layer, (nn.Conv2d, nn.ConvTranspose2d))]
    hooks = [layer.register_forward_hook(count) for layer in layers]
    training = network.training
    try:
        network.eval()
        with torch.no_grad():
            network(next(network.parameters()).new_zeros(1, len(INPUTS), channels, ticks))
    finally:
        network.train(training)
        for hook in hooks:
            hook.remove()
    return total / (channels * ticks)
