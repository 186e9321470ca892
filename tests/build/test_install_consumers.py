# SPDX-License-Identifier: Apache-2.0
"""An installed tree that was moved: programs and plugins compile against it, by pkg-config and by CMake; its Python tools run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from wirecell_campaign import program as campaign_program

from scripts.wcb.checkout import ROOT

sys.path.insert(0, str(ROOT / "waf"))
import spng_example_node  # noqa: E402  (a tool of waf)

from tests.build.build_support import TICKS, fingerprint, write_input  # noqa: E402
from tests.support import installed, wire_cell  # noqa: E402

PLUGIN = ROOT / "docs" / "examples" / "plugin"
VERSION = (ROOT / "spng" / "VERSION").read_text(encoding="utf-8").strip()
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
    return installed.copy(tmp_path_factory.mktemp("consumers") / "moved")


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
        *"g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror".split(),
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


def test_the_example_node_as_three_files(prefix: Path, tmp_path: Path) -> None:
    """Header, source and test of spng/README.md compile as printed, each alone, with the flags of plugins."""
    page = (ROOT / spng_example_node.PAGE).read_text(encoding="utf-8")
    for part in spng_example_node.PARTS:
        path = tmp_path / part
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(spng_example_node.code_of(page, part), encoding="utf-8")
    support = tmp_path / "tests" / "support"
    support.symlink_to(ROOT / "tests" / "support")
    files = [tmp_path / part for part in spng_example_node.PARTS]
    (tmp_path / "header.cxx").write_text(f'#include "{spng_example_node.PARTS[0]}"\n', encoding="utf-8")
    command = [
        "g++",
        "-fsyntax-only",
        f"-I{tmp_path}",
        str(tmp_path / "header.cxx"),
        *map(str, files[1:]),
        *flags(prefix, "--cflags", "wire-cell-spng-plugin"),
    ]
    subprocess.run(command, check=True)


@pytest.fixture(scope="module")
def plugin(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The build folder of docs/examples/plugin, outside of the checkout, made as its CMakeLists.txt says."""
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    source = tmp_path_factory.mktemp("plugin") / "source"
    shutil.copytree(PLUGIN, source)
    text = (source / "CMakeLists.txt").read_text(encoding="utf-8")
    [line] = re.findall(r"# .*: (cmake -S .*)", text)
    done = subprocess.run(
        ["sh", "-c", line.replace("=PREFIX", f"={shlex.quote(str(prefix))}")],
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "100% tests passed" in done.stdout
    return source / "build"


def test_a_plugin_outside_of_the_tree(prefix: Path, plugin: Path, tmp_path: Path) -> None:
    """Its node is in the job of its configuration: twice the gain, half the charge."""
    write_input(tmp_path)
    job = ("-A", "model=none", "-A", "device=cpu", "-t", "1", "-A", "input=adc.npz")
    own = ("-p", plugin / "libExampleGain.so", "-c", PLUGIN / "corrected.jsonnet", "-A", "factor=2")
    signals = []
    for name, words in (("plain", ("-c", "pipeline.jsonnet")), ("corrected", own)):
        done = subprocess.run(
            [prefix / "bin" / "wire-cell", *words, *job, "-A", f"output={name}.npz"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert ("ExampleGainCorrection:gauss-induction" in done.stdout) == (name == "corrected")
        signals.append(wire_cell.read_arrays(tmp_path / f"{name}.npz")["frame_signal_0"])
    assert signals[0].shape[1] == TICKS and signals[0].any()
    assert (signals[0] == 2 * signals[1]).all()


def test_the_python_tools(prefix: Path, tmp_path: Path) -> None:
    """They run with the Python of configure, from any folder, write nothing into the tree, and take another Python."""
    before = fingerprint(prefix)

    def run(command: str, *words: str | Path, **variables: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [prefix / "bin" / command, *words],
            env={"PATH": "/usr/bin:/bin"} | variables,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    for command in ("wirecell-profile", "wirecell-campaign", "wirecell-frame"):
        assert run(command, "--version").stdout == f"{command} {VERSION}\n"
    truth = prefix / "share" / "wirecell" / "data" / "tracks10-truth.npz"
    described = run("wirecell-frame", "info", truth)
    assert described.returncode == 0 and "3.34 % of the samples" in described.stdout, described.stderr
    [packages] = prefix.glob("lib/python3.*/site-packages")
    imported = subprocess.run(
        [sys.executable, "-B", "-P", "-c", "import spng.native; print(spng.native.core.__file__)"],
        env={"PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert imported.stdout.startswith(str(packages)), imported.stderr
    other = run("wirecell-profile", "--version", SPNG_PYTHON="/nowhere/python3")
    assert other.returncode == 127 and "/nowhere/python3" in other.stderr
    assert fingerprint(prefix) == before


def test_a_campaign_finds_the_installed_program(prefix: Path) -> None:
    [package] = prefix.glob("lib/python3.*/site-packages/wirecell_campaign")
    assert campaign_program.home(package) == prefix
    assert campaign_program.home(ROOT / "campaign" / "wirecell_campaign") == ROOT
