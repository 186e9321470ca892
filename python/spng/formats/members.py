# SPDX-License-Identifier: Apache-2.0
"""The arrays of an event in HDF5 and Zarr files, with the names of the members of .npz files, without the ident.

frame_<tag> (channel, tick), or runs_<tag>, values_<tag> and shape_<tag>     samples, dense or sparse
channels_<tag> (channel) int32, summary_<tag> (channel) float64, optional
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ..errors import Error
from ..frame import Frame, SparseSamples, Traces, runs_of

CHUNK_BYTES = 1 << 22  # of samples before compression
MASK_TICKS = "mask_ticks"  # key of the note mask_ticks_note (spng/io/frame_parts.h)
SPARSE = ("runs", "values", "shape")
FIRST_KINDS = ("frame_", "runs_")  # the member of a tag that gives its position in the file


def rows_in_chunk(shape: tuple[int, ...], itemsize: int) -> int:
    """Return the rows of a chunk (rows, all ticks) of about CHUNK_BYTES."""
    return max(1, min(shape[0], CHUNK_BYTES // max(1, shape[1] * itemsize)))


def sparse(samples: np.ndarray) -> SparseSamples:
    """Return the shortest runs of the samples (channel, tick) whose bits are not 0: -0.0 and NaN survive."""
    samples = np.ascontiguousarray(samples)
    is_set = samples.view(f"i{samples.dtype.itemsize}") != 0
    return SparseSamples(runs_of(is_set), samples[is_set], samples.shape)


def as_numpy(samples: object) -> np.ndarray:
    """Return samples, possibly a torch tensor on any device, as a NumPy array."""
    return samples.detach().cpu().numpy() if hasattr(samples, "detach") else np.asarray(samples)


def arrays_of(traces: Traces, form: str) -> dict[str, np.ndarray]:
    """Return the arrays of a tag by their kinds."""
    arrays: dict[str, np.ndarray] = {}
    if form == "dense":
        arrays["frame"] = as_numpy(traces.dense())
    else:
        parts = sparse(as_numpy(traces.dense()))
        arrays |= {"runs": parts.runs.astype(np.int32), "values": parts.values}
        arrays["shape"] = np.array(parts.shape, np.int64)
    arrays["channels"] = np.asarray(traces.channels, np.int32)
    if traces.summary is not None:
        arrays["summary"] = np.asarray(traces.summary, np.float64)
    return arrays


def tags_in(names: Iterable[str], wanted: tuple[str, ...], where: str) -> list[str]:
    """Return the wanted tags among the names of the arrays of an event, in their order.

    Raise Error if there is none.
    """
    kinds = (name.partition("_") for name in names if name.startswith(FIRST_KINDS))
    present = [tag for _, _, tag in kinds]
    found = [tag for tag in present if "*" in wanted or tag in wanted]
    if not found:
        raise Error(
            "Input",
            "the event has none of the tags",
            where,
            ", ".join(present) or "no frame_<tag>",
            ", ".join(wanted),
        )
    return found


def traces_from(
    tag: str, arrays: Mapping[str, np.ndarray], times: tuple[float, float, float], where: str
) -> Traces:
    """Return the traces of a tag. arrays: by kind; times: start [ns], tick [ns], first tick.

    Raise Error if the arrays do not fit each other.
    """
    kinds = ("channels",) if "frame" in arrays else (*SPARSE, "channels")
    absent = [f"{kind}_{tag}" for kind in kinds if kind not in arrays]
    if absent:
        raise Error("Input", "arrays of the event are missing", where, expected=", ".join(absent))
    samples = _samples_from(tag, arrays, where)
    channels = arrays["channels"].astype(np.int32)
    summary = arrays["summary"].astype(np.float64) if "summary" in arrays else None
    for kind, array in (("channels", channels), ("summary", summary)):
        if array is not None and array.shape != samples.shape[:1]:
            raise Error(
                "Input",
                f"{kind}_{tag} does not fit the samples",
                where,
                f"shape {array.shape}",
                f"shape ({samples.shape[0]},)",
            )
    start, tick, first = times
    return Traces(tag, samples, channels, float(tick), float(start), int(first), summary)


def notes_of(frame: Frame) -> dict[str, str]:
    """Return the notes to store: with the mark of masks that count from the start, where an event needs it."""
    has_masks = any(len(mask) for mask in frame.masks.values())
    if frame.notes and has_masks and any(traces.first_tick for traces in frame.traces.values()):
        return frame.notes | {MASK_TICKS: "from the start"}
    return frame.notes


def frame_from(
    traces: dict[str, Traces], ident: int, masks: dict[str, np.ndarray], notes: dict[str, str]
) -> Frame:
    """Return an event of a file.

    Notes without the mark are of an earlier version: its masks count from the first sample (docs/frame-files.md).
    """
    first_tick = next(iter(traces.values())).first_tick
    if notes and notes.pop(MASK_TICKS, None) is None:
        masks = {name: mask + [0, first_tick, first_tick] for name, mask in masks.items()}
    return Frame(traces, ident, masks, notes)


def _samples_from(tag: str, arrays: Mapping[str, np.ndarray], where: str) -> np.ndarray | SparseSamples:
    if "frame" in arrays:
        samples = _of_sample_type(arrays["frame"], f"{where}, frame_{tag}")
        if samples.ndim != 2 or not samples.size:
            raise Error(
                "Input",
                "the samples have the wrong shape",
                f"{where}, frame_{tag}",
                f"{samples.shape}",
                "(channel, tick), at least one each",
            )
        return samples
    runs, values, shape = (arrays[kind] for kind in SPARSE)
    runs = runs.astype(np.int64).reshape(-1, 3)
    rows, ticks = (int(size) for size in shape)
    row, begin, end = runs.T
    is_valid = (
        (row >= 0).all()
        and (row < rows).all()
        and (begin >= 0).all()
        and (begin < end).all()
        and (end <= ticks).all()
        and (np.diff(row * ticks + begin) >= (end - begin)[:-1]).all()
        and (end - begin).sum() == len(values)
    )
    if not is_valid:
        raise Error(
            "Input",
            "the runs of a sparse frame do not fit its shape or values",
            f"{where}, runs_{tag}",
            f"{len(runs)} runs, {len(values)} values, shape ({rows}, {ticks})",
            "ascending runs that are not empty, do not overlap and have one value for each sample",
        )
    return SparseSamples(runs, _of_sample_type(values, f"{where}, values_{tag}"), (rows, ticks))


def _of_sample_type(array: np.ndarray, where: str) -> np.ndarray:
    """Return int16 or float32; other integers must fit into int16, float64 becomes float32."""
    if array.dtype.kind == "f":
        return np.ascontiguousarray(array, np.float32)
    limits = np.iinfo(np.int16)
    if array.dtype.kind in "iu" and (
        not array.size or limits.min <= array.min() and array.max() <= limits.max
    ):
        return np.ascontiguousarray(array, np.int16)
    raise Error("Input", "the samples have an unsuitable type", where, f"{array.dtype}", "int16 or float32")


def check_names(frame: Frame, where: str) -> None:
    """Raise Error for tags and names of masks with a slash, which separates groups in both formats."""
    for name in (*frame.traces, *frame.masks):
        if "/" in name:
            raise Error(
                "Output",
                "a tag or the name of a mask cannot be stored",
                f"{where}, event {frame.ident}",
                repr(name),
                "a name without '/'",
                "write .npz or .tar",
            )
