# SPDX-License-Identifier: Apache-2.0
"""Time of many files: a program for each, one program for all, and a campaign.

    python -m scripts.bench.many_files [--files N] [--rounds N] [--ending .npz] [--page FILE]

All ways process the same copies of the frame in data/ and take turns, in an order that changes from round to round. A fourth
way, --campaign FOLDER, runs another version of the Python package wirecell_campaign. The page holds medians and their ratios.
"""

from __future__ import annotations

import argparse
import datetime
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scripts.wcb.checkout import ROOT

from .frames import Input, make_input
from .machine_load import Load, now, since

PROGRAM = ROOT / "build" / "bin" / "wire-cell"
JOB = ["-c", "cfg/pipeline.jsonnet"]


def run(words: list[str], folder: Path, packages: Path | None = None) -> None:
    """Run a command in a folder. Raise CalledProcessError with its messages if it fails."""
    environment = dict(os.environ)
    if packages:
        environment["PYTHONPATH"] = f"{packages}:{ROOT / 'profiling'}"
    subprocess.run(words, cwd=folder, env=environment, check=True, capture_output=True, text=True)


def each_by_itself(folder: Path, names: list[str]) -> None:
    """Start a program for each file."""
    for name in names:
        run([str(PROGRAM), *JOB, "-A", f"input={name}", "-A", f"output=out/{name}.npz"], folder)


def all_by_one(folder: Path, _: list[str]) -> None:
    """Start one program for the list."""
    run([str(PROGRAM), *JOB, "--files", "list", "-A", "output=out/{name}.npz"], folder)


def campaign(folder: Path, packages: Path) -> None:
    """Run a campaign with one worker by a version of the package."""
    words = [sys.executable, "-m", "wirecell_campaign", "run", "list", "--output", "out"]
    run(
        [*words, "--program", str(PROGRAM), "--config", str(ROOT / "cfg" / "pipeline.jsonnet")],
        folder,
        packages,
    )


def main() -> None:
    """Measure and print, or write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=20, metavar="N", help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="default: %(default)s")
    parser.add_argument("--ending", default=".npz", choices=(".npz", ".tar", ".tar.gz", ".tar.bz2"))
    parser.add_argument("--campaign", type=Path, metavar="FOLDER", help="folder of another wirecell_campaign")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the page")
    given = parser.parse_args()
    ways = {
        "a program for each file": each_by_itself,
        "one program, `--files`": all_by_one,
        "a campaign, one worker": lambda folder, _: campaign(folder, ROOT / "campaign"),
    }
    if given.campaign:
        other = given.campaign.resolve()
        ways["a campaign by the other package"] = lambda folder, _: campaign(folder, other)
    times: dict[str, list[float]] = {name: [] for name in ways}
    before = now()
    with tempfile.TemporaryDirectory(prefix="spng-many-files-") as temporary:
        folder = Path(temporary)
        one = make_input(ROOT / "data" / "tracks10-adc.tar.bz2", Input(1, ending=given.ending), folder)
        names = [f"f{index:03d}{given.ending}" for index in range(given.files)]
        for name in names:
            os.link(one, folder / name)
        (folder / "list").write_text("\n".join(names), encoding="utf-8")
        order = list(ways)
        for _ in range(given.rounds):
            for name in order:
                shutil.rmtree(folder / "out", ignore_errors=True)
                (folder / "out").mkdir()
                start = time.monotonic()
                ways[name](folder, names)
                times[name].append(time.monotonic() - start)
                print(f"{name}: {times[name][-1]:.2f} s", file=sys.stderr)
            order.append(order.pop(0))
    text = page(given, times, since(before))
    if given.page:
        given.page.write_text(text, encoding="utf-8")
    else:
        print(text)


def page(given: argparse.Namespace, times: dict[str, list[float]], load: Load) -> str:
    """Return the page: each way in seconds per file, and its ratio to a program for each file within each round."""
    first = next(iter(times.values()))
    rows = [
        f"| {name} | {statistics.median(seconds) / given.files:.2f} | "
        f"{statistics.median(mine / its for mine, its in zip(seconds, first, strict=True)):.2f} |"
        for name, seconds in times.items()
    ]
    version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
    commit = next(line.split()[1] for line in version.splitlines() if line.strip().startswith("commit"))
    command = f"python -m scripts.bench.many_files --files {given.files} --rounds {given.rounds} --ending {given.ending}"
    return f"""# Many files

Written by `{command}`; do not edit.

{given.files} files of one event of the default input ({given.ending}), medians of {given.rounds} rounds in which the ways take turns; commit {commit}, {datetime.date.today()}.
Meanwhile {load.text()}.

| way | s per file | of a program for each file |
|---|---|---|
{chr(10).join(rows)}

A campaign also reads the input and the output for their checksums, checks the output, flushes it to the disk and writes a record.
"""


if __name__ == "__main__":
    main()
