# SPDX-License-Identifier: Apache-2.0
"""Read every kind of file that our jobs write by the rules of the Wire-Cell Toolkit's readers (tests/support/wct_reader.py)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support import wct_reader, wire_cell
from tests.support.small_site import Site
from tests.support.wct_reader import Rejected, read_depos, read_frames

pytestmark = wire_cell.needs_program

COPY = wire_cell.ROOT / "tests" / "app" / "jobs" / "copy.jsonnet"
SIMULATE = "cfg/simulate.jsonnet"
TAGS = ("signal", "decon_charge", "wiener", "loose", "mp2", "mp3", "roi")
TICKS = 400
ENDINGS = (*wire_cell.ENDINGS, ".tgz", ".tbz2", ".zip")


def noise(site: Site, ticks: int) -> np.ndarray:
    """Return (channel, tick) ADC counts."""
    rows = len(site.anode.channels)
    return (2000 + np.random.default_rng(5).normal(0, 4, (rows, ticks))).astype(np.int16)


def tags_of(path: Path) -> tuple[str, ...]:
    """Return the tags of the frames of a file."""
    names = wire_cell.read_arrays(path)
    return tuple(dict.fromkeys(name.split("_")[1] for name in names if name.startswith("frame_")))


@pytest.fixture(name="containers", scope="module")
def fixture_containers(site: Site, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Simulate an event into files of every ending, up to three with each job; return their paths by ending."""
    folder = tmp_path_factory.mktemp("containers")
    outputs = ("output", "truth", "signal")
    for first in range(0, len(ENDINGS), len(outputs)):
        given = dict(zip(outputs, ENDINGS[first : first + len(outputs)]))
        names = [f"{name}=out{ending}" for name, ending in given.items()]
        words = wire_cell.settings(*names, "tracks=1", "nevents=1", "device=cpu")
        done = wire_cell.run("-c", SIMULATE, *site.flags, *words, folder=folder)
        assert done.returncode == 0, done.stderr
    return {ending: folder / f"out{ending}" for ending in ENDINGS}


def require_same(path: Path, tags: tuple[str, ...]) -> list[wct_reader.Event]:
    """Check that WCT reads the same events from a file as NumPy."""
    arrays, events = wire_cell.read_arrays(path), read_frames(path, tags)
    assert events
    for event in events:
        assert tuple(event.tags) == tags
        for tag, part in event.tags.items():
            end = f"{tag}_{event.ident}"
            np.testing.assert_array_equal(part.samples, arrays[f"frame_{end}"])
            np.testing.assert_array_equal(part.channels, arrays[f"channels_{end}"])
            np.testing.assert_array_equal(part.tickinfo, arrays[f"tickinfo_{end}"])
            assert (part.summary is None) == (f"summary_{end}" not in arrays)
            assert part.samples.shape[1] > 0
    return events


class TestRules:
    """The rules of the reader, on files that WCT is known to accept and to reject."""

    def test_its_own_files(self) -> None:
        """Files written by WCT's FrameFileSink are accepted."""
        assert len(read_frames(wire_cell.ADC)) == 1

    @pytest.mark.parametrize(
        "name, array",
        [
            ("notes_0", np.zeros(3, np.uint8)),  # two parts
            ("chanmask_bad_0", np.zeros((0, 3), np.int32)),  # no data: no pointer to it
            ("chanmask_bad_0", np.zeros((1, 3), np.int64)),
            ("summary_*_0", np.zeros(3, np.float32)),
            ("frame__0", np.zeros((3, 4), np.int16)),  # an empty tag leaves two parts
        ],
    )
    def test_rejected(self, tmp_path: Path, name: str, array: np.ndarray) -> None:
        arrays = wire_cell.event(np.zeros((3, 4), np.int16), np.arange(3))
        assert len(read_frames(wire_cell.write_arrays(tmp_path / "good.npz", arrays))) == 1
        with pytest.raises(Rejected):
            read_frames(wire_cell.write_arrays(tmp_path / "bad.npz", {**arrays, name: array}))


class TestFrames:
    """Frames of cfg/pipeline.jsonnet."""

    @pytest.mark.parametrize(
        "arguments", [{}, {"dtype": "float64"}, {"engine": "TbbFlow", "model": "standin"}]
    )
    def test_all_tags_masks_and_summaries(self, site: Site, arguments: dict) -> None:
        samples = noise(site, 2 * TICKS)
        arrays = site.frames(samples, [TICKS, 2 * TICKS])
        arrays["chanmask_bad_0"] = np.array([[12, 10, 50], [12, 60, 70], [13, 0, TICKS]])
        arrays["chanmask_other_0"] = np.zeros((0, 3), np.int64)
        arrays["frame_*_1"] = arrays["frame_*_1"].astype(np.float32)
        arrays["frame_*_1"][20, 30] = np.nan
        together = dict(
            sorted(arrays.items(), key=lambda item: item[0].rpartition("_")[2])
        )  # the members of an event
        site.job(together, tags=",".join(TAGS), **arguments)
        events = require_same(site.folder / "output.npz", TAGS)
        assert [event.ident for event in events] == [0, 1]
        assert events[0].masks["bad"] == {12: [(10, 50), (60, 70)], 13: [(0, TICKS)]}
        assert "other" not in events[0].masks and 20 in events[1].masks["nan"]
        assert all(event.tags["wiener"].summary is not None for event in events)

    @pytest.mark.parametrize("ending", ENDINGS)
    def test_every_container(self, containers: dict[str, Path], tmp_path: Path, ending: str) -> None:
        """Include notes of the job."""
        tags = tags_of(containers[ending])
        events = read_frames(containers[ending], tags)
        assert [event.passed_over for event in events] == [["notes_spng_0.npy"]]
        words = wire_cell.settings(f"input={containers[ending]}", "output=again.npz")
        again = wire_cell.run(COPY, *words, folder=tmp_path)
        assert again.returncode == 0, again.stderr
        (copied,) = require_same(tmp_path / "again.npz", tags)
        for tag, part in events[0].tags.items():
            np.testing.assert_array_equal(copied.tags[tag].samples, part.samples)

    def test_one_file_for_each_anode_with_the_default_network(self, site: Site, tmp_path: Path) -> None:
        wire_cell.write_arrays(tmp_path / "adc-0.npz", site.busy_frames(1, 2 * TICKS))
        done = wire_cell.run(
            "-c",
            wire_cell.PIPELINE,
            *site.flags,
            *wire_cell.settings("model=dnnroi.ts", "device=cpu", "input=adc-%d.npz", "output=out-%d.npz"),
            folder=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        (event,) = require_same(tmp_path / "out-0.npz", ("signal",))
        assert event.tags["signal"].samples.any() and event.passed_over == ["notes_spng_0.npy"]

    def test_windows_of_a_long_readout(self, site: Site) -> None:
        samples = noise(site, 7000)
        site.job(
            site.frames(samples, [3000, 7000]), window="2000,400,1000", series="true", tags="signal,wiener"
        )
        events = require_same(site.folder / "output.npz", ("signal", "wiener"))
        assert len(events) > 2

    def test_notes_of_older_versions(self, tmp_path: Path) -> None:
        """SPNG's reader skips notes_<ident>.npy of older versions."""
        arrays = wire_cell.event(np.ones((3, 4), np.int16), np.arange(3))
        arrays["notes_0"] = np.frombuffer(json.dumps({"model": "x"}).encode(), np.uint8)
        wire_cell.write_arrays(tmp_path / "old.npz", arrays)
        done = wire_cell.run(COPY, "-A", "input=old.npz", "-A", "output=out.npz", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert (require_same(tmp_path / "out.npz", ("*",))[0].tags["*"].samples == 1).all()


class TestSimulation:
    """Frames and depositions of cfg/simulate.jsonnet."""

    def test_frames_and_depositions(self, site: Site, tmp_path: Path) -> None:
        ending = ".tar"
        names = {
            name: f"{name}{ending}" for name in ("output", "truth", "signal", "write_depos", "charge_output")
        }
        given = {**names, "tracks": 1, "nevents": 1, "device": "cpu", "noise": "false"}
        words = wire_cell.settings(**given)
        done = wire_cell.run("-c", SIMULATE, *site.flags, *words, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        for name, tags in (("output", ("*",)), ("truth", ("truth", "roi")), ("signal", None)):
            path = tmp_path / names[name]
            assert len(require_same(path, tags or tags_of(path))) == 1
        for name in ("write_depos", "charge_output"):
            depos = read_depos(tmp_path / names[name])
            assert [ident for ident, _, _ in depos] == [0]
            assert all((data[:, 1] < 0).all() for _, data, _ in depos)
