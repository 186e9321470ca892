# SPDX-License-Identifier: Apache-2.0
"""Signals of batch systems and closed terminals give exit status 128 + signal and leave no unfinished output."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from wirecell_profile.cli import main
from wirecell_profile.stop_signals import STOP_SIGNALS


@pytest.fixture(autouse=True)
def fixture_default_signals() -> Iterator[None]:
    """Give stop signals their default action: the shell that runs the tests may ignore them."""
    before = {signum: signal.signal(signum, signal.SIG_DFL) for signum in STOP_SIGNALS}
    yield
    for signum, handler in before.items():
        signal.signal(signum, handler)


@pytest.fixture
def recorded(profile_file) -> str:
    """Return the path of a profile with one range."""
    with profile_file.writing() as file:
        file.range("outer", 100, 1_000)
    return str(profile_file.path)


def signal_before_rename(monkeypatch: pytest.MonkeyPatch, signum: int) -> None:
    """Raise the signal when the output is complete under its temporary name."""

    def then(rename: Callable[..., object]) -> Callable[..., object]:
        def interrupted(*words: object, **options: object) -> object:
            signal.raise_signal(signum)
            return rename(*words, **options)

        return interrupted

    for name in ("replace", "rename"):
        monkeypatch.setattr(os, name, then(getattr(os, name)))


@pytest.mark.parametrize("signum", STOP_SIGNALS)
def test_stopped_while_it_writes(
    recorded: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, signum: signal.Signals
) -> None:
    folder = tmp_path / "written"
    folder.mkdir()
    signal_before_rename(monkeypatch, signum)
    assert main(["html", recorded, "-o", str(folder / "page.html")]) == 128 + signum
    assert not list(folder.iterdir())


@pytest.mark.parametrize("signum", STOP_SIGNALS)
def test_stopped_twice_at_once(
    recorded: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, signum: signal.Signals
) -> None:
    """The repetition of a signal, as the command timeout sends it, does not interrupt the removal of the output."""
    folder = tmp_path / "written"
    folder.mkdir()
    signal_before_rename(monkeypatch, signum)
    unlink = os.unlink

    def repeated(*words: object, **options: object) -> None:
        signal.raise_signal(signum)
        unlink(*words, **options)

    monkeypatch.setattr(os, "unlink", repeated)
    assert main(["html", recorded, "-o", str(folder / "page.html")]) == 128 + signum
    assert not list(folder.iterdir())


def test_ignored_signals_stay_ignored(recorded: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signals that are ignored at the start, as SIGHUP with nohup, stay ignored."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal_before_rename(monkeypatch, signal.SIGHUP)
    assert main(["html", recorded, "-o", str(tmp_path / "page.html")]) == 0
