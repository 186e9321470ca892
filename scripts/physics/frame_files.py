"""Frame files of any program: the field's numpy streams in .npz, .tar, .tar.gz or .tar.bz2."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import numpy as np

ENDING = ".npy"


@dataclass(frozen=True)
class Frame:
    """One event. samples (channel, tick); channels (channel,) numbers of the rows; masks: name -> (n, 3) integers,
    channel, first tick, end.
    """

    samples: np.ndarray
    channels: np.ndarray
    start_ns: float
    tick_ns: float
    masks: dict[str, np.ndarray] = field(default_factory=dict)

    def rows(self, wanted: np.ndarray) -> np.ndarray:
        """Samples of the channels `wanted`, in that order, (wanted, tick); zero for channels that the frame lacks."""
        order = np.argsort(self.channels, kind="stable")
        place = np.minimum(np.searchsorted(self.channels, wanted, sorter=order), len(order) - 1)
        found = order[place]
        present = self.channels[found] == wanted
        if present.all():
            return self.samples[found]
        rows = np.zeros((len(wanted), self.samples.shape[1]), dtype=self.samples.dtype)
        rows[present] = self.samples[found[present]]
        return rows


class FrameFile:
    """Read access by member; nothing is read before it is asked for."""

    def __init__(self, path: Path) -> None:
        """Raises OSError, tarfile.TarError or ValueError for what is no archive."""
        self.path = path
        self._zip = np.load(path) if path.suffix == ".npz" else None
        self._tar = tarfile.open(path) if self._zip is None else None  # pylint: disable=consider-using-with
        self._members = {} if self._tar is None else {member.name: member for member in self._tar}
        names = (
            self._zip.files
            if self._zip is not None
            else [name.removesuffix(ENDING) for name in self._members]
        )
        self.names: list[str] = list(names)

    def __enter__(self) -> "FrameFile":
        return self

    def __exit__(
        self, kind: type | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        (self._tar if self._zip is None else self._zip).close()

    def array(self, name: str) -> np.ndarray:
        """One member, C contiguous. Raises KeyError when there is none of this name."""
        if self._zip is not None:
            return np.ascontiguousarray(self._zip[name])
        stream = self._tar.extractfile(self._members[name + ENDING])
        return np.ascontiguousarray(np.load(io.BytesIO(stream.read())))

    def tags(self) -> list[str]:
        """Tags of the frames in the file, each once, in the file's order."""
        return list(dict.fromkeys(name.removeprefix("frame_").rsplit("_", 1)[0] for name in self._frames()))

    def idents(self, tag: str) -> list[int]:
        """Numbers of the events that have a frame of this tag, in the file's order."""
        prefix = f"frame_{tag}_"
        return [
            int(name.removeprefix(prefix))
            for name in self._frames()
            if name.rsplit("_", 1)[0] + "_" == prefix
        ]

    def frame(self, tag: str, ident: int) -> Frame:
        """Raises KeyError when the file has no such frame."""
        start, tick, first = self.array(f"tickinfo_{tag}_{ident}")
        ending = f"_{ident}"
        masks = {
            name.removeprefix("chanmask_").removesuffix(ending): self.array(name)
            for name in self.names
            if name.startswith("chanmask_") and name.endswith(ending)
        }
        return Frame(
            self.array(f"frame_{tag}_{ident}"),
            self.array(f"channels_{tag}_{ident}").astype(np.int64),
            float(start + first * tick),
            float(tick),
            masks,
        )

    def _frames(self) -> list[str]:
        return [name for name in self.names if name.startswith("frame_")]


def write_frames(path: Path, frames: dict[int, Frame], tag: str = "*") -> None:
    """Write events by their number as a tar file without compression, which is read and written fastest."""
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for ident, frame in frames.items():
            _add(archive, f"frame_{tag}_{ident}", frame.samples)
            _add(archive, f"channels_{tag}_{ident}", frame.channels.astype(np.int32))
            _add(archive, f"tickinfo_{tag}_{ident}", np.array([frame.start_ns, frame.tick_ns, 0.0]))
            for name, mask in frame.masks.items():
                _add(archive, f"chanmask_{name}_{ident}", mask.astype(np.int32))


def _add(archive: tarfile.TarFile, name: str, array: np.ndarray) -> None:
    stream = io.BytesIO()
    np.save(stream, array)
    member = tarfile.TarInfo(name + ENDING)
    member.size = stream.tell()
    stream.seek(0)
    archive.addfile(member, stream)
