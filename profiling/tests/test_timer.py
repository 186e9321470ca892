# SPDX-License-Identifier: Apache-2.0
"""Timers and timing of activities in scripts. Times are only compared with each other; counts are exact."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from wirecell_profile.timer import ScopedTimer, TimerResult, TimingEvent
from wirecell_profile.timing import Timing, TimingResult, activity, timing_begin, timing_end, timing_print


class Printed:
    """Collect text, with every time replaced by "T ms"."""

    def __init__(self) -> None:
        self.text = ""

    def __call__(self, text: str) -> None:
        self.text += text

    def __str__(self) -> str:
        return re.sub(r"[0-9]+\.[0-9]+ ms", "T ms", self.text)


def test_a_timer_prints_the_time_of_its_block() -> None:
    printed = Printed()
    before = time.perf_counter()
    with ScopedTimer("Demo", write=printed) as timer:
        time.sleep(0.012)
    around = 1e3 * (time.perf_counter() - before)
    assert 12 <= timer.elapsed <= around
    assert printed.text == f"Demo took {timer.elapsed:.2f} ms\n"


def test_standard_output_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    with ScopedTimer("Demo", filter=Timing.ALL), activity("by hand", Timing.KERNEL):
        pass
    shown = capsys.readouterr().out
    assert "| by hand\n" in shown
    assert re.search(r"^Demo took \d+\.\d\d ms\n\Z", shown, re.MULTILINE)


def test_the_time_of_a_filtered_timer_contains_no_import() -> None:
    """The first timer of a process, at the first operator of torch."""
    code = """
import sys
import torch
from wirecell_profile.timer import ScopedTimer
from wirecell_profile.timing import Timing

left = torch.ones(2, 2)
with ScopedTimer("Demo", filter=Timing.ALL, print=False) as timer:
    before = set(sys.modules)
    left @ left
    imported = set(sys.modules) - before
print(len(imported), [activity.name for activity in timer.result.activities])
"""
    pytest.importorskip("torch")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0 ['aten::mm']\n"


def test_timers_nest_with_indent() -> None:
    printed, results = Printed(), []
    with ScopedTimer("outer", write=printed, collect=results.append):
        with (
            ScopedTimer("middle", write=printed, collect=results.append),
            ScopedTimer("none", active=False),
            ScopedTimer("inner", write=printed, collect=results.append),
        ):
            pass
        with ScopedTimer("second", write=printed, collect=results.append):
            pass
    assert (
        str(printed)
        == "        inner took T ms\n    middle took T ms\n    second took T ms\nouter took T ms\n"
    )
    inner, middle, second, outer = results
    assert [result.depth for result in results] == [2, 1, 1, 0]
    assert inner.elapsed <= middle.elapsed
    assert middle.elapsed + second.elapsed <= outer.elapsed


def test_a_decorated_function_is_timed_at_each_call() -> None:
    results: list[TimerResult] = []

    @ScopedTimer("double", print=False, collect=results.append)
    def double(value: int) -> int:
        return 2 * double(value - 1) if value else 1

    assert double(3) == 8
    assert double.__name__ == "double"
    assert sorted(result.depth for result in results) == [0, 1, 2, 3]


def test_an_error_leaves_the_timers_in_order() -> None:
    printed = Printed()
    with pytest.raises(ValueError), ScopedTimer("fails", write=printed, filter=Timing.ALL):
        raise ValueError
    with ScopedTimer("next", write=printed):
        pass
    assert str(printed) == "No activity.\nfails took T ms\nnext took T ms\n"
    with pytest.raises(RuntimeError):
        timing_end()


def test_inactive_does_nothing() -> None:
    printed = Printed()
    with ScopedTimer("Demo", active=False, filter=Timing.ALL, write=printed, collect=printed) as timer:
        pass
    assert timer.elapsed == 0 and printed.text == ""


def test_activities_by_hand_nest_and_filter() -> None:
    timing_begin(Timing.KERNEL)
    with activity("first", Timing.KERNEL):
        time.sleep(0.002)
    timing_begin()
    with activity("second", Timing.KERNEL), activity("graph", Timing.GRAPH):
        pass
    inner = timing_end()
    outer = timing_end()
    assert [result.name for result in inner] == ["second", "graph"]
    assert [result.name for result in outer] == ["first", "second"]
    assert outer[0].elapsed >= 2
    assert outer[1].begin >= outer[0].begin + outer[0].elapsed - 1e-6


def test_other_threads_are_left_out() -> None:
    timing_begin()

    def other() -> None:
        with activity("unseen", Timing.KERNEL):
            pass

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert timing_end() == []


def test_a_report_replaces_the_tables() -> None:
    printed = Printed()
    seen: list[TimingResult] = []
    with (
        ScopedTimer("outer", write=printed),
        ScopedTimer(
            "Demo",
            filter=Timing.ALL,
            write=printed,
            report=lambda results, indent: (seen.extend(results), printed(f"{indent}mine\n")),
        ),
        activity("by hand", Timing.MEMSET),
    ):
        pass
    assert [result.name for result in seen] == ["by hand"]
    assert str(printed) == "    mine\n    Demo took T ms\nouter took T ms\n"


def test_tables_are_those_of_the_library() -> None:
    printed = Printed()
    timing_print(
        [
            TimingResult("memset", "cuda:0", Timing.MEMSET, 0, 0.021504),
            TimingResult("aten::mm", "cuda:0", Timing.KERNEL_LIBRARY, 1, 0.16384),
            TimingResult("aten::mm", "cuda:1", Timing.KERNEL_LIBRARY, 2, 2),
        ],
        "  ",
        printed,
    )
    root = Path(__file__).resolve().parents[2]
    source = (root / "tests/instrument/activity_timing_test.cxx").read_text(encoding="utf-8")
    start = source.index('EXPECT_EQ(text, "  Timeline')
    expected = "".join(re.findall(r'"(.*?)"', source[start : source.index(";\n", start)])).replace(
        "\\n", "\n"
    )
    assert printed.text == expected


def test_operators_of_torch() -> None:
    torch = pytest.importorskip("torch")
    ones, target = torch.ones(6), torch.empty(6)
    timing_begin()
    torch.mm(ones.view(2, 3), ones.view(3, 2))
    target.copy_(ones)
    target.zero_()
    torch.zeros(3)
    results = timing_end()
    assert [(result.name, result.kind) for result in results] == [
        ("aten::mm", Timing.KERNEL_LIBRARY),
        ("memcpy HtoH", Timing.MEMCPY),
        ("memset", Timing.MEMSET),
        ("memset", Timing.MEMSET),
    ]
    assert {result.device for result in results} == {"cpu"}
    assert all(result.elapsed > 0 for result in results)
    assert [result.begin for result in results] == sorted(result.begin for result in results)
    target.zero_()  # nothing listens any more


def test_without_torch() -> None:
    outcome = subprocess.run(
        [
            sys.executable,
            "-c",
            """
import sys
sys.modules["torch"] = None
from wirecell_profile.timer import ScopedTimer
from wirecell_profile.timing import Timing
with ScopedTimer("Demo", filter=Timing.ALL, synchronize=True, use_nvtx=True, color="yellow"):
    pass
""",
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).resolve().parents[1],
    )
    assert outcome.returncode == 0, outcome.stderr
    assert re.fullmatch(r"No activity\.\nDemo took \d+\.\d\d ms\n", outcome.stdout)


def test_events_of_the_host() -> None:
    begin, end = TimingEvent(), TimingEvent()
    assert begin.milliseconds_until(end) is None
    begin.record()
    time.sleep(0.003)
    end.record()
    elapsed = begin.milliseconds_until(end, wait=False)
    assert elapsed is not None and elapsed >= 3
    with pytest.raises(ValueError, match="different devices"):
        begin.milliseconds_until(TimingEvent("cuda:0"))


def test_a_cuda_device() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    matrix = torch.ones(2048, 2048, device="cuda:0")
    torch.mm(matrix, matrix)
    begin, end = TimingEvent("cuda:0"), TimingEvent("cuda:0")
    with ScopedTimer("cuda", print=False, synchronize=True, filter=Timing.ALL) as timer:
        begin.record()
        for _ in range(3):
            torch.mm(matrix, matrix)
        end.record()
    activities = timer.result.activities
    assert [(one.name, one.device) for one in activities] == [("aten::mm", "cuda:0")] * 3
    elapsed = begin.milliseconds_until(end)
    assert (
        elapsed is not None
        and 0 < sum(one.elapsed for one in activities) <= 1.05 * elapsed <= 1.05 * timer.elapsed
    )
