# SPDX-License-Identifier: Apache-2.0
"""Compare frames of two programs with one truth."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from scripts.physics import compare, events
from scripts.physics.wires import VIEWS, load_anode
from spng import Frame, Traces
from tests.support.shared import shared_folder
from tests.support.wire_cell import DATA, TRUTH, event, write_arrays

ANODE = load_anode(DATA / "protodunehd-wires-larsoft-v1.json.gz", 0)
CHANNELS = np.concatenate(ANODE.channels)
TICKS = 40


def truth_and_signal() -> tuple[np.ndarray, np.ndarray]:
    """Every channel has 4000 electrons in ticks 8 and 9; the output has 90 % of U, 80 % of V and all of W."""
    truth = np.zeros((len(CHANNELS), TICKS), dtype=np.float32)
    truth[:, 8:10] = 4000
    return truth, truth * np.repeat([0.9, 0.8, 1.0], [len(own) for own in ANODE.channels])[:, None].astype(
        np.float32
    )


def test_dead_channels() -> None:
    """3 % of the channels, independent of the order of the rows; constant, and listed in the mask."""
    channels = np.random.default_rng(0).permutation(CHANNELS)
    frame = Frame({"*": Traces("*", np.ones((len(channels), 8), dtype=np.int16), channels)})
    dead = events.dead_channels(CHANNELS, 900_007)
    assert len(dead) == round(0.03 * len(CHANNELS)) and (np.diff(dead) > 0).all()
    assert (dead == events.dead_channels(channels, 900_007)).all()
    damaged = events.with_dead_channels(frame, 900_007)
    samples = damaged["*"].samples
    silent = ~samples.any(axis=1)
    assert (np.sort(channels[silent]) == dead).all() and samples[~silent].all()
    assert (damaged.masks["bad"] == np.stack([dead, 0 * dead, 8 + 0 * dead], axis=1)).all()


@pytest.mark.parametrize("tag", ["signal", "gauss0", "of_another_program"])
def test_a_program_against_the_truth(tag: str, tmp_path: Path) -> None:
    """Two events, one of them in the truth, with rows in another order than the truth's."""
    truth, signal = truth_and_signal()
    arrays = event(signal[::-1], CHANNELS[::-1], 1, tag) | event(0 * signal, CHANNELS, 2, tag)
    output = write_arrays(tmp_path / "output.npz", arrays)
    expected = write_arrays(tmp_path / "truth.tar", event(truth, CHANNELS, 1, "truth"))
    found = compare.figures(output, expected, ANODE)
    assert found["tag"] == tag
    for view, charge in zip(VIEWS, (0.9, 0.8, 1.0)):
        row = found["views"][view]
        assert row["events"] == 1 and row["charge"]["value"] == pytest.approx(charge, rel=1e-6)
        assert row["median_channel"] == pytest.approx(charge, rel=1e-6)
        assert row["efficiency"]["value"] == row["purity"]["value"] == 1.0
        assert row["kept"]["value"] == pytest.approx(4 / TICKS) and row["charge"]["error"] is None


def test_what_does_not_fit_is_named(tmp_path: Path) -> None:
    truth, signal = truth_and_signal()
    true = write_arrays(tmp_path / "truth.npz", event(truth, CHANNELS, 1, "truth"))
    for name, arrays, words in (
        ("other-event", event(signal, CHANNELS, 5, "signal"), "no event in common"),
        ("short", event(signal[:, 8:], CHANNELS, 1, "signal"), "32 ticks, the truth has 40"),
        ("other-anode", event(signal, CHANNELS + 2560, 1, "signal"), "no channel of view U"),
        ("many-tags", event(signal, CHANNELS, 1, "a") | event(signal, CHANNELS, 1, "b"), "frames a, b"),
    ):
        with pytest.raises(compare.ComparisonImpossible, match=words):
            compare.figures(write_arrays(tmp_path / f"{name}.npz", arrays), true, ANODE)


def test_osp_figures_of_the_default_event() -> None:
    """data/osp-tracks10.json has the figures of WCT's frame by these functions, and agrees with the published figures."""
    published = {"U": (0.942, 0.97, 0.59), "V": (0.824, 0.91, 0.59), "W": (1.015, 1.00, 0.67)}
    kept = compare.osp_figures(DATA)["default_event"]
    for view, (charge, efficiency, purity) in published.items():
        assert kept[view]["charge"]["value"] == pytest.approx(charge, abs=1e-3)
        assert kept[view]["efficiency"]["value"] == pytest.approx(efficiency, abs=5e-3)
        assert kept[view]["purity"]["value"] == pytest.approx(purity, abs=5e-3)
    shared = shared_folder()
    if shared is None:
        pytest.skip("no folder shared/: the frame of OSP is not available")
    found = compare.figures(shared / "data" / "pdhd" / "tracks10-osp.npz", TRUTH, ANODE)["views"]
    for view in VIEWS:
        for name, cell in found[view].items():
            value, expected = (
                one["value"] if isinstance(one, dict) else one for one in (cell, kept[view][name])
            )
            assert value == pytest.approx(expected, rel=1e-4), (view, name)


def test_osp_line_scan_is_the_published_one() -> None:
    shared = shared_folder()
    if shared is None:
        pytest.skip("no folder shared/")
    original = json.loads((shared / "data" / "pdhd" / "osp-linescan.json").read_text(encoding="utf-8"))
    assert json.loads((DATA / "osp-linescan.json").read_text(encoding="utf-8")) == original
    row = compare.osp_figures(DATA)["lines"]["V"][3]
    assert row["theta_xz_deg"] == 5 and row["bias"]["value"] == original["planes"]["V"][3]["bias"]
