# SPDX-License-Identifier: Apache-2.0
"""./wcb physics --quick: one run of all samples, its figures compared with the bars, and its pages.

One event of each kind has a statistical error of some per cent for a line; bounds of single lines leave room for it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripts.physics import bars, linescan, sections, sizes
from scripts.physics.wires import VIEWS
from tests.support.wire_cell import PROGRAM, ROOT, needs_program

MODEL = ROOT / "data" / "dnnroi.ts"
LINE_ERROR = 0.05  # of the bias of one line of an induction view, one standard deviation
LINES_TO_80 = linescan.ANGLES.index(80) + 1

pytestmark = needs_program


def physics(*arguments: str | Path) -> subprocess.CompletedProcess:
    """Run the command with the present build."""
    return subprocess.run(
        [sys.executable, "-m", "scripts.physics", "--build", PROGRAM.parents[1], *arguments],
        cwd=ROOT,
        text=True,
        capture_output=True,
        timeout=900,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Output of one run."""
    folder = tmp_path_factory.mktemp("physics")
    done = physics("--quick", "--output", folder, "--page", folder / "physics.md")
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / "log").write_text(done.stdout, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def result(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "physics.json").read_text(encoding="utf-8"))


def test_progress_is_told(folder: Path) -> None:
    log = (folder / "log").read_text(encoding="utf-8")
    assert " 5 of 5 events" in log and "bars are met" in log


def test_settings_seeds_and_machine_are_kept(result: dict[str, Any]) -> None:
    assert result["schema"] == "spng-physics-1" and result["command"].startswith("./wcb physics --build")
    assert result["program"]["commit"] and result["machine"]["cpu"] and result["precision"] == "exact float32"
    assert min(sample["seeds"][0] for sample in result["samples"]) >= sizes.FIRST_SEED


def test_model_is_measured_when_there_is_one(result: dict[str, Any]) -> None:
    expected = {"rule", "rule-alone", "simple"} | ({"model", "model-alone"} if MODEL.exists() else set())
    found = set(result["figures"]["muons-10"]) - {f"{result['main_variant']}-fast"}
    assert found == expected and result["main_variant"] == ("model" if MODEL.exists() else "rule")
    assert set(result["lines"]) == (expected | {"perfect"}) - {"rule-alone", "simple", "model-alone"}


def test_charge_of_cosmic_like_events(result: dict[str, Any]) -> None:
    for name in {"rule", result["main_variant"]}:
        for view, row in result["figures"]["muons-10"][name].items():
            assert abs(row["charge"]["value"] - 1) < bars.CHARGE, (name, view)


def test_regions_of_cosmic_like_events(result: dict[str, Any]) -> None:
    for name in {"rule", result["main_variant"]}:
        for view, row in result["figures"]["muons-10"][name].items():
            assert row["efficiency"]["value"] > bars.EFFICIENCY, (name, view)
            assert row["purity"]["value"] > 0.65, (name, view)


def test_coincidence_takes_noise_away(result: dict[str, Any]) -> None:
    noise = result["figures"]["noise"]
    for view in ("U", "V"):
        kept = {name: views[view]["kept"]["value"] for name, views in noise.items()}
        assert kept["rule"] < 1e-4 < kept["rule-alone"] < kept["simple"], view
        assert kept[result["main_variant"]] < 1e-3, view
    assert noise["rule"]["W"]["kept"]["value"] < 1e-5


@pytest.mark.parametrize("view", VIEWS)
def test_line_scan(result: dict[str, Any], view: str) -> None:
    """The mean over the angles up to 80 degrees has a smaller error than a line; OSP has a large bias on U and V."""
    for name, views in result["lines"].items():
        bias = np.array([row["bias"]["value"] for row in views[view]])
        assert abs(bias[:LINES_TO_80].mean()) < bars.LINE_BIAS[view], name
        assert np.abs(bias[:LINES_TO_80]).max() < bars.LINE_BIAS[view] + (
            3 * LINE_ERROR if view != "W" else 0.0
        ), name
        assert all(row["efficiency"]["value"] > 0.9 for row in views[view][:LINES_TO_80]), name
    theirs = [row["bias"]["value"] for row in result["traditional"]["lines"][view][:LINES_TO_80]]
    assert (np.abs(theirs).max() > 0.2) == (view != "W")


def test_precision_fast_changes_little(result: dict[str, Any]) -> None:
    main, views = result["main_variant"], result["figures"]["muons-10"]
    for view in VIEWS:
        for quantity in ("charge", "efficiency", "purity"):
            exact, fast = (views[name][view][quantity]["value"] for name in (main, f"{main}-fast"))
            assert fast == pytest.approx(exact, abs=0.01), (view, quantity)


def test_dead_channels_leave_the_others_alone(result: dict[str, Any]) -> None:
    for name in {"rule", result["main_variant"]}:
        views = result["figures"]["dead"]
        for view in VIEWS:
            for quantity in ("charge", "efficiency"):
                alive, dead = (views[variant][view][quantity]["value"] for variant in (name, f"{name}-dead"))
                assert dead == pytest.approx(alive, abs=0.06), (name, view, quantity)
            assert (
                views[f"{name}-dead-is-hit"][view]["efficiency"]["value"]
                > views[f"{name}-dead"][view]["efficiency"]["value"] - 0.01
            )


def test_threshold_curves(result: dict[str, Any]) -> None:
    """A higher threshold never finds more; the rule's points are those of its seeds, which are 4 in the rule itself."""
    rule = result["figures"]["roc"]
    low, high = sizes.QUICK.seed_factors
    assert low < sections.RULE_SEED_FACTOR < high
    for view in ("U", "V"):
        found = [
            rule[name][view]["efficiency"]["value"]
            for name in (f"rule-seed-{low:g}", "rule", f"rule-seed-{high:g}")
        ]
        assert found == sorted(found, reverse=True) and found[0] > found[1] > found[-1]
    for variants in result["roc"].values():
        for views in variants.values():
            for curve in views.values():
                assert curve["efficiency"] == sorted(curve["efficiency"], reverse=True)
                assert curve["efficiency"][curve["threshold"].index(0.5)] > 0.5


def test_bars_are_complete_and_consistent(result: dict[str, Any]) -> None:
    groups = {bar["group"] for bar in result["bars"]}
    assert groups == {"charge", "regions", "line scan"} | ({"speed"} if MODEL.exists() else set())
    for bar in result["bars"]:
        excess = bar["measured"] - bar["bar"] if bar["at_most"] else bar["bar"] - bar["measured"]
        assert bar["met"] == (excess <= 0) and bar["short_by"] == pytest.approx(max(excess, 0))


def test_pages_are_complete(folder: Path) -> None:
    text = (folder / "physics.html").read_text(encoding="utf-8")
    for anchor in (
        "bars",
        "activity",
        "lines",
        "coincidence",
        "noise",
        "roc",
        "fast",
        "dead",
        "default-event",
        "definitions",
    ):
        assert f'id="{anchor}"' in text, anchor
    assert "Not run." not in text and text.count("data:image/svg+xml") == 4
    assert "### Line scan, view W" in (folder / "physics.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--first-seed", "899999"], "at least 900000"),
        (["--only", "mouns"], "no sample mouns"),
        (["--seeds", "0"], "at least 1"),
        (["--model", "absent.ts"], "--model: no file absent.ts"),
    ],
)
def test_a_usage_error_is_rejected(arguments: list[str], words: str, tmp_path: Path) -> None:
    done = physics("--output", tmp_path, *arguments)
    assert done.returncode in (1, 2) and not list(tmp_path.iterdir())
    assert re.search(words, done.stderr), done.stderr
