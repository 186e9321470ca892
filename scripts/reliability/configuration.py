# SPDX-License-Identifier: Apache-2.0
"""R15, R16: wrong configurations, and networks that cannot be used."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from scripts.output import Table
from scripts.wcb.checkout import ROOT
from tests.support import wire_cell

from .row import Outcome, judge
from .work import Ended, Work, names, run

SECONDS = 1.0
IN, OUT, TAP_A, TAP_B = "FrameFileSource:in", "FrameFileSink:out", "SPNGTensorTap:a", "SPNGTensorTap:b"
FILE_KEYS = {"FrameFileSource": "inname", "FrameFileSink": "outname", "SPNGTensorTap": "filename"}


def component(name: str, **changes: Any) -> dict[str, Any]:
    """Return a component by its name `Type:instance`."""
    kind, instance = name.split(":")
    return {"type": kind, "name": instance, "data": {FILE_KEYS.get(kind, "filename"): "file.npz"}, **changes}


def edge(tail: str, head: str, port: int = 0) -> dict[str, Any]:
    """Return an edge. port: of the head."""
    return {"tail": {"node": tail, "port": 0}, "head": {"node": head, "port": port}}


def graph(nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> str:
    """Return a configuration as JSON."""
    return json.dumps([*nodes, {"type": "Pgrapher", "data": {"edges": edges}}])


PLAIN = [component(IN), component(OUT)]
# Fault -> configuration, and words of the message.
GRAPHS: dict[str, tuple[str, tuple[str, ...]]] = {
    "unknown key": (
        graph([component(IN), component(OUT, data={"outnam": "x.npz"})], [edge(IN, OUT)]),
        (OUT, "'outnam'", "did you mean 'outname'?"),
    ),
    "wrong type": (
        graph([component(IN), component(OUT, data={"outname": [5]})], [edge(IN, OUT)]),
        (OUT, "outname", "array"),
    ),
    "wrong type of data": (graph([component(IN), component(OUT, data=[1])], [edge(IN, OUT)]), (OUT, "array")),
    "unknown component": (
        graph([component(IN), component("FrameFileSnik:out")], [edge(IN, "FrameFileSnik:out")]),
        ("FrameFileSnik", "did you mean 'FrameFileSink'?"),
    ),
    "unknown node of an edge": (
        graph(PLAIN, [edge(IN, "FrameFileSink:uot")]),
        ("edges[0].head", f"did you mean '{OUT}'?"),
    ),
    "port that does not exist": (graph(PLAIN, [edge(IN, OUT, 1)]), (OUT, "port 1")),
    "unconnected port": (graph([*PLAIN, component(TAP_A)], [edge(IN, OUT)]), (TAP_A, "input port 0")),
    "port connected twice": (
        graph([*PLAIN, component("FrameFileSource:b")], [edge(IN, OUT), edge("FrameFileSource:b", OUT)]),
        ("connected twice", OUT),
    ),
    "cycle": (
        graph(
            [*PLAIN, component(TAP_A), component(TAP_B)],
            [edge(IN, OUT), edge(TAP_A, TAP_B), edge(TAP_B, TAP_A)],
        ),
        ("cycle", TAP_A, TAP_B),
    ),
    "duplicate name": (graph([*PLAIN, component(OUT)], [edge(IN, OUT)]), (OUT,)),
    "edge to a service": (
        graph([*PLAIN, component("SPNGContext:x", data={})], [edge(IN, "SPNGContext:x")]),
        ("SPNGContext:x", "not a node"),
    ),
    "JSON with an error": ('[{"type": ', ("job.json",)),
}
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "inptu=adc.npz": ("'inptu'", "did you mean 'input'?"),
    "tags=signl": ("signl", "signal"),
    "detname=pdhdd": ("'pdhdd'", "pdhd"),
    "tpcid=x": ("'tpcid'", "whole number"),
    "nevents=-5": ("key nevents", "-5"),
    "dtype=float16": ("key dtype", "did you mean 'float32'?"),
    "precision=fst": ("key precision", "did you mean 'fast'?"),
    "engine=Pgraphr": ("Pgraphr",),
    "memory_budget=much": ("memory_budget", "much"),
}


def configurations(work: Work) -> Outcome:
    """Measure R15."""
    rows, misses = [], []

    def add(name: str, done: Ended, words: tuple[str, ...], left: list[str]) -> None:
        lines = re.findall(r"^(?:error:|  (?:where|seen|hint):) +(.*)", done.errors, re.MULTILINE)
        rows.append([name, str(done.status), f"{done.cpu_s:.2f}", "; ".join(lines)])
        if done.status != 2:
            misses.append(f"{name}: status {done.status} instead of 2")
        if done.cpu_s >= SECONDS:
            misses.append(f"{name}: {done.cpu_s:.2f} s instead of {SECONDS:g} s")
        if lacking := [word for word in words if word not in done.errors]:
            misses.append(f"{name}: the message lacks {', '.join(lacking)}")
        if left:
            misses.append(f"{name}: leaves {', '.join(left)}")

    for index, (name, (text, words)) in enumerate(GRAPHS.items()):
        folder = work.new(f"graph{index}")
        (folder / "job.json").write_text(text, encoding="utf-8")
        add(name, run(["job.json"], folder), words, names(folder)[1:])
    for index, (argument, words) in enumerate(ARGUMENTS.items()):
        folder = work.new(f"argument{index}")
        add(
            f"argument {argument}",
            run(["-c", wire_cell.PIPELINE, "-A", argument], folder),
            words,
            names(folder),
        )
    files, jobs = evaluated(work, misses)
    slowest = max(float(row[2]) for row in rows)
    return judge(
        f"{sum(row[1] == '2' for row in rows)} of {len(rows)} faults with status 2, in at most {slowest:.2f} s of processor time; {files} files "
        f"of cfg/ and {jobs} jobs of all detectors evaluate",
        misses,
        "Processor time includes the start of the program and the evaluation of the configuration.",
        [Table("Faults", ["fault", "status", "processor time [s]", "message"], rows, words=4)],
    )


def evaluated(work: Work, misses: list[str]) -> tuple[int, int]:
    """Evaluate every file of cfg/, and the main job for every detector; return both counts."""
    folder = work.new("cfg")
    paths = sorted((ROOT / "cfg").rglob("*.jsonnet"))
    kinds = "\n".join(
        f"    assert std.type(import '{path.relative_to(ROOT / 'cfg').as_posix().removeprefix('lib/')}') != 'null';"
        for path in paths
    )
    copy = ROOT / "tests" / "app" / "jobs" / "copy.jsonnet"
    (folder / "all.jsonnet").write_text(
        f"local job = (import '{copy}')('adc.npz');\n{kinds}\n    job\n", encoding="utf-8"
    )
    done = run(["--check-configuration", "all.jsonnet"], folder)
    files = len(paths)
    if done.status:
        misses.append(f"the files of cfg/: {done.errors[:200]}")
        files = 0
    detectors = re.findall(
        r"^    '?([\w-]+)'?: import",
        (ROOT / "cfg/detectors/all.jsonnet").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    jobs = 0
    for name in detectors:
        words = [
            "--check-configuration",
            "-c",
            wire_cell.PIPELINE,
            "-A",
            f"detname={name}",
            "-A",
            "tpcid=all",
        ]
        done = run(words, folder)
        if done.status:
            misses.append(f"{name}: {done.errors.splitlines()[:3]}")
        jobs += done.status == 0
    return files, jobs


def network_file(path: Path, body: str) -> Path:
    """Write a TorchScript network with this body and the metadata of the shipped one."""
    import torch

    from scripts.dnnroi import export

    class Network(torch.nn.Module):
        pass

    script = torch.jit.script(Network())
    script.define(f"def forward(self, x):\n    {body}\n")
    script.save(path)
    metadata = export.read_metadata((wire_cell.DATA / "dnnroi.ts").read_bytes())
    path.write_bytes(export.with_metadata(path.read_bytes(), metadata))
    return path


def models(work: Work) -> Outcome:
    """Measure R16."""
    rows, misses = [], []
    site = work.site
    wire_cell.write_arrays(site.folder / "adc.npz", work.event)
    content = (wire_cell.DATA / "dnnroi.ts").read_bytes()
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 1
    made = work.new("made")
    files: dict[str, tuple[Path, tuple[str, ...]]] = {
        "missing file": (made / "absent.ts", ()),
        "truncated": (made / "cut.ts", ()),
        "empty": (made / "empty.ts", ()),
        "one bit flipped": (made / "flipped.ts", ()),
        "no network": (made / "text.ts", ()),
        "another count of features": (
            network_file(
                made / "features.ts", "assert x.size(1) == 3, 'expected 3 features'\n    return x[:, :1]"
            ),
            ("(2, 4, 64,",),
        ),
        "another shape of the output": (
            network_file(made / "output.ts", "return x[:, :1, :, ::2]"),
            ("expected",),
        ),
        "another count of outputs": (network_file(made / "outputs.ts", "return x"), ("expected",)),
        "not a tensor": (network_file(made / "list.ts", "return [x, x]"), ("expected",)),
        "made for CUDA": (
            network_file(made / "cuda.ts", "return x[:, :1] + torch.ones([1], device=torch.device('cuda'))"),
            ("CUDA",),
        ),
    }
    (made / "cut.ts").write_bytes(content[: len(content) // 2])
    (made / "empty.ts").write_bytes(b"")
    (made / "flipped.ts").write_bytes(flipped)
    (made / "text.ts").write_text("no network\n" * 100, encoding="utf-8")
    statuses, named = set(), 0
    for index, (name, (path, words)) in enumerate(files.items()):
        folder = work.new(f"model{index}")
        done = run(work.small_job(input=site.folder / "adc.npz", model=path), folder)
        lines = re.findall(r"^(?:error:|  (?:seen|expected):) +(.*)", done.errors, re.MULTILINE)
        text = re.sub(re.escape(str(made)) + "/", "", "; ".join(lines))
        rows.append([name, str(done.status), f"{done.cpu_s:.2f}", text[:260]])
        statuses.add(done.status)
        if done.status not in (1, 2):
            misses.append(f"{name}: status {done.status}")
        named += path.name in done.errors
        if lacking := [word for word in (path.name, *words) if word not in done.errors]:
            misses.append(f"{name}: the message lacks {', '.join(lacking)}")
        if names(folder):
            misses.append(f"{name}: leaves {', '.join(names(folder))}")
    return judge(
        f"{len(rows)} faults with status {' or '.join(map(str, sorted(statuses)))}, {named} of them with the name of the file",
        misses,
        "The network is tried before the first event, so no output is written.",
        [Table("Faults", ["network", "status", "processor time [s]", "message"], rows, words=4)],
    )
