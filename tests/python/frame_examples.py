# SPDX-License-Identifier: Apache-2.0
"""Small frames for the tests of files and comparisons."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spng import Frame, Traces

PLANES = "U:8,V:8,W:10"
CHANNELS, TICKS = 26, 300


def signal(seed: int = 1) -> np.ndarray:
    """Return samples (channel, tick) float32 of which about a tenth are not 0."""
    random = np.random.default_rng(seed)
    shape = (CHANNELS, TICKS)
    return np.where(random.random(shape) < 0.1, random.normal(1000, 300, shape), 0).astype(np.float32)


def frame(samples: np.ndarray, ident: int = 0, tag: str = "signal", **properties: object) -> Frame:
    """Return an event with one tag; properties of Traces, and masks and notes of the Frame."""
    of_frame = {name: properties.pop(name) for name in ("masks", "notes") if name in properties}
    channels = properties.pop("channels", np.arange(len(samples)))
    return Frame({tag: Traces(tag, samples, np.asarray(channels, np.int32), **properties)}, ident, **of_frame)


def rich_events() -> list[Frame]:
    """Return events with tags of both types, masks, summaries, notes and bits that are easily lost."""
    samples = signal()
    samples[3, :3] = [-0.0, np.nan, -np.inf]
    random = np.random.default_rng(2)
    channels = random.permutation(CHANNELS).astype(np.int32) + 7
    events = []
    for ident, is_empty in ((9, False), (4, True), (10, False)):
        kept = np.zeros_like(samples) if is_empty else samples
        traces = [
            Traces("signal", kept, channels, 512.0, 1000.25 * ident, 3, random.normal(size=CHANNELS)),
            Traces("roi", (kept > 0).astype(np.int16), channels),
            Traces("one_more_tag", np.full((1, 2), -3, np.int16), np.array([4], np.int32)),
            Traces("*", random.integers(1, 99, (3, 7), dtype=np.int16), np.arange(3, dtype=np.int32)),
        ]
        masks = {"bad": np.array([[8, 1, 5], [9, 0, 300]]), "noisy_too": np.array([[12, 0, 9]])}
        notes = {"model": "none", "names": 'µ, "quoted"\n'}
        events.append(Frame({each.tag: each for each in traces}, ident, masks, notes))
    return events


def require_equal(seen: Frame, expected: Frame) -> None:
    """Check two events: names, order, types, values and bits of the samples."""
    assert seen.ident == expected.ident
    assert list(seen.traces) == list(expected.traces)
    for tag, traces in expected.traces.items():
        found = seen[tag]
        samples, wanted = found.dense(), traces.dense()
        assert (samples.dtype, samples.shape) == (wanted.dtype, wanted.shape), tag
        assert samples.tobytes() == wanted.tobytes(), tag
        assert found.channels.dtype == np.int32 and found.channels.tolist() == traces.channels.tolist()
        times = ("tick_ns", "start_ns", "first_tick")
        assert [getattr(found, name) for name in times] == [getattr(traces, name) for name in times]
        assert (found.summary is None) == (traces.summary is None)
        if traces.summary is not None:
            assert found.summary.dtype == np.float64 and (found.summary == traces.summary).all()
    assert {name: mask.tolist() for name, mask in seen.masks.items()} == {
        name: mask.tolist() for name, mask in expected.masks.items()
    }
    assert list(seen.masks) == list(expected.masks)
    assert seen.notes == expected.notes


@pytest.fixture(name="path", params=(".h5", ".zarr"))
def fixture_path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return tmp_path / f"frames{request.param}"


def without_checksums(path: Path) -> Path:
    """Make a file one of earlier versions and of other programs, which write no checksums."""
    import h5py
    import zarr

    if path.suffix == ".zarr":
        for group in (root := zarr.open_group(path), *(root[name] for name in root)):
            del group.attrs["checksums"]
        return path
    with h5py.File(path, "a") as file:
        for group in [file, *(group for group in file.values() if isinstance(group, h5py.Group))]:
            del group["checksums_spng"]
    return path
