# SPDX-License-Identifier: Apache-2.0
"""Compile spng/kernels/plugin/all.cu for one device architecture: with nvcc, or with NVRTC, which needs no CUDA toolkit.

The build calls it once for each module (waf/spng_cuda.py); tests inspect its output. No GPU is needed.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path("spng/kernels/plugin/all.cu")

# No contraction to fused operations that the source does not name: a device must give the same bits as the emulation on the CPU.
LANGUAGE_FLAGS = ("--std=c++17", "--fmad=false")


class CompileError(Exception):
    """Compilation failed; the text has the compiler's messages."""


@dataclass(frozen=True)
class Target:
    """Target of a compilation: sm_90 gives machine code for that device, compute_75 PTX for it and all later devices."""

    architecture: str
    line_information: bool = False
    verbose: bool = False  # registers, spills and shared memory of each kernel, in the messages

    @property
    def is_ptx(self) -> bool:
        return self.architecture.startswith("compute_")


def with_nvcc(nvcc: str, target: Target, output: Path, source: Path = SOURCE) -> str:
    """Compile with nvcc; return its messages."""
    command = [
        nvcc,
        *LANGUAGE_FLAGS,
        "-I.",
        f"--gpu-architecture={target.architecture}",
        "--ptx" if target.is_ptx else "--cubin",
        *(["--generate-line-info"] if target.line_information else []),
        *(["--ptxas-options=-v"] if target.verbose and not target.is_ptx else []),
        "-o",
        str(output.absolute()),
        str(source),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def with_nvrtc(library: str, target: Target, output: Path, source: Path = SOURCE) -> str:
    """Compile with NVRTC; return its messages."""
    nvrtc = ctypes.CDLL(library)
    nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p

    def require(status: int, what: str) -> None:
        if status != 0:
            raise CompileError(f"{what}: {nvrtc.nvrtcGetErrorString(status).decode()}")

    def read(name: str, program: ctypes.c_void_p) -> bytes:
        size = ctypes.c_size_t()
        require(getattr(nvrtc, f"nvrtcGet{name}Size")(program, ctypes.byref(size)), name)
        data = ctypes.create_string_buffer(size.value)
        require(getattr(nvrtc, f"nvrtcGet{name}")(program, data), name)
        return data.raw

    program = ctypes.c_void_p()
    require(
        nvrtc.nvrtcCreateProgram(
            ctypes.byref(program), (ROOT / source).read_bytes(), str(source).encode(), 0, None, None
        ),
        "nvrtcCreateProgram",
    )
    options = [
        *LANGUAGE_FLAGS,
        f"-I{ROOT}",
        f"--gpu-architecture={target.architecture}",
        *(["--generate-line-info"] if target.line_information else []),
        *(["--ptxas-options=-v"] if target.verbose and not target.is_ptx else []),
    ]
    encoded = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    status = nvrtc.nvrtcCompileProgram(program, len(options), encoded)
    messages = read("ProgramLog", program).rstrip(b"\0").decode()
    if status != 0:
        raise CompileError(f"NVRTC {' '.join(options)}\n{messages}")
    output.write_bytes(read("PTX", program).rstrip(b"\0") if target.is_ptx else read("CUBIN", program))
    return messages


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--compiler", choices=("nvcc", "nvrtc"), required=True)
    parser.add_argument("--path", required=True, help="the program nvcc, or libnvrtc.so")
    parser.add_argument("--architecture", required=True, help="sm_NN for machine code, compute_NN for PTX")
    parser.add_argument("--lineinfo", action="store_true", help="add source line information")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    compile_module = with_nvcc if arguments.compiler == "nvcc" else with_nvrtc
    try:
        compile_module(arguments.path, Target(arguments.architecture, arguments.lineinfo), arguments.output)
    except (CompileError, OSError) as error:
        print(f"compile_kernels: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
