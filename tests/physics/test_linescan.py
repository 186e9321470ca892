# SPDX-License-Identifier: Apache-2.0
"""Channels of a line, and figures of hand-made lines."""

from __future__ import annotations

import numpy as np
import pytest

from scripts.physics import linescan
from scripts.physics.wires import Anode, Plane, load_anode
from tests.reference import detector
from tests.support.wire_cell import DATA, description

TICKS = 1000


def line(channels: int, charge: float) -> np.ndarray:
    """Return the same charge in each channel, over 10 ticks from 400 on: (channel, tick) float32."""
    truth = np.zeros((channels, TICKS), dtype=np.float32)
    truth[:, 400:410] = charge / 10
    return truth


def test_perfect_output() -> None:
    truth = line(12, 20_000)
    found = linescan.measure(truth, truth)
    assert found == linescan.LineFigures(pytest.approx(0, abs=1e-6), pytest.approx(0, abs=1e-6), 1.0, 1.0)


def test_bias_is_the_mean_of_inner_channels() -> None:
    """Six channels have 90 %, six 120 %; the two ends of the line, with half the charge, do not count."""
    truth = line(14, 20_000)
    truth[[0, -1]] *= 0.5
    signal = truth.copy()
    signal[1:7] *= 0.9
    signal[7:13] *= 1.2
    signal[[0, -1]] *= 5
    found = linescan.measure(signal, truth)
    assert found.bias == pytest.approx(0.05, abs=1e-6)
    assert found.resolution == pytest.approx(0.15, abs=1e-6)


def test_efficiency_and_purity_of_a_line() -> None:
    """Truth in pixels 100 to 102; the output has 101 to 104, and noise far from the line."""
    truth, signal = line(10, 60_000), np.zeros((10, TICKS), dtype=np.float32)
    signal[:, 404:420] = 1.0
    signal[:, 900:950] = 1.0
    found = linescan.measure(signal, truth)
    assert found.efficiency == pytest.approx(2 / 3)
    assert found.purity == pytest.approx(2 / 4)


def test_charge_far_from_the_line_does_not_count() -> None:
    truth = line(10, 20_000)
    signal = truth.copy()
    signal[:, 100:110] = 5000
    assert linescan.measure(signal, truth).bias == pytest.approx(0, abs=1e-6)


def test_nothing_there() -> None:
    found = linescan.measure(np.zeros((4, TICKS)), np.zeros((4, TICKS)))
    assert np.isnan([found.bias, found.resolution, found.efficiency, found.purity]).all()


def depositions(angles: dict[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Return lines 10 mm long in z, from z = key on, at angles in degrees: index of the line, x, y, z [mm]."""
    along = np.linspace(0, 1, 21)
    parts = [
        np.stack([10 * along * np.tan(np.radians(angle)), 0 * along, z + 10 * along])
        for z, angle in angles.items()
    ]
    return np.repeat(np.arange(len(angles)), len(along)), np.concatenate(parts, axis=1)


def anode_of(wires: int, channels: int) -> Anode:
    """Return a plane with wires 1 mm apart along z; the last ones are wrapped onto the channels of the first."""
    plane = Plane(100 + np.arange(wires) % channels, np.array([1.0, 0.0]), 1.0, 0.0)
    return Anode((np.arange(100, 100 + channels),), {(linescan.FACE, 0): plane})


def test_channels_of_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """4 wires on both sides belong to a line too, channels that two lines reach to none; the points identify the lines."""
    monkeypatch.setattr(linescan, "ANGLES", (0, 30, 60))
    found = linescan.line_channels(anode_of(100, 50), 0, *depositions({10: 60.0, 34: 0.0, 70: 30.0}))
    # Channels from wires: 60 degrees 6 to 24, 0 degrees 30 to 48, 30 degrees 66 to 84 which are 16 to 34 again.
    assert [one.tolist() for one in found] == [
        list(range(135, 149)),
        list(range(125, 130)),
        list(range(106, 116)),
    ]


@pytest.mark.parametrize(
    "angles, words",
    [
        ({10: 60.0, 34: 0.0}, "has lines at"),
        ({10: 60.0, 34: 0.0, 60: 33.0}, "33.00"),
        ({10: 60.0, 34: 0.0, 60: 60.0}, "60.00"),
    ],
)
def test_a_scan_without_a_line_is_rejected(
    monkeypatch: pytest.MonkeyPatch, angles: dict[float, float], words: str
) -> None:
    monkeypatch.setattr(linescan, "ANGLES", (0, 30, 60))
    with pytest.raises(linescan.LinesMissing, match=words):
        linescan.line_channels(anode_of(100, 50), 0, *depositions(angles))


def test_wires_of_the_anode_are_those_of_the_reference() -> None:
    anode = load_anode(DATA / "protodunehd-wires-larsoft-v1.json.gz", 0)
    planes = detector.load_planes(description("protodunehd-wires-larsoft-v1"), 0)
    assert [len(channels) for channels in anode.channels] == [800, 800, 960]
    assert [sorted(rows) for rows in anode.channels] == [
        sorted(rows) for rows in detector.pdhd_channel_order(0)
    ]
    points = np.random.default_rng(900_102).uniform(100, 2000, (50, 2))
    for key, expected in planes.items():
        assert (anode.planes[key].channel == expected.channel).all()
        seen = anode.planes[key].wire_coordinate(points[:, 0], points[:, 1])
        assert seen == pytest.approx(expected.wire_coordinate(points), abs=1e-6)
