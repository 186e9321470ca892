"""What the source tree promises: dependencies one way, one place for clocks and NVTX, no taboos, one name everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# A folder of spng/ includes only folders of earlier lines and itself. Decon and filter know each other's services: the
# deconvolution kernel contains the wire filter, and a time filter is as long as the padded response.
ORDER = (
    ("core",),
    ("device", "instrument", "io"),
    ("detector", "graph"),
    ("coincidence", "decon", "filter", "noise"),
    ("dnn", "frame", "plumbing", "roi", "sim"),
    ("kernels",),
    ("app",),
)
FRIENDS = {frozenset({"decon", "filter"})}
LEAF_HEADER = "WireCellSpng/TorchnvTools.h"  # of instrument/, for every folder; includes nothing of ours
CLOCKS_AND_PROFILERS = re.compile(r'#include [<"](chrono|ctime|time\.h|sys/time\.h|nvtx3/.*|cupti.*|generated_.*)[>"]')

# Words that stand for a mistake, and the files in which they are right, each with its reason. In Python the names of
# NumPy's functions are no taboo, so those of tensors are looked for in C++ only.
TABOOS = {
    r"\.item<|\.item\(\)": {  # waits for the device
        "spng/dnn/torch_service.cxx": "the network is tried before the first event",
        "spng/dnn/model_probe.cxx": "the network is probed before the first event",
        "spng/io/frame_parts.cxx": "arrays of a file, on the host",
    },
    r"\bnonzero\b": {  # waits for the device
        "spng/dnn/model_probe.cxx": "the network is probed before the first event",
        "spng/instrument/operation_log.h": "names what operations wait",
        "spng/instrument/operation_log.cxx": "names what operations wait",
    },
    r"std::cout": {},
    r"torch/torch\.h": {},
}
TABOOS_EVERYWHERE = {
    r"\b(TODO|FIXME|XXX)\b": {},
    r"nvToolsExt": {"scripts/waf_tools/spng_libtorch.py": "looks for the header by which NVTX3 is found",
                    "spng/instrument/recorder/nvtx_injection.cxx": "a tool needs the C header of NVTX3"},
    r"/nfs/": {},
    r"-march=native": {},
}

# Registered types whose class or file has another name.
OTHER_CLASS = {"FieldResponse": "FieldResponseComponent"}  # FieldResponse is what the file holds
OTHER_FILE = {
    "FieldResponse": "response_components.h",  # both halves of the response, a few lines each
    "ColdElecResponse": "response_components.h",
    "WireSchemaFile": "anode_plane.h",  # the file from which anodes are taken
    "HfFilter": "filter_function.h",  # the two kinds of one function
    "LfFilter": "filter_function.h",
    "SPNGFanoutTensorSets": "fans.h",  # a few lines each
    "SPNGFaninTensorSets": "fans.h",
    "SPNGDiscard": "fans.h",
}
REGISTRATION = re.compile(r'^const Registration<(\w+)> \w+\{\s*\{\s*\.type = "(\w+)",\s*\.kind = "(\w+)"', re.MULTILINE)
RANGE = re.compile(r'NVTX_SCOPED_RANGE\("(\w+)::\w+"\)')


def files(*folders: str, endings: tuple[str, ...]) -> Iterator[Path]:
    """Files of these folders with these endings, in order."""
    for folder in folders:
        yield from sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in endings and path.is_file())


def sources() -> list[Path]:
    """The C++ files of the library."""
    found = list(files("spng", endings=(".h", ".cxx", ".cu", ".cuh")))
    assert len(found) > 100
    return found


def name(path: Path) -> str:
    """Path from the repository's root."""
    return path.relative_to(ROOT).as_posix()


def level(folder: str) -> int:
    """Line of ORDER that holds the folder."""
    for number, folders in enumerate(ORDER):
        if folder in folders:
            return number
    pytest.fail(f"spng/{folder} has no place in ORDER")


def test_dependencies_point_one_way() -> None:
    wrong = []
    for path in sources():
        own = path.relative_to(ROOT / "spng").parts[0]
        for included in re.findall(r'^#include "spng/(\w+)/', path.read_text(encoding="utf-8"), re.MULTILINE):
            if included != own and level(included) >= level(own) and frozenset({own, included}) not in FRIENDS:
                wrong.append(f"{name(path)} includes spng/{included}")
    assert not wrong, "\n".join(wrong)


def test_the_instrumentation_header_is_a_leaf() -> None:
    text = (ROOT / "spng" / "instrument" / LEAF_HEADER).read_text(encoding="utf-8")
    assert '#include "' not in text


def test_only_instrument_knows_clocks_and_profilers() -> None:
    wrong = [name(path) for path in sources()
             if path.relative_to(ROOT / "spng").parts[0] != "instrument"
             and CLOCKS_AND_PROFILERS.search(path.read_text(encoding="utf-8"))]
    assert not wrong, wrong


@pytest.mark.parametrize("taboo, allowed", [*TABOOS.items(), *TABOOS_EVERYWHERE.items()])
def test_taboos(taboo: str, allowed: dict[str, str]) -> None:
    searched = sources()
    if taboo in TABOOS_EVERYWHERE:
        searched += files("cfg", "scripts", "profiling", "campaign", ".ci", endings=(".jsonnet", ".py", ".cxx", ".h", ".sh", ""))
        searched += [ROOT / "wscript", ROOT / "wcb"]
    found = {name(path) for path in searched if re.search(taboo, path.read_text(encoding="utf-8"))}
    assert found - set(allowed) == set(), "forbidden here"
    assert set(allowed) - found == set(), "no longer there: take it from the list"


def test_headers_have_a_guard() -> None:
    without = [name(path) for path in sources()
               if path.suffix in (".h", ".cuh") and not path.read_text(encoding="utf-8").startswith("#pragma once\n")]
    assert not without, without


def test_files_are_short() -> None:
    searched = [*sources(), *files("scripts", "cfg", "campaign", endings=(".py", ".jsonnet"))]
    long = {name(path): lines for path in searched if (lines := path.read_text(encoding="utf-8").count("\n")) > 600}
    assert not long, long


def snake_case(class_name: str) -> str:
    """Torch1DSpectrum -> torch_1d_spectrum, ThresholdROIs -> threshold_rois, DNNROI -> dnnroi."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[A-Z][a-z])", "_", class_name.replace("ROIs", "Rois"))
    return words.lower()


def registrations() -> list[tuple[Path, str, str, str]]:
    """File, class, registered type and kind of every component."""
    found = [(path, *match) for path in sources() for match in REGISTRATION.findall(path.read_text(encoding="utf-8"))]
    assert len(found) > 20
    return found


def test_every_registration_was_understood() -> None:
    declared = sum(len(re.findall(r"^const Registration<", path.read_text(encoding="utf-8"), re.MULTILINE))
                   for path in sources())
    assert declared == len(registrations())


def test_one_name_everywhere() -> None:
    """Registered SPNGThresholdROIs = class ThresholdROIs = threshold_rois.h beside its source."""
    wrong = []
    for path, class_name, type_name, _ in registrations():
        if class_name != OTHER_CLASS.get(type_name, type_name.removeprefix("SPNG")):
            wrong.append(f"{type_name} is registered for class {class_name}")
        header = path.parent / OTHER_FILE.get(type_name, snake_case(class_name) + ".h")
        if not header.exists() or not re.search(rf"\bclass {class_name}\b", header.read_text(encoding="utf-8")):
            wrong.append(f"{type_name}: no class {class_name} in {name(header)}")
    assert not wrong, "\n".join(wrong)


def test_every_node_has_its_jsonnet_function() -> None:
    """A function of the type's name without the prefix; pgraph.jsonnet puts fans in, cuda_graph the device section."""
    text = "".join((ROOT / "cfg/lib" / library).read_text(encoding="utf-8") for library in ("spng.jsonnet", "sim.jsonnet"))
    functions = set(re.findall(r"^    (\w+)\(.*\)::", text, re.MULTILINE))
    nodes = {type_name.removeprefix("SPNG") for _, _, type_name, kind in registrations() if kind != "service"}
    assert nodes - functions == {"FanoutTensorSets", "FaninTensorSets", "DeviceSection"}


def test_ranges_are_named_after_components() -> None:
    """`Type::step`, with the type's name without the prefix."""
    known = {type_name.removeprefix("SPNG") for _, _, type_name, _ in registrations()}
    used = {match for path in sources() for match in RANGE.findall(path.read_text(encoding="utf-8"))}
    assert used and used <= known, used - known
