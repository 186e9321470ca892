# SPDX-License-Identifier: Apache-2.0
"""./wcb bundle: its contents and requirements, no path of this machine, and folders that it must not replace."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.wcb.bundle import build_facts, command, contents, elf_file, icu_stub, libraries
from tests.build.bundle_support import (
    ROOT,
    dynamic_section,
    elf_files,
    fingerprint,
    program,
    torch_folder,
    wcb_bundle,
)

LEFT_OUT = {"libWireCellSpngGrpc.so", "libWireCellSpngPlugin.so"}  # need libraries of the system, or of WCT
LARGEST = 60e6  # bytes, without LibTorch

# Present on every Linux with glibc (LSB, and the processor's ABI).
C_LIBRARY = {
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
}
FROM_THE_WHEEL = {"libtorch_cpu.so", "libc10.so", "libtorch_cuda.so", "libc10_cuda.so", "libcudart.so.13"}


def test_a_folder_of_this_machine_is_rejected_but_in_licences(tmp_path: Path) -> None:
    """The licence of Boost names /src/build/."""
    licence = tmp_path / "share" / "doc" / "licences" / "boost.txt"
    licence.parent.mkdir(parents=True)
    licence.write_text("Files: tools/build/src/build/*")
    command.reject_local_paths(tmp_path, ["/src"])
    (tmp_path / "share" / "doc" / "page.md").write_text("cd /src/build")
    with pytest.raises(SystemExit):
        command.reject_local_paths(tmp_path, ["/src"])


def test_it_has_what_it_needs_and_is_small(bundle: Path) -> None:
    for name in (
        "bin/wire-cell",
        "bin/wirecell-profile",
        "bin/wirecell-campaign",
        "bin/wirecell-frame",
        "bin/spng-demo",
        "libexec/wire-cell",
        "python/spng/pictures/templates/frames.html",
        "lib/libWireCellSpng.so",
        "python/wirecell_campaign/cli.py",
        "share/wirecell/cfg/pipeline.jsonnet",
        "share/wirecell/data/dnnroi.ts",
        "share/wirecell/data/tracks10-adc.tar.bz2",
        "share/doc/user-guide.md",
        "README.md",
        "MANIFEST.json",
        "LICENSE",
        "NOTICE",
        "python/wirecell_profile/html/templates/page.js",
    ):
        assert (bundle / name).is_file(), name
    assert sum(path.stat().st_size for path in bundle.rglob("*")) < LARGEST
    assert not [path for path in bundle.rglob("*") if path.is_symlink() or "__pycache__" in path.parts]
    built = {path.name for path in (program().parents[1] / "lib").glob("*.so")}
    assert built - LEFT_OUT <= {path.name for path in (bundle / "lib").iterdir()}
    for name in ("bin/wire-cell", "bin/wirecell-profile", "bin/spng-demo"):
        assert (bundle / name).stat().st_mode & 0o777 == 0o755
    assert (bundle / "MANIFEST.json").stat().st_mode & 0o777 == 0o644


def test_every_library_is_in_it_or_on_every_machine(bundle: Path) -> None:
    """And no library of LibTorch, CUDA or the C library is in it; every library searches its own folder."""
    inside = {path.name for path in bundle.glob("lib/**/*") if path.is_file()}
    assert not inside & (C_LIBRARY | FROM_THE_WHEEL)
    assert not [name for name in inside if re.match(r"lib(torch|c10|cu|nv)", name)]
    seen = elf_files(bundle)
    assert len(seen) > 15
    for path in seen:
        entries = dynamic_section(path)
        assert set(entries.get("NEEDED", [])) <= inside | C_LIBRARY | FROM_THE_WHEEL, path
        assert "RUNPATH" not in entries
        search_path = {"libexec": "$ORIGIN/../lib", "spng": "$ORIGIN/../../lib"}.get(
            path.parent.name, "$ORIGIN"
        )
        assert set(entries.get("RPATH", [])) <= {search_path}
    assert "RPATH" in dynamic_section(bundle / "lib" / "libWireCellSpng.so")
    assert {path.name for path in (bundle / "lib" / "runtime").iterdir()} == {
        "libstdc++.so.6",
        "libgcc_s.so.1",
    }
    assert not {"libstdc++.so.6", "libgomp.so.1"} & {path.name for path in (bundle / "lib").iterdir()}


def test_nothing_of_this_machine_is_left(bundle: Path) -> None:
    folders = {str(ROOT), str(torch_folder()), str(program().parents[1]), str(Path.home() / ".")}
    for path in bundle.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not [folder for folder in folders if f"{folder}/".encode() in content], path
    for path in elf_files(bundle):
        sections = subprocess.run(
            ["readelf", "-SW", str(path)], capture_output=True, text=True, check=True
        ).stdout
        assert ".debug_info" not in sections and ".symtab" not in sections, path


def test_the_manifest_tells_the_truth(bundle: Path) -> None:
    manifest = json.loads((bundle / "MANIFEST.json").read_text())
    files = {str(path.relative_to(bundle)) for path in bundle.rglob("*") if path.is_file()} - {
        "MANIFEST.json"
    }
    assert set(manifest["files"]) == files
    for name, checksum in manifest["files"].items():
        assert hashlib.sha256((bundle / name).read_bytes()).hexdigest() == checksum, name
    version = subprocess.run([program(), "--version"], capture_output=True, text=True, check=True).stdout
    assert re.search(r"commit +(\S+)", version)[1] == manifest["commit"]
    assert re.search(r"LibTorch +([\d.]+)", version)[1] == manifest["torch"]

    needed: dict[str, set[tuple[int, ...]]] = {}
    for path in elf_files(bundle):
        text = subprocess.run(["objdump", "-p", str(path)], capture_output=True, text=True, check=True).stdout
        references = text.partition("Version References:")[2]
        for kind, version in re.findall(r" (GLIBC|GLIBCXX|CXXABI|GCC)_([\d.]+)$", references, re.MULTILINE):
            needed.setdefault(kind, set()).add(tuple(map(int, version.split("."))))
    assert {kind: ".".join(map(str, max(numbers))) for kind, numbers in needed.items()}.items() <= manifest[
        "needs"
    ].items()
    assert (
        f"glibc {manifest['needs']['GLIBC']} or newer" in (bundle / "libexec" / "find-torch.sh").read_text()
    )

    others = manifest["libraries_of_others"]
    assert set(others) == {name for name in files if name.startswith("lib/")} - {
        f"lib/{path.name}" for path in (program().parents[1] / "lib").glob("*.so")
    }
    if others["lib/libarchive.so.13"]["package"] != "unknown":
        assert (bundle / "share" / "doc" / "licences" / "libarchive13.txt").read_text()


def test_the_same_build_gives_the_same_bundle_and_only_bundles_are_replaced(
    bundle: Path, tmp_path: Path
) -> None:
    """An untouched or damaged bundle and an empty folder are replaced; files added to a bundle are not lost."""
    target = tmp_path / "folder"
    target.mkdir()
    (target / "thesis.tex").write_text("kept")
    foreign = wcb_bundle(target)
    assert foreign.returncode == 2 and "is not empty and not a bundle" in foreign.stderr
    (target / "thesis.tex").unlink()
    assert wcb_bundle("folder", folder=tmp_path).returncode == 0  # empty now; the path is the caller's
    assert fingerprint(target) == fingerprint(bundle)
    (target / "signal.npz").write_text("kept")
    added = wcb_bundle(target)
    assert added.returncode == 2 and "signal.npz" in added.stderr and "would be lost" in added.stderr
    (target / "signal.npz").unlink()
    (target / "README.md").unlink()
    assert wcb_bundle(target).returncode == 0 and fingerprint(target) == fingerprint(bundle)
    file = wcb_bundle(target / "README.md")
    assert file.returncode == 2 and "exists and is not a folder" in file.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("present", [[], ["bin/wire-cell"], ["bin/wire-cell", "lib/libWireCellSpng.so"]])
def test_a_build_that_is_not_there(
    present: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in present:
        (tmp_path / "build" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "build" / name).touch()
    monkeypatch.setattr(build_facts, "build_folder", lambda: tmp_path / "build")
    with pytest.raises(SystemExit) as end:
        command.main([str(tmp_path / "made"), "--no-build"])
    assert end.value.code == 2 and "nothing is built" in capsys.readouterr().err
    assert not (tmp_path / "made").exists()


def test_a_debug_build_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    headers = ("include/spng/build_info.h", "include/spng/build_commit.h")
    for name in ("bin/wire-cell", "lib/libWireCellSpng.so", *headers):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('inline constexpr const char* build_mode = "asan";\n')
    monkeypatch.setattr(build_facts, "build_folder", lambda: tmp_path)
    with pytest.raises(SystemExit) as end:
        build_facts.read()
    assert end.value.code == 2 and "a build of mode asan" in capsys.readouterr().err


def test_a_failure_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A disk full during the copy: one line, status 1, and no part of a bundle."""
    program()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(contents, "put_licence", full)
    with pytest.raises(SystemExit) as end:
        command.main([str(tmp_path / "made"), "--no-build"])
    assert end.value.code == 1 and "No space left on device" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_folder_of_this_machine_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "note.json").write_text('{"from": "/home/me/checkout/cfg"}')
    (tmp_path / "MANIFEST.json").write_text("{}")
    command.reject_local_paths(tmp_path, ["/home/me/check"])
    with pytest.raises(SystemExit) as end:
        command.reject_local_paths(tmp_path, ["/home/me/checkout"])
    assert end.value.code == 1 and "note.json names /home/me/checkout" in capsys.readouterr().err


def linked(folder: Path, source: str, *options: str) -> Path:
    """Compile a small library."""
    path = folder / "libsmall.so"
    subprocess.run(
        ["g++", "-x", "c++", "-", "-shared", "-fPIC", "-o", str(path), *options],
        input=source,
        text=True,
        check=True,
    )
    return path


def test_elf_files_are_read_as_objdump_reads_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Our own library, and one that defines versions that it does not need."""
    library = program().parents[1] / "lib" / "libWireCellSpng.so"
    seen = dynamic_section(library)
    assert elf_file.needed_libraries(library) == seen["NEEDED"]
    assert elf_file.dynamic_entries(library, "RPATH|RUNPATH") == seen["RUNPATH"]
    text = subprocess.run(["objdump", "-p", str(library)], capture_output=True, text=True, check=True).stdout
    references = re.findall(
        r"^    0x\w+ 0x\w+ \d+ (\S+)$", text.partition("Version References:")[2], re.MULTILINE
    )
    assert elf_file.needed_versions(library) == set(references) and "GLIBC_" in " ".join(references)
    script = tmp_path / "versions"
    script.write_text("OWN_1.0 { global: two; };")
    assert "OWN_1.0" not in elf_file.needed_versions(
        linked(tmp_path, 'extern "C" int two() { return 2; }', f"-Wl,--version-script={script}")
    )
    with pytest.raises(SystemExit):
        elf_file.needed_libraries(Path(__file__))
    assert "test_bundle.py cannot be read: readelf: Error: Not an ELF file" in capsys.readouterr().err


def test_search_paths(tmp_path: Path) -> None:
    """It becomes RPATH, also if the old text was shorter or shares its bytes with a symbol; a file without any gets none."""
    path = linked(tmp_path, "int one;", "-Wl,--enable-new-dtags,-rpath,/nowhere/lib")
    size = path.stat().st_size
    elf_file.set_search_path(path, "$ORIGIN")
    assert dynamic_section(path)["RPATH"] == ["$ORIGIN"] and "RUNPATH" not in dynamic_section(path)
    assert b"/nowhere" not in path.read_bytes() and path.stat().st_size == size
    for source, old in (
        ('extern "C" int here;  int here;', "/lib"),
        ('extern "C" int here;  int here;', "/some/where"),
    ):  # the linker keeps "here" as the end of "/some/where"
        path = linked(tmp_path, source, f"-Wl,-rpath,{old},-O2")
        elf_file.set_search_path(path, "$ORIGIN")
        assert dynamic_section(path)["RPATH"] == ["$ORIGIN"]
        subprocess.run(
            [
                sys.executable,
                "-c",
                "import ctypes, sys; ctypes.c_int.in_dll(ctypes.CDLL(sys.argv[1]), 'here')",
                path,
            ],
            check=True,
        )
    path = linked(tmp_path, "int one;")
    before = path.read_bytes()
    elf_file.set_search_path(path, "$ORIGIN")
    assert path.read_bytes() == before


def test_without_patchelf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = linked(tmp_path, "int one;", "-Wl,-rpath,/nowhere/lib")
    monkeypatch.setattr(elf_file, "VENV", tmp_path)
    monkeypatch.setattr(elf_file.shutil, "which", lambda name, path: None)
    with pytest.raises(SystemExit):
        elf_file.set_search_path(path, "$ORIGIN")
    assert "patchelf is not installed. To fix: ./wcb setup" in capsys.readouterr().err


def test_a_library_that_is_not_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    needed = linked(other, "int two() { return 2; }", "-Wl,-soname,libsmall.so")
    folder = tmp_path / "lib"
    folder.mkdir()
    ours = folder / "libours.so"
    subprocess.run(
        ["g++", "-x", "c++", "-", "-shared", "-fPIC", "-o", str(ours), "-x", "none", str(needed)],
        input="int two(); int four() { return two() + two(); }",
        text=True,
        check=True,
    )
    with pytest.raises(SystemExit):
        libraries.libraries(folder, "g++")
    assert "libours.so needs libsmall.so, which is not found" in capsys.readouterr().err


def test_the_empty_tables_suffice_for_xml(bundle: Path) -> None:
    """libxml2 of the bundle parses several encodings without ICU's tables."""
    if not (bundle / "lib" / "libxml2.so.2").exists():
        pytest.skip("libarchive of this system needs no libxml2")
    data = list((bundle / "lib").glob("libicudata.so.*"))
    assert not data or data[0].stat().st_size < 20_000
    script = """if True:
        import ctypes, sys
        xml = ctypes.CDLL(sys.argv[1])
        xml.xmlReadMemory.restype = ctypes.c_void_p
        xml.xmlDocGetRootElement.restype = ctypes.c_void_p
        xml.xmlNodeGetContent.restype = ctypes.c_char_p
        for code in ("UTF-8", "ISO-8859-1", "UTF-16"):
            text = f'<?xml version="1.0" encoding="{code}"?><a>\\u00e4\\u00f6</a>'.encode(code)
            document = xml.xmlReadMemory(text, len(text), None, None, 0)
            root = xml.xmlDocGetRootElement(ctypes.c_void_p(document))
            assert xml.xmlNodeGetContent(ctypes.c_void_p(root)).decode() == "\\u00e4\\u00f6", code
    """
    subprocess.run(
        [sys.executable, "-c", script, str(bundle / "lib" / "libxml2.so.2")],
        check=True,
        env={"LD_LIBRARY_PATH": str(bundle / "lib")},
    )
    assert icu_stub.empty_tables()[12:16] == b"CmnD" and len(icu_stub.empty_tables()) == 56
