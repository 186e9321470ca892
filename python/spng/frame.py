# SPDX-License-Identifier: Apache-2.0
"""One event of waveforms: Frame, and Traces, the waveforms of one tag."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .arguments import fits, seen, words
from .conversion import integers_of, require_whole_array
from .errors import Error, in_python, input_error

if TYPE_CHECKING:
    import torch

    Samples = np.ndarray | torch.Tensor


class TagError(Error, KeyError, ValueError):
    """A frame lacks a tag, or has several where one is meant."""


@dataclass(frozen=True, eq=False)
class SparseSamples:
    """The samples that are not 0, of all rows one after the other.

    runs    (run, 3) int64: row, begin tick, end tick (not included), in ascending order
    values  (sample,) the samples of the runs, int16 or float32
    shape   (channels, ticks) of the dense samples
    """

    runs: np.ndarray
    values: np.ndarray
    shape: tuple[int, int]

    def __post_init__(self) -> None:
        for name in ("runs", "values"):
            require_whole_array(getattr(self, name), name)

    def __eq__(self, other: object) -> bool:
        return equal_samples(self, other) if isinstance(other, SparseSamples) else NotImplemented

    def __repr__(self) -> str:
        return f"<SparseSamples: {_shape(self)}, {len(self.runs)} runs, {len(self.values)} samples>"

    def sum(self) -> np.floating | np.integer:
        """Return the sum of all samples."""
        return self.values.sum()

    def dense(self) -> np.ndarray:
        """Return all samples (channel, tick). Raise spng.Error if the runs do not fit."""
        runs = _runs_that_fit(self)
        samples = np.zeros(self.shape, self.values.dtype)
        lengths = runs[:, 2] - runs[:, 1]
        # Tick of each value in the flat frame: the first of its run, plus its position in the run.
        starts = runs[:, 0] * self.shape[1] + runs[:, 1]
        positions = np.arange(len(self.values)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        samples.reshape(-1)[np.repeat(starts, lengths) + positions] = self.values
        return samples


def _runs_that_fit(samples: SparseSamples) -> np.ndarray:
    """Return the runs. Raise spng.Error unless they lie in the shape, one after the other, with a value for each tick."""
    runs, values, shape = integers_of(samples.runs), samples.values, samples.shape
    is_right = (
        runs is not None
        and runs.shape[1:] == (3,)
        and isinstance(values, np.ndarray)
        and values.ndim == 1
        and fits(shape, tuple[int, int])
        and min(shape) >= 0
    )
    if runs is not None and is_right:
        row, begin, end = runs.astype(np.int64).T
        first, last = row * shape[1] + begin, row * shape[1] + end
        is_right = (
            (begin >= 0).all()
            and (begin <= end).all()
            and (end <= shape[1]).all()
            and (row >= 0).all()
            and (row < shape[0]).all()
            and (last[:-1] <= first[1:]).all()
            and (end - begin).sum() == len(values)
        )
    if runs is None or not is_right:
        raise input_error(
            "the runs of the samples do not fit",
            seen=f"runs {seen(samples.runs)}, values {seen(values)}, shape {seen(shape)}",
            expected="ascending runs (row, begin tick, end tick) in (channels, ticks), with a value for each tick",
        )
    return runs.astype(np.int64)


def runs_of(is_set: np.ndarray) -> np.ndarray:
    """Return the runs of true values (row, tick): (run, 3) int64 row, begin tick, end tick (not included), ascending."""
    edges = np.diff(np.pad(is_set, ((0, 0), (1, 1))).view(np.int8), axis=1)
    rows, begins = np.nonzero(edges == 1)
    return np.stack([rows, begins, np.nonzero(edges == -1)[1]], axis=1)


def equal_samples(a: Samples | SparseSamples, b: Samples | SparseSamples) -> bool:
    """Tell whether two sets of samples have the same values, whatever their forms and types. NaN equals NaN."""
    one, other = (
        np.asarray(each.dense() if isinstance(each, SparseSamples) else _on_host(each)) for each in (a, b)
    )
    return _equal(one, other)


def _on_host(samples: Any) -> Any:
    return samples.detach().cpu() if hasattr(samples, "detach") else samples


def _equal(a: Any, b: Any) -> bool:
    one, other = np.asarray(a), np.asarray(b)
    has_nan = one.dtype.kind in "fc" and other.dtype.kind in "fc"
    return bool(np.array_equal(one, other, equal_nan=has_nan))


def _shape(samples: Any) -> str:
    """Return "2560 channels, 6000 ticks, float32"."""
    values = samples.values if isinstance(samples, SparseSamples) else samples
    counts = [f"{count} {name}" for count, name in zip(getattr(samples, "shape", ()), ("channels", "ticks"))]
    return ", ".join([*counts, str(getattr(values, "dtype", type(values).__name__)).removeprefix("torch.")])


@dataclass(frozen=True, eq=False)
class Traces:
    """The waveforms of one tag. Sample t of a row was taken at start_ns + (first_tick + t) * tick_ns.

    samples     (channel, tick) int16 or float32 [ADC] or [electrons]; a torch tensor if the frame came from one.
                SparseSamples if the file or the pipeline gave ROIs only; dense() expands them
    channels    (channel,) int32: channel ids of the rows
    summary     (channel,) float64: one value per row, such as its noise RMS; or None
    """

    tag: str
    samples: Samples | SparseSamples
    channels: np.ndarray
    tick_ns: float = 500.0
    start_ns: float = 0.0
    first_tick: int = 0
    summary: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name in ("samples", "channels", "summary"):
            require_whole_array(getattr(self, name), name)

    def __eq__(self, other: object) -> bool:
        """Tell whether tag, times, channels, summary and samples are equal."""
        if not isinstance(other, Traces):
            return NotImplemented
        names = ("tag", "tick_ns", "start_ns", "first_tick")
        return (
            all(getattr(self, name) == getattr(other, name) for name in names)
            and _equal(self.channels, other.channels)
            and (self.summary is None) == (other.summary is None)
            and (self.summary is None or _equal(self.summary, other.summary))
            and equal_samples(self.samples, other.samples)
        )

    def __repr__(self) -> str:
        is_sparse = ", sparse" if isinstance(self.samples, SparseSamples) else ""
        return f"<Traces {self.tag!r}: {_shape(self.samples)}{is_sparse}>"

    def dense(self) -> Samples:
        """Return all samples (channel, tick)."""
        return self.samples.dense() if isinstance(self.samples, SparseSamples) else self.samples

    def rows(self, channels: np.ndarray) -> np.ndarray:
        """Return the samples (channel, tick) of these channels in their order; zeros for channels that are absent."""
        wanted = integers_of(channels)
        if wanted is None or wanted.ndim != 1:
            raise input_error(
                "the channels are no list of integers", seen=seen(channels), expected="channel ids"
            )
        channels, samples = wanted, np.asarray(self.dense())
        order = np.argsort(self.channels, kind="stable")
        found = order[np.searchsorted(self.channels, channels, sorter=order).clip(max=len(order) - 1)]
        is_present = self.channels[found] == channels
        rows = samples[found]
        rows[~is_present] = 0
        return rows

    @property
    def times_us(self) -> np.ndarray:
        """Return the start of each tick (tick,) [us]."""
        ticks = self.samples.shape[1]
        return (self.start_ns + (self.first_tick + np.arange(ticks)) * self.tick_ns) / 1e3


@dataclass(frozen=True, eq=False)
class Frame:
    """One event.

    traces  by tag, in file order
    masks   by name ("bad", "saturated", ...): (n, 3) int64: channel id, begin tick, end tick (not included). Ticks count
            from start_ns, as in the Wire-Cell Toolkit: sample t of a row is tick first_tick + t
    notes   provenance by key, such as the network and its checksum
    """

    traces: dict[str, Traces]
    ident: int = 0
    masks: dict[str, np.ndarray] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for mask in self.masks.values() if isinstance(self.masks, dict) else ():
            require_whole_array(mask, "masks")

    def __eq__(self, other: object) -> bool:
        """Tell whether ident, traces and masks are equal. Notes may differ: they say how the samples were made."""
        if not isinstance(other, Frame):
            return NotImplemented
        return (
            self.ident == other.ident
            and self.traces == other.traces
            and self.masks.keys() == other.masks.keys()
            and all(_equal(mask, other.masks[name]) for name, mask in self.masks.items())
        )

    def __repr__(self) -> str:
        facts = [repr(traces) for traces in self.traces.values()]
        facts += [f"mask {name!r}: {len(mask)} ranges" for name, mask in self.masks.items()]
        facts += [f"{len(self.warnings)} warnings"] if self.warnings else []
        return f"<Frame {self.ident}: {', '.join(facts) or 'no traces'}>"

    def _repr_html_(self) -> str:
        from .pictures.thumbnail import frame_html

        return frame_html(self)

    @property
    def warnings(self) -> list[str]:
        """Return the doubts about the input of this event, as the log has them."""
        return in_python(self.notes.get("warnings", "")).splitlines()

    def __contains__(self, tag: object) -> bool:
        return isinstance(tag, str) and tag in self.traces

    def __getitem__(self, tag: str) -> Traces:
        """Return the traces of a tag. Raise spng.Error, which is a KeyError too, if there is none."""
        if tag not in self:
            raise TagError(
                "Input", "the frame has no such tag", "", seen(tag), _tags(self) or "a frame with tags"
            )
        return self.traces[tag]

    def only(self) -> Traces:
        """Return the traces of the only tag. Raise spng.Error, which is a ValueError too, if there are several or none."""
        if len(self.traces) != 1:
            raise TagError(
                "Input",
                f"the frame has {len(self.traces)} tags",
                "",
                _tags(self) or "no tag",
                "one tag",
                "frame['TAG'] gives the traces of a tag",
            )
        return next(iter(self.traces.values()))


def _tags(frame: Frame) -> str:
    return ", ".join(map(repr, frame.traces))


def require_frame(frame: Any, where: str = "") -> Frame:
    """Return a frame. Raise spng.Error if it is none, or if a member has another type."""

    def require(is_right: bool, what: str, value: object, expected: str) -> None:
        if not is_right:
            raise input_error(what, where=where, seen=seen(value), expected=expected)

    require(isinstance(frame, Frame), "this is no event", frame, "spng.Frame")
    for name in ("traces", "masks", "notes"):
        value = getattr(frame, name)
        require(
            isinstance(value, dict), f"the {name} of the event have the wrong type", value, "a dictionary"
        )
    require(fits(frame.ident, int), "the ident of the event is wrong", frame.ident, words(int))
    for name, mask in frame.masks.items():
        require(fits(name, str), "the name of a mask is wrong", name, "text")
        shape = getattr(mask, "shape", (0, 3) if isinstance(mask, (list, tuple)) else ())
        require(
            shape[1:] == (3,) or shape == (0,),
            f"the mask {name!r} has the wrong form",
            mask,
            "integers (n, 3)",
        )
    for tag, traces in frame.traces.items():
        require(isinstance(traces, Traces), f"the traces {tag!r} have the wrong type", traces, "spng.Traces")
        shape = tuple(getattr(traces.samples, "shape", ()))
        require(
            len(shape) == 2,
            f"the samples of {tag!r} have the wrong form",
            traces.samples,
            "an array or a tensor (channel, tick)",
        )
        ids = np.shape(traces.channels) if isinstance(traces.channels, (np.ndarray, list, tuple)) else None
        require(
            ids in (shape[:1], (0,)),
            f"the channels of {tag!r} do not fit its samples",
            traces.channels,
            f"{shape[0]} channel ids, one of each row",
        )
        for name, kind in (("tick_ns", float), ("start_ns", float), ("first_tick", int)):
            value = getattr(traces, name)
            require(fits(value, kind), f"{name} of {tag!r} is wrong", value, words(kind))
    return frame
