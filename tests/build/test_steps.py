# SPDX-License-Identifier: Apache-2.0
"""Steps of ./wcb before its commands: the download, the build of what is needed, and their messages."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

import spng
from bench import programs
from scripts.physics import options
from scripts.wcb import checkout, setup


def test_the_version_does_not_wait_for_a_build(run_wcb):
    with checkout.one_at_a_time("a-build-of-this-test"):
        done = run_wcb("--version", WAFLOCK=".a-build-of-this-test")
    assert done.status == 0 and "wcb" in done.out and "waiting" not in done.out


def test_an_error_of_the_package_is_one_block(monkeypatch, capsys, tmp_path):
    """Such as a native module that is missing or does not fit."""

    def main(_options):
        raise spng.Error("Usage", "the native module cannot be loaded", hint="./wcb --notests")

    monkeypatch.setattr(setup.importlib, "import_module", lambda _name: SimpleNamespace(main=main))
    monkeypatch.setenv("SPNG_BUILD", "")
    assert setup.run_in_environment("scripts.physics.command", SimpleNamespace(build=tmp_path)) == 1
    said = capsys.readouterr().err
    assert said == "error: the native module cannot be loaded\n  hint:     ./wcb --notests\n"


def test_the_benchmarks_are_built_without_tests(monkeypatch, tmp_path):
    """Also wire-cell for the studies, which need no benchmarks."""
    calls = []
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "wire-cell").touch()
    monkeypatch.setattr(checkout, "build_folder", lambda: tmp_path)
    monkeypatch.setattr(checkout, "wcb", lambda *words: calls.append(words))
    assert programs.ready_build(None, "--benchmarks") == programs.ready_build(None) == tmp_path
    assert programs.ready_build(tmp_path) == tmp_path, "a given build is not changed"
    assert calls == [("build", "--notests", "--benchmarks"), ("build", "--notests")]


def test_compare_of_earlier_versions_names_its_successor(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["wcb", "--compare", "out.npz,truth.npz,adc.npz", "--only", "default"])
    with pytest.raises(SystemExit) as ended:
        options.command_line("")
    assert ended.value.code == 2 and "wirecell-frame score OUTPUT TRUTH" in capsys.readouterr().err
