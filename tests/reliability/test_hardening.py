# SPDX-License-Identifier: Apache-2.0
"""The result of ./wcb harden: sanitizers and fuzzing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scripts.harden.command import RESULT
from tests.support import figures

pytestmark = pytest.mark.reliability

INPUTS = 100_000  # least count of fuzzed inputs


@pytest.fixture(name="result")
def fixture_result() -> dict[str, Any]:
    """The result."""
    if not RESULT.exists():
        pytest.skip("run ./wcb harden")
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    figures.note("commit", result["commit"])
    figures.note("date", result["date"][:10])
    return dict(result)


@pytest.mark.parametrize("mode", ["asan", "tsan"])
def test_sanitizers(result: dict[str, Any], mode: str) -> None:
    if mode not in result:
        pytest.skip(f"run ./wcb harden --only {mode}")
    part = result[mode]
    for name in ("tests", "skipped", "reports"):
        figures.note(f"{mode}: {name}", part[name])
    figures.note(f"{mode}: jobs", len(part["jobs"]))
    assert part["reports"] == 0 and not part["failed"]
    assert part["clean"] and part["jobs"] and not any(part["jobs"].values())


def test_fuzzing(result: dict[str, Any]) -> None:
    if not result.get("fuzz"):
        pytest.skip("run ./wcb harden --only fuzz")
    inputs, failures = (
        sum(int(target[name]) for target in result["fuzz"]) for name in ("inputs", "failures")
    )
    figures.note("inputs", inputs)
    figures.note("failures", failures)
    assert failures == 0 and inputs >= INPUTS
