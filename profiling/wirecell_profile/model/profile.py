# SPDX-License-Identifier: Apache-2.0
"""A profile file of wire-cell's recorder, or exported by Nsight Systems (`nsys export --type sqlite`).

nsys writes only tables that have rows, and renames tables and moves columns between versions (schemas 3.0 to
3.28 are supported). All readers check the content of the file, and report missing data as missing.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar, overload

import numpy as np

from ..errors import MissingData, ProfileError
from ..path_names import readable
from ..terminal import visible
from . import events, identity, job_events, nodes, schema
from .database import Database, as_text, quoted
from .enumerations import COPY_KINDS, EVENT_TYPES, MEMORY_KINDS
from .schema import CONTENTS
from .table import NULL, Table

Value = TypeVar("Value")
Key = TypeVar("Key", int, str)
Item = TypeVar("Item", int, str)

MAX_TABLES = 2000  # nsys defines 200; commands for all tables have a cost for each
TABLE = "table"
# Views and virtual tables are queries and code: they may run for ever.
KINDS = f"""SELECT name, CASE WHEN type = 'view' THEN 'view' WHEN rootpage > 0 THEN '{TABLE}' ELSE 'virtual table' END
FROM sqlite_schema WHERE type IN ('table', 'view') AND typeof(name) = 'text'"""

# These also identify a profile.
OTHER_TABLES = {"StringIds", "META_DATA_EXPORT", "EXPORT_META_DATA", "SPNG_RUN"}


class Profile:
    """Tables of one file, read on first use and cached. Not thread-safe."""

    def __init__(self, database: Database) -> None:
        self.path = database.path
        self.name = readable(database.path.name)
        self.database = database
        kinds = dict(database.read(KINDS))
        if len(kinds) > MAX_TABLES:
            raise database.damaged(f"{len(kinds):,} tables", f"at most {MAX_TABLES:,}")
        self.tables = {name for name, kind in kinds.items() if kind == TABLE}
        self._others = {name: kind for name, kind in kinds.items() if kind != TABLE}
        self._read: dict[str, Table] = {}
        self._absent: set[str] = set()  # sets of events that the file lacks
        self.unread = self._unread_tables()

    @classmethod
    def open(cls, path: str | Path) -> Profile:
        """Open a file for reading. Raise ProfileError if it cannot be read or is not a profile."""
        profile = cls(Database(Path(path)))
        known = [
            name for name in (*CONTENTS, *OTHER_TABLES) if profile.lists(name)
        ]  # rejects each that is a view
        if not (known or profile.unread):
            raise ProfileError(
                "this SQLite file is not a profile",
                str(path),
                "tables " + (", ".join(sorted(profile.tables)[:5]) or "none"),
                "tables of an nsys export or of wire-cell's recorder",
            )
        for doubt in profile.doubts:
            print(f"note: {visible(profile.name)}: {visible(doubt)}", file=sys.stderr)
        return profile

    def _unread_tables(self) -> dict[str, str]:
        """Return table -> the reason why it is not read, for tables of another version and without a needed column."""
        found = schema.unknown_variants(
            self.tables, (name for name in CONTENTS if not name.startswith("SPNG_"))
        )
        for name in self.tables & schema.REQUIRED.keys():
            described = self.database.read(f"PRAGMA table_xinfo({quoted(name)})")
            if reason := schema.lacking(name, (column for _, column, *_ in described)):
                found[name] = reason
        return found

    @cached_property
    def doubts(self) -> list[str]:
        """Reasons why data of the file may be missing in reports."""
        reasons = [schema.doubt_of_version(self.schema_version), *self.unread.values()]
        return sorted(filter(None, reasons))

    def close(self) -> None:
        """Close the file. Only tables read before remain usable."""
        self.database.close()

    def __enter__(self) -> Profile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- tables

    def lists(self, name: str) -> bool:
        """Return whether the file has the table, even an empty one. Raise ProfileError for a view of this name."""
        if kind := self._others.get(name):
            raise self.database.damaged(f"{name} is a {kind}", "a table")
        return name in self.tables and name not in self.unread

    def has(self, name: str) -> bool:
        """Return whether the file has the table with at least one row."""
        return self.lists(name) and len(self.table(name)) > 0

    def table(self, name: str) -> Table:
        """Return a table. Raise MissingData if the file lacks it."""
        if name not in self.tables:
            raise self.missing(name)
        if name not in self._read:
            self._read[name] = Table(self.database, name, self.strings)
        return self._read[name]

    def read_events(self) -> None:
        """Read all sets of events, and free the columns of the tables that they were read from."""
        for what in events.EMPTY:
            self.or_empty(what)
        for table in self._read.values():
            table.forget()

    def rows(self, name: str) -> tuple[list[tuple], list[str]]:
        """Return all rows of a table as in SQLite, binary values in hexadecimal, and the names of the
        columns."""
        table = self.table(name)
        return [tuple(map(_spelled, row)) for row in self.database.read(table.query())], table.columns

    @property
    def records_kernels(self) -> bool:
        """Whether the file has a table of kernels or of whole graphs, even an empty one."""
        return any(self.lists(events.ACTIVITIES[kind]) for kind in (events.KERNEL, events.GRAPH))

    @property
    def records_copies(self) -> bool:
        """Whether the file has a table of copies or of sets, even an empty one."""
        return any(self.lists(events.ACTIVITIES[kind]) for kind in (events.MEMCPY, events.MEMSET))

    def require(self, *names: str) -> None:
        """Raise MissingData unless at least one of these tables has rows."""
        if not any(self.has(name) for name in names):
            raise self.missing(*names)

    def missing(self, *names: str) -> MissingData:
        """Make the error for data that the file lacks."""
        what = " or ".join(dict.fromkeys(CONTENTS.get(name, name) for name in names))
        reasons = "; ".join(self.unread[name] for name in names if name in self.unread)
        return MissingData(
            f"{self.name} does not contain {what}" + (f" ({reasons})" if reasons else ""),
            seen=f"no rows in {', '.join(names)}",
            recorded=self.recorded_parts,
        )

    @cached_property
    def strings(self) -> dict[int, str]:
        """StringIds: identifier -> text."""
        try:
            return self.pairs("StringIds", "id", "value", int, str)
        except MissingData as error:  # every version has them
            raise self.database.damaged(error.what, "columns id and value") from None

    def pairs(self, name: str, key: str, value: str, keys: type[Key], values: type[Item]) -> dict[Key, Item]:
        """Return two columns of a table as a dictionary, empty without the table. The last of equal keys wins.

        Rows without a key or value are left out.
        """
        if not self.lists(name):
            return {}
        table = Table(self.database, name, {})
        table.require(key, value)
        found = {}
        for row in self.database.read(table.query(key, value)):
            one, other = row
            if values is str:
                other = str(other) if isinstance(other, (int, float)) else as_text(other)
            if keys is str:
                one = as_text(one)
            if isinstance(one, keys) and isinstance(other, values):
                found[one] = other
            elif None not in row:
                expected = f"{key}: {keys.__name__}, {value}: {values.__name__}"
                raise self.database.damaged(f"{name}: {row!r}", expected)
        return found

    def text_pairs(self, name: str, key: str = "name") -> dict[str, str]:
        """Return the column `value` by another one, both of text."""
        return self.pairs(name, key, "value", str, str)

    def enumeration(self, name: str, fallback: dict[int, str]) -> dict[int, str]:
        """Return value -> label of an ENUM_ table of the file, completed by the fallback."""
        return fallback | self.pairs(name, "id", "label", int, str)

    @cached_property
    def event_types(self) -> dict[str, int]:
        """Name of an NVTX event type -> its value in this file."""
        return EVENT_TYPES | self.pairs("ENUM_NSYS_EVENT_TYPE", "name", "id", str, int)

    @cached_property
    def copy_kinds(self) -> dict[int, str]:
        """MEMCPY.copyKind -> label, such as Host-to-Device."""
        return self.enumeration("ENUM_CUDA_MEMCPY_OPER", COPY_KINDS)

    @cached_property
    def memory_kinds(self) -> dict[int, str]:
        """Memory kind -> label, such as Pageable."""
        return self.enumeration("ENUM_CUDA_MEM_KIND", MEMORY_KINDS)

    # ---- metadata

    @property
    def is_own(self) -> bool:
        """Whether wire-cell's recorder wrote the file."""
        return self.lists("SPNG_RUN")

    @cached_property
    def manifest(self) -> dict[str, str]:
        """SPNG_RUN: description of the run by wire-cell's recorder; empty for an nsys export."""
        return self.text_pairs("SPNG_RUN", "key")

    def manifest_integer(self, key: str) -> int:
        """Return the integer of a key of the manifest. Raise ProfileError if it is none."""
        try:
            return int(self.manifest[key])
        except ValueError:
            raise self.database.damaged(f"SPNG_RUN.{key}: {self.manifest[key]!r}", "an integer") from None

    @cached_property
    def recorded_parts(self) -> str:
        """The parts that were recorded, and the requested ones that were not, with their reasons; empty if unknown."""
        reasons: dict[str, list[str]] = {}
        recorded = []
        for part in filter(None, self.manifest.get("what", "").split(",")):
            state, _, reason = self.manifest.get(f"source.{part}", "on").partition(": ")
            if state == "on":
                recorded.append(part)
            else:
                reasons.setdefault(reason, []).append(part)
        absent = [f"not {' and '.join(parts)}: {reason}" for reason, parts in reasons.items()]
        return "; ".join([", ".join(recorded), *absent]) if recorded or absent else ""

    @cached_property
    def export(self) -> dict[str, str]:
        """Description of the export: META_DATA_EXPORT, until 2022 EXPORT_META_DATA."""
        return self.text_pairs("META_DATA_EXPORT") or self.text_pairs("EXPORT_META_DATA")

    @cached_property
    def capture(self) -> dict[str, str]:
        """Description of the profiling session: META_DATA_CAPTURE, until 2022 CAPTURE_META_DATA."""
        return self.text_pairs("META_DATA_CAPTURE") or self.text_pairs("CAPTURE_META_DATA")

    @property
    def schema_version(self) -> str:
        """Version of the nsys schema, empty if the file lacks it."""
        return schema.version_of(self.export)

    def memory_kind(self, code: int) -> str | None:
        """Return the label of a kind of memory; None if the code is NULL."""
        return None if code == NULL else self.memory_kinds.get(code, f"kind {code}")

    def memory_kinds_of(self, operations: events.Operations, row: int) -> str:
        """Return 'Pageable to Device' for a copy, or the kind of the memory that is set."""
        codes = (operations.source_kind[row], operations.target_kind[row])
        return " to ".join(filter(None, (self.memory_kind(int(code)) for code in codes)))

    @cached_property
    def device_names(self) -> dict[int, str]:
        """Device id -> name, from TARGET_INFO_GPU (in early 2021 TARGET_INFO_CUDA_GPU)."""
        tables = (("TARGET_INFO_GPU", "id"), ("TARGET_INFO_CUDA_GPU", "deviceId"))
        found = (
            self._column(name, key, lambda table: table.text_column("name").to_list()) for name, key in tables
        )
        return next(filter(None, found), {})

    @cached_property
    def thread_names(self) -> dict[int, str]:
        """globalTid -> last name of the thread."""
        return self._column("ThreadNames", "globalTid", lambda table: table.strings("nameId").to_list())

    @cached_property
    def thread_priorities(self) -> dict[int, int]:
        """globalTid -> priority of the thread, for the threads with a known one."""
        known = self._column("ThreadNames", "globalTid", lambda table: table.integers("priority").tolist())
        return {thread: priority for thread, priority in known.items() if priority != NULL}

    @cached_property
    def process_names(self) -> dict[int, str]:
        """pid -> name of the process."""
        names = self._column("PROCESSES", "globalPid", lambda table: table.text_column("name").to_list())
        return {identity.pid_of(process): name for process, name in names.items()}

    @cached_property
    def process_titles(self) -> dict[int, str]:
        """process_of(id) of each process with events -> its pid; also its VM part if several have this pid, as
        in a merge of containers."""
        hosts = (
            self.or_empty("ranges"),
            self.or_empty("marks"),
            self.or_empty("calls"),
            self.or_empty("system_calls"),
        )
        threads = [host.thread for host in hosts]
        if self.has("SPNG_CALL"):
            threads.append(self.node_calls.thread)
        processes = [identity.process_of(np.concatenate(threads)), self.or_empty("operations").process]
        distinct = np.unique(np.concatenate(processes)).tolist()
        pids = [process & identity.MASK for process in distinct]
        return {
            process: str(pid) if pids.count(pid) == 1 else f"{pid} of VM {process >> identity.THREAD_BITS}"
            for process, pid in zip(distinct, pids)
        }

    def _column(self, name: str, key: str, values: Callable[[Table], list[Value]]) -> dict[int, Value]:
        """Return id -> value of a table's rows, empty without the table."""
        return (
            dict(zip(self.table(name).integers(key).tolist(), values(self.table(name))))
            if self.has(name)
            else {}
        )

    # ---- events (columns: events.py); each raises MissingData if the file has none

    @cached_property
    def ranges(self) -> events.Ranges:
        """NVTX ranges of both styles, in the file's order."""
        return events.read_ranges(self)

    @cached_property
    def marks(self) -> events.Ranges:
        """NVTX marks, as ranges that end where they start."""
        return events.read_marks(self)

    @cached_property
    def calls(self) -> events.Calls:
        """CUDA API calls, in the file's order."""
        return events.read_calls(self)

    @cached_property
    def operations(self) -> events.Operations:
        """Device operations: kernels, then copies, then sets, then whole graphs; each in the file's order."""
        return events.read_operations(self)

    @cached_property
    def system_calls(self) -> events.Calls:
        """Calls of the operating system's runtime (OSRT_API)."""
        return events.read_system_calls(self)

    @cached_property
    def node_calls(self) -> nodes.NodeCalls:
        """Calls of wire-cell's nodes: SPNG_CALL, else the ranges of the NVTX domain spng."""
        return nodes.read_node_calls(self)

    @cached_property
    def job_events(self) -> job_events.JobEvents:
        """Events of the job that have node calls."""
        return job_events.read_job_events(self)

    @overload
    def or_empty(self, what: Literal["ranges", "marks"]) -> events.Ranges: ...

    @overload
    def or_empty(self, what: Literal["calls", "system_calls"]) -> events.Calls: ...

    @overload
    def or_empty(self, what: Literal["operations"]) -> events.Operations: ...

    @overload
    def or_empty(self, what: str) -> events.Columns: ...

    def or_empty(self, what: str) -> events.Columns:
        """Return the events of this name (ranges, marks, calls, operations, system_calls), empty if the file
        has none.

        Reports use the attribute instead, which raises MissingData.
        """
        if what not in self._absent:
            try:
                return getattr(self, what)
            except MissingData:
                self._absent.add(what)
        return events.EMPTY[what]()

    def extent(self) -> tuple[int, int]:
        """Return first start and last end of all events except node calls [ns].

        Raise MissingData if there are none.
        """
        sets = [self.or_empty(what) for what in events.EMPTY]
        if not any(len(events_) for events_ in sets):
            raise self.missing(
                "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL", "OSRT_API"
            )
        return (
            min(int(np.min(events_.start)) for events_ in sets if len(events_)),
            max(int(np.max(events_.end)) for events_ in sets if len(events_)),
        )


def _spelled(value: object) -> object:
    """Return a value of SQLite as one that every format can hold."""
    if isinstance(value, bytes):
        return value.hex()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
