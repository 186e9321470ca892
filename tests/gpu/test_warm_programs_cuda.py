# SPDX-License-Identifier: Apache-2.0
"""Programs that stay loaded, on a CUDA device: a list of files and a server give the bytes of a program for each event;
skipped without a device.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tests.serve import protocol, serving
from tests.support import wire_cell

pytestmark = [pytest.mark.gpu, wire_cell.needs_program]

EVENTS = 4
JOB = ("-c", wire_cell.PIPELINE, "-A", "device=cuda")


@pytest.fixture(name="folder", scope="module")
def fixture_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of different events, and the output of a program for each."""
    folder = tmp_path_factory.mktemp("events")
    samples, channels, _ = wire_cell.default_adc()
    for index in range(EVENTS):
        rotated = np.ascontiguousarray(np.roll(samples, 100 * index, axis=1))
        wire_cell.write_arrays(folder / f"adc{index}.npz", wire_cell.event(rotated, channels, index))
        words = ("-A", f"input=adc{index}.npz", "-A", f"output=signal{index}.npz")
        done = wire_cell.run(*JOB, *words, folder=folder)
        assert done.returncode == 0, done.stderr
    return folder


def test_a_list_of_files(folder: Path) -> None:
    (folder / "list.txt").write_text("".join(f"adc{index}.npz\n" for index in range(EVENTS)))
    done = wire_cell.run(*JOB, "--files", "list.txt", "-A", "output=listed-{name}.npz", folder=folder)
    assert done.returncode == 0, done.stderr
    for index in range(EVENTS):
        listed, alone = (folder / name for name in (f"listed-adc{index}.npz", f"signal{index}.npz"))
        assert listed.read_bytes() == alone.read_bytes(), index


def test_a_server_asked_by_several_clients(folder: Path) -> None:
    inputs = [
        wire_cell.read_arrays(folder / f"adc{index}.npz")[f"frame_*_{index}"] for index in range(EVENTS)
    ]
    with serving.serving(*JOB, addresses=["unix:spng.sock"], folder=folder) as server:
        address = f"unix:{folder}/spng.sock"

        def signal(index: int) -> np.ndarray:
            reply = protocol.infer(address, "pipeline", {"adc": inputs[index % EVENTS]}, ident=index)
            assert reply.status == 200, reply.json
            return reply.arrays()["signal"]

        with ThreadPoolExecutor(EVENTS) as clients:
            signals = list(clients.map(signal, range(2 * EVENTS)))
        assert server.process.poll() is None
    for index, seen in enumerate(signals):
        event = index % EVENTS
        expected = wire_cell.read_arrays(folder / f"signal{event}.npz")[f"frame_signal_{event}"]
        assert seen.tobytes() == expected.tobytes(), index


def test_a_network_on_a_server_with_the_device(folder: Path) -> None:
    """A chain on the CPU sends the network's input to the device."""
    words = ("-c", wire_cell.PIPELINE, "-A", "device=cpu", "-A", "input=adc0.npz")
    with serving.serving(*JOB, addresses=["unix:network.sock"], folder=folder):
        remote = (*words, "-A", "output=remote.npz", "-A", "model_server=unix:network.sock")
        done = wire_cell.run(*remote, folder=folder)
        assert done.returncode == 0, done.stderr
    done = wire_cell.run(*words, "-A", "output=local.npz", folder=folder)
    assert done.returncode == 0, done.stderr
    here, there = (
        wire_cell.read_arrays(folder / name)["frame_signal_0"] for name in ("local.npz", "remote.npz")
    )
    both, either = (here != 0) & (there != 0), (here != 0) | (there != 0)
    assert both.sum() >= 0.9999 * either.sum()
    assert np.abs(here - there)[both].max() <= 1e-4 * here[both].std()
