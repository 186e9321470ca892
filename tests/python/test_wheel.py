# SPDX-License-Identifier: Apache-2.0
"""./wcb wheel: its files, and a run from an environment without the checkout."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from scripts.wcb.checkout import ROOT, VENV, build_folder
from scripts.wcb.wheel import build_facts, contents, libraries
from tests.support import wire_cell
from tests.support.wire_cell import needs_program

pytestmark = [
    needs_program,
    pytest.mark.skipif(not (VENV / "bin" / "python").exists(), reason="no virtual environment"),
]
# Packages of the project's environment that a program of the wheel needs.
NEEDED = (
    "torch",
    "numpy",
    "numpy.libs",
    "nvidia",
    "torchgen",
    "typing_extensions.py",
    "jinja2",
    "markupsafe",
)

PROGRAM = """
import sys, spng
source, target = sys.argv[1:]
with spng.Pipeline() as pipeline:
    spng.write_frames(target, pipeline.map(spng.read_frames(source)))
print(spng.__file__)
"""


@pytest.fixture(scope="module")
def installed(unpacked_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages: the wheel, and links to those that it needs."""
    folder = tmp_path_factory.mktemp("site") / "packages"
    shutil.copytree(unpacked_wheel, folder)
    packages = next(iter((VENV / "lib").glob("python3*/site-packages")))
    for name in NEEDED:
        if (packages / name).exists():
            (folder / name).symlink_to(packages / name)
    return folder


def test_name_and_metadata(wheel: Path) -> None:
    version = (ROOT / "spng" / "VERSION").read_text().strip()
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert re.fullmatch(rf"wirecell_spng-{version}-{python}-{python}-manylinux_2_\d+_\w+.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"wirecell_spng-{version}.dist-info/METADATA").decode()
    assert re.findall(r"^Requires-Dist: ([^;\n]*)$", text, re.MULTILINE) == ["numpy", "torch==2.11.*"]


def test_the_record_has_every_file(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        record = next(name for name in names if name.endswith(".dist-info/RECORD"))
        rows = [line.rsplit(",", 2) for line in archive.read(record).decode().splitlines()]
        assert sorted(name for name, _, _ in rows) == sorted(names)
        for name, digest, size in rows:
            if name != record:
                content = archive.read(name)
                found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                assert (digest, int(size)) == (f"sha256={found}", len(content)), name
    for name in (
        "spng/py.typed",
        "spng/pictures/templates/frames.html",
        "spng/share/wirecell/cfg/pipeline.jsonnet",
    ):
        assert name in names or any(each.startswith(str(Path(name).parent)) for each in names), name


def dynamic_section(path: Path) -> dict[str, list[str]]:
    """Return {'NEEDED': [...], 'RPATH': [...], ...}."""
    text = subprocess.run(["objdump", "-p", str(path)], capture_output=True, text=True, check=True).stdout
    found: dict[str, list[str]] = {}
    for kind, value in re.findall(r"^  (NEEDED|RPATH|RUNPATH) +(\S+)$", text, re.MULTILINE):
        found.setdefault(kind, []).append(value)
    return found


def test_libraries_are_complete(wheel: Path, unpacked_wheel: Path) -> None:
    """Each library needs only others of the wheel, of torch and of the system, and the C library that the tag names."""
    package = unpacked_wheel / "spng"
    own = {path.name for path in package.glob("lib/*.so*")}
    built = build_folder()
    assert built is not None
    assert {path.name for path in (built / "lib").glob("*.so")} - libraries.LEFT_OUT <= own
    assert not [
        name for name in own if re.match(r"lib(c|m|stdc\+\+|gcc_s|gomp|torch.*|c10.*|cu.*|nv.*)\.so", name)
    ]
    symbols = ""
    for path in (*package.glob("lib/*.so*"), *package.glob("_core*.so"), package / "bin" / "wire-cell"):
        entries = dynamic_section(path)
        rest = set(entries.get("NEEDED", [])) - own
        outside = (libraries.SYSTEM, libraries.TORCH)
        assert not [name for name in rest if not any(each.fullmatch(name) for each in outside)], path.name
        assert "RUNPATH" not in entries, path.name
        folders = ":".join(entries.get("RPATH", [])).split(":")
        assert all(folder.startswith("$ORIGIN") for folder in folders if folder), path.name
        symbols += subprocess.run(["objdump", "-T", path], capture_output=True, text=True, check=True).stdout
    newest = max(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", symbols))
    assert f"-manylinux_2_{newest}_" in wheel.name


def test_nothing_of_this_machine_is_left(unpacked_wheel: Path) -> None:
    contents.reject_local_paths(unpacked_wheel, build_facts.read().folders())
    for path in unpacked_wheel.rglob("*"):
        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            sections = libraries.call("readelf", "--wide", "--sections", str(path))
            assert ".debug_info" not in sections and ".symtab" not in sections, path


def test_a_folder_of_this_machine_is_rejected_but_in_licences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The licence of Boost names /src/build/."""
    licence = tmp_path / "licences" / "boost.txt"
    licence.parent.mkdir()
    licence.write_text("Files: tools/build/src/build/*")
    (tmp_path / "page.md").write_text("cd /src/build")
    contents.reject_local_paths(tmp_path, ["/sr", "/src/build"])
    with pytest.raises(SystemExit) as end:
        contents.reject_local_paths(tmp_path, ["/src"])
    assert end.value.code == 1 and "page.md names /src, a folder" in capsys.readouterr().err


def test_it_has_terms_of_others_and_pages(unpacked_wheel: Path) -> None:
    pages = unpacked_wheel / "spng" / "share" / "doc"
    assert (
        (pages / "LICENSE").is_file() and (pages / "NOTICE").is_file() and (pages / "user-guide.md").is_file()
    )
    if shutil.which("dpkg-query"):
        assert (pages / "licences" / "libarchive13.txt").read_text(encoding="utf-8")


def test_equal_builds_give_equal_wheels(wheel: Path, tmp_path: Path) -> None:
    subprocess.run(
        [ROOT / "wcb", "wheel", "--no-build", f"--out={tmp_path}"], capture_output=True, check=True
    )
    assert [path.name for path in tmp_path.iterdir()] == [wheel.name]
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def linked(folder: Path, source: str, *options: str) -> Path:
    """Compile a small library."""
    path = folder / "libsmall.so"
    command = ["g++", "-x", "c++", "-", "-shared", "-fPIC", "-o", str(path), *options]
    subprocess.run(command, input=source, text=True, check=True)
    return path


@pytest.mark.parametrize("old", ["/nowhere/lib", "/lib", "/some/where"])
def test_search_paths(tmp_path: Path, old: str) -> None:
    """It becomes RPATH, also if the old text was shorter or shares its bytes with a symbol ("here")."""
    path = linked(tmp_path, 'extern "C" int here;  int here;', f"-Wl,--enable-new-dtags,-rpath,{old},-O2")
    facts = build_facts.BuildFacts(tmp_path, "", "", tmp_path)
    libraries.put_binary(path, tmp_path / "copy.so", "$ORIGIN", facts)
    seen = dynamic_section(tmp_path / "copy.so")
    assert seen["RPATH"] == ["$ORIGIN"] and "RUNPATH" not in seen
    code = "import ctypes, sys; ctypes.c_int.in_dll(ctypes.CDLL(sys.argv[1]), 'here')"
    subprocess.run([sys.executable, "-c", code, tmp_path / "copy.so"], check=True)


def test_a_library_that_is_not_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    needed = linked(tmp_path, "int two() { return 2; }", "-Wl,-soname,libabsent.so")
    ours = tmp_path / "libours.so"
    words = ["-shared", "-fPIC", "-o", str(ours), "-x", "none", str(needed)]
    source = "int two(); int four() { return two() + two(); }"
    subprocess.run(["g++", "-x", "c++", "-", *words], input=source, text=True, check=True)
    with pytest.raises(SystemExit):
        libraries.dependencies(ours)
    assert "libours.so needs libabsent.so, which is not found" in capsys.readouterr().err


def test_a_missing_tool(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        libraries.call("no-such-tool")
    assert "no-such-tool is not installed. To fix: ./wcb setup" in capsys.readouterr().err


@pytest.mark.parametrize("mode", ["", "asan"])
def test_a_build_that_is_none_or_no_release(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    headers = ("include/spng/build_info.h", "include/spng/build_commit.h")
    for name in ("bin/wire-cell", *(("lib/libWireCellSpng.so", *headers) if mode else ())):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f'inline constexpr const char* build_mode = "{mode}";\n')
    monkeypatch.setattr(build_facts, "build_folder", lambda: tmp_path)
    with pytest.raises(SystemExit) as end:
        build_facts.read()
    assert end.value.code == 2
    assert ("a build of mode asan" if mode else "nothing is built") in capsys.readouterr().err


def run(installed: Path, *words: str | Path, folder: Path) -> subprocess.CompletedProcess:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}
    base = getattr(sys, "_base_executable", sys.executable)
    return subprocess.run(
        [base, "-s", *map(str, words)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_torch_may_be_in_another_folder(unpacked_wheel: Path, installed: Path, tmp_path: Path) -> None:
    """As with pip install --user, or a virtual environment above one that has torch."""
    shutil.copytree(unpacked_wheel, tmp_path, dirs_exist_ok=True)
    for name in ("numpy", "numpy.libs"):
        (tmp_path / name).symlink_to(installed / name)
    code = "import spng.native, torch; print(spng.native.core.__file__, torch.__file__)"
    done = run(tmp_path, "-c", code, folder=tmp_path)
    assert done.returncode == 1 and "pip install torch==2.11.*" in done.stderr
    done = run(tmp_path, "-c", f"import sys; sys.path.append({str(installed)!r}); {code}", folder=tmp_path)
    module, torch = done.stdout.split()
    assert Path(module).parent == tmp_path / "spng" and Path(torch).parent == installed / "torch", done.stderr


def test_the_same_bytes_as_the_program(installed: Path, tmp_path: Path) -> None:
    done = wire_cell.run(
        "-c", wire_cell.PIPELINE, "-A", f"input={wire_cell.ADC}", "-A", "output=job.npz", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    done = run(installed, "-c", PROGRAM, wire_cell.ADC, "wheel.npz", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == str(installed / "spng" / "__init__.py")
    assert (tmp_path / "wheel.npz").read_bytes() == (tmp_path / "job.npz").read_bytes()
    program = next(installed.glob("wirecell_spng-*.data/scripts/wire-cell"))
    words = ("-c", "pipeline.jsonnet", "-A", f"input={wire_cell.ADC}", "-A", "output=script.npz")
    done = run(installed, program, *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "script.npz").read_bytes() == (tmp_path / "job.npz").read_bytes()
    done = run(installed, "-m", "wirecell_frame", "info", "wheel.npz", folder=tmp_path)
    assert done.returncode == 0 and "signal" in done.stdout, done.stderr
