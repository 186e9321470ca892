# SPDX-License-Identifier: Apache-2.0
"""Call every operator once for several shapes, for compute-sanitizer, or compare a device with the CPU:

    python -m bench.gpu.probe_operators [--device DEVICE] [--compare] LIBRARY...

Inputs are computed on the CPU and uploaded, because a tool that follows our kernels only does not know the memory that
other kernels write.
"""

from __future__ import annotations

import argparse
from typing import Any

import torch
from torch import Tensor

from .operator_cases import Case, cases_to_compare, cases_to_sanitize


class Operators:
    """The operators by name. called: those that were asked for"""

    def __init__(self) -> None:
        self.called: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.called.add(name)
        return getattr(torch.ops.spng, name)


def main() -> None:
    """Load the libraries and call the operators."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("libraries", nargs="+")
    parser.add_argument("--device", default="cuda", help="default: %(default)s")
    parser.add_argument("--compare", action="store_true", help="with the CPU, in more cases")
    given = parser.parse_args()
    for library in given.libraries:
        torch.ops.load_library(library)
    torch.manual_seed(20261123)
    operators = Operators()
    for case in cases_to_compare() if given.compare else cases_to_sanitize():
        seen = case.run(operators, copies(case.arguments, given.device))
        if given.compare and given.device != "cpu":
            compare(case, operators, seen, given.device)
    if given.device == "cuda":
        torch.cuda.synchronize()
    print("called:", *sorted(operators.called))


def copies(value: Any, device: str) -> Any:
    """Copy all tensors, also those in lists."""
    if isinstance(value, (list, tuple)):
        return type(value)(copies(part, device) for part in value)
    return value.clone().to(device) if isinstance(value, Tensor) else value


def compare(case: Case, operators: Operators, seen: list[Tensor], device: str) -> None:
    """Require that the results repeat to the byte, and agree with those of the CPU."""
    again = case.run(operators, copies(case.arguments, device))
    expected = case.run(operators, copies(case.arguments, "cpu"))
    for one, two, cpu in zip(seen, again, expected, strict=True):
        assert torch.equal(one, two), (case, "does not repeat")
        assert one.shape == cpu.shape and one.dtype == cpu.dtype, (case, one.shape, one.dtype)
        if case.tolerance == 0 or not (cpu.is_floating_point() or cpu.is_complex()):
            assert torch.equal(one.cpu(), cpu), case
        elif cpu.numel() > 0:
            difference = (one.cpu() - cpu).abs().max().item()
            assert difference <= case.tolerance, (case, difference)


if __name__ == "__main__":
    main()
