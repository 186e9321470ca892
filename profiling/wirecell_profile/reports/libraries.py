# SPDX-License-Identifier: Apache-2.0
"""Reports of NVIDIA's libraries: ranges in their NVTX domains, or calls in nsys's tables of libraries."""

from __future__ import annotations

from functools import partial

from ..errors import MissingData
from ..model.selection import Scope
from ..output import Result
from . import add
from .calls import calls_of, sum_by_name
from .nvtx import sum_of_ranges

# Library, whose NVTX domains begin with its name in lower case -> nsys's table of it.
LIBRARIES = {"cuBLAS": "CUBLAS_EVENTS", "cuDNN": "CUDNN_EVENTS", "NCCL": None, "CCCL": None}


def library_sum(scope: Scope, _: frozenset[str], library: str, table: str | None) -> Result:
    """Summarise ranges of the library's domains by name and style, or without any, rows of its table by
    function."""
    ranges, prefix = scope.profile.or_empty("ranges"), library.lower()
    of_library = ranges.domain.matching(lambda name: name.lower().startswith(prefix))
    if of_library.any():
        chosen = scope.range_rows[of_library[scope.range_rows]]
        return sum_of_ranges(ranges.take(chosen), with_style=True)
    if table is not None and scope.profile.has(table):
        return sum_by_name(calls_of(scope, table))
    raise MissingData(
        f"{scope.profile.name} does not contain ranges of {library}",
        seen=f"no range in an NVTX domain {library}",
    )


for _library, _table in LIBRARIES.items():
    _run = partial(library_sum, library=_library, table=_table)
    add(f"{_library.lower()}_sum", f"ranges of {_library}", _run, f"{_library.lower()}sum")
