# SPDX-License-Identifier: Apache-2.0
"""Long readouts: windows give the same bytes however the readout comes and however they are scheduled; seams cost nothing."""

from __future__ import annotations

import numpy as np
import pytest

from tests.endtoend import long_readout
from tests.endtoend.long_readout import whole
from tests.support import synthetic, wire_cell
from tests.support.small_site import Site
from tests.support.synthetic import Charge

pytestmark = wire_cell.needs_program

CORE, BEFORE, AFTER = 4000, 1000, 2000
WINDOW = f"{CORE},{BEFORE},{AFTER}"
TICKS = 20_003  # no multiple of the images' four ticks, nor of anything else
SEAMS = np.arange(CORE + BEFORE, TICKS - AFTER, CORE)
TAGS = ("signal", "error", "wiener", "decon_charge", "loose", "mp2", "mp3", "roi")
DEAD = 70  # a channel of V, for part of the readout
DEAD_TICKS = (7000, 16_500)
SHIFT = 1234


def tracks(
    site: Site, starts: np.ndarray, length: float, seed: int = 4, electrons_per_mm: float = 5000.0
) -> list[Charge]:
    """One straight track for each start [tick, at the wires], `length` ticks long, anywhere on the face."""
    rng = np.random.default_rng(seed)
    planes = site.anode.planes()
    ends = rng.uniform([20.0, 20.0], [170.0, 180.0], (len(starts), 2, 2))
    at_plane = starts - site.anode.delay_ticks
    return [
        synthetic.straight_track(planes, 0, zy, (tick, tick + length), electrons_per_mm)
        for zy, tick in zip(ends, at_plane, strict=True)
    ]


@pytest.fixture(name="samples", scope="module")
def fixture_samples(site: Site) -> np.ndarray:
    """A readout with a track of 900 ticks, or of 1700, across every seam, and others between."""
    across = tracks(site, SEAMS - 400, 900.0) + tracks(site, SEAMS[1::3] - 200, 1700.0, seed=5)
    between = tracks(site, SEAMS + 1500, 300.0, seed=6)
    return site.samples(synthetic.joined(across + between), TICKS)


def one_frame(site: Site, samples: np.ndarray) -> wire_cell.Arrays:
    """The readout as one frame, with a channel that is dead for a while."""
    masks = {"chanmask_bad_0": np.array([[DEAD, DEAD_TICKS[0], DEAD_TICKS[1]]])}
    return {**site.frames(samples, [TICKS]), **masks}


def many_frames(site: Site, samples: np.ndarray, ends: list[int]) -> wire_cell.Arrays:
    """The same in several frames."""
    arrays: wire_cell.Arrays = {}
    for ident, (begin, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        arrays.update(
            {name: array for name, array in site.frames(samples, ends).items() if name.endswith(f"_{ident}")}
        )
        dead = np.clip([DEAD_TICKS[0] - begin, DEAD_TICKS[1] - begin], 0, end - begin)
        if dead[0] < dead[1]:
            arrays[f"chanmask_bad_{ident}"] = np.array([[DEAD, *dead]])
    return arrays


@pytest.fixture(name="expected", scope="module")
def fixture_expected(site: Site, samples: np.ndarray) -> tuple[bytes, wire_cell.Arrays]:
    """Process one frame, its readout windows one by one; return the bytes of the file and its arrays."""
    arrays = site.job(one_frame(site, samples), window=WINDOW, tags=",".join(TAGS))
    return (site.folder / "output.npz").read_bytes(), arrays


class TestBytes:
    """Check choices that do not change a byte of the output."""

    def test_input_has_signals_at_every_seam(self, expected: tuple[bytes, wire_cell.Arrays]) -> None:
        roi = whole(expected[1], "roi")
        assert roi.shape[1] == TICKS
        for seam in SEAMS:
            assert (roi[:, seam - 1] & roi[:, seam]).any(), seam

    @pytest.mark.parametrize("in_flight", [1, 4])
    def test_windows_in_flight(
        self, site: Site, samples: np.ndarray, expected: tuple[bytes, wire_cell.Arrays], in_flight: int
    ) -> None:
        site.job(
            one_frame(site, samples),
            "-t",
            "2",
            window=WINDOW,
            tags=",".join(TAGS),
            engine="TbbFlow",
            events_in_flight=in_flight,
        )
        assert (site.folder / "output.npz").read_bytes() == expected[0]

    @pytest.mark.parametrize(
        "ends", [[*range(2500, TICKS, 2500), TICKS], [1, 7000, 7001, 15_011, TICKS]], ids=["8", "odd"]
    )
    def test_frames(
        self, site: Site, samples: np.ndarray, expected: tuple[bytes, wire_cell.Arrays], ends: list[int]
    ) -> None:
        site.job(many_frames(site, samples, ends), window=WINDOW, tags=",".join(TAGS), series="true")
        assert (site.folder / "output.npz").read_bytes() == expected[0]

    def test_windows_are_events(
        self, site: Site, samples: np.ndarray, expected: tuple[bytes, wire_cell.Arrays]
    ) -> None:
        """Cut by hand, processed one by one as readouts of their own, and stitched tick by tick in NumPy."""
        windows = long_readout.window_positions(TICKS, CORE, BEFORE, AFTER)
        arrays: wire_cell.Arrays = {}
        for ident, (begin, end, _, _) in enumerate(windows):
            arrays.update(
                wire_cell.event(np.ascontiguousarray(samples[:, begin:end]), site.anode.channels, ident)
            )
            dead = np.clip([DEAD_TICKS[0] - begin, DEAD_TICKS[1] - begin], 0, end - begin)
            if dead[0] < dead[1]:
                arrays[f"chanmask_bad_{ident}"] = np.array([[DEAD, *dead]])
        output = site.job(arrays, window=-1, tags=",".join(TAGS))
        events = [{tag: output[f"frame_{tag}_{ident}"] for tag in TAGS} for ident in range(len(windows))]
        for tag in TAGS:
            np.testing.assert_array_equal(
                whole(expected[1], tag), long_readout.stitched(windows, events, tag), err_msg=tag
            )

    def test_tags_do_not_change_the_signal(
        self, site: Site, samples: np.ndarray, expected: tuple[bytes, wire_cell.Arrays]
    ) -> None:
        output = site.job(one_frame(site, samples), window=WINDOW)
        np.testing.assert_array_equal(whole(output, "signal"), whole(expected[1], "signal"))
        assert not any("roi" in name for name in output)

    def test_masks_are_cut(self, expected: tuple[bytes, wire_cell.Arrays]) -> None:
        """Each frame has its part, and the parts together are what was given."""
        numbers = long_readout.idents(expected[1])
        ends = np.cumsum([expected[1][f"frame_signal_{ident}"].shape[1] for ident in numbers])
        none = np.zeros((0, 3), int)
        parts = [
            (ends[ident - 1] if ident else 0) + expected[1].get(f"chanmask_bad_{ident}", none)[:, 1:]
            for ident in numbers
        ]
        found = np.concatenate(parts)
        assert len(found) > 2 and found[0, 0] == DEAD_TICKS[0] and found[-1, 1] == DEAD_TICKS[1]
        np.testing.assert_array_equal(found[:-1, 1], found[1:, 0])


class TestShortReadouts:
    """Up to one readout window nothing changes."""

    def test_one_window(self, site: Site, samples: np.ndarray) -> None:
        frames = site.frames(samples, [CORE + BEFORE + AFTER, TICKS])
        short = {name: array for name, array in frames.items() if name.endswith("_0")}
        windowed = site.job(short, window=WINDOW)
        wire_cell.job(site.folder, *site.flags, input="adc.npz", output="whole.npz", window=-1, threads=1)
        assert (site.folder / "output.npz").read_bytes() == (site.folder / "whole.npz").read_bytes()
        assert list(windowed)[0] == "frame_signal_0"

    def test_ticks_need_not_be_a_multiple_of_four(self, site: Site, samples: np.ndarray) -> None:
        """The images' last sample then has fewer ticks."""
        channels = site.anode.channels
        events = wire_cell.event(samples[:, :3204], channels, 0) | wire_cell.event(
            samples[:, :3201], channels, 1
        )
        output = site.job(events, window=-1, tags="signal,roi")
        assert output["frame_signal_1"].shape == (len(channels), 3201)
        assert (output["frame_roi_1"][:, :3100] == output["frame_roi_0"][:, :3100]).mean() > 0.99


def charge_around(signal: np.ndarray, rows: np.ndarray, tick: float, before: float, after: float) -> float:
    """Sum over rows and ticks [tick - before, tick + after)."""
    return float(signal[rows, int(tick - before) : int(tick + after)].sum(dtype=np.float64))


class TestSeams:
    """A signal at a seam against the same signal in the middle of a window."""

    OFFSETS = (-200, -60, -20, -5, -4, -3, -1, 0, 1, 3, 4, 5)
    ELECTRONS = 400_000.0
    PULSE_TICKS = CORE * (len(OFFSETS) + 1)  # the tracks follow, with seams at the same distances
    TRACKS = 10
    TRACK_TICKS = 900.0
    TRACK_SEAMS = SEAMS[0] + CORE * np.arange(TRACKS)

    @classmethod
    def pulses(cls, site: Site) -> tuple[Charge, list[int]]:
        """Point charges and the ticks of their output, in turn about a seam and in mid-window."""
        planes = site.anode.planes()
        zy = np.random.default_rng(7).uniform([60.0, 60.0], [130.0, 140.0], (len(cls.OFFSETS), 2))
        charges, peaks = [], []
        for index, (offset, point) in enumerate(zip(cls.OFFSETS, zy, strict=True)):
            for peak in (SEAMS[0] + CORE * index + offset, SEAMS[0] + CORE * index + offset + CORE // 2):
                channels = synthetic.nearest_channels(planes, 0, point[None])
                charges.append(
                    Charge(channels, np.array([peak - site.anode.delay_ticks]), np.array([cls.ELECTRONS]))
                )
                peaks.append(peak)
        return synthetic.joined(charges), peaks

    @classmethod
    def starts(cls) -> np.ndarray:
        """First ticks of tracks across seams, at every phase."""
        return cls.TRACK_SEAMS - np.linspace(50, cls.TRACK_TICKS - 50, cls.TRACKS)

    @classmethod
    def both(cls, site: Site) -> tuple[list[Charge], list[Charge]]:
        """Tracks across seams, and the same in mid-window."""
        across, inside = (
            tracks(site, begins, cls.TRACK_TICKS, electrons_per_mm=20_000.0)
            for begins in (cls.starts(), cls.TRACK_SEAMS + 1600.0)
        )
        return across, inside

    @pytest.fixture(name="signal", scope="class")
    @classmethod
    def fixture_signal(cls, site: Site) -> np.ndarray:
        """The output (channel, tick) of a readout with the pulses and, after PULSE_TICKS, the tracks."""
        across, inside = cls.both(site)
        ticks = int(cls.TRACK_SEAMS[-1]) + CORE + AFTER
        pulse_ticks = int(SEAMS[0]) + CORE * len(cls.OFFSETS) + AFTER
        samples = np.concatenate(
            [
                site.samples(cls.pulses(site)[0], pulse_ticks)[:, : cls.PULSE_TICKS],
                site.samples(synthetic.joined(across + inside), ticks),
            ],
            axis=1,
        )
        return whole(site.job(site.frames(samples, [samples.shape[1]]), window=WINDOW), "signal")

    def test_pulses(self, site: Site, signal: np.ndarray) -> None:
        """Point charges whose output is centred at, or some ticks from, a seam: their charge on each plane."""
        _, peaks = self.pulses(site)
        for plane, view in enumerate(site.anode.views):
            rows = np.searchsorted(site.anode.channels, view.channels)
            charge = (
                np.array([charge_around(signal, rows, peak, 400, 400) for peak in peaks]).reshape(-1, 2)
                / self.ELECTRONS
            )
            assert (np.abs(charge[:, 1] - 1) < 0.05).all(), (view.name, charge)
            limit = (0.02, 0.02, 0.01)[plane]
            assert (np.abs(charge[:, 0] - charge[:, 1]) < limit).all(), (view.name, charge)

    def test_tracks(self, site: Site, signal: np.ndarray) -> None:
        """Tracks of 900 ticks across seams, at every phase, against the same tracks in mid-window: charge by plane."""
        truth = sum(float(track.electrons.sum()) for track in self.both(site)[0])
        after_pulses = signal[:, self.PULSE_TICKS :]
        for view, limit in zip(site.anode.views, (0.03, 0.03, 0.01), strict=True):
            rows = np.searchsorted(site.anode.channels, view.channels)
            seen = [
                sum(charge_around(after_pulses, rows, start, 200, self.TRACK_TICKS + 200) for start in begins)
                / truth
                for begins in (self.starts(), self.TRACK_SEAMS + 1600.0)
            ]
            assert abs(seen[1] - 1) < 0.1, (view.name, seen)
            assert abs(seen[0] - seen[1]) < limit, (view.name, seen)

    def test_longer_than_a_window_sees(self, site: Site) -> None:
        """A track along the drift, 3500 ticks on the same collection wires, where a readout window sees 2000 beyond its core: nothing is
        lost and nothing doubled, since each tick comes from one window.
        """
        planes = site.anode.planes()
        points = np.array([[100.0, 60.0], [104.0, 140.0]])
        track = synthetic.straight_track(
            planes, 0, points, (SEAMS[1] - 700.0, SEAMS[1] + 2800.0), electrons_per_mm=20_000.0
        )
        ticks = int(SEAMS[0]) + 4 * CORE
        samples = site.samples(track, ticks)
        view = site.anode.views[2]
        rows = np.searchsorted(site.anode.channels, view.channels)
        windowed = whole(site.job(site.frames(samples, [ticks]), window=WINDOW), "signal")[rows].sum(
            dtype=np.float64
        )
        uncut = whole(site.job(site.frames(samples, [ticks]), window=-1), "signal")[rows].sum(
            dtype=np.float64
        )
        truth = float(track.electrons.sum())
        assert abs(uncut / truth - 1) < 0.05 and abs(windowed / uncut - 1) < 0.02, (
            windowed / truth,
            uncut / truth,
        )


@pytest.fixture(name="uncut", scope="module")
def fixture_uncut(site: Site, samples: np.ndarray) -> wire_cell.Arrays:
    """One readout window of all ticks."""
    return site.job(one_frame(site, samples), window=-1, tags="signal,roi")


@pytest.fixture(name="moved", scope="module")
def fixture_moved(site: Site, samples: np.ndarray) -> wire_cell.Arrays:
    """The same readout without its first 1234 ticks: the seams are elsewhere, between signals."""
    return site.job(site.frames(samples[:, SHIFT:], [TICKS - SHIFT]), window=WINDOW, tags="signal,roi")


class TestAgainstWhole:
    """Against one transform over all of the readout."""

    def test_same_charge(
        self, site: Site, expected: tuple[bytes, wire_cell.Arrays], uncut: wire_cell.Arrays
    ) -> None:
        """Not the same bytes: the noise of a channel is measured in each readout window, so decisions near a threshold differ."""
        signals = [whole(arrays, "signal") for arrays in (expected[1], uncut)]
        masks = [whole(arrays, "roi")[:, ::4] != 0 for arrays in (expected[1], uncut)]
        for view, charge_limit in zip(site.anode.views, (0.05, 0.05, 0.002), strict=True):
            rows = np.searchsorted(site.anode.channels, view.channels)
            assert (masks[0][rows] == masks[1][rows]).mean() > 0.995, view.name
            assert (
                abs(signals[0][rows].sum(dtype=np.float64) / signals[1][rows].sum(dtype=np.float64) - 1)
                < charge_limit
            )

    def test_shifted(
        self,
        site: Site,
        expected: tuple[bytes, wire_cell.Arrays],
        uncut: wire_cell.Arrays,
        moved: wire_cell.Arrays,
    ) -> None:
        """Two grids differ from the whole alike: the signals at the seams of one of them, which the other has in mid-window, are
        as near to the whole in both.
        """
        live = np.flatnonzero(site.anode.channels != DEAD)
        grids = [
            whole(arrays, "signal")[live, first:] for arrays, first in ((expected[1], SHIFT), (moved, 0))
        ]
        masks = [whole(arrays, "roi")[live, first:] for arrays, first in ((expected[1], SHIFT), (moved, 0))]
        assert (masks[0] == masks[1]).mean() > 0.99
        assert abs(grids[0].sum(dtype=np.float64) / grids[1].sum(dtype=np.float64) - 1) < 0.03
        near = (np.abs(np.arange(SHIFT, TICKS)[:, None] - SEAMS[None]) < 500).any(axis=1)
        reference = whole(uncut, "signal")[live, SHIFT:][:, near]
        at_seam, inside = (
            np.abs(grid[:, near] - reference).sum(dtype=np.float64) / np.abs(reference).sum(dtype=np.float64)
            for grid in grids
        )
        assert at_seam < 1.5 * inside + 0.005, (at_seam, inside)


def reject(site: Site, arrays: wire_cell.Arrays, *flags: str, status: int = 1, **arguments: object) -> str:
    """Run a job that must fail and return its error block."""
    wire_cell.write_arrays(site.folder / "adc.npz", arrays)
    given = {"input": "adc.npz", "output": "rejected.npz", "device": "cpu", "threads": 1, **arguments}
    words = wire_cell.settings(**given)
    return wire_cell.rejected(
        "-c", wire_cell.PIPELINE, *site.flags, *flags, *words, folder=site.folder, status=status
    )


class TestFaults:
    """Check faults of a long readout."""

    ENDS = [4000, 11_500, 20_000]

    def run_skipping(
        self, site: Site, arrays: wire_cell.Arrays, **arguments: object
    ) -> tuple[wire_cell.Arrays, str]:
        """A job that leaves out what fails; its output and what it said."""
        wire_cell.write_arrays(site.folder / "adc.npz", arrays)
        given = {
            "input": "adc.npz",
            "output": "skipped.npz",
            "device": "cpu",
            "threads": 1,
            "window": WINDOW,
            **arguments,
        }
        words = wire_cell.settings(**given)
        done = wire_cell.run(
            "-c", wire_cell.PIPELINE, *site.flags, "--on-error", "skip", *words, folder=site.folder
        )
        assert done.returncode == 0, done.stderr
        return wire_cell.read_arrays(site.folder / "skipped.npz"), done.stdout + done.stderr

    def test_gap_between_frames(self, site: Site, samples: np.ndarray) -> None:
        """Two readouts, each as if it were alone, and a line that reports it."""
        arrays = site.frames(samples, self.ENDS)
        arrays["tickinfo_*_2"][0] += 100 * long_readout.TICK_NS
        output, said = self.run_skipping(site, arrays, series="true")
        assert "a new readout begins with event 2: 100 ticks are missing" in said
        alone = site.job(
            {name: array for name, array in arrays.items() if not name.endswith("_2")},
            window=WINDOW,
            series="true",
        )
        last = site.job(
            {name: array for name, array in arrays.items() if name.endswith("_2")},
            window=WINDOW,
            series="true",
        )
        count = len(long_readout.idents(alone))
        for ident in long_readout.idents(output):
            source = alone if ident < count else last
            other = ident if ident < count else ident - count + 2
            np.testing.assert_array_equal(output[f"frame_signal_{ident}"], source[f"frame_signal_{other}"])
            np.testing.assert_array_equal(
                output[f"tickinfo_signal_{ident}"], source[f"tickinfo_signal_{other}"]
            )

    def test_other_channels(self, site: Site, samples: np.ndarray) -> None:
        arrays = site.frames(samples, self.ENDS)
        arrays["frame_*_1"], arrays["channels_*_1"] = arrays["frame_*_1"][:-1], arrays["channels_*_1"][:-1]
        output, said = self.run_skipping(site, arrays, series="true")
        assert said.count("other channels in tag '*'") == 2
        assert (
            sum(output[f"frame_signal_{ident}"].shape[1] for ident in long_readout.idents(output))
            == self.ENDS[-1]
        )

    def test_frames_out_of_order(self, site: Site, samples: np.ndarray) -> None:
        frames = site.frames(samples, self.ENDS)
        arrays = {name: frames[name] for ident in (0, 2) for name in frames if name.endswith(f"_{ident}")}
        arrays["tickinfo_*_2"][0] = arrays["tickinfo_*_0"][0]
        block = reject(site, arrays, window=WINDOW, series="true", check_input="false")
        assert "overlap or are out of order" in block and "event 2" in block

    def test_separate_events_stay_separate(self, site: Site, samples: np.ndarray) -> None:
        output = site.job(site.frames(samples[:, :9000], [3000, 6000, 9000]), window=WINDOW)
        assert long_readout.idents(output) == [0, 1, 2]

    def test_nan_empties_its_channel_in_the_windows_that_see_it(
        self, site: Site, samples: np.ndarray
    ) -> None:
        readout = samples[:, :17_000].astype(np.float32)
        clean = site.job(site.frames(readout, [17_000]), window=WINDOW)
        tick, row = int(SEAMS[2]) + 100, int(np.searchsorted(site.anode.channels, 130))
        readout[row, tick] = np.nan
        output = site.job(site.frames(readout, [17_000]), window=WINDOW)
        seen = [
            ident
            for ident, (begin, end, _, _) in enumerate(
                long_readout.window_positions(17_000, CORE, BEFORE, AFTER)
            )
            if begin <= tick < end
        ]
        assert [
            ident for ident in long_readout.idents(output) if f"chanmask_nan_{ident}" in output
        ] == seen and len(seen) == 2
        for ident in long_readout.idents(output):
            if ident not in seen and ident - 1 not in seen:
                np.testing.assert_array_equal(output[f"frame_signal_{ident}"], clean[f"frame_signal_{ident}"])

    def test_bad_windows(self, site: Site, samples: np.ndarray) -> None:
        frame = site.frames(samples[:, :3000], [3000])
        assert "a multiple of 4 ticks" in reject(site, frame, status=2, window="4001,1000,2000")
        assert "at most the 1000 ticks of the core" in reject(site, frame, status=2, window="1000,1000,2000")
        done = wire_cell.run(
            "-c",
            wire_cell.PIPELINE,
            *site.flags,
            "--check-configuration",
            "-A",
            "window=1,2",
            folder=site.folder,
        )
        assert done.returncode == 2 and "core,before,after" in done.stderr
