# SPDX-License-Identifier: Apache-2.0
"""Frames in a session: equality, short representations, pictures of notebooks, warnings, and progress without tqdm."""

from __future__ import annotations

import copy
import io
import pickle
import re
import sys
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PIL import Image
from spng.frame import runs_of
from spng.progress import with_bar

from spng import Error, Frame, SparseSamples, Traces, show

CHANNELS, TICKS = np.arange(6, dtype=np.int32), 50


def samples(seed: int = 1) -> np.ndarray:
    """Return samples of which many are 0, and one is NaN."""
    random = np.random.default_rng(seed)
    found = np.where(random.random((6, TICKS)) < 0.2, random.normal(0, 900, (6, TICKS)), 0).astype(np.float32)
    found[2, 7] = np.nan
    return found


def sparse(dense: np.ndarray) -> SparseSamples:
    is_set = dense != 0
    return SparseSamples(runs_of(is_set), dense[is_set], (6, TICKS))


def frame(**changes: Any) -> Frame:
    """Return an event; changes are of its traces."""
    traces = Traces("signal", samples(), CHANNELS, 512.0, 1000.0, 3, np.arange(6.0))
    masks = {"bad": np.array([[1, 0, 9]])}
    return Frame({"signal": replace(traces, **changes)}, 7, masks, {"model": "none"})


@pytest.mark.parametrize(
    "change",
    [
        lambda one: replace(one, ident=8),
        lambda one: replace(one, masks={}),
        lambda one: replace(one, masks={"bad": np.array([[1, 0, 8]])}),
        lambda one: replace(one, masks={"worse": one.masks["bad"]}),
        lambda one: replace(one, traces={}),
        lambda one: frame(samples=samples(2)),
        lambda one: frame(samples=samples()[:, :-1]),
        lambda one: frame(channels=CHANNELS[::-1]),
        lambda one: frame(tick_ns=500.0),
        lambda one: frame(start_ns=0.0),
        lambda one: frame(first_tick=0),
        lambda one: frame(summary=None),
        lambda one: frame(summary=np.zeros(6)),
        lambda one: frame(samples=sparse(samples(2))),
        lambda one: one.traces,
        lambda one: None,
    ],
)
def test_frames_that_differ(change: Callable[[Frame], Any]) -> None:
    other = change(frame())
    assert (frame() == other) is False and (frame() != other) is True


@pytest.mark.parametrize(
    "equal",
    [
        copy.deepcopy,
        lambda one: pickle.loads(pickle.dumps(one)),
        lambda one: replace(one, notes={}),
        lambda one: frame(samples=sparse(samples())),
        lambda one: frame(samples=samples().astype(np.float64)),
    ],
)
def test_frames_that_are_equal(equal: Callable[[Frame], Frame]) -> None:
    """Forms and types of the samples, and notes, are not compared."""
    one, other = frame(), equal(frame())
    assert (one == other) is True and (other == one) is True
    assert one["signal"] == other["signal"] and other in [one]


def test_frames_of_torch() -> None:
    torch = pytest.importorskip("torch")
    tensors = frame(samples=torch.from_numpy(samples()))
    assert tensors == frame() and "float32" in repr(tensors) and "torch" not in repr(tensors)


def test_representations_are_short() -> None:
    event = frame()
    assert repr(event) == (
        "<Frame 7: <Traces 'signal': 6 channels, 50 ticks, float32>, mask 'bad': 1 ranges>"
    )
    kept = sparse(samples())
    assert (
        repr(kept)
        == f"<SparseSamples: 6 channels, 50 ticks, float32, {len(kept.runs)} runs, {len(kept.values)} samples>"
    )
    assert repr(replace(event["signal"], samples=kept)).endswith("float32, sparse>")
    assert repr(Frame({})) == "<Frame 0: no traces>"


def test_tags() -> None:
    event = frame()
    assert "signal" in event and "roi" not in event and 3 not in event
    with pytest.raises(KeyError) as caught:
        event["roi"]
    assert isinstance(caught.value, Error) and caught.value.expected == "'signal'"
    with pytest.raises(ValueError) as several:
        Frame({"a": event["signal"], "b": event["signal"]}).only()
    assert isinstance(several.value, Error) and several.value.seen == "'a', 'b'"
    assert sparse(np.nan_to_num(samples())).sum() == pytest.approx(np.nan_to_num(samples()).sum())


def test_warnings_of_an_event() -> None:
    """Each is a line of the note, in the words of Python."""
    noted = replace(frame(), notes={"warnings": "too noisy; hint: use -A max_bad_share=SHARE\ntoo late"})
    assert noted.warnings == ["too noisy; hint: use max_bad_share=SHARE", "too late"]
    assert frame().warnings == [] and "2 warnings" in repr(noted)
    assert "warning: too late" in noted._repr_html_()


def pictures(text: str) -> list[np.ndarray]:
    """Return the pictures in HTML, (row, column, 3)."""
    found = [b64decode(each) for each in re.findall(r'src="data:image/png;base64,([^"]*)"', text)]
    return [np.asarray(Image.open(io.BytesIO(each)).convert("RGB")) for each in found]


def test_a_notebook_shows_a_frame_small() -> None:
    """Time goes up, and channels to the right in ascending order; rows may have any order."""
    charge = np.zeros((400, 3000), np.float32)
    charge[10, 2900] = 5000  # the first columns, near the top
    adc = np.full((400, 3000), 900, np.int16)
    order = np.random.default_rng(4).permutation(400)
    channels = np.arange(400, dtype=np.int32)
    event = Frame(
        {
            "signal": Traces("signal", charge[order], channels[order]),
            "<script>": Traces("<script>", adc, channels),
        }
    )
    text = event._repr_html_()
    assert len(text) < 100_000 and "<script>" not in text and "400 channels, 3000 ticks of 500 ns" in text
    signal, raw = pictures(text)
    assert signal.shape == (120, 200, 3)
    dark = np.argwhere(signal.sum(axis=2) < 200).tolist()
    assert dark == [[120 - 1 - 2900 // 25, 10 // 2]]
    assert (raw == 255).mean() > 0.9, "the median of each channel is white"


def test_a_notebook_shows_a_large_page_small(monkeypatch: pytest.MonkeyPatch) -> None:
    event = frame(samples=np.random.default_rng(3).normal(size=(6, TICKS)).astype(np.float32))
    assert "<iframe" in show(event)._repr_html_()
    monkeypatch.setattr("spng.pictures.page.NOTEBOOK_BYTES", 1000)
    page = show(event)
    text = page._repr_html_()
    assert "<iframe" not in text and "save(" in text and len(text) < 20_000 < len(page.text)
    assert len(pictures(text)) == 1 and repr(page) == f"<Page of frames: {len(page.text) / 1e6:.1f} MB>"


def test_progress_without_tqdm(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert list(with_bar([3, 4, 5])) == [3, 4, 5]
    assert list(with_bar(iter([6]))) == [6]
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(" in ")[0] for line in lines] == ["3 of 3 events", "1 events"]


@pytest.mark.parametrize(
    ("runs", "values", "shape"),
    [
        ([[0, 190, 210]], 20, (4, 200)),  # into the next row
        ([[4, 0, 2]], 2, (4, 200)),
        ([[-1, 0, 2]], 2, (4, 200)),
        ([[0, 5, 3]], 0, (4, 200)),
        ([[0, 0, 2]], 3, (4, 200)),
        ([[0, 0, 4], [0, 2, 6]], 8, (4, 200)),
        ([[1, 0, 2], [0, 0, 2]], 4, (4, 200)),
        ([[0.0, 0.5, 2.0]], 2, (4, 200)),
        ([[0, 0]], 0, (4, 200)),
        ([[0, 0, 2]], 2, (4,)),
        ([[0, 0, 2]], 2, None),
        (None, 2, (4, 200)),
    ],
)
def test_runs_that_do_not_fit(runs: object, values: int, shape: object) -> None:
    samples = SparseSamples(runs if runs is None else np.array(runs), np.ones(values, np.int16), shape)
    with pytest.raises(Error, match="the runs of the samples do not fit"):
        samples.dense()
