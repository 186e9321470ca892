# SPDX-License-Identifier: Apache-2.0
"""Bars, tables and the page, from hand-made measurements."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from profiling.tests.chromium import dump, needs_chromium, screenshot
from profiling.tests.page_policy import assert_policy
from scripts.output import HAND_WRITTEN, Table
from scripts.physics import (
    bars,
    compare,
    linescan,
    page,
    roc,
    settings,
    sizes,
    study,
    summary,
    tables,
)
from scripts.physics.sections import Section, sections_of
from spng import metrics
from tests.support import study_facts
from tests.support.wire_cell import DATA

CHARGE = {0: 0.97, 1: 0.92, 2: 1.01}  # of every view
BIAS_AT_80, BIAS_AT_84 = 0.10, -0.30
OSP = compare.osp_figures(DATA)


def measured(sample: settings.Sample, variant: settings.Variant, view: int, seed: int) -> study.Measured:
    """Return counts with 1000 true pixels, 960 of them among 1280 pixels in ROIs."""
    truth = 0.0 if sample.kind == "noise" else 1e6
    counts = metrics.Counts(
        CHARGE[view] * truth, truth, 1000 if truth else 0, 1280, 960 if truth else 0, 100_000
    )
    lines = ()
    if sample.kind == "lines":
        biases = {80: BIAS_AT_80, 84: BIAS_AT_84}
        lines = tuple(
            linescan.LineFigures(biases.get(angle, 0.01) + 0.002 * (seed % 2), 0.1, 1.0, 0.7)
            for angle in linescan.ANGLES
        )
    curve = roc.count(
        np.linspace(0, 1, 64, dtype=np.float32).reshape(4, 16), np.arange(64).reshape(4, 16) > 40
    )
    return study.Measured(
        sample.name,
        variant.name,
        view,
        seed,
        counts,
        np.array([0.9, 1.0, 1.1]),
        -0.4,
        20,
        10,
        lines,
        curve if variant.probability and view < 2 else None,
    )


def result_of(model: str | None, only: str = "") -> dict[str, Any]:
    """Return two events of each sample."""
    plan = settings.plan(sizes.QUICK, 900_000, model)
    plan = dataclasses.replace(
        plan, samples=[sample for sample in plan.samples if sample.name.startswith(only)]
    )
    found = study.Results(
        [
            measured(sample, variant, view, seed)
            for sample in plan.samples
            for variant in (*sample.variants, settings.PERFECT)
            for view in ([sample.view] if sample.kind == "lines" else range(3))
            for seed in (0, 1)
        ]
    )
    about = {"command": "./wcb physics", **study_facts.ABOUT}
    result = summary.result_of(plan, found, about)
    if not only:
        result["default_event"] = {
            "rule": OSP["default_event"],
            plan.main: OSP["default_event"],
        }
    result["bars"] = bars.bars_of(result, 3.0 if model else None)
    return result


@pytest.fixture(scope="module")
def with_model() -> dict[str, Any]:
    return result_of("dnnroi.ts")


@pytest.fixture(scope="module")
def sections(with_model: dict[str, Any]) -> list[Section]:
    """Return all sections, with their pictures."""
    return sections_of(with_model, OSP)


def bar(result: dict[str, Any], *words: str) -> dict[str, Any]:
    """Return the only bar whose text has all these words."""
    (found,) = (one for one in result["bars"] if all(word in one["what"] for word in words))
    return found


def test_bars_say_by_how_much_they_are_missed(with_model: dict[str, Any]) -> None:
    expected = {
        ("10 muons, U", "charge"): (True, 0.0),
        ("10 muons, V", "charge"): (False, 0.03),
        ("10 muons, W", "charge"): (True, 0.0),
        ("10 muons, U", "efficiency"): (True, 0.0),
        ("10 muons, V", "purity"): (False, 0.05),
        ("default event", "V"): (False, 0.1765 - 0.05),
        ("U, 0 to 80", "largest bias, either sign (at 80"): (False, 0.021),
        ("W, 0 to 80", "largest bias"): (False, 0.051),
        ("V, 84", "bias"): (False, 0.049),
        ("W, 0 to 80", "statistical error"): (True, 0.0),
        ("one anode",): (False, 0.5),
    }
    for words, (met, short_by) in expected.items():
        found = bar(with_model, *words)
        assert found["met"] == met and found["short_by"] == pytest.approx(short_by, abs=1e-4), words


def test_statistical_errors(with_model: dict[str, Any]) -> None:
    """Return two events with biases 0.002 apart."""
    row = with_model["lines"]["model"]["U"][0]
    assert row["bias"] == {"value": pytest.approx(0.011), "error": pytest.approx(0.001)}
    assert row["theta_xz_deg"] == 0


def test_every_section_is_there(with_model: dict[str, Any], sections: list[Section]) -> None:
    assert [section.anchor for section in sections] == [
        "bars",
        "activity",
        "lines",
        "coincidence",
        "noise",
        "roc",
        "fast",
        "dead",
        "default-event",
    ]
    assert not [section.title for section in sections if "Not run." in section.text]
    assert sum(len(section.pictures) for section in sections) == 4
    text = page.to_html(with_model, sections)
    assert not re.findall(r"(?:src|href)=['\"](?!data:|#)", text), "something from outside"
    assert_policy(text)
    assert text.count("data:image/svg+xml;base64,") == 4
    for words in ("0123abcd", "a processor", "seeds 900000", "OSP", "short by", "dead_is_hit=true"):
        assert words in text


@needs_chromium
def test_in_a_browser(with_model: dict[str, Any], sections: list[Section], tmp_path: Path) -> None:
    """The browser shows the page with its pictures, and blocks none of it."""
    path = tmp_path / "page.html"
    picture = [Section("t", "T", [], pictures=section.pictures) for section in sections if section.pictures]
    path.write_text(page.to_html(with_model, picture), encoding="utf-8")
    assert dump(path, tmp_path)[1] == []
    assert len(np.unique(screenshot(path, tmp_path).reshape(-1, 3), axis=0)) > 100  # colours


def test_without_a_model_the_page_says_so() -> None:
    result = result_of(None)
    text = page.to_html(result, sections_of(result, OSP))
    assert "no trained network" in text and result["main_variant"] == "rule" and result["roc"] == {}
    assert not [one for one in result["bars"] if "model" in one["what"]]


def test_what_was_not_run_says_so() -> None:
    result = result_of(None, "lines")
    silent = [section.anchor for section in sections_of(result, OSP) if "Not run." in section.text]
    assert silent == ["activity", "coincidence", "noise", "roc", "fast", "dead", "default-event"]


def test_the_result_is_json_without_nan(with_model: dict[str, Any]) -> None:
    again = json.loads(json.dumps(with_model, allow_nan=False))
    assert again["figures"]["noise"]["rule"]["U"]["charge"] == {"value": None, "error": None}
    curve = again["roc"]["muons-10"]["model"]["U"]
    assert len(curve["threshold"]) == len(curve["efficiency"]) == len(curve["purity"]) == len(roc.THRESHOLDS)


def test_markdown_keeps_what_people_wrote(
    with_model: dict[str, Any], sections: list[Section], tmp_path
) -> None:
    path = tmp_path / "physics.md"
    path.write_text("# Old\n\nold tables\n" + HAND_WRITTEN + "\n## Why\n\nBecause.\n", encoding="utf-8")
    text = page.to_markdown(with_model, sections, path)
    assert text.endswith(HAND_WRITTEN + "\n## Why\n\nBecause.\n") and "old tables" not in text
    assert "## Line scan" in text
    rows = [line for line in text.splitlines() if line.startswith("| charge |")]
    assert rows and {line.count("|") for line in rows} == {7}, "a word with a bar breaks the table"


def test_table_in_three_forms() -> None:
    table = Table(
        "T", ["what", "value", "", "short by"], [["<a>", "1", "short", "2"], ["b", "10", "met", ""]]
    )
    assert table.text().splitlines() == [
        "what  value         short by",
        "<a>       1  short         2",
        "b        10    met",
    ]
    assert table.markdown().splitlines()[1:3] == ["| --- | ---: | ---: | ---: |", "| <a> | 1 | short | 2 |"]
    text = page.to_html(result_of(None, "noise"), [Section("t", "T", [], tables=[table])])
    assert "&lt;a&gt;" in text and '<tr class="short">' in text and '<tr class="met">' in text


@pytest.mark.parametrize(
    "value, error, text", [(0.123, 0.004, "+12.3 ± 0.4"), (-0.5, None, "-50.0"), (None, None, "")]
)
def test_per_cent(value: float | None, error: float | None, text: str) -> None:
    assert tables.percent({"value": value, "error": error}, 0.0, True) == text


def test_seeds_are_those_of_physics() -> None:
    """Training uses lower seeds; no two samples share a seed."""
    plan = settings.plan(sizes.FULL, sizes.FIRST_SEED, "m.ts")
    seeds = [sample.seed + event for sample in plan.samples for event in range(sample.events)]
    assert min(seeds) >= 900_000 and len(seeds) == len(set(seeds))
    assert sum(batch.count for batch in study.batches(plan)) == len(seeds)


def test_samples_of_the_same_muons_share_a_run_of_the_simulation() -> None:
    """The quick study simulates the muons of three samples once and runs each variant of all samples once."""
    todo = study.batches(settings.plan(sizes.QUICK, 900_000, "m.ts"))
    (batch,) = (batch for batch in todo if batch.samples[1:])
    assert [sample.name for sample in batch.samples] == ["muons-10", "dead", "roc"]
    joined = study.joined_variants(todo)
    names = [variant.name for variant in joined]
    assert len(names) == len(set(names)) and set(names) == {name for each in todo for name in each.variants()}
    assert {variant.name for variant in joined if variant.perfect} == {"rule"}
