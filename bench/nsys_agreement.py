# SPDX-License-Identifier: Apache-2.0
"""Compare our reports with those of nsys, as text, for every report and option that nsys lists.

    .venv/bin/python bench/nsys_agreement.py [--nsys PATH] [--keep DIR] FILE.sqlite ...

Needs nsys, which runs without a GPU. It works on copies of the files. Prints one line per file and one per report
that differs; the exit status is 1 if the text of any report differs, or is missing on our side. Reports that nsys
rejects and we make are listed, but are no difference.
"""

from __future__ import annotations

import argparse
import itertools
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from wirecell_profile.errors import MissingData
from wirecell_profile.model.profile import Profile
from wirecell_profile.model.selection import Scope
from wirecell_profile.output import as_csv
from wirecell_profile.reports import find

VALUES = {"rows": "3", "ticks_threshold": "500"}  # values to test options that take one


@dataclass
class Agreement:
    """Reports of one file, by outcome."""

    schema: str = ""
    identical: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    ours_only: list[str] = field(default_factory=list)
    neither: list[str] = field(default_factory=list)


def reports_of_nsys(nsys: str) -> list[str]:
    """Return all reports of nsys with each combination of their options, such as cuda_gpu_sum:nvtx-name:base."""
    listed = subprocess.run([nsys, "stats", "--help-reports"], capture_output=True, text=True)
    reports = []
    for name, options in re.findall(r"^  (\w+)(\S*) -- ", listed.stdout, re.MULTILINE):
        choices = [["", *_spelled(group)] for group in re.findall(r"\[(.*?)\]", options)]
        reports += [name + "".join(chosen) for chosen in itertools.product(*choices)]
    return reports


def _spelled(group: str) -> list[str]:
    """Return the options of a group such as ':base|:mangled' or ':rows=<limit>', with a value where one is needed."""
    return [
        re.sub(r"(\w+)=<.*", lambda found: f"{found[1]}={VALUES[found[1]]}", part)
        for part in group.split("|")
    ]


def text_of_nsys(nsys: str, path: Path, reports: list[str], folder: Path) -> dict[str, str]:
    """Return report -> CSV text of nsys, empty if nsys has no data for it."""
    copy = shutil.copyfile(path, folder / path.name)
    words = ["stats", "--format", "csv", "--output", str(folder / "nsys"), "--force-overwrite", "true"]
    subprocess.run(
        [nsys, *words, "--report", ",".join(reports), str(copy)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    files = {report: folder / f"nsys_{report.replace(':', '_')}.csv" for report in reports}
    return {report: file.read_text(encoding="utf-8") for report, file in files.items()}


def as_text(reports: dict[str, str]) -> str:
    """Return the reports in one text, each under a line '## NAME'; reports without data are left out."""
    return "".join(f"## {name}\n{text.rstrip()}\n" for name, text in reports.items() if text.strip())


def our_text(scope: Scope, name: str) -> str:
    """Return our CSV text, empty if the file has no data for the report."""
    report, options = find(name)
    try:
        result = report.run(scope, options)
    except MissingData:
        return ""
    return as_csv(result) if result.rows else ""


def compare(nsys: str, path: Path, reports: list[str], keep: Path | None) -> Agreement:
    """Compare all reports of one file; store nsys's text, and ours of reports that differ, in the folder `keep`."""
    agreement = Agreement()
    with tempfile.TemporaryDirectory() as folder, Profile.open(path) as profile:
        theirs = text_of_nsys(nsys, path, reports, Path(folder))
        agreement.schema = profile.schema_version
        if keep:
            (keep / f"{path.stem}.nsys.txt").write_text(as_text(theirs), encoding="utf-8")
        scope = Scope(profile)
        for report in reports:
            ours, expected = our_text(scope, report), theirs[report]
            if ours.strip() == expected.strip():
                (agreement.identical if ours else agreement.neither).append(report)
            elif not expected.strip():
                agreement.ours_only.append(report)
            else:
                agreement.different.append(report)
                if keep:
                    name = f"{path.stem}.{report.replace(':', '_')}.ours.csv"
                    (keep / name).write_text(ours, encoding="utf-8")
    return agreement


def main() -> int:
    """Read the arguments and print the comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.sqlite")
    parser.add_argument("--nsys", default="nsys", help="the program (default: nsys on the path)")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="folder for nsys's text, and ours if it differs"
    )
    arguments = parser.parse_args()
    nsys = shutil.which(arguments.nsys)
    if nsys is None:
        parser.error(f"no program {arguments.nsys}; give --nsys PATH")
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    reports = reports_of_nsys(nsys)
    version = subprocess.run([nsys, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"{version}: {len(reports)} reports with options")
    print("| file | schema | identical | different | ours only | no data |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    failed = False
    for path in arguments.files:
        found = compare(nsys, path, reports, arguments.keep)
        lists = (found.identical, found.different, found.ours_only, found.neither)
        print(
            f"| {path.name} | {found.schema} | {' | '.join(str(len(names)) for names in lists)} |", flush=True
        )
        for what, names in (("different", found.different), ("ours only", found.ours_only)):
            if names:
                print(f"{path.name}: {what}: {', '.join(names)}", file=sys.stderr, flush=True)
        failed |= bool(found.different)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
