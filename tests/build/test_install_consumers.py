# SPDX-License-Identifier: Apache-2.0
"""Programs and plugins compile against an installed tree that was moved, by pkg-config and by CMake."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.wcb.checkout import ROOT, build_folder

sys.path.insert(0, str(ROOT / "waf"))
import spng_example_node  # noqa: E402  (a tool of waf)

EXAMPLE = ROOT / "docs" / "examples" / "process_frames.cxx"
CMAKE_LISTS = """\
cmake_minimum_required(VERSION 3.18)
project(consumer CXX)
find_package(WireCellSpng 0.1 REQUIRED)
add_executable(consumer process_frames.cxx)
target_link_libraries(consumer PRIVATE WireCellSpng::WireCellSpng)
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installed tree under another name than that of its installation."""
    if build_folder() is None or not (build_folder() / "bin" / "wire-cell").exists():
        pytest.skip("wire-cell is not built")
    folder = tmp_path_factory.mktemp("consumers")
    command = [str(ROOT / "wcb"), "install", f"--prefix={folder / 'first'}", "--notests"]
    subprocess.run(command, check=True, capture_output=True)
    return (folder / "first").rename(folder / "moved")


def flags(prefix: Path, *words: str) -> list[str]:
    if shutil.which("pkg-config") is None:
        pytest.skip("no pkg-config")
    environment = os.environ | {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    done = subprocess.run(["pkg-config", *words], env=environment, capture_output=True, text=True, check=True)
    return shlex.split(done.stdout)


def output_of(program: Path) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True, cwd=program.parent).stdout


def require_three_events(text: str) -> None:
    assert [re.sub(r"[\d.]+ s", "T s", line) for line in text.splitlines()] == [
        f"event {event}: 0 ROIs in T s" for event in range(3)
    ]


def test_the_example_is_short() -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 40


def test_a_program_by_pkg_config(prefix: Path, tmp_path: Path) -> None:
    """In C++17, with warnings as errors, and without the headers of LibTorch."""
    program = tmp_path / "consumer"
    command = [
        "g++",
        "-std=c++17",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Werror",
        str(EXAMPLE),
        "-o",
        str(program),
    ]
    subprocess.run([*command, *flags(prefix, "--cflags", "--libs", "wire-cell-spng")], check=True)
    require_three_events(output_of(program))


def test_a_program_by_cmake(prefix: Path, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    (tmp_path / "CMakeLists.txt").write_text(CMAKE_LISTS, encoding="utf-8")
    shutil.copy(EXAMPLE, tmp_path)
    build = tmp_path / "build"
    for command in (
        ["cmake", "-S", str(tmp_path), "-B", str(build), f"-DCMAKE_PREFIX_PATH={prefix}"],
        ["cmake", "--build", str(build)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (build / "consumer").exists()


def test_a_plugin_by_pkg_config(prefix: Path, tmp_path: Path) -> None:
    """The node of spng/README.md parses with the flags of plugins."""
    page = (ROOT / spng_example_node.PAGE).read_text(encoding="utf-8")
    for part in spng_example_node.PARTS[:2]:
        path = tmp_path / part
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(spng_example_node.code_of(page, part), encoding="utf-8")
    source = tmp_path / spng_example_node.PARTS[1]
    command = [
        "g++",
        "-fsyntax-only",
        f"-I{tmp_path}",
        str(source),
        *flags(prefix, "--cflags", "wire-cell-spng-plugin"),
    ]
    subprocess.run(command, check=True)
    assert "-lWireCellSpng" in flags(prefix, "--libs", "wire-cell-spng-plugin")
