# SPDX-License-Identifier: Apache-2.0
"""./wcb physics --detectors: plan, options for frames, and the figures of hand-made events."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from scripts.physics.detectors import cases, command, study
from scripts.physics.detectors.cases import FilesMissing
from scripts.physics.sizes import DETECTORS
from scripts.physics.study import measure_view


def test_samples_have_seeds_of_their_own_and_all_detectors() -> None:
    samples = cases.samples_of(3, 950_000)
    assert tuple(cases.BY_NAME) == DETECTORS
    seeds = [sample.seed for _, sample in samples]
    assert len(set(seeds)) == len(samples) and all(
        later - earlier >= 3 for earlier, later in zip(seeds, seeds[1:])
    )
    assert [detector.name for detector, _ in cases.samples_of(only="sbnd,pdsp")] == ["pdsp", "sbnd"]


@pytest.mark.parametrize(
    "text", ["sbnd,0,adc.npz", "other,0,a,b", "sbnd,x,a,b", "sbnd,0,absent.npz,absent.npz"]
)
def test_frames_that_do_not_fit_are_rejected(text: str) -> None:
    with pytest.raises(FilesMissing, match="--frames"):
        cases.parse_frames(text)


def test_frames_name_another_anode(tmp_path: Path) -> None:
    file = tmp_path / "adc.npz"
    file.touch()
    given = cases.parse_frames(f"icarus,2,{file},{file}")
    assert (given.detector.anode, given.detector.parts) == (2, (112, 122))


def test_absent_wire_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FilesMissing, match="sbnd-wires"):
        cases.BY_NAME["sbnd"].load([tmp_path])


def test_table_has_the_figures_of_each_view() -> None:
    detector, sample = cases.samples_of(2, only="sbnd")[0]
    truth = np.zeros((4, 400), dtype=np.float32)
    truth[1, 100:120] = 1000
    results = study.Results()
    results.measured[sample.name] = [
        measure_view(
            sample, sample.variants[0], view, sample.seed + event, truth * (1.1 if view == 0 else 1), truth
        )
        for view in range(3)
        for event in range(2)
    ]
    result = command.result_of(study.Study([(detector, sample)], [], {}), results, {})
    (section,) = command.sections_of(result)
    rows = {row[2]: row for row in section.tables[0].rows}
    assert rows["U"][3].startswith("+10.0") and rows["V"][3].startswith("+0.0")
    assert rows["W"][6].startswith("100.0") and rows["W"][7].startswith("100.0")
