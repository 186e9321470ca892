# SPDX-License-Identifier: Apache-2.0
"""Wrong configurations end in less than a second of processor time, and all files of cfg/ evaluate."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.faults.test_configuration_faults import ARGUMENTS, FAULTS
from tests.support import figures, wire_cell
from tests.support.measured_runs import names, run, succeeded

pytestmark = [wire_cell.needs_program, pytest.mark.reliability]

CFG = wire_cell.ROOT / "cfg"
SECONDS = 1.0
DETECTORS = re.findall(
    r"^    '?([\w-]+)'?: import",
    (CFG / "detectors" / "all.jsonnet").read_text(encoding="utf-8"),
    re.MULTILINE,
)


@pytest.mark.parametrize("fault", [*FAULTS, *ARGUMENTS])
def test_time_to_the_error(tmp_path: Path, fault: str) -> None:
    """tests/faults compares the words of the block."""
    words = ["-c", wire_cell.PIPELINE, "-A", fault]
    if fault in FAULTS:
        (tmp_path / "job.json").write_text(FAULTS[fault][0])
        words = ["job.json"]
    before = names(tmp_path)
    done = run(words, tmp_path)
    figures.note("processor time [s]", done.cpu_s)
    assert done.status == 2 and done.errors.startswith("error: "), done.errors
    assert names(tmp_path) == before
    assert done.cpu_s < SECONDS


def test_every_file_evaluates(tmp_path: Path) -> None:
    paths = [path.relative_to(CFG).as_posix().removeprefix("lib/") for path in CFG.rglob("*.jsonnet")]
    kinds = "\n".join(f"    assert std.type(import '{path}') != 'null';" for path in sorted(paths))
    copy = wire_cell.ROOT / "tests" / "app" / "jobs" / "copy.jsonnet"
    text = f"local job = (import '{copy}')('adc.npz');\n{kinds}\n    job\n"
    (tmp_path / "all.jsonnet").write_text(text, encoding="utf-8")
    succeeded(["--check-configuration", "all.jsonnet"], tmp_path)
    figures.note("files", len(paths))


@pytest.mark.parametrize("name", DETECTORS)
def test_the_main_job_of_every_detector(tmp_path: Path, name: str) -> None:
    words = ["-c", wire_cell.PIPELINE, "-A", f"detname={name}", "-A", "tpcid=all"]
    succeeded(["--check-configuration", *words], tmp_path)
