"""./wcb bench: the own operators, every step and the whole chain, on the CPU or a CUDA device.

Set-up and build if needed; then the programs of build/bench, and the main job on several copies of the frame in
data/. Writes out/bench/bench.json and prints a table with the memory roofline beside the measured times.
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
import sys
import tarfile
from pathlib import Path

from wcblib import setup
from wcblib.checkout import OUT, ROOT, build_folder, fail, run, say, wcb

FOLDER = OUT / "bench"
FRAME = ROOT / "data" / "tracks10-adc.tar.bz2"
YARDSTICK = "rfft2_and_irfft2_of_all_planes"

# Least time of a step for one ProtoDUNE-HD anode of 6000 ticks in ms: its minimal memory traffic with perfect fusion
# at 59 GB/s (two CPU cores) and at 4.3 TB/s (H200). Source: the survey that the design rests on, its table C3.
ROOFLINE_MS = {
    "SPNGFrameToTorchSetFanout": ("int16 to float, pad", 1.6, 0.022),
    "SPNGDecon": ("median, rfft2, product, inverse over channels", 17.5, 0.237),
    "SPNGApply1DSpectrum": ("three filters, inverse over ticks, two rebinned", 10.8, 0.127),
    "SPNGChannelRMS": ("noise of each channel", 0.6, 0.008),
    "SPNGCoincidenceROIs": ("multi-plane on packed bits", 1.3, 0.018),
    "SPNGNoTileMPCoincidence": ("multi-plane on packed bits", 1.3, 0.018),
    "SPNGApplyROI": ("mask times gauss, rebaseline", 7.3, 0.100),
}
FILE_NODES = ("FrameFileSource", "FrameFileSink")


def copies_of_frame(count: int) -> Path:
    """A tar file, not compressed, with the default frame as events 0 to count - 1."""
    path = FOLDER / f"adc-x{count}.tar"
    if path.exists():
        return path
    partial = path.with_suffix(".partial")
    with tarfile.open(FRAME) as source, tarfile.open(partial, "w", format=tarfile.USTAR_FORMAT) as target:
        arrays = [(member.name.rsplit("_", 1)[0], source.extractfile(member).read()) for member in source]
        for event in range(count):
            for name, content in arrays:
                member = tarfile.TarInfo(f"{name}_{event}.npy")
                member.size = len(content)
                target.addfile(member, io.BytesIO(content))
    partial.rename(path)
    return path


def run_programs(only: str) -> dict[str, float]:
    """The programs of build/bench: name -> median real time in ms of three repetitions."""
    times: dict[str, float] = {}
    for program in sorted((build_folder() / "bench").glob("*_bench")):
        report = FOLDER / f"{program.name}.json"
        report.unlink(missing_ok=True)
        say(f"  {program.name}")
        status = run([str(program), f"--benchmark_filter={only or '.'}", f"--benchmark_out={report}",
                      "--benchmark_out_format=json", "--benchmark_repetitions=3", "--benchmark_min_time=0.2"],
                     capture_output=True)
        if status:
            fail(f"{program} ended with status {status}", 1)
        text = report.read_text(encoding="utf-8")
        for entry in json.loads(text)["benchmarks"] if text else []:
            if entry.get("aggregate_name") == "median":
                scale = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}[entry["time_unit"]]
                times[f"{program.name}/{entry['run_name'].removesuffix('/real_time')}"] = entry["real_time"] * scale
    return times


def run_chain(options: argparse.Namespace) -> dict:
    """The main job, serial engine, one event in flight; returns what --timing wrote."""
    timing = FOLDER / "chain-timing.json"
    command = [str(build_folder() / "bin" / "wire-cell"), "-c", "cfg/pipeline.jsonnet", "-A",
               f"input={copies_of_frame(options.events)}", "-A", f"output={FOLDER / 'signal.tar'}", "-A",
               f"device={options.device}", "-A", f"threads={options.threads}", "-A", f"dtype={options.dtype}", "-A",
               f"model={options.model}", "--timing", str(timing)]
    say("  " + " ".join(command))
    if run(command, stdout=sys.stderr):
        fail("the main job failed; see its message above", 1)
    return json.loads(timing.read_text(encoding="utf-8"))


def steady_ms(node: dict) -> float:
    """Median wall time of a node's calls per event in ms, nested nodes taken off, the first event left out."""
    by_event: dict[int, float] = {}
    for call in node["per_call"]:
        own = call["wall_ns"] - call["nested_wall_ns"]
        by_event[call["event"]] = by_event.get(call["event"], 0.0) + own * 1e-6
    later = [value for event, value in sorted(by_event.items())][1:] or list(by_event.values())
    return statistics.median(later) if later else 0.0


def chain_rows(timing: dict) -> list[dict]:
    """One row per node type: nodes, time, roofline and their ratio."""
    column = 2 if timing["run"]["device"].startswith("cuda") else 1
    rows: dict[str, dict] = {}
    for node in timing["nodes"]:
        row = rows.setdefault(node["type"], {"type": node["type"], "nodes": 0, "ms": 0.0, "roofline_ms": None})
        row["nodes"] += 1
        row["ms"] += steady_ms(node)
        if node["type"] in ROOFLINE_MS:
            row["roofline_ms"] = ROOFLINE_MS[node["type"]][column]
    return list(rows.values())


def print_tables(operators: dict[str, float], rows: list[dict], summary: dict) -> None:
    """What a reader wants to see first."""
    if operators:
        say(f"\n{'operator (median of 3)':64}{'ms':>10}")
        for name, value in operators.items():
            say(f"{name:64}{value:10.3f}")
    if rows:
        say(f"\n{'step (one anode, median of events after the first)':52}{'nodes':>6}{'ms':>10}{'roofline':>10}{'ratio':>8}")
        for row in rows:
            roofline = f"{row['roofline_ms']:10.2f}{row['ms'] / row['roofline_ms']:8.1f}" if row["roofline_ms"] else ""
            say(f"{row['type']:52}{row['nodes']:6}{row['ms']:10.2f}{roofline}")
        say("")
        for name, value in summary.items():
            say(f"{name:52}{value:16.2f}")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="wcb bench", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=6, help="events of the chain (default 6)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:N or auto (default cpu)")
    parser.add_argument("--threads", type=int, default=0, help="threads inside one operation (default: cores)")
    parser.add_argument("--dtype", default="float32", help="float32 or float64 (default float32)")
    parser.add_argument("--model", default="none", help="none, standin or a model file (default none)")
    parser.add_argument("--only", metavar="WORD", default="", help="only operators with WORD in their name, and no chain")
    setup.add_options(parser)
    options = parser.parse_args()

    setup.ensure(options.mode, options.no_system, quiet=True)
    if build_folder() is None:
        wcb("configure", "--with-nvtx")
    wcb("build")
    FOLDER.mkdir(parents=True, exist_ok=True)

    say("\nOperators")
    operators = run_programs(options.only)
    rows, summary, timing = [], {}, {}
    if not options.only:
        say("\nChain")
        timing = run_chain(options)
        rows = chain_rows(timing)
        chain = sum(row["ms"] for row in rows if row["type"] not in FILE_NODES)
        yardstick = next((value for name, value in operators.items() if name.endswith(YARDSTICK)), None)
        summary = {"chain without file input and output [ms]": chain}
        if yardstick:
            summary["one rfft2 + irfft2 of the same planes [ms]"] = yardstick
            summary["chain / yardstick"] = chain / yardstick
        summary["start-up to first event [s]"] = timing["run"]["startup_seconds"] or 0.0
        summary["process peak [MB]"] = timing["run"]["process_peak_bytes"] / 1e6
    print_tables(operators, rows, summary)
    result = {"schema": "spng-bench-1", "operators_ms": operators, "steps": rows, "summary": summary,
              **{key: timing.get(key) for key in ("time", "program", "versions", "machine", "run", "settings")}}
    path = FOLDER / "bench.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    say(f"\nWritten: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
