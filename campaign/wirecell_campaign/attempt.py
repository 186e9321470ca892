# SPDX-License-Identifier: Apache-2.0
"""An attempt at one file, on a worker: run the program in a scratch folder, check its output, publish it.

This module does not use the engine, so that it can run by hand and in tests. All failures are results, not exceptions, except
those that end the process.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

from wirecell_profile.path_names import url_hint
from wirecell_profile.terminal import visible

from . import aliases, input_warnings, output_check, timing, warm
from .checksum import described, is_input_same, require_regular, sha256, state_of_input
from .errors import CampaignError
from .layout import OWN_DISK, PROFILES, Layout
from .publish import publish
from .record import SCHEMA
from .task import AttemptFailed, Fault, Outcome, Result, Task, scratch_name

LONGEST_BLOCK = 8000  # characters of the program's messages that are kept
FULL_DISK = re.compile(r"No space left on device|Disk quota exceeded")
NOT_STARTED = re.compile(r"error while loading shared libraries|cannot open shared object file")
MISSING = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.ESTALE)
PROFILE = "profile.sqlite"  # in the folder of an attempt
FORMATS = (".npz", ".tar", ".tar.gz", ".tar.bz2")  # of outputs, by their endings
USAGE_ERROR = (
    2  # exit status of the program for a wrong configuration, which another attempt would not change
)
SHELL_CANNOT = (126, 127)  # exit status of a script whose interpreter or program is missing


def run_attempt(task: Task, worker: str = "") -> Result:
    """Make and publish the output of a task, or return the failure."""
    host = socket.gethostname()
    start = time.monotonic()
    layout = Layout(Path(task.root))
    stop = layout.stop(task.scratch)
    # The engine repeats a task if it considers its worker dead, so the attempt needs a name of its own.
    task = replace(task, attempt=f"{task.attempt}.{secrets.token_hex(4)}")
    shared = layout.scratch / task.scratch
    local = None
    try:
        if task.local_scratch:
            local = make_local(task)
        shared.mkdir(parents=True)
        outcome, fault, block = Outcome.CANCELLED, None, ""
        # The client writes the mark before it looks for the folder: it sees the folder, or the attempt sees the mark.
        if not stop.exists():
            won = make_output(task, shared, local or shared, host, worker)
            outcome = Outcome.PUBLISHED if won else Outcome.LOST
    except AttemptFailed as failure:
        outcome, fault, block = Outcome.FAILED, failure.fault, str(failure)
    except FileExistsError as error:
        outcome, fault = Outcome.FAILED, Fault.FINAL
        block = str(
            CampaignError(
                "cannot give the output its name",
                str(error.filename2 or error.filename),
                error.strerror or "",
            )
        )
    except OSError as error:
        outcome, fault = Outcome.FAILED, Fault.WORKER
        block = str(
            CampaignError(
                "a worker cannot write",
                f"worker {host}, {error.filename or shared}",
                error.strerror or str(error),
                hint="free space, give permission, or exclude the machine",
            )
        )
    finally:
        for folder in filter(None, (local, shared)):
            shutil.rmtree(folder, ignore_errors=True)
    if block:
        block += f"\n  {'input:':<10}{visible(task.input)}\n  {'worker:':<10}{host} {worker}".rstrip()
    return Result(outcome, host, worker, time.monotonic() - start, fault, block)


def make_local(task: Task) -> Path:
    """Create the folder on the worker's own disk. A variable that is not set is not expanded."""
    folder = Path(os.path.expandvars(task.local_scratch))
    if not folder.is_absolute():
        what = "the worker's scratch folder is not absolute"
        raise AttemptFailed(Fault.WORKER, what, str(folder), expected="an absolute path")
    folder = folder / f"{OWN_DISK}{task.scratch}"
    folder.mkdir(parents=True)
    return folder


def make_output(task: Task, shared: Path, work: Path, host: str, worker: str) -> bool:
    """Run, check and publish; return whether this attempt was the first. Raise AttemptFailed or OSError."""
    check_worker(task, host)
    out = work / "out"
    out.mkdir()
    start, begin = datetime.now(UTC), time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        before = look_at_input(task)
        checksum = pool.submit(read_input, task)  # while the program reads it too
        with run_program(task, work, out, host) as said:
            source = before | checksum.result()
            seconds, stop = time.monotonic() - begin, datetime.now(UTC)
            check_unchanged(task, source)
            content = check_output(out / task.name)
            measured = timing.read(work / "timing.json")
            check_commit(task, measured.get("commit", task.commit), host)
            doubtful = measured.pop("doubtful_events", 0)
            warnings = input_warnings.of_file(measured.pop("warnings", []), said, doubtful, content.events)
    products = collect_products(task, shared, work)
    record = {
        "schema": SCHEMA,
        "name": task.name,
        "input": source | {"path": task.input},
        "products": products,
        "events": content.events,
        "content": asdict(content),
        "warnings": warnings,
        "strict": task.strict,
        "settings": task.settings,
        "program": task.commit,
        "attempt": task.attempt,
        "number": task.attempt_index,
        "host": host,
        "worker": worker,
        "start": start.isoformat(timespec="milliseconds"),
        "stop": stop.isoformat(timespec="milliseconds"),
        "seconds": round(seconds, 6),
        "status": 0,
        "timing": measured,
    }
    return publish(Layout(Path(task.root)), record, shared)


def check_worker(task: Task, host: str) -> None:
    """Check that this machine has the program and the files that arguments name."""
    if not os.access(task.program, os.X_OK):
        raise AttemptFailed(Fault.WORKER, "the worker has no program", f"worker {host}", task.program)
    for path in [task.config, *task.files]:
        if not os.access(path, os.R_OK):
            raise AttemptFailed(
                Fault.WORKER,
                "the worker lacks a file of the job",
                f"worker {host}",
                path,
                "the same files on all workers",
                "put it on a file system of all workers",
            )


def look_at_input(task: Task) -> dict:
    """Return size and times of the input. Raise AttemptFailed if it cannot be opened."""
    path = Path(task.input)
    with input_failures(task):
        require_regular(path)
        with open(path, "rb"):
            return state_of_input(path)


def read_input(task: Task) -> dict:
    """Return the checksum of the input. Raise AttemptFailed if it cannot be read."""
    with input_failures(task):
        return {"sha256": sha256(Path(task.input))}


@contextmanager
def input_failures(task: Task) -> Iterator[None]:
    """Turn an OSError into AttemptFailed."""
    try:
        yield
    except OSError as error:
        fault = Fault.FILE
        if error.errno in MISSING or error.errno == errno.EISDIR:
            fault = Fault.WORKER if task.input_seen else Fault.FINAL
        seen, hint = error.strerror or str(error), url_hint(task.input)
        raise AttemptFailed(fault, "cannot read the input", task.input, seen, hint=hint) from None


def check_unchanged(task: Task, source: dict) -> None:
    """Check that the input is the same as before the run."""
    with suppress(OSError):
        if is_input_same(Path(task.input), source):
            return
    what = "the input changed while it was read"
    raise AttemptFailed(Fault.FILE, what, task.input, hint="it is retried")


def ending(name: str) -> str:
    """Return the ending of an output."""
    return next((end for end in FORMATS if name.endswith(end)), "")


def command(task: Task, work: Path) -> list[str]:
    """Return the command of the program, which reads the files to process from its standard input."""
    words = [task.program, "-c", task.config]
    for folder in task.search_path:
        words += ["-P", folder]
    output = f"{{folder}}/{{name}}{ending(task.name)}"
    for name, value in (task.arguments | {"output": output}).items():
        words += ["-A", f"{name}={value}"]
    words += ["--files", "-", "--timing", "{work}/timing.json"] + ["--strict"] * task.strict
    return words + (["--record", str(work / PROFILE)] if task.record_profile else [])


@contextmanager
def run_program(task: Task, work: Path, out: Path, host: str) -> Iterator[str]:
    """Process the file; yield the program's messages about it.

    Keep the program for other files only if the caller's block, which checks the result, raises nothing.

    Raise AttemptFailed with the program's error block if the program fails.
    """
    name = task.name.removesuffix(ending(task.name))
    # A profile is that of a whole program, so a program that records processes one file.
    stays = not task.record_profile and not os.environ.get("SPNG_RECORD")
    with ExitStack() as stack:
        file = stack.enter_context(aliases.of_files(task.input, work, name))
        try:
            state = os.stat(task.program)
            # A worker may outlive a campaign, and the files of the command may change.
            version = (task.settings, task.commit, state.st_ino, state.st_mtime_ns)
            answer = stack.enter_context(warm.run(command(task, work), file, task.timeout, stays, version))
        except FileNotFoundError as error:  # also: the interpreter of a script, the loader of a binary
            where = f"worker {host}, {task.program}"
            raise AttemptFailed(Fault.WORKER, "cannot start the program", where, str(error)) from None
        check_answer(task, answer, work, host)
        aliases.give_names(out, name)
        yield answer.said


def check_answer(task: Task, answer: warm.Answer, work: Path, host: str) -> None:
    """Check that the program succeeded and wrote the requested profile. Raise AttemptFailed with its error block otherwise."""
    status = answer.status
    has_profile = not task.record_profile or (work / PROFILE).exists()
    if status == 0 and has_profile:
        return
    said = error_block(answer.said)
    if answer.timed_out:
        what, fault = f"the program did not end in {task.timeout:g} s and was stopped", Fault.FILE
    elif FULL_DISK.search(said) or NOT_STARTED.search(said) or status in SHELL_CANNOT:
        what, fault = f"the program cannot run on {host} (exit status {status})", Fault.WORKER
    elif status == 0:
        what, fault = "the program wrote no profile", Fault.FILE
    elif status < 0:
        what, fault = f"signal {-status} ended the program", Fault.FILE
        said = said or "nothing; signal 9 often means that the machine ran out of memory"
    else:
        is_doubtful = task.strict and answer.kind == "Input"  # as it will be the next time
        what, fault = (
            f"the program failed with exit status {status}",
            Fault.FINAL if status == USAGE_ERROR or is_doubtful else Fault.FILE,
        )
    raise AttemptFailed(fault, what, seen=said)


def error_block(text: str) -> str:
    """Return the program's last error block, else the end of its messages."""
    start = max(text.rfind("\nerror:") + 1, 0 if text.startswith("error:") else -1)
    return text[max(start, 0) :].strip()[-LONGEST_BLOCK:]


def check_output(path: Path) -> output_check.Content:
    """Return what the output holds. Raise AttemptFailed if it is absent or incomplete."""
    try:
        return output_check.read_content(path)
    except FileNotFoundError:
        said = "no such file after exit status 0"
    except output_check.Unreadable as error:
        said = str(error)
    raise AttemptFailed(Fault.FILE, "the program wrote no complete output", path.name, said)


def check_commit(task: Task, commit: str, host: str) -> None:
    """Check that the program of this machine is that of the campaign."""
    if commit != task.commit:
        where = f"worker {host}, {task.program}"
        raise AttemptFailed(Fault.WORKER, "the worker has another program", where, commit, task.commit)


def collect_products(task: Task, shared: Path, work: Path) -> list[dict]:
    """Return all files that the program wrote, the output first. Copy them to the scratch folder of the output folder; the
    checksums are of the copies.
    """
    found = [
        (path, path.name)
        for path in sorted((work / "out").iterdir())
        if path.is_file() and not path.name.startswith(".")
    ]
    found.sort(key=lambda item: item[1] != task.name)
    if task.record_profile:
        found.append((work / PROFILE, f"{PROFILES}/{task.name}.sqlite"))
    products = []
    for path, final in found:
        if work != shared:
            path = Path(shutil.copyfile(path, shared / final.replace("/", "-")))
        products.append({"path": final, "scratch": scratch_name(path, task.root)} | described(path))
    return products
