# SPDX-License-Identifier: Apache-2.0
"""The launcher finds its library in ../lib in every build mode.

Sanitizers put their own dlopen in front of the system's. It looks in the folders of the sanitizer's library, so that the
launcher of an asan or tsan build did not start.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts.wcb.checkout import ROOT

sys.path.insert(0, str(ROOT / "waf"))
import spng_compiler  # noqa: E402  (a tool of waf, which finds it by this folder too)

LIBRARY = 'extern "C" int spng_run_program(int, const char* const*) { return 42; }\n'


class Environment(SimpleNamespace):
    """Settings of configure for a build mode."""

    def __init__(self, mode: str) -> None:
        super().__init__(CXX_NAME="gcc", CC_VERSION=("12",), CXXFLAGS=[], LINKFLAGS=[], DEFINES=[])
        spng_compiler.configure(SimpleNamespace(env=self, options=SimpleNamespace(build_mode=mode)))


@pytest.mark.parametrize("mode", spng_compiler.FLAGS)
def test_the_launcher_starts(tmp_path: Path, mode: str) -> None:
    """Build main.cxx with the flags of the mode, and a library that answers."""
    env = Environment(mode)
    source = tmp_path / "library.cxx"
    source.write_text(LIBRARY, encoding="utf-8")
    for folder in ("bin", "lib"):
        (tmp_path / folder).mkdir()
    compiler = os.environ.get("CXX", "g++")
    for command in (
        [*env.CXXFLAGS, *env.LINKFLAGS, "-fPIC", "-shared", str(source), "-o", str(tmp_path / "lib" / "libWireCellSpng.so")],
        [*env.CXXFLAGS, str(ROOT / "spng" / "app" / "main.cxx"), *env.LINKFLAGS, "-Wl,--as-needed", *env.LINKFLAGS_LAUNCHER,
         "-Wl,-rpath,$ORIGIN/../lib", "-ldl", "-o", str(tmp_path / "bin" / "wire-cell")],
    ):  # fmt: skip
        made = subprocess.run([compiler, *command], capture_output=True, text=True, check=False)
        if "cannot find" in made.stderr and mode in ("asan", "tsan"):
            pytest.skip(f"{compiler} has no {mode} library")
        assert made.returncode == 0, made.stderr
    done = subprocess.run(
        [tmp_path / "bin" / "wire-cell"], cwd="/", capture_output=True, text=True, check=False
    )
    assert done.returncode == 42, done.stderr
