"""Which libraries go into the bundle: all that ours need, but nothing of LibTorch, CUDA or the C library."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..checkout import fail
from .elf_file import needed_libraries

# Of the C library: they fit only each other and the kernel's loader, so each machine has its own.
C_LIBRARY = re.compile(r"(ld-linux.*|linux-vdso|lib(c|m|dl|pthread|rt|util|resolv|anl|mvec|nsl))\.so(\.\d+)?")
# Of the torch wheel and the packages it brings, or of the driver.
TORCH = re.compile(
    r"lib(torch|c10|cud|cublas|cufft|curand|cusolver|cusparse|cupti|nvrtc|nvJit|nccl|nvidia).*"
)

# Compiler's libraries that LibTorch or the system have too. The newest must win, and two OpenMP runtimes in one
# process would each start their own threads; so these lie apart, for the launcher to choose.
RUNTIME_FOLDER = {"libstdc++.so.6": "runtime", "libgcc_s.so.1": "runtime", "libgomp.so.1": "openmp"}


@dataclass(frozen=True)
class Library:
    """A library by the name that others need it by, where it is here, and its place below lib/ of the bundle."""

    name: str
    path: Path
    place: Path
    is_ours: bool


def libraries(own_folder: Path, compiler: str) -> list[Library]:
    """Ours in `own_folder` and all they need, by name. Ends with a message where one is not found."""
    found = {
        path.name: Library(path.name, path, Path(path.name), True) for path in sorted(own_folder.glob("*.so"))
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
            place = Path(RUNTIME_FOLDER.get(name, "")) / name
            found[name] = Library(name, path.resolve(), place, False)
            waiting.append(found[name])
    return [found[name] for name in sorted(found)]


def linked_paths(path: Path) -> dict[str, Path]:
    """Where the loader of this machine finds what a library needs, by name; without those it does not find."""
    answer = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False).stdout
    return {name: Path(place) for name, place in re.findall(r"^\s*(\S+) => (/.+) \(0x", answer, re.MULTILINE)}


def compiler_file(compiler: str, name: str) -> Path | None:
    """The compiler's own library: LibTorch's copy of libgomp must not be taken for it."""
    answer = subprocess.run(
        [compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=False
    )
    path = Path(answer.stdout.strip())
    return path if path.is_absolute() else None
