# SPDX-License-Identifier: Apache-2.0
"""R2, R3, R6: same bytes from run to run, with other threads, and from parts of the input."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from scripts.output import Table
from tests.support import small_anodes, wire_cell

from .row import Outcome, judge
from .work import Ended, Work, cuts_of_default_event, inside, main_job, run

BAR = 1e-6
TAGS = "signal,decon_charge,wiener,roi"
NETWORK = wire_cell.DATA / "dnnroi.ts"


def succeeded(done: Ended) -> Ended:
    """Return a run. @throws RuntimeError with its message if it failed."""
    if done.status != 0:
        raise RuntimeError(f"status {done.status}: {done.errors}")
    return done


def digest(path: Path) -> str:
    """Return the first digits of the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def repeated(work: Work) -> Outcome:
    """Measure R2."""
    runs = work.choose(20, 5)
    wire_cell.write_arrays(work.site.folder / "adc.npz", work.site.busy_frames(3, 6000))
    cases: dict[str, tuple[list[Any], str]] = {
        "default event, network, .npz": (
            main_job(input=wire_cell.default_input(), output="out.npz", model="default", threads=2),
            "out.npz",
        ),
        "3 small events, all tags, .tar.gz": (
            work.small_job(input=work.site.folder / "adc.npz", output="out.tar.gz", tags=TAGS),
            "out.tar.gz",
        ),
        "the same, TbbFlow, .npz": (
            work.small_job(input=work.site.folder / "adc.npz", engine="TbbFlow", tags=TAGS),
            "out.npz",
        ),
    }
    rows, misses = [], []
    for index, (name, (words, output)) in enumerate(cases.items()):
        folder, digests = work.new(f"case{index}"), set()
        for _ in range(runs):
            succeeded(run(words, folder))
            digests.add(digest(folder / output))
        rows.append([name, str(runs), str(len(digests)), min(digests)])
        if len(digests) > 1:
            misses.append(f"{name}: {len(digests)} different files of {runs} runs")
    max_count = max(int(row[2]) for row in rows)
    return judge(
        f"{max_count} distinct file{'s' if max_count > 1 else ''} in {runs} runs of each of {len(cases)} jobs",
        misses,
        tables=[Table("Runs", ["job", "runs", "different files", "SHA-256 of the file"], rows, words=1)],
    )


def threads(work: Work) -> Outcome:
    """Measure R3."""
    adc = wire_cell.write_arrays(work.folder / "adc.npz", cuts_of_default_event(work.choose(4, 2), 1500))
    rows: list[list[str]] = []
    misses: list[str] = []

    def result(**arguments: Any) -> Path:
        folder = work.new(f"threads{len(rows)}-{len(list(work.folder.iterdir()))}")
        flags = arguments.pop("flags", ())
        succeeded(run(main_job(*flags, input=adc, model="default", tags=TAGS, **arguments), folder))
        return folder / "out.npz"

    serial = result()
    for count in (1, 2, 4):
        for in_flight in (1, 3):
            same = digest(
                result(flags=("-t", count), engine="TbbFlow", events_in_flight=in_flight)
            ) == digest(serial)
            rows.append(
                [
                    f"{count} graph threads, {in_flight} events in flight",
                    "same bytes" if same else "other bytes",
                ]
            )
            if not same:
                misses.append(f"{rows[-1][0]}: other bytes")
    expected, worst = wire_cell.read_arrays(serial), 0.0
    for count in (2, 4):
        seen = wire_cell.read_arrays(result(threads=count))
        found, is_mask_equal = difference_of(expected, seen)
        worst = max(worst, found)
        rows.append(
            [
                f"{count} threads in operations",
                f"{scientific(found)}, masks {'equal' if is_mask_equal else 'differ'}",
            ]
        )
        if not is_mask_equal:
            misses.append(f"{count} threads in operations: masks differ")
    if worst > BAR:
        misses.append(f"threads in operations: {worst:.1e} instead of {BAR:.0e} of the RMS")
    same_count = sum(row[1] == "same bytes" for row in rows)
    return judge(
        f"graph threads: same bytes in {same_count} of {len(rows) - 2} settings; threads in operations: max abs difference {scientific(worst)} of the RMS",
        misses,
        "Cuts of 1500 ticks of the default event with the network, against one thread with Pgrapher; tags "
        + TAGS
        + ".",
        [Table("Against one thread", ["setting", "output"], rows, words=2)],
    )


def scientific(value: float) -> str:
    """Return a difference with two digits, 0 if there is none."""
    return f"{value:.1e}" if value else "0"


def difference_of(expected: wire_cell.Arrays, seen: wire_cell.Arrays) -> tuple[float, bool]:
    """Return the largest difference of a waveform by the RMS in ROIs, and whether all masks and ROIs are equal."""
    worst, is_equal = 0.0, set(expected) == set(seen)
    for name in (each for each in expected if each.startswith("frame_")):
        same = np.array_equal(expected[name] != 0, seen[name] != 0)
        if name.startswith("frame_decon_charge"):
            worst = max(worst, inside(expected[name], seen[name]))
            continue
        is_equal = is_equal and same
        if not name.startswith(("frame_roi", "frame_mp")):
            worst = max(worst, inside(expected[name], seen[name]))
    return worst, is_equal


WRAPPER = """// The main job with tiles of the network.
function(ticks, input, output, detname)
    local job = (import 'pipeline.jsonnet')(input=input, output=output, detname=detname, model='dnnroi.ts', device='cpu', threads='1', tags='%s');
    [if each.type == 'SPNGTorchService' then each { data+: { chunk_ticks: std.parseInt(ticks) } } else each for each in job]
"""


def parts(work: Work) -> Outcome:
    """Measure R6."""
    rows: list[list[str]] = []
    misses: list[str] = []
    worst = 0.0

    def compare(name: str, expected: Path, seen: Path) -> None:
        nonlocal worst
        found, is_equal = difference_of(wire_cell.read_arrays(expected), wire_cell.read_arrays(seen))
        worst = max(worst, found)
        same = expected.read_bytes() == seen.read_bytes()
        rows.append([name, "same bytes" if same else scientific(found), "equal" if is_equal else "differ"])
        if not is_equal:
            misses.append(f"{name}: masks differ")
        if found > BAR:
            misses.append(f"{name}: {found:.1e} instead of {BAR:.0e} of the RMS")

    for dtype in ("float32", "float64"):
        folder = work.new(dtype)
        wire_cell.write_arrays(folder / "adc.npz", work.site.busy_frames(work.choose(4, 1), 2000))
        for batch in ("true", "false"):
            words = work.small_job(
                model=NETWORK, dtype=dtype, batch=batch, output=f"{batch}.npz", tags=TAGS + ",mp2,mp3"
            )
            succeeded(run(words, folder))
        compare(
            f"views one by one (batch=false), {dtype}, network", folder / "true.npz", folder / "false.npz"
        )
    folder = work.new("default")
    for batch in ("true", "false"):
        words = main_job(
            input=wire_cell.default_input(), model="default", batch=batch, output=f"{batch}.npz", tags=TAGS
        )
        succeeded(run(words, folder))
    compare("views one by one, float32, network, default event", folder / "true.npz", folder / "false.npz")
    folder = work.folder / "float32"
    (folder / "tiles.jsonnet").write_text(WRAPPER % (TAGS + ",mp2,mp3"), encoding="utf-8")
    for ticks in (128, 500):
        words = [
            "-c",
            "tiles.jsonnet",
            *work.site.flags,
            "-A",
            "input=adc.npz",
            "-A",
            f"output=tiles{ticks}.npz",
        ]
        succeeded(run([*words, "-A", f"ticks={ticks}"], folder))
        compare(
            f"network in tiles of {ticks} ticks (chunk_ticks)",
            folder / "true.npz",
            folder / f"tiles{ticks}.npz",
        )
    compare("network in tiles by memory_budget, default event", *by_budget(work))
    folder = work.new("anodes")
    flags = small_anodes.write_description(folder)
    readout = small_anodes.readout(folder, len(small_anodes.ANODES), 800)
    samples = np.concatenate(np.split(readout, len(small_anodes.ANODES), axis=1))
    wire_cell.write_arrays(folder / "adc.npz", wire_cell.event(samples, np.arange(len(samples))))
    for batch in ("false", "true"):
        words = main_job(
            *flags, tpcid="all", batch_anodes=batch, output=f"{batch}.npz", tags=TAGS, model="standin"
        )
        succeeded(run(words, folder))
    compare(
        "anodes 1 and 2 in the same tensors (batch_anodes=true)", folder / "false.npz", folder / "true.npz"
    )
    return judge(
        f"masks {'equal' if all(row[2] == 'equal' for row in rows) else 'differ'}, max abs difference {scientific(worst)} of the RMS in ROIs",
        misses,
        "A difference is of the largest tag, of signal, decon_charge and wiener, by its RMS in ROIs.\n"
        "Readout windows of a long readout are no such parts: each is an event with its own noise and thresholds, and differs from "
        "one transform over all ([long readouts](decisions/long-readouts.md)).",
        [Table("Parts against the whole", ["parts", "max abs difference / RMS", "masks"], rows, words=1)],
    )


def by_budget(work: Work) -> tuple[Path, Path]:
    """Return the outputs of the default event without a budget, and with 10 MB less than it takes."""
    folder = work.new("budget")
    given = {"input": wire_cell.default_input(), "model": "default"}
    succeeded(run(["--timing", "t.json", *main_job(output="free.npz", **given)], folder))
    plan = json.loads((folder / "t.json").read_text(encoding="utf-8"))["settings"]["memory"]
    budget = plan["event_bytes"] + plan["constant_bytes"] + plan["file_bytes"] - 10_000_000
    succeeded(run(main_job(output="tiles.npz", memory_budget=budget, **given), folder))
    return folder / "free.npz", folder / "tiles.npz"
