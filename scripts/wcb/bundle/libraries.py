# SPDX-License-Identifier: Apache-2.0
"""Libraries of the bundle: all dependencies of ours except LibTorch, CUDA and the C library."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..checkout import fail
from .elf_file import needed_libraries

# The C library: its parts fit only each other and the machine's loader, so each machine uses its own.
C_LIBRARY = re.compile(r"(ld-linux.*|linux-vdso|lib(c|m|dl|pthread|rt|util|resolv|anl|mvec|nsl))\.so(\.\d+)?")
# Libraries of the torch wheel, of its dependencies, or of the driver.
TORCH = re.compile(
    r"lib(torch|c10|cud|cublas|cufft|curand|cusolver|cusparse|cupti|nvrtc|nvJit|nccl|nvidia).*"
)

# gRPC would add 51 libraries of 19 MB; without this one the program names it when it is needed. The plugin for the Wire-Cell
# Toolkit runs in the toolkit's own program (docs/wirecell-plugin.md).
LEFT_OUT = {"libWireCellSpngGrpc.so", "libWireCellSpngPlugin.so"}

# Libraries of the compiler that LibTorch or the system have too. The newest must be loaded, and two OpenMP runtimes in one
# process would each start their own threads; so they have folders of their own, and the launcher chooses.
RUNTIME_FOLDER = {"libstdc++.so.6": "runtime", "libgcc_s.so.1": "runtime", "libgomp.so.1": "openmp"}


@dataclass(frozen=True)
class Library:
    """A library: its SONAME, its path on this machine, and its location below lib/ of the bundle."""

    name: str
    path: Path
    location: Path
    is_ours: bool


def libraries(own_folder: Path, compiler: str) -> list[Library]:
    """Return the libraries in `own_folder` and all their dependencies, by name. End with a message if one is not found."""
    found = {
        path.name: Library(path.name, path, Path(path.name), True)
        for path in sorted(own_folder.glob("*.so"))
        if path.name not in LEFT_OUT
    }
    waiting = list(found.values())
    while waiting:
        library = waiting.pop()
        paths = linked_paths(library.path)
        for name in needed_libraries(library.path):
            if name in found or C_LIBRARY.fullmatch(name) or TORCH.fullmatch(name):
                continue
            path = compiler_file(compiler, name) if name in RUNTIME_FOLDER else paths.get(name)
            if path is None:
                fail(f"{library.path} needs {name}, which is not found. To fix: ./wcb setup && ./wcb", 1)
            location = Path(RUNTIME_FOLDER.get(name, "")) / name
            found[name] = Library(name, path.resolve(), location, False)
            waiting.append(found[name])
    return [found[name] for name in sorted(found)]


def linked_paths(path: Path) -> dict[str, Path]:
    """Return name -> path of the dependencies that the loader of this machine finds."""
    answer = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False).stdout
    return {name: Path(path) for name, path in re.findall(r"^\s*(\S+) => (/.+) \(0x", answer, re.MULTILINE)}


def compiler_file(compiler: str, name: str) -> Path | None:
    """Return the path of the compiler's own library, not LibTorch's copy of it (libgomp)."""
    answer = subprocess.run(
        [compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=False
    )
    path = Path(answer.stdout.strip())
    return path if path.is_absolute() else None
