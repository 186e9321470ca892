"""The inputs of the benchmarks: the default event several times in one file, as it is, or cut, tiled and copied to other anodes."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from wirecell_profile.output_file import output_file

CHANNELS = 2560  # of an anode; those of the next one follow
TICKS = 6000  # of the default event
MODES = {".tar": "w", ".tar.gz": "w:gz", ".tar.bz2": "w:bz2"}
Members = Iterator[tuple[str, bytes]]


@dataclass(frozen=True)
class Input:
    """What a frame file holds. `ending` says how it is packed: .tar is not compressed, .npz is (deflate)."""

    events: int
    ticks: int = TICKS
    anodes: int = 1
    ending: str = ".tar"

    @property
    def name(self) -> str:
        """Of the file."""
        plain = (
            f"adc-x{self.events}"
            if (self.ticks, self.anodes) == (TICKS, 1)
            else (f"adc-{self.ticks}-ticks-{self.anodes}-anodes-x{self.events}")
        )
        return plain + self.ending


def made_input(frame: Path, wanted: Input, folder: Path) -> Path:
    """The file in `folder`, made from `frame` (.tar.bz2) unless it is there from an earlier run."""
    path = folder / wanted.name
    if not path.exists():
        plain = (wanted.ticks, wanted.anodes) == (TICKS, 1)
        arrays = plain_arrays(frame) if plain else changed_arrays(frame, wanted)
        members = (
            (f"{stem}_{event}.npy", content) for event in range(wanted.events) for stem, content in arrays
        )
        with output_file(path) as partial:
            if wanted.ending == ".npz":
                write_zip(partial, members)
            else:
                write_tar(partial, members, MODES[wanted.ending])
    return path


def copies_of_frame(frame: Path, count: int, folder: Path) -> Path:
    """The default event as events 0 to count - 1, not compressed, since decompression would keep a core busy."""
    return made_input(frame, Input(count), folder)


def plain_arrays(frame: Path) -> list[tuple[str, bytes]]:
    """(frame_<tag>, bytes of a .npy file) and so on, of the event in `frame`."""
    with tarfile.open(frame) as source:
        return [(member.name.rsplit("_", 1)[0], source.extractfile(member).read()) for member in source]


def changed_arrays(frame: Path, wanted: Input) -> list[tuple[str, bytes]]:
    """The same with other ticks and anodes."""
    found = []
    for stem, content in plain_arrays(frame):
        array = np.load(io.BytesIO(content))
        if stem.startswith("frame_"):
            array = np.tile(array, (wanted.anodes, -(-wanted.ticks // array.shape[1])))[:, : wanted.ticks]
        elif stem.startswith("channels_"):
            array = np.concatenate([array + CHANNELS * anode for anode in range(wanted.anodes)])
        buffer = io.BytesIO()
        np.save(buffer, np.ascontiguousarray(array))
        found.append((stem, buffer.getvalue()))
    return found


def write_tar(path: Path, members: Members, mode: str) -> None:
    """A tar file, compressed as the mode says (gzip level 1, so that making it takes no minutes)."""
    options = {"compresslevel": 1} if mode == "w:gz" else {}
    with tarfile.open(path, mode, format=tarfile.USTAR_FORMAT, **options) as target:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            target.addfile(member, io.BytesIO(content))


def write_zip(path: Path, members: Members) -> None:
    """As numpy.savez_compressed does, but at level 1."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for name, content in members:
            target.writestr(name, content)
