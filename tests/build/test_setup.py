# SPDX-License-Identifier: Apache-2.0
"""./wcb setup and the command line, without downloads: missing parts, kept parts, errors."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.wcb import setup, system_packages, virtual_environment, waf

ROOT = Path(__file__).resolve().parents[2]

DOCUMENTED = """demo test setup bench configure build install uninstall clean distclean env shell --prefix --with-nvtx
--with-libtorch --with-NAME-lib --with-NAME-include --with-cuda --with-jsonnet-libs=gojsonnet --boost-mt --boost-libs
--boost-include --build-mode release debug asan tsan --slim --full --without-torch --no-system --no-venv --notests
--with-root --destdir --jobs CXX CXXFLAGS CONDA_PREFIX LIBTORCH PIP_""".split()


def test_help_names_every_documented_option(run_wcb):
    done = run_wcb("--help")
    assert done.status == 0
    assert [name for name in DOCUMENTED if name not in done.out] == []


def test_help_needs_no_virtual_environment(tmp_path):
    """A fresh clone has only Debian's python3."""
    for name in ("wcb", "scripts", "waf"):
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    assert os.system(f"'{python}' -I '{tmp_path / 'wcb'}' --help > '{tmp_path / 'help'}'") == 0
    assert "--with-nvtx" in (tmp_path / "help").read_text()


@pytest.mark.parametrize("command", ["bench", "physics"])
def test_options_are_read_before_there_is_numpy(command, tmp_path):
    """Help and usage errors on a fresh clone, with a NumPy that cannot be imported, without any set-up."""
    for name in ("wcb", "bench", "scripts", "waf"):
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "numpy.py").write_text("raise ImportError")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "none"), "PYTHONDONTWRITEBYTECODE": "1"}
    for word, status, text in (
        ("--help", 0, "--build FOLDER"),
        ("--nonsense", 2, "unrecognized arguments: --nonsense"),
    ):
        done = subprocess.run(
            [sys.executable, tmp_path / "wcb", command, word],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status and text in done.stdout + done.stderr, done.stderr
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize(
    ("folder", "was_ready", "is_replaced"),
    [("bin", True, False), ("bin", False, True), ("elsewhere", True, True)],
)
def test_a_script_goes_on_in_the_environment(folder, was_ready, is_replaced, monkeypatch, tmp_path):
    """With its Python, and with a new one if packages were linked into it only now; never twice."""
    python, ready, calls = str(tmp_path / "bin" / "python"), [was_ready], []
    monkeypatch.setattr(setup, "VENV", tmp_path)
    monkeypatch.setattr(virtual_environment, "is_ready", lambda *_: ready[0])
    monkeypatch.setattr(virtual_environment, "ensure", lambda *_: ready.__setitem__(0, True))
    monkeypatch.setattr(sys, "executable", str(tmp_path / folder / "python3"))
    monkeypatch.setattr(sys, "orig_argv", ["python3", "-m", "bench", "--cores", "1"])
    monkeypatch.setenv("PYTHONHOME", "/elsewhere")  # it changes sys.prefix
    monkeypatch.setattr(os, "execv", lambda *words: calls.append(words))
    setup.enter(None, no_system=True)
    assert calls == [(python, [python, "-m", "bench", "--cores", "1"])] * is_replaced
    monkeypatch.setattr(sys, "executable", python)
    setup.enter(None, no_system=True)
    assert len(calls) == is_replaced


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (["configure", "--with-nvxt"], "--with-nvtx"),
        (["configure", "--with-libtorhc=/x"], "--with-libtorch"),
        (["build", "--notest"], "--notests"),
        (["tset"], "test"),
        (["intall"], "install"),
    ],
)
def test_unknown_words_end_with_the_nearest_name(run_wcb, arguments, near):
    done = run_wcb(*arguments)
    assert done.status == 2
    assert f"Did you mean {near}?" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        (["configure", "--with-nvtx", "build"], ["configure", "--with-nvtx=yes", "build"]),
        (
            ["configure", "--with-libtorch", "/opt/x", "--with-nvtx"],
            ["configure", "--with-libtorch=/opt/x", "--with-nvtx=yes"],
        ),
        (["configure", "--with-cuda=/a", "-j", "4"], ["configure", "--with-cuda=/a", "-j", "4"]),
    ],
)
def test_options_without_value_do_not_swallow_the_next_command(given, seen):
    assert waf.with_values(given) == seen


def test_missing_system_packages_are_listed_and_nothing_is_installed(run_wcb, tmp_path):
    """No compiler and no apt on the path: names for apt and conda-forge, status 2, before any download."""
    done = run_wcb("setup", PATH=str(tmp_path))
    assert done.status == 2
    assert "nothing was installed (no apt-get)" in done.err
    assert "apt-get install -y --no-install-recommends g++" in done.err
    assert "dnf install -y gcc-toolset-13-gcc-c++" in done.err and "CRB and EPEL" in done.err
    assert "conda install -c conda-forge gxx" in done.err
    assert "download" not in done.out


def test_without_root_nothing_is_installed(monkeypatch, capsys):
    missing = system_packages.Package(
        "libnever-dev", "never-devel", "never", "header:never/there.h", "a test"
    )
    monkeypatch.setattr(system_packages, "read_list", lambda: [missing])
    monkeypatch.setattr(system_packages, "rights", lambda: None)
    monkeypatch.setattr(system_packages, "run", lambda command: pytest.fail(f"ran {command}"))
    with pytest.raises(SystemExit) as end:
        system_packages.ensure()
    assert end.value.code == 2
    text = capsys.readouterr().err
    assert "libnever-dev" in text and "conda-forge: never" in text


def test_apt_line_is_shown_before_it_runs(monkeypatch, capsys, tmp_path):
    """A fake apt-get installs the missing command; the lists are updated because it reports that they are old."""
    log = tmp_path / "log"
    apt = tmp_path / "apt-get"
    apt.write_text(
        f'#!/bin/sh\necho "$@" >> {log}\n'
        f'case "$*" in *--simulate*) exit 100;; install*) ln -sf /bin/true {tmp_path}/never-there;; esac\n'
    )
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(system_packages, "rights", list)
    missing = system_packages.Package("never", "never", "never", "command:never-there", "a test")
    monkeypatch.setattr(system_packages, "read_list", lambda: [missing])
    system_packages.ensure()
    calls = log.read_text().splitlines()
    assert [call.split()[0] for call in calls] == ["install", "update", "install"]
    assert (
        "env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends never"
        in capsys.readouterr().out
    )
    assert missing.present()


def test_an_optional_package_is_done_without(monkeypatch, capsys):
    missing = system_packages.Package("never", "-", "-", "command:never-there", "optional: a test")
    monkeypatch.setattr(system_packages, "read_list", lambda: [missing])
    monkeypatch.setattr(system_packages, "rights", lambda: None)
    monkeypatch.setattr(system_packages, "run", lambda command: pytest.fail(f"ran {command}"))
    system_packages.ensure()
    assert "never" not in capsys.readouterr().out
    system_packages.ensure(for_tests=True)
    assert "never is missing and was not installed (optional: a test)" in capsys.readouterr().out


@pytest.mark.parametrize("rights", [None, []], ids=["without-root", "unknown-to-apt"])
def test_a_wanted_package_is_done_without(rights, monkeypatch, capsys):
    """./wcb setup installs it where it can, and its absence is no error."""
    wanted = system_packages.Package("never", "-", "-", "command:never-there", "wanted: a part")
    installed = []
    monkeypatch.setattr(system_packages, "read_list", lambda: [wanted])
    monkeypatch.setattr(system_packages.shutil, "which", lambda name: name if name == "apt-get" else None)
    monkeypatch.setattr(system_packages, "rights", lambda: rights)
    monkeypatch.setattr(
        system_packages, "install", lambda prefix, packages: installed.extend(packages) or "failed"
    )
    system_packages.ensure()
    assert installed == ([] if rights is None else [wanted])
    assert "never is missing and was not installed (wanted: a part)" in capsys.readouterr().out


def test_a_build_does_without_grpc():
    """docs/server.md calls it optional."""
    packages = {package.apt: package for package in system_packages.read_list()}
    assert not packages["libgrpc++-dev"].needed and not packages["libgrpc++-dev"].optional
    assert packages["libtbb-dev"].needed
    text = (ROOT / "waf" / "spng_grpc.py").read_text(encoding="utf-8").replace('"\n            "', "")
    named = re.search(r"apt: ([^;]+);", text)
    assert named and set(named[1].split()) <= set(packages), "what configure names, ./wcb setup installs"


def test_package_list_is_well_formed():
    packages = system_packages.read_list()
    assert {"g++", "libspdlog-dev", "libarchive-dev", "libtbb-dev"} <= {package.apt for package in packages}
    assert {package.sign.split(":")[0] for package in packages} == {
        "command",
        "module",
        "header",
        "python-header",
    }


def test_every_requirement_is_pinned_with_its_sizes():
    items = virtual_environment.read_requirements()
    versions = {item.name: item.version for item in items}
    assert versions["torch"] == "2.11.0" and "waflib" in versions and "pytest" in versions
    assert {item.set for item in items} == {"base", "torch", "gpu"}
    full = sum(item.download for item in items)
    slim = sum(item.download for item in items if item.set != "gpu")
    assert 2500 < full < 3000 and 500 < slim < 700  # MB; the help and the set-up state these


def test_an_interrupted_package_is_done_again(monkeypatch, tmp_path):
    """pip writes INSTALLER last: a package without it was interrupted while it was unpacked."""
    monkeypatch.setattr(virtual_environment, "VENV", tmp_path)
    torch = next(item for item in virtual_environment.read_requirements() if item.name == "torch")
    record = tmp_path / "lib" / "python3.11" / "site-packages" / f"torch-{torch.version}.dist-info"
    record.mkdir(parents=True)
    assert not virtual_environment.is_installed(torch)
    (record / "INSTALLER").write_text("pip\n")
    assert virtual_environment.is_installed(torch)


def test_an_unfinished_environment_is_not_ready(monkeypatch, tmp_path):
    stamp = tmp_path / "stamp.json"
    monkeypatch.setattr(virtual_environment, "STAMP", stamp)
    assert not virtual_environment.is_ready(None)
    monkeypatch.setattr(virtual_environment, "are_own_packages_linked", lambda: True)
    fingerprint = virtual_environment.fingerprint("slim")
    stamp.write_text(f'{{"mode": "slim", "given": true, "fingerprint": "{fingerprint}"}}')
    assert virtual_environment.is_ready(None) and virtual_environment.is_ready("slim")
    assert not virtual_environment.is_ready("full")
    stamp.write_text('{"mode": "slim", "fingerprint": "of an older list"}')
    assert not virtual_environment.is_ready(None)


@pytest.mark.parametrize(
    ("stamp", "has_driver", "option", "for_tests", "wanted"),
    [
        ({}, False, None, False, "slim"),
        ({}, True, None, False, "full"),
        ({}, False, None, True, "full"),
        ({}, True, "slim", True, "slim"),
        ({"mode": "slim", "given": False}, False, None, True, "full"),
        ({"mode": "slim", "given": False}, True, None, False, "full"),
        ({"mode": "slim", "given": True}, True, None, True, "slim"),
        ({"mode": "full", "given": False}, False, None, False, "full"),
        ({"mode": "slim", "given": True}, False, "full", False, "full"),
    ],
)
def test_the_smallest_set_that_does_the_task(stamp, has_driver, option, for_tests, wanted, monkeypatch):
    monkeypatch.setattr(virtual_environment, "read_stamp", lambda: stamp)
    monkeypatch.setattr(virtual_environment, "has_nvidia_driver", lambda: has_driver)
    assert virtual_environment.wanted_mode(option, for_tests) == wanted


@pytest.mark.parametrize("for_tests", [True, False])
def test_the_default_set_is_said_in_one_line(for_tests, monkeypatch, capsys):
    monkeypatch.setattr(virtual_environment, "has_nvidia_driver", lambda: False)
    virtual_environment.say_default(for_tests)
    (line,) = capsys.readouterr().out.splitlines()
    assert "0.6 GB" in line and "2.8 GB" in line and ("--slim" if for_tests else "--full") in line


def test_the_environment_has_the_commands_of_this_checkout(monkeypatch, tmp_path):
    """By two small files, without build and download."""
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    (tmp_path / "bin").mkdir()
    packages.mkdir(parents=True)
    monkeypatch.setattr(virtual_environment, "VENV", tmp_path)
    assert not virtual_environment.are_own_packages_linked()
    virtual_environment.link_own_packages()
    assert virtual_environment.are_own_packages_linked()
    for command in ("wirecell-profile", "wirecell-campaign", "wirecell-frame"):
        assert os.access(tmp_path / "bin" / command, os.X_OK)
    (packages / "spng-campaign.pth").write_text("/moved/from/here/campaign\n")
    assert not virtual_environment.are_own_packages_linked()


@pytest.mark.parametrize("command", ["wirecell-profile", "wirecell-campaign", "wirecell-frame"])
def test_the_commands_run_from_any_folder(command, tmp_path):
    """Also through a link."""
    (tmp_path / "linked").symlink_to(virtual_environment.launcher(command))
    shown = subprocess.run(
        [tmp_path / "linked", "--version"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert shown.stdout.startswith(f"{command} ")


@pytest.fixture
def shadowing(monkeypatch, tmp_path) -> Path:
    """The current folder, with files that are named as modules of Python and NumPy."""
    folder = tmp_path / "shadowing"
    folder.mkdir()
    for module in ("struct", "json", "numpy"):
        (folder / f"{module}.py").write_text(f"raise SystemExit('the {module}.py of the user')\n")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.usefixtures("shadowing")
@pytest.mark.parametrize("command", ["wirecell-profile", "wirecell-campaign", "wirecell-frame"])
def test_commands_import_nothing_from_the_current_folder(command, tmp_path):
    """The launchers that the set-up writes."""
    launcher, python = tmp_path / command, tmp_path / "python"
    launcher.write_text(virtual_environment.launcher_text(command))
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    for file in (launcher, python):
        file.chmod(0o755)
    shown = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout.startswith(f"{command} ")


@pytest.mark.usefixtures("shadowing")
@pytest.mark.parametrize(
    "words", [["wcb", "--help"], ["wcb", "bench", "--help"], ["scripts/gpu_check", "--help"]]
)
def test_scripts_import_nothing_from_the_current_folder(words):
    shown = subprocess.run(
        [sys.executable, ROOT / words[0], *words[1:]], capture_output=True, text=True, check=True
    )
    assert "wcb" in shown.stdout or "gpu_check" in shown.stdout


@pytest.mark.usefixtures("shadowing")
def test_waf_imports_nothing_from_the_current_folder():
    assert Path(waf.find_python(use_venv=True)).parent == virtual_environment.VENV / "bin"


def test_slim_leaves_libtorch_for_the_cpu_and_says_why_python_has_no_torch(monkeypatch, tmp_path):
    monkeypatch.setattr(virtual_environment, "VENV", tmp_path)
    folder = tmp_path / "lib" / "python3.11" / "site-packages" / "torch"
    for name in (
        "lib/libtorch_cpu.so",
        "lib/libc10.so",
        "lib/libgomp.so.1",
        "lib/libtorch_cuda.so",
        "lib/libc10_cuda.so",
        "lib/libshm/x.h",
        "include/ATen/ATen.h",
        "nn/__init__.py",
        "__init__.py",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("real")
    assert not virtual_environment.is_pruned()
    virtual_environment.prune_torch()
    virtual_environment.prune_torch()  # again, as after an interruption
    kept = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert kept == {
        "lib/libtorch_cpu.so",
        "lib/libc10.so",
        "lib/libgomp.so.1",
        "include/ATen/ATen.h",
        "__init__.py",
    }
    assert virtual_environment.is_pruned()
    with pytest.raises(ImportError, match="--slim"):
        exec((folder / "__init__.py").read_text())
