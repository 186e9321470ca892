# SPDX-License-Identifier: Apache-2.0
"""Stop signals while files run and at other times, in this process; test_faults.py sends them to a whole campaign."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from campaign_support import Bench
from wirecell_campaign import interrupts
from wirecell_campaign.interrupts import STOP_SIGNALS, Interrupts


def interrupted_by(*signals: int) -> Interrupts:
    """Return the state after these signals, each handled before the next one."""
    with Interrupts(lambda text: None) as interrupts:
        for code in signals:
            signal.raise_signal(code)
    return interrupts


@pytest.fixture(name="default_signals")
def fixture_default_signals() -> Iterator[None]:
    """Give stop signals their default action, since the shell of the tests may ignore them."""
    before = {code: signal.signal(code, signal.SIG_DFL) for code in STOP_SIGNALS}
    yield
    for code, handler in before.items():
        signal.signal(code, handler)


@pytest.mark.usefixtures("default_signals")
def test_every_stop_signal_is_handled_while_files_run() -> None:
    assert (interrupted_by(signal.SIGINT).level, interrupted_by(signal.SIGINT).exit_status) == (1, 130)
    for code, status in (
        (signal.SIGTERM, 143),
        (signal.SIGQUIT, 131),
        (signal.SIGHUP, 129),
        (signal.SIGUSR1, 138),
        (signal.SIGXCPU, 152),
    ):
        seen = interrupted_by(code)
        assert (seen.level, seen.exit_status) == (2, status)
    assert interrupted_by(signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU).exit_status == 143


@pytest.mark.usefixtures("default_signals")
def test_one_request_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command timeout sends its signal to the process and to its group. A later one is another request."""
    now = iter((10.0, 10.05, 10.2, 10.2))  # handled; the repetition; looked at and handled
    monkeypatch.setattr(interrupts.time, "monotonic", lambda: next(now))
    with Interrupts(lambda text: None) as seen:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        assert seen.level == 1
        signal.raise_signal(signal.SIGINT)
        assert seen.level == 2


@pytest.mark.usefixtures("default_signals")
def test_ignored_signals_stay_ignored() -> None:
    """As with nohup."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    assert interrupted_by(signal.SIGHUP).exit_status == 0
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize(
    "code, status",
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGUSR1, 138)],
)
def test_a_signal_outside_of_a_run(bench: Bench, monkeypatch, capsys, code: int, status: int) -> None:
    """For example while the list is read."""
    bench.make(1)
    monkeypatch.setattr("wirecell_campaign.campaign.Progress", lambda *_: signal.raise_signal(code))
    assert bench.run() == status
    assert "stopped; the same command continues from here" in capsys.readouterr().err
