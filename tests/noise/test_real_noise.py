# SPDX-License-Identifier: Apache-2.0
"""Faults of real detectors, injected into frames with known charge or taken from real data: channels with other electronics,
chirping channels, negative pulses of boards.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.reference.response import cold_electronics
from tests.support import shared, wire_cell
from tests.support.small_site import Site

pytestmark = wire_cell.needs_program

TICKS = 2400
NOMINAL, FAST = (14.0, 2.2), (4.7, 1.0)  # mV/fC, us
OTHERS = [20, 75, 130]  # channel_response of tests/support/small_detector.py
CHIRPS = {31: (0, 900), 92: (1500, TICKS), 131: (600, 1300)}  # ticks by channel, on U, V and W
BLOCK = 20
PULSE_CENTRE, PULSE_SIGMA, PULSE_COUNTS = 1900.0, 50.0, 150.0
SHARED_COUNTS = 15.0
CLEAN, FAULTY = 0, 1


def as_recorded_by(rows: np.ndarray) -> np.ndarray:
    """Waveforms of nominal electronics as FAST ones record them: the ratio of the transforms of the continuous responses, damped
    where the nominal one is below 1 % of its largest value.
    """
    ticks = rows.shape[1]
    time = (np.arange(ticks * 50) + 0.5) / 100
    fast, nominal = (np.fft.rfft(cold_electronics(time, *each))[: ticks // 2 + 1] for each in (FAST, NOMINAL))
    ratio = fast * nominal.conj() / (np.abs(nominal) ** 2 + (0.01 * np.abs(nominal).max()) ** 2)
    level = np.median(rows, axis=1, keepdims=True)
    return np.rint(np.fft.irfft(np.fft.rfft(rows - level) * ratio, ticks) + level).astype(np.int16)


def masks(output: wire_cell.Arrays, name: str, ident: int) -> list[list[int]]:
    return sorted(output.get(f"chanmask_{name}_{ident}", np.zeros((0, 3), dtype=int)).tolist())


@pytest.fixture(name="clean", scope="module")
def fixture_clean(site: Site) -> np.ndarray:
    """A frame with a track and noise, without faults: (channel, tick) int16."""
    return site.busy_frames(1, TICKS)["frame_*_0"]


def both(site: Site, clean: np.ndarray, faulty: np.ndarray) -> wire_cell.Arrays:
    channels = site.anode.channels
    return wire_cell.event(clean, channels, CLEAN) | wire_cell.event(faulty, channels, FAULTY)


def charge(output: wire_cell.Arrays, ident: int, rows: list[int] | slice = slice(None)) -> float:
    return float(output[f"frame_signal_{ident}"][rows].sum(dtype=np.float64))


def test_channels_with_other_electronics_have_the_charge_of_good_ones(site: Site, clean: np.ndarray) -> None:
    faulty = clean.copy()
    faulty[OTHERS] = as_recorded_by(clean[OTHERS].astype(float))
    arrays = both(site, clean, faulty)
    output = site.job(arrays, noise_filter="none")
    # On U and V the deconvolution along the wires mixes neighbours.
    assert charge(output, FAULTY, OTHERS[2:]) < 0.3 * charge(output, CLEAN, OTHERS[2:])
    # The clean event has nominal electronics everywhere: a list without these channels.
    expected = charge(output, CLEAN, OTHERS)
    corrected = site.job(arrays, noise_filter="response", dump="adc")
    assert charge(corrected, FAULTY, OTHERS) == pytest.approx(expected, rel=0.02)
    good = np.setdiff1d(np.arange(len(clean)), OTHERS)
    tap = wire_cell.read_arrays(site.folder / "output-adc-induction.npz")
    ids = tap["induction_ids_1"].reshape(-1)
    seen = tap["induction_1"].reshape(len(ids), TICKS)
    kept = np.isin(ids, good)
    assert np.array_equal(seen[kept], clean[ids[kept]])
    inner = slice(100, TICKS - 100)
    error = (seen[~kept] - clean[ids[~kept]])[:, inner]
    assert error.std() < 0.3 * clean[OTHERS].std(axis=1).mean()

    # The same channels in a file, where the toolkit has them.
    nominal = 14 * 1e-9 / 6241.509074460763
    info = {
        "channels": OTHERS,
        "reconfig": {
            "from": {"gain": nominal * 4.7 / 14, "shaping": 1000},
            "to": {"gain": nominal, "shaping": 2200},
        },
    }
    (site.folder / "other.json").write_text(json.dumps({"channel_info": [info]}), encoding="utf-8")
    listed = site.job(arrays, noise_filter="response", bad_channels="other.json")
    assert charge(listed, FAULTY) == pytest.approx(charge(corrected, FAULTY), rel=1e-6)


def test_unusable_electronics_are_one_message(tmp_path: Path) -> None:
    def block(info: dict) -> str:
        (tmp_path / "list.json").write_text(json.dumps({"channel_info": [info]}), encoding="utf-8")
        flags = ("-A", "noise_filter=response", "-A", "bad_channels=list.json", "-A", "model=none")
        return wire_cell.rejected("-c", wire_cell.PIPELINE, *flags, folder=tmp_path, status=2)

    mistaken = {"from": {"gain": 4.7, "shaping": 1.0}}
    assert "factor 100" in block({"channels": 3, "reconfig": mistaken})
    unknown = block({"channels": [3, 99999], "reconfig": {"from": {"gain": 7.53e-13, "shaping": 1000}}})
    assert "99999" in unknown and "detector lacks" in unknown
    missing = wire_cell.rejected(
        "-c", wire_cell.PIPELINE, "-A", "noise_filter=response", folder=tmp_path, status=2
    )
    assert "lacks channel_response" in missing


@pytest.fixture(name="chirps", scope="module")
def fixture_chirps(site: Site, clean: np.ndarray) -> wire_cell.Arrays:
    """The job on the clean frame, and on one with shared noise that the chirping channels do not have."""
    faulty = clean.astype(float)
    wave = SHARED_COUNTS * np.sin(np.arange(TICKS) * 0.07)
    rng = np.random.default_rng(7)
    faulty += wave
    for channel, (begin, end) in CHIRPS.items():
        faulty[channel, begin:end] = np.median(clean[channel]) + rng.normal(0, 0.4, end - begin)
    return site.job(
        both(site, clean, np.rint(faulty).astype(np.int16)), noise_filter="coherent,chirping", dump="adc"
    )


def test_chirping_channels_are_masked_where_they_chirp(chirps: wire_cell.Arrays) -> None:
    expected = [
        [channel, max(0, begin - BLOCK), min(TICKS, end + BLOCK)] for channel, (begin, end) in CHIRPS.items()
    ]
    assert masks(chirps, "chirp", FAULTY) == expected
    assert masks(chirps, "bad", FAULTY) == expected
    assert masks(chirps, "chirp", CLEAN) == []


def test_chirping_channels_get_no_shared_noise_and_keep_their_good_ticks(
    site: Site, clean: np.ndarray, chirps: wire_cell.Arrays
) -> None:
    signal = {ident: chirps[f"frame_signal_{ident}"] for ident in (CLEAN, FAULTY)}
    # On U and V the deconvolution along the wires mixes neighbours.
    assert not signal[FAULTY][131, 650:1250].any()
    rows = wire_cell.read_arrays(site.folder / "output-adc-collection.npz")
    ids = rows["collection_ids_1"].reshape(-1).tolist()
    seen = rows["collection_1"].reshape(len(ids), TICKS)[ids.index(131)]
    assert np.abs(np.diff(seen[600:1300], 2)).max() < 1e-2, "a straight line"
    good = np.setdiff1d(np.arange(len(clean)), list(CHIRPS))
    assert charge(chirps, FAULTY, good.tolist()) == pytest.approx(
        charge(chirps, CLEAN, good.tolist()), rel=0.03
    )
    # The track crosses channel 131 before its chirp.
    before = [signal[ident][131, :500].sum(dtype=np.float64) for ident in (CLEAN, FAULTY)]
    assert before[0] > 10_000 and before[1] == pytest.approx(before[0], rel=0.1)


@pytest.mark.parametrize(("chirping", "other"), [(0, 2), (2, 0)])
def test_a_view_that_chirps_is_masked(site: Site, clean: np.ndarray, chirping: int, other: int) -> None:
    """Also a view that is a group, of which the CPU then makes few rows."""
    faulty = clean.copy()
    view = site.anode.views[chirping].channels
    faulty[view] = np.median(clean[view], axis=1, keepdims=True)
    output = site.job(both(site, clean, faulty), noise_filter="chirping")
    expected = [[channel, 0, TICKS] for channel in view.tolist()]
    assert masks(output, "chirp", FAULTY) == masks(output, "bad", FAULTY) == expected
    assert not output[f"frame_signal_{FAULTY}"][view].any()
    assert charge(output, FAULTY, site.anode.views[other].channels.tolist()) > 0


def test_negative_pulses_of_a_board_are_masked(site: Site, clean: np.ndarray) -> None:
    faulty = clean.astype(float)
    w = site.anode.views[2].channels
    heights = np.linspace(0.7, 1.3, len(w))[:, None] * PULSE_COUNTS
    faulty[w] -= heights * np.exp(-(((np.arange(TICKS) - PULSE_CENTRE) / PULSE_SIGMA) ** 2) / 2)
    output = site.job(both(site, clean, np.rint(faulty).astype(np.int16)), noise_filter="negative")
    found = masks(output, "femb_noise", FAULTY)
    assert [row[0] for row in found] == w.tolist()
    assert masks(output, "bad", FAULTY) == found
    assert len({tuple(row[1:]) for row in found}) == 1, "the same ticks on the whole board"
    begin, end = found[0][1:]
    assert PULSE_CENTRE - 220 < begin < PULSE_CENTRE - 110 and PULSE_CENTRE + 110 < end < PULSE_CENTRE + 220
    assert masks(output, "femb_noise", CLEAN) == []
    assert charge(output, FAULTY) == pytest.approx(charge(output, CLEAN), rel=0.01)
    # No tail of the pulse is signal.
    assert not output[f"frame_signal_{FAULTY}"][w][:, 1700:2200].any()


SHARED = shared.shared_folder()
DATA = (SHARED or Path("absent")) / "data"
MICROBOONE = DATA / "real" / "microboone-run3493-raw.npz"
needs_data = pytest.mark.skipif(not MICROBOONE.is_file(), reason="without real waveforms of MicroBooNE")
DEAD, CHIRPING, GOOD_FROM = 744, 746, 4150


def raw_group(first: int) -> np.ndarray:
    with np.load(MICROBOONE) as arrays:
        rows = np.isin(arrays["channels_*_3493"], np.arange(first, first + 48))
        return np.ascontiguousarray(arrays["frame_*_3493"][rows])


def microboone_job(folder: Path, groups: dict[int, np.ndarray], **arguments: str) -> dict[int, np.ndarray]:
    """Run the job on groups of 48 channels by their first one; return the charge by first channel, and masks as group -1."""
    first = sorted(groups)
    channels = np.concatenate([np.arange(each, each + 48) for each in first])
    arrays = wire_cell.event(np.concatenate([groups[each] for each in first]), channels)
    wire_cell.write_arrays(folder / "adc.npz", arrays)
    given = {"input": "adc.npz", "detname": "microboone", "threads": 1, **arguments}
    output = wire_cell.job(folder, "-P", str(DATA / "detector"), **given)
    rows = output["channels_signal_0"]
    return {each: output["frame_signal_0"][np.isin(rows, np.arange(each, each + 48))] for each in first} | {
        -1: output.get("chanmask_chirp_0", np.zeros((0, 3), dtype=int))
    }


@needs_data
def test_real_chirping_channel_keeps_its_good_ticks(tmp_path: Path) -> None:
    """Mask and charge of a real group; its tracks are found on all channels but two."""
    found = microboone_job(tmp_path, {720: raw_group(720)}, noise_filter="chirping,coherent")
    ranges = {int(row[0]): row[1:].tolist() for row in found[-1]}
    assert ranges.keys() == {DEAD, CHIRPING}
    assert ranges[CHIRPING][0] == 0 and 4100 <= ranges[CHIRPING][1] <= 4200
    assert ranges[DEAD] == [0, 9594]
    signal = found[720]
    assert not signal[CHIRPING - 720, : ranges[CHIRPING][1] - 50].any()
    assert signal[CHIRPING - 720, GOOD_FROM:].sum() > 1e4
    has_charge = signal.sum(axis=1) > 1e4
    assert np.flatnonzero(~has_charge).tolist() == [DEAD - 720]


@needs_data
def test_real_channels_as_misconfigured_ones_have_their_charge(tmp_path: Path) -> None:
    group = raw_group(720)
    as_good = microboone_job(tmp_path, {2016: group[::-1]}, noise_filter="coherent")
    twin = as_recorded_by(group[::-1].astype(float))
    as_other = microboone_job(tmp_path, {2016: twin}, noise_filter="response,coherent")
    assert as_other[2016].sum(dtype=np.float64) == pytest.approx(
        as_good[2016].sum(dtype=np.float64), rel=0.05
    )
