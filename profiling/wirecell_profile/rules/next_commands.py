# SPDX-License-Identifier: Apache-2.0
"""Command lines to run next for a hit of a rule."""

from __future__ import annotations

import re
import shlex

import numpy as np

from ..model.events import KERNEL, START_END
from ..model.profile import Profile
from ..model.selection import Scope
from ..path_names import shell_word
from . import Hit
from .source_search import Sources

SPECIAL = re.compile(r'([\\@,\[\]/*+%"$])')  # have a special meaning in --nvtx-include


def program(profile: Profile) -> str:
    """Return the recorded command, without wire-cell's recording options; PROGRAM if unknown."""
    line = profile.manifest.get("command_line") or profile.capture.get("PROCESS_0:COMMAND") or "PROGRAM"
    return re.sub(r" --record(-what|-rank)?[ =]\S+", "", line)


def nvtx_filter(scope: Scope, range_row: int) -> list[str]:
    """Return the options of ncu that select a range, empty without one.

    A push/pop range ends with a slash, a start/end range does not.
    """
    if range_row < 0:
        return []
    ranges = scope.profile.ranges
    domain, text = ranges.domain.text(range_row), ranges.text.text(range_row)
    name = SPECIAL.sub(r"\\\1", text) + ("" if ranges.style[range_row] == START_END else "/")
    if domain:
        name = SPECIAL.sub(r"\\\1", domain) + "@" + name
    return ["--nvtx", "--nvtx-include", shlex.quote(name)]


def kernel_filter(scope: Scope, kernel_row: int, range_row: int) -> list[str]:
    """Return the options of ncu that select one launch: skip the earlier kernels of its name within ranges of
    that name."""
    if kernel_row < 0:
        return ["-c", "10"]
    operations, projection = scope.profile.operations, scope.projection
    same = (operations.kind == KERNEL) & (
        operations.short_name.codes == operations.short_name.codes[kernel_row]
    )
    if range_row >= 0:
        pairs = projection.pairs
        named = projection.ranges.name.codes == projection.ranges.name.codes[range_row]
        inside = np.zeros(len(operations), dtype=bool)
        inside[pairs.operation[named[pairs.range]]] = True
        same &= inside
    skipped = int((same & (operations.start < operations.start[kernel_row])).sum())
    name = operations.short_name.text(kernel_row)
    chosen = name if re.fullmatch(r"\w+", name) else f"regex:^{re.escape(name)}$"
    return ["-k", shlex.quote(chosen), "--launch-skip", str(skipped), "-c", "1"]


def import_of_source(scope: Scope, kernel_row: int, sources: Sources | None) -> str:
    """Return the options of ncu that copy the source of a kernel into the report, empty if `sources` lack it.

    The source page shows it if the kernels were built with line information (./wcb configure --with-lineinfo).
    """
    if kernel_row < 0 or sources is None:
        return ""
    folder = sources.kernel_folder(scope.profile.operations.name.text(kernel_row))
    return f"--set full --import-source yes --source-folders {shell_word(folder)} " if folder else ""


def next_commands(scope: Scope, tool: str, hit: Hit, sources: Sources | None = None) -> list[str]:
    """Return the command lines for a rule's `next_tool`, the most useful first."""
    run = program(scope.profile)
    file, kernel = shell_word(scope.profile.path.name), hit.kernel_row
    range_filter = nvtx_filter(scope, hit.range_row)
    ncu = " ".join(["ncu", *range_filter, *kernel_filter(scope, kernel, hit.range_row)])
    replay = f"{import_of_source(scope, kernel, sources)}--replay-mode kernel --cache-control none"
    lines = {
        "memory-backtrace": [
            f"nsys profile --trace=cuda,nvtx --sample=process-tree --cudabacktrace=memory -o copies {run}"
        ],
        "sync-backtrace": [
            f"nsys profile --trace=cuda,nvtx,osrt --sample=process-tree --cudabacktrace=sync:10000 -o waits {run}"
        ],
        "host-sampling": [
            f"nsys profile --trace=cuda,nvtx,osrt --sample=process-tree --cpuctxsw=process-tree -o gaps {run}"
        ],
        "start-up": [f"wirecell-profile summary {file} --section start-up,events,nodes"],
        "machine": ["wirecell-profile doctor", f"{run} --record again.sqlite"],
        "sanitizer": [
            f"compute-sanitizer --tool memcheck {run}",
            f"compute-sanitizer --tool initcheck {run}",
        ],
        "trace-all": [
            f"nsys profile --trace=cuda,nvtx,cublas,cudnn,osrt --cuda-graph-trace=node -o all {run}"
        ],
        "kernel": [
            f"{ncu} --section SpeedOfLight --section SpeedOfLight_RooflineChart {replay} -o kernel {run}",
            f"{ncu} --set roofline --replay-mode application -o roofline {run}",
        ],
        "storm": [
            f"{ncu} --section SpeedOfLight --section LaunchStats --section Occupancy {replay} -o storm {run}",
            " ".join(["ncu", *range_filter, "-c 1 --replay-mode range --section SpeedOfLight -o range", run]),
            f"nsys profile --trace=cuda,nvtx --cuda-graph-trace=node -o storm {run}",
        ],
    }
    return lines[tool]
