# SPDX-License-Identifier: Apache-2.0
"""./wcb physics --robustness: changed waveforms against numbers, far false pixels, bars and the page on hand-made figures, and
one small run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripts.output import HAND_WRITTEN
from scripts.physics import page, sizes
from scripts.physics.program import JobFailed
from scripts.physics.robustness import (
    command,
    conditions,
    depositions,
    measurement,
    pages,
    promises,
    study,
    tables,
    waveforms,
)
from scripts.physics.wires import VIEWS
from spng import metrics
from tests.support import study_facts
from tests.support.wire_cell import PROGRAM, ROOT, needs_program

TICKS, CHANNELS = 6000, 200


@pytest.fixture(scope="module")
def given() -> waveforms.Waveforms:
    """Return noise of 14 ADC RMS and a pulse of 400 ADC in channel 3."""
    generator = np.random.default_rng(1)
    signal = np.zeros((CHANNELS, TICKS), dtype=np.float32)
    signal[3, 1000:1010] = 400
    noise = generator.normal(0, 14, signal.shape).astype(np.float32)
    return waveforms.separated(np.floor(9402 + signal + noise), signal)


def test_parts_of_a_frame_add_up(given: waveforms.Waveforms) -> None:
    frame = waveforms.Change().apply(given, seed=1)
    assert frame.dtype == np.int16
    assert np.array_equal(frame, np.rint(given.baseline + given.signal + given.noise))
    assert np.abs(given.baseline - 9401.5).max() < 0.5 and np.abs(given.noise.mean(axis=1)).max() < 1e-3


def test_drift_has_its_rms_band_and_slope() -> None:
    found = waveforms.drift(np.random.default_rng(2), CHANNELS, TICKS)
    power = np.abs(np.fft.rfft(found, axis=1)) ** 2
    kilohertz = np.fft.rfftfreq(TICKS, 0.5e-3)
    in_band = (kilohertz > 0) & (kilohertz < 5)
    assert found.std(axis=1) == pytest.approx(np.ones(CHANNELS), abs=1e-3)
    assert power[:, ~in_band].sum() < 1e-6 * power.sum()
    mean = power[:, in_band].mean(axis=0)
    assert mean[3] / mean[7] == pytest.approx(4, rel=0.3), "amplitudes of 1 / frequency"


def test_steps_are_on_three_per_cent_of_the_channels() -> None:
    found = waveforms.steps(np.random.default_rng(3), CHANNELS, TICKS)
    stepped = np.flatnonzero(found.any(axis=1))
    assert len(stepped) == 6
    for row in found[stepped]:
        first = int(np.flatnonzero(row)[0])
        assert 500 <= first < 5500 and (row[first:] == row[first]).all() and abs(row[first]) == 1


@pytest.mark.parametrize(
    "change, signal, noise, noisy",
    [
        (waveforms.Change(noise=2.0), 1.0, 2.0, 0),
        (waveforms.Change(signal=0.5), 0.5, 1.0, 0),
        (waveforms.Change(signal=0.0, noisy=True), 0.0, 1.0, 6),
        (waveforms.Change(gain=1.05), 1.05, 1.05, 0),
    ],
)
def test_factors_of_signal_and_noise(
    given: waveforms.Waveforms, change: waveforms.Change, signal: float, noise: float, noisy: int
) -> None:
    found = change.apply(given, seed=4) - given.baseline
    ratio = found[:, 2000:].std(axis=1) / given.noise[:, 2000:].std(axis=1)
    loud = ratio > 2.5
    assert loud.sum() == noisy and ratio[loud] == pytest.approx(3 * np.ones(noisy), rel=0.01)
    pulse = found[3, 1000:1010] - ratio[3] * given.noise[3, 1000:1010]
    assert pulse.mean() == pytest.approx(400 * signal, abs=1.5)
    assert ratio[~loud] == pytest.approx(np.full(CHANNELS - noisy, noise), rel=0.01)


def test_drift_and_steps_are_added_and_samples_are_clipped(given: waveforms.Waveforms) -> None:
    quiet = waveforms.Waveforms(given.baseline, given.signal, 0 * given.noise)
    drifting = waveforms.Change(signal=0.0, drift=20.0).apply(quiet, seed=5)
    assert drifting.std(axis=1) == pytest.approx(np.full(CHANNELS, 20), rel=0.01)
    stepped = waveforms.Change(signal=0.0, steps=40.0).apply(quiet, seed=5)
    assert (np.ptp(stepped, axis=1) == 40).sum() == 6
    assert waveforms.Change(signal=100.0).apply(quiet, seed=5).max() == 16383


def test_points_have_their_charge_and_length() -> None:
    tracks = depositions.points(25_400)
    assert (tracks.count, tracks.length) == (150, pytest.approx(4.5))
    found = depositions.depositions(tracks, seed=6)
    assert found.shape == (7, 150 * 9) and -found[1].sum() == pytest.approx(150 * 25_400)
    first, last = found[2:5, :9][:, 0], found[2:5, :9][:, -1]
    assert np.linalg.norm(last - first) == pytest.approx(4.0)
    assert depositions.points(1000).length == depositions.SHORTEST_MM
    heavy = depositions.depositions(conditions.HEAVY, seed=6)
    assert -heavy[1].max() == pytest.approx(20 * 5000 * 0.5)


def test_far_false_pixels() -> None:
    """One charged pixel, channel 10 and pixel 50: ROIs at 3 channels or 12 pixels are near, those beyond are far."""
    truth = np.zeros((21, 400), dtype=np.float32)
    truth[10, 200] = 11
    far = metrics.far_pixels(truth)
    assert (~far).sum() == 7 * 25 and not far[7:14, 38:63].any()
    signal = np.zeros_like(truth)
    for channel, pixel in ((10, 50), (13, 62), (7, 38), (14, 50), (10, 63), (0, 0)):
        signal[channel, 4 * pixel] = 1
    counts = metrics.count(signal, truth, far)
    assert (counts.far_region_pixels, counts.far_pixels) == (3, 21 * 100 - 7 * 25)
    assert metrics.false_share(counts) == 3 / (21 * 100 - 7 * 25)
    assert np.isnan(metrics.false_share(metrics.count(signal, truth)))
    assert metrics.far_pixels(0 * truth).all(), "without charge every pixel is far"


def test_ends_of_the_readout() -> None:
    truth = np.ones((2, 200), dtype=np.float32)
    signal = truth.copy()
    signal[:, :40] = 0.5
    signal[:, -40:] = 0.75
    found = measurement.measure_view("model", 0, signal, truth, metrics.far_pixels(truth), True).parts
    ratio = {name: metrics.RATIOS["charge"](counts) for name, counts in found.items()}
    assert ratio == {"all": pytest.approx(0.85), "first": 0.5, "last": 0.75}


def test_charge_of_lines_is_that_of_all_their_channels() -> None:
    truth = np.zeros((20, 1000), dtype=np.float32)
    truth[2:6, 400:410] = 2000
    truth[12:16, 400:410] = 2000
    signal = 0.9 * truth
    signal[13, 900] = 8000
    found = measurement.measure_lines("model", 2, signal, truth, [np.arange(10), np.arange(10, 20)], [85, 89])
    assert [metrics.RATIOS["charge"](part) for part in found.parts.values()] == pytest.approx([0.9, 1.0])
    assert list(found.biases.values()) == pytest.approx([-0.1, -0.1]), (
        "the charge at tick 900 is far from the line"
    )


def test_warnings_are_read_from_standard_error() -> None:
    errors = (
        "[04:35:21.909] W [ SPNGFrameToTorchSetFanout:anode0 ] the polarity of the pulses differs: seen polarity 0.85, "
        "expected -0.02 +- 0.60\n[04:35:22.1] I [ x ] saturated\nU of anode 0  800  saturated\n"
    )
    warnings = measurement.warnings_of(errors)
    assert len(warnings) == 1 and warnings[0].startswith("the polarity")
    assert measurement.is_misfit(warnings) and not measurement.is_saturation(warnings)
    assert not measurement.is_misfit(["the noise differs: seen 27.9 ADC RMS, expected 13.7 ADC RMS"])
    assert measurement.is_saturation(["too many saturated channels"])


def test_seeds_are_new_and_jobs_are_bounded() -> None:
    """Neither training nor ./wcb physics has these seeds, and no two samples share one."""
    plan = conditions.make_plan("m.ts", events=50)
    seeds = [
        batch.seed + event
        for sample in plan.samples()
        for batch in sample.batches
        for event in range(batch.count)
    ]
    assert min(seeds) == sizes.ROBUSTNESS_SEED > sizes.FIRST_SEED + 20_000 and len(seeds) == len(set(seeds))
    tasks = study.tasks_of(plan)
    assert max(task.events for task in tasks) <= conditions.MAX_EVENTS_OF_JOB
    by_condition: dict[str, int] = {}
    for task in tasks:
        by_condition[task.condition.name] = by_condition.get(task.condition.name, 0) + task.events
    assert by_condition == {condition.name: condition.sample.events for condition in plan.conditions}
    assert {condition.group for condition in plan.conditions} == set(sizes.ROBUSTNESS_GROUPS)
    muons = next(sample for sample in conditions.make_plan(None).samples() if sample.name == "muons")
    assert [batch.count for batch in muons.batches] == [7, 7, 6]


def test_every_promise_has_its_condition() -> None:
    known = {condition.name for condition in conditions.make_plan("m.ts").conditions}
    assert {promise.condition for promise in promises.PROMISES} | set(promises.WARNINGS) <= known


def result_of() -> dict[str, Any]:
    """Return the result of two events: charge 0.96 and 0.98, false pixels, lines at five angles, one warning."""
    plan = conditions.make_plan("m.ts", events=2, only="noise,lines,response")
    results = study.Results()
    for condition in plan.conditions:
        measured = []
        for event in range(2):
            counts = metrics.Counts(96.0 + 2 * event, 100.0, 100, 120, 96, 1000, 1000, 3)
            for variant in condition.variants:
                for view in range(3) if condition.sample.view < 0 else [condition.sample.view]:
                    if condition.sample.view < 0:
                        measured.append(measurement.Measured(variant, view, {"all": counts}, {}))
                    else:
                        names = [measurement.part_of_angle(angle) for angle in conditions.ANGLES]
                        measured.append(
                            measurement.Measured(
                                variant, view, dict.fromkeys(names, counts), dict.fromkeys(names, -0.2)
                            )
                        )
        warnings = (
            ["the shaping time differs: seen 2.4 us, expected 2.2 us"] if condition.name == "shaping" else []
        )
        results.add(condition, measured, dict.fromkeys(condition.variants, warnings))
    about = {"command": "./wcb physics --robustness", **study_facts.ABOUT}
    return command.result_of(plan, results, about)


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    return result_of()


def bar(result: dict[str, Any], group: str, what: str) -> dict[str, Any]:
    """Return the only bar with this condition and description."""
    (found,) = (one for one in result["bars"] if (one["group"], one["what"]) == (group, what))
    return found


def test_bars_on_known_figures(result: dict[str, Any]) -> None:
    expected = {
        ("noise x1.5", "U: charge bias, either sign"): (0.03, True, 0.0),
        ("noise x0.7", "V: purity"): (0.8, True, 0.0),
        ("noise x2, no charge", "U: false share"): (0.003, False, 0.003 - 1e-5),
        ("noise x1", "W: purity"): (0.8, False, 0.05),
        ("noise x1", "W: efficiency"): (0.96, False, 0.035),
        ("U lines, 85 degrees", "U: charge bias, either sign"): (0.03, True, 0.0),
        ("V lines, 89 degrees", "V: charge"): (0.97, True, 0.0),
        ("W lines, 89 degrees", "W: bias of inner channels"): (-0.2, False, 0.12),
        ("shaping 2.4 us, 2.2 us assumed", "the job warns"): (1.0, True, 0.0),
        ("V plane that collects, induction assumed", "the job warns"): (0.0, False, 1.0),
    }
    for (group, what), (measured, met, short_by) in expected.items():
        found = bar(result, group, what)
        assert found["measured"] == pytest.approx(measured) and found["met"] == met, (group, what)
        assert found["short_by"] == pytest.approx(short_by, abs=1e-9), (group, what)


def test_table_of_bars(result: dict[str, Any]) -> None:
    rows = {(row[0], row[1]): row[2:] for row in tables.bars_table(result).rows}
    bias = "-3.0 ± 1.0"
    assert rows["noise x1.5", "charge bias [%]"] == [bias, bias, "", "within 4.0 %", "met", ""]
    assert rows["noise x2, no charge", "false share"][-3:] == ["at most 1e-05", "short", "3.0e-03"]
    assert rows["noise x1", "purity [%]"] == ["", "", "80.0 ± 0.0", "at least 85.0 %", "short", "5.0 %"]
    assert rows["V plane that collects, induction assumed", "the job warns"][0] == "no"


def test_page_of_a_small_result(result: dict[str, Any], tmp_path: Path) -> None:
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    sections = pages.sections_of(result)
    assert [section.anchor for section in sections] == ["bars", "noise", "lines", "others", "warnings"]
    path = tmp_path / "robustness.md"
    path.write_text("# Old\n" + HAND_WRITTEN + "\n## Why\n", encoding="utf-8")
    text = page.to_markdown(result, sections, path, pages.WORDING)
    assert text.startswith("# Robustness: figures outside of nominal conditions\n")
    assert text.endswith(HAND_WRITTEN + "\n## Why\n") and "# Old" not in text
    assert "Written by `./wcb physics --robustness`" in text and "False share: " in text
    assert "| noise x1.5 | charge bias [%] | -3.0 ± 1.0 | -3.0 ± 1.0 |  | within 4.0 % | met |  |" in text
    assert "seen 2.4 us, expected 2.2 us" in text
    html = page.to_html(result, sections, pages.WORDING)
    assert html.count("data:image/svg+xml;base64,") == 1 and '<tr class="short">' in html


def robustness(*arguments: str | Path) -> subprocess.CompletedProcess:
    """Run the command with the present build."""
    return subprocess.run(
        [sys.executable, "-m", "scripts.physics", "--build", PROGRAM.parents[1], "--robustness", *arguments],
        cwd=ROOT,
        text=True,
        capture_output=True,
        timeout=300,
        check=False,
    )


class RejectingProgram:
    """A program whose job rejects its input."""

    def __init__(self, text: str) -> None:
        self.text = text

    def process(self, *_arguments: Any) -> None:
        """Fail as the job does."""
        raise JobFailed(self.text)


def test_a_job_may_reject_the_input_of_a_wrong_response(tmp_path: Path) -> None:
    plan = conditions.make_plan("m.ts", only="response,few")
    by_name = {condition.name: condition for condition in plan.conditions}
    text = "the polarity of the pulses differs\nseen: 0.85\nexpected: -0.02"
    arguments = (tmp_path / "adc.tar", tmp_path)
    done, warnings = study.process(RejectingProgram(text), plan, by_name["collecting"], *arguments)
    assert not done and measurement.is_misfit(warnings["model"])
    for name, words in (("few", text), ("collecting", "no space left on device")):
        with pytest.raises(JobFailed):
            study.process(RejectingProgram(words), plan, by_name[name], *arguments)


@needs_program
def test_one_condition_end_to_end(tmp_path: Path) -> None:
    done = robustness("--quick", "--only", "few", "--output", tmp_path, "--page", tmp_path / "robustness.md")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1, " in done.stdout and "5 muons (1 events)" in done.stdout and "bars are met" in done.stdout
    result = json.loads((tmp_path / "robustness.json").read_text(encoding="utf-8"))
    (condition,) = result["conditions"].values()
    for view in VIEWS:
        found = condition["figures"][result["main_variant"]][view]["all"]
        assert abs(found["charge"]["value"] - 1) < 0.1 and found["efficiency"]["value"] > 0.9
        assert found["false"]["value"] < 1e-3
    assert result["schema"] == "spng-robustness-1" and len(result["bars"]) == 4
    assert "| 5 muons | purity [%] |" in (tmp_path / "robustness.md").read_text(encoding="utf-8")
    assert (
        "<h1>SPNG: figures outside of nominal conditions</h1>" in (tmp_path / "robustness.html").read_text()
    )


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--only", "nosie"], "no condition nosie; known: noise"),
        (["--seeds", "3"], "--seeds has no meaning with --robustness"),
        (["--first-seed", "1"], "at least 900000"),
    ],
)
def test_a_usage_error_is_rejected(arguments: list[str], words: str, tmp_path: Path) -> None:
    done = robustness("--output", tmp_path, *arguments)
    assert done.returncode == 2 and words in done.stderr and not list(tmp_path.iterdir())
