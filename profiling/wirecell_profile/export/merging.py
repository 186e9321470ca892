# SPDX-License-Identifier: Apache-2.0
"""Merge of several profiles into one: the processes of a job, or the GPUs of several machines.

Ids that are unique only within a file become unique; everything else stays unchanged:

- Strings: one table StringIds, with renumbered references.
- Threads and processes keep their ids. If two files have the same one (containers, several hosts), the VM part of the
  serialised id in the later file is raised; pid and tid stay unchanged.
- Devices are distinguished by uuid, else by host and index; with CUDA_VISIBLE_DEVICES different GPUs can have the same
  index.
- Nodes, edges and calls of wire-cell's recorder are renumbered, and the sources of its samples get the process.
- Times are nanoseconds since the start of the earliest session, from the UTC starts of the sessions. They are as accurate
  as the machines' clocks agree.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import ProfileError, UsageError, system_error
from ..model.database import quoted
from ..model.identity import THREAD_BITS, process_of
from ..model.profile import Profile
from ..model.table import NULL, TIMES
from ..output_file import output_file, target_of

STRING_COLUMNS = set(
    "textId jsonTextId nameId demangledName shortName mangledName filenameId contentId symbol module".split()
)
IDENTITY_COLUMNS = {"globalTid", "endGlobalTid", "globalPid", "globalVid"}
# (table, column) -> kind of its ids, which are unique only within a file. A column without table applies to all tables.
NUMBERS = {
    ("SPNG_NODE", "id"): "node",
    ("SPNG_NODE", "parent"): "node",
    ("SPNG_CALL", "node"): "node",
    ("SPNG_EDGE", "tail"): "node",
    ("SPNG_EDGE", "head"): "node",
    ("SPNG_EDGE", "id"): "edge",
    ("SPNG_MSG", "edge"): "edge",
    ("SPNG_CALL", "id"): "call",
    ("SPNG_CALL", "parent"): "call",
    ("SPNG_UNCOUNTED_CALL", "id"): "call",
    ("SPNG_UNCOUNTED_CALL", "node"): "node",
    ("SPNG_CALL_CORRELATION", "call"): "call",
    ("CUDA_GRAPH_NODE_EVENTS", "spngCall"): "call",
}
SAMPLE_SOURCE = ("SPNG_SAMPLE", "source")  # the only text that changes
DEVICE_TABLES = {"TARGET_INFO_GPU": "id", "TARGET_INFO_CUDA_GPU": "deviceId"}
ONCE = tuple(
    (
        "ENUM_ META_DATA_ EXPORT_META_DATA CAPTURE_META_DATA TARGET_INFO_SESSION_START_TIME "
        "TARGET_INFO_GPU_METRICS"
    ).split()
)
KNOWN_TYPE = re.compile(r"[\w ]*(\(\d+\))?")  # of a column, in its declaration
VM_SHIFT = 48
MAX_VMS = 255


@dataclass
class Source:
    """One file, and the changes of its ids and times."""

    path: Path
    profile: Profile
    start: int | None  # start of the session, ns since 1970
    shift: int = 0  # ns to add to times
    vm: int = 0  # to add to the VM part of ids
    devices: dict[int, int] = field(default_factory=dict)
    offsets: dict[str, int] = field(default_factory=dict)
    title: str = ""  # pid, or the file's name if several files have this pid


def merge(paths: list[Path], target: Path) -> list[str]:
    """Write the merged profile and return notes for the user. The target appears only when it is complete."""
    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError("a file is given twice", seen=", ".join(map(str, paths)))
    require_file(target)
    sources = [open_source(path) for path in paths]
    try:
        notes = align_times(sources) + separate_processes(sources) + separate_devices(sources)
        offset_ids(sources)
        name_sources(sources)
        with output_file(target) as partial, closing(sqlite3.connect(partial)) as joined:
            joined.execute("PRAGMA journal_mode = OFF")
            write_strings(joined, sources)
            for table in dict.fromkeys(name for source in sources for name in sorted(source.profile.tables)):
                if table not in ("StringIds", "SPNG_RUN") and not table.startswith("sqlite_"):
                    write_table(joined, table, sources)
            write_manifest(joined, sources)
            joined.commit()
    except (OSError, sqlite3.Error, OverflowError) as error:  # the last: an integer beyond 64 bits
        raise ProfileError("cannot merge the profiles", str(target), str(error)) from None
    finally:
        for source in sources:
            source.profile.close()
    return notes


def require_file(target: Path) -> None:
    """Raise ProfileError unless the output is a regular file or does not exist: the result is a database,
    read afterwards."""
    try:
        is_special = target_of(target) is None
    except OSError as error:
        raise system_error("cannot merge the profiles", target, error) from None
    if is_special:
        raise ProfileError(
            "cannot merge the profiles", str(target), "a device or a pipe", "a regular file, or none"
        )


def open_source(path: Path) -> Source:
    """Open a file and read the start of its session, if it has one."""
    profile = Profile.open(path)
    start = None
    if profile.has("TARGET_INFO_SESSION_START_TIME"):
        first = int(profile.table("TARGET_INFO_SESSION_START_TIME").integers("utcEpochNs")[0])
        start = None if first == NULL else first
    elif "start_utc_ns" in profile.manifest:
        start = profile.manifest_integer("start_utc_ns")
    return Source(path, profile, start)


def align_times(sources: list[Source]) -> list[str]:
    """Shift all times to the start of the earliest session, if all files have their start."""
    known = [(source, source.start) for source in sources if source.start is not None]
    silent = [source.profile.name for source in sources if source.start is None]
    if silent:
        return [f"times are not aligned: {', '.join(silent)} has no start of the session"]
    first = min(start for _, start in known)
    for source, start in known:
        source.shift = start - first
    return []


def separate_processes(sources: list[Source]) -> list[str]:
    """Raise the VM part of a file until all of its processes are unique."""
    taken: set[int] = set()
    notes = []
    for source in sources:
        own = processes(source)
        while {process + (source.vm << (VM_SHIFT - THREAD_BITS)) for process in own} & taken:
            source.vm += 1
            if source.vm > MAX_VMS:
                raise ProfileError("too many files have processes with equal ids", str(source.path))
        if source.vm:
            notes.append(
                f"{source.profile.name}: its process ids occur in another file; its VM id is raised by {source.vm}"
            )
        taken |= {process + (source.vm << (VM_SHIFT - THREAD_BITS)) for process in own}
    return notes


def processes(source: Source) -> set[int]:
    """Return the process parts of all ids in the file."""
    found: set[int] = set()
    for table in source.profile.tables:
        for column in IDENTITY_COLUMNS & set(columns_of(source, table)):
            if column != "globalVid":
                found |= {
                    process_of(value)
                    for value in integers(source, table, f"DISTINCT {quoted(column)}", column)
                }
    return found


def separate_devices(sources: list[Source]) -> list[str]:
    """Renumber the devices of all files.

    Devices are the same if they have equal uuid, or without uuid equal host and index.
    """
    known: dict[tuple, int] = {}
    notes = []
    for source in sources:
        host = source.profile.manifest.get("host", "")
        for table, key in DEVICE_TABLES.items():
            if table not in source.profile.tables:
                continue
            columns = columns_of(source, table)
            for row in source.profile.rows(table)[0]:
                values = dict(zip(columns, row))
                if not isinstance(values.get(key), int):
                    continue
                identity = (values["uuid"],) if values.get("uuid") else (host, values[key])
                if identity not in known:
                    used = set(known.values())
                    known[identity] = values[key] if values[key] not in used else max(used) + 1
                source.devices[values[key]] = known[identity]
        changed = {old: new for old, new in source.devices.items() if old != new}
        if changed:
            notes.append(
                f"{source.profile.name}: "
                + ", ".join(f"device {old} is device {new}" for old, new in sorted(changed.items()))
            )
    return notes


def offset_ids(sources: list[Source]) -> None:
    """Set the offsets that make ids of nodes, edges and calls unique."""
    following: dict[str, int] = {}
    for source in sources:
        source.offsets = dict(following)
        for (table, column), sort in NUMBERS.items():
            if table in source.profile.tables and column in columns_of(source, table):
                (largest,) = integers(source, table, f"MAX({quoted(column)})", column)
                if largest is not None:
                    following[sort] = max(following.get(sort, 0), source.offsets.get(sort, 0) + largest + 1)


def name_sources(sources: list[Source]) -> None:
    """Set the titles of the files."""
    pids = [source.profile.manifest.get("process", "") for source in sources]
    for source, pid in zip(sources, pids):
        source.title = pid if pid and pids.count(pid) == 1 else source.profile.name


def write_strings(joined: sqlite3.Connection, sources: list[Source]) -> None:
    """Write one StringIds with the strings of all files."""
    strings = dict.fromkeys(text for source in sources for _, text in sorted(source.profile.strings.items()))
    joined.execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT)")
    joined.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(strings))


def write_table(joined: sqlite3.Connection, table: str, sources: list[Source]) -> None:
    """Write a table with the columns of all files, in order of starts."""
    types: dict[str, str] = {}
    for source in sources:
        if table in source.profile.tables:
            for column, kind in source.profile.table(table).types.items():
                types.setdefault(column, kind if KNOWN_TYPE.fullmatch(kind) else "")
    declared = ", ".join(f"{quoted(column)} {kind}" for column, kind in types.items())
    joined.execute(f"CREATE TABLE {quoted(table)} ({declared})")
    joined.execute(f"CREATE TEMP TABLE stage AS SELECT * FROM {quoted(table)}")
    once = table.startswith(ONCE)
    new_text = {text: identifier for identifier, text in joined.execute("SELECT id, value FROM StringIds")}
    for source in sources:
        if own := columns_of(source, table):
            changes = (
                {}
                if once
                else {
                    index: (str if (table, column) == SAMPLE_SOURCE else int, change)
                    for index, column in enumerate(own)
                    if (change := change_of(source, table, column, new_text))
                }
            )
            joined.executemany(
                f"INSERT INTO stage ({', '.join(map(quoted, own))}) VALUES ({', '.join('?' * len(own))})",
                (
                    changed(row, changes)
                    for row in source.profile.database.rows(source.profile.table(table).query())
                ),
            )
    order = next((column for column in ("start", "timestamp", "t", "enq") if column in types), None)
    if table == "TARGET_INFO_SESSION_START_TIME":
        chosen = "SELECT * FROM stage ORDER BY utcEpochNs LIMIT 1"
    elif once or table in DEVICE_TABLES:
        chosen = first_of_each(table, types)
    else:
        chosen = "SELECT * FROM stage ORDER BY " + (f"{quoted(order)}, rowid" if order else "rowid")
    joined.execute(f"INSERT INTO {quoted(table)} {chosen}")
    joined.execute("DROP TABLE stage")


def changed(row: tuple, changes: Mapping[int, tuple[type, Callable[[Any], Any]]]) -> list:
    """Return the row with changed values; NULL and values of other types than the column's stay."""
    values = list(row)
    for index, (kind, change) in changes.items():
        if isinstance(values[index], kind):
            values[index] = change(values[index])
    return values


def first_of_each(table: str, types: dict[str, str]) -> str:
    """Return the query for tables of enumerations, metadata and devices, of which the first row of each id or
    name counts."""
    key = DEVICE_TABLES.get(table) or next((column for column in ("id", "name") if column in types), None)
    return (
        f'SELECT * FROM stage WHERE rowid IN (SELECT MIN(rowid) FROM stage GROUP BY "{key}") ORDER BY rowid'
        if key
        else ("SELECT DISTINCT * FROM stage")
    )


def change_of(
    source: Source, table: str, column: str, new_text: dict[str, int]
) -> Callable[[Any], Any] | None:
    """Return the function that changes the values of a column; None if they stay."""
    if (table, column) == SAMPLE_SOURCE:
        return lambda value: f"{value} {source.title}"  # "process 4711"
    if (table, column) in NUMBERS:
        offset = source.offsets.get(NUMBERS[(table, column)], 0)
        return (lambda value: value + offset if value >= 0 else value) if offset else None  # -1: none
    if column in STRING_COLUMNS and source.profile.strings:
        strings = source.profile.strings
        return lambda value: new_text[strings[value]] if value in strings else value
    if column in IDENTITY_COLUMNS:
        return (lambda value: value + (source.vm << VM_SHIFT)) if source.vm else None
    if column in TIMES and source.shift:
        return lambda value: value + source.shift
    if (column == "deviceId" or DEVICE_TABLES.get(table) == column) and source.devices:
        return lambda value: source.devices.get(value, value)
    return None


def write_manifest(joined: sqlite3.Connection, sources: list[Source]) -> None:
    """Write SPNG_RUN: equal values stay, starts and ends become those of the whole, different values are
    listed with commas."""
    own = [source for source in sources if source.profile.is_own]
    if not own:
        return
    joined.execute("CREATE TABLE SPNG_RUN (key TEXT NOT NULL PRIMARY KEY, value TEXT)")
    for key in dict.fromkeys(key for source in own for key in source.profile.manifest):
        holders = [source for source in own if key in source.profile.manifest]
        if key == "start_utc_ns":
            merged = str(min(source.profile.manifest_integer(key) for source in holders))
        elif key == "stop_ns":
            merged = str(max(source.profile.manifest_integer(key) + source.shift for source in holders))
        else:
            merged = ", ".join(dict.fromkeys(source.profile.manifest[key] for source in holders))
        joined.execute("INSERT INTO SPNG_RUN VALUES (?, ?)", (key, merged))
    joined.execute(
        "INSERT OR REPLACE INTO SPNG_RUN VALUES ('merged_from', ?)",
        (", ".join(source.profile.name for source in sources),),
    )


def columns_of(source: Source, table: str) -> list[str]:
    """Return the names of a table's columns, none without the table."""
    return source.profile.table(table).columns if table in source.profile.tables else []


def integers(source: Source, table: str, wanted: str, column: str) -> list:
    """Return an expression of SQL over the rows that have an integer in a column."""
    query = f"SELECT {wanted} FROM {quoted(table)} WHERE typeof({quoted(column)}) = 'integer'"
    return [value for (value,) in source.profile.database.read(query)]
