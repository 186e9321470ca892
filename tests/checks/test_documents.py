# SPDX-License-Identifier: Apache-2.0
"""The documents agree with the program: links, commands, tables and examples."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pytest

from scripts.wcb import command_line, help_text, waf
from tests.checks.test_tree import ORDER
from tests.support import wire_cell
from tests.support.small_site import Site
from tests.support.wire_cell import PROGRAM, ROOT, needs_program, run

sys.path.insert(0, str(ROOT / "waf"))
import spng_example_node  # noqa: E402  (a tool of waf, which finds it by this folder too)

DOCUMENTS = sorted(
    [
        ROOT / "README.md",
        ROOT / "spng" / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "profiling").rglob("*.md"),
    ]
)
GUIDE = ROOT / "docs" / "user-guide.md"
CHAIN = ROOT / "spng" / "README.md"
JOBS = sorted((ROOT / "cfg").glob("*.jsonnet"))
DETECTORS = re.findall(
    r"^    '?([\w-]+)'?: import",
    (ROOT / "cfg/detectors/all.jsonnet").read_text(encoding="utf-8"),
    re.MULTILINE,
)
BENCHMARKS = "docs/benchmarks/"  # ./wcb bench writes the commands that it ran
TICKS = 800  # of the event with all tags
COUNTS = ("-t", "threads", "events_in_flight", "nevents")
NOT_RUN = ("--check", "--dot", "--list", "--describe", "--schema", "--version", "--help")


def read_text(path: Path) -> str:
    """Return the text of a file."""
    return path.read_text(encoding="utf-8")


def name_of(path: Path) -> str:
    """Return the path of a file for the name of a test case."""
    return path.relative_to(ROOT).as_posix()


def blocks(path: Path, language: str) -> list[str]:
    """Return the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", read_text(path), re.MULTILINE | re.DOTALL)


def anchors(path: Path) -> set[str]:
    """Return the anchors of the headings of a document: the part of a link after the #."""
    headings = re.findall(r"^#+ (.+)$", read_text(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands() -> Iterator[tuple[str, list[str]]]:
    """Yield document and words of every shell command, without comments; `a && b` gives two."""
    for path in DOCUMENTS:
        for block in blocks(path, "sh"):
            for line in block.replace("\\\n", " ").splitlines():
                words: list[str] = []
                for word in [*shlex.split(line, comments=True), "&&"]:
                    if word != "&&":
                        words.append(word)
                    elif words:
                        yield name_of(path), words
                        words = []


def program_arguments(words: list[str]) -> list[str] | None:
    """Return the words after wire-cell, also if another program starts it; None for other commands."""
    for position, word in enumerate(words):
        if word == "wire-cell" or word.endswith("/wire-cell"):
            return words[position + 1 :]
    return None


def settings_of(words: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    """Return options and arguments with their values. Names of files and counts are left out, since they do not
    matter to --check: of a file the ending and placeholders remain.
    """
    found, option = set(), ""
    for word in words:
        if word.startswith("-"):
            option = word
            found.add((option, ""))
            continue
        name, _, value = word.rpartition("=") if option == "-A" else (option, "", word)
        value = re.sub(r"^[\w/-]+(?=\.(npz|tar|json|sqlite|dot)\b)", "FILE", value)
        found.add((name, "N" if name in COUNTS else value))
    return frozenset(found)


def pairs_of(settings: frozenset[tuple[str, str]]) -> set[frozenset[tuple[str, str]]]:
    """Return the settings by two. A rule of the program is about one setting or two."""
    return {frozenset(pair) for pair in combinations_with_replacement(settings, 2)}


def different_commands() -> list[tuple[str, ...]]:
    """Return the commands of wire-cell with two settings that no other command has together. Of the benchmarks,
    which have run, only those with a setting that no other command has.
    """
    every = sorted({(where, *found) for where, words in commands() if (found := program_arguments(words))})
    by_settings: dict[frozenset, tuple[str, ...]] = {}
    for command in every:
        if not command[0].startswith(BENCHMARKS):
            by_settings.setdefault(settings_of(command[1:]), command)
    benchmarks = {settings_of(command[1:]): command for command in every if command[0].startswith(BENCHMARKS)}
    seen = set().union(*by_settings)
    for settings in sorted(benchmarks, key=len, reverse=True):
        if settings - seen:
            by_settings[settings] = benchmarks[settings]
            seen |= settings
    chosen, seen_pairs = [], set()
    for settings in sorted(by_settings, key=len, reverse=True):
        if pairs_of(settings) - seen_pairs:
            chosen.append(by_settings[settings])
            seen_pairs |= pairs_of(settings)
    return sorted(chosen)


def in_a_command(argument: str) -> bool:
    """Return whether a command of the documents, which is checked, has an argument of the job."""
    return any(argument in command for command in WIRE_CELL_COMMANDS)


WIRE_CELL_COMMANDS = different_commands()
WCB_COMMANDS = sorted({(where, *words[1:]) for where, words in commands() if words[0] == "./wcb"})


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links(path: Path) -> None:
    """The targets of links, pictures and boxes of diagrams exist."""
    prose = re.sub(r"^```(?!mermaid).*?^```", "", read_text(path), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)\s]+)\)", prose) + re.findall(
        r'^\s*click \w+ href "([^"]+)"', prose, re.MULTILINE
    )
    broken = []
    for target in targets:
        if target.startswith(("http://", "https://")):
            continue
        location, _, anchor = target.partition("#")
        file = (path.parent / location).resolve() if location else path
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert not broken


def test_index_of_decisions_is_complete() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    assert not [
        page.name
        for page in folder.glob("*.md")
        if page.name != "README.md" and f"({page.name})" not in index
    ]


def test_chain_page_names_every_folder() -> None:
    table = read_text(CHAIN).split("## Folders")[1].split("\n## ")[0]
    folders = [entry.removeprefix("spng/") for line in ORDER for entry in line if entry.startswith("spng/")]
    assert folders and not [folder for folder in folders if f"`{folder}/`" not in table]


def test_commands_were_found() -> None:
    assert len(WIRE_CELL_COMMANDS) >= 10 and len(WCB_COMMANDS) >= 5


@needs_program
@pytest.mark.parametrize("command", WIRE_CELL_COMMANDS, ids=" ".join)
def test_wire_cell_commands(command: tuple[str, ...], tmp_path: Path) -> None:
    """The commands parse, and their jobs configure."""
    arguments = list(command[1:])
    if not {argument.split("=")[0] for argument in arguments} & set(NOT_RUN):
        arguments.append("--check-configuration")
    arguments = ["--check-configuration" if argument == "--check" else argument for argument in arguments]
    done = run(*arguments, folder=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", WCB_COMMANDS, ids=" ".join)
def test_wcb_commands(command: tuple[str, ...]) -> None:
    """The command exists, and the help knows its options."""
    words = list(command[1:])
    if words and not words[0].startswith("-"):
        assert words.pop(0) in command_line.OWN + waf.COMMANDS
    for word in words:
        option = word.split("=")[0]
        stem = re.sub(r"-(include|lib|libs)$", "", option)
        assert option in help_text.help_text() or stem in help_text.help_text(), option


def test_checksums_of_data_files() -> None:
    """data/SHA256SUMS is the output of the command in data/README.md, and names every file."""
    data = ROOT / "data"
    (command,) = blocks(data / "README.md", "sh")
    words, _, target = command.rpartition(">")
    written = subprocess.run(["sh", "-c", words], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert read_text(data / target.strip()) == written, f"data files have changed: {command}"
    names = {line.split("  ")[1] for line in written.splitlines()}
    assert names == {path.name for path in data.iterdir()} - {"README.md", "SHA256SUMS"}


@needs_program
def test_node_reference_is_the_programs() -> None:
    expected = run("--describe", "all").stdout
    assert read_text(ROOT / "docs" / "nodes.md") == expected, "wire-cell --describe all > docs/nodes.md"


@needs_program
@pytest.mark.parametrize("path", JOBS, ids=name_of)
def test_jobs_run_with_their_defaults(path: Path, tmp_path: Path) -> None:
    done = run("--check-configuration", path, folder=tmp_path)
    assert done.returncode == 0 and "valid" in done.stdout, done.stderr


@needs_program
@pytest.mark.parametrize(
    "arguments",
    [
        *(f"detname={name} tpcid=all" for name in DETECTORS if not in_a_command(f"detname={name}")),
        "batch=false dump=adc,decon,gauss,loose,images,regions,coincidence,roi,signal",
        "model=standin engine=TbbFlow tags=signal,error,decon_charge,wiener,loose,mp2,mp3,roi",
        "filters=pdsp tags=roi",
    ],
)
def test_main_job_with(arguments: str, tmp_path: Path) -> None:
    words = wire_cell.settings(*arguments.split())
    done = run("--check-configuration", "-c", "cfg/pipeline.jsonnet", *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr


@needs_program
def test_guide_has_the_arguments_of_the_job() -> None:
    table = run("--describe", "cfg/pipeline.jsonnet").stdout
    assert len(table.splitlines()) > 30 and "|  |" not in table
    assert table in read_text(GUIDE), (
        "wire-cell --describe cfg/pipeline.jsonnet prints the table of the guide"
    )


@needs_program
def test_chain_diagram_is_the_default_job(tmp_path: Path) -> None:
    """The diagram has the nodes and edges of the default job without its fans."""
    drawn = run("--dot", "-", "-c", "cfg/pipeline.jsonnet", folder=tmp_path).stdout
    labels = {
        node: ":".join(filter(None, label.split("\\n")))
        for node, label in re.findall(r'^  (n\d+) \[label="(.*?)"', drawn, re.MULTILINE)
    }
    after: dict[str, list[str]] = {}
    for tail, head in re.findall(r"(n\d+) -> (n\d+)", drawn):
        after.setdefault(tail, []).append(head)

    def beyond_fans(node: str) -> Iterator[str]:
        for head in after.get(node, []):
            if re.match("SPNGFan(out|in)TensorSets", labels[head]):
                yield from beyond_fans(head)
            else:
                yield labels[head].removesuffix(":anode0")

    expected = {
        (labels[node].removesuffix(":anode0"), head)
        for node in labels
        if not re.match("SPNGFan(out|in)TensorSets", labels[node])
        for head in beyond_fans(node)
    }
    diagram = blocks(CHAIN, "mermaid")[0]
    boxes = dict(re.findall(r"\b(\w+)\[([\w:-]+)\]", diagram))
    seen = {
        (boxes[tail], boxes[head])
        for tail, head in re.findall(r"^\s*(\w+)(?:\[.*?\])? -->\|.*?\| (\w+)", diagram, re.MULTILINE)
    }
    assert seen == expected


def with_example_node(name: str, text: str) -> str:
    """Return the text of a file of cfg/ with the lines of the chain page: the function before another one, or
    each part of the diff.
    """
    if name == "lib/spng.jsonnet":
        [function] = blocks(CHAIN, "jsonnet")
        other = "    ChannelRMS(name, group, image=null)::"
        assert text.count(other) == 1
        return text.replace(other, f"{function}\n{other}")
    [diff] = blocks(CHAIN, "diff")
    for part in diff.split("\n\n"):
        before, after = (
            "".join(f"{line[1:]}\n" for line in part.splitlines() if line[0] in kept) for kept in (" -", " +")
        )
        assert text.count(before) == 1, f"{name} has no line:\n{before}"
        text = text.replace(before, after)
    return text


@needs_program
def test_example_node_in_a_job(tmp_path: Path) -> None:
    """The example node works in a job. The build compiles the page's C++ as separate files
    (waf/spng_example_node.py).
    """
    plugin = PROGRAM.parents[1] / "tests" / "libSpngExampleNode.so"
    if any((ROOT / part).exists() for part in spng_example_node.PARTS):
        pytest.skip("the node of the page is in the checkout")
    if not plugin.exists():
        pytest.skip(f"{plugin} is not built")
    assert "upper limit of the samples" in run("-p", plugin, "--describe", "SPNGClip").stdout
    shutil.copytree(ROOT / "cfg", tmp_path / "cfg")
    for name in ("lib/spng.jsonnet", "pipeline.jsonnet"):
        path = tmp_path / "cfg" / name
        path.write_text(with_example_node(name, read_text(path)), encoding="utf-8")
    job = ["-p", plugin, "-P", tmp_path / "cfg", "-P", tmp_path / "cfg" / "lib", "-c"]
    job += [tmp_path / "cfg" / "pipeline.jsonnet"]
    drawn = run(*job, "--dot", "-", folder=tmp_path)
    assert drawn.returncode == 0, drawn.stderr
    names = {
        node: label.replace("\\n", ":")
        for node, label in re.findall(r'^  (n\d+) \[label="([^"]+)', drawn.stdout, re.MULTILINE)
    }
    edges = [
        (names[tail], names[head])
        for tail, head in re.findall(r"^  (n\d+) -> (n\d+)", drawn.stdout, re.MULTILINE)
    ]
    for group in ("induction", "collection"):
        assert (f"SPNGApplyROI:signal-{group}", f"SPNGClip:signal-{group}") in edges
        assert (f"SPNGClip:signal-{group}", "SPNGTorchTensorSetToFrameFanin:anode0") in edges
    arguments = {"input": wire_cell.default_input(), "output": "signal.npz", "device": "cpu", "model": "none"}
    words = wire_cell.settings(**arguments)
    done = run(*job, *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    signal = wire_cell.read_arrays(tmp_path / "signal.npz")["frame_signal_0"]
    truth = wire_cell.read_arrays(wire_cell.TRUTH)["frame_*_0"]
    assert signal.min() == 0 and signal.max() == 20_000
    for plane in (slice(0, 800), slice(800, 1600), slice(1600, 2560)):
        ratio = signal[plane].sum(dtype=float) / truth[plane].sum(dtype=float)
        assert ratio == pytest.approx(1, abs=0.08), plane


def test_example_files_include_what_they_use() -> None:
    """The headers of the standard library, in the file itself: a compiler may not find them by way of other headers."""
    homes = {
        "tuple": r"std::make_tuple",
        "memory": r"std::make_shared",
        "string": r"std::(string|to_string)\b",
        "utility": r"std::move",
        "vector": r"std::vector",
    }
    for part in spng_example_node.PARTS:
        text = spng_example_node.code_of(read_text(CHAIN), part)
        used = {header for header, pattern in homes.items() if re.search(pattern, text)}
        assert used <= set(re.findall(r"^#include <(\w+)>$", text, re.MULTILINE)), part


def test_all_code_of_the_page_is_built() -> None:
    """Each block of C++ is one of the files that the build takes from the page."""
    shown = read_text(CHAIN)
    assert blocks(CHAIN, "cpp") == [
        spng_example_node.code_of(shown, part) for part in spng_example_node.PARTS
    ]


@needs_program
def test_every_tag_is_written_as_the_guide_says(tmp_path: Path) -> None:
    """One run with all tags has the types, sizes, summary of `wiener` and masks that the guide describes."""
    tags = ("signal", "error", "decon_charge", "wiener", "loose", "mp2", "mp3", "roi")
    site = Site.at(tmp_path)
    channels = len(site.anode.channels)
    written = site.job(site.busy_frames(1, TICKS), tags=",".join(tags), model="dnnroi.ts")
    for tag in tags:
        samples = written[f"frame_{tag}_0"]
        assert samples.shape == (channels, TICKS) and samples.any(), tag
        assert samples.dtype == ("int16" if tag in ("mp2", "mp3", "roi") else "float32"), tag
        assert samples.dtype != "int16" or set(np.unique(samples)) == {0, 1}, tag
    assert written["summary_wiener_0"].shape == (channels,) and (written["summary_wiener_0"] > 0).all()
    assert not np.any(written["frame_signal_0"][written["frame_roi_0"] == 0]), "signal outside the regions"
