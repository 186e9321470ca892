# SPDX-License-Identifier: Apache-2.0
"""The job cfg/simulate.jsonnet, against NumPy for a few depositions and against WCT's simulation.

Also the effects of seeds, threads and engines, and linearity.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from tests.reference import detector
from tests.reference.metrics import best_shift
from tests.sim import signal_reference as reference
from tests.support.shared import shared_folder
from tests.support.wire_cell import (
    Arrays,
    description,
    difference,
    job,
    needs_program,
    read_arrays,
    rejected,
    run,
    settings,
)

pytestmark = needs_program

JOB = "cfg/simulate.jsonnet"
VIEWS = {"U": slice(0, 800), "V": slice(800, 1600), "W": slice(1600, 2560)}
BASELINES = {"U": 9402, "V": 9402, "W": 3601}
RESPONSE_PLANE = -3430.465
NOISY_TICKS = 3000  # of the jobs with noise
SHORT = (
    "--tla-code",
    f"detname=(import 'detectors/pdhd.jsonnet') {{ readout+: {{ nticks: {NOISY_TICKS} }} }}",
)

SHARED = shared_folder()
needs_shared = pytest.mark.skipif(SHARED is None, reason="../shared/data is absent")


def simulate(
    folder: Path, *flags: str, products: tuple[str, ...] = ("adc", "truth", "signal"), **arguments: object
) -> dict[str, Arrays]:
    """Run the job; return the arrays of its products, in files that are not compressed."""
    files = {name: folder / f"{name}.tar" for name in products}
    given = {
        **{"output" if name == "adc" else name: path for name, path in files.items()},
        "device": "cpu",
        **arguments,
    }
    if "adc" not in products:
        given["output"] = ""
    words = settings(**given)
    done = run("-c", JOB, *flags, *words)
    assert done.returncode == 0, done.stderr
    return {name: read_arrays(path) for name, path in files.items()}


def write_depositions(path: Path, *events: list[reference.Deposition]) -> Path:
    """Write a file of drifted depositions in the format of WCT."""
    arrays: Arrays = {}
    for ident, depositions in enumerate(events):
        rows = [[d.time, -d.electrons, RESPONSE_PLANE, d.y, d.z, d.along, d.across] for d in depositions]
        info = np.zeros((len(rows), 4), dtype=np.int32)
        info[:, 0] = np.arange(len(rows))
        arrays |= {f"depo_data_{ident}": np.array(rows, dtype=np.float32), f"depo_info_{ident}": info}
    np.savez(path, **arrays)
    return path


def some_depositions() -> list[reference.Deposition]:
    """Return depositions all over the anode and the readout, also before its start and at its end."""
    rng = np.random.default_rng(4)
    times = [-330e3, -312.4e3, 0.0, 1.0e6, 1.5002e6, 2.68e6, 2.687e6]
    return [
        reference.Deposition(
            # In float32, as in the file.
            *(
                float(np.float32(v))
                for v in (
                    time,
                    rng.uniform(2e4, 9e4),
                    rng.uniform(500, 5500),
                    rng.uniform(50, 2200),
                    rng.uniform(0.3, 1.3),
                    rng.uniform(0.3, 1.9),
                )
            )
        )
        for time in times
    ]


# Events of the job without noise, by index.
ALL, INSIDE, FIRST_PART, SECOND_PART = range(4)


def noise_free_events() -> list[list[reference.Deposition]]:
    """Return all depositions, those inside the readout, and all in two parts."""
    depositions = some_depositions()
    inside = [each for each in depositions if -250e3 < each.time < 2.6e6]
    return [depositions, inside, depositions[::2], depositions[1::2]]


@pytest.fixture(scope="module")
def noise_free(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Arrays]:
    """Truth and signal of all of noise_free_events()."""
    folder = tmp_path_factory.mktemp("noise-free")
    depos = write_depositions(folder / "depos.npz", *noise_free_events())
    return simulate(folder, products=("truth", "signal"), depos=depos, drift="false", noise="false")


@pytest.fixture(scope="module")
def noisy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a job with noise, seed 3 and one thread, and the chain after it; with the file of depositions."""
    folder = tmp_path_factory.mktemp("noisy")
    depos = write_depositions(folder / "depos.npz", some_depositions())
    simulate(
        folder,
        *SHORT,
        products=("adc", "signal"),
        depos=depos,
        drift="false",
        seed=3,
        threads=1,
        model="none",
        process=folder / "joined.tar",
    )
    return folder


def test_a_few_depositions(noise_free: dict[str, Arrays]) -> None:
    """Channels agree within 1e-5 of the largest pulse of the view (float32, response samples below 1e-6)."""
    depositions = noise_free_events()[ALL]
    signal = noise_free["signal"][f"frame_signal_{ALL}"]
    field = description("dune-garfield-1d565")
    planes = detector.load_planes(description("protodunehd-wires-larsoft-v1"), 0)
    for index, (view, rows) in enumerate(VIEWS.items()):
        expected = np.zeros(signal.shape)
        plane = planes[0, index]
        # The program counts from the first wire; wires of a file are regular to some thousandths of a pitch.
        centre = 0.5 * (plane.tail[0] + plane.head[0]) @ plane.pitch_direction
        plane = dataclasses.replace(plane, first=float(centre))
        for wire, waveform in reference.waveforms(
            depositions, plane, reference.impact_kernel(field, index)
        ).items():
            expected[plane.channel[wire]] += waveform
        assert np.abs(expected[rows]).max() > 100, view
        np.testing.assert_allclose(
            signal[rows], expected[rows], rtol=0, atol=1e-5 * np.abs(expected[rows]).max(), err_msg=view
        )


def test_truth_is_the_charge(noise_free: dict[str, Arrays]) -> None:
    """Each view has all charge in the readout, 100 mm / (1.565 mm/us) after the response plane; ROIs too."""
    depositions = noise_free_events()[INSIDE]
    charge, roi = (noise_free["truth"][f"frame_{tag}_{INSIDE}"] for tag in ("truth", "roi"))
    total = sum(d.electrons for d in depositions)
    ticks = np.arange(reference.TICKS) + 0.5
    mean_time = sum(d.electrons * d.time for d in depositions) / total + 100 / 1.565e-3
    for view, rows in VIEWS.items():
        assert charge[rows].sum(dtype=np.float64) == pytest.approx(total, rel=1e-5), view
        seen = (charge[rows].sum(0, dtype=np.float64) * ticks).sum() / total * 500 + reference.START_NS
        assert seen == pytest.approx(mean_time, abs=5.0), view
    pixels = (charge > 500).reshape(2560, 1500, 4).any(-1)
    assert roi.dtype == np.int16 and np.array_equal(
        roi.reshape(2560, 1500, 4), np.repeat(pixels[..., None], 4, -1)
    )
    assert pixels.sum() > 50


def test_adc_is_signal_with_noise(noisy_folder: Path, tmp_path: Path) -> None:
    """14 bits, baselines and spectrum; the result depends on the seed, but not on threads and engines."""
    arguments = {"products": ("adc", "signal"), "depos": noisy_folder / "depos.npz", "drift": "false"}
    made = {name: read_arrays(noisy_folder / f"{name}.tar") for name in ("adc", "signal")}
    adc, signal = made["adc"]["frame_*_0"], made["signal"]["frame_signal_0"]
    assert adc.dtype == np.int16 and adc.shape == (2560, NOISY_TICKS)
    assert made["adc"]["tickinfo_*_0"] == pytest.approx([reference.START_NS, 500, 0])
    noise = adc - signal.astype(np.float64)
    for view, rows in VIEWS.items():
        assert noise[rows].mean() == pytest.approx(BASELINES[view] - 0.5, abs=0.02), view
    again = simulate(tmp_path, *SHORT, seed=3, threads=2, engine="TbbFlow", **arguments)
    assert np.array_equal(again["adc"]["frame_*_0"], adc) and np.array_equal(
        again["signal"]["frame_signal_0"], signal
    )
    other = simulate(tmp_path, *SHORT, seed=4, **arguments)
    assert np.array_equal(other["signal"]["frame_signal_0"], signal)
    difference_of_seeds = other["adc"]["frame_*_0"][VIEWS["W"]].astype(np.float64) - adc[VIEWS["W"]]
    assert difference_of_seeds.std() == pytest.approx(np.sqrt(2) * noise[VIEWS["W"]].std(), rel=0.01)


def test_coherent_noise(tmp_path: Path) -> None:
    """Channels of a board share a waveform of the configured RMS across the planes; boards do not."""
    made = simulate(tmp_path, products=("adc",), kind="none", coherent=6)
    adc = made["adc"]["frame_*_0"].astype(np.float64)
    boards = {"U": 40, "V": 40, "W": 48}
    common = {
        view: (adc[rows] - adc[rows].mean(1, keepdims=True)).reshape(20, boards[view], 6000).mean(1)
        for view, rows in VIEWS.items()
    }
    # The mean over a board has 2.1 counts of noise (noise / sqrt(channels)) besides 6 counts of shared noise.
    assert common["W"].std() == pytest.approx(np.hypot(6, 10.8 / np.sqrt(48)), rel=0.03)
    correlation = np.corrcoef(common["U"], common["W"])
    same, others = np.diag(correlation, 20), correlation[:20, 20:][~np.eye(20, dtype=bool)]
    assert same.min() > 0.75
    assert np.abs(others).max() < 0.3


def test_charge_adds_up(noise_free: dict[str, Arrays]) -> None:
    """The sum of the waveforms of two events equals the waveforms of all their depositions."""
    first, second, together = (
        noise_free["signal"][f"frame_signal_{event}"] for event in (FIRST_PART, SECOND_PART, ALL)
    )
    assert first.any() and second.any()
    assert difference(first + second, together) < 1e-3  # of the RMS, which is a hundredth of a pulse


def test_generated_tracks(tmp_path: Path) -> None:
    """Several events of generated tracks, with files of the generated and of the drifted depositions."""
    made = simulate(
        tmp_path,
        products=("truth",),
        kind="tracks",
        tracks=1,
        nevents=2,
        noise="false",
        write_depos=tmp_path / "depos.npz",
        charge_output=tmp_path / "drifted.npz",
    )
    with np.load(tmp_path / "drifted.npz") as drifted:
        for event in (0, 1):
            charge = np.abs(drifted[f"depo_data_{event}"].astype(np.float64)).reshape(-1)
            assert charge.size > 0
            truth = made["truth"][f"frame_truth_{event}"]
            totals = [truth[rows].sum(dtype=np.float64) for rows in VIEWS.values()]
            assert min(totals) > 1e5
            assert max(totals) == pytest.approx(min(totals), rel=0.02)
    assert not np.array_equal(made["truth"]["frame_truth_0"], made["truth"]["frame_truth_1"])


def test_with_the_pipeline_in_one_job(noisy_folder: Path, tmp_path: Path) -> None:
    """The pipeline after the simulation gives the same output as for the file of waveforms."""
    apart = job(tmp_path, input=noisy_folder / "adc.tar", model="none", threads=1)
    joined = read_arrays(noisy_folder / "joined.tar")
    assert np.array_equal(joined["frame_signal_0"], apart["frame_signal_0"])
    assert joined["frame_signal_0"].any()


def test_wrong_arguments(tmp_path: Path) -> None:
    assert "takes a number" in rejected("-c", JOB, "-A", "coherent=loud", folder=tmp_path, status=2)
    assert "lacks what the simulation needs" in rejected(
        "-c", JOB, "--tla-code", "detname={ name: 'bare' }", folder=tmp_path, status=2
    )
    assert "SPNGDepoFileSource" in rejected("-c", JOB, "-A", "depos=absent.npz", folder=tmp_path, status=2)


@needs_shared
def test_simulation_of_wct(tmp_path: Path) -> None:
    """The simulation of tracks10 from its drifted depositions agrees with that of WCT.

    The program is 0.50 to 0.58 ticks later than WCT; 0.4 ticks come from the sampling of the electronics.
    The centres of regions k and -k use the mean path, in WCT two different paths: 0.7 % in the peaks of U.
    """
    pdhd = SHARED / "data" / "pdhd"
    made = simulate(tmp_path, depos=pdhd / "tracks10-drifted.npz", drift="false")
    signal, truth = (
        made["signal"]["frame_signal_0"].astype(np.float64),
        made["truth"]["frame_truth_0"].astype(np.float64),
    )
    theirs = {
        name: read_arrays(pdhd / f"tracks10-{name}.npz")["frame_*_0"] for name in ("signal", "truth", "adc")
    }
    their_signal = theirs["signal"].astype(np.float64) / 8.5449e-11
    noise, their_noise = made["adc"]["frame_*_0"] - signal, theirs["adc"] - their_signal
    for view, rows in VIEWS.items():
        late = best_shift(signal[rows], their_signal[rows])
        assert 0.4 < late < 0.7, view
        frequency = np.fft.rfftfreq(8192)
        moved = np.fft.irfft(np.fft.rfft(signal[rows], 8192) * np.exp(2j * np.pi * frequency * late), 8192)[
            :, :6000
        ]
        assert np.abs(moved).sum() == pytest.approx(np.abs(their_signal[rows]).sum(), rel=0.003), view
        peaks, their_peaks = np.abs(moved).max(1), np.abs(their_signal[rows]).max(1)
        bright = their_peaks > 20
        assert np.median(peaks[bright] / their_peaks[bright]) == pytest.approx(1, abs=0.01), view
        assert truth[rows].sum() == pytest.approx(theirs["truth"][rows].sum(dtype=np.float64), rel=1e-4), view
        assert abs(best_shift(truth[rows], theirs["truth"][rows])) < 0.02, view
        assert difference(truth[rows], theirs["truth"][rows].astype(np.float64)) < 0.5, view
        power, their_power = ((np.abs(np.fft.rfft(each[rows])) ** 2).mean(0) for each in (noise, their_noise))
        for low, high in (
            (1, 30),
            (30, 100),
            (100, 300),
            (300, 600),
            (600, 1200),
            (1200, 2000),
            (2000, 3000),
        ):
            assert power[low:high].sum() == pytest.approx(their_power[low:high].sum(), rel=0.05), (view, low)
        assert noise[rows].mean() == pytest.approx(their_noise[rows].mean(), abs=0.5), view
