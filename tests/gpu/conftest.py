# SPDX-License-Identifier: Apache-2.0
"""Tests with the mark `gpu` run by `pytest -m gpu`, and skip without a device."""

from __future__ import annotations

import pytest

from tests.support.cuda_devices import device_count


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs a device."""
    if item.get_closest_marker("gpu") and device_count() == 0:
        pytest.skip("no CUDA device on this machine")
