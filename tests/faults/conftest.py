# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of faults."""

from __future__ import annotations

import pytest

from tests.support import wire_cell
from tests.support.small_site import Site


@pytest.fixture(name="event", scope="module")
def fixture_event(site: Site) -> wire_cell.Arrays:
    """An event of the small detector with a track."""
    return site.busy_frames(1, 600)
