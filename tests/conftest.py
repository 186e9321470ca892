# SPDX-License-Identifier: Apache-2.0
"""Fixtures of tests in several folders."""

from __future__ import annotations

import pytest

from tests.support.small_site import Site


@pytest.fixture(name="site", scope="module")
def fixture_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A folder for jobs on the small detector, which start faster, where the sizes of tensors do not matter."""
    return Site.at(tmp_path_factory.mktemp("small"))
