# SPDX-License-Identifier: Apache-2.0
"""Operators of LibTorch and transforms of cuFFT over the simulated CUDA runtime give the CPU's numbers."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.support import cuda_simulator, wire_cell

pytestmark = cuda_simulator.needs_simulator

# Of cufftResult
SUCCESS, INVALID_PLAN, INVALID_TYPE, INVALID_VALUE, INVALID_SIZE = 0, 1, 3, 4, 8


@pytest.fixture(name="outcome", scope="module")
def fixture_outcome(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The output of operator_cases.py, and the report of the simulator."""
    path = tmp_path_factory.mktemp("operators") / "simulator.json"
    done = subprocess.run(
        [sys.executable, "-m", "tests.cuda_simulator.operator_cases"],
        cwd=wire_cell.ROOT,
        env=cuda_simulator.environment(path, devices=2),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome | {"report": cuda_simulator.Report(path).all}


def test_numbers_are_those_of_the_cpu(outcome: dict[str, Any]) -> None:
    assert outcome["differences"] == {}


def test_an_operator_without_numbers_is_named(outcome: dict[str, Any]) -> None:
    """Everything else is computed, without races."""
    assert [text.split(" is ")[0] for text in outcome["report"]["defects"]] == ["aten::_masked_scale"]
    assert outcome["report"]["races"] == []


def test_launches_are_those_of_libtorch(outcome: dict[str, Any]) -> None:
    """Its own kernels are launched, those of cuDNN and cuBLAS have names of the simulator."""
    kernels = outcome["report"]["kernels"]
    for name in ("cudnn_convolution", "cudnn_convolution_relu", "cublas_bmm", "abs_kernel_vectorized"):
        assert any(name in kernel for kernel in kernels), name
    assert any("at::native::vectorized_elementwise_kernel" in kernel for kernel in kernels)


def test_wrong_plans_are_rejected_as_by_cufft(outcome: dict[str, Any]) -> None:
    unknown, created, not_made, no_size, no_type, made, made_again, no_data, removed, gone = outcome["plans"]
    assert (created, made, removed) == (SUCCESS, SUCCESS, SUCCESS)
    assert (unknown, not_made, made_again, gone) == (INVALID_PLAN,) * 4
    assert (no_size, no_type, no_data) == (INVALID_SIZE, INVALID_TYPE, INVALID_VALUE)
