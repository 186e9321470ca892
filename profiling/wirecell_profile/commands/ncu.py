# SPDX-License-Identifier: Apache-2.0
"""Show verdicts per kernel from Nsight Compute's CSV, with advice and roofline, or an estimated roofline of a
recording.

  ncu --set full -o kernels PROGRAM; ncu --import kernels.ncu-rep --csv --page raw > kernels.csv
  wirecell-profile ncu kernels.csv

For a recording (SQLite) the roofline per node is estimated from the bytes of its tensors, a lower bound of
the moved bytes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from ..errors import UsageError, system_error
from ..model import selection
from ..model.database import SQLITE_MAGIC, start_of
from ..model.profile import Profile
from ..output import Result, as_table, columns, json_text, table_of, write
from ..output_kind import OF_FORMAT
from ..tables import ncu_verdicts
from ..tables.ncu_file import Launch, read_ncu
from ..tables.ncu_verdicts import LEVELS, TENSOR_LEVELS, Kernel, advice, bound, kernels, level, reads
from ..tables.roofline import GIGA, METRICS, Point, estimated, measured, scaled
from ..terminal import visible
from ._options import add_format, add_output, check_outputs

NAME = "ncu"
ADVICE = "advice"
NOT_READ = "metrics that are not read"
SHOWN_NAMES = 6  # of metrics that are not read, in the note
HELP = (
    "show verdicts and roofline from Nsight Compute's CSV, or an estimated roofline per node of a recording"
)


# Cells of kernels by the heads of their columns.
VERDICTS: dict[str, Callable[[Kernel], object]] = {
    "Kernel": lambda kernel: kernel.name,
    "Launches": lambda kernel: len(kernel.launches),
    "Time (ns)": lambda kernel: kernel.duration,
    "SM (%)": lambda kernel: kernel.value(ncu_verdicts.SM),
    "Tensor (%)": lambda kernel: kernel.value(ncu_verdicts.TENSOR),
    "Memory (%)": lambda kernel: kernel.value(ncu_verdicts.MEMORY),
    "DRAM (%)": lambda kernel: kernel.value(ncu_verdicts.DRAM),
    "Occupancy (%)": lambda kernel: kernel.value(ncu_verdicts.OCCUPANCY),
    "Theoretical (%)": lambda kernel: kernel.value(ncu_verdicts.THEORETICAL),
    "Largest stall": lambda kernel: (kernel.stall() or (None,))[0],
    "Verdict": bound,
}
RESOURCES: dict[str, Callable[[Kernel], object]] = {
    "Kernel": lambda kernel: kernel.name,
    "SM use": lambda kernel: level(kernel.value(ncu_verdicts.SM), LEVELS),
    "DRAM use": lambda kernel: level(kernel.value(ncu_verdicts.DRAM), LEVELS),
    "Tensor use": lambda kernel: level(kernel.value(ncu_verdicts.TENSOR), TENSOR_LEVELS),
    "Registers per thread:0": lambda kernel: kernel.value(ncu_verdicts.REGISTERS),
    "Shared memory per block (B):0": lambda kernel: kernel.total(ncu_verdicts.SHARED_MEMORY),
    "Local memory accesses:0": lambda kernel: kernel.total(ncu_verdicts.LOCAL_ACCESSES),
    "Bank conflicts:0": lambda kernel: kernel.total(ncu_verdicts.BANK_CONFLICTS),
    "Of wavefronts (%)": Kernel.conflicts,
    "Bytes per wavefront (B)": lambda kernel: kernel.value(ncu_verdicts.WAVEFRONT_BYTES),
}
ROOFLINE: dict[str, Callable[[tuple[Kernel, Point]], object]] = {
    "Kernel": lambda pair: pair[0].name,
    "Precision": lambda pair: pair[1].precision,
    "GFLOP/s:2": lambda pair: pair[1].flops / GIGA,
    "DRAM (GB/s):2": lambda pair: pair[1].traffic / GIGA,
    "FLOP per byte:3": lambda pair: pair[1].intensity,
    "Ridge (FLOP per byte):3": lambda pair: pair[1].ridge,
    "Attainable GFLOP/s:2": lambda pair: scaled(pair[1].attainable, 1 / GIGA),
    "Of attainable (%)": lambda pair: pair[1].share_of_attainable,
    "Roof": lambda pair: pair[1].side,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("file", type=Path, help="CSV of ncu (--csv --page raw or details), or a recording")
    add_format(parser, "table", "json")
    add_output(parser)
    known = parser.add_argument_group("estimated roofline")
    known.add_argument(
        "--flops",
        action="append",
        default=[],
        metavar="NODE=N",
        help="floating point operations per call of a node (Type:instance or Type)",
    )
    known.add_argument("--peak-flops", type=float, metavar="GFLOP/S", help="peak of the device")
    known.add_argument(
        "--peak-bandwidth", type=float, metavar="GB/S", help="peak of its memory (default: from the file)"
    )
    selection.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    check_outputs(arguments, ("--output", arguments.output, OF_FORMAT[arguments.format]))
    try:
        is_recording = start_of(arguments.file, len(SQLITE_MAGIC)) == SQLITE_MAGIC
    except OSError as error:
        raise system_error("cannot read the file", arguments.file, error) from None
    tables = _of_recording(arguments) if is_recording else _of_csv(arguments.file)
    if arguments.format == "json":
        body = json_text({name: result.records() for name, result in tables.items()})
    else:
        body = "\n".join(
            f"** {name}\n\n{_as_lines(result) if name == ADVICE else as_table(_filled(result))}"
            for name, result in tables.items()
            if name != NOT_READ
        )
    write(body, arguments.output)
    return 0


def _filled(result: Result) -> Result:
    """Return the columns of a table that have a value."""
    kept = [i for i in range(len(result.columns)) if any(row[i] is not None for row in result.rows)]
    return Result([result.columns[i] for i in kept], [tuple(row[i] for i in kept) for row in result.rows])


def _as_lines(advice_of_kernels: Result) -> str:
    """Return the advice as lines below the name of each kernel."""
    lines: list[str] = []
    for index, (name, line) in enumerate(advice_of_kernels.rows):
        if index == 0 or name != advice_of_kernels.rows[index - 1][0]:
            lines.append(name)
        lines.append(f"  {line}")
    return "\n".join([*lines, ""])


def _of_csv(path: Path) -> dict[str, Result]:
    launches = read_ncu(path)
    found = kernels(launches)
    advice_lines = [(kernel.name, line) for kernel in found for line in advice(kernel)]
    tables = {
        "kernels": table_of(found, VERDICTS),
        "resources": table_of(found, RESOURCES),
        ADVICE: Result(columns("Kernel, Advice"), advice_lines),
    }
    if points := [(kernel, point) for kernel in found if (point := measured(kernel)) is not None]:
        tables["roofline"] = table_of(points, ROOFLINE)
    unread = _unread(launches)
    if unread:
        tables[NOT_READ] = Result(columns("Metric"), [(name,) for name in unread])
        more = f" and {len(unread) - SHOWN_NAMES} more" if len(unread) > SHOWN_NAMES else ""
        print(
            f"note: metrics of {visible(path.name)} that are not read ({len(unread)}, all with --format json): "
            f"{', '.join(unread[:SHOWN_NAMES])}{more}",
            file=sys.stderr,
        )
    return tables


def _unread(launches: list[Launch]) -> list[str]:
    """Return the metrics of the file that no table uses, without the constants of the device."""
    names = dict.fromkeys(name for launch in launches for name in launch.metrics)
    return [
        name
        for name in names
        if not (reads(name) or METRICS.fullmatch(name) or name.startswith("device__attribute_"))
    ]


def _of_recording(arguments: argparse.Namespace) -> dict[str, Result]:
    flops = {}
    for text in arguments.flops:
        name, _, count = text.rpartition("=")
        try:
            flops[name] = float(count)
        except ValueError:
            raise UsageError(
                "invalid count of operations", "--flops", text, "NODE=N, such as SPNGDecon=2e9"
            ) from None
    with Profile.open(arguments.file) as profile:
        scope = selection.Scope(profile, selection.from_arguments(arguments))
        return {
            "estimated roofline, bytes are a lower bound": estimated(
                scope, scaled(arguments.peak_flops, GIGA), scaled(arguments.peak_bandwidth, GIGA), flops
            )
        }
