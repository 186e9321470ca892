# SPDX-License-Identifier: Apache-2.0
"""Reports of NVIDIA's libraries: ranges in their NVTX domains, and calls in nsys's tables of libraries."""

from __future__ import annotations

from functools import partial

from ..errors import MissingData
from ..model.events import read_host_calls
from ..model.selection import Scope
from ..output import Result
from . import Report
from .cuda_api import sum_by_name
from .nvtx import sum_of_ranges

# report -> library, prefix of its NVTX domains (lower case), nsys's table of it
LIBRARIES = {
    "cublas_sum": ("cuBLAS", "cublas", "CUBLAS_EVENTS"),
    "cudnn_sum": ("cuDNN", "cudnn", "CUDNN_EVENTS"),
    "nccl_sum": ("NCCL", "nccl", None),
    "cccl_sum": ("CCCL", "cccl", None),
}


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
        f"{scope.profile.path.name} does not contain ranges of {library}",
        seen=f"no range in an NVTX domain {library}",
    )


REPORTS = [
    Report(name, f"ranges of {library}", partial(library_sum, library=library, domain=domain, table=table))
    for name, (library, domain, table) in LIBRARIES.items()
]
