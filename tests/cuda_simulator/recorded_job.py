# SPDX-License-Identifier: Apache-2.0
"""A job on the small detector over the simulated CUDA, its recording, and the simulator's log of the same run."""

from __future__ import annotations

import io
import json
import sqlite3
from bisect import bisect_right
from contextlib import closing, redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from wirecell_profile.cli import main

from tests.cuda_simulator.simulator_log import Record, SimulatorLog

THREAD = 0xFFFFFF  # of a globalTid
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Span:
    """A range or a node call on a thread."""

    name: str
    thread: int
    start: int
    end: int
    id: int = 0

    def covers(self, other: Span) -> bool:
        return self.thread == other.thread and self.start <= other.start and other.end <= self.end


@dataclass(frozen=True)
class RecordedJob:
    """Times of the log are those of the recording."""

    file: Path
    report_file: Path
    records: list[Record]

    @classmethod
    def read(cls, file: Path, log: Path, report: Path) -> RecordedJob:
        """Read the files, and find the time at which the recording begins: both have the same first operation."""
        records = SimulatorLog.read(log)
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
            (first,) = database.execute("SELECT MIN(start) FROM CUPTI_ACTIVITY_KIND_MEMCPY").fetchone()
        origin = min(record["start"] for record in records.copies if not record["graph"]) - first
        for record in records.records:
            for key in ("start", "end", "time"):
                if key in record:
                    record[key] -= origin
        return cls(file, report, records.records)

    @cached_property
    def report(self) -> Record:
        """The simulator's counts."""
        found: Record = json.loads(self.report_file.read_text(encoding="utf-8"))
        return found

    @cached_property
    def log(self) -> SimulatorLog:
        return SimulatorLog(self.records)

    def sql(self, text: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.file}?mode=ro", uri=True)) as database:
            return database.execute(text).fetchall()

    def profile(self, *arguments: str) -> Any:
        """Run wirecell-profile on the recording and return its JSON."""
        command, *others = arguments
        shown = io.StringIO()
        with redirect_stdout(shown):
            assert main([command, str(self.file), "--format", "json", *others]) == 0
        return json.loads(shown.getvalue())

    def stats(self, report: str) -> Rows:
        rows: Rows = self.profile("stats", "--report", report)
        return rows

    @cached_property
    def launches(self) -> dict[int, Span]:
        """The API call of each correlation id. Those of the driver, which cuFFT makes, are not in the log."""
        rows = self.sql(
            "SELECT value, globalTid, start, end, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME "
            "JOIN StringIds ON id = nameId"
        )
        return {
            correlation: Span(name, thread & THREAD, start, end)
            for name, thread, start, end, correlation in rows
        }

    @cached_property
    def node_calls(self) -> list[Span]:
        rows = self.sql(
            "SELECT type || CASE SPNG_NODE.name WHEN '' THEN '' ELSE ':' || SPNG_NODE.name END, globalTid, start, "
            "end, SPNG_CALL.id FROM SPNG_CALL JOIN SPNG_NODE ON SPNG_NODE.id = node ORDER BY start"
        )
        return [Span(name, thread & THREAD, start, end, id_) for name, thread, start, end, id_ in rows]

    @cached_property
    def ranges(self) -> list[Span]:
        """Push/pop ranges with their domain."""
        rows = self.sql(
            "SELECT domain.text || ':' || COALESCE(range.text, value), range.globalTid, range.start, range.end "
            "FROM NVTX_EVENTS range LEFT JOIN StringIds ON id = range.textId "
            "JOIN NVTX_EVENTS domain ON domain.eventType = 75 AND domain.domainId = range.domainId "
            "WHERE range.eventType = 59 ORDER BY range.start"
        )
        return [Span(name, thread & THREAD, start, end) for name, thread, start, end in rows]

    def innermost(self, spans: list[Span], of: Span) -> Span | None:
        """The span around another one that begins last. The spans are in the order of their starts."""
        last = bisect_right(spans, of.start, key=lambda span: span.start)
        return next((span for span in reversed(spans[:last]) if span.covers(of)), None)
