# SPDX-License-Identifier: Apache-2.0
"""Settings common to all stages: the program, folders, the device, the input."""

from __future__ import annotations

import importlib.util
import os
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

from scripts.wcb.checkout import ROOT, build_folder

DEFAULT_INPUT = ROOT / "data" / "tracks10-adc.tar.bz2"


@dataclass(frozen=True)
class Setting:
    """Settings of a run.

    program       wire-cell of an unpacked wheel or of a build; its libraries are in ../lib
    work          folder for inputs and outputs of jobs
    device        argument `device` of the jobs
    frames        frame file whose first event is the input
    events        events of a job whose times are measured
    words         further words of every job, such as the files of another detector
    is_simulated  the CUDA runtime is simulated: leave out whatever needs hardware
    """

    program: Path
    work: Path
    device: str = "cuda"
    frames: Path = DEFAULT_INPUT
    events: int = 24
    words: tuple[str, ...] = ()
    is_simulated: bool = False
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))

    @property
    def libraries(self) -> Path:
        """The folder with our libraries."""
        return self.program.parents[1] / "lib"

    @property
    def is_default_detector(self) -> bool:
        """Whether the input is the event in data/, of one anode of ProtoDUNE-HD."""
        return self.frames == DEFAULT_INPUT


def find_program(wheel: Path | None, scratch: Path) -> Path:
    """Return wire-cell: of an unpacked wheel (a folder, or an archive that is unpacked into `scratch`), of the variable
    SPNG_WIRE_CELL, or of the build.

    @throws ValueError if there is none.
    """
    if wheel is not None:
        folder = wheel if wheel.is_dir() else unpacked(wheel, scratch / "wheel")
        found = [folder / "bin" / "wire-cell", *sorted(folder.glob("*/bin/wire-cell"))]
        for program in found:
            if program.exists():
                return program.resolve()
        raise ValueError(
            f"{wheel} has no bin/wire-cell: it is not a folder or archive with an unpacked wheel"
        )
    if "SPNG_WIRE_CELL" in os.environ:
        given = Path(os.environ["SPNG_WIRE_CELL"])
        if not given.exists():
            raise ValueError(f"SPNG_WIRE_CELL names no program: {given}")
        return given.absolute()
    build = build_folder() or ROOT / "build"
    if not (build / "bin" / "wire-cell").exists():
        raise ValueError("there is no program: give --wheel FILE, or build one with ./wcb")
    return build / "bin" / "wire-cell"


def unpacked(archive: Path, folder: Path) -> Path:
    """Unpack the archive into `folder`; return the folder."""
    try:
        with tarfile.open(archive) as content:
            content.extractall(folder, filter="tar")
    except (OSError, tarfile.TarError) as problem:
        raise ValueError(f"cannot unpack {archive}: {problem}") from problem
    return folder


def environment_for(program: Path, is_of_wheel: bool) -> dict[str, str]:
    """Return the environment of all programs: the one of this process, with what tests, tools and an unpacked wheel look for.

    is_of_wheel: the program is of an unpacked wheel, whose search path does not lead to this Python's LibTorch.
    """
    values = dict(os.environ)
    own = [str(ROOT / folder) for folder in ("profiling", "python")]
    paths = [*own, *filter(None, values.get("PYTHONPATH", "").split(os.pathsep))]
    values |= {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "SPNG_WIRE_CELL": str(program),
    }
    torch = importlib.util.find_spec("torch") if is_of_wheel else None
    if torch is not None and torch.submodule_search_locations:
        folder = Path(torch.submodule_search_locations[0])
        libraries = [folder / "lib", *sorted((folder.parent / "nvidia").glob("*/lib"))]
        given = filter(None, values.get("LD_LIBRARY_PATH", "").split(os.pathsep))
        values["LD_LIBRARY_PATH"] = os.pathsep.join([*given, *map(str, libraries)])
    return values
