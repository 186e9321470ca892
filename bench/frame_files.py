# SPDX-License-Identifier: Apache-2.0
"""Frame files: the table of their times, and its section of a page, which is also written without the rest of the page."""

from __future__ import annotations

import re
from pathlib import Path

from scripts.output import Table

PREFIX = "frame_files_bench/"
UNIT = "write_compact/dense_npz"  # the default file
ROWS = (  # benchmark, text, bar [ms]
    (UNIT, "write dense .npz (level 1, the default) from a compact result", ""),
    ("write_compact/dense_tar", "write dense .tar (not compressed) from a compact result", "15"),
    (
        "write_compact/sparse_npz",
        "write sparse .npz (not compressed, the default) from a compact result",
        "3",
    ),
    ("write_compact/sparse_tar", "write sparse .tar from a compact result", "3"),
    ("write_array/dense_npz", "write dense .npz from an array", ""),
    ("write_array/dense_tar", "write dense .tar from an array", ""),
    ("write_array/sparse_tar", "write sparse .tar from an array", ""),
    ("read_file/dense_tar", "read dense .tar", ""),
    ("read_file/sparse_tar", "read sparse .tar, without expanding it", ""),
)
TITLE = "Frame files"
NOTES = (
    "The files are in the page cache of the folder for temporary files (TMPDIR); creating and removing them is not counted.",
    "A compact result is what a GPU hands over, an array what the CPU does.",
)
PAGE_NOTE = (
    "Nearly all the time of a dense `.tar` is the kernel's copy into new pages, which depends on the file system "
    "([how much](../decisions/archives.md#dense-frames-from-compact-results))."
)


def file_system_of(folder: Path, mounts: str) -> str:
    """Return the type of the file system of a folder, such as ext4. mounts: the content of /proc/mounts."""
    path, found, kind = folder.resolve(), Path("/"), "unknown file system"
    for line in mounts.splitlines():
        _, point, its_kind, *_ = line.split(" ")
        mounted = Path(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), point))
        if path.is_relative_to(mounted) and mounted.is_relative_to(found):
            found, kind = mounted, its_kind  # of equal mount points the last one hides the others
    return kind


def table(result: dict) -> Table | None:
    """Return the table, with times as parts of that of the default file; None if they were not measured.

    A bar is followed by the file system on which it was tried.
    """
    found = {name: result["operators"].get(PREFIX + name) for name, _, _ in ROWS}
    unit = found[UNIT]
    if unit is None:
        return None
    rows = [
        [
            text,
            f"{times['wall']['median']:.2f}",
            f"{times['wall']['minimum']:.2f}",
            f"{times['cpu']:.2f}",
            f"{times['file_mb']:.1f}" if "file_mb" in times else "",
            f"{times['wall']['median'] / unit['wall']['median']:.3f}",
            f"{bar} ({result['file_system']})" if bar else "",
        ]
        for name, text, bar in ROWS
        if (times := found[name]) is not None
    ]
    heads = "one event (times in ms), median of 3, min, CPU, size [MB], time / default file, bar"
    return Table(TITLE, heads.split(", "), rows)


def section(files: Table, origin: str = "") -> str:
    """Return the section of a page. origin: sentences on its own measurement, if it is not that of the page."""
    parts = [f"## {TITLE}", origin, files.markdown(), "\n".join([*NOTES, PAGE_NOTE])]
    return "\n\n".join(filter(None, parts)) + "\n"


def origin(result: dict) -> str:
    """Return two sentences on command, date, commit, machine and load."""
    program, machine = result["program"], result["machine"]
    return (
        f"Written by `{result['command']}` at {result['time']}, commit {program['commit']} ({program['build']}), "
        f"machine {machine['cpu']}, {machine['system']}.\n"
        f"Load during the run: {result['load_text']}."
    )


def median_of(page: str, name: str) -> float:
    """Return the median time of a benchmark [ms] from a page. Raise ValueError if it has none."""
    text = next(text for its_name, text, _ in ROWS if its_name == name)
    found = re.search(rf"^\| {re.escape(text)} \| ([\d.]+) \|", page, re.MULTILINE)
    if found is None:
        raise ValueError(f"the page has no row '{text}'")
    return float(found[1])


def with_section(page: str, text: str) -> str:
    """Return the page with this section in place of its own one. Raise ValueError if the page has none."""
    before, mark, rest = page.partition(f"## {TITLE}\n")
    if not mark:
        raise ValueError(f"the page has no section '{TITLE}': write it with the chain first")
    _, mark, after = rest.partition("\n## ")
    return f"{before}{text}{mark}{after}"
