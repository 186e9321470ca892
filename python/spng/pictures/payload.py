# SPDX-License-Identifier: Apache-2.0
"""The data of a page: all samples without loss, compressed, as text.

A layer of an event is a header and a gzip stream. Its samples, one row (all ticks) after the other, ascending by channel:

    int16    differences of consecutive samples of a row (the first one to 0, modulo 2^16), low bytes, then high bytes
    sparse   runs (row, begin, end) int32, then the values: int16 or float32
    float32  all samples

frames.js decodes them. Sparse samples are used where they are smaller.
"""

from __future__ import annotations

import base64
import gzip
from typing import Any

import numpy as np

from ..frame import SparseSamples, Traces

LEVEL = 6


def encode_samples(samples: np.ndarray) -> dict[str, Any]:
    """Return the header of samples (channel, tick), int16 or float32, with the stream as base64 in "data"."""
    samples = np.ascontiguousarray(samples)
    is_set = samples.view(f"i{samples.dtype.itemsize}") != 0
    if is_set.mean() < 0.5:
        edges = np.diff(np.pad(is_set, ((0, 0), (1, 1))).view(np.int8), axis=1)
        (row, begin), (_, end) = np.nonzero(edges == 1), np.nonzero(edges == -1)
        runs = np.stack([row, begin, end], axis=1).astype("<i4")
        values = samples[is_set]
        content = runs.tobytes() + values.astype(values.dtype.newbyteorder("<")).tobytes()
        form = "sparse"
    elif samples.dtype == np.int16:
        runs = np.empty((0, 3))
        differences = np.diff(samples, axis=1, prepend=np.int16(0)).astype("<i2")  # modulo 2^16
        content = differences.view(np.uint8).reshape(-1, 2).T.tobytes()
        form = "delta"
    else:
        runs = np.empty((0, 3))
        content = samples.astype("<f4").tobytes()
        form = "dense"
    return {
        "form": form,
        "type": samples.dtype.name,
        "runs": len(runs),
        "data": base64.b64encode(gzip.compress(content, LEVEL, mtime=0)).decode(),
    }


def decode_samples(header: dict[str, Any], shape: tuple[int, int]) -> np.ndarray:
    """Return the samples of encode_samples(): what frames.js does, for tests and other readers of pages."""
    content = gzip.decompress(base64.b64decode(header["data"]))
    dtype = np.dtype(header["type"]).newbyteorder("<")
    if header["form"] == "dense":
        return np.frombuffer(content, dtype).reshape(shape)
    if header["form"] == "delta":
        differences = np.frombuffer(content, np.uint8).reshape(2, -1).T.copy().view("<i2").reshape(shape)
        return np.cumsum(differences, axis=1, dtype=np.int16)
    runs = np.frombuffer(content, "<i4", 3 * header["runs"]).reshape(-1, 3).astype(np.int64)
    values = np.frombuffer(content, dtype, offset=runs.size * 4)
    return SparseSamples(runs, values, shape).dense()


def row_order(traces: Traces, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the traces whose channels are wanted, and these channels, ascending."""
    rows = np.flatnonzero(np.isin(traces.channels, wanted))
    rows = rows[np.argsort(traces.channels[rows], kind="stable")]
    return rows, traces.channels[rows]
