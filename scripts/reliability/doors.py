# SPDX-License-Identifier: Apache-2.0
"""R19 and R20: outputs with the names of other files, and the checks of every door through which frames come."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

from spng.native import core

import spng
from scripts.output import Table
from tests.support import wire_cell
from tests.support.raw_frames import FAULTS, raw_event, write_raw

from .row import Outcome, judge
from .work import Work, names, run


def archive(member: str) -> bytes:
    """Return a zip with one member."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as made:
        made.writestr(member, "of a user")
    return content.getvalue()


STATUSES = (1, 2)  # of an output that cannot be written, and of a wrong command line
OUTPUTS = {  # by the option that names it
    "output": "out.npz",
    "--timing": "out.json",
    "--record": "out.sqlite",
    "-l": "out.log",
}
FOREIGN = {"a text": b"my notes\n", "a picture": b"\x89PNG\r\n\x1a\n", "an archive": archive("thesis.tex")}
FILES = (".npz", ".tar", ".tar.gz", ".h5", ".zarr")
PYTHON = "Python"


def other_files(work: Work) -> Outcome:
    """Measure R19."""
    adc = wire_cell.write_arrays(work.folder / "adc.npz", work.event).read_bytes()
    rows: list[list[str]] = []
    misses: list[str] = []

    def attempt(victim: str, option: str, name: str, content: bytes, words: list[Any]) -> None:
        """Run a job in a folder with the files of a list of two, and with a file that has the name of an output."""
        folder = work.new(f"{victim} {option}".replace(" ", "-"))
        files = {"adc.npz": adc, "second.tar": b"", "list.txt": b"adc.npz\nsecond.tar\n", name: content}
        wire_cell.write_arrays(folder / "second.tar", work.event)
        files["second.tar"] = (folder / "second.tar").read_bytes()
        for file, its_content in files.items():
            (folder / file).write_bytes(its_content)
        done = run(words, folder)
        lost = [file for file, its_content in files.items() if (folder / file).read_bytes() != its_content]
        left = [each for each in names(folder) if each not in files]
        rows.append([victim, option, str(done.status), ", ".join(lost) or "nothing"])
        if lost or left or done.status not in STATUSES or name not in done.errors:
            misses.append(f"{victim}, {option}: status {done.status}, replaced {lost}, left {left}")

    for option, own in OUTPUTS.items():
        for victim, name, content in [
            *((kind, own, content) for kind, content in FOREIGN.items()),
            ("the input", "adc.npz", adc),
        ][work.choose(0, 2) :]:
            words = [] if option == "output" else [option, name]
            output = name if option == "output" else "signal.npz"
            attempt(victim, option, name, content, [*words, *work.small_job(output=output)])
    job = work.small_job(input="{input}")
    for victim, option, name, output in (
        ("the list", "--timing", "list.txt", "out-{name}.npz"),
        ("the input of another line", "output", "second.tar", "{name}.tar"),
        ("the input of this line", "output", "adc.npz", "{name}.npz"),
    ):
        words = [] if option == "output" else [option, name]
        job_words = [word if not str(word).startswith("output=") else f"output={output}" for word in job]
        content = b"adc.npz\nsecond.tar\n" if name == "list.txt" else adc
        attempt(victim, f"{option} of --files", name, content, ["--files", "list.txt", *words, *job_words])
    figure = f"{sum(row[-1] == 'nothing' for row in rows)} of {len(rows)} jobs replace nothing, and end with an error that names the file"
    table = Table("Jobs", ["file", "output with its name", "status", "replaced"], rows, words=2)
    return judge(figure, misses, "", [table])


def rejection(door: str, path: Path, members: dict[str, Any]) -> spng.Error | None:
    """Bring an event through a door; return its error."""
    try:
        if door == PYTHON:
            masks = {name.removeprefix("chanmask_"): rows for name, rows in members.items() if "mask" in name}
            times = dict(zip(("start_ns", "tick_ns", "first_tick"), members["tickinfo_a"]))
            summary = members.get("summary_a")
            traces = spng.Traces("a", members["frame_a"], members["channels_a"], summary=summary, **times)
            core.checked(spng.Frame({"a": traces}, masks=masks), "the event")
        else:
            list(spng.read_frames(write_raw(path, members)))
    except spng.Error as error:
        return error
    return None


def every_door(work: Work) -> Outcome:
    """Measure R20."""
    rows: list[list[str]] = []
    misses: list[str] = []
    doors = (*FILES, PYTHON)
    for index, (changes, what, _) in enumerate(FAULTS):
        name = next(iter(changes))
        cells = []
        for door in doors:
            error = rejection(door, work.folder / f"in{index}{door}", raw_event(**changes))
            cells.append("accepted" if error is None else error.kind)
            if error is None or error.kind != "Input" or "Traceback" in str(error):
                misses.append(f"{door}, {name}: {cells[-1]}")
        rows.append([name.replace("_a", ""), what, *cells])
    figure = f"{len(rows) * len(doors) - len(misses)} of {len(rows) * len(doors)} faults are rejected: {len(rows)} in each of {len(doors)} doors"
    note = "HTTP and gRPC have the same function for the members of an event; tests/serve sends them such tensors."
    return judge(figure, misses, note, [Table("Faults", ["member", "error", *doors], rows, words=2)])
