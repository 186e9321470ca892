# SPDX-License-Identifier: Apache-2.0
"""Write into a network's file for which input it was trained: detector, filter set, tick, and filters of the images.

    .venv/bin/python -m scripts.dnnroi.job_input FILE.ts [NAME=VALUE...]

The input is that of cfg/pipeline.jsonnet with the arguments NAME=VALUE, such as detname=pdsp. Code and weights keep their bytes.
SPNGDNNROI compares these properties with its own before the first event (docs/dnnroi.md#input).
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.wcb.checkout import build_folder, fail

from .export import read_metadata, with_metadata, write_whole
from .simulation import ProgramFailed, run_job


def job_input(program: Path, arguments: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the input that a job makes for a network, as keys of a network's file (spng/nodes/dnn/input/network_input.h).

    The job ends before the first event.
    """
    with tempfile.TemporaryDirectory() as name:
        report = Path(name) / "timing.json"
        run_job(
            program,
            "cfg/pipeline.jsonnet",
            None,
            ("--timing", str(report)),
            **{"model": "standin", "nevents": 0, "output": Path(name) / "output.npz", **(arguments or {})},
        )
        inputs = json.loads(report.read_text(encoding="utf-8"))["input"]["network_inputs"]
    found = {json.dumps(each, sort_keys=True) for each in inputs.values()}
    if len(found) != 1:
        raise ProgramFailed(
            f"the job has {len(found)} kinds of input for networks instead of one: name one anode, tpcid=N"
        )
    return json.loads(found.pop())


def main(words: list[str]) -> int:
    """Run the command; return the exit status."""
    if not words or words[0].startswith("-") or not all("=" in word for word in words[1:]):
        print(__doc__)
        return 0 if words in (["-h"], ["--help"]) else 2
    path, build = Path(words[0]), build_folder()
    if build is None or not (build / "bin" / "wire-cell").exists():
        fail("wire-cell is not built. To fix: ./wcb")
    try:
        found = job_input(build / "bin" / "wire-cell", dict(word.split("=", 1) for word in words[1:]))
    except ProgramFailed as failure:
        fail(str(failure), 1)
    content = path.read_bytes()
    write_whole(path, with_metadata(content, read_metadata(content) | found))
    print(f"{path}: {json.dumps(found, indent=2)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
