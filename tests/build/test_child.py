# SPDX-License-Identifier: Apache-2.0
"""Signals to ./wcb and to our scripts reach the program that they run, which does not outlive them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.wire_cell import default_signals

ROOT = Path(__file__).resolve().parents[2]
PARENT = "import sys; from scripts.wcb.child import wait_for; sys.exit(wait_for(sys.argv[1:]))"
# Prints the signal it received, as wire-cell does, and ends with 128 + signal.
CHILD = """
import os, signal, sys
def stop(code, frame):
    print("received", code, flush=True)
    sys.exit(128 + code)
for code in map(int, sys.argv[1:]):
    signal.signal(code, stop)
print(os.getpid(), flush=True)
signal.pause()
"""


def start(*handled: int, prepare=default_signals) -> tuple[subprocess.Popen, int]:
    """Start a process that waits for CHILD; return it and the id of CHILD's process."""
    command = [sys.executable, "-c", PARENT, sys.executable, "-c", CHILD, *map(str, handled)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, preexec_fn=prepare)
    return process, int(process.stdout.readline())


@pytest.mark.parametrize("code", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGXCPU])
def test_a_child_ends_in_order(code):
    process, _ = start(code)
    process.send_signal(code)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (128 + code, f"received {int(code)}\n")


def test_a_child_that_a_signal_kills():
    process, child = start()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_an_ignored_signal_is_not_forwarded():
    """As with nohup: the child would ignore it if it had no handler of its own."""

    def ignore():
        default_signals()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    process, _ = start(signal.SIGHUP, signal.SIGTERM, prepare=ignore)
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (143, "received 15\n")
