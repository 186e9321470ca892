# SPDX-License-Identifier: Apache-2.0
"""wirecell-frame score: charge, efficiency and purity of each plane against the truth."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from wirecell_frame.cli import main

import spng
from spng import Frame, Traces, write_frames
from tests.reference import metrics as reference
from tests.support import wire_cell

CHANNELS = np.arange(2560)
PLANES = {"U": slice(0, 800), "V": slice(800, 1600), "W": slice(1600, 2560)}
TICKS = 64


def charge_and_truth(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Pulses of 3000 electrons per tick, of which U lacks some, with other charge and false ROIs."""
    random = np.random.default_rng(seed)
    truth = np.where(random.random((len(CHANNELS), TICKS)) < 0.02, 3000, 0).astype(np.float32)
    charge = truth * np.float32(0.9)
    charge[:200] = 0
    charge[random.random(charge.shape) < 0.003] = 50
    return charge, truth


def frame_of(
    samples: np.ndarray, tag: str, ident: int, channels: np.ndarray = CHANNELS, first: int = 0
) -> Frame:
    return Frame({tag: Traces(tag, samples, channels, first_tick=first)}, ident)


def run(*words: object) -> int:
    return main(["score", *map(str, words)])


@pytest.mark.parametrize("tag, form, ending", [("signal", "sparse", ".npz"), ("gauss0", "dense", ".tar.gz")])
def test_figures_are_those_of_the_reference(
    tag: str, form: str, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two events with rows and ticks in another order than the truth's."""
    pairs = {ident: charge_and_truth(ident) for ident in (7, 8)}
    outputs = [frame_of(pairs[ident][0][::-1], tag, ident, CHANNELS[::-1]) for ident in (8, 7)]
    truths = [frame_of(pairs[ident][1], "truth", ident) for ident in (7, 8)]
    write_frames(tmp_path / f"out{ending}", outputs, form=form)
    write_frames(tmp_path / "truth.npz", truths)
    assert run(tmp_path / f"out{ending}", tmp_path / "truth.npz", "--json", "-") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["tags"] == [tag, "truth"] and found["absent_channels"] == 0
    charge, truth = (np.concatenate([pair[side] for pair in pairs.values()], axis=1) for side in (0, 1))
    for plane, rows in (*PLANES.items(), ("all", slice(None))):
        expected = reference.merit(charge[rows].astype(np.float64), truth[rows].astype(np.float64))
        for name in ("charge", "efficiency", "purity"):
            assert found["planes"][plane][name]["value"] == pytest.approx(getattr(expected, name))
        assert found["planes"][plane]["charge"]["error"] > 0


def test_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A perfect output of another first tick, without the channels of V."""
    _, truth = charge_and_truth(1)
    kept = np.r_[CHANNELS[:800], CHANNELS[1600:]]
    write_frames(tmp_path / "out.npz", [frame_of(truth[kept, 4:], "gauss", 3, kept, first=4)])
    write_frames(tmp_path / "truth.npz", [frame_of(truth, "truth", 3)])
    assert run(tmp_path / "out.npz", tmp_path / "truth.npz") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("out.npz (gauss) and " + str(tmp_path / "truth.npz") + " (truth)")
    assert lines[1] == "1 event, matched by id"
    assert lines[2].split() == ["plane", "charge", "efficiency", "purity", "kept"]
    assert lines[3].split()[:6] == ["U", "100.00", "%", "100.00", "%", "100.00"]
    assert lines[4].split()[:5] == ["V", "0.00", "%", "0.00", "%"]
    assert lines[-1] == "800 channels of the truth are not in the output and count as empty"


def test_events_and_channels_of_only_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Charge of another anode does not count as false; events without partner are listed."""
    _, truth = charge_and_truth(1)
    two_anodes = np.r_[CHANNELS, CHANNELS + 2560]
    outputs = [frame_of(np.r_[truth, truth], "signal", ident, two_anodes) for ident in (3, 4, 5)]
    write_frames(tmp_path / "out.npz", outputs)
    write_frames(tmp_path / "truth.npz", [frame_of(truth, "truth", ident) for ident in (2, 3)])
    assert run(tmp_path / "out.npz", tmp_path / "truth.npz", "--json", tmp_path / "score.json") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:4] == [
        "1 event, matched by id",
        "only in the output, not scored: 2 events: 4-5",
        "only in the truth, not scored: 1 event: 2",
    ]
    assert lines[-1] == "2560 channels of the output are not in the truth and are not scored"
    found = json.loads((tmp_path / "score.json").read_text())
    assert found["events_only_output"] == [4, 5] and found["events_only_truth"] == [2]
    assert found["absent_channels"] == 0 and found["extra_channels"] == 2560
    assert list(found["planes"]) == ["U", "V", "W", "all"]
    for plane in found["planes"].values():
        assert all(plane[name]["value"] == 1 for name in ("charge", "efficiency", "purity"))


def test_planes_of_a_detector(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Channels of a part of an anode are one plane without the description."""
    pytest.importorskip("spng._core")
    charge, truth = charge_and_truth(1)
    write_frames(tmp_path / "out.npz", [frame_of(charge[700:900], "signal", 3, CHANNELS[700:900])])
    write_frames(tmp_path / "truth.npz", [frame_of(truth[700:900], "truth", 3, CHANNELS[700:900])])
    names = []
    for words in ([], ["--detname", "pdhd"]):
        assert run(tmp_path / "out.npz", tmp_path / "truth.npz", *words) == 0
        names.append([line.split()[0] for line in capsys.readouterr().out.splitlines()[3:-1]])
    assert names == [["all"], ["U", "V", "all"]]


def test_what_does_not_fit_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    charge, truth = charge_and_truth(1)
    write_frames(tmp_path / "truth.npz", [frame_of(truth, "truth", 3)])
    two = Frame({tag: Traces(tag, charge, CHANNELS) for tag in ("a", "b")}, 3)
    for frame, words in (
        (frame_of(charge, "signal", 3, CHANNELS + 2560), "no channel in common"),
        (frame_of(charge, "signal", 3, first=100), "no tick in common"),
        (Frame({"a": Traces("a", charge, CHANNELS, tick_ns=512.0)}, 3), "different sampling periods"),
        (two, "the tag is not clear"),
    ):
        write_frames(tmp_path / "out.npz", [frame])
        assert run(tmp_path / "out.npz", tmp_path / "truth.npz") in (1, 2)
        assert words in capsys.readouterr().err
    assert run(tmp_path / "out.npz", tmp_path / "truth.npz", "--tag", "b") == 0
    assert run(tmp_path / "out.npz", tmp_path / "truth.npz", "--tag", "c:truth") == 2


@wire_cell.needs_program
def test_the_default_event() -> None:
    """From Python: a result of the pipeline, which has no file."""
    with spng.Pipeline(model="none", device="cpu", threads=1) as pipeline:
        result = pipeline(next(spng.read_frames(wire_cell.ADC)))
    figures = spng.score(result, wire_cell.TRUTH).figures()
    assert list(figures) == ["U", "V", "W", "all"]
    truth = next(spng.read_frames(wire_cell.TRUTH)).only()
    for plane, rows in PLANES.items():
        expected = reference.merit(*(each.rows(CHANNELS[rows]) for each in (result["signal"], truth)))
        for name in ("charge", "efficiency", "purity"):
            assert figures[plane][name].value == pytest.approx(getattr(expected, name), rel=1e-5)
