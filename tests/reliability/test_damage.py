# SPDX-License-Identifier: Apache-2.0
"""Cut and changed input files: no crash, no hang, no more memory than an undamaged file takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support import figures, wire_cell
from tests.support.measured_runs import choose, run_for_memory

pytestmark = [wire_cell.needs_program, pytest.mark.reliability]

SECONDS = 2.0  # of processor time
ALLOWED_MB = 50.0  # buffers of the readers
WORDS = [
    wire_cell.ROOT / "tests" / "app" / "jobs" / "copy.jsonnet",
    *("-A", "output=out.npz", "-A"),
]


def noise_events(path: Path) -> bytes:
    """Write three events that compress badly, so that damage in a file is damage in an event; return the file's content."""
    random = np.random.default_rng(20261125)
    arrays: wire_cell.Arrays = {}
    for ident in range(3):
        arrays |= wire_cell.event(random.integers(0, 4000, (60, 250), dtype=np.int16), np.arange(60), ident)
    return wire_cell.write_arrays(path, arrays).read_bytes()


@pytest.fixture(name="sound_mb", scope="module")
def fixture_sound_mb(tmp_path_factory: pytest.TempPathFactory) -> float:
    """Memory that an undamaged file takes."""
    folder = tmp_path_factory.mktemp("sound")
    noise_events(folder / "adc.tar")
    done, megabytes = run_for_memory([*WORDS, "input=adc.tar"], folder)
    assert done.status == 0, done.errors
    return megabytes


def flipped(content: bytes, bit: int) -> bytes:
    """Return the content with one other bit."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << (bit % 8)
    return bytes(changed)


@pytest.mark.parametrize("ending", wire_cell.ENDINGS)
@pytest.mark.parametrize("damage", ["cut", "one bit flipped"])
def test_no_crash(tmp_path: Path, sound_mb: float, damage: str, ending: str) -> None:
    """A .tar that is cut between events, or with a flipped bit of a sample, is a valid file."""
    whole, count = noise_events(tmp_path / f"whole{ending}"), choose(64, 4)
    bits = np.random.default_rng(1).choice(8 * len(whole), count, replace=False)
    inputs = [whole[: len(whole) * point // count] for point in range(count)]
    if damage != "cut":
        inputs = [flipped(whole, int(bit)) for bit in bits]
    for content in inputs:
        (tmp_path / f"adc{ending}").write_bytes(content)
        done, megabytes = run_for_memory([*WORDS, f"input=adc{ending}"], tmp_path)
        figures.note("processor time [s]", done.cpu_s)
        figures.note("memory [MB]", megabytes)
        assert done.status in ((0, 1) if ending == ".tar" else (1,)), done.errors
        assert "report this defect" not in done.errors
        assert done.cpu_s < SECONDS and megabytes < sound_mb + ALLOWED_MB


def test_a_header_of_a_million_millions_of_samples(tmp_path: Path, sound_mb: float) -> None:
    """The header has room for a longer text: it is padded with spaces."""
    content = noise_events(tmp_path / "adc.tar")
    start = content.index(b"(60, 250)")
    end = content.index(b"\n", start)
    text = content[start:end].replace(b"(60, 250)", b"(1000000, 1000000)").rstrip()
    (tmp_path / "adc.tar").write_bytes(content[:start] + text.ljust(end - start) + content[end:])
    done, megabytes = run_for_memory([*WORDS, "input=adc.tar"], tmp_path)
    assert done.status == 1 and megabytes < sound_mb + ALLOWED_MB
