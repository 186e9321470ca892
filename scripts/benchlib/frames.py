"""The input of the chain's benchmark: several copies of the default event in one file."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path


def copies_of_frame(frame: Path, count: int, folder: Path) -> Path:
    """A tar file in `folder`, not compressed, with the event of `frame` (.tar.bz2) as events 0 to count - 1.

    Not compressed, since decompression would keep a core busy between the steps that are measured. Kept for later runs.
    """
    path = folder / f"adc-x{count}.tar"
    if path.exists():
        return path
    partial = path.with_suffix(".partial")
    with tarfile.open(frame) as source, tarfile.open(partial, "w", format=tarfile.USTAR_FORMAT) as target:
        arrays = [(member.name.rsplit("_", 1)[0], source.extractfile(member).read()) for member in source]
        for event in range(count):
            for name, content in arrays:
                member = tarfile.TarInfo(f"{name}_{event}.npy")
                member.size = len(content)
                target.addfile(member, io.BytesIO(content))
    partial.rename(path)
    return path
