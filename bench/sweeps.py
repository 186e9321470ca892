# SPDX-License-Identifier: Apache-2.0
"""The series of ./wcb bench --all: points, each a job with one changed parameter."""

from __future__ import annotations

from dataclasses import dataclass, field

from .frames import Input

TICKS = (1500, 3000, 6000, 12_000, 24_000, 48_000)
ANODES = (1, 2, 4)
IN_FLIGHT = (1, 2, 4)
ENDINGS = (".tar", ".npz", ".tar.gz", ".tar.bz2")


@dataclass(frozen=True)
class Point:
    """A job. x: its position on the axis of the series; label: its name in the table."""

    label: str
    x: float
    input: Input
    arguments: dict[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()  # further words of the command line
    output: str = ".tar"


@dataclass(frozen=True)
class Series:
    """Points to compare with each other. axis: head of their column."""

    name: str
    title: str
    axis: str
    text: str
    points: list[Point]


def all_series(quick: bool, cores: int) -> list[Series]:
    """Return all series; `quick` omits long jobs."""
    events = 3 if quick else 4
    one = Input(events)
    found = [
        ticks_series(quick, events),
        anodes_series(quick),
        batch_series(one),
        threads_series(one, cores),
        in_flight_series(quick, cores),
        files_series(quick),
        dtype_series(one),
    ]
    if not quick:
        found.append(model_series())
    return found


def ticks_series(quick: bool, events: int) -> Series:
    """Return the series of the length of the readout."""
    ticks = TICKS[:3] if quick else TICKS
    points = [Point(f"{count:,}", count, Input(events if count <= 12_000 else 2, count)) for count in ticks]
    return Series(
        "ticks",
        "Length of the readout",
        "ticks",
        "The default event cut or tiled. Readouts longer than a readout window are processed in overlapping readout windows; times are "
        "of a whole readout, memory is of the process.",
        points,
    )


def anodes_series(quick: bool) -> Series:
    """Return the series of anodes in one job."""
    points = [
        Point(str(count), count, Input(3, anodes=count), {"tpcid": ",".join(map(str, range(count)))})
        for count in (ANODES[:2] if quick else ANODES)
    ]
    if not quick:
        points.append(
            Point("4, in one batch", 4, Input(3, anodes=4), {"tpcid": "0,1,2,3", "batch_anodes": "true"})
        )
    return Series(
        "anodes",
        "Anodes in one job",
        "anodes",
        "The default event copied to each anode, in one file.",
        points,
    )


def batch_series(one: Input) -> Series:
    """Return the series of views in one tensor and one node per view."""
    return Series(
        "batch",
        "Views batched",
        "batch",
        "`batch=false`: one node for each view instead of one for views of equal shape.",
        [Point(word, index, one, {"batch": word}) for index, word in enumerate(("true", "false"))],
    )


def threads_series(one: Input, cores: int) -> Series:
    """Return the series of threads inside an operation."""
    counts = sorted({1, 2, cores} & set(range(1, cores + 1)))
    return Series(
        "threads",
        "Threads inside an operation",
        "threads",
        "`threads`, serial engine.",
        [Point(str(count), count, one, {"threads": str(count)}) for count in counts],
    )


def in_flight_series(quick: bool, cores: int) -> Series:
    """Return the series of the parallel engine compared with the serial one."""
    events = Input(4 if quick else 8)
    points = [Point("Pgrapher, 1", 1, events)]
    points += [
        Point(
            f"TbbFlow, {count}",
            count,
            events,
            {"engine": "TbbFlow", "threads": "1", "events_in_flight": str(count)},
            words=("-t", str(cores)),
        )
        for count in (IN_FLIGHT[:2] if quick else IN_FLIGHT)
    ]
    return Series(
        "in_flight",
        "Events in flight",
        "engine, events",
        f"TbbFlow with {cores} graph threads of one thread each, against Pgrapher with {cores} threads in each operation.",
        points,
    )


def files_series(quick: bool) -> Series:
    """Return the series of file formats, read and written beside the computation or in turn with it."""
    points: list[Point] = []
    for ending in ENDINGS[:2] if quick else ENDINGS:
        for overlap in ("true", "false"):
            label = f"{ending}, {'beside' if overlap == 'true' else 'in turn'}"
            points.append(
                Point(label, len(points), Input(4, ending=ending), {"overlap_files": overlap}, output=ending)
            )
    return Series(
        "files",
        "Files",
        "input and output",
        "Input and output of the same format, at the default level of compression; read and written beside the computation, or in turn "
        "with it (`overlap_files=false`). `.tar` is not compressed.",
        points,
    )


def dtype_series(one: Input) -> Series:
    """Return the series of floating types."""
    return Series(
        "dtype",
        "Width of numbers",
        "dtype",
        "The floating type of the whole job.",
        [Point(word, index, one, {"dtype": word}) for index, word in enumerate(("float32", "float64"))],
    )


def model_series() -> Series:
    """Return the series without and with the network."""
    events = Input(3)
    return Series(
        "model",
        "Network",
        "model",
        "`model=default`: the network of the detector.",
        [Point(word, index, events, {"model": word}) for index, word in enumerate(("none", "default"))],
    )
