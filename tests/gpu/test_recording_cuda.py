# SPDX-License-Identifier: Apache-2.0
"""Record the chain on a CUDA device: every kernel has its launch, its node and a time within the run; skipped
without a device.
"""

from __future__ import annotations

import pytest

from tests.gpu.test_cuda import ADC
from tests.recorder import recorded
from tests.recorder.recorded import Recorded
from tests.support import wire_cell

pytestmark = [pytest.mark.gpu, recorded.needs_recorder]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder = tmp_path_factory.mktemp("recording")
    done = wire_cell.run(
        "--record",
        "run.sqlite",
        "-c",
        "pipeline.jsonnet",
        *wire_cell.settings(f"input={ADC}", "output=out.npz", "device=cuda", "cuda_graph=off"),
        folder=folder,
    )
    assert done.returncode == 0, done.stderr
    return Recorded(folder / "run.sqlite")


def test_the_device_is_recorded(file: Recorded) -> None:
    manifest = file.run()
    assert manifest["tier"] == "cupti", manifest["tier_reason"]
    assert manifest["cuda.dropped_records"] == "0" and manifest["cuda.unknown_records"] == "0"
    assert file.sql("SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")[0][0] > 100


def test_every_kernel_has_its_launch(file: Recorded) -> None:
    """Kernels of cuFFT, launched by the driver API, have a launch too; a launch is one row, not one of each
    API.
    """
    assert (
        file.sql(
            "SELECT s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName "
            "WHERE k.correlationId NOT IN (SELECT correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME)"
        )
        == []
    )
    assert (
        file.sql(
            "SELECT correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME GROUP BY correlationId HAVING COUNT(*) > 1"
        )
        == []
    )
    assert file.sql("SELECT 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass = 1 LIMIT 1") == [(1,)]


def test_clocks_agree(file: Recorded) -> None:
    """A kernel starts after its launch began, and ends within the session."""
    assert file.sql(
        "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r "
        "USING (correlationId) WHERE k.start < r.start"
    ) == [(0,)]
    assert file.sql(
        "SELECT MAX(k.end) <= (SELECT duration FROM ANALYSIS_DETAILS) FROM CUPTI_ACTIVITY_KIND_KERNEL k"
    ) == [(1,)]


def test_threads_are_those_of_the_ranges(file: Recorded) -> None:
    assert file.sql(
        "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME r WHERE r.correlationId IN (SELECT correlationId FROM "
        "SPNG_CALL_CORRELATION) AND r.globalTid NOT IN (SELECT globalTid FROM SPNG_CALL)"
    ) == [(0,)]


def test_kernels_of_nodes_are_correlated(file: Recorded) -> None:
    """All work launched between begin and end of a node call names that call."""
    assert file.sql(
        "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId) "
        "JOIN SPNG_CALL c ON r.start > c.start AND r.end < c.end AND r.globalTid = c.globalTid "
        "WHERE k.correlationId NOT IN (SELECT correlationId FROM SPNG_CALL_CORRELATION)"
    ) == [(0,)]
