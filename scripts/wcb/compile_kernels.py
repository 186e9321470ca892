"""Compiles spng/kernels/all.cu for one kind of device: with nvcc, or with NVRTC alone, which needs no toolkit.

The build calls it once for each image (waf/spng_cuda.py), the tests to look at what comes out.
Neither needs a GPU.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path("spng/kernels/all.cu")

# No contraction to fused operations that the source does not name: a device must give the bits of the CPU's emulation.
LANGUAGE_FLAGS = ("--std=c++17", "--fmad=false")


class CompileError(Exception):
    """The compiler's messages."""


@dataclass(frozen=True)
class Image:
    """What is wanted: sm_90 gives machine code of that device, compute_75 PTX for it and all later ones."""

    architecture: str
    line_information: bool = False
    verbose: bool = False  # registers, spills and shared memory of each kernel, in the messages

    @property
    def is_ptx(self) -> bool:
        return self.architecture.startswith("compute_")


def with_nvcc(nvcc: str, image: Image, output: Path, source: Path = SOURCE) -> str:
    """Compiles; returns the messages."""
    command = [
        nvcc,
        *LANGUAGE_FLAGS,
        "-I.",
        f"--gpu-architecture={image.architecture}",
        "--ptx" if image.is_ptx else "--cubin",
        *(["--generate-line-info"] if image.line_information else []),
        *(["--ptxas-options=-v"] if image.verbose and not image.is_ptx else []),
        "-o",
        str(output.absolute()),
        str(source),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def with_nvrtc(library: str, image: Image, output: Path, source: Path = SOURCE) -> str:
    """Compiles; returns the messages."""
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
        f"--gpu-architecture={image.architecture}",
        *(["--generate-line-info"] if image.line_information else []),
        *(["--ptxas-options=-v"] if image.verbose and not image.is_ptx else []),
    ]
    encoded = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    status = nvrtc.nvrtcCompileProgram(program, len(options), encoded)
    messages = read("ProgramLog", program).rstrip(b"\0").decode()
    if status != 0:
        raise CompileError(f"NVRTC {' '.join(options)}\n{messages}")
    output.write_bytes(read("PTX", program).rstrip(b"\0") if image.is_ptx else read("CUBIN", program))
    return messages


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--compiler", choices=("nvcc", "nvrtc"), required=True)
    parser.add_argument("--path", required=True, help="the program nvcc, or libnvrtc.so")
    parser.add_argument("--architecture", required=True, help="sm_NN: machine code; compute_NN: PTX")
    parser.add_argument(
        "--lineinfo", action="store_true", help="which line of the source each instruction is from"
    )
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    compile_image = with_nvcc if arguments.compiler == "nvcc" else with_nvrtc
    try:
        compile_image(arguments.path, Image(arguments.architecture, arguments.lineinfo), arguments.output)
    except (CompileError, OSError) as error:
        print(f"compile_kernels: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
