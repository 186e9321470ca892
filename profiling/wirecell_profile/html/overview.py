# SPDX-License-Identifier: Apache-2.0
"""Title, tiles, charts and manifest of the profile page, from the tables of `wirecell-profile summary`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from ..errors import MissingData
from ..model.grouping import group
from ..model.job_events import CUT, FIRST, STEADY
from ..model.profile import Profile
from ..model.selection import Scope
from ..model.table import NULL
from ..model.window import Window
from ..output import Result
from ..palette import PALETTE, colour_of
from ..tables.memory_use import all_series
from ..units import bytes_text, count_text, counted, percent_text, time_text
from .charts import Bar, Chart, bar_chart, event_chart, line_chart, stacked_bar
from .start_up import start_up_chart
from .timeline import spare_colour

MAX_BARS = 20
UNKNOWN = "—"
LINE_COLOURS = ("#1F4E9C", "#F28E2B", "#2E8B57", "#8E44AD", "#D62728", "#8C6D31")
IDLE_COLOURS = {
    "before the first operation": "#E7CB94",
    "host wait": "#F28E2B",
    "kernel wait": "#C39BD3",
    "other wait": "#9E9E9E",
    "after the last operation": "#D9C79A",
}
# Shown parts of nsys's description of the machine. The rest of the environment may be private.
NSYS_SYSTEM = tuple(
    "Hostname OsDescription CpuDescription CpuCores NvDriverVersion CudaDriverVersion".split()
)
NSYS_CAPTURE = tuple(
    "PROCESS_0:COMMAND PROCESS_0:WORKING_DIR CAPTURE_EVENT_TYPE START_TRIGGER STOP_TRIGGER".split()
)


def rows_of(tables: dict[str, Result], name: str) -> list[dict]:
    """Return the rows of a table by column name, none if the table is missing."""
    return tables[name].records() if name in tables else []


def title(profile: Profile) -> str:
    """Return the title: program and job of the run."""
    line = profile.manifest.get("command_line") or profile.capture.get("PROCESS_0:COMMAND")
    job = Path(profile.manifest.get("configuration_file", "")).name
    if job:
        return f"Profile of wire-cell {job}, {profile.name}"
    program = _program(line or "")
    return f"Profile of {program}, {profile.name}" if program else f"Profile {profile.name}"


def _program(line: str) -> str:
    """Return the name of the program of a command line, empty for an empty line."""
    try:
        words = shlex.split(line)
    except ValueError:  # a quotation without end
        words = line.split()
    return Path(words[0]).name if words else ""


def subtitle(scope: Scope, window: Window) -> str:
    """Return time, machine, recorder and shown part of the run."""
    profile, manifest = scope.profile, scope.profile.manifest
    parts = []
    began = _start(profile)
    parts += [began] if began else []
    parts += [f"on {manifest['host']}"] if manifest.get("host") else []
    names = ", ".join(f"GPU {index}: {name}" for index, name in sorted(profile.device_names.items()))
    parts += [names or f"device {manifest.get('device', 'not recorded')}"]
    what = f" ({profile.recorded_parts})" if profile.recorded_parts else ""
    source = f"recorded by wire-cell{what}" if profile.is_own else "exported by Nsight Systems"
    parts.append(f"{source}, schema {profile.schema_version}" if profile.schema_version else source)
    parts.append(f"window W: {window.what}, {time_text(window.length)}")
    if not scope.selection.is_everything:
        parts.append("only a selected part of the profile is shown")
    return " · ".join(parts)


def _start(profile: Profile) -> str:
    """Return date and time of the session's start, empty if unknown."""
    if not profile.has("TARGET_INFO_SESSION_START_TIME"):
        return ""
    epoch = int(profile.table("TARGET_INFO_SESSION_START_TIME").integers("utcEpochNs")[0])
    return "" if epoch == NULL else datetime.fromtimestamp(epoch / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def tiles(scope: Scope, window: Window, tables: dict[str, Result]) -> list[tuple[str, str, str]]:
    """Return (value, name, remark) of the most important values; unrecorded data have the value "—"."""
    found = [(time_text(window.length), "window W", window.what)]
    events = rows_of(tables, "events")
    firsts = [row["Latency (ns)"] for row in events if row["Kind"] == FIRST]
    later = [row["Latency (ns)"] for row in events if row["Kind"] == STEADY and row["Event"] != "median"]
    cut = sum(row["Kind"] == CUT for row in events)
    if firsts:
        what = "end-to-end latency" if len(firsts) == 1 else f"median latency of {len(firsts)} processes"
        found.append((time_text(float(np.median(firsts))), "first event", what))
    if later:
        found.append((time_text(float(np.median(later))), "later events", f"median latency of {len(later)}"))
    if cut:
        found.append((str(cut), "cut events", "only in part in the profile: without latency"))
    largest = next(iter(rows_of(tables, "nodes") or rows_of(tables, "ranges")), None)
    if largest:
        name = largest["Node"].split(":")[0] if "Node" in largest else largest["Range"]
        found.append((name, "most time", f"{largest['Share of W (%)']:.1f} % of W, exclusive"))
    shares = {
        (row["Device"], row["Quantity"]): row["Share of W (%)"] for row in rows_of(tables, "utilisation")
    }
    for device, quantity in shares:
        if quantity == "gpu_busy":
            kernels = shares.get((device, "kernel_busy"))
            of_kernels = "kernels not recorded" if kernels is None else f"kernels {percent_text(kernels)}"
            remark = f"gpu_busy / W (union), {of_kernels}"
            found.append((percent_text(shares[device, quantity]), f"GPU {device} utilisation", remark))
    if "utilisation" not in tables:
        found.append((UNKNOWN, "GPU utilisation", "not recorded"))
    resident = [
        int(one.value.max())
        for one in _memory(scope)
        if one.name.startswith("process ") and one.name.endswith(" resident_bytes")
    ]
    found.append(
        (bytes_text(max(resident)), "resident memory", "highest sample")
        if resident
        else (UNKNOWN, "resident memory", "not recorded")
    )
    profile = scope.profile
    if profile.manifest.get("range_overhead_total_ns"):
        cost = time_text(profile.manifest_integer("range_overhead_total_ns"))
        ranges = (
            counted(profile.manifest_integer("ranges"), "range") if "ranges" in profile.manifest else "ranges"
        )
        found.append((cost, "recorder", f"cost of {ranges}"))
    return found


def _memory(scope: Scope) -> list:
    try:
        return all_series(scope)
    except MissingData:
        return []


def charts(scope: Scope, window: Window, tables: dict[str, Result]) -> list[Chart]:
    """Return all charts for which the file has data."""
    return [
        *_time_bars(tables, _kinds(scope)),
        *_latency(tables),
        *_critical_path(tables, _kinds(scope)),
        *start_up_chart(tables.get("start-up")),
        *_device_time(tables),
        *_range_bars(tables),
        *_memory_lines(scope, window),
    ]


def _kinds(scope: Scope) -> dict[str, str]:
    """Return the kinds of nodes and of range names."""
    profile = scope.profile
    found: dict[str, str] = {}
    ranges = profile.or_empty("ranges")
    for row in group(ranges.folded.codes, ranges.category.codes).first.tolist():
        name, kind = ranges.folded.text(row), ranges.category.text(row)
        found[name] = kind
        found.setdefault(name.split(":", 1)[1] if name.startswith("spng:") else name, kind)
    if profile.has("SPNG_NODE"):
        nodes = profile.table("SPNG_NODE")
        for type_, instance, kind in zip(
            *(nodes.text_column(column).to_list() for column in ("type", "name", "kind"))
        ):
            found[f"{type_}:{instance}" if instance else type_] = kind
    return found


def colours(scope: Scope) -> Callable[[str], str]:
    """Return the function from names of nodes and ranges to colours."""
    kinds = _kinds(scope)
    return lambda name: _colour(name, kinds)


def _colour(name: str, kinds: dict[str, str]) -> str:
    kind = kinds.get(name, "")
    return colour_of(kind) if kind in PALETTE else spare_colour(name)


def _time_bars(tables: dict[str, Result], kinds: dict[str, str]) -> list[Chart]:
    """Return the chart of time per node, or per range in profiles without nodes."""
    name, what = ("nodes", "Node") if "nodes" in tables else ("ranges", "Range")
    rows = rows_of(tables, name)[:MAX_BARS]
    if not rows:
        return []
    bars = [
        Bar(row[what], row["Exclusive (ns)"], _colour(row[what], kinds), row["Inclusive (ns)"])
        for row in rows
    ]
    owner, more = what.lower(), len(tables[name].rows) - len(rows)
    caption = f"Host time in all calls. Coloured: exclusive, without {owner}s inside; pale: inclusive."
    caption += f" The {len(rows)} largest; {more} more in the table." if more > 0 else ""
    return [Chart(f"Time per {owner}", caption, bar_chart(bars, f"host time per {owner}"))]


def _latency(tables: dict[str, Result]) -> list[Chart]:
    all_rows, heading = rows_of(tables, "events"), "Latency per event"
    rows = [row for row in all_rows if row["Event"] != "median"]
    whole = [row for row in rows if row["Kind"] != CUT]
    cut = f" Left out, because cut: {counted(len(rows) - len(whole), 'event')}." if whole != rows else ""
    if not whole:
        return [Chart(heading, cut.strip())] if cut else []
    if len(whole) == 1:
        latency = time_text(whole[0]["Latency (ns)"])
        why = ", which includes what is made at first use" if whole[0]["Kind"] == FIRST else ""
        return [Chart(heading, f"One whole event was recorded: {latency}{why}.{cut}")]
    several = len({row["Process"] for row in whole}) > 1
    median = next((row["Latency (ns)"] for row in all_rows if row["Event"] == "median"), None)
    events = [
        (
            f"{row['Event']} of {row['Process']}" if several else row["Event"],
            row["Latency (ns)"],
            row["Kind"] == FIRST,
        )
        for row in whole
    ]
    caption = "From the first node call's start to the end of the last one, or of the event's last device operation."
    return [Chart(heading, caption + cut, event_chart(events, median, "latency per event"))]


def _critical_path(tables: dict[str, Result], kinds: dict[str, str]) -> list[Chart]:
    """Return the chart of the nodes of the critical path; each begins where the one before ends."""
    rows = rows_of(tables, "critical-path")
    shown = sorted((row for row in rows[:-1] if row["Share (%)"] >= 1), key=lambda row: row["Until (ns)"])[
        :MAX_BARS
    ]
    if not shown:
        return []
    bars = [
        Bar(
            row["Node"],
            row["Time (ns)"],
            _colour(row["Node"], kinds),
            start=row["Until (ns)"] - row["Time (ns)"],
        )
        for row in shown
    ]
    caption = (
        f"Longest chain of nodes of which each needs the one before: {time_text(rows[-1]['Time (ns)'])} on the host in "
        "the median of the later events. Only faster nodes of the chain make an event on idle cores faster."
    )
    return [Chart("Critical path", caption, bar_chart(bars, "nodes of the critical path"))]


def _device_time(tables: dict[str, Result]) -> list[Chart]:
    """Return a chart of busy and idle time during window W for each device."""
    rows, made = rows_of(tables, "utilisation"), []
    for device in dict.fromkeys(row["Device"] for row in rows):
        times = {
            row["Quantity"]: float(row["Time (ns)"])
            for row in rows
            if row["Device"] == device and row["Time (ns)"] is not None
        }
        kernels = times.get("kernel_busy", 0.0)
        parts = [
            *([("kernels run", kernels, "#1F4E9C")] if "kernel_busy" in times else []),
            *([("only copies run", times["gpu_busy"] - kernels, "#2CA02C")] if "copy_busy" in times else []),
            *((f"idle: {name}", times[f"idle: {name}"], colour) for name, colour in IDLE_COLOURS.items()),
        ]
        made.append(
            Chart(
                f"What GPU {device} did during W",
                "Host wait: nothing was launched yet. Kernel wait: launched, the device was about to start. "
                "Other wait: launched, waited longer.",
                stacked_bar(parts, f"busy and idle time of GPU {device}"),
            )
        )
    return made


def _range_bars(tables: dict[str, Result]) -> list[Chart]:
    """Return charts of utilisation and count of device operations per range."""
    rows = rows_of(tables, "range-devices")
    if not rows:
        return []
    by_work = [row for row in rows if row["proj_eff (%)"] is not None][:MAX_BARS]
    by_count = sorted(rows, key=lambda row: -row["GPU ops"])[:MAX_BARS]
    utilisation = [Bar(row["Range"], row["proj_eff (%)"], "#1F4E9C") for row in by_work]
    operations = [Bar(row["Range"], row["GPU ops"], "#5B8DB8") for row in by_count]
    return [
        Chart(
            "Utilisation per range",
            "proj_eff = gpu_busy / proj_span: share of the time from a range's first to last device operation in "
            "which one of them runs. The ranges with most device time.",
            bar_chart(utilisation, "device utilisation per range", percent_text, 100.0),
        ),
        Chart(
            "GPU operations per range",
            "Kernels, copies and sets launched within all instances of a range, inner ranges included.",
            bar_chart(operations, "GPU operations per range", count_text),
        ),
    ]


def _memory_lines(scope: Scope, window: Window) -> list[Chart]:
    series = sorted(_memory(scope), key=lambda one: -int(one.value.max()))[: len(LINE_COLOURS)]
    lines = [
        (one.name.replace("_bytes", " memory"), one.time - window.start, one.value, colour)
        for one, colour in zip([one for one in series if len(one.time) > 1], LINE_COLOURS)
    ]
    return (
        [Chart("Memory", "Time from the start of W.", line_chart(lines, "memory over time"))] if lines else []
    )


def manifest(profile: Profile) -> list[tuple[str, str]]:
    """Return the file's description of the run."""
    if profile.is_own:
        return [(key, _short(value)) for key, value in sorted(profile.manifest.items())]
    rows = [(name, profile.capture[name]) for name in NSYS_CAPTURE if name in profile.capture]
    system = profile.text_pairs("TARGET_INFO_SYSTEM_ENV")
    rows += [(name, system[name]) for name in NSYS_SYSTEM if name in system]
    rows += [(f"GPU {index}", name) for index, name in profile.device_names.items()]
    return rows + [(name, value) for name, value in profile.export.items()] or [("file", str(profile.path))]


def _short(value: str) -> str:
    """Shorten a long configuration to its count of parts."""
    if len(value) < 2000:
        return value
    try:
        return f"{len(json.loads(value))} parts, {len(value):,} characters: in table SPNG_RUN of the file"
    except (ValueError, TypeError, RecursionError):
        return value[:2000] + "…"
