# SPDX-License-Identifier: Apache-2.0
"""Write docs/benchmarks/device-estimate.md: the cost of the default event on a device, node by node, and the time that
this takes at stated bandwidths. Counts come from the simulated CUDA runtime; test_bars.py compares them with the page.

    .venv/bin/python -m tests.cuda_simulator.estimate
"""

from __future__ import annotations

import datetime
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench import frame_files
from bench.frames import copies_of_frame
from bench.gpu.machine import processor, program_facts
from bench.gpu.timing_figures import times_by_event
from scripts.output import Table, write
from tests.cuda_simulator import default_event
from tests.cuda_simulator.default_event import Cost, EventCost
from tests.support import cuda_simulator, wire_cell

PAGE = wire_cell.ROOT / "docs" / "benchmarks" / "device-estimate.md"
CPU_PAGE = PAGE.parent / "cpu.md"
EVENTS_TIMED = 12  # of a run that measures the host


@dataclass(frozen=True)
class Device:
    """Bandwidth of the memory [B/us]: rows of a tensor reach about three quarters of the peak."""

    name: str
    peak: float
    taken: float

    def memory_us(self, cost: Cost) -> float:
        return cost.traffic / self.taken


DEVICES = (Device("H200", 4.8e6, 3.5e6), Device("H100", 3.35e6, 2.5e6))
BUS = 55e3  # [B/us], PCIe 5 x16
BEFORE_HOST_MS = {"off": "19.37", "on": "19.32"}  # 17 ms of it gather channels
LAUNCH_US, GRAPH_LAUNCH_US = 2.5, 1.0  # from one kernel to the next: launched one by one, and inside a graph


@dataclass(frozen=True)
class Figure:
    """A row of the first table. before: commit 0e023a7, counted by the same rules."""

    name: str
    before: str
    bar: str
    now: str


@dataclass(frozen=True)
class Host:
    """Time of the host for an event by cuda_graph [ms], and where and when it was measured."""

    ms: dict[str, float]
    origin: str


def figures(cost: EventCost, measured: Host | None) -> list[Figure]:
    total = cost.total

    def host(graph: str, before: str, bar: str) -> Figure:
        text = "" if measured is None else f"{measured.ms[graph]:.2f}"
        name = {"off": "node by node", "on": "with a CUDA graph"}[graph]
        return Figure(f"host, {name} [ms]", before, bar, text)

    counted = [
        Figure("kernels", "102", "", f"{total.kernels}"),
        Figure("kernels and transforms of cuFFT", "113", "45", f"{total.kernels + total.transforms}"),
        Figure("copies on the device and fills", "6", "", f"{total.copies}"),
        Figure("traffic of the device's memory [MB]", "2539.2", "700", megabytes(total.traffic)),
        Figure("bytes up [MB]", "30.7", "", megabytes(total.upload_bytes)),
        Figure("bytes down [MB]", "61.4", "3", megabytes(total.download_bytes)),
        Figure("waits of the host", "1", "1", f"{cost.count(default_event.WAITS)}"),
    ]
    hosts = [host("off", BEFORE_HOST_MS["off"], "0.6"), host("on", BEFORE_HOST_MS["on"], "0.15")]
    cpu_page = CPU_PAGE.read_text(encoding="utf-8")
    dense, sparse = (
        frame_files.median_of(cpu_page, f"write_compact/{name}") for name in ("dense_tar", "sparse_npz")
    )
    return [
        *counted,
        *hosts,
        Figure("writer thread, dense file [ms]", "136", "15", f"{dense:.0f}"),
        Figure("writer thread, sparse file [ms]", "", "3", f"{sparse:.1f}"),
    ]


def megabytes(count: float) -> str:
    return f"{count * 1e-6:.1f}"


def node_table(cost: EventCost) -> Table:
    """Return the nodes with work on the device, and their sum."""
    heads = ["node", "kernels", "cuFFT", "copies", "read [MB]", "written [MB]"]
    heads += [f"{device.name} [us]" for device in DEVICES]

    def row(name: str, own: Cost) -> list[str]:
        counts = [f"{own.kernels}", f"{own.transforms}", f"{own.copies}"]
        times = [f"{device.memory_us(own) + GRAPH_LAUNCH_US * own.launches:.0f}" for device in DEVICES]
        return [name, *counts, megabytes(own.read), megabytes(own.written), *times]

    rows = [row(name, own) for name, own in cost.nodes.items() if own.launches > 0]
    return Table("Nodes", heads, [*rows, row("all", cost.total)])


def time_table(cost: EventCost) -> Table:
    """Return the parts of an event's time."""
    total = cost.total
    rows = []
    for name, gap in (
        ("device, node by node", LAUNCH_US),
        ("device, in a CUDA graph", GRAPH_LAUNCH_US),
    ):
        rows.append([name, *(f"{device.memory_us(total) + gap * total.launches:.0f}" for device in DEVICES)])
    rows.append(["upload", *[f"{total.upload_bytes / BUS:.0f}"] * len(DEVICES)])
    rows.append(["download", *[f"{total.download_bytes / BUS:.0f}"] * len(DEVICES)])
    return Table("Times", ["[us]", *(device.name for device in DEVICES)], rows)


def page(cost: EventCost, host: Host | None) -> str:
    """Return the page. host: None if it was not measured."""
    before = Table(
        "Figures",
        ["an event", "before", "now", "bar"],
        [[each.name, each.before, each.now, each.bar] for each in figures(cost, host)],
    )
    bandwidths = "; ".join(
        f"{device.name} {device.taken * 1e-6:g} TB/s of {device.peak * 1e-6:g}" for device in DEVICES
    )
    return HEAD.format(
        figures=before.markdown(),
        nodes=node_table(cost).markdown(),
        times=time_table(cost).markdown(),
        bandwidths=bandwidths,
        bus=BUS * 1e-3,
        launch=LAUNCH_US,
        graph=GRAPH_LAUNCH_US,
        events=EVENTS_TIMED,
        origin="" if host is None else host.origin,
    )


HEAD = """# Estimate of an event on a GPU

Written by `python -m tests.cuda_simulator.estimate`; do not edit.
A test compares the counts with the simulated CUDA runtime, so they are those of the code.
The times are calculated from the counts; measured ones are in [cuda.md](cuda.md).

The event is the default one, 2560 channels x 6000 ticks, with `model=none` and one event in flight.

## Figures

{figures}

*Before* is commit 0e023a7, *bar* the target.
*Traffic* is what operations on the device read and write in its memory: each tensor of an operation once for each direction, also where a cache would serve it.
Of tensors of which a kernel touches the samples inside ROIs only, as many bytes count as come to the host.
Passes inside a transform of cuFFT are not counted.
*Host* is the time of the calls between source and sink for the fastest of {events} events, measured over the simulated runtime on two cores: it contains the simulator's own work and no driver's.
{origin}
*Writer thread* is the time to write an event ([all forms of files](cpu.md#frame-files)); a dense one is a `.tar` without compression.
Before, it was the default `.npz` from the whole array, timed on two busy cores.

## Nodes

{nodes}

The times are traffic at a bandwidth ({bandwidths}) and {graph:g} us for each operation, as in a CUDA graph.

## Times

{times}

Operations that the host launches one by one take {launch:g} us each instead of {graph:g} us.
Transfers take their bytes at {bus:g} GB/s, and overlap with the work of other events.
"""


ORIGIN = "These times were measured at "


def origin_of_times() -> str:
    """Return date, commit and machine in a sentence."""
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    commit = program_facts(wire_cell.PROGRAM, dict(os.environ))["commit"]
    return f"{ORIGIN}{now}, commit {commit}, on {processor()}."


def counts_of(text: str) -> list[str]:
    """Return the lines of a page that do not depend on the machine that wrote it."""
    measured = ("| host,", ORIGIN)
    return [line for line in text.splitlines() if line and not line.startswith(measured)]


def measured_host_ms(folder: Path, cuda_graph: str) -> float:
    """Return the time of the host for the fastest event."""
    frames = copies_of_frame(wire_cell.ADC, EVENTS_TIMED, folder)
    arguments = {"input": frames, "output": "signal.tar", "events_in_flight": 1, "cuda_graph": cuda_graph}
    timing = folder / "timing.json"
    run = cuda_simulator.job(folder, [], arguments, "--timing", timing, emulate=0, bare=1)
    assert run.done.returncode == 0, run.done.stderr
    return min(times_by_event(json.loads(timing.read_text(encoding="utf-8")), "wall_ns").values())


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cost = default_event.run(folder, default_event.write_frames(folder), cuda_graph="off")
        host_ms = {graph: measured_host_ms(folder, graph) for graph in ("off", "on")}
    write(PAGE, page(cost, Host(host_ms, origin_of_times())))


if __name__ == "__main__":
    main()
