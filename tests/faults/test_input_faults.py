# SPDX-License-Identifier: Apache-2.0
"""Input files that are damaged, and files that are not there, as a user meets them.

Tests of faulty input, by file:

    tests/io/*_test.cxx                 every byte of damage at the reader: cut, flipped, rubbish; wrong members of an event
    tests/endtoend/test_bad_channels.py frames that are well formed and do not fit: channels, ticks, types, periods; bad channels
    tests/app/test_command_line.py      a missing frame file; a configuration that is not there
    here                                the program's answer to a damaged file: status, message, events before the damage kept;
                                        a damaged event among good ones with both --on-error; missing detector and model files
    test_run_faults.py                  outputs that cannot be written, signals in mid-run
    test_configuration_faults.py        jobs that are wrong

A tar without compression has no checksums, so a flipped sample in it is a sample; every other damage is noticed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support import wire_cell
from tests.support.small_site import Site

pytestmark = wire_cell.needs_program

COPY = wire_cell.ROOT / "tests" / "app" / "jobs" / "copy.jsonnet"
EVENTS = 4


def noise_events(channels: int = 200, ticks: int = 500) -> wire_cell.Arrays:
    """Small events that compress badly, so that damage in the middle of a file is in the middle of the events."""
    random = np.random.default_rng(20261121)
    arrays: wire_cell.Arrays = {}
    for ident in range(EVENTS):
        samples = random.integers(0, 4000, (channels, ticks), dtype=np.int16)
        arrays.update(wire_cell.event(samples, np.arange(channels), ident))
    return arrays


def cut(content: bytes) -> bytes:
    """Seven tenths of a file: two whole events and a part of the third."""
    return content[: len(content) * 7 // 10]


def flipped(content: bytes) -> bytes:
    """Bytes inside the third event turned over."""
    middle = len(content) * 6 // 10
    return (
        content[:middle]
        + bytes(byte ^ 0xFF for byte in content[middle : middle + 64])
        + content[middle + 64 :]
    )


class TestDamagedArchive:
    """One block, status 1, and the events that came before it."""

    @pytest.mark.parametrize("ending", wire_cell.ENDINGS)
    @pytest.mark.parametrize("damage", [cut, flipped])
    def test_events_before_the_damage_are_kept(self, tmp_path: Path, ending: str, damage) -> None:
        if damage is flipped and ending == ".tar":
            pytest.skip("a tar without compression has no checksums")
        arrays = noise_events()
        path = wire_cell.write_arrays(tmp_path / f"adc{ending}", arrays)
        path.write_bytes(damage(path.read_bytes()))
        block = wire_cell.rejected(
            COPY, "-A", f"input={path.name}", "-A", "output=out.npz", folder=tmp_path, status=1
        )
        assert "FrameFileSource:in" in block and path.name in block
        kept = wire_cell.read_arrays(tmp_path / "out.npz") if (tmp_path / "out.npz").exists() else {}
        # bzip2 checks blocks of 900 kB, here the whole file: nothing before it can be trusted.
        assert len(kept) == (0 if ending == ".tar.bz2" else 2 * 3)
        for name, array in kept.items():
            np.testing.assert_array_equal(array, arrays[name])
        assert sorted(each.name for each in tmp_path.iterdir()) == sorted(
            [path.name] + ["out.npz"] * bool(kept)
        )

    @pytest.mark.parametrize(
        "content, words",
        [
            (b"", "empty"),
            (b"This is a letter, not an archive.\n" * 40, "not an archive"),
            (b"PK\x05\x06" + bytes(18), "no event"),  # a zip file without members
        ],
    )
    def test_files_that_are_no_frame_files(self, tmp_path: Path, content: bytes, words: str) -> None:
        (tmp_path / "adc.npz").write_bytes(content)
        block = wire_cell.rejected(COPY, "-A", "input=adc.npz", folder=tmp_path, status=1)
        assert words in block.splitlines()[0] and "adc.npz" in block
        assert [each.name for each in tmp_path.iterdir()] == ["adc.npz"]


class TestDamagedEvent:
    """The second of four events has too few rows."""

    @pytest.fixture(name="site", scope="class")
    @staticmethod
    def fixture_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
        """The small detector with adc.npz."""
        site = Site.at(tmp_path_factory.mktemp("damaged-event"))
        samples, channels = site.busy_frames(1, 600)["frame_*_0"], site.anode.channels
        arrays: wire_cell.Arrays = {}
        for ident in range(EVENTS):
            arrays.update(wire_cell.event(samples[:100] if ident == 1 else samples, channels, ident))
        wire_cell.write_arrays(site.folder / "adc.npz", arrays)
        return site

    @pytest.mark.parametrize("engine", ["Pgrapher", "TbbFlow"])
    def test_stop(self, site: Site, engine: str) -> None:
        """The event before it is kept."""
        output = f"stop-{engine}.npz"
        block = wire_cell.rejected(
            "-c",
            wire_cell.PIPELINE,
            *site.flags,
            *wire_cell.settings("device=cpu", "input=adc.npz", f"output={output}", f"engine={engine}"),
            folder=site.folder,
            status=1,
        )
        assert "event 1" in block and "100, the rows of frame_*_1.npy" in block
        kept = wire_cell.read_arrays(site.folder / output)
        assert {name for name in kept if name.startswith("frame_")} == {"frame_signal_0"}
        assert kept["frame_signal_0"].any()

    @pytest.mark.parametrize("engine", ["Pgrapher", "TbbFlow"])
    def test_skip(self, site: Site, engine: str) -> None:
        """It is told about, the others are done, and the job succeeds."""
        output = f"skip-{engine}.npz"
        done = wire_cell.run(
            "-c",
            wire_cell.PIPELINE,
            *site.flags,
            "--on-error",
            "skip",
            *wire_cell.settings("device=cpu", "input=adc.npz", f"output={output}", f"engine={engine}"),
            folder=site.folder,
        )
        assert done.returncode == 0, done.stderr
        assert "event 1 skipped" in done.stderr and "100, the rows of frame_*_1.npy" in done.stderr
        assert "1 events skipped, 3 completed" in done.stderr
        kept = wire_cell.read_arrays(site.folder / output)
        signals = [array for name, array in kept.items() if name.startswith("frame_")]
        assert [name for name in kept if name.startswith("frame_")] == [
            f"frame_signal_{ident}" for ident in (0, 2, 3)
        ]
        assert signals[0].any()
        for signal in signals[1:]:
            np.testing.assert_array_equal(signal, signals[0])

    def test_nothing_left_to_do_is_a_failure(self, tmp_path: Path) -> None:
        """Every event skipped: no output, and the status reports it."""
        samples = np.zeros((5, 100), np.int16)
        wire_cell.write_arrays(tmp_path / "adc.npz", wire_cell.event(samples, np.arange(6)))
        done = wire_cell.run(COPY, "--on-error", "skip", "-A", "input=adc.npz", folder=tmp_path, seconds=30)
        assert done.returncode == 1
        assert "1 events skipped, 0 completed" in done.stderr
        assert [each.name for each in tmp_path.iterdir()] == ["adc.npz"]


class TestMissingFiles:
    """Files that a job names and nobody has: the block names the file; nothing is written."""

    @staticmethod
    def fails(folder: Path, *arguments: str) -> tuple[int, str]:
        wire_cell.write_arrays(folder / "adc.npz", noise_events())
        words = wire_cell.settings("device=cpu", "input=adc.npz", *arguments)
        done = wire_cell.run("-c", wire_cell.PIPELINE, *words, folder=folder)
        assert done.stderr.startswith("error: "), done.stderr
        assert [each.name for each in folder.iterdir()] == ["adc.npz"]
        return done.returncode, done.stderr

    def test_model(self, tmp_path: Path) -> None:
        status, block = self.fails(tmp_path, "model=absent-model.ts")
        assert status != 0 and "'absent-model.ts' not found" in block and "SPNGTorchService" in block

    def test_model_that_is_none(self, tmp_path: Path) -> None:
        status, block = self.fails(tmp_path, "model=adc.npz")
        assert status != 0 and "adc.npz" in block and "TorchScript" in block

    @pytest.mark.parametrize(
        "change", ["wires: 'absent.json.bz2'", "field_response(anode):: 'absent.json.bz2'"]
    )
    def test_detector_file(self, tmp_path: Path, change: str) -> None:
        """A detector that names a file that does not exist."""
        pdhd = wire_cell.ROOT / "cfg" / "detectors" / "pdhd.jsonnet"
        detector = f"detname=(import '{pdhd}') + {{ {change} }}"
        done = wire_cell.run(
            "-c", wire_cell.PIPELINE, "--tla-code", detector, "-A", "device=cpu", folder=tmp_path
        )
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith("error: data file 'absent.json.bz2' not found"), done.stderr
        assert not list(tmp_path.iterdir())
