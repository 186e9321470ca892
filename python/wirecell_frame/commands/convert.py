# SPDX-License-Identifier: Apache-2.0
"""Convert a frame file to the format of the ending of OUT, and its samples to dense or sparse form. Ids, tags, masks,
summaries, notes and times are kept. OUT is replaced only when it is complete.

Endings: .npz, .tar, .tar.gz, .tar.bz2, .h5 or .hdf5 (HDF5), .zarr.

Exit status: 0 done; 1 failed; 2 usage error.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from spng.frame_info import bytes_of
from wirecell_profile.terminal import visible
from wirecell_profile.units import short_size

from spng import Error, Frame, read_frames, write_frames

from .. import outputs

NAME = "convert"
HELP = "convert a file to another format or form"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("input", metavar="IN", type=Path, help="frame file")
    parser.add_argument("output", metavar="OUT", type=Path, help="frame file to write")
    about = "form of the samples: all, or only those that are not 0 (default dense)"
    parser.add_argument("--frames", choices=("dense", "sparse"), default="dense", help=about)
    parser.add_argument("--tags", default="*", metavar="A,B", help="tags to keep; *: all (default)")
    outputs.add_overwrite(parser)
    parser.add_argument("--events", type=int, metavar="N", help="stop after N events (default: all)")


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    tags = [tag for tag in arguments.tags.split(",") if tag]
    if not tags or (arguments.events is not None and arguments.events < 1):
        raise Error("Usage", "nothing would be converted", "--events" if tags else "--tags")
    outputs.require_outside("OUT", arguments.output, [arguments.input])
    frames = _Counted(islice(read_frames(arguments.input, tags), arguments.events))
    write_frames(arguments.output, frames, form=arguments.frames, overwrite=arguments.overwrite)
    plural = "" if frames.count == 1 else "s"
    print(
        f"{visible(str(arguments.output))}: {frames.count} event{plural}, {short_size(bytes_of(arguments.output))}"
    )
    return 0


class _Counted:
    """Frames that pass, and their count."""

    def __init__(self, frames: Iterable[Frame]) -> None:
        self.frames, self.count = frames, 0

    def __iter__(self) -> Iterator[Frame]:
        for frame in self.frames:
            self.count += 1
            yield frame
