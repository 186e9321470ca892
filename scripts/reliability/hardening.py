# SPDX-License-Identifier: Apache-2.0
"""R8, R10: sanitizers and damaged input. Sanitizers and the fuzzing are the work of ./wcb harden, whose result is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from scripts.harden.command import RESULT
from scripts.output import Table
from tests.support import wire_cell

from .row import Outcome, Verdict, judge
from .work import Work, run_for_memory

COMMAND = "./wcb harden"
INPUTS_BAR, SECONDS_BAR = 100_000, 2.0
ALLOWED_MB = 50.0  # beyond twice the declared size: buffers of the readers
COPY = wire_cell.ROOT / "tests" / "app" / "jobs" / "copy.jsonnet"


def hardened(path: Path = RESULT) -> dict[str, Any] | None:
    """Return the result of ./wcb harden, or None if there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def sanitizers(work: Work, path: Path = RESULT) -> Outcome:
    """Return R8 from the result of ./wcb harden."""
    result = hardened(path)
    if result is None:
        return Outcome("", Verdict.NOT_RUN, f"run {COMMAND}")
    figures, misses, missing = [], [], []
    for name, title in (("asan", "ASan and UBSan"), ("tsan", "TSan")):
        if name not in result:
            missing.append(f"{title} did not run")
            continue
        part = result[name]
        figures.append(
            f"{title}: {part['reports']} reports in {part['tests']} tests ({part['skipped']} skipped) and "
            f"{len(part['jobs'])} jobs"
        )
        found = [f"{part['reports']} reports instead of 0"] if part["reports"] else []
        found += part["failed"]
        found += [f"{job}: status {status}" for job, status in part["jobs"].items() if status]
        if not found and not (part["clean"] and part["jobs"]):
            found.append("not everything ran")
        misses += [f"{title}: {each}" for each in found]
    suppressed = [[str(each)] for each in result.get("suppressions", [])]
    tables = [Table("Suppressions", ["suppression, with its reason"], suppressed)] if suppressed else []
    verdict = Verdict.SHORT if misses else Verdict.PART if missing else Verdict.MET
    return Outcome(
        "; ".join(figures),
        verdict,
        "; ".join(misses + missing),
        f"From `{COMMAND}`; {len(suppressed)} suppressions.",
        tables,
        result["date"],
        result["commit"],
    )


def noise_events(path: Path) -> Path:
    """Write three events that compress badly, so that damage in a file is damage in an event."""
    random = np.random.default_rng(20261125)
    arrays: wire_cell.Arrays = {}
    for ident in range(3):
        arrays |= wire_cell.event(random.integers(0, 4000, (60, 250), dtype=np.int16), np.arange(60), ident)
    return wire_cell.write_arrays(path, arrays)


def huge_header(path: Path) -> Path:
    """Write an event whose header declares 10^12 samples."""
    noise_events(path)
    content = path.read_bytes()
    start = content.index(b"(60, 250)")
    end = content.index(b"\n", start)
    # The header has room for a longer text: it is padded with spaces.
    text = content[start:end].replace(b"(60, 250)", b"(1000000, 1000000)").rstrip()
    path.write_bytes(content[:start] + text.ljust(end - start) + content[end:])
    return path


def damaged(work: Work) -> Outcome:
    """Measure R10: cuts and flipped bits here, fuzzing from the result of ./wcb harden."""
    points, flips = work.choose(64, 4), work.choose(64, 4)
    rows, misses, missing = [], [], []
    folder = work.new("damaged")
    words = [COPY, "-A", "output=out.npz", "-A"]
    random = np.random.default_rng(1)
    for ending in wire_cell.ENDINGS:
        whole = noise_events(work.folder / f"whole{ending}").read_bytes()
        cuts = [whole[: len(whole) * point // points] for point in range(points)]
        changed = []
        for bit in random.choice(8 * len(whole), flips, replace=False):
            damage = bytearray(whole)
            damage[bit // 8] ^= 1 << (bit % 8)
            changed.append(bytes(damage))
        for what, inputs in (("cut", cuts), ("one bit flipped", changed)):
            ended = []
            for each in inputs:
                (folder / f"adc{ending}").write_bytes(each)
                ended.append(run_for_memory([*words, f"input=adc{ending}"], folder))
            statuses = sorted({done.status for done, _ in ended})
            crashes = sum(done.status < 0 or "report this defect" in done.errors for done, _ in ended)
            slowest, largest = max(done.cpu_s for done, _ in ended), max(peak for _, peak in ended)
            rows.append(
                [
                    f"{ending}, {what}",
                    str(len(ended)),
                    ", ".join(map(str, statuses)),
                    str(crashes),
                    f"{slowest:.2f}",
                    f"{largest:.0f}",
                ]
            )
            if crashes:
                misses.append(f"{ending}, {what}: {crashes} crashes")
            if slowest > SECONDS_BAR:
                misses.append(f"{ending}, {what}: {slowest:.1f} s instead of {SECONDS_BAR:g}")
    (folder / "adc.tar").write_bytes(noise_events(work.folder / "good.tar").read_bytes())
    _, sound_mb = run_for_memory([*words, "input=adc.tar"], folder)
    huge_header(folder / "adc.tar")
    huge, huge_mb = run_for_memory([*words, "input=adc.tar"], folder)
    rows.append(
        [
            "header of 10^12 samples",
            "1",
            str(huge.status),
            str(int(huge.status < 0)),
            f"{huge.cpu_s:.2f}",
            f"{huge_mb:.0f}",
        ]
    )
    if huge.status != 1:
        misses.append(f"a header of 10^12 samples: status {huge.status}")
    highest = max(float(row[5]) for row in rows)
    if highest > sound_mb + ALLOWED_MB:
        misses.append(f"{highest:.0f} MB instead of {sound_mb:.0f} MB of an undamaged file")
    runs, crashes = (sum(int(row[column]) for row in rows) for column in (1, 3))
    figure = (
        f"{crashes} crashes in {runs} runs, slowest {max(float(row[4]) for row in rows):.2f} s of processor time, highest "
        f"{highest:.0f} MB (undamaged: {sound_mb:.0f} MB)"
    )
    result = hardened()
    tables = [
        Table(
            "Damaged files",
            ["input", "runs", "statuses", "crashes", "slowest [s]", "highest memory [MB]"],
            rows,
        )
    ]
    if result is None or not result.get("fuzz"):
        missing.append(f"fuzzing: run {COMMAND}")
    else:
        fuzz = result["fuzz"]
        fuzzed, failures = (sum(int(target[name]) for target in fuzz) for name in ("inputs", "failures"))
        figure = f"fuzzing: {failures} failures in {fuzzed} inputs; {figure}"
        tables.append(
            Table(
                f"Fuzzing by {COMMAND}, {result['date'][:10]}, commit {result['commit']}",
                ["target", "inputs", "failures"],
                [[str(target[name]) for name in ("target", "inputs", "failures")] for target in fuzz],
            )
        )
        if failures:
            misses.append(f"{failures} failures in fuzzing")
        if fuzzed < INPUTS_BAR:
            misses.append(f"{fuzzed} fuzzed inputs instead of {INPUTS_BAR}")
    note = "A cut .tar without the end of its last event, or a flipped bit of a sample in it, may be a valid file: status 0."
    if missing and not misses:
        return Outcome(figure, Verdict.PART, "; ".join(missing), note, tables)
    return judge(figure, misses + missing if misses else [], note, tables)
