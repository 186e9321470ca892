# SPDX-License-Identifier: Apache-2.0
"""Pipelines that the tests of a file share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import spng


@pytest.fixture(name="pipeline", scope="module")
def fixture_pipeline() -> Iterator[spng.Pipeline]:
    """A pipeline without the network."""
    with spng.Pipeline(model="none", device="cpu") as own:
        yield own


@pytest.fixture(name="simulation", scope="module")
def fixture_simulation() -> spng.Simulation:
    return spng.Simulation(noise=False)
