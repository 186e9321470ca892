# SPDX-License-Identifier: Apache-2.0
"""wirecell-profile html on a profile with more events than a page draws one by one."""

from __future__ import annotations

import html
from pathlib import Path

import numpy as np
import pytest
from big_profile import CALLS, KERNELS, RANGES, write_profile
from chromium import driven, dump, marks, needs_chromium
from test_html import Page, make_page, tables
from wirecell_profile.html import page as page_module
from wirecell_profile.html.timeline import make_timeline
from wirecell_profile.model.profile import Profile
from wirecell_profile.model.selection import Scope

STEPS, MAX_BARS = 2_000, 30_000
EVENTS = STEPS * (RANGES + CALLS + KERNELS)


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a profile of 100 000 ranges, 56 000 calls and 30 000 kernels."""
    path = tmp_path_factory.mktemp("big") / "big.sqlite"
    write_profile(path, STEPS * RANGES)
    return path


@pytest.fixture(scope="module")
def merged(big: Path) -> Page:
    """Make its page with at most about MAX_BARS bars."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_module, "make_timeline", lambda scope: make_timeline(scope, MAX_BARS))
        return make_page(big)


def test_a_page_has_a_bounded_count_of_bars_and_bytes(merged: Page) -> None:
    assert EVENTS == 186_000
    assert MAX_BARS // 3 < merged.about["events"] <= MAX_BARS
    assert merged.path.stat().st_size < 900_000  # the page without data has 100 kB


def test_every_event_is_in_one_bar(big: Path, merged: Page) -> None:
    """Counts and times of the bars add up to those of the events; the page states how many are merged."""
    with Profile.open(big) as profile:
        timeline = make_timeline(Scope(profile), MAX_BARS)
        whole = make_timeline(Scope(profile))
    assert whole.merging is None and whole.bars == EVENTS
    assert sum(int(row.count.sum()) for row in timeline.rows) == EVENTS
    for row, each in zip(timeline.rows, whole.rows):
        assert (row.group, row.title) == (each.group, each.title)
        assert int(row.busy.sum()) == int(each.duration.sum())
        long = each.duration[each.duration > timeline.merging.longest]
        assert np.array_equal(np.sort(long), np.sort(row.duration[(row.count == 1)])[-len(long) :])
        for track in np.unique(row.track):  # bars of a track do not overlap
            mine = row.track == track
            assert (row.start[mine][1:] >= (row.start + row.duration)[mine][:-1]).all()
    assert f"{timeline.merged:,} events of at most" in merged.text
    assert timeline.merged > EVENTS // 2


def test_the_command_for_a_part_quotes_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "my run.sqlite"
    write_profile(path, 20 * RANGES)
    monkeypatch.setattr(page_module, "make_timeline", lambda scope: make_timeline(scope, 300))
    assert "wirecell-profile html 'my run.sqlite' --time A-B" in html.unescape(make_page(path).text)


def test_tables_count_all_events(merged: Page) -> None:
    rows = {row[0]: row for row in tables(merged.text)["ranges"]}
    assert sum(row[2] for row in rows.values()) == STEPS * RANGES
    assert rows["launch"][2] == STEPS * 9
    assert sum(row[1] for row in tables(merged.text)["kernels"]) == STEPS * KERNELS
    assert {row[0]: row[1] for row in tables(merged.text)["api"]} == {
        "cudaLaunchKernel": STEPS * KERNELS,
        "cudaEventRecord": STEPS * (CALLS - KERNELS),
    }


def test_a_part_of_the_profile_shows_all_its_events(big: Path) -> None:
    part = make_page(big, "--time", "0-20ms")
    assert part.about["merged"] == 0 and 'id="merged"' not in part.text
    assert part.about["events"] == 4 * 100 * (RANGES + CALLS + KERNELS)  # 4 threads, 100 steps of 0.2 ms


@needs_chromium
def test_merged_bars_in_a_browser(merged: Page, tmp_path: Path) -> None:
    """A merged bar states its count, and is not found by name."""
    script = """
    window.addEventListener("load", () => setTimeout(() => {
      const t = window.timeline, d = t.data, i = d.count.findIndex((count) => count > 1);
      const row = d.rows.find((other) => other.tracks.some(([first, n]) => i >= first && i < first + n));
      const total = d.count.reduce((sum, count) => sum + count, 0);
      document.body.dataset.total = total;
      document.body.dataset.text = t.describe({event: i, row})[0][0];
      document.body.dataset.found = t.find("launch").filter((k) => d.count[k] > 1).length;
    }, 500));
    """
    copy = tmp_path / "driven.html"
    copy.write_text(driven(merged.text, script), encoding="utf-8")
    document, messages = dump(copy, tmp_path)
    said = marks(document)
    assert messages == [] and int(said["total"]) == EVENTS and int(said["inked"]) > 10_000
    assert "merged, of at most" in said["text"] and said["found"] == "0"
