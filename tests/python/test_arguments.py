# SPDX-License-Identifier: Apache-2.0
"""Wrong arguments of public functions: whatever is given, the only exception is spng.Error, in the words of Python."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spng.errors import in_python

import spng
from tests.support.wire_cell import needs_program

pytestmark = needs_program


class Hostile:
    """An object whose methods fail."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


CHANNELS, TICKS = np.arange(4, dtype=np.int32), 200
ADC = np.full((4, TICKS), 900, np.int16)
FRAME = spng.Frame({"*": spng.Traces("*", ADC, CHANNELS)}, 1)
VALUES: dict[str, Any] = {
    "None": None,
    "True": True,
    "2": 2,
    "-1": -1,
    "2^31": 2**31,
    "2^70": 2**70,
    "1.5": 1.5,
    "nan": float("nan"),
    "empty text": "",
    "text": "nosuch",
    "NUL": "a\0b",
    "bytes in text": "\udcff",
    "surrogate": "\ud800",
    "bytes": b"x",
    "[]": [],
    "[1]": [1],
    "['a']": ["a"],
    "[2^31]": [2**31],
    "ragged": [[1], [1, 2]],
    "[None]": [None],
    "(1, 2)": (1, 2),
    "{}": {},
    "{'a': 1}": {"a": 1},
    "{1: 2}": {1: 2},
    "ragged mask": {"bad": [[1, 2], [1, 2, 3]]},
    "huge mask": {"bad": [[0, 0, 2**70]]},
    "wide mask": {"bad": [[2**31, 0, 1]]},
    "name of a mask": {"\udcff": [[0, 0, 1]]},
    "object": Hostile(),
    "class": dict,
    "function": len,
    "iterator": iter([]),
    "array": np.zeros(3),
    "cube": np.zeros((1, 1, 1)),
    "empty array": np.zeros((0, 0), np.int16),
    "objects": np.array([[object()]]),
    "structured": np.zeros((2, 2), [("a", "i2")]),
    "complex": np.zeros((2, 2), complex),
    "0-d": np.int64(2**40),
    "wrong frame": spng.Frame({"a": 1}),  # type: ignore[dict-item]
    "frame of a list": spng.Frame([1]),  # type: ignore[arg-type]
    "empty frame": spng.Frame({}),
    "two tags": spng.Frame({tag: spng.Traces(tag, ADC, CHANNELS) for tag in ("a", "b")}),
    "lists in a frame": spng.Frame({"a": spng.Traces("a", [[1, 2]], [1])}),  # type: ignore[arg-type]
    "masks of a frame": spng.Frame(FRAME.traces, 1, masks=[1]),  # type: ignore[arg-type]
    "wrong mask": spng.Frame(FRAME.traces, 1, masks={"bad": 3}),  # type: ignore[dict-item]
    "ident of a frame": spng.Frame(FRAME.traces, 2**40),
    "times of a frame": spng.Frame({"a": spng.Traces("a", ADC, CHANNELS, tick_ns="x")}),  # type: ignore[arg-type]
    "channels of a frame": spng.Frame({"a": spng.Traces("a", ADC, np.zeros(3, np.int32))}),
    "runs of a frame": spng.Frame(
        {
            "a": spng.Traces(
                "a", spng.SparseSamples(np.array([[0, 190, 210]]), np.ones(20), (4, 200)), CHANNELS
            )
        }
    ),
    "Path": Path("/nosuch/file"),
}


def check(function: Callable[..., Any], given: dict[str, Any]) -> None:
    """Give each argument each value."""
    failures: list[str] = []
    parameters = inspect.signature(function).parameters
    for name, parameter in parameters.items():
        if name == "self" or parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        for title, value in VALUES.items():
            arguments = given | {name: value}
            positional = []
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                positional = [arguments.pop(name)]
            try:
                found = function(*positional, **arguments)
                if inspect.isgenerator(found):
                    list(found)
            except spng.Error as error:
                text = str(error)
                if not text.startswith("error: ") or re.search(r"nanobind|(?<!\S)(-A|--[a-z])", text):
                    failures.append(f"{name}={title}: {text}")
            except Exception as error:
                failures.append(f"{name}={title}: {type(error).__name__}: {error}")
    assert not failures, "\n".join(failures)


def test_pipeline_options() -> None:
    """With a configuration that does not exist no chain is made."""
    check(spng.Pipeline, {"configuration": "nosuch.jsonnet"})
    check(
        lambda threads, noise_filter: spng.Pipeline(
            configuration="no.jsonnet", threads=threads, noise_filter=noise_filter
        ),
        {"threads": 1, "noise_filter": "none"},
    )


@pytest.mark.parametrize("method", ["__call__", "submit", "map"])
def test_pipeline_events(pipeline: spng.Pipeline, method: str) -> None:
    given = {"frames": [FRAME]} if method == "map" else {"waveforms": ADC, "channels": CHANNELS}
    check(getattr(pipeline, method), given)


def test_other_methods(pipeline: spng.Pipeline, simulation: spng.Simulation) -> None:
    pending = pipeline.submit(ADC, channels=CHANNELS)
    pending.wait()
    check(pending.wait, {})
    check(pipeline.timing_table, {})
    check(simulation, {"depositions": np.empty((7, 0))})


def test_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    check(spng.Simulation, {"detector": "nosuch"})
    monkeypatch.setattr(
        "spng.simulation.Pipeline", lambda *_, **__: spng.Pipeline(configuration="no.jsonnet")
    )
    check(spng.waveforms_from_charge, {"charge": FRAME})
    monkeypatch.setattr(
        "spng.simulation.Simulation", lambda *_, **__: spng.Pipeline(configuration="no.jsonnet")
    )
    check(spng.simulate, {"depositions": np.empty((7, 0))})


def test_planes() -> None:
    check(spng.planes, {"detector": "nosuch"})


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    spng.write_frames("in.npz", FRAME)
    check(spng.read_frames, {"path": "in.npz"})
    for ending in ("npz", "h5"):
        check(spng.write_frames, {"path": f"out.{ending}", "frames": FRAME})


def test_pictures_and_comparisons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check(spng.compare, {"a": FRAME, "b": FRAME})
    check(spng.score, {"output": FRAME, "truth": FRAME})
    check(spng.show, {"signal": FRAME})
    check(spng.plot, {"signal": FRAME})
    check(spng.show(FRAME).save, {"path": "page.html"})
    check(FRAME.only().rows, {})
    check(FRAME.__getitem__, {})


def test_settings() -> None:
    check(spng.set_strict, {})
    spng.set_strict(False)


@pytest.mark.parametrize(
    ("options", "seen", "hint"),
    [
        ({"model": None}, "None of type NoneType", "model='none'"),
        ({"detector": {"name": "mine"}}, "{'name': 'mine'} of type dict", ""),
        ({"tpcid": 1}, "tpcid=1", "use anode=1"),
        ({"detname": "pdsp"}, "detname='pdsp'", "use detector='pdsp'"),
        ({"anode": "0"}, "'0' of type str", ""),
        ({"queue_size": 0}, "0", ""),
        ({"threads": None}, "None of type NoneType", "leave the argument out"),
        ({"input": "adc.npz"}, "'adc.npz' of type str", "call the pipeline"),
    ],
)
def test_hints(options: dict[str, Any], seen: str, hint: str) -> None:
    with pytest.raises(spng.Error) as caught:
        spng.Pipeline(**options)
    (name,) = options
    assert (
        caught.value.where == f"argument {name}" and caught.value.seen == seen and hint in caught.value.hint
    )


def test_ident_beyond_32_bits(pipeline: spng.Pipeline) -> None:
    with pytest.raises(spng.Error) as caught:
        pipeline(ADC, CHANNELS, ident=2**31)
    assert (caught.value.where, caught.value.expected) == ("argument ident", "an integer of 32 bits or None")


def test_words_of_expected_types(pipeline: spng.Pipeline) -> None:
    with pytest.raises(spng.Error) as caught:
        pipeline(ADC, CHANNELS, masks={3: np.array([[0, 1, 3]])})  # type: ignore[dict-item]
    assert caught.value.expected == "a dictionary with names of type str or None"
    with pytest.raises(spng.Error) as caught:
        pipeline.map(5)  # type: ignore[arg-type]
    assert caught.value.expected == "several values, such as a list"


def test_numbers_of_numpy_are_numbers(pipeline: spng.Pipeline) -> None:
    found = pipeline(ADC, CHANNELS, ident=np.int64(4), tick_ns=np.float32(500), first_tick=np.int16(3))
    assert found.ident == 4 and found.only().first_tick == 3
    with spng.Pipeline(anode=np.int64(0), model="none", device="cpu", sparse=np.bool_(True)) as own:
        assert own.devices == ["cpu"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("use -A device=cpu, or another device", "use device='cpu', or another device"),
        (
            "-A batch=false, -A model=none, or a shorter -A window=",
            "batch=False, model='none', or a shorter window=...",
        ),
        (
            "allow more with -A max_bad_share=SHARE, or another -A noise_filter",
            "allow more with max_bad_share=SHARE, or another argument noise_filter",
        ),
        (
            "select the anode with -A tpcid=N and -A detname=NAME;",
            "select the anode with anode=N and detector=NAME;",
        ),
        ("-A tpcid=0,1.", "anode='0,1'."),
        ("name other devices with -A device=...", "name other devices with device=..."),
        (
            "of the detector (detname) match; see /a/detname/x",
            "of the detector (detector) match; see /a/detname/x",
        ),
        ("give its folder with -P or in WIRECELL_PATH", "give its folder in WIRECELL_PATH"),
        ("no -A or --tla-code: the file is not a function", "no arguments: the file is not a function"),
    ],
)
def test_words_of_python(text: str, expected: str) -> None:
    assert in_python(text) == expected
