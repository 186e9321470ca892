# SPDX-License-Identifier: Apache-2.0
"""Arrays of the caller that are easily misread: masked ones of numpy.ma, and integers wider than the digitiser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import spng
from spng import Frame, SparseSamples, Traces
from tests.support.wire_cell import needs_program

pytestmark = needs_program

CHANNELS = np.arange(4, dtype=np.int32)
ADC = np.full((4, 200), 900, np.int16)
FRAME = Frame({"a": Traces("a", ADC, CHANNELS)})


def masked(values: Any) -> np.ma.MaskedArray:
    """Return an array whose last element is masked."""
    mask = np.zeros(np.shape(values), bool)
    mask.flat[-1] = True
    return np.ma.array(values, mask=mask)


@pytest.mark.parametrize("dtype", ["int16", "uint16", "int32", "float32", "float64"])
def test_masked_samples_of_a_call(pipeline: spng.Pipeline, dtype: str) -> None:
    samples = ADC.astype(dtype)
    for use in (pipeline, pipeline.submit, lambda values, _: list(pipeline.map([values]))):
        with pytest.raises(spng.Error, match="masked elements have no values") as caught:
            use(masked(samples), CHANNELS)
        assert caught.value.seen == "1 masked elements"
    assert pipeline(np.ma.array(samples), CHANNELS) == pipeline(samples, CHANNELS)  # no element is masked


@pytest.mark.parametrize(
    "arguments",
    [
        {"channels": masked(CHANNELS)},
        {"channels": [0, 1, 2, np.ma.masked]},
        {"masks": {"bad": masked([[1, 0, 3]])}},
        {"masks": {"bad": [masked([1, 0, 3])]}},
        {"masks": {"bad": [[1, 0, np.ma.masked]]}},
        {"ident": np.ma.masked},
        {"start_ns": np.ma.masked},
        {"tick_ns": np.ma.masked},
        {"first_tick": np.ma.masked},
    ],
)
def test_other_masked_arguments_of_a_call(pipeline: spng.Pipeline, arguments: dict[str, Any]) -> None:
    with pytest.raises(spng.Error):
        pipeline(**{"waveforms": ADC, "channels": CHANNELS} | arguments)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Traces("a", masked(ADC), CHANNELS),
        lambda: Traces("a", ADC, masked(CHANNELS)),
        lambda: Traces("a", ADC, CHANNELS, summary=masked([1.0, 2.0, 3.0, 4.0])),
        lambda: replace(FRAME.only(), samples=masked(ADC)),
        lambda: SparseSamples(masked([[0, 0, 2]]), np.ones(2, np.int16), (4, 200)),
        lambda: SparseSamples(np.array([[0, 0, 2]]), masked(np.ones(2, np.int16)), (4, 200)),
        lambda: Frame(FRAME.traces, masks={"bad": masked([[1, 0, 3]])}),
        lambda: Frame(FRAME.traces, masks={"bad": [masked([1, 0, 3])]}),
        lambda: FRAME.only().rows(masked(CHANNELS)),
        lambda: spng.plot(FRAME, planes={"X": masked(CHANNELS)}),
        lambda: spng.Pipeline(configuration="no.jsonnet", anode=masked([0, 1])),
        lambda: spng.Pipeline(configuration="no.jsonnet", set={"A:b.c": masked([0, 1])}),
        lambda: spng.Pipeline(configuration="no.jsonnet", threads=np.ma.masked),
    ],
)
def test_masked_members_of_events_and_options(make: Callable[[], object]) -> None:
    with pytest.raises(spng.Error) as caught:
        make()
    assert "no.jsonnet" not in str(caught.value)


@pytest.mark.parametrize("ending", ["npz", "h5", "zarr"])
def test_a_mask_that_is_set_later(tmp_path: Any, ending: str) -> None:
    frame = Frame(FRAME.traces, masks={})
    frame.masks["bad"] = masked([[1, 0, 3]])
    with pytest.raises(spng.Error, match="masked elements have no values"):
        spng.write_frames(tmp_path / f"out.{ending}", frame)


RAGGED = [[1, 0, 3], [2]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Traces("a", RAGGED, CHANNELS),  # type: ignore[arg-type]
        lambda: Traces("a", ADC, RAGGED),  # type: ignore[arg-type]
        lambda: Traces("a", ADC, CHANNELS, summary=RAGGED),  # type: ignore[arg-type]
        lambda: SparseSamples(RAGGED, ADC[0], ADC.shape),  # type: ignore[arg-type]
        lambda: Frame(FRAME.traces, masks={"bad": RAGGED}),  # type: ignore[dict-item]
    ],
)
def test_ragged_members_of_events(make: Callable[[], object]) -> None:
    with pytest.raises(spng.Error, match="the list is no array") as caught:
        make()
    assert caught.value.seen == "[[1, 0, 3], [2]] of type list"


@pytest.mark.parametrize("ending", ["npz", "h5", "zarr"])
def test_ragged_members_that_are_set_later(tmp_path: Any, ending: str) -> None:
    channels: list[Any] = [1, 2, 3, 4]
    frame = Frame({"a": Traces("a", ADC, channels)})  # type: ignore[arg-type]
    channels[0] = [1, 2]
    with pytest.raises(spng.Error, match="the list is no array"):
        spng.write_frames(tmp_path / f"out.{ending}", frame)
    assert not list(tmp_path.iterdir())


def test_masked_depositions(simulation: spng.Simulation) -> None:
    depositions = np.ma.zeros((7, 3))
    depositions[0, 0] = np.ma.masked
    for given in (depositions, depositions.T, list(depositions)):
        with pytest.raises(spng.Error, match="masked elements have no values"):
            simulation(given)


@pytest.mark.parametrize("dtype", ["uint16", "int32", "int64"])
@pytest.mark.parametrize("wrong", [None, 40_000, 1_000_000])
def test_wide_integers_are_checked_for_saturation(
    pipeline: spng.Pipeline, dtype: str, wrong: int | None
) -> None:
    """Also if one sample is beyond int16, so that float32 holds them."""
    samples = ADC.astype(dtype)
    samples[2, 5] = 2**14 - 1
    if wrong and wrong <= np.iinfo(dtype).max:
        samples[3, 0] = wrong
    expected = [[2, 5, 6], [3, 0, 1]] if samples[3, 0] == 40_000 else [[2, 5, 6]]
    assert pipeline(samples, CHANNELS).masks["saturated"].tolist() == expected
