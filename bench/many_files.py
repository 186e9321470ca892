# SPDX-License-Identifier: Apache-2.0
"""Time of many files: a program for each, one program for all, and a campaign.

    python -m bench.many_files [--files N] [--rounds N] [--ending .npz] [--before CHECKOUT] [--page FILE]

All ways process the same copies of the frame in data/ and take turns, in an order that changes from round to round. A fourth
way, --before CHECKOUT, runs a campaign by the package and the program of another checkout, which must be built. The page holds
medians and their ratios.
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

from bench.gpu.machine import processor
from scripts.wcb.checkout import ROOT

from .frames import Input, make_input
from .machine_load import Load, now, since

JOB = ["-c", "cfg/pipeline.jsonnet"]


def program(checkout: Path) -> Path:
    """Return the program of a checkout."""
    return checkout / "build" / "bin" / "wire-cell"


def version(checkout: Path) -> dict[str, str]:
    """Return what --version tells: name -> value."""
    said = subprocess.run([program(checkout), "--version"], capture_output=True, text=True, check=True).stdout
    return {name: value for name, _, value in (line.strip().partition(" ") for line in said.splitlines())}


def run(words: list[str], folder: Path, checkout: Path | None = None) -> None:
    """Run a command in a folder, with the Python packages of a checkout. Raise CalledProcessError if it fails."""
    environment = dict(os.environ)
    if checkout:
        environment["PYTHONPATH"] = f"{checkout / 'campaign'}:{checkout / 'profiling'}"
    subprocess.run(words, cwd=folder, env=environment, check=True, capture_output=True, text=True)


def each_by_itself(folder: Path, names: list[str]) -> None:
    """Start a program for each file."""
    for name in names:
        run([str(program(ROOT)), *JOB, "-A", f"input={name}", "-A", f"output=out/{name}.npz"], folder)


def all_by_one(folder: Path, _: list[str]) -> None:
    """Start one program for the list."""
    run([str(program(ROOT)), *JOB, "--files", "list", "-A", "output=out/{name}.npz"], folder)


def campaign(folder: Path, checkout: Path) -> None:
    """Run a campaign with one worker by the package and the program of a checkout."""
    words = [sys.executable, "-m", "wirecell_campaign", "run", "list", "--output", "out"]
    words += ["--program", str(program(checkout)), "--config", str(checkout / "cfg" / "pipeline.jsonnet")]
    run(words, folder, checkout)


def main() -> None:
    """Measure and print, or write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=20, metavar="N", help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="default: %(default)s")
    parser.add_argument("--ending", default=".npz", choices=(".npz", ".tar", ".tar.gz", ".tar.bz2"))
    parser.add_argument(
        "--before", type=Path, metavar="CHECKOUT", help="another checkout, built: its campaign too"
    )
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the page")
    given = parser.parse_args()
    ways = {
        "a program for each file": each_by_itself,
        "one program, `--files`": all_by_one,
        "a campaign, one worker": lambda folder, _: campaign(folder, ROOT),
    }
    if given.before:
        other = given.before.resolve()
        ways[f"a campaign, commit {version(other)['commit'].strip()}"] = lambda folder, _: campaign(
            folder, other
        )
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
    own = version(ROOT)
    command = (
        f"python -m bench.many_files --files {given.files} --rounds {given.rounds} --ending {given.ending}"
    )
    command += " --before CHECKOUT" if given.before else ""
    return f"""# Many files

Written by `{command} --page docs/benchmarks/many-files.md`; do not edit.

{given.files} files of one event of the default input ({given.ending}), medians of {given.rounds} rounds in which the ways take turns; commit {own["commit"].strip()}, {datetime.date.today()}.
{processor()}, {os.cpu_count()} cores; meanwhile {load.text()}.

| way | time of a file [s] | ratio to a program for each file |
|---|---:|---:|
{chr(10).join(rows)}

A campaign also reads the input and the output for their checksums, checks the output, flushes it to the disk and writes a record.
"""


if __name__ == "__main__":
    main()
