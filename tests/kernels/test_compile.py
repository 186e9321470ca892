# SPDX-License-Identifier: Apache-2.0
"""Compile the CUDA kernels with NVRTC alone and with nvcc, and check for spills and unwanted float64. Needs no GPU."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "waf"))
from spng_cuda import find_nvcc  # noqa: E402

from scripts.wcb.compile_kernels import CompileError, Target, with_nvcc, with_nvrtc  # noqa: E402

NVRTC = next(iter(sorted(ROOT.glob(".venv/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.1[23]"))), None)
NVCC = next(
    (path for path in ("/usr/local/cuda/bin/nvcc", shutil.which("nvcc")) if path and Path(path).exists()),
    None,
)

COMPILERS = [
    pytest.param(
        lambda target, output: with_nvrtc(str(NVRTC), target, output),
        id="nvrtc",
        marks=pytest.mark.skipif(NVRTC is None, reason="no NVRTC: a LibTorch without CUDA"),
    ),
    pytest.param(
        lambda target, output: with_nvcc(str(NVCC), target, output),
        id="nvcc",
        marks=pytest.mark.skipif(NVCC is None, reason="no nvcc on this machine"),
    ),
]
LINE_INFORMATION = (b".debug_line", b"region_growth.cu")
Compile = Callable[[Target, Path], str]

# A multiple and a comparison for each run, the cut of a row, and the line over bad ticks: a tie must not depend on the
# device.
FLOAT64_IN = {
    "grow_regions",
    "robust_noise_float32",
    "robust_noise_of_short_rows_float32",
    "select_rows_int16",
    "select_rows_float32",
}


# Threads of kernels that transform hold their elements, so that fewer blocks share a multiprocessor.
REGISTERS = {"deconvolve_float32": 80, "deconvolve_float64": 128, "apply_time_filter_float64": 128} | {
    f"waveform_spectrum_{types}": 128 for types in ("int16_float64", "float64")
}


def kernel_names() -> set[str]:
    """Return the names in the emulator's list; a test below compares them with the kernels that host code
    launches.
    """
    text = (ROOT / "tests/kernels/emulated_kernels.cxx").read_text(encoding="utf-8")
    names = set(re.findall(r"\bKERNEL\((\w+)\)", text)) - {"name"}
    assert len(names) > 20
    return names


def per_kernel(messages: str) -> dict[str, str]:
    """Split the output of ptxas -v: kernel -> its messages."""
    parts = re.split(r"Compiling entry function '(\w+)'", messages)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_kernel_is_launched_by_an_operator_and_known_to_the_emulator() -> None:
    text = "".join(
        path.read_text(encoding="utf-8") for path in sorted((ROOT / "spng/kernels").rglob("*.cxx"))
    )
    launched = {name for name in re.findall(r'"([a-z_]+(?:_\w+)*)"', text) if name in kernel_names()}
    assert launched == kernel_names()


@pytest.mark.parametrize("compile_kernels", COMPILERS)
@pytest.mark.parametrize(("architecture", "line_information"), [("sm_80", False), ("sm_90", True)])
def test_no_kernel_spills_and_line_information_is_there_on_request(
    compile_kernels: Compile, architecture: str, line_information: bool, tmp_path: Path
) -> None:
    target = Target(architecture, verbose=True, line_information=line_information)
    messages = per_kernel(compile_kernels(target, tmp_path / "module.cubin"))
    assert set(messages) == kernel_names()
    for name, text in messages.items():
        assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in text, (name, text)
        registers = int(re.search(r"Used (\d+) registers", text)[1])
        # 64: four blocks of 256 threads to a multiprocessor
        assert registers <= REGISTERS.get(name, 64), (name, registers)
        assert "bytes lmem" not in text, (name, text)
    module = (tmp_path / "module.cubin").read_bytes()
    assert module[:4] == b"\x7fELF"
    assert [words in module for words in LINE_INFORMATION] == [line_information] * len(LINE_INFORMATION)


def by_the_script(target: Target, output: Path) -> None:
    """Compile with NVRTC by the command of the build, without toolkit, path or environment."""
    command = [sys.executable, str(ROOT / "scripts/wcb/compile_kernels.py"), "--compiler", "nvrtc"]
    command += ["--path", str(NVRTC), "--architecture", target.architecture, "--output", str(output)]
    done = subprocess.run(command, env={}, cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "compile_kernels",
    [pytest.param(by_the_script, id="nvrtc-script", marks=COMPILERS[0].marks), COMPILERS[1]],
)
def test_float32_kernels_have_no_float64_instruction(compile_kernels: Compile, tmp_path: Path) -> None:
    output = tmp_path / "module.ptx"
    compile_kernels(Target("compute_75"), output)
    parts = re.split(r"\.entry (\w+)\(", output.read_text(encoding="utf-8"))
    bodies = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert set(bodies) == kernel_names()
    with_float64 = {name for name, body in bodies.items() if re.search(r"\.f64\b", body)}
    assert with_float64 == {name for name in bodies if "float64" in name} | FLOAT64_IN
    assert not {name for name, body in bodies.items() if re.search(r"\.local\b|\bcall", body)}
    # Contractions would give other bits than the emulator; the fused operations are those of the source.
    fused = {name for name, body in bodies.items() if re.search(r"\bfma\.", body)}
    assert not {name for name in fused if name.startswith(("pack", "clipped"))} - {
        name for name in fused if re.search(r"\bdiv\.rn|\brcp\.rn", bodies[name])
    }


@pytest.mark.parametrize(
    ("seen", "fits"), [("13.1", True), ("13.0", True), ("13.2", False), ("12.9", False), ("14.0", False)]
)
def test_nvcc_must_not_be_newer_than_libtorch(seen: str, fits: bool, tmp_path: Path) -> None:
    nvcc = tmp_path / "bin/nvcc"
    nvcc.parent.mkdir()
    nvcc.write_text(f"#!/bin/sh\necho Cuda compilation tools, release {seen}, V{seen}.88\n", encoding="utf-8")
    nvcc.chmod(0o755)
    path, text = find_nvcc(SimpleNamespace(options=SimpleNamespace(with_cuda=str(tmp_path))), (13, 1))
    assert (path == str(nvcc)) == fits, text
    assert f"nvcc {seen}" in text


@pytest.mark.parametrize("compile_kernels", COMPILERS)
def test_what_does_not_compile_is_told(compile_kernels: Compile, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="sm_1\\b|arch"):
        compile_kernels(Target("sm_1"), tmp_path / "module.cubin")
