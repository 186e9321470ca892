# SPDX-License-Identifier: Apache-2.0
"""Run programs in Python on damaged files, each in a process of its own with limits, and report those that fail.

python -m tests.fuzz.TARGET --count 1000 --seed 1 --out out/fuzz
python -m tests.fuzz.TARGET --replay out/fuzz/FILE --command COMMAND
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROCESSOR_SECONDS = 10  # of a command, which takes less than one on an undamaged file
WALL_SECONDS = 60  # of one that waits
MEMORY_BYTES = 2 << 30  # in addition to the modules
HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)  # not for a terminal
ELSEWHERE = "/proc/version"  # a file of somebody else, which no defect can change
DEFECT = 70  # status of a process that had an exception


@dataclass(frozen=True)
class Failure:
    """A command that ends otherwise than with a result or one readable error."""

    command: str
    reason: str
    file: Path


@dataclass(frozen=True)
class Target:
    """A program that reads files."""

    name: str
    module: str
    seeds: int  # undamaged files
    write: Callable[[Path, int, int], tuple[Path, str]]  # folder, seed, index: a damaged file, a command
    run: Callable[[str, Path, Path], int]  # command, file, folder of its outputs: the status
    is_explained: Callable[[int, str, str], bool]  # status 0 or 1, errors and results that it prints


def change_bytes(content: bytes, chosen: random.Random) -> bytes:
    """Change bits, bytes and blocks of a file, or cut it; damage at the begin is as likely as behind it."""
    changed = bytearray(content or b"\0")
    for _ in range(chosen.choice((1, 4, 16, 64))):
        at = chosen.randrange(min(len(changed), chosen.choice((100, 4096, len(changed)))))
        kind = chosen.randrange(4)
        if kind == 0:
            changed[at] ^= 1 << chosen.randrange(8)
        elif kind == 1:
            changed[at] = chosen.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif kind == 2:
            changed[at : at + 4] = chosen.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff"))
        else:
            source = chosen.randrange(len(changed))
            block = changed[source : source + chosen.randrange(1, 512)]
            changed[at : at + len(block)] = block
    if chosen.random() < 0.2:
        del changed[len(changed) * chosen.randrange(64) // 64 :]
    return bytes(changed)


def limit_resources() -> None:
    """Limit processor time, wall time and memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    memory = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(WALL_SECONDS)


def status_of_child(work: Callable[[], int]) -> int:
    """Run a function in a child with limits; return the status, or minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        status = DEFECT
        try:
            limit_resources()
            status = work()
        except SystemExit as end:
            status = int(end.code or 0)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_in_child(target: Target, command: str, path: Path, folder: Path) -> str:
    """Run a command in a child with limits; return why it failed, or nothing."""
    output, printed = folder / "stderr", folder / "stdout"

    def run() -> int:
        errors = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        # The caller, such as pytest, may have replaced the streams.
        sys.stderr = open(errors, "w", encoding="utf-8", errors="surrogateescape")
        sys.stdout = open(printed, "w", encoding="utf-8", errors="surrogateescape")
        os.dup2(errors, 2)
        return target.run(command, path, folder)

    status = status_of_child(run)
    written = [path.read_text(encoding="utf-8", errors="replace") for path in (output, printed)]
    return reason_of(target, status, *written)


def reason_of(target: Target, status: int, errors: str, results: str) -> str:
    """Return why a command failed; nothing for a result and for an error block."""
    if status in (-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGALRM):
        return f"no end within {PROCESSOR_SECONDS} s of processor time, or {WALL_SECONDS} s"
    if status < 0:
        return f"signal {-status}"
    if "Traceback" in errors or status not in (0, 1):
        lines = [line.strip() for line in errors.splitlines() if line.strip()]
        position = next((line for line in reversed(lines) if line.startswith("File ")), "")
        return f"{lines[-1] if lines else f'status {status}'} ({position})"
    for text in (errors, results):
        if found := HIDDEN.search(text):
            return "control characters in the output: " + repr(text[max(0, found.start() - 100) :][:200])
    return "" if target.is_explained(status, errors, results) else "no error block: " + errors[:200]


def failures_of(target: Target, count: int, seed: int, folder: Path, first: int = 0) -> Iterator[Failure]:
    """Run inputs `first` to `first + count`, each with one command; yield those that fail."""
    for index in range(first, first + count):
        path, command = target.write(folder, seed, index)
        reason = run_in_child(target, command, path, folder)
        if reason:
            target.write(folder, seed, index)  # the command may have changed it
            yield Failure(command, reason, path)
        else:
            remove(path)


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def campaign(target: Target, options: argparse.Namespace) -> int:
    """Run inputs, print the failures and the report as JSON; return the exit status."""
    options.out.mkdir(parents=True, exist_ok=True)
    found: dict[str, dict[str, Any]] = {}  # by reason
    inputs, begin = 0, time.monotonic()
    while inputs < options.count if options.seconds is None else time.monotonic() - begin < options.seconds:
        for failure in failures_of(target, 1, options.seed, options.out, inputs):
            print(f"FAILED {failure.command}: {failure.reason}\n  {failure.file}", file=sys.stderr)
            replay = (
                f"{sys.executable} -m {target.module} --command '{failure.command}' --replay {failure.file}"
            )
            first = {"reason": failure.reason, "file": str(failure.file), "count": 0, "replay": replay}
            found.setdefault(re.sub(r"\d", "", failure.reason), first)["count"] += 1
        inputs += 1
    report = {"target": target.name, "inputs": inputs, "seconds": time.monotonic() - begin}
    report |= {"corpus_files": target.seeds, "results": 0, "peak_bytes": 0, "failures": list(found.values())}
    print(json.dumps(report))
    return 1 if found else 0


def main(target: Target, about: str | None) -> int:
    """Run the command line of a target."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, help="instead of --count")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"))
    parser.add_argument("--replay", type=Path)
    parser.add_argument("--command", help="of --replay, as printed with the failure")
    options = parser.parse_args()
    if not options.replay:
        return campaign(target, options)
    with tempfile.TemporaryDirectory() as folder:
        return target.run(options.command, options.replay, Path(folder))
