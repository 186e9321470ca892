# SPDX-License-Identifier: Apache-2.0
"""Reports of parallel programming: OpenMP, OpenACC, MPI."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.events import HostEvents, join_labels, read_host_events
from ..model.grouping import by_total, group, summarise
from ..model.identity import pid_of, tid_of
from ..model.selection import Scope
from ..model.table import NULL, Labels, label
from ..output import Result, columns
from . import list_of, report, sum_of_times
from .cuda_gpu_trace import megabytes

# table of MPI calls -> source in the sums, columns of the sizes sent and received
MPI = {
    "MPI_P2P_EVENTS": ("p2p", "size", None),
    "MPI_START_WAIT_EVENTS": ("start-wait", None, None),
    "MPI_OTHER_EVENTS": ("other", None, None),
    "MPI_COLLECTIVES_EVENTS": ("collectives", "size", "recvSize"),
}


def tables_of(scope: Scope, prefix: str) -> list[str]:
    """Return the tables with rows whose names begin so, in alphabetical order. Raise MissingData without any."""
    found = [
        name for name in sorted(scope.profile.tables) if name.startswith(prefix) and scope.profile.has(name)
    ]
    if not found:
        raise scope.profile.missing(f"{prefix}*")
    return found


@report("OpenMP events by name", "openmpevtsum")
def openmp_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise OpenMP events by kind and name."""
    tables = [scope.profile.table(name) for name in tables_of(scope, "OPENMP_EVENT_KIND_")]
    return _sum_of_tables(
        scope,
        [read_host_events(table) for table in tables],
        [table.strings("nameId") for table in tables],
        "Count",
        by_table=True,
    )


@report("OpenACC events by name and line", "openaccsum")
def openacc_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise OpenACC events by name and line of the source."""
    tables = [scope.profile.table(name) for name in tables_of(scope, "CUPTI_ACTIVITY_KIND_OPENACC_")]
    names = []
    for table in tables:
        parts = zip(
            table.strings("nameId").to_list(),
            table.strings("srcFile").to_list(),
            table.integers("lineNo").tolist(),
        )
        names.append(label(_located(*part) for part in parts))
    return _sum_of_tables(scope, [read_host_events(table) for table in tables], names, "Num Calls")


def _located(name: str, file: str, line: int) -> str:
    """Return the name with the file and the line, as far as they are known."""
    if not file:
        return name
    return f"{name}@{file}" if line == NULL else f"{name}@{file}:{line}"


def _sum_of_tables(
    scope: Scope, events: list[HostEvents], names: list[Labels], count: str, by_table: bool = False
) -> Result:
    """Summarise the events of several tables by name, on request separately for each table.

    Equal totals are in the order of the names, or by table in that of the names' ids in the file.
    """
    chosen = [scope.host_rows(part) for part in events]
    labels = join_labels([part.take(rows) for part, rows in zip(names, chosen)])
    durations = np.concatenate([part.duration[rows] for part, rows in zip(events, chosen)])
    table = np.repeat(np.arange(len(chosen)), [len(rows) for rows in chosen])
    if not by_table:
        return sum_of_times(durations, group(labels.codes), count, {"Name": labels.text}, labels.ranks())
    ids = np.concatenate([part.codes[rows] for part, rows in zip(names, chosen)])
    return sum_of_times(durations, group(labels.codes, table), count, {"Name": labels.text}, table, ids)


@dataclass
class MpiCalls:
    """MPI calls of all tables, in the order of the tables."""

    events: HostEvents
    name: Labels
    source: Labels
    columns: dict[str, np.ndarray]


def read_mpi(scope: Scope) -> MpiCalls:
    """Read the selected MPI calls. Raise MissingData if the file has none."""
    scope.profile.require(*MPI)
    present = [name for name in MPI if scope.profile.has(name)]
    tables = [scope.profile.table(name) for name in present]
    events = HostEvents(
        *(
            np.concatenate(part)
            for part in zip(*((e.start, e.end, e.thread) for e in map(read_host_events, tables)))
        )
    )
    found: dict[str, list[np.ndarray]] = {
        key: [] for key in ("tag", "remoteRank", "rootRank", "size", "sent", "received")
    }
    for name, table in zip(present, tables):
        missing = np.full(len(table), NULL, dtype=np.int64)
        _, sent, received = MPI[name]
        is_collective = received is not None
        for key in ("tag", "remoteRank", "rootRank"):
            found[key].append(table.integers(key))
        found["size"].append(missing if is_collective or sent is None else table.integers(sent))
        found["sent"].append(table.integers(sent) if is_collective and sent else missing)
        found["received"].append(table.integers(received) if received else missing)
    rows = scope.host_rows(events)
    return MpiCalls(
        events.take(rows),
        join_labels([table.strings("textId") for table in tables]).take(rows),
        label(MPI[name][0] for name, table in zip(present, tables) for _ in range(len(table))).take(rows),
        {key: np.concatenate(parts)[rows] for key, parts in found.items()},
    )


@report("MPI calls one by one")
def mpi_event_trace(scope: Scope, _: frozenset[str]) -> Result:
    """Return one row per MPI call, by start."""
    calls = read_mpi(scope)
    events, order = calls.events, np.argsort(calls.events.start, kind="stable")
    ranks: dict[int, int] = {}
    if scope.profile.has("MPI_RANKS"):
        table = scope.profile.table("MPI_RANKS")
        ranks = dict(zip(table.integers("globalTid").tolist(), table.integers("rank").tolist()))
    return list_of(
        order,
        {
            "Start (ns)": events.start,
            "End (ns)": events.end,
            "Duration (ns)": events.duration,
            "Event": calls.name,
            "Pid": pid_of(events.thread),
            "Tid": tid_of(events.thread),
            "Tag": calls.columns["tag"],
            "Rank": [*map(ranks.get, events.thread.tolist())],
            "PeerRank": calls.columns["remoteRank"],
            "RootRank": calls.columns["rootRank"],
            "Size (MB):3": megabytes(calls.columns["size"]),
            "CollSendSize (MB):3": megabytes(calls.columns["sent"]),
            "CollRecvSize (MB):3": megabytes(calls.columns["received"]),
        },
    )


@report("MPI calls by function")
def mpi_event_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise MPI calls by source and function."""
    calls = read_mpi(scope)
    groups = group(calls.source.codes, calls.name.codes)
    keys = {"Source": calls.source.text, "Name": calls.name.text}
    return sum_of_times(
        calls.events.duration, groups, "Instances", keys, calls.source.ranks(), calls.name.ranks()
    )


@report("sizes of MPI messages by function")
def mpi_msg_size_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise the sizes of messages by their kind and function, in bytes."""
    calls = read_mpi(scope)
    kinds = {"p2p": "size", "coll-send": "sent", "coll-recv": "received"}
    sizes = [calls.columns[key] for key in kinds.values()]
    known = [np.flatnonzero(size != NULL) for size in sizes]
    names = join_labels([calls.name.take(rows) for rows in known])
    sources = label(kind for kind, rows in zip(kinds, known) for _ in rows)
    groups = group(sources.codes, names.codes)
    size = np.concatenate([part[rows] for part, rows in zip(sizes, known)])
    summary = summarise(size, groups.of_row, len(groups))
    rows = [
        (
            int(summary.total[i]),
            int(summary.count[i]),
            *summary.cells(i),
            sources.text(groups.first[i]),
            names.text(groups.first[i]),
        )
        for i in by_total(summary, groups, sources.ranks(), names.ranks())
    ]
    return Result(
        columns("Total (B), Instances, Avg (B), Med (B), Min (B), Max (B), StdDev (B), Source, Name"), rows
    )
