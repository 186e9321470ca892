# SPDX-License-Identifier: Apache-2.0
"""The job cfg/from_charge.jsonnet: waveforms against NumPy, charge against the main job, noise, real noise, and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import synthetic, wire_cell
from tests.support.small_site import NOISE_COUNTS, START_NS, Site

pytestmark = wire_cell.needs_program

JOB = "cfg/from_charge.jsonnet"
TICKS = 901  # odd, as the 5999 of real frames
ROLL = 128  # ticks from the response plane to the wires
ARRAYS, TRACKS = range(2)
BASELINES = (9402, 9402, 3601)
DEAD = 20


def by_view(site: Site) -> list[tuple[synthetic.View, np.ndarray]]:
    """Return the views with their rows of frames."""
    return [(view, np.searchsorted(site.anode.channels, view.channels)) for view in site.anode.views]


def spread_charge(site: Site) -> np.ndarray:
    """Return charge of both signs at random samples, also in the first and last tick and channel of each view."""
    rng = np.random.default_rng(5)
    charge = np.zeros((len(site.anode.channels), TICKS), np.float32)
    for _, rows in by_view(site):
        at = rng.integers(0, [[len(rows)], [TICKS]], (2, 40))
        charge[rows[at[0]], at[1]] = rng.uniform(-2e3, 3e4, 40)
        charge[rows[[0, -1]], [0, TICKS - 1]] = 2e4
    return charge


def track_charge(site: Site, electrons_per_mm: float = 15000.0) -> np.ndarray:
    """Return the charge of three tracks, with the width of the filters of the signal processing, by arrival time.

    Three times that of muons: on so few channels, noise changes the charge of U and V by 2 % (RMS) of 5000 electrons per mm.
    """
    ends = np.array([[[20.0, 30.0], [170.0, 160.0]], [[30.0, 180.0], [160.0, 60.0]], [[90, 20], [110, 180]]])
    times = [(150, 320), (500, 380), (600, 700)]
    tracks = [
        synthetic.straight_track(site.anode.planes(), 0, each, when, electrons_per_mm)
        for each, when in zip(ends, times, strict=True)
    ]
    charge = np.zeros((len(site.anode.channels), TICKS), np.float32)
    for view, rows in by_view(site):
        charge[rows] = synthetic.charge_image(view, synthetic.joined(tracks), TICKS, 3.0)
    return charge


def expected_signal(site: Site, charge: np.ndarray) -> np.ndarray:
    """Return the waveforms in double precision: the convolution with the response, ROLL ticks earlier."""
    signal = np.zeros((len(charge), TICKS))
    for view, rows in by_view(site):
        later = np.pad(charge[rows].astype(np.float64), ((0, 0), (0, ROLL)))
        signal[rows] = synthetic.waveforms(view, site.anode.kernel(view.plane), later)[:, ROLL:]
    return signal


def baselines(site: Site) -> np.ndarray:
    """Return the baseline of each row, (channel, 1) [ADC]."""
    levels = np.zeros((len(site.anode.channels), 1))
    for view, rows in by_view(site):
        levels[rows] = BASELINES[view.plane]
    return levels


def from_charge(site: Site, charge: wire_cell.Arrays, *flags: str, **arguments: Any) -> wire_cell.Arrays:
    """Write a file of charge and run the job; return its output, and the signals as frame_signal_N."""
    wire_cell.write_arrays(site.folder / "charge.tar", charge)
    given = {"input": "charge.tar", "output": "adc.tar", "signal": "signal.tar", "threads": 1, **arguments}
    found = wire_cell.job(site.folder, *(flags or site.flags), job_file=JOB, **given)
    signals = wire_cell.read_arrays(site.folder / "signal.tar")
    return found | {
        name.replace("adc", "signal"): array for name, array in signals.items() if "frame" in name
    }


@pytest.fixture(name="charge", scope="module")
def fixture_charge(site: Site) -> wire_cell.Arrays:
    """Two events of charge; a channel of the second is masked, as in frames of real events."""
    arrays: wire_cell.Arrays = {}
    for ident, samples in {ARRAYS: spread_charge(site), TRACKS: track_charge(site)}.items():
        arrays |= wire_cell.event(samples, site.anode.channels, ident, "gauss0", START_NS)
        if ident == TRACKS:
            arrays[f"chanmask_bad_{ident}"] = np.array([[DEAD, 0, TICKS]], dtype=np.int32)
    return arrays


@pytest.fixture(name="quiet", scope="module")
def fixture_quiet(site: Site, charge: wire_cell.Arrays) -> wire_cell.Arrays:
    """Both events without noise."""
    return from_charge(site, charge, noise="none")


@pytest.fixture(name="noisy", scope="module")
def fixture_noisy(site: Site, charge: wire_cell.Arrays) -> wire_cell.Arrays:
    """Both events with noise."""
    return from_charge(site, charge, seed=3)


@pytest.mark.parametrize("ident", [ARRAYS, TRACKS])
def test_signals_are_the_convolution(
    site: Site, charge: wire_cell.Arrays, quiet: wire_cell.Arrays, ident: int
) -> None:
    """Against double precision, to the rounding of float32, also at the ends of the readout."""
    expected = expected_signal(site, charge[f"frame_gauss0_{ident}"])
    seen = quiet[f"frame_signal_{ident}"]
    for view, rows in by_view(site):
        assert np.abs(expected[rows]).max() > 100, view.name
        np.testing.assert_allclose(
            seen[rows], expected[rows], rtol=0, atol=2e-6 * np.abs(expected[rows]).max()
        )


def test_samples_are_digitised(site: Site, quiet: wire_cell.Arrays) -> None:
    adc = quiet[f"frame_*_{TRACKS}"]
    assert adc.dtype == np.int16
    np.testing.assert_array_equal(
        adc, np.floor(quiet[f"frame_signal_{TRACKS}"] + baselines(site).astype(np.float32)).astype(np.int16)
    )
    np.testing.assert_array_equal(quiet[f"channels_*_{TRACKS}"], site.anode.channels)
    np.testing.assert_array_equal(quiet[f"tickinfo_*_{TRACKS}"], [START_NS, 500.0, 0.0])


@pytest.mark.parametrize("name", ["quiet", "noisy"])
def test_the_chain_finds_the_charge(
    site: Site, charge: wire_cell.Arrays, name: str, request: pytest.FixtureRequest
) -> None:
    """The charge of tracks within 2 % on each view, at the ticks where it was."""
    frames = request.getfixturevalue(name)
    adc = {key: array for key, array in frames.items() if key.endswith(f"_{TRACKS}") and "signal" not in key}
    found = site.job(adc, output=f"{name}.npz", check_input="false", model="none")
    true = charge[f"frame_gauss0_{TRACKS}"].copy()
    true[site.anode.channels == DEAD] = 0
    seen = found[f"frame_signal_{TRACKS}"]
    for view, rows in by_view(site):
        assert seen[rows].sum(dtype=np.float64) / true[rows].sum(dtype=np.float64) == pytest.approx(
            1, abs=0.02
        )
        busiest = np.argmax(true[rows].sum(axis=1))
        lag = np.argmax(np.correlate(seen[rows[busiest]], true[rows[busiest]], "full")) - (TICKS - 1)
        assert lag == 0, view.name


def test_noise_has_the_measured_level(site: Site, noisy: wire_cell.Arrays) -> None:
    """Also on masked channels, and other numbers in each event."""
    noise = [noisy[f"frame_*_{i}"] - noisy[f"frame_signal_{i}"] - baselines(site) for i in (ARRAYS, TRACKS)]
    for view, rows in by_view(site):
        rms = noise[ARRAYS][rows].std()
        assert 0.5 * NOISE_COUNTS < rms < 1.5 * NOISE_COUNTS, (view.name, rms)
        assert abs(np.corrcoef(noise[0][rows].ravel(), noise[1][rows].ravel())[0, 1]) < 0.05
    assert noise[TRACKS][site.anode.channels == DEAD].std() > 0.3 * NOISE_COUNTS
    np.testing.assert_array_equal(noisy[f"chanmask_bad_{TRACKS}"], [[DEAD, 0, TICKS]])


def test_level_of_noise(site: Site, charge: wire_cell.Arrays, noisy: wire_cell.Arrays) -> None:
    """The same noise, half as large; a count for the rounding of the digitiser."""
    half = from_charge(site, charge, seed=3, noise_level=0.5)
    signal = noisy[f"frame_signal_{ARRAYS}"] + baselines(site)
    whole = noisy[f"frame_*_{ARRAYS}"] - signal
    assert np.abs(half[f"frame_*_{ARRAYS}"] - signal - 0.5 * whole).max() < 1


def test_absent_and_damaged_channels(site: Site) -> None:
    """Channels without charge in the file have noise only; one with NaN counts as absent, and has the mask."""
    charge = track_charge(site)
    charge[30, 7] = np.nan
    arrays = wire_cell.event(charge[10:], site.anode.channels[10:], 0, "gauss0", START_NS)
    wire_cell.write_arrays(
        site.folder / "flat.tar", wire_cell.event(np.full((9, TICKS), 2000, np.int16), np.arange(5, 14))
    )
    overlaid = from_charge(site, arrays, noise="flat.tar")
    assert not any(key.startswith("chanmask") for key in overlaid)
    assert b"missing" not in bytes(overlaid.get("notes_spng_0", b""))
    frames = from_charge(site, arrays)
    assert "chanmask_missing_0" not in frames
    assert b"missing" not in bytes(frames.get("notes_spng_0", b""))
    assert frames["frame_*_0"].shape == (len(charge), TICKS)
    assert frames["frame_*_0"][5].std() > 0.3 * NOISE_COUNTS
    np.testing.assert_array_equal(frames["chanmask_nan_0"], [[30, 0, TICKS]])
    rest = track_charge(site)
    rest[:10] = 0
    rest[30] = 0
    np.testing.assert_allclose(frames["frame_signal_0"], expected_signal(site, rest), atol=2e-3)


def test_the_report_names_the_detector(site: Site) -> None:
    words = ["--check-configuration", "-c", JOB, *site.flags, "-A", "device=cpu"]
    done = wire_cell.run(*words, folder=site.folder)
    assert done.returncode == 0 and "small anode 0" in done.stdout.splitlines(), done


def test_masks_count_from_the_first_tick_of_the_tag(site: Site) -> None:
    """Also if another tag of the file begins at another tick."""
    arrays: wire_cell.Arrays = {}
    for tag, first in (("early", 0), ("late", 1000)):
        arrays |= wire_cell.event(track_charge(site), site.anode.channels, 0, tag, START_NS)
        arrays[f"tickinfo_{tag}_0"][2] = first
    arrays["chanmask_bad_0"] = np.array([[DEAD, 1290, 1330]], dtype=np.int32)
    frames = from_charge(site, arrays, noise="none", intag="late")
    np.testing.assert_array_equal(frames["chanmask_bad_0"], [[DEAD, 1290, 1330]])


def test_the_report_names_no_data_files(site: Site, charge: wire_cell.Arrays) -> None:
    """Nodes read the noise spectra of the detector; provenance lists them."""
    from_charge(site, charge, *site.flags, "--timing", "timing.json")
    timing = json.loads((site.folder / "timing.json").read_text(encoding="utf-8"))
    assert [Path(file).name for file in timing["run"]["files_read"]] == ["charge.tar"]


def test_raw_data_have_their_own_ticks(site: Site, charge: wire_cell.Arrays) -> None:
    """For a detector whose frames have ticks of 512 ns, the waveforms have them too, and the chain finds the charge."""
    flags = site.raw_flags(512.0, 880)
    frames = from_charge(site, charge, *flags, noise="none")
    assert frames[f"frame_*_{TRACKS}"].shape[1] == 880  # 901 * 500 / 512, rounded up
    np.testing.assert_array_equal(frames[f"tickinfo_*_{TRACKS}"], [START_NS, 512.0, 0.0])
    np.testing.assert_array_equal(frames[f"chanmask_bad_{TRACKS}"], [[DEAD, 0, 880]])
    adc = {key: array for key, array in frames.items() if key.endswith(f"_{TRACKS}") and "signal" not in key}
    wire_cell.write_arrays(site.folder / "raw.npz", adc)
    found = wire_cell.job(
        site.folder,
        *flags,
        input="raw.npz",
        output="raw-signal.npz",
        check_input="false",
        model="none",
        threads=1,
    )
    true = charge[f"frame_gauss0_{TRACKS}"].copy()
    true[site.anode.channels == DEAD] = 0
    for view, rows in by_view(site):
        ratio = found[f"frame_signal_{TRACKS}"][rows].sum(dtype=np.float64) / true[rows].sum(dtype=np.float64)
        assert ratio == pytest.approx(1, abs=0.02), view.name


class TestOverlay:
    """Signals on raw waveforms of a file."""

    LONG = 950  # ticks of the raw waveforms
    FIRST = 20  # tick of their first sample
    STUCK, FULL = 40, 41  # channels at 0, and at the largest count for some ticks
    FULL_TICKS = slice(300, 310)

    def whole(self) -> tuple[int, int]:
        """Return the first tick and the end of the raw waveforms."""
        return self.FIRST, self.FIRST + self.LONG

    def raw(self, site: Site) -> wire_cell.Arrays:
        """Return two events of noise, on channels 35 to 74 in descending order."""
        channels = np.arange(35, 75)[::-1]
        arrays: wire_cell.Arrays = {}
        for ident in (7, 8):
            noise = np.random.default_rng(ident).normal(2000, NOISE_COUNTS, (len(channels), self.LONG))
            samples = noise.astype(np.int16)
            samples[channels == self.STUCK] = 0
            samples[channels == self.FULL, self.FULL_TICKS] = 2**14 - 1
            arrays |= wire_cell.event(samples, channels, ident, "raw", 5000.0)
            arrays[f"tickinfo_raw_{ident}"][2] = self.FIRST
            arrays[f"chanmask_bad_{ident}"] = np.array([[self.STUCK, *self.whole()]], dtype=np.int32)
        return arrays

    def test_samples(self, site: Site, charge: wire_cell.Arrays) -> None:
        """Sums at the channels and ticks of the raw waveforms. The file is read again from its beginning."""
        raw = self.raw(site)
        wire_cell.write_arrays(site.folder / "raw.tar", raw)
        three = charge | {
            name.removesuffix(str(ARRAYS)) + "5": array
            for name, array in charge.items()
            if name.endswith(f"_{ARRAYS}")
        }
        frames = from_charge(site, three, noise="raw.tar")
        for ident, of_raw in {ARRAYS: 7, TRACKS: 8, 5: 7}.items():
            samples, channels = raw[f"frame_raw_{of_raw}"], raw[f"channels_raw_{of_raw}"]
            signal = frames[f"frame_signal_{ident}"][np.searchsorted(site.anode.channels, channels)]
            expected = samples.astype(np.float64)
            expected[:, :TICKS] += signal
            expected = np.where(
                (samples == 0) | (samples == 2**14 - 1), samples, np.clip(np.rint(expected), 0, 2**14 - 1)
            )
            seen = frames[f"frame_*_{ident}"]
            assert seen.dtype == np.int16
            # Halves may be rounded the other way in float32.
            assert np.abs(seen - expected).max() <= 1 and (seen != expected).mean() < 1e-4
            assert not seen[channels == self.STUCK].any()
            np.testing.assert_array_equal(frames[f"channels_*_{ident}"], channels)
            np.testing.assert_array_equal(frames[f"tickinfo_*_{ident}"], [5000.0, 500.0, self.FIRST])
        # The raw waveforms lack the dead channel.
        assert frames[f"chanmask_bad_{TRACKS}"].tolist() == [[self.STUCK, *self.whole()]]

    def test_real_numbers_stay_real(self, site: Site, charge: wire_cell.Arrays) -> None:
        """Waveforms without a baseline are not cut at 0, and absent channels stay absent for the chain."""
        raw = self.raw(site)
        samples = raw["frame_raw_7"].astype(np.float32) - 2000
        arrays = wire_cell.event(samples, raw["channels_raw_7"], 7, "raw")
        wire_cell.write_arrays(site.folder / "real.tar", arrays)
        frames = from_charge(site, charge, noise="real.tar")
        rows = np.searchsorted(site.anode.channels, raw["channels_raw_7"])
        np.testing.assert_allclose(
            frames[f"frame_*_{TRACKS}"][:, :TICKS] - samples[:, :TICKS],
            frames[f"frame_signal_{TRACKS}"][rows],
            atol=1e-2,
        )
        np.testing.assert_array_equal(frames[f"frame_*_{TRACKS}"][:, TICKS:], samples[:, TICKS:])
        assert frames[f"frame_*_{TRACKS}"].dtype == np.float32

    @pytest.mark.parametrize(("raw_ticks", "begin"), [(LONG, 960), (880, 890)])
    def test_masks_end_with_the_waveforms(
        self, site: Site, charge: wire_cell.Arrays, raw_ticks: int, begin: int
    ) -> None:
        """Ranges outside of the charge or of the raw waveforms are dropped, so that the output can be read."""
        arrays = {key: array for key, array in charge.items() if key.endswith(f"_{TRACKS}")}
        arrays[f"chanmask_bad_{TRACKS}"] = np.array(
            [[45, begin, 1200], [46, 850, 1200], [47, 10, 20], [90, 0, TICKS]], dtype=np.int32
        )
        channels = np.arange(35, 75)
        samples = np.full((len(channels), raw_ticks), 2000, np.int16)
        wire_cell.write_arrays(site.folder / "flat.tar", wire_cell.event(samples, channels, 0, "raw"))
        frames = from_charge(site, arrays, noise="flat.tar")
        assert frames[f"chanmask_bad_{TRACKS}"].tolist() == [[46, 850, raw_ticks], [47, 10, 20]]

    @pytest.mark.parametrize(
        ("changes", "text"),
        [
            ({"tick_ns": 512.0}, "sampling periods of raw waveforms and signals differ"),
            ({"channels": np.arange(130, 170)}, "channels that do not belong to the anode"),
            (
                {"channels": np.arange(1000, 1040), "arguments": {"other_anodes": "ignore"}},
                "40 of 40 channels",
            ),
            ({"second_tag": True}, "-A noise_tag=TAG"),
        ],
    )
    def test_bad_files(
        self, site: Site, charge: wire_cell.Arrays, changes: dict[str, Any], text: str
    ) -> None:
        """One readable block."""
        channels = changes.get("channels", np.arange(40))
        samples = np.full((len(channels), 50), 2000, np.int16)
        arrays = wire_cell.event(samples, channels, 0, "raw", tick_ns=changes.get("tick_ns", 500.0))
        if "second_tag" in changes:
            arrays |= wire_cell.event(samples, channels, 0, "raw2")
        wire_cell.write_arrays(site.folder / "bad.tar", arrays)
        block = rejected(site, charge, noise="bad.tar", **changes.get("arguments", {}))
        assert text in block


def rejected(site: Site, charge: wire_cell.Arrays, **arguments: Any) -> str:
    """Run the job, which must fail and leave no output; return its error block."""
    wire_cell.write_arrays(site.folder / "charge.tar", charge)
    given = {"input": "charge.tar", "output": "rejected.tar", "device": "cpu", **arguments}
    words = wire_cell.settings(**given)
    done = wire_cell.run("-c", JOB, *site.flags, *words, folder=site.folder)
    assert done.returncode in (1, 2), done.stderr
    assert not (site.folder / "rejected.tar").exists()
    return done.stderr


@pytest.mark.parametrize(
    ("changes", "arguments", "text"),
    [
        ({"tick_ns": 512.0}, {}, "resample the charge to the ticks of the chain"),
        ({"channels": np.arange(200)}, {}, "channels that do not belong to the anode"),
        ({}, {"intag": "wiener1"}, "the event has no frame of an accepted tag"),
        ({"second": "wiener1"}, {}, "the frame has several tags"),
        ({}, {"noise": "none", "noise_level": 2}, "argument 'noise_level' is about random noise"),
        ({}, {"noise": "raw.tar", "coherent": 3}, "argument 'coherent' is about random noise"),
    ],
)
def test_bad_input(site: Site, changes: dict[str, Any], arguments: dict[str, Any], text: str) -> None:
    channels = changes.get("channels", site.anode.channels)
    charge = np.zeros((len(channels), 100), np.float32)
    arrays = wire_cell.event(charge, channels, 0, "gauss1", tick_ns=changes.get("tick_ns", 500.0))
    if "second" in changes:
        arrays |= wire_cell.event(charge, channels, 0, changes["second"])
    assert text in rejected(site, arrays, **arguments)
