# SPDX-License-Identifier: Apache-2.0
"""./wcb configure: options of the Wire-Cell Toolkit, kinds of LibTorch, and errors."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from scripts.wcb import waf
from scripts.wcb.help_text import spng_options

VERSION_HEADER = "include/torch/headeronly/version.h"


def found(output: str, name: str) -> str:
    """Return the text of one row of configure's summary."""
    match = re.search(rf"^ *{re.escape(name)}  +(.+)$", output, re.MULTILINE)
    assert match, f"no row {name} in:\n{output}"
    return match[1]


def test_the_line_of_the_talk_works_unchanged(configure, torch_folder, tmp_path):
    """Its prefix holds Boost, and the CUDA headers under targets/, as in a conda or spack view."""
    cuda = torch_folder.parent / "nvidia" / "cu13"
    prefix = tmp_path / "prefix"
    for folder in ("lib", "include", "targets/x86_64-linux"):
        (prefix / folder).mkdir(parents=True)
    (prefix / "include" / "boost").symlink_to("/usr/include/boost")
    for library in Path("/usr/lib").glob("*-linux-gnu/libboost_program_options.*"):
        (prefix / "lib" / library.name).symlink_to(library)
    for folder in ("include", "lib"):
        (prefix / "targets" / "x86_64-linux" / folder).symlink_to(cuda / folder)
    line = (
        "--prefix=$PREFIX --boost-mt --boost-libs=$PREFIX/lib --boost-include=$PREFIX/include "
        "--with-jsonnet-libs=gojsonnet --with-cuda-lib=/usr/lib/x86_64-linux-gnu,$PREFIX/targets/x86_64-linux/lib "
        "--with-cuda-include=$PREFIX/targets/x86_64-linux/include --with-libtorch=$TDIR "
        "--with-libtorch-include=$TDIR/include,$TDIR/include/torch/csrc/api/include,$PREFIX/targets/x86_64-linux/include "
        "--with-libtorch-lib=$TDIR/lib,$PREFIX/targets/x86_64-linux/lib --with-root=$PREFIX --with-nvtx"
    )
    done = configure(*line.replace("$PREFIX", str(prefix)).replace("$TDIR", str(torch_folder)).split())
    assert done.status == 0, done.err
    assert found(done.out, "NVTX ranges") == f"compiled in ({prefix}/targets/x86_64-linux/include)"
    assert str(prefix / "lib") in found(done.out, "boost")
    assert found(done.out, "install to") == str(prefix)
    assert "--with-root has no meaning here and is ignored" in done.out
    assert "Next: ./wcb" in done.out


def test_the_usual_case_needs_no_option(configure, torch_folder, tmp_path):
    """Headers of another fmt are not seen: the torch wheel has fmt too, and spdlog's own fmt must be found first."""
    done = configure()
    assert done.status == 0, done.err
    assert re.match(r"2\.\d\d", found(done.out, "LibTorch"))
    assert found(done.out, "NVTX ranges") == "left out (--with-nvtx)"
    assert found(done.out, "WCT plugin") == "left out (--with-wirecell=DIR)"
    assert "note" not in done.out
    parts = tmp_path / "build" / "parts" / "include"
    assert {"fmt", "spdlog", "boost", "nlohmann", "archive.h"} <= {path.name for path in parts.iterdir()}
    assert (parts / "fmt").resolve() != (torch_folder / "include" / "fmt").resolve()


def test_headers_of_cuda_that_do_not_compile_are_left_out(configure, tmp_path):
    """Those in crt/ are a package of their own since CUDA 13."""
    cuda = tmp_path / "cuda" / "include"
    cuda.mkdir(parents=True)
    for name in ("cuda_runtime_api.h", "cupti.h"):
        (cuda / name).write_text('#include "crt/there_is_no_such_header.h"\n')
    done = configure(f"--with-cuda={cuda.parent}")
    assert done.status == 0, done.err
    assert found(done.out, "CUDA headers") == "none"
    assert found(done.out, "CUDA kernels").startswith("left out")
    assert f"CUDA's headers in {cuda} do not compile" in found(done.out, "note")


def test_a_libtorch_without_cuda_is_enough(configure, made_up_torch):
    done = configure(f"--with-libtorch={made_up_torch()}", "--build-mode=debug")
    assert done.status == 0, done.err
    assert found(done.out, "CUDA") == "no, CPU only"
    assert found(done.out, "compiler").endswith("debug")


def test_libtorch_by_header_and_library_folders(configure, made_up_torch):
    folder = made_up_torch()
    done = configure(f"--with-libtorch-include={folder}/include", f"--with-libtorch-lib={folder}/lib")
    assert done.status == 0, done.err
    assert str(folder) in found(done.out, "LibTorch")


def test_an_old_libtorch_is_rejected(configure, made_up_torch):
    header = b"".join(
        b"#define TORCH_VERSION_%s %d\n" % pair for pair in ((b"MAJOR", 2), (b"MINOR", 10), (b"PATCH", 1))
    )
    done = configure(f"--with-libtorch={made_up_torch({VERSION_HEADER: header})}")
    assert done.status != 0
    assert "LibTorch 2.10.1" in done.err and "too old: 2.11 or newer is needed" in done.err


def test_the_old_abi_is_rejected(configure, made_up_torch):
    done = configure(
        f"--with-libtorch={made_up_torch({'lib/libc10.so': b'_ZN3c105ErrorC1ENS_14SourceLocationESs'})}"
    )
    assert done.status != 0
    assert "old C++ ABI" in done.err and "To fix" in done.err


def test_a_folder_without_libtorch_says_so(configure, tmp_path):
    done = configure(f"--with-libtorch={tmp_path}")
    assert done.status != 0
    assert f"no libtorch_cpu.so with libc10.so in {tmp_path}/lib" in done.err


@pytest.mark.usefixtures("torch_folder")
def test_a_missing_part_is_named_with_its_packages(configure, tmp_path):
    done = configure(f"--with-spdlog={tmp_path}")
    assert done.status != 0
    assert "spdlog: no spdlog or libspdlog.so in" in done.err
    assert "apt: libspdlog-dev" in done.err and "conda-forge: spdlog" in done.err


@pytest.mark.usefixtures("torch_folder")
def test_a_folder_without_the_toolkit_says_so(configure, tmp_path):
    done = configure(f"--with-wirecell={tmp_path}")
    assert done.status != 0
    header = tmp_path / "include" / "WireCellUtil" / "BuildConfig.h"
    assert f"--with-wirecell={tmp_path} is no installation of WCT: no {header}" in done.err
    assert "To fix: give the folder" in done.err
    assert "--with-wirecell has no folder" in configure("--with-wirecell").err


@pytest.mark.usefixtures("torch_folder")
@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("0.24.3", "WCT 0.24.3 is too old\n  To fix: WCT 0.25 or newer is needed"),
        ("0.35.0-1069-g2ddac97f", "headers and libraries of WCT do not compile and link"),
    ],
)
def test_an_unfit_toolkit_is_rejected(configure, tmp_path, version, message):
    """One that is too old, and one whose files are empty."""
    root = tmp_path / "wct"
    for name in (
        "include/WireCellUtil/BuildConfig.h",
        "include/WireCellIface/IFrameFilter.h",
        "lib/libWireCellUtil.so",
        "lib/libWireCellIface.so",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f'#define WIRECELL_VERSION "{version}"\n', encoding="utf-8")
    done = configure(f"--with-wirecell={root}")
    assert done.status != 0
    assert message in done.err


# Declared by wscript and waft/*.py of the Wire-Cell Toolkit at commit 2ddac97f (August 2026).
TOOLKIT_PARTS = (
    "boost bzip2 cuda czmq eigen fftw fftwthreads glpk grpc hdf5 jsoncpp jsonnet kokkos libtorch protobuf python root "
    "spdlog tbb triton zio zlib zmq zyre"
).split()
TOOLKIT_FLAGS = (
    "--alltests --boost-linkage_autodetect --boost-mt --clear-failed --dump-test-scripts --notests --tests --with-nvtx"
).split()
TOOLKIT_VALUES = (
    "--boost-abi --boost-includes --boost-libs --boost-python --boost-toolset --build-debug --cxxstd --docs --docs-prefix "
    "--emacs-daemon --install-config --kokkos-options --test-data-url --test-data-versions --test-duration --test-group "
    "--testcmd --with-spdlog-active-level --with-spdlog-static --with-spng"
).split()


@pytest.fixture
def parser(monkeypatch) -> argparse.ArgumentParser:
    """The parser of ./wcb configure, without waf's own options."""
    result = argparse.ArgumentParser(exit_on_error=False)

    class Options:
        """The part of waf's options that declares ours."""

        parser = result

        def add_option_group(self, title):
            return type("Group", (), {"add_option": result.add_argument_group(title).add_argument})

    monkeypatch.setattr("sys.argv", ["wcb"])
    spng_options.options(Options())
    return result


def test_all_options_of_the_toolkit_are_accepted(parser):
    """Those of parts in all four forms."""
    values = [
        f"--with-{part}{suffix}"
        for part in TOOLKIT_PARTS
        if part not in ("boost", "root")
        for suffix in ("", "-include", "-lib", "-libs")
    ]
    given = TOOLKIT_FLAGS + [
        f"{option}=x" for option in [*values, *TOOLKIT_VALUES, "--with-boost", "--with-root"]
    ]
    seen, unknown = parser.parse_known_args(waf.with_values(given))
    assert unknown == []
    assert {"--install-config", "--with-spng", "--clear-failed"} <= set(spng_options.ignored_options(seen))
    assert seen.build_debug == "x"


@pytest.mark.usefixtures("torch_folder")
def test_words_for_no_and_options_of_the_toolkit(configure, tmp_path):
    """Words other than "no" mean no too, and these options are accepted."""
    toolkit = (
        "--with-spng=yes --install-config=all --with-bzip2 --with-python --boost-abi=x --boost-python=311 "
        "--docs-prefix=/d --testcmd=%s --clear-failed"
    ).split()
    done = configure(
        "--with-nvtx=False", "--with-benchmark=OFF", "--with-lineinfo", "--build-debug=-O0 -ggdb3", *toolkit
    )
    assert done.status == 0, done.err
    assert found(done.out, "NVTX ranges") == "left out (--with-nvtx)"
    assert found(done.out, "benchmark") == "absent, what needs it is left out"
    kernels = found(done.out, "CUDA kernels")
    assert kernels.startswith("left out") or kernels.endswith(", with line information")
    for option in toolkit:
        assert f"{option.split('=')[0]} has no meaning here and is ignored" in done.out
    settings = next((tmp_path / "build" / "c4che").glob("*_cache.py")).read_text(encoding="utf-8")
    assert "'-O2', '-g1', '-O0', '-ggdb3'" in settings


@pytest.mark.parametrize("text, meant", [
    ("yes", "yes"), ("on", "yes"), ("True", "yes"), ("1", "yes"), ("no", "no"), ("OFF", "no"), ("false", "no"), ("0", "no"),
    ("/a/folder", "/a/folder"), ("folder", "folder"),
])  # fmt: skip
def test_words_for_yes_and_no(text, meant):
    assert spng_options.yes_no_or_folder(text) == meant


def test_lineinfo_takes_no_folder(configure):
    done = configure("--with-lineinfo=/a/folder")
    assert done.status == 2
    assert "--with-lineinfo" in done.err and "/a/folder" in done.err


@pytest.mark.parametrize("arguments, seen", [
    (["configure", "--with-nvtx"], ["configure", "--with-nvtx=yes"]),
    (["--with-lineinfo", "configure"], ["--with-lineinfo=yes", "configure"]),
    (["--boost-abi", "configure", "build"], ["--boost-abi=yes", "configure", "build"]),
    (["--boost-abi", "-v"], ["--boost-abi=yes", "-v"]),
    (["--with-fmt", "/a", "--with-nvtx=no"], ["--with-fmt=/a", "--with-nvtx=no"]),
])  # fmt: skip
def test_an_option_without_a_value_leaves_the_command_alone(arguments, seen):
    assert waf.with_values(arguments) == seen


@pytest.mark.parametrize("option, message", [
    ("--with-nvtx={}", "--with-nvtx={0}: no nvtx3/nvToolsExt.h in {0}/include"),
    ("--with-nvtx={}/nonexistent", "--with-nvtx={0}/nonexistent: no nvtx3/nvToolsExt.h in {0}/nonexistent/include"),
    ("--with-cuda={}/nonexistent", "--with-cuda={0}/nonexistent: no such folder"),
    ("--with-sqlite={}", "sqlite: no sqlite3.h or libsqlite3.so in {0}/include, {0}/lib"),
])  # fmt: skip
@pytest.mark.usefixtures("torch_folder")
def test_a_folder_without_the_part_is_rejected(configure, tmp_path, option, message):
    """It must not be replaced by another folder, and the part must not be omitted, without an error."""
    done = configure(option.format(tmp_path))
    assert done.status != 0
    assert message.format(tmp_path) in done.err


def test_nvtx_without_headers_is_rejected(configure, made_up_torch):
    done = configure(f"--with-libtorch={made_up_torch()}", "--with-nvtx", CUDA_HOME="/nonexistent")
    assert done.status != 0
    assert "--with-nvtx: no nvtx3/nvToolsExt.h in" in done.err


def test_build_modes_are_the_documented_ones(configure):
    done = configure("--build-mode=fast")
    assert done.status == 2
    assert "asan" in done.err + done.out
