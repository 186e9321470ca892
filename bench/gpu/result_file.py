# SPDX-License-Identifier: Apache-2.0
"""The result file STAGE.json of a stage, and the archive STAGE.tgz of its logs, timing reports and recordings."""

from __future__ import annotations

import json
import tarfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wirecell_profile.output import json_text
from wirecell_profile.output_file import output_file

from .stage import Stage

SCHEMA = "spng-gpu-check-1"
AGAIN = "-again"  # in names of results of --only, which complete those of the whole stage
STAGES = ("smoke", "modes", "sanitize", "speed")
Result = dict[str, Any]


def result_of(stage: Stage, command: str, time: str, seconds: float) -> Result:
    """Return the content of the result file. time: the start, ISO 8601."""
    return {
        "schema": SCHEMA,
        "stage": stage.name,
        "command": command,
        "time": time,
        "seconds": round(seconds, 1),
        "simulated": stage.setting.is_simulated,
        "only": list(stage.only),
        "checks": [asdict(outcome) for outcome in stage.outcomes],
        **stage.results,
    }


def write(result: Result, logs: Path, folder: Path) -> list[Path]:
    """Write the result and the archive of the logs into `folder`; return their paths. Raise OSError on failure."""
    folder.mkdir(parents=True, exist_ok=True)
    name = result["stage"] + (AGAIN if result["only"] else "")
    paths = [folder / f"{name}.json", folder / f"{name}.tgz"]
    with output_file(paths[0]) as partial:
        partial.write_text(json_text(result), encoding="utf-8")
    with output_file(paths[1]) as partial, tarfile.open(partial, "w:gz") as archive:
        archive.add(logs, arcname=logs.name)
    return paths


def read_all(folders: list[Path]) -> dict[str, Result]:
    """Return stage -> result from folders and files, in the order of STAGES; of two results of a stage, the later one, whose
    checks complete the earlier one if --only chose them.

    @throws ValueError if there is none, or a file is no result.
    """
    files = [file for folder in folders for file in files_in(folder)]
    found: dict[str, Result] = {}
    for result in sorted(map(read, files), key=lambda result: result["time"]):
        stage = result["stage"]
        found[stage] = completed(found[stage], result) if result.get("only") and stage in found else result
    if not found:
        raise ValueError(
            f"no result in {', '.join(map(str, folders))}: looked for {', '.join(STAGES)} (.json)"
        )
    return {stage: found[stage] for stage in STAGES if stage in found}


def read(file: Path) -> Result:
    """Return a result. Raise ValueError if the file is none."""
    try:
        result = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as problem:
        raise ValueError(f"{file} is no result: {problem}") from problem
    if not isinstance(result, dict) or result.get("schema") != SCHEMA or result.get("stage") not in STAGES:
        raise ValueError(f"{file} is no result of scripts/gpu_check (schema {SCHEMA})")
    return result


def completed(result: Result, again: Result) -> Result:
    """Return a result with checks that ran again, later: entries of the same name are replaced, others are appended."""
    lists = {key: value for key, value in again.items() if isinstance(value, list) and key != "only"}
    later = f"at {again['time']} with commit {again['program'].get('commit', 'unknown')}: {again['command']}"
    command = f"{result['command']}; {result['seconds']:.0f} s. Later, {later}"
    merged = {key: replaced(result.get(key, []), value) for key, value in lists.items()}
    return {**result, **merged, "command": command, "seconds": again["seconds"]}


def replaced(entries: list[Result], later: list[Result]) -> list[Result]:
    """Return the entries, with those of a job or check of `later` instead of the earlier ones."""

    def name(entry: Result) -> str:
        return entry.get("name") or entry.get("job") or ""

    before, again = [name(entry) for entry in entries], {name(entry) for entry in later}
    kept = [entry for entry in entries if name(entry) not in again]
    return sorted(
        [*kept, *later], key=lambda entry: before.index(name(entry)) if name(entry) in before else len(before)
    )


def files_in(path: Path) -> list[Path]:
    """Return the result files of a folder; a file as it is."""
    if not path.is_dir():
        return [path]
    return [file for stage in STAGES for end in ("", AGAIN) if (file := path / f"{stage}{end}.json").exists()]
