# SPDX-License-Identifier: Apache-2.0
"""Ranges of Python scripts reach an NVTX tool with the package nvtx, and do nothing without it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from wirecell_profile import annotate

ROOT = Path(__file__).resolve().parents[2]
LISTENER = ROOT / "tests/instrument/nvtx_listener.cxx"
STEP = "category=step colour=FFC7C7C7"


def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script with this package in a separate process."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if key not in {"NVTX_INJECTION64_PATH", "SPNG_NVTX_LEVEL"}
    }
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=False,
        env={**kept, "PYTHONPATH": str(ROOT / "profiling"), **environment},
    )


@pytest.fixture(scope="module")
def listener(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the NVTX tool of the C++ tests, which writes one line for each call."""
    if not annotate.is_available():
        pytest.skip("the package nvtx is not installed")
    headers = list(Path(sys.prefix).glob("lib/python*/site-packages/nvidia/*/include/nvtx3"))
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if not headers or compiler is None or not LISTENER.exists():
        pytest.skip("no compiler, no NVTX headers or no checkout")
    library = tmp_path_factory.mktemp("listener") / "listener.so"
    subprocess.run(
        [
            compiler,
            "-std=c++20",
            "-shared",
            "-fPIC",
            "-isystem",
            str(headers[0].parent),
            str(LISTENER),
            "-o",
            str(library),
        ],
        check=True,
    )
    return library


def heard(listener: Path, script: str, **environment: str) -> list[str]:
    """Return the calls that reach the tool, without registrations."""
    outcome = run(script, NVTX_INJECTION64_PATH=str(listener), **environment)
    assert outcome.returncode == 0, outcome.stderr
    return [line for line in outcome.stdout.splitlines() if not line.startswith("register ")]


def test_ranges_have_domain_category_colour_payload_and_nesting(listener: Path) -> None:
    script = """
        from wirecell_profile.annotate import Range, function_range, mark

        class Trainer:
            @function_range
            def step(self):
                mark("half way", "dnn", payload=7)

        @Range("train", kind="dnn", payload=2.5)
        def train():
            Trainer().step()

        with Range("read", "io", domain="spng.io"):
            pass
        train()
        train()
        try:
            with Range("fails", color="yellow"), Range("inner", colour=0xFF010203):
                raise ValueError
        except ValueError:
            pass
        mark("outside")
    """
    train = [
        "push 0 [spng] train category=dnn colour=FF8E44AD payload=f64:2.5",
        f"push 1 [spng] Trainer.step {STEP} payload=none",
        "mark 2 [spng] half way category=dnn colour=FF8E44AD payload=i64:7",
        "pop 1",
        "pop 0",
    ]
    assert heard(listener, script) == [
        "push 0 [spng.io] read category=io colour=FF6E4B2A payload=none",
        "pop 0",
        *train,
        *train,
        "push 0 [spng] fails category=step colour=FFFFFF00 payload=none",
        "push 1 [spng] inner category=step colour=FF010203 payload=none",
        "pop 1",
        "pop 0",
        f"mark 0 [spng] outside {STEP} payload=none",
    ]


def test_asynchronous_ranges_overlap_and_end_on_other_threads(listener: Path) -> None:
    script = """
        import threading
        from wirecell_profile.annotate import end, start

        first, second = start("first", payload=3), start("second")
        thread = threading.Thread(target=end, args=(first,))
        thread.start()
        thread.join()
        end(first)
        end(second)
    """
    assert heard(listener, script) == [
        f"start 1 [spng] first {STEP} payload=i64:3",
        f"start 2 [spng] second {STEP} payload=none",
        "end 1 [spng]",
        "end 2 [spng]",
    ]


@pytest.mark.parametrize(
    "level, names",
    [("0", ""), ("1", "node"), ("2", "node step"), ("3", "node step feed"), ("9", "node step")],
)
def test_levels(listener: Path, level: str, names: str) -> None:
    script = """
        from wirecell_profile.annotate import Level, Range, mark, start, end
        for name, level in (("node", Level.NODES), ("step", Level.STEPS), ("feed", Level.SCHEDULING)):
            with Range(name, level=level):
                mark(name, level=level)
                end(start(name, level=level))
    """
    pushed = [
        line.split()[3] for line in heard(listener, script, SPNG_NVTX_LEVEL=level) if line.startswith("push")
    ]
    assert " ".join(pushed) == names


def test_a_range_ends_whatever_the_level_has_become(listener: Path) -> None:
    script = """
        from wirecell_profile.annotate import Level, Range, set_level
        with Range("outer"):
            set_level(Level.OFF)
            with Range("silent"):
                set_level(Level.STEPS)
            set_level(Level.OFF)
    """
    assert heard(listener, script) == [f"push 0 [spng] outer {STEP} payload=none", "pop 0"]


def test_without_the_package_everything_does_nothing() -> None:
    outcome = run("""
        import sys
        sys.modules["nvtx"] = None  # importing it now fails
        from wirecell_profile import annotate
        from wirecell_profile.annotate import Range, end, function_range, mark, start

        @Range("twice")
        def twice(value):
            return 2 * value

        @function_range
        def thrice(value):
            return 3 * value

        assert not annotate.is_available()
        with Range("block", payload=1):
            mark("point")
            end(start("asynchronous"))
        print(twice(4), thrice(5), twice.__name__)
    """)
    assert (outcome.returncode, outcome.stdout) == (0, "8 15 twice\n"), outcome.stderr
