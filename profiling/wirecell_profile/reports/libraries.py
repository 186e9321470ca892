# SPDX-License-Identifier: Apache-2.0
"""Reports of NVIDIA's libraries: ranges in their NVTX domains, and calls in nsys's tables of libraries."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..errors import MissingData
from ..model.events import join_labels, read_host_calls
from ..model.grouping import group
from ..model.selection import Scope
from ..model.table import label
from ..output import Result
from . import Report, sum_of_times
from .cuda_api import sum_by_name
from .nvtx import sum_of_ranges

# report -> library, prefix of its NVTX domains (lower case), nsys's table of it
LIBRARIES = {
    "cublas_sum": ("cuBLAS", "cublas", "CUBLAS_EVENTS"),
    "cudnn_sum": ("cuDNN", "cudnn", "CUDNN_EVENTS"),
    "nccl_sum": ("NCCL", "nccl", None),
    "cccl_sum": ("CCCL", "cccl", None),
}

VIDEO = {"NVVIDEO_ENCODER_API": "Encoder", "NVVIDEO_DECODER_API": "Decoder", "NVVIDEO_JPEG_API": "JPEG"}


def library_sum(scope: Scope, _: frozenset[str], library: str, domain: str, table: str | None) -> Result:
    """Summarise ranges of the library's domains by name and style, or without any, rows of its table by
    function."""
    ranges = scope.profile.or_empty("ranges")
    of_library = ranges.domain.matching(lambda name: name.lower().startswith(domain))
    if of_library.any():
        chosen = scope.range_rows[of_library[scope.range_rows]]
        return sum_of_ranges(ranges.take(chosen), with_style=True)
    if table is not None and scope.profile.has(table):
        calls = read_host_calls(scope.profile, table)
        return sum_by_name(calls.take(scope.host_rows(calls)))
    raise MissingData(
        f"{scope.profile.name} does not contain ranges of {library}",
        seen=f"no range in an NVTX domain {library}",
    )


def nvvideo_api_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise calls of the video libraries by function and library."""
    scope.profile.require(*VIDEO)
    present = [name for name in VIDEO if scope.profile.has(name)]
    parts = []
    for name in present:
        calls = read_host_calls(scope.profile, name)
        parts.append(calls.take(scope.host_rows(calls)))
    names = join_labels([part.name for part in parts])
    library = label(VIDEO[name] for name, part in zip(present, parts) for _ in range(len(part)))
    groups = group(library.codes, names.codes)
    durations = np.concatenate([part.duration for part in parts])
    keys = {"Event Type": library.text, "Name": names.text}
    return sum_of_times(durations, groups, "Num Calls", keys, library.codes, names.codes)


REPORTS = [
    *(
        Report(
            name,
            f"ranges of {library}",
            partial(library_sum, library=library, domain=domain, table=table),
            (name.replace("_", ""),),
        )
        for name, (library, domain, table) in LIBRARIES.items()
    ),
    Report("nvvideo_api_sum", "calls of NVIDIA's video libraries by function", nvvideo_api_sum),
]
