# SPDX-License-Identifier: Apache-2.0
"""Jobs that are wrong: status 2 in under a second, with the node, the key and the nearest name.

tests/app/test_command_line.py has unknown keys, wrong types and ranges of a node's data, unknown flags and arguments;
tests/cfg/pgraph_test.cxx what pgraph.jsonnet itself rejects. Here: the graph, the list of components, and the values of the
main job's arguments.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import wire_cell

pytestmark = wire_cell.needs_program

IN, OUT, TAP_A, TAP_B = "FrameFileSource:in", "FrameFileSink:out", "SPNGTensorTap:a", "SPNGTensorTap:b"
OTHER_IN, OTHER_OUT = "FrameFileSource:other", "FrameFileSink:other"
FILE_KEY = {"FrameFileSource": "inname", "FrameFileSink": "outname", "SPNGTensorTap": "filename"}


def component(name: str, **changes: Any) -> dict[str, Any]:
    """A component by its name `Type:instance`, with a file name as data."""
    type_name, instance = name.split(":")
    return {
        "type": type_name,
        "name": instance,
        "data": {FILE_KEY.get(type_name, "filename"): "file.npz"},
        **changes,
    }


def edge(tail: str, head: str, tail_port: int = 0, head_port: int = 0) -> dict[str, Any]:
    return {"tail": {"node": tail, "port": tail_port}, "head": {"node": head, "port": head_port}}


def job(components: list[str | dict[str, Any]], edges: list[dict[str, Any]]) -> str:
    """A configuration of components, of which some are given by their names."""
    made = [component(each) if isinstance(each, str) else each for each in components]
    return json.dumps([*made, {"type": "Pgrapher", "data": {"edges": edges}}])


CHAIN = [edge(IN, OUT)]
# Fault -> configuration, and words of the message.
FAULTS = {
    "unconnected input of a tap": (
        job([IN, OUT, TAP_A], CHAIN),
        ["a port is not connected", TAP_A, "input port 0"],
    ),
    "unconnected input of a sink": (
        job([IN, OUT, TAP_A], [edge(IN, TAP_A)]),
        ["a port is not connected", OUT, "input port 0"],
    ),
    "input connected twice": (
        job([IN, OTHER_IN, OUT], [edge(IN, OUT), edge(OTHER_IN, OUT)]),
        ["connected twice", OUT, "edges[0]", "edges[1]"],
    ),
    "output connected twice": (
        job([IN, OUT, OTHER_OUT], [edge(IN, OUT), edge(IN, OTHER_OUT)]),
        ["connected twice", IN, "output port 0"],
    ),
    "cycle": (
        job([IN, OUT, TAP_A, TAP_B], [edge(IN, OUT), edge(TAP_A, TAP_B), edge(TAP_B, TAP_A)]),
        ["cycle", TAP_A, TAP_B],
    ),
    "unknown node of an edge": (
        job([IN, OUT], [edge(IN, "FrameFileSink:uot")]),
        ["unknown node", "edges[0].head", f"did you mean '{OUT}'?"],
    ),
    "port that does not exist": (
        job([IN, OUT], [edge(IN, OUT, head_port=1)]),
        ["port that the node does not have", OUT, "port 1"],
    ),
    "negative port": (
        job([IN, OUT], [edge(IN, OUT, tail_port=-1)]),
        ["edges[0].tail.port", "-1", ">= 0"],
    ),
    "no edges": (job([IN, OUT], []), ["edges"]),
    "edge to a service": (
        job([IN, OUT, component("SPNGContext:x", data={})], [edge(IN, "SPNGContext:x")]),
        ["SPNGContext:x", "not a node"],
    ),
    "unknown component": (
        job([IN, "FrameFileSnik:out"], [edge(IN, "FrameFileSnik:out")]),
        ["FrameFileSnik", "did you mean 'FrameFileSink'?"],
    ),
    "duplicate name": (
        job([IN, OUT, component(OUT, data={"outname": "x.npz"})], CHAIN),
        [f"two components are called '{OUT}'"],
    ),
    "wrong type of data": (job([IN, component(OUT, data=[1])], CHAIN), [OUT, "[1] (array)", "object"]),
    "wrong type of a value": (
        job([IN, component(OUT, data={"outname": [5]})], CHAIN),
        [OUT, "outname", "array"],
    ),
    "unknown key of a component": (
        job([IN, component(OUT, dta={})], CHAIN),
        ["'dta'", "did you mean 'data'?"],
    ),
    "unknown key of data": (
        job([IN, component(OUT, data={"outnam": "x.npz"})], CHAIN),
        [OUT, "'outnam'", "did you mean 'outname'?"],
    ),
    "JSON with an error": ('[{"type": ', []),
}
ARGUMENTS = {
    "tags=signl": ["signl", "signal"],
    "dump=decn": ["decn", "decon"],
    "detname=pdhdd": ["'pdhdd'", "pdhd"],
    "filters=smoth": ["'smoth'", "smooth"],
    "tpcid=-1": ["pdhd has no anode -1", "0, 1, 2, 3"],
    "tpcid=1.5": ["argument 'tpcid'", "whole number", "1.5"],
    "tpcid=x": ["argument 'tpcid'", "whole number"],
    "nevents=-5": ["FrameFileSource", "key nevents", "-5"],
    "threads=-1": ["SPNGContext", "key threads", "-1"],
    "dtype=float16": ["SPNGContext", "key dtype", "did you mean 'float32'?"],
    "precision=fst": ["SPNGContext", "key precision", "did you mean 'fast'?"],
    "engine=Pgraphr": ["Pgraphr"],
    "memory_budget=much": ["memory_budget", "much"],
    "inptu=adc.npz": ["'inptu'", "did you mean 'input'?"],
    "input=": ["FrameFileSource", "key inname"],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_jobs(tmp_path: Path, fault: str) -> None:
    text, expected = FAULTS[fault]
    (tmp_path / "job.json").write_text(text)
    block = wire_cell.rejected("job.json", folder=tmp_path, status=2)
    for words in (*expected, "job.json"):
        assert words in block, block


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_arguments_of_the_main_job(tmp_path: Path, argument: str) -> None:
    block = wire_cell.rejected("-c", wire_cell.PIPELINE, "-A", argument, folder=tmp_path, status=2)
    for words in (*ARGUMENTS[argument], "pipeline.jsonnet"):
        assert words in block, block
    assert not any(tmp_path.iterdir())
