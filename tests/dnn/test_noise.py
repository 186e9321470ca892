# SPDX-License-Identifier: Apache-2.0
"""The default network on data with more noise than its training: ROIs, charge, warnings and input."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from scripts.dnnroi import export  # noqa: E402
from tests.reference import metrics, network  # noqa: E402
from tests.support import figures, wire_cell  # noqa: E402
from tests.support.noisy_frames import EMPTY_BASELINE, PLANES, counts, noise, noisier, with_hot_channels  # noqa: E402

pytestmark = wire_cell.needs_program

SHORT_TICKS = 3000  # enough for the noise of a view
MODEL = wire_cell.DATA / "dnnroi.ts"
INDUCTION = ("U", "V")
# Events of one job, by index.
DOUBLE, HOT, NOISE_DOUBLE, NOISE_HOT = range(4)


@dataclass(frozen=True)
class Run:
    """Output of one job, with dumped tensors of the induction group and log."""

    output: wire_cell.Arrays
    dumped: wire_cell.Arrays
    log: str
    noise: list[dict[str, Any]]  # network_noise of --timing


def run(folder: Path, frames: list[np.ndarray], **arguments: object) -> Run:
    """Run the default job on frames (channel, tick), with dumps of input and output of the network."""
    arrays: wire_cell.Arrays = {}
    for ident, samples in enumerate(frames):
        arrays |= wire_cell.event(counts(samples), np.arange(len(samples)), ident)
    wire_cell.write_arrays(folder / "adc.tar", arrays)
    given = {
        "input": "adc.tar",
        "output": "output.npz",
        "tags": "signal",
        "dump": "loose,tight,coincidence,roi",
        "device": "cpu",
        **arguments,
    }
    words = wire_cell.settings(**given)
    done = wire_cell.run("-c", wire_cell.PIPELINE, *words, "--timing", "timing.json", folder=folder)
    assert done.returncode == 0, done.stderr
    dumped: wire_cell.Arrays = {}
    for path in folder.glob("output-*-induction.npz"):
        dumped |= wire_cell.read_arrays(path)
    noise = json.loads((folder / "timing.json").read_text())["input"]["network_noise"]
    return Run(wire_cell.read_arrays(folder / "output.npz"), dumped, done.stderr, noise)


def warnings_of(log: str) -> list[tuple[str, float]]:
    """Return view and ratio of each warning about noise."""
    return [
        (view, float(ratio))
        for view, ratio in re.findall(r"\(view (\w+)\): seen \d+ electrons, ([0-9.]+) times", log)
    ]


def short_and_noisy(seed: int) -> np.ndarray:
    """Return the first ticks of the default event with three times its noise: (channel, tick) [ADC counts]."""
    tracks, extra = wire_cell.default_adc()[0], noise(np.random.default_rng(seed))
    return noisier(tracks[:, :SHORT_TICKS].astype(np.float64), 3, extra[:, :SHORT_TICKS])


@pytest.fixture(name="truth", scope="module")
def fixture_truth() -> np.ndarray:
    """True charge of the default event. -> (channel, tick) electrons."""
    return wire_cell.read_arrays(wire_cell.TRUTH)["frame_*_0"].astype(np.float64)


@pytest.fixture(name="noisy", scope="module")
def fixture_noisy(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The default event with twice the noise and with hot channels, and the same for pure noise."""
    rng = np.random.default_rng(11)
    tracks = wire_cell.default_adc()[0].astype(np.float64)
    empty, extra = EMPTY_BASELINE + noise(rng), noise(rng)
    short_empty, short_extra = empty[:, :SHORT_TICKS], extra[:, :SHORT_TICKS]
    frames = {
        DOUBLE: noisier(tracks, 2, extra),
        HOT: with_hot_channels(tracks, extra, rng),
        NOISE_DOUBLE: noisier(short_empty, 2, short_extra),
        NOISE_HOT: with_hot_channels(short_empty, short_extra, rng),
    }
    return run(tmp_path_factory.mktemp("noisy"), [frames[event] for event in sorted(frames)])


def merit(result: Run, event: int, view: str, truth: np.ndarray) -> metrics.Merit:
    """Figures of merit of a view of an event against the truth."""
    return metrics.merit(
        result.output[f"frame_signal_{event}"][PLANES[view]].astype(np.float64), truth[PLANES[view]]
    )


@pytest.mark.parametrize("view", INDUCTION)
class TestNoisierThanTheTraining:
    """Undivided input: charge 1.7 and 2.8 of the truth, purity 0.11 and 0.07, 20 % of a noise frame kept."""

    def test_twice_the_noise(self, noisy: Run, truth: np.ndarray, view: str) -> None:
        found = merit(noisy, DOUBLE, view, truth)
        assert 0.84 < found.charge < 1.02 and found.efficiency > 0.91 and found.purity > 0.85, found

    def test_hot_channels(self, noisy: Run, truth: np.ndarray, view: str) -> None:
        """Without the division of the input: purity 0.22 and 0.21."""
        found = merit(noisy, HOT, view, truth)
        assert 0.95 < found.charge < 1.05 and found.efficiency > 0.98 and found.purity > 0.79, found

    @pytest.mark.parametrize("event", [NOISE_DOUBLE, NOISE_HOT])
    def test_noise_makes_almost_no_rois(self, noisy: Run, view: str, event: int) -> None:
        """At most 1e-5 of the samples, as docs/dnnroi.md promises; about 1e-6 is measured over many events."""
        rows = INDUCTION.index(view)
        assert noisy.dumped[f"loose_{event}"][rows].any()
        assert noisy.dumped[f"roi_{event}"][rows].mean() <= 1e-5


class TestWarnings:
    """One warning per view, with numbers."""

    def test_none_within_the_range(self, noisy: Run) -> None:
        assert warnings_of(noisy.log) == []
        assert all(view["fits"] and view["events"] == 4 for view in noisy.noise)

    def test_beyond_the_range(self, tmp_path: Path) -> None:
        """Two events with three times the noise give one warning per view."""
        result = run(tmp_path, [short_and_noisy(3)] * 2)
        seen = warnings_of(result.log)
        assert [view for view, _ in seen] == ["U", "V"]
        assert all(ratio == pytest.approx(3, rel=0.05) for _, ratio in seen)
        assert [view["view"] for view in result.noise] == ["U", "V"]
        for view in result.noise:
            assert view["lowest"] == view["highest"] == pytest.approx(3, rel=0.05)
            assert (view["min_tried"], view["max_tried"], view["events"]) == (0.5, 2.3, 2)
            assert not view["fits"]
        (u, v), expected = (ratio for _, ratio in seen), "U {:.2f}, V {:.2f} times the noise of the training"
        for event in range(2):
            notes = json.loads(bytes(result.output[f"notes_spng_{event}"]))
            assert notes["network_noise"] == expected.format(u, v) + "; tried: 0.50 to 2.30 times"

    def test_of_single_views_and_in_the_parallel_engine(self, tmp_path: Path) -> None:
        seen = warnings_of(run(tmp_path, [short_and_noisy(4)], batch="false", engine="TbbFlow", dump="").log)
        assert sorted(view for view, _ in seen) == ["U", "V"]


class TestReference:
    """The ROIs equal those of the same network on the input of the NumPy reference."""

    @pytest.mark.parametrize("event", [DOUBLE, HOT])
    def test_regions(self, noisy: Run, event: int) -> None:
        about = export.read_metadata(MODEL.read_bytes())
        training, threshold = about["training_noise"], about["mask_threshold"]
        model = torch.jit.load(MODEL).eval()
        for view in range(len(INDUCTION)):
            masks = [noisy.dumped[f"{name}_{event}"][view] for name in ("mp2", "mp3")]
            features = network.features(
                {name: noisy.dumped[f"{name}_{event}"][view].astype(np.float64) for name in training},
                masks,
                {name: of_planes[view] for name, of_planes in training.items()},
            )
            with torch.no_grad():
                probability = model(torch.from_numpy(features.astype(np.float32))[None])[0, 0].numpy()
            sure = np.abs(probability - threshold) > 1e-3
            found = noisy.dumped[f"roi_{event}"][view]
            assert found.any() and sure.mean() > 0.999
            wrong = (found[sure] != (probability[sure] > threshold)).sum()
            for name, count in (("wrong", wrong), ("doubtful", (~sure).sum()), ("set", found.sum())):
                figures.note(name, count)
            np.testing.assert_array_equal(found[sure], probability[sure] > threshold)
