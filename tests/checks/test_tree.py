# SPDX-License-Identifier: Apache-2.0
"""Check the rules of the source tree: dependencies in one direction, one file for clocks and NVTX, no
forbidden code, one name everywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Folders, lowest first; those of one line know nothing of each other. A longer entry is a folder of its own. Decon and
# filter know each other's services: the deconvolution kernel contains the wire filter, and a time filter is as long as the
# padded response.
ORDER = (
    ("spng/core",),
    ("spng/core/rows",),
    ("spng/core/files", "spng/core/log"),
    ("spng/core/cache",),
    ("spng/device/memory", "spng/io/archive", "profiling/recorder/file"),
    ("profiling/recorder",),
    ("profiling/recorder/device", "spng/device", "spng/instrument", "spng/io"),
    ("spng/instrument/meter",),
    ("spng/instrument/report", "spng/instrument/control", "spng/instrument/user_timer"),
    ("spng/detector/noise", "spng/detector/electronics"),
    ("spng/detector", "spng/graph", "spng/kserve"),
    ("spng/engine/body", "spng/kserve/grpc"),
    ("spng/engine",),
    (
        "spng/nodes/coincidence",
        "spng/nodes/decon",
        "spng/nodes/dnn/input",
        "spng/nodes/filter",
        "spng/nodes/noise",
        "spng/nodes/sim",
    ),
    (
        "spng/nodes/dnn",
        "spng/nodes/input_check",
        "spng/nodes/roi",
    ),
    ("spng/nodes/channels", "spng/nodes/plumbing"),
    ("spng/nodes/frame", "spng/nodes/sim/depos", "spng/nodes/sim/signal", "spng/nodes/memory"),
    ("spng/kernels",),
    ("spng/kernels/frames", "spng/kernels/transforms"),
    ("spng/kernels/plugin",),
    ("spng/job/jsonnet",),
    ("spng/job",),
    ("spng/include/WireCellSpng",),  # Pipeline.h, which spng/pipeline implements
    ("spng/pipeline",),
    ("spng/serve",),
    ("spng/app",),
)
FRIENDS = {frozenset({"spng/nodes/decon", "spng/nodes/filter"})}
LEAF_HEADER = "spng/include/WireCellSpng/TorchnvTools.h"  # for every folder and for other programs
MASKS_HEADER = "spng/include/WireCellSpng/ChannelMasks.h"  # likewise
RECORDER_HEADER = "profiling/recorder/recorder_abi.h"  # all that the library knows of the recorder
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"
INSTRUMENTATION = ("spng/instrument/", "spng/include/", "profiling/recorder/")
MAX_SOURCES = 32  # of one folder
CLOCKS_AND_PROFILERS = re.compile(
    r'#include [<"](chrono|ctime|time\.h|sys/time\.h|nvtx3/.*|cupti.*|generated_.*)[>"]'
)

# Words that stand for a mistake, and the files in which they are right, each with its reason. In Python the names of
# NumPy's functions are allowed, so the check for those of tensors covers C++ only.
TABOOS = {
    r"\.item<|\.item\(\)": {  # waits for the device
        "spng/nodes/dnn/model_probe.cxx": "the network is probed before the first event",
        "spng/io/frame_parts.cxx": "arrays of a file, on the host",
    },
    r"\bnonzero\b": {  # waits for the device
        "spng/nodes/dnn/model_probe.cxx": "the network is probed before the first event",
        "spng/nodes/noise/sticky_codes.cxx": "only on the CPU, which repairs no other rows than those that stick",
        "spng/nodes/noise/tick_ranges.cxx": "only on the CPU, which changes no other rows than those with bad ticks",
    },
    r"std::cout": {},
    r"torch/torch\.h": {},
}
TABOOS_EVERYWHERE = {
    r"\b(TODO|FIXME|XXX)\b": {},
    r"nvToolsExt": {
        "waf/spng_libtorch.py": "looks for the header by which NVTX3 is found",
        "profiling/recorder/nvtx_injection.cxx": "a tool needs the C header of NVTX3",
    },
    r"/nfs/": {},
    r"-march=native": {},
}

# Registered types whose class or file has another name.
OTHER_CLASS = {"FieldResponse": "FieldResponseComponent"}  # FieldResponse is the content of the file
OTHER_FILE = {
    "FieldResponse": "response_components.h",  # both halves of the response, a few lines each
    "ColdElecResponse": "response_components.h",
    "WarmElecResponse": "response_components.h",
    "JsonElecResponse": "response_components.h",
    "WireSchemaFile": "anode_plane.h",  # the file from which anodes are taken
    "HfFilter": "filter_function.h",  # the two kinds of one function
    "LfFilter": "filter_function.h",
    "SPNGFanoutTensorSets": "fans.h",  # a few lines each
    "SPNGFaninTensorSets": "fans.h",
    "SPNGDiscard": "fans.h",
}
REGISTRATION = re.compile(
    r'^const Registration<(\w+)> \w+\{\s*\{\s*\.type = "(\w+)",\s*\.kind = "(\w+)"', re.MULTILINE
)
RANGE = re.compile(r'NVTX_SCOPED_RANGE\("(\w+)::\w+"\)')


def files(*folders: str, endings: tuple[str, ...]) -> Iterator[Path]:
    """Return the files of these folders with these endings, in order."""
    for folder in folders:
        yield from sorted(
            path for path in (ROOT / folder).rglob("*") if path.suffix in endings and path.is_file()
        )


def sources() -> list[Path]:
    """Return the C++ files of the library."""
    found = list(files("spng", "profiling/recorder", endings=(".h", ".cxx", ".cu", ".cuh")))
    assert len(found) > 100
    return found


def name(path: Path) -> str:
    """Return the path from the repository's root."""
    return path.relative_to(ROOT).as_posix()


def room(path: str) -> str:
    """Return the entry of ORDER that holds the file: the longest one with which its path begins."""
    entries = [entry for line in ORDER for entry in line if path.startswith(f"{entry}/")]
    assert entries, f"{path} has no line in ORDER"
    return max(entries, key=len)


def level(entry: str) -> int:
    """Return the index of the line of ORDER that holds the entry."""
    return next(index for index, line in enumerate(ORDER) if entry in line)


def test_dependencies_point_one_way() -> None:
    wrong = []
    for path in sources():
        if name(path) in (LEAF_HEADER, MASKS_HEADER):
            continue
        own = room(name(path))
        for included in re.findall(
            r'^#include "((?:spng|profiling)/\w+/.+)"', path.read_text(encoding="utf-8"), re.MULTILINE
        ):
            if included == RECORDER_HEADER:
                continue
            other = room(included)
            if other != own and level(other) >= level(own) and frozenset({own, other}) not in FRIENDS:
                wrong.append(f"{name(path)} includes {included}")
    assert not wrong, "\n".join(wrong)


def test_tools_need_no_tests() -> None:
    """Tests import scripts and benchmarks, not the other way round."""
    wrong = [
        f"{name(path)}: {line}"
        for path in files("bench", "scripts", endings=(".py",))
        for line in re.findall(
            r"^ *(?:from|import) tests\b.*", path.read_text(encoding="utf-8"), re.MULTILINE
        )
    ]
    assert not wrong, "\n".join(wrong)


def test_no_folder_is_crowded() -> None:
    counts = Counter(path.parent for path in sources())
    crowded = {name(folder): count for folder, count in counts.items() if count > MAX_SOURCES}
    assert not crowded, crowded


@pytest.mark.parametrize("header", [LEAF_HEADER, MASKS_HEADER, RECORDER_HEADER])
def test_headers_for_other_programs_include_nothing_of_ours(header: str) -> None:
    assert '#include "' not in (ROOT / header).read_text(encoding="utf-8")


def test_only_instrumentation_knows_clocks_and_profilers() -> None:
    wrong = [
        name(path)
        for path in sources()
        if not name(path).startswith(INSTRUMENTATION)
        and CLOCKS_AND_PROFILERS.search(path.read_text(encoding="utf-8"))
    ]
    assert not wrong, wrong


@pytest.mark.parametrize("taboo, allowed", [*TABOOS.items(), *TABOOS_EVERYWHERE.items()])
def test_taboos(taboo: str, allowed: dict[str, str]) -> None:
    searched = sources()
    if taboo in TABOOS_EVERYWHERE:
        searched += files(
            "cfg",
            "bench",
            "scripts",
            "waf",
            "profiling",
            "campaign",
            ".ci",
            endings=(".jsonnet", ".py", ".cxx", ".h", ".sh", ""),
        )
        searched += [ROOT / "wscript", ROOT / "wcb"]
    found = {name(path) for path in searched if re.search(taboo, path.read_text(encoding="utf-8"))}
    assert found - set(allowed) == set(), "forbidden here"
    assert set(allowed) - found == set(), "no longer there: take it from the list"


def test_headers_have_a_guard() -> None:
    without = [
        name(path)
        for path in sources()
        if path.suffix in (".h", ".cuh")
        and not path.read_text(encoding="utf-8").removeprefix(LICENCE).startswith("#pragma once\n")
    ]
    assert not without, without


def test_files_are_short() -> None:
    searched = [*sources(), *files("bench", "scripts", "cfg", "campaign", endings=(".py", ".jsonnet"))]
    long = {
        name(path): lines
        for path in searched
        if (lines := path.read_text(encoding="utf-8").count("\n")) > 600
    }
    assert not long, long


def snake_case(class_name: str) -> str:
    """Convert Torch1DSpectrum to torch_1d_spectrum, ThresholdROIs to threshold_rois, DNNROI to dnnroi."""
    words = re.sub(
        r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[A-Z][a-z])", "_", class_name.replace("ROIs", "Rois")
    )
    return words.lower()


def registrations() -> list[tuple[Path, str, str, str]]:
    """Return file, class, registered type and kind of every component."""
    found = [
        (path, *match)
        for path in sources()
        for match in REGISTRATION.findall(path.read_text(encoding="utf-8"))
    ]
    assert len(found) > 20
    return found


def test_every_registration_was_understood() -> None:
    declared = sum(
        len(re.findall(r"^const Registration<", path.read_text(encoding="utf-8"), re.MULTILINE))
        for path in sources()
    )
    assert declared == len(registrations())


def test_one_name_everywhere() -> None:
    """The registered type SPNGThresholdROIs is the class ThresholdROIs in threshold_rois.h, beside its
    source.
    """
    wrong = []
    for path, class_name, type_name, _ in registrations():
        if class_name != OTHER_CLASS.get(type_name, type_name.removeprefix("SPNG")):
            wrong.append(f"{type_name} is registered for class {class_name}")
        header = path.parent / OTHER_FILE.get(type_name, snake_case(class_name) + ".h")
        if not header.exists() or not re.search(
            rf"\bclass {class_name}\b", header.read_text(encoding="utf-8")
        ):
            wrong.append(f"{type_name}: no class {class_name} in {name(header)}")
    assert not wrong, "\n".join(wrong)


def test_every_node_has_its_jsonnet_function() -> None:
    """The function has the type's name without the prefix; pgraph.jsonnet inserts fan-outs, cuda_graph the device
    section.
    """
    text = "".join(
        (ROOT / "cfg/lib" / library).read_text(encoding="utf-8")
        for library in ("spng.jsonnet", "sim.jsonnet", "memory.jsonnet")
    )
    functions = set(re.findall(r"^    (\w+)\(.*\)::", text, re.MULTILINE))
    nodes = {type_name.removeprefix("SPNG") for _, _, type_name, kind in registrations() if kind != "service"}
    assert nodes - functions == {"FanoutTensorSets"}


def test_chain_consists_of_formulas() -> None:
    """The chain names the inputs of its nodes, without links and indices of ports, in few lines."""
    job = (ROOT / "cfg" / "pipeline.jsonnet").read_text(encoding="utf-8")
    assert not re.search(r"\blink\(|\b[ht]p=|\bport", job)
    chain = job[job.index("local chain(") :].split("\n\n")[0]
    code = [line for line in chain.splitlines() if not line.lstrip().startswith("//")]
    assert 20 < len(code) <= 40


def test_ranges_are_named_after_components() -> None:
    """Ranges are named `Type::step`, with the type's name without the prefix."""
    known = {type_name.removeprefix("SPNG") for _, _, type_name, _ in registrations()} | {"CapturedBody"}
    used = {match for path in sources() for match in RANGE.findall(path.read_text(encoding="utf-8"))}
    assert used and used <= known, used - known
