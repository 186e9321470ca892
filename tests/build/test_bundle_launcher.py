# SPDX-License-Identifier: Apache-2.0
"""bin/wire-cell and the other commands of a bundle: search of LibTorch, rejected machines and folders, passed arguments."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.wcb import python_tools
from tests.build.bundle_support import (
    JOB,
    built_output,
    fingerprint,
    rejection,
    torch_folder,
    write_input,
)

OLD_ABI = b"_ZN3c105ErrorC1ENS_14SourceLocationESs"
SHELL = {"PATH": "/usr/bin:/bin"}


@pytest.fixture(scope="module")
def echo(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle whose program prints its process, search path of libraries and arguments in brackets."""
    folder = tmp_path_factory.mktemp("echo") / "bundle"
    shutil.copytree(bundle, folder)
    (folder / "libexec" / "wire-cell").write_text(
        '#!/bin/sh\necho "$$"\necho "$LD_LIBRARY_PATH"\nprintf \'[%s]\' "$@"\necho\n[ "${1:-}" = wait ] && exec sleep 60\nexit 7\n'
    )
    return folder


def run(bundle: Path, *words: str | Path, **variables: str) -> subprocess.CompletedProcess:
    """Run bin/wire-cell with few variables."""
    return subprocess.run(
        [bundle / "bin" / "wire-cell", *words],
        env=SHELL | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def made_up_torch(folder: Path, release: str = "2.11.0+cpu", **replaced: bytes) -> Path:
    """Make the folder of a torch package with links to the real CPU libraries."""
    (folder / "lib").mkdir(parents=True)
    for name in ("libtorch_cpu.so", "libc10.so", "libgomp.so.1"):
        stem = name.split(".")[0]
        if stem in replaced:
            (folder / "lib" / name).write_bytes(replaced[stem])
        else:
            (folder / "lib" / name).symlink_to(torch_folder() / "lib" / name)
    (folder / "version.py").write_text(f"__version__ = '{release}'\ndebug = False\n")
    return folder


def python_with(folder: Path, site: Path) -> str:
    """Return a PATH on which python3 has only the packages of `site`."""
    folder.mkdir()
    python = folder / "python3"
    python.write_text(f"#!/bin/sh\nPYTHONPATH='{site}' exec {sys.executable} -S \"$@\"\n")
    python.chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def test_arguments_status_and_process_are_passed_through(echo: Path) -> None:
    words = ["-c", "a b", "", "*", "-A", "x=--torch", "two\nlines", "$HOME", "--torch-profiler", "d"]
    with subprocess.Popen(
        [echo / "bin" / "wire-cell", *words, f"--torch={torch_folder()}"],
        env=SHELL,
        text=True,
        stdout=subprocess.PIPE,
    ) as process:
        out = process.stdout.read()
        assert process.wait() == 7
    ident, _, given = out.split("\n", 2)
    assert int(ident) == process.pid
    assert given == "".join(f"[{word}]" for word in words) + "\n"


def test_signals_reach_the_program(echo: Path) -> None:
    with subprocess.Popen(
        [echo / "bin" / "wire-cell", "wait", "--torch", torch_folder()],
        env=SHELL,
        text=True,
        stdout=subprocess.PIPE,
    ) as process:
        assert int(process.stdout.readline()) == process.pid
        process.stdout.readline()
        assert process.stdout.readline() == "[wait]\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait() == -signal.SIGTERM


def test_where_torch_is_found(echo: Path, tmp_path: Path) -> None:
    """Option before variable before python3; the package's folder, its parent, or an environment's folder."""
    option = made_up_torch(tmp_path / "option" / "torch")
    variable = made_up_torch(tmp_path / "variable" / "lib" / "python3.12" / "site-packages" / "torch")
    package = made_up_torch(tmp_path / "site" / "torch")
    (package / "__init__.py").write_text("raise RuntimeError('never imported')\n")
    python = python_with(tmp_path / "python", tmp_path / "site")

    def folder_used(*words: str | Path, **variables: str) -> str:
        done = run(echo, *words, **variables)
        assert done.returncode == 7, done.stderr
        return done.stdout.splitlines()[1].split(":")[0]

    assert folder_used(PATH=python) == f"{package}/lib"
    assert folder_used(PATH=python, SPNG_TORCH=str(tmp_path / "variable")) == f"{variable}/lib"
    assert (
        folder_used("--torch", option.parent, PATH=python, SPNG_TORCH=str(tmp_path / "variable"))
        == f"{option}/lib"
    )
    assert folder_used("--torch", option) == f"{option}/lib"
    os.symlink(echo / "bin" / "wire-cell", tmp_path / "link")
    linked = subprocess.run(
        [tmp_path / "link", f"--torch={option}"], env=SHELL, capture_output=True, text=True, check=False
    )
    assert linked.returncode == 7, linked.stderr


def tools_without_python(folder: Path) -> str:
    """Return a PATH with the commands that every system has."""
    folder.mkdir()
    for name in ("sh", "cat", "readlink", "dirname", "uname", "getconf", "sed", "grep", "sort", "tr"):
        (folder / name).symlink_to(shutil.which(name))
    return str(folder)


def test_the_archive_of_libtorch_does_too(echo: Path, tmp_path: Path) -> None:
    """It needs no Python and has its release in another file."""
    folder = made_up_torch(tmp_path / "libtorch")
    (folder / "version.py").unlink()
    (folder / "build-version").write_text("2.11.0+cpu\n")
    done = run(echo, "--torch", folder, PATH=tools_without_python(tmp_path / "tools"))
    assert done.returncode == 7 and done.stderr == ""


def test_libraries_are_looked_for_beside_torch(echo: Path, tmp_path: Path) -> None:
    """CUDA's folders of the wheel too; the user's folders come last, and our OpenMP runtime only if torch has none."""
    folder = made_up_torch(tmp_path / "site" / "torch")
    (tmp_path / "site" / "nvidia" / "cu13" / "lib").mkdir(parents=True)
    paths = run(echo, "--torch", folder, LD_LIBRARY_PATH="/mine").stdout.splitlines()[1].split(":")
    assert [os.path.normpath(path) for path in paths] == [
        f"{folder}/lib",
        f"{tmp_path}/site/nvidia/cu13/lib",
        "/mine",
    ]
    (folder / "lib" / "libgomp.so.1").unlink()
    paths = run(echo, "--torch", folder, LD_LIBRARY_PATH="/mine").stdout.splitlines()[1].split(":")
    assert paths[-2:] == [f"{echo}/lib/openmp", "/mine"]


def test_an_older_libstdcxx_is_not_taken(bundle: Path, echo: Path, tmp_path: Path) -> None:
    """The bundle's own library comes first then, but not if the system's is new enough."""
    (tmp_path / "versions").write_text("GLIBCXX_3.4.20 { *; };\n")
    subprocess.run(
        [
            "g++",
            "-x",
            "c++",
            "-",
            "-shared",
            "-fPIC",
            "-nostdlib",
            "-Wl,-soname,libstdc++.so.6",
            f"-Wl,--version-script={tmp_path}/versions",
            "-o",
            str(tmp_path / "libstdc++.so.6"),
        ],
        input="int old;",
        text=True,
        check=True,
    )
    done = run(echo, "--torch", torch_folder(), LD_LIBRARY_PATH=str(tmp_path))
    assert done.returncode == 7, done.stderr
    assert done.stdout.splitlines()[1].split(":")[0] == f"{echo}/lib/runtime"
    assert run(bundle, "--torch", torch_folder(), "--version", LD_LIBRARY_PATH=str(tmp_path)).returncode == 0


def test_no_torch(bundle: Path, tmp_path: Path) -> None:
    block = rejection(run(bundle, PATH=tools_without_python(tmp_path / "tools")))
    assert block["error"] == "LibTorch is not found" and block["seen"] == "no python3 on the path"

    python = python_with(tmp_path / "python", tmp_path / "site")
    (tmp_path / "torch").mkdir()  # in the current folder: no package
    done = subprocess.run(
        [bundle / "bin" / "wire-cell"],
        env={"PATH": python},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    block = rejection(done)
    assert block["error"] == "LibTorch is not found"
    assert block["seen"] == f"no package torch in {tmp_path}/python/python3"
    assert block["hint"].startswith("python3 -m pip install torch==2.11.0, or give the folder")

    (tmp_path / "site" / "torch").mkdir(parents=True)
    (tmp_path / "site" / "torch" / "__init__.py").touch()
    assert rejection(run(bundle, PATH=python))["error"] == "the torch package of python3 has no LibTorch"


def test_a_folder_that_is_no_torch(bundle: Path, tmp_path: Path) -> None:
    """A requested LibTorch is never replaced by another one."""
    for words, variables, source in (
        ((f"--torch={tmp_path}",), {}, "the option --torch"),
        ((), {"SPNG_TORCH": str(tmp_path)}, "the variable SPNG_TORCH"),
    ):
        block = rejection(run(bundle, *words, **variables))
        assert (
            block["error"] == f"{source} names no LibTorch"
            and block["seen"] == f"no lib/libtorch_cpu.so in {tmp_path}"
        )
    assert rejection(run(bundle, "-c", "x", "--torch"))["error"] == "the option --torch needs a folder"


@pytest.mark.parametrize("release", ["2.10.0", "2.11.1+cu130", "2.110.0", "2.11.0a0+git1", ""])
def test_another_release(bundle: Path, tmp_path: Path, release: str) -> None:
    folder = made_up_torch(tmp_path / "torch", release)
    block = rejection(run(bundle, "--torch", folder))
    assert block["error"] == "LibTorch is of another release"
    assert block["seen"] == f"{release or 'no version.py'} in {folder}" and block["expected"].startswith(
        "torch 2.11.0"
    )


def test_another_abi(bundle: Path, tmp_path: Path) -> None:
    block = rejection(
        run(bundle, "--torch", made_up_torch(tmp_path / "torch", libc10=b"\x7fELF\0" + OLD_ABI + b"\0"))
    )
    assert (
        block["error"] == "LibTorch was built for another C++ ABI"
        and "_GLIBCXX_USE_CXX11_ABI=1" in block["expected"]
    )


def test_an_incomplete_torch(bundle: Path, tmp_path: Path) -> None:
    folder = made_up_torch(tmp_path / "torch")
    (folder / "lib" / "libc10.so").unlink()
    block = rejection(run(bundle, "--torch", folder))
    assert block["error"] == "libraries are missing or too old" and "libc10.so" in block["seen"].split()


def test_a_broken_torch(bundle: Path, tmp_path: Path) -> None:
    """After an interrupted download the program reports it."""
    done = run(bundle, "--torch", made_up_torch(tmp_path / "torch", libtorch_cpu=b"\x7fELF"))
    assert done.returncode == 2 and done.stdout == ""
    assert (
        done.stderr.startswith("error: the library of wire-cell does not load\n")
        and "libtorch_cpu.so" in done.stderr
    )


@pytest.mark.parametrize(
    ("name", "answer", "error", "seen"),
    [
        ("getconf", "glibc 2.17", "the C library of this system is too old", "glibc 2.17"),
        ("uname", "riscv64", "this bundle is for other processors", "riscv64"),
    ],
)
def test_another_machine(bundle: Path, tmp_path: Path, name: str, answer: str, error: str, seen: str) -> None:
    """As reported by the system's own commands."""
    (tmp_path / name).write_text(f"#!/bin/sh\necho {answer}\n")
    (tmp_path / name).chmod(0o755)
    block = rejection(run(bundle, "--torch", torch_folder(), PATH=f"{tmp_path}:/usr/bin:/bin"))
    assert block["error"] == error and block["seen"] == seen


@pytest.mark.parametrize("answer", ["glibc 2.36", "glibc 2.41", "glibc 2.100", "glibc 2.99.9000"])
def test_a_c_library_that_is_new_enough(echo: Path, tmp_path: Path, answer: str) -> None:
    (tmp_path / "getconf").write_text(f"#!/bin/sh\necho {answer}\n")
    (tmp_path / "getconf").chmod(0o755)
    assert run(echo, "--torch", torch_folder(), PATH=f"{tmp_path}:/usr/bin:/bin").returncode == 7


def test_a_colon_in_a_folder(bundle: Path, tmp_path: Path) -> None:
    block = rejection(run(bundle, "--torch", made_up_torch(tmp_path / "a:b" / "torch")))
    assert block["error"] == "a folder with a colon or a semicolon in its name"


def test_a_run_elsewhere_with_the_libraries_of_others_in_the_way(bundle: Path, tmp_path: Path) -> None:
    """Moved, in another folder, read-only; LD_LIBRARY_PATH has files of the same names that are no libraries."""
    moved = tmp_path / "moved here"
    shutil.copytree(bundle, moved)
    before = fingerprint(moved)
    others = tmp_path / "others"
    others.mkdir()
    for library in bundle.glob("lib/*.so*"):
        if library.name != "libacl.so.1":  # of the system's own commands
            (others / library.name).write_bytes(b"")
    write_input(tmp_path)
    given = ("-A", "input=adc.npz", "-A", "output=signal.npz", "-A", "model=none")
    words = [*JOB, *given, "--torch", torch_folder()]
    done = subprocess.run(
        [moved / "bin" / "wire-cell", *words],
        cwd=tmp_path,
        env=SHELL | {"LD_LIBRARY_PATH": str(others)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "signal.npz").read_bytes() == built_output("-A", "model=none")
    assert fingerprint(moved) == before


def test_python_tools(bundle: Path, tmp_path: Path) -> None:
    """They run with an environment that has their packages, write nothing into the bundle, and report missing packages."""
    before = fingerprint(bundle)
    tool = bundle / "bin" / "wirecell-profile"
    done = subprocess.run(
        [tool, "--help"],
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and "usage: wirecell-profile" in done.stdout, done.stderr
    assert fingerprint(bundle) == before

    (tmp_path / "numpy").mkdir()  # an empty folder is not the package
    bare = python_with(tmp_path / "python", tmp_path / "site")
    block = rejection(
        subprocess.run(
            [tool, "--help"], env={"PATH": bare}, cwd=tmp_path, capture_output=True, text=True, check=False
        )
    )
    assert (
        block["error"] == "wirecell-profile cannot run with this Python"
        and "no package numpy in" in block["seen"]
    )
    assert block["expected"] == "python3, 3.11 or newer, with numpy" and block["hint"].startswith(
        "python3 -m pip install numpy"
    )

    block = rejection(
        subprocess.run(
            [bundle / "bin" / "wirecell-frame", "--help"],
            env={"PATH": f"{bare}:/usr/bin:/bin", "SPNG_TORCH": str(torch_folder())},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    )
    assert block["error"] == "wirecell-frame cannot run with this Python"
    assert block["seen"].startswith("no package numpy in")
    assert block["expected"] == f"python3, {sys.version_info[0]}.{sys.version_info[1]}, with numpy"

    (tmp_path / "bin").mkdir()
    text = python_tools.launcher(python_tools.BUNDLE, "tool", "99.0+", ["numpy"])
    (tmp_path / "bin" / "tool").write_text(text, encoding="utf-8")
    (tmp_path / "bin" / "tool").chmod(0o755)
    block = rejection(
        subprocess.run(
            [tmp_path / "bin" / "tool"], env={"PATH": bare}, capture_output=True, text=True, check=False
        )
    )
    assert (
        block["seen"].startswith(f"Python {sys.version.split()[0]} in")
        and "99.0 or newer" in block["expected"]
    )


def test_the_demo_with_matplotlib(bundle: Path, tmp_path: Path) -> None:
    """Also pictures and page, with an environment that can make them."""
    done = subprocess.run(
        [bundle / "bin" / "spng-demo", "shown", "-A", "model=none", "-A", "device=cpu", "-A", "threads=1"],
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"signal / truth \[%\]( +\d+\.\d){4}\n", done.stdout)
    recording = ["report.html", "run.sqlite"] if (bundle / "lib" / "libSpngRecorder.so").exists() else []
    pictures = ["frames.html", "plane-u.png", "plane-v.png", "plane-w.png", "waveforms.png"]
    assert sorted(path.name for path in (tmp_path / "shown").iterdir()) == sorted(
        [*pictures, *recording, "timing.json", "tracks10-signal.npz"]
    )


def test_the_demo_says_what_it_does(bundle: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [bundle / "bin" / "spng-demo", "--help"],
        env=SHELL,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and done.stdout.startswith("spng-demo [DIR]") and not list(tmp_path.iterdir())
    rejected = subprocess.run(
        [bundle / "bin" / "spng-demo", "out", "--torch", "/nowhere"],
        env=SHELL,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert rejected.returncode == 2 and "error: the option --torch names no LibTorch" in rejected.stderr
