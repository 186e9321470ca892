# SPDX-License-Identifier: Apache-2.0
"""./wcb install: an installed program finds library, configuration and data relative to itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts.wcb.checkout import ROOT, build_folder

sys.path.insert(0, str(ROOT / "waf"))
import spng_install  # noqa: E402  (a tool of waf, which finds it by this folder too)


@pytest.fixture
def installed(run_wcb, tmp_path) -> Path:
    """The prefix under a staging folder, moved after the installation."""
    if build_folder() is None or not (build_folder() / "bin" / "wire-cell").exists():
        pytest.skip("wire-cell is not built")
    done = run_wcb("install", f"--destdir={tmp_path / 'stage'}", "--notests")
    assert done.status == 0, done.err
    library = next((tmp_path / "stage").glob("**/lib/libWireCellSpng.so"))
    moved = tmp_path / "moved here"
    library.parent.parent.rename(moved)
    return moved


def test_layout_and_a_run_from_anywhere(installed, tmp_path):
    for path in (
        "bin/wire-cell",
        "lib/libWireCellSpng.so",
        "include/WireCellSpng/TorchnvTools.h",
        "include/spng/core/error.h",
        "share/wirecell/cfg/pipeline.jsonnet",
        "share/wirecell/data/README.md",
        "share/wirecell/data/SHA256SUMS",
    ):
        assert (installed / path).is_file(), path
    environment = {
        name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "WIRECELL_PATH")
    }
    done = subprocess.run(
        [str(installed / "bin" / "wire-cell"), "--check-configuration", "-c", "pipeline.jsonnet"],
        cwd=tmp_path,
        text=True,
        capture_output=True,
        check=False,
        env=environment,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    linked = subprocess.run(
        ["ldd", str(installed / "lib" / "libWireCellSpng.so")], capture_output=True, text=True, check=True
    ).stdout
    assert "not found" not in linked and "libtorch_cuda" not in linked


@pytest.fixture
def built() -> None:
    """A finished build, which the installation only copies."""
    if build_folder() is None or not (build_folder() / "bin" / "wire-cell").exists():
        pytest.skip("wire-cell is not built")


def status_of_check(prefix: Path, folder: Path) -> int:
    """Run the installed program, which must find library and configuration relative to itself; return its exit status."""
    command = [str(prefix / "bin" / "wire-cell"), "--check-configuration", "-c", "pipeline.jsonnet"]
    environment = {
        name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "WIRECELL_PATH")
    }
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False).returncode


@pytest.mark.usefixtures("built")
def test_a_prefix_at_install(run_wcb, tmp_path):
    """The files must not go into /usr/local."""
    prefix = tmp_path / "prefix"
    done = run_wcb("install", f"--prefix={prefix}", "--notests")
    assert done.status == 0, done.err
    assert sorted(path.name for path in prefix.iterdir()) == ["bin", "include", "lib", "share"]
    assert status_of_check(prefix, tmp_path) == 0
    done = run_wcb("uninstall", f"--prefix={prefix}", "--notests")
    assert done.status == 0, done.err
    assert not prefix.exists() or not [path for path in prefix.rglob("*") if path.is_file()]


@pytest.mark.usefixtures("built")
def test_a_prefix_below_a_staging_folder(run_wcb, tmp_path):
    stage = tmp_path / "stage"
    done = run_wcb("install", "--prefix=/opt/spng", "--notests", DESTDIR=str(stage))
    assert done.status == 0, done.err
    assert [path.name for path in stage.iterdir()] == ["opt"]
    assert status_of_check(stage / "opt" / "spng", tmp_path) == 0


@pytest.mark.usefixtures("built")
def test_folders_in_which_the_program_would_not_find_its_library(run_wcb, tmp_path):
    done = run_wcb(
        "install", f"--destdir={tmp_path}", "--prefix=/opt/spng", "--libdir=/opt/lib/spng", "--notests"
    )
    assert done.status != 0
    assert "would not find its library in /opt/lib/spng" in done.err and "./wcb configure" in done.err
    assert not any(tmp_path.iterdir())


class Made(SimpleNamespace):
    """An environment of waf, or its options, with folders only."""

    def __setitem__(self, name, value):
        setattr(self, name, value)

    def __getitem__(self, name):
        return getattr(self, name)


@pytest.mark.parametrize("configured, given, variable, expected", [
    ({}, {}, None, "/usr/local"),
    ({}, {"prefix": "/a"}, None, "/a"),
    ({}, {}, "/b", "/b"),
    ({}, {"prefix": "/a"}, "/b", "/a"),
    ({"prefix": "/c"}, {}, None, "/c"),
    ({"prefix": "/c"}, {}, "/b", "/c"),
    ({"prefix": "/c"}, {"prefix": "/usr/local"}, None, "/usr/local"),
])  # fmt: skip
def test_which_prefix_counts(monkeypatch, configured, given, variable, expected):
    """The option at install, then the option at configure, then the variable."""
    monkeypatch.delenv("PREFIX", raising=False)
    env = Made(PREFIX=configured.get("prefix", "/usr/local"), LIBDIR="", BINDIR="")
    env.BINDIR = env.PREFIX + "/bin"
    spng_install.configure(Made(env=env, options=Made(folders_given=list(configured))))
    if variable:
        monkeypatch.setenv("PREFIX", variable)
    options = Made(prefix=given.get("prefix", variable or "/usr/local"), folders_given=list(given))
    spng_install.build(Made(is_install=1, env=env, options=options))
    assert (expected, f"{expected}/bin", f"{expected}/lib") == (env.PREFIX, env.BINDIR, env.LIBDIR)


def test_a_library_folder_of_its_own():
    env = Made(PREFIX="/p", BINDIR="/p/bin", LIBDIR="/p/lib64/spng")
    spng_install.configure(Made(env=env, options=Made(folders_given=["prefix", "libdir"])))
    assert env.RPATH_PROGRAM == ["$ORIGIN/../lib", "$ORIGIN/../lib64/spng"]
    spng_install.build(Made(is_install=1, env=env, options=Made(prefix="/q", folders_given=["prefix"])))
    assert (env.BINDIR, env.LIBDIR) == ("/q/bin", "/q/lib64/spng")
