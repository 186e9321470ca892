# SPDX-License-Identifier: Apache-2.0
"""Exceptions of signal handlers, such as KeyboardInterrupt, come out of each call, whichever code of Python they interrupt."""

from __future__ import annotations

import logging
import signal as signals
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import numpy as np
import pytest
from wirecell_profile.stop_signals import STOP_SIGNALS

import spng
from tests.python.frame_examples import frame, signal
from tests.support.wire_cell import needs_program

pytestmark = needs_program


@pytest.fixture(autouse=True)
def fixture_default_signals() -> Iterator[None]:
    """Handle SIGINT as Python does, also where a shell in the background ignores it."""
    before = signals.signal(signals.SIGINT, signals.default_int_handler)
    yield
    signals.signal(signals.SIGINT, before)


@contextmanager
def interrupted(at: int) -> Iterator[list[str]]:
    """Send SIGINT to this process at a call of a function, counted from 0. Yield the functions called until then."""
    called: list[str] = []

    def count(caller: FrameType, event: str, function: object) -> None:
        is_end = caller.f_code.co_name == "<genexpr>" and caller.f_lasti > 2  # where no handler runs
        if event not in ("call", "c_call") or is_end:
            return
        called.append(f"{caller.f_code.co_qualname} {function or ''}")
        if len(called) == at + 1:
            sys.setprofile(None)
            signals.raise_signal(signals.SIGINT)

    sys.setprofile(count)
    try:
        yield called
    finally:
        sys.setprofile(None)


def lost(action: Callable[[], object], step: int = 1) -> list[str]:
    """Interrupt an action at its calls, one after the other. Return those where no KeyboardInterrupt came out, or where the
    handlers of the process changed.
    """
    before = [signals.getsignal(each) for each in (signals.SIGINT, *STOP_SIGNALS)]
    action()  # imports
    with interrupted(-1) as called:
        action()
    assert len(called) > 20
    found, sent = [], 0
    for at in range(0, len(called), step):
        name = f"call {at}, {called[at]}"
        try:
            with interrupted(at) as calls:
                action()
        except KeyboardInterrupt:
            pass
        except Exception as error:
            found.append(f"{name}: {error!r}")
        else:
            if len(calls) > at:  # zarr waits for its threads with more calls, or fewer
                found.append(f"{name}: nothing")
        sent += len(calls) > at
        if [signals.getsignal(each) for each in (signals.SIGINT, *STOP_SIGNALS)] != before:
            found.append(f"{name}: handlers")
    assert sent * step > 0.9 * len(called)
    return found


@pytest.mark.parametrize(("ending", "step"), [(".npz", 1), (".tar.gz", 1), (".h5", 7), (".zarr", 13)])
def test_frame_files(ending: str, step: int, tmp_path: Path) -> None:
    """Nothing but the former file is left."""
    if ending == ".h5":
        pytest.importorskip("h5py")
    if ending == ".zarr":
        pytest.importorskip("zarr")
    path = tmp_path / f"event{ending}"
    assert lost(lambda: spng.write_frames(path, frame(signal())), step) == []
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert lost(lambda: list(spng.read_frames(path)), step) == []
    assert [each.samples.tobytes() for each in next(spng.read_frames(path)).traces.values()] == [
        signal().tobytes()
    ]


def test_tensors(tmp_path: Path) -> None:
    """Whose DLPack export is code of Python."""
    torch = pytest.importorskip("torch")
    event = frame(torch.from_numpy(signal()), channels=np.arange(26))
    assert lost(lambda: spng.write_frames(tmp_path / "event.npz", event)) == []


def test_input_of_a_pipeline(pipeline: spng.Pipeline) -> None:
    """Input that the pipeline rejects, so that no event is processed."""
    torch = pytest.importorskip("torch")
    samples = torch.zeros((4, 10), dtype=torch.int16)

    def submit() -> None:
        with pytest.raises(spng.Error):
            pipeline.submit(samples, channels=[1, 2, 3]).result()

    assert lost(submit) == []


def test_log_lines(simulation: spng.Simulation) -> None:
    """The simulation logs in the thread that calls it."""
    lines = []

    class Interrupted(logging.Handler):
        """Is interrupted."""

        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())
            signals.raise_signal(signals.SIGINT)

    handler = Interrupted()
    logging.getLogger("spng").addHandler(handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            simulation(np.full((7, 3), np.nan))
    finally:
        logging.getLogger("spng").removeHandler(handler)
    assert lines == ["simulation: event 0: dropped 3 of 3 depositions: 3 not finite"]
    assert simulation(np.zeros((7, 0)), ident=1).ident == 1


def test_paths_are_converted_by_the_caller(tmp_path: Path) -> None:
    """In the native module the exception would be lost."""
    from spng.native import core

    spng.write_frames(tmp_path / "event.npz", frame(signal()))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        core.FrameReader(tmp_path / "event.npz", ["*"], None)
    assert core.FrameReader(str(tmp_path / "event.npz"), ["*"], None).next().ident == 0
