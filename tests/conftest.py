# SPDX-License-Identifier: Apache-2.0
"""Fixtures of tests in several folders."""

from __future__ import annotations

import pytest

from tests.support import figures
from tests.support.small_site import Site


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give the figures that a test notes to its report."""
    figures.running = item.user_properties


@pytest.fixture(name="site", scope="module")
def fixture_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A folder for jobs on the small detector, which start faster, where the sizes of tensors do not matter."""
    return Site.at(tmp_path_factory.mktemp("small"))
