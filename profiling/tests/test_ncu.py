# SPDX-License-Identifier: Apache-2.0
"""wirecell-profile ncu: verdicts and roofs of hand-made files in ncu's formats equal values worked out by
hand.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from wirecell_profile.cli import main
from wirecell_profile.errors import MissingData, ProfileError
from wirecell_profile.tables.ncu_file import Launch, base_unit, read_ncu
from wirecell_profile.tables.ncu_verdicts import (
    LEVELS,
    LOCAL_ACCESSES,
    TENSOR_LEVELS,
    Kernel,
    advice,
    bound,
    kernels,
    level,
)
from wirecell_profile.tables.roofline import measured

SM, MEMORY = (
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
)
DRAM = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
FMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
ADD = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"

RAW = f'''==PROF== Connected to process 7 (/usr/bin/program)
1 event done
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","gpu__time_duration.sum","{SM}","{MEMORY}","{DRAM}","dram__bytes.sum","{FMA}","{ADD}","sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained","sm__cycles_elapsed.avg.per_second","dram__bytes.sum.peak_sustained","dram__cycles_elapsed.avg.per_second","{STALL.format("long_scoreboard")}","{STALL.format("barrier")}","{STALL.format("selected")}"
"","","","","","","","","","","","usecond","%","%","%","Mbyte","inst","inst","inst/cycle","cycle/nsecond","byte/cycle","Ghz","inst","inst","inst"
"0","7","program","host","copy(float *)","1","7","(256, 1, 1)","(100, 1, 1)","0","8.0","10.00","12.00","80.00","90.00","2.00","1,000,000","500,000","6,912","1.25","1,024","1.5","6.00","2.00","1.00"
"1","7","program","host","copy(float *)","1","7","(256, 1, 1)","(100, 1, 1)","0","8.0","30.00","16.00","84.00","94.00","6.00","3,000,000","1,500,000","6,912","1.25","1,024","1.5","6.00","2.00","1.00"
"2","7","program","host","tiny(int)","1","7","(32, 1, 1)","(1, 1, 1)","0","8.0","2.00","0.50","1.00","n/a","0.001","0","0","6,912","1.25","1,024","1.5","0.00","0.00","0.00"
'''

DETAILS_HEAD = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",'
    '"Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description"'
)


def detail(
    section: str, name: str, unit: str, value: str, kernel: str = "ampere_sgemm_128x64", launch: int = 0
) -> str:
    """Return a line of the details page."""
    return (
        f'"{launch}","7","program","host","{kernel}","1","7","(256, 1, 1)","(60, 1, 1)","0","8.0","{section}","{name}",'
        f'"{unit}","{value}","","",""'
    )


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """Return the raw page."""
    path = tmp_path / "raw.csv"
    path.write_text(RAW)
    return path


@pytest.fixture
def details(tmp_path: Path) -> Path:
    """Return the details page, with a line of a rule, and a metric by its full name."""
    path = tmp_path / "details.csv"
    path.write_text(
        "\n".join(
            [
                "==PROF== Profiling",
                DETAILS_HEAD,
                detail("GPU Speed Of Light Throughput", "Duration", "ms", "1.5"),
                detail("GPU Speed Of Light Throughput", "Compute (SM) Throughput", "%", "81.2"),
                detail("GPU Speed Of Light Throughput", "Memory Throughput", "%", "40"),
                detail("Memory Workload Analysis", "Memory Throughput", "Gbyte/second", "500.5"),
                detail("Occupancy", "Theoretical Occupancy", "%", "25"),
                detail("Occupancy", "Block Limit Registers", "block", "2"),
                detail("Occupancy", "Block Limit Shared Mem", "block", "8"),
                detail("Occupancy", "Achieved Occupancy", "%", "24"),
                detail(
                    "Command line profiler metrics",
                    "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
                    "%",
                    "0",
                ),
                detail("SpeedOfLight", "", "", "").replace('"","",""', '"SOLBottleneck","OPT","text"'),
            ]
        )
        + "\n"
    )
    return path


def kernel(**metrics: float) -> Kernel:
    """Return one launch with metrics by short names."""
    names = {
        "sm": SM,
        "memory": MEMORY,
        "dram": DRAM,
        "waves": "launch__waves_per_multiprocessor",
        "time": "gpu__time_duration.sum",
    }
    return Kernel(
        "k", [Launch("0", "k", metrics={names.get(name, name): value for name, value in metrics.items()})]
    )


@pytest.mark.parametrize(
    "unit, expected",
    [
        ("usecond", (1e3, "time")),
        ("ms", (1e6, "time")),
        ("ns", (1.0, "time")),
        ("Mbyte", (1e6, "bytes")),
        ("Gbyte/second", (1e9, "rate")),
        ("cycle/nsecond", (1e9, "rate")),
        ("Ghz", (1e9, "rate")),
        ("%", (1.0, "%")),
        ("register/thread", (1.0, "")),
        ("byte/block", (1.0, "bytes")),
        ("", (1.0, "")),
    ],
)
def test_units(unit: str, expected: tuple[float, str]) -> None:
    scale, kind = base_unit(unit)
    assert (pytest.approx(scale), kind) == expected


def test_the_raw_page(raw: Path) -> None:
    first, second, tiny = read_ncu(raw)
    assert (first.kernel, first.grid, first.block) == ("copy(float *)", "(100, 1, 1)", "(256, 1, 1)")
    assert first.metrics["gpu__time_duration.sum"] == pytest.approx(10_000) and first.metrics[FMA] == 1e6
    assert (
        second.metrics["dram__bytes.sum"] == 6e6
        and first.metrics["dram__cycles_elapsed.avg.per_second"] == 1.5e9
    )
    assert DRAM not in tiny.metrics  # n/a is not zero


def test_the_details_page(details: Path) -> None:
    (launch,) = read_ncu(details)
    assert launch.metrics["gpu__time_duration.sum"] == pytest.approx(1.5e6)
    assert (launch.metrics[SM], launch.metrics[MEMORY]) == (81.2, 40.0)
    assert launch.metrics["dram__bytes.sum.per_second"] == pytest.approx(
        500.5e9
    )  # the other Memory Throughput
    (found,) = kernels([launch])
    lines = advice(found)
    assert bound(found) == "compute-bound" and lines[0].startswith("compute-bound")
    assert lines[1].startswith("tensor cores unused in a matrix kernel")
    assert lines[2].startswith("theoretical occupancy 25 %, limited by registers")


def test_the_details_page_of_a_real_device(capsys: pytest.CaptureFixture[str]) -> None:
    """Three kernels of a job on an H100, with the sections SpeedOfLight and Occupancy of ncu."""
    path = Path(__file__).with_name("data") / "ncu-details-h100.csv"
    assert main(["ncu", str(path), "-f", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    gemm, coincidence, unpack = data["kernels"]
    assert (gemm["Verdict"], gemm["SM (%)"], gemm["Theoretical (%)"]) == ("compute-bound", 85.7, 25)
    assert (coincidence["Kernel"], coincidence["Time (ns)"]) == ("coincidence", 76_416)
    assert (coincidence["Verdict"], unpack["Verdict"]) == ("cache-bound", "latency-bound")
    assert [row["SM use"] for row in data["resources"]] == ["excellent", "low", "moderate"]
    assert {"Metric": "SM Frequency"} in data["metrics that are not read"]


def test_kernels_are_weighted_by_their_time(raw: Path) -> None:
    copy, tiny = kernels(read_ncu(raw))
    assert (copy.name, len(copy.launches), copy.duration) == ("copy(float *)", 2, pytest.approx(40_000))
    assert copy.value((SM,)) == pytest.approx((12 * 10 + 16 * 30) / 40)
    assert copy.stall() == ("long_scoreboard", 75.0)  # 6 of 6 + 2; selected is not a stall
    assert tiny.stall() is None


@pytest.mark.parametrize(
    "metrics, expected",
    [
        ({"sm": 70, "memory": 30}, "compute-bound"),
        ({"sm": 30, "memory": 75, "dram": 70}, "DRAM-bound"),
        ({"sm": 30, "memory": 75, "dram": 20}, "cache-bound"),
        ({"sm": 30, "memory": 75}, "memory-bound"),
        ({"sm": 59, "memory": 59}, "latency-bound"),
        ({"sm": 5, "memory": 5, "waves": 0.2}, "too small"),
        ({"sm": 5, "memory": 5, "waves": 3}, "latency-bound"),
        ({"sm": 5}, None),  # memory was not measured: no verdict
    ],
)
def test_verdicts(metrics: dict[str, float], expected: str | None) -> None:
    assert bound(kernel(**metrics)) == expected


def test_the_measured_roofline(raw: Path) -> None:
    """4 M fma and 2 M add in 40 us = 250 GFLOP/s; 8 MB = 200 GB/s; roofs 17 280 GFLOP/s and 1 536 GB/s."""
    point = measured(kernels(read_ncu(raw))[0])
    assert point.flops == pytest.approx(250e9) and point.traffic == pytest.approx(200e9)
    assert point.intensity == pytest.approx(1.25)
    assert point.peak_flops == pytest.approx(2 * 6912 * 1.25e9) and point.peak_traffic == pytest.approx(
        1536e9
    )
    assert point.ridge == pytest.approx(11.25) and point.side == "memory roof"
    assert point.attainable == pytest.approx(1.25 * 1536e9)


def test_the_roofline_section_counts_per_cycle() -> None:
    """As --section SpeedOfLight_RooflineChart: 100 add + 2 * 200 fma a cycle at 1 GHz."""
    per_cycle = {
        f"smsp__sass_thread_inst_executed_op_d{kind}_pred_on.sum.per_cycle_elapsed": count
        for kind, count in (("add", 100.0), ("mul", 0.0), ("fma", 200.0))
    }
    point = measured(
        kernel(
            **per_cycle,
            **{"smsp__cycles_elapsed.avg.per_second": 1e9, "dram__bytes.sum.per_second": 1e11},
            time=1000.0,
        )
    )
    assert (point.precision, point.flops, point.intensity) == (
        "FP64",
        pytest.approx(500e9),
        pytest.approx(5.0),
    )
    assert point.attainable is None and point.side is None  # no roofs were measured


# As ncu --csv --page raw --metrics ..., with the names of the guides that users read.
METRICS = {
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": ("%", "28.5"),
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": ("%", "85.25"),
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed": ("%", "12.0"),
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": ("%", "70"),
    "launch__registers_per_thread": ("register/thread", "168"),
    "launch__shared_mem_per_block_static": ("Kbyte/block", "1.5"),
    "launch__shared_mem_per_block_dynamic": ("byte/block", "512"),
    "smsp__inst_executed_op_local_ld.sum": ("inst", "1,000"),
    "smsp__inst_executed_op_local_st.sum": ("inst", "250"),
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": ("", "300"),
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": ("", "100"),
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": ("", "1,600"),
    "smsp__sass_average_data_bytes_per_wavefront_mem_shared.ratio": ("byte", "96"),
    "smsp__warps_issue_stalled_long_scoreboard_per_issue_active.ratio": ("warp", "3.0"),
    "smsp__warps_issue_stalled_barrier_per_issue_active.ratio": ("warp", "1.0"),
    "sm__cycles_active.avg": ("cycle", "77"),
    "device__attribute_clock_rate": ("", "5"),
}


def test_resources_and_the_names_of_guides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text(
        "\n".join(
            ",".join(f'"{cell}"' for cell in row)
            for row in (
                ("ID", "Process ID", "Kernel Name", *METRICS),
                ("", "", "", *(unit for unit, _ in METRICS.values())),
                ("0", "7", "gemm_of_something", *(value for _, value in METRICS.values())),
            )
        )
    )
    assert main(["ncu", str(path), "-f", "json"]) == 0
    shown = capsys.readouterr()
    data = json.loads(shown.out)
    (resources,) = data["resources"]
    assert (resources["SM use"], resources["DRAM use"], resources["Tensor use"]) == (
        *("low", "excellent", "partial"),
    )
    assert (resources["Registers per thread"], resources["Shared memory per block (B)"]) == (168, 2012)
    assert (resources["Local memory accesses"], resources["Bank conflicts"]) == (1250, 400)
    assert (resources["Of wavefronts (%)"], resources["Bytes per wavefront (B)"]) == (25, 96)
    (verdict,) = data["kernels"]
    assert (verdict["Verdict"], verdict["Tensor (%)"], verdict["Largest stall"]) == (
        *("DRAM-bound", 12, "long_scoreboard"),
    )
    lines = [row["Advice"] for row in data["advice"]]
    assert lines[1].startswith("tensor cores partly used")
    assert lines[2].startswith("1,250 accesses to local memory, 168 registers per thread")
    assert lines[3].startswith("bank conflicts in 25 % of the wavefronts")
    assert lines[4].startswith("stalls, 75 % long_scoreboard")
    assert data["metrics that are not read"] == [{"Metric": "sm__cycles_active.avg"}]
    assert (
        "of metrics.csv that are not read (1, all with --format json): sm__cycles_active.avg\n" in shown.err
    )
    assert main(["ncu", str(path)]) == 0
    text = capsys.readouterr().out
    assert "Occupancy" not in text and "not read" not in text  # not measured; a note, no table
    assert f"gemm_of_something\n  {lines[0]}\n  {lines[1]}\n" in text  # in full


@pytest.mark.parametrize(
    "percent, level_of_unit, level_of_tensor",
    [(9, "low", "low"), (10, "low", "partial"), (30, "moderate", "good"), (50, "moderate", "excellent")]
    + [(60, "good", "excellent"), (80, "excellent", "excellent")],
)
def test_levels_of_use(percent: float, level_of_unit: str, level_of_tensor: str) -> None:
    assert level(percent, LEVELS) == level_of_unit and level(percent, TENSOR_LEVELS) == level_of_tensor
    assert level(None, LEVELS) is None


def test_spills_are_told_from_other_local_memory() -> None:
    """ncu's own count of spilled registers goes before all accesses to local memory."""
    names = ("smsp__inst_executed_op_local_ld.sum", "derived__local_spilling_requests")
    spilled = kernel(**dict(zip(names, (900.0, 0.0))))
    assert spilled.total(LOCAL_ACCESSES) == 0 and advice(spilled) == []
    assert kernel(**{names[0]: 900.0}).total(LOCAL_ACCESSES) == 900
    assert kernel(sm=10).total(LOCAL_ACCESSES) is None and kernel(sm=10).conflicts() is None


def test_low_occupancy_of_a_busy_kernel_is_enough() -> None:
    occupancy = {"sm__maximum_warps_per_active_cycle_pct": 25.0, "launch__occupancy_limit_registers": 2.0}
    (_, line) = advice(kernel(sm=86, memory=60, **occupancy))
    assert line == "theoretical occupancy 25 %, limited by registers: enough, compute is used to 86 %"
    assert "fewer registers" in advice(kernel(sm=20, memory=20, **occupancy))[1]


def test_nothing_is_measured_from_nothing() -> None:
    assert measured(kernel(time=10.0)) is None and advice(kernel(time=10.0)) == []


def test_the_command(raw: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ncu", str(raw), "-f", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [row["Verdict"] for row in data["kernels"]] == ["DRAM-bound", "latency-bound"]
    assert data["kernels"][1]["DRAM (%)"] is None
    assert data["roofline"][0]["Of attainable (%)"] == pytest.approx(100 * 250 / 1920)
    assert any("long_scoreboard" in row["Advice"] for row in data["advice"])
    assert main(["ncu", str(raw)]) == 0
    assert "** roofline" in capsys.readouterr().out


def test_what_is_no_csv_of_ncu(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ProfileError, match="not a CSV of Nsight Compute"):
        read_ncu(path)
    path.write_text(DETAILS_HEAD + "\n")
    with pytest.raises(MissingData):
        read_ncu(path)
    assert main(["ncu", str(tmp_path / "absent.csv")]) == 1


def test_the_estimated_roofline(profile_file, capsys: pytest.CaptureFixture[str]) -> None:
    """Node A: 2 calls of 1000 ns device time move 4000 + 6000 B each: 10 GB/s of 40, 3000 FLOP a call = 3
    GFLOP/s.
    """
    with profile_file.writing() as file:
        file.manifest()
        file.device(0, "GPU", memoryBandwidth=40_000_000_000)
        file.node(1, "A", "x")
        for event in (0, 1):
            at = 10_000 * event
            file.node_call(
                event + 1, 1, event, at, at + 5_000, bytes_in=4000, bytes_out=6000, leaf_operations=3
            )
            file.launch("k", (at, at + 10), (at + 100, at + 1_100))
    assert main(["ncu", str(profile_file.path), "-f", "json", "--flops", "A=3000", "--peak-flops", "9"]) == 0
    ((row,),) = json.loads(capsys.readouterr().out).values()
    assert (row["Time of"], row["Time (ns)"], row["Bytes in and out (B)"]) == ("device", 2_000, 20_000)
    assert (row["Bandwidth (GB/s)"], row["Of peak (%)"]) == (pytest.approx(10), pytest.approx(25))
    assert (row["GFLOP/s"], row["FLOP per byte"]) == (pytest.approx(3), pytest.approx(0.3))
    assert (row["Attainable GFLOP/s"], row["Roof"]) == (pytest.approx(9), "compute roof")  # 0.3 * 40 = 12 > 9
    assert (row["Tensor operations"], row["Device operations"]) == (6, 2)
    assert main(["ncu", str(profile_file.path), "--flops", "A"]) == 2


def test_an_estimate_without_a_gpu_is_of_the_host(profile_file, capsys: pytest.CaptureFixture[str]) -> None:
    with profile_file.writing() as file:
        file.manifest()
        file.node(1, "A", "")
        file.node_call(1, 1, 0, 0, 500, bytes_in=400, bytes_out=600)
    assert main(["ncu", str(profile_file.path), "-f", "json"]) == 0
    ((row,),) = json.loads(capsys.readouterr().out).values()
    assert row["Time of"] == "host" and row["Bandwidth (GB/s)"] == pytest.approx(2)
    assert row["Of peak (%)"] is None and row["Roof"] is None and row["Device operations"] is None
