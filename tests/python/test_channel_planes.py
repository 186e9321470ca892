# SPDX-License-Identifier: Apache-2.0
"""Which channel belongs to which plane."""

from __future__ import annotations

import numpy as np
import pytest
from spng.channel_planes import planes_of

from spng import Error

COUNTS = "U:8,V:8,W:10"


def extents(planes: dict[str, np.ndarray]) -> list[tuple[str, int, int]]:
    return [(name, int(ids[0]), len(ids)) for name, ids in planes.items()]


def test_counts_of_the_channels_in_ascending_order() -> None:
    assert extents(planes_of(np.arange(126, 100, -1), COUNTS)) == [
        ("U", 101, 8),
        ("V", 109, 8),
        ("W", 117, 10),
    ]


def test_counts_of_several_anodes_by_id() -> None:
    found = planes_of(np.arange(100, 160), COUNTS)
    assert {plane: ids.tolist() for plane, ids in found.items()} == {
        "U": [*range(104, 112), *range(130, 138), *range(156, 160)],
        "V": [*range(112, 120), *range(138, 146)],
        "W": [*range(100, 104), *range(120, 130), *range(146, 156)],
    }


def test_whole_anodes_of_protodune_hd() -> None:
    found = planes_of(np.arange(2560, 5120)[::-1])
    assert extents(found) == [("U", 2560, 800), ("V", 3360, 800), ("W", 4160, 960)]
    assert list(planes_of(np.arange(2559))) == ["all channels"]


def test_given_planes() -> None:
    named = planes_of(np.arange(1000, 1120), {"X": np.arange(1020, 0, -1), "Y": np.array([1050, 5000])})
    assert extents(named) == [("X", 1000, 21), ("Y", 1050, 1), ("other channels", 1021, 98)]


@pytest.mark.parametrize(
    "planes", ["U", "U:", "U:0", "U:8,U:8", "U:8;V:8", ":8", "U:-1", {"U": np.array([50])}]
)
def test_faults(planes: str | dict[str, np.ndarray]) -> None:
    with pytest.raises(Error, match="planes"):
        planes_of(np.arange(9), planes)
