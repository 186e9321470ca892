"""What ./wcb bench --all varies: series of points, each a job with one thing changed."""

from __future__ import annotations

from dataclasses import dataclass, field

from .frames import Input

TICKS = (1500, 3000, 6000, 12_000, 24_000, 48_000)
ANODES = (1, 2, 4)
IN_FLIGHT = (1, 2, 4)
ENDINGS = (".tar", ".npz", ".tar.gz", ".tar.bz2")
PLAIN_LIBRARIES = {"ATEN_CPU_CAPABILITY": "default", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2"}
AVX2_LIBRARIES = {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}


@dataclass(frozen=True)
class Point:
    """A job. `x` is its place on the axis of the series; `label` what the table calls it."""

    label: str
    x: float
    input: Input
    arguments: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()  # further words of the command line
    output: str = ".tar"
    clones: str = ""  # of the kernels with several versions, the one to force


@dataclass(frozen=True)
class Series:
    """Points that are compared with each other. `axis` heads their column."""

    name: str
    title: str
    axis: str
    text: str
    points: list[Point]


def all_series(quick: bool, cores: int, device: str) -> list[Series]:
    """Everything; `quick` leaves out what takes long."""
    events = 3 if quick else 4
    one = Input(events)
    found = [
        ticks_series(quick, events),
        anodes_series(quick),
        batch_series(one),
        threads_series(one, cores),
        in_flight_series(quick, cores),
        files_series(quick),
        number_series(one),
    ]
    if not quick:
        found.append(model_series())
    if device == "cpu":
        found.append(instruction_series(one))
    return found


def ticks_series(quick: bool, events: int) -> Series:
    """Cost against the length of the readout."""
    ticks = TICKS[:3] if quick else TICKS
    points = [Point(f"{count:,}", count, Input(events if count <= 12_000 else 2, count)) for count in ticks]
    return Series(
        "ticks",
        "Length of the readout",
        "ticks",
        "The default event cut or tiled. Readouts longer than a window of the detector are processed in overlapping windows; a figure "
        "is that of a whole readout, memory that of the process.",
        points,
    )


def anodes_series(quick: bool) -> Series:
    """Several anodes in one job."""
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
    """Equal views in one tensor, or a node for each."""
    return Series(
        "batch",
        "Views batched",
        "batch",
        "`batch=false`: one node for each view instead of one for views of equal shape.",
        [Point(word, place, one, {"batch": word}) for place, word in enumerate(("true", "false"))],
    )


def threads_series(one: Input, cores: int) -> Series:
    """Threads inside an operation."""
    counts = sorted({1, 2, cores} & set(range(1, cores + 1)))
    return Series(
        "threads",
        "Threads inside an operation",
        "threads",
        "`threads`, serial engine.",
        [Point(str(count), count, one, {"threads": str(count)}) for count in counts],
    )


def in_flight_series(quick: bool, cores: int) -> Series:
    """The parallel engine against the serial one."""
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
    """Formats of files, read and written beside the computation or in turn with it."""
    points = []
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


def number_series(one: Input) -> Series:
    """Width of the numbers."""
    return Series(
        "dtype",
        "Width of numbers",
        "dtype",
        "The floating type of the whole job.",
        [Point(word, place, one, {"dtype": word}) for place, word in enumerate(("float32", "float64"))],
    )


def model_series() -> Series:
    """With and without the network."""
    events = Input(3)
    return Series(
        "model",
        "Network",
        "model",
        "`model=default`: the network of the detector.",
        [Point(word, place, events, {"model": word}) for place, word in enumerate(("none", "default"))],
    )


def instruction_series(one: Input) -> Series:
    """What the vector units bring: own kernels in the version for a smaller processor, LibTorch and MKL likewise."""
    return Series(
        "instructions",
        "Instruction sets",
        "own kernels, ATen and MKL",
        "Own kernels exist for plain x86-64, AVX2 and AVX-512; the loader picks one. Here it was overruled, and the libraries' choice "
        "too (`ATEN_CPU_CAPABILITY`, `MKL_ENABLE_INSTRUCTIONS`; MKL takes it as an upper limit on processors that it knows).",
        [
            Point("best of the machine", 0, one),
            Point("AVX2", 1, one, environment=AVX2_LIBRARIES, clones="arch_x86_64_v3"),
            Point("x86-64", 2, one, environment=PLAIN_LIBRARIES, clones="default"),
        ],
    )
