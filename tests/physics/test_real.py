# SPDX-License-Identifier: Apache-2.0
"""./wcb physics --real: measures on constructed arrays, bars, pictures, the page of a synthetic folder; a job on real waveforms."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from scripts.output import Table
from scripts.physics.program import JobFailed, Program
from scripts.physics.real import command, datasets, measures, microboone, page, pictures, study
from scripts.physics.real import few_channels as few
from scripts.physics.real.bars import EXCEPTED, MET, MISSED, NOT_RUN, Limit, bar
from scripts.physics.real.jobs import Jobs, Output
from scripts.physics.real.studies import STUDIES, boards, chirping, noisy, rcrc, steps
from scripts.physics.sizes import REAL_STUDIES
from spng import Frame, Traces
from tests.reference.response import cold_electronics
from tests.support import shared, study_facts, wire_cell

FOLDER = shared.shared_folder()
REAL = (FOLDER or Path("absent")) / "data" / "real"


def test_measures_of_a_constructed_signal() -> None:
    signal = np.zeros((4, 1000), dtype=np.float32)
    signal[1, 100:120] = 50_000
    signal[2, 300:310] = -1000
    assert measures.charge(signal) == pytest.approx(0.99)
    assert measures.roi_share(signal) == pytest.approx(30 / 4000)
    assert measures.channels_with_charge(signal, 90, 130, 5000).tolist() == [False, True, False, False]
    assert measures.channels_with_charge(signal, 90, 110, 600_000).sum() == 0
    assert measures.end_of_track(signal).tolist() == [0, 120, 0, 0]


def test_quiet_noise_is_that_of_fast_noise() -> None:
    rng = np.random.default_rng(1)
    waveform = rng.normal(0, 20, (30, 8000))
    waveform[:, 1000:1040] += 5000  # a track
    waveform += 3000 * np.sin(2 * np.pi * np.arange(8000) / 16_000)  # a drift
    assert measures.quiet_noise(waveform) == pytest.approx(20, rel=0.05)
    waveform[5:] = 0
    assert measures.quiet_noise(waveform) == pytest.approx(20, rel=0.05)
    assert np.isnan(measures.quiet_noise(np.zeros((2, 400))))


def test_mean_after_begins_in_each_channel() -> None:
    waveform = np.zeros((2, 100))
    waveform[0, 10:20], waveform[1, 50:60] = 4, -8
    assert measures.mean_after(waveform, np.array([10, 50]), 10) == -2


def test_masks_of_a_part_are_no_lost_channels() -> None:
    mask = np.array([[7, 0, 100], [8, 0, 99], [9, 5, 100], [3, 0, 120]])
    assert measures.whole_readout(mask, 100).tolist() == [3, 7]
    assert len(measures.whole_readout(None, 100)) == 0


@pytest.mark.parametrize(
    ("value", "verdict"), [(1.0, MET), (0.9, MET), (1.2, MISSED), (float("nan"), MISSED), (None, NOT_RUN)]
)
def test_limits(value: float | None, verdict: str) -> None:
    assert Limit("x", "charge", 0.9, 1.1).verdict(value) == verdict


def test_an_exception_is_no_miss_and_no_bar_met() -> None:
    limit = Limit("x", "charge", None, 0.1, exception="absent neighbours", worst=0.5)
    assert limit.verdict(0.1) == MET
    assert limit.verdict(0.2) == EXCEPTED
    assert limit.verdict(0.6) == MISSED
    assert limit.verdict(float("nan")) == MISSED
    assert bar("few", limit, 0.2, "")["exception"] == "absent neighbours"
    assert bar("few", limit, 0.1, "")["exception"] == ""


def test_longest_pulses() -> None:
    signal = np.zeros((4, 10))
    signal[1, 2:5] = signal[1, 7:9] = signal[2, 6:] = 1
    signal[3] = 1
    assert measures.longest_pulses(signal).tolist() == [0, 3, 4, 10]


def test_twin_has_the_charge_of_the_other_electronics() -> None:
    """A pulse of the good electronics becomes one of 4.7 mV/fC and 1 us: peak and area follow the responses."""
    times = (np.arange(1024) + 0.5) * 0.5
    good = cold_electronics(times - 100)
    twin = microboone.misconfigured(np.rint(2000 + 40 * good)[None].astype(np.int16))[0] - 2000.0
    expected = 40 * cold_electronics(times - 100, 4.7, 1.0)
    assert twin.sum() == pytest.approx(expected.sum(), rel=0.02)
    assert twin.max() == pytest.approx(expected.max(), rel=0.1)
    assert microboone.TWIN_AREA == pytest.approx(expected.sum() / (40 * good.sum()), rel=0.01)


def test_shared_wave_and_chosen_channels() -> None:
    wave = boards.shared_wave(6000)
    assert wave.std() == pytest.approx(28)
    power = np.abs(np.fft.rfft(wave)) ** 2  # of frequencies 1/3 kHz apart
    assert power[1:91].sum() > 0.8 * power.sum()
    assert few.chosen(8, 800, 799, few.PIECE).tolist() == list(range(792, 800))
    rows = few.chosen(8, 800, 30, few.SCATTERED)
    assert 30 in rows and set(np.diff(rows)) == {100}
    assert few.Case("U", few.PIECE, np.arange(8)).inner.tolist() == [3, 4]
    assert len(few.Case("U", few.SCATTERED, np.arange(8)).inner) == 8
    stripes = few.striped("U", np.arange(800, 900))
    assert stripes.channels.tolist() == [*range(820, 840), *range(860, 880)]
    assert few.edge_distances(stripes)[[0, 9, 10, 19, 20]].tolist() == [0, 9, 9, 0, 0]
    alone = few.Case("U", few.PIECE, np.arange(3), is_beside=False)
    assert few.present(alone, np.arange(4), np.arange(6)).tolist() == [True] * 3 + [False] * 3


def test_found_tracks_need_both_crossings() -> None:
    signal = np.zeros((48, 9594))
    signal[:, 5300:5310] = 1000
    assert chirping.channels_found(signal) == 0
    signal[3:, 9300:9310] = 1000
    assert chirping.channels_found(signal) == 43  # neither the dead nor the chirping channel


def test_good_time_of_the_chirping_channel() -> None:
    rng = np.random.default_rng(3)
    channels = np.array([745, 746, 747], dtype=np.int32)
    waveforms = rng.normal(0, [[10], [14], [10]], (3, 9594))
    charge = np.zeros((3, 9594))
    charge[:, 5000] = 20_000, 12_000, 20_000
    charge[1, 100] = 1e6  # before its good time
    tags = {"signal": charge, chirping.WAVEFORM_TAG: waveforms}
    traces = {tag: Traces(tag, each.astype(np.float32), channels) for tag, each in tags.items()}
    noise, share = chirping.good_time(Output([Frame(traces)], []))
    assert noise == pytest.approx(1.4, rel=0.1)
    assert share == pytest.approx(0.6)


def test_largest_loss_compares_subsets_that_differ_by_one_step() -> None:
    found = dict.fromkeys(["none", *steps.subsets()], 40)
    assert steps.largest_loss(found) == 0
    found["lines"] = 44
    assert steps.largest_loss(found) == 4  # lines,channels has 40


def test_names_of_the_options_are_the_studies() -> None:
    assert tuple(each.name for each in STUDIES) == REAL_STUDIES
    assert len(steps.subsets()) == len(set(steps.subsets())) == 31


def test_arrays_of_the_toolkit_are_read(tmp_path: Path) -> None:
    rows = np.arange(48)[:, None] + np.arange(datasets.TICKS)[None, :] % 7
    text = "".join(
        "{\n std::vector<float> horig = {\n" + ", ".join(map(str, row)) + "};\n horigs.push_back(horig);\n}\n"
        for row in rows
    )
    (tmp_path / datasets.NOISY.header).write_text(text)
    found = datasets.Folder(tmp_path)
    assert np.array_equal(found.microboone(datasets.NOISY), rows)
    with pytest.raises(datasets.DataMissing, match="example-rcrc-48.h"):
        found.microboone(datasets.RCRC)
    (tmp_path / datasets.RCRC.header).write_text("float x = {1, 2, 3};")
    with pytest.raises(datasets.DataMissing, match="1 lists"):
        found.microboone(datasets.RCRC)
    with pytest.raises(datasets.DataMissing, match="^example-misconfig-48.h is not in"):
        found.microboone(datasets.MISCONFIGURED)
    assert command.files_of(found)[datasets.NOISY.header] == "another version"
    assert datasets.MICROBOONE.name not in command.files_of(found)
    (tmp_path / datasets.MICROBOONE.name).write_bytes(b"")
    assert not {file.name for file in datasets.HEADERS} & set(command.files_of(found))


def test_pictures_are_small_and_show_short_pulses(tmp_path: Path) -> None:
    samples = np.random.default_rng(2).normal(0, 5, (480, 9594))
    samples[7, 5000] = 300
    assert pictures.extreme_of_bins(samples).max() == 300
    assert pictures.largest_of_bins(samples).shape == (120, 685)
    gallery = pictures.Gallery(tmp_path)
    name = gallery.images(
        "real-x", [pictures.Panel("noise", samples, 0, 20), pictures.Panel("q", samples, 0)], 2
    )
    assert (tmp_path / name).stat().st_size < 150_000
    assert Image.open(tmp_path / name).size[0] == pictures.WIDTH * pictures.DPI


def result_of(*studies: study.Study, context: Any = None) -> dict[str, Any]:
    return {
        "command": "./wcb physics --real data",
        **study_facts.ABOUT,
        "files": {file.name: "absent" for file in datasets.FILES},
        "studies": {each.name: study.result_of(each, context) for each in studies},
    }


def succeed(_: study.Context, found: study.Findings) -> None:
    found.values["a"] = 0.5
    found.tables.append(Table("T", ["x", "y"], [["1", "2"]]))
    found.pictures.append(("real-a.png", "A picture."))


def fail(_: study.Context, __: study.Findings) -> None:
    raise JobFailed("wire-cell -c x\nended with status 2:\nerror: no filter 'chirping'\n  seen: x | y")


def test_page_names_missed_bars_and_jobs_that_failed(tmp_path: Path) -> None:
    limits = (Limit("a", "share", None, 0.4, "%", 1),)
    result = result_of(
        study.Study("good", "Good", ("Text.",), limits, succeed),
        study.Study("bad", "Bad", ("Text.",), limits, fail),
    )
    assert [each["bars"][0]["verdict"] for each in result["studies"].values()] == [MISSED, NOT_RUN]
    assert json.loads(json.dumps(result)) == result
    target = tmp_path / "real-data.md"
    target.write_text("old\n---\nby hand\n")
    text = page.to_markdown(result, target)
    assert "0 of 2 bars are met, 1 were not run." in text
    assert "| good | share | at most 0.4 % | 0.5 % | missed |" in text
    assert "not run: error: no filter 'chirping'; seen: x / y | not run |" in text
    assert "![A picture.](images/real-a.png)" in text
    assert text.endswith("\n---\nby hand\n") and "old" not in text


def test_optional_limit_without_value_is_no_bar() -> None:
    limits = (Limit("b", "share", None, 0.4, is_optional=True), Limit("a", "share", None, 0.6))
    result = result_of(study.Study("good", "Good", ("Text.",), limits, succeed))
    assert [each["key"] for each in result["studies"]["good"]["bars"]] == ["a"]


def test_folder_without_files_names_them(tmp_path: Path) -> None:
    jobs = Jobs(Program(Path("absent"), 1), tmp_path, print)
    context = study.Context(datasets.Folder(tmp_path), jobs, pictures.Gallery(tmp_path))
    for each in (rcrc.STUDY, noisy.STUDY):
        result = study.result_of(each, context)
        assert "microboone-run3493-raw.npz" in result["problems"][0]
        assert {each["verdict"] for each in result["bars"]} == {NOT_RUN}


def test_detector_files_and_page_by_default(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    assert command.detector_files(tmp_path / "real", None) is None
    (tmp_path / "detector").mkdir()
    assert command.detector_files(tmp_path / "real", None) == tmp_path / "detector"
    assert command.detector_files(tmp_path / "real", tmp_path) == tmp_path
    whole = Namespace(page=None, only="", output=tmp_path)
    assert command.target_of(whole) == command.PAGE
    assert command.target_of(Namespace(page=None, only="rcrc", output=tmp_path)) == tmp_path / "real-data.md"


@pytest.fixture
def real_groups() -> datasets.Folder:
    if not (REAL / datasets.MICROBOONE.name).is_file():
        pytest.skip("the shared real data are not here")
    return datasets.Folder(REAL)


def test_real_groups_are_the_published_ones(real_groups: datasets.Folder) -> None:
    assert real_groups.is_published(datasets.MICROBOONE)
    rms = {group.name: real_groups.microboone(group).std(axis=1) for group in datasets.GROUPS}
    assert ((rms["noisy"] > 230) & (rms["noisy"] < 290)).sum() == 17
    assert rms["chirping"].argmin() + datasets.CHIRPING.first == chirping.DEAD_CHANNEL
    assert rms["rcrc"].argmax() + datasets.RCRC.first in (7737, 7738, 7739)


@wire_cell.needs_program
def test_steps_restore_the_real_track(real_groups: datasets.Folder, tmp_path: Path, monkeypatch: Any) -> None:
    """`tails` removes the undershoot after the real track."""
    monkeypatch.setenv("WIRECELL_PATH", str(REAL.parent / "detector"))
    jobs = Jobs(Program(wire_cell.PROGRAM, 1), tmp_path, print)
    context = study.Context(real_groups, jobs, pictures.Gallery(tmp_path))
    output = microboone.run_groups(jobs, context.folder, "tails,coherent")
    after = rcrc.mean_after_track(output, output)
    assert abs(after) < 15
