# SPDX-License-Identifier: Apache-2.0
"""Measure copies between host and device, and print them as JSON: python -m bench.gpu.probe_transfers"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import torch

from bench.gpu.device_time import seconds_of_call

MEGABYTES = (4, 31, 61)  # 31 and 61 MB are the ADC and the signals of an anode


def gigabytes_per_second(copy: Callable[[], object], size: int) -> float:
    """Return the speed of a copy of `size` bytes."""
    return size * 1e-9 / seconds_of_call(copy)


def measured(megabytes: int) -> list[dict[str, object]]:
    """Return the speed of each kind of copy for a size."""
    size = megabytes * 1_000_000
    device = torch.empty(size, dtype=torch.uint8, device="cuda")
    other = torch.empty_like(device)
    rows: list[dict[str, object]] = []
    for memory, host in (
        ("page-locked", torch.zeros(size, dtype=torch.uint8, pin_memory=True)),
        ("pageable", torch.zeros(size, dtype=torch.uint8)),
    ):
        for direction, target, source in (
            ("host to device", device, host),
            ("device to host", host, device),
        ):
            copy = partial(target.copy_, source, non_blocking=True)
            rows.append({"direction": direction, "memory": memory, "gb_s": gigabytes_per_second(copy, size)})
    on_device = gigabytes_per_second(partial(other.copy_, device), size)
    rows.append({"direction": "on the device", "memory": "device", "gb_s": on_device})
    return [{"mb": megabytes, **row} for row in rows]


if __name__ == "__main__":
    print(json.dumps([row for megabytes in MEGABYTES for row in measured(megabytes)]))
