# SPDX-License-Identifier: Apache-2.0
"""Same bytes from run to run and with other graph threads; with threads in operations and from parts, the same within rounding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import cuda_simulator, figures, wire_cell
from tests.support.measured_runs import choose, digest, main_job, succeeded
from tests.support.small_site import Site

pytestmark = [wire_cell.needs_program, pytest.mark.reliability]

TAGS = "signal,decon_charge,wiener,roi"
LIMIT = 1e-6  # of the RMS in ROIs
NETWORK = wire_cell.DATA / "dnnroi.ts"
WRAPPER = """// The main job with tiles of the network.
function(ticks, input, output, detname)
    local job = (import 'pipeline.jsonnet')(input=input, output=output, detname=detname, model='dnnroi.ts', device='cpu', threads='1', tags='%s');
    [if each.type == 'SPNGTorchService' then each { data+: { chunk_ticks: std.parseInt(ticks) } } else each for each in job]
"""


def check_agreement(seen: wire_cell.Arrays, expected: wire_cell.Arrays) -> None:
    """Require equal masks and ROIs, and waveforms within LIMIT."""
    assert seen.keys() == expected.keys()
    for name in (each for each in expected if each.startswith("frame_")):
        inside = expected[name] != 0
        if not name.startswith("frame_decon_charge"):
            np.testing.assert_array_equal(seen[name] != 0, inside, err_msg=name)
        if inside.any() and not name.startswith(("frame_roi", "frame_mp")):
            values = (each[name][inside].astype(np.float64) for each in (seen, expected))
            assert wire_cell.difference(*values) < LIMIT


@pytest.fixture(name="small", scope="module")
def fixture_small(site: Site) -> Path:
    """Three events of the small detector."""
    return wire_cell.write_arrays(site.folder / "small.npz", site.busy_frames(3, 6000))


@pytest.mark.parametrize("job", ["default event, network", "small events, all tags", "TbbFlow"])
def test_repeated_runs(site: Site, small: Path, tmp_path: Path, job: str) -> None:
    words, output = {
        "default event, network": (
            main_job(input=wire_cell.default_input(), model="default", threads=2),
            "npz",
        ),
        "small events, all tags": (
            main_job(*site.flags, input=small, output="out.tar.gz", tags=TAGS),
            "tar.gz",
        ),
        "TbbFlow": (main_job(*site.flags, input=small, engine="TbbFlow", tags=TAGS), "npz"),
    }[job]
    digests = set()
    for _ in range(choose(20, 5)):
        succeeded(words, tmp_path)
        digests.add(digest(tmp_path / f"out.{output}"))
    figures.note("runs", choose(20, 5))
    figures.note("different files", len(digests))
    assert len(digests) == 1


@pytest.mark.skipif(
    not (cuda_simulator.FOLDER / "libSpngSimulatedOperators.so").exists(),
    reason="the simulator is not built: it needs the full LibTorch",
)
def test_repeated_runs_on_a_device(site: Site) -> None:
    """Other events in flight change the order of the launches."""
    wire_cell.write_arrays(site.folder / "adc.npz", site.busy_frames(3, 800))
    digests = set()
    for index in range(choose(20, 3)):
        arguments = {"engine": "TbbFlow", "events_in_flight": 1 + index % 3, "model": "standin"}
        given = {"output": "out.npz", "cuda_graph": ("off", "on")[index % 2], **arguments}
        job = cuda_simulator.job(site.folder, site.flags, given)
        assert job.done.returncode == 0, job.done.stderr
        assert not job.report.all["races"] and not job.report.all["defects"]
        digests.add(digest(site.folder / "out.npz"))
    figures.note("different files over the simulator", len(digests))
    assert len(digests) == 1


@pytest.fixture(name="run_cuts", scope="module")
def fixture_run_cuts(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A function that runs the network on cuts of the default event and returns the output."""
    folder = tmp_path_factory.mktemp("cuts")
    samples, channels, _ = wire_cell.default_adc()
    arrays: wire_cell.Arrays = {}
    for ident in range(choose(4, 2)):
        first = 900 + 100 * ident
        arrays |= wire_cell.event(samples[:, first : first + 1500], channels, ident)
    wire_cell.write_arrays(folder / "adc.npz", arrays)

    def run(*flags: Any, **arguments: Any) -> Path:
        output = folder / f"{len(list(folder.iterdir()))}.npz"
        succeeded(main_job(*flags, output=output, model="default", tags=TAGS, **arguments), folder)
        return output

    return run


@pytest.fixture(name="serial", scope="module")
def fixture_serial(run_cuts: Callable[..., Path]) -> Path:
    """The output of one thread with Pgrapher."""
    return run_cuts()


@pytest.mark.parametrize("in_flight", [1, 3])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_graph_threads(run_cuts: Callable[..., Path], serial: Path, count: int, in_flight: int) -> None:
    seen = run_cuts("-t", count, engine="TbbFlow", events_in_flight=in_flight)
    assert digest(seen) == digest(serial)


@pytest.mark.parametrize("count", [2, 4])
def test_threads_in_operations(run_cuts: Callable[..., Path], serial: Path, count: int) -> None:
    check_agreement(wire_cell.read_arrays(run_cuts(threads=count)), wire_cell.read_arrays(serial))


@pytest.mark.parametrize("job", ["float32", "float64", "default event"])
def test_views_one_by_one(site: Site, tmp_path: Path, job: str) -> None:
    if job == "default event":
        words = main_job(input=wire_cell.default_input(), model="default", tags=TAGS)
    else:
        wire_cell.write_arrays(tmp_path / "adc.npz", site.busy_frames(choose(4, 1), 2000))
        words = main_job(*site.flags, model=NETWORK, dtype=job, tags=TAGS + ",mp2,mp3")
    found = []
    for batch in ("false", "true"):
        succeeded([*words, "-A", f"batch={batch}"], tmp_path)
        found.append(wire_cell.read_arrays(tmp_path / "out.npz"))
    check_agreement(*found)


@pytest.mark.parametrize("ticks", [128, 500])
def test_tiles_of_the_network(site: Site, small: Path, tmp_path: Path, ticks: int) -> None:
    tags = TAGS + ",mp2,mp3"
    succeeded(main_job(*site.flags, input=small, output="whole.npz", model=NETWORK, tags=tags), tmp_path)
    (tmp_path / "tiles.jsonnet").write_text(WRAPPER % tags, encoding="utf-8")
    given = (f"input={small}", "output=tiles.npz", f"ticks={ticks}")
    succeeded(["-c", "tiles.jsonnet", *site.flags, *wire_cell.settings(*given)], tmp_path)
    assert digest(tmp_path / "tiles.npz") == digest(tmp_path / "whole.npz")
