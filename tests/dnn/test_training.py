# SPDX-License-Identifier: Apache-2.0
"""Training of the network on toy events: targets, crops, checkpoints, figures, and the exported file."""

from __future__ import annotations

import dataclasses
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from scripts.dnnroi import calibration, command, evaluation, export, figures, noise  # noqa: E402
from scripts.dnnroi.dataset import CropRule, EventSet, event_file, write_event  # noqa: E402
from scripts.dnnroi.events import HIGH_MM, LOW_MM, PITCH_DIRECTIONS, Mixture, depositions  # noqa: E402
from scripts.dnnroi.network import ELECTRONS, INPUTS, DNNROINet, Shape, operations_per_sample, parameters  # noqa: E402
from scripts.dnnroi.settings import SETTINGS  # noqa: E402
from scripts.dnnroi.simulation import Event  # noqa: E402
from scripts.dnnroi.target import TargetRule, largest_of_ticks, regions, target_and_weight  # noqa: E402
from scripts.dnnroi.training import OtherTraining, Training, TrainingRule, learning_rate, train  # noqa: E402
from tests.reference import detector, roi  # noqa: E402
from tests.reference import network as network_input  # noqa: E402
from tests.support import wire_cell  # noqa: E402

FIGURE_SEEDS = 900_000  # physics figures use these and above
CHANNELS, SAMPLES = 64, 160
RULE = TrainingRule(
    shape=Shape(features=(8, 12, 16), down=(1, 1, 1), up=(1, 1)),
    crops=CropRule(count=4, channels=32, samples=96),
    steps=40,
    warm=5,
    checkpoint=10,
)


@pytest.fixture(autouse=True, scope="module")
def fixture_one_thread() -> None:
    """Use one thread: these networks are small, and sums depend on the number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def toy_event(seed: int) -> Event:
    """Pulses of 2000 electrons per tick, 10 samples long, on one view after the other.

    The loose image has noise of 500 electrons, the tight one of 400; channel 5 is dead.
    """
    rng = np.random.default_rng(seed)
    truth = np.zeros((2, CHANNELS, SAMPLES), dtype=np.float32)
    for view in truth:
        for _ in range(8):
            row, first = rng.integers(CHANNELS - 8), rng.integers(SAMPLES - 20)
            for step in range(8):
                view[row + step, first + step : first + step + 10] = 2000.0
    dead = np.zeros((2, CHANNELS), dtype=bool)
    dead[:, 5] = True
    truth[dead] = 0
    charge = np.stack([truth + rng.normal(0, noise, truth.shape) for noise in (500, 400)], axis=1)
    charge[:, :, 5] = 0
    masks = np.stack([truth > 0, rng.random(truth.shape) < 0.05], axis=1)
    return Event(charge.astype(np.float32), masks, truth, dead)


@pytest.fixture(name="events", scope="module")
def fixture_events(tmp_path_factory: pytest.TempPathFactory) -> EventSet:
    """Three toy events, read back from their files."""
    folder = tmp_path_factory.mktemp("events")
    for seed in range(3):
        write_event(event_file(folder, seed), toy_event(seed))
    return EventSet(folder, range(3))


def trained(events: EventSet, folder: Path, steps: int | None = None) -> Training:
    """Train RULE to its end, or stop after `steps`."""
    training = Training(RULE, torch.device("cpu"))
    if steps is None:
        train(training, events, folder / "checkpoint.pt", lambda *_: None)
    else:
        for _ in range(steps):
            training.advance(events)
    return training


@pytest.fixture(name="whole", scope="module")
def fixture_whole(events: EventSet, tmp_path_factory: pytest.TempPathFactory) -> Training:
    """A training to its end."""
    return trained(events, tmp_path_factory.mktemp("whole"))


class TestTarget:
    """Target ROIs from the true charge."""

    def test_ends_of_short_and_long_pulses(self) -> None:
        """A short pulse extends down to 200 electrons, a long one to 300; computed by hand on trapezoids."""
        charge = np.zeros((2, 60))
        charge[0, 10:16] = [150, 210, 1000, 1000, 210, 150]
        charge[1, 10:40] = [100, 210, 310, *[1000.0] * 24, 310, 210, 100]
        found = regions(charge)
        np.testing.assert_array_equal(np.flatnonzero(found[0]), np.arange(11, 15))
        np.testing.assert_array_equal(np.flatnonzero(found[1]), np.arange(12, 38))

    def test_runs_without_a_seed_are_left_out(self) -> None:
        """No ROI begins below 400 electrons."""
        charge = np.zeros((1, 40))
        charge[0, 5:9] = 390
        assert not regions(charge).any()
        charge[0, 6] = 410
        assert regions(charge)[0, 5:9].all() and regions(charge).sum() == 4

    def test_weights_rise_with_the_charge_over_the_largest_of_the_roi(self) -> None:
        """A weak ROI and a strong one weigh the same at their largest samples; 3000 electrons count as the largest."""
        charge = np.zeros((2, 30), dtype=np.float32)
        charge[0, 4:8] = [250, 500, 500, 100]
        charge[1, 10:13] = [1500, 30000, 3000]
        charge[1, 27:] = 800  # ends at the end of the row
        target, weight = target_and_weight(charge)
        np.testing.assert_array_equal(np.flatnonzero(target[0]), [4, 5, 6])
        np.testing.assert_allclose(weight[0, 3:8], [1, 2.5, 4, 4, 1])
        np.testing.assert_allclose(weight[1, 10:13], [2.5, 4, 4])
        np.testing.assert_allclose(weight[1, 26:], [1, 4, 4, 4])

    def test_same_as_hysteresis_when_ends_are_equal(self) -> None:
        """With one end threshold for all lengths the rule equals the growth from seeds of the reference."""
        rng = np.random.default_rng(3)
        charge = np.cumsum(rng.normal(0, 60, (50, 300)), axis=1).clip(0)
        rule = TargetRule(seed=600, short_end=150, long_end=150)
        np.testing.assert_array_equal(regions(charge, rule), roi.grow_in_time(charge > 600, charge > 150))

    def test_largest_of_ticks(self) -> None:
        """An incomplete sample at the end is dropped."""
        np.testing.assert_array_equal(largest_of_ticks(np.array([[1, 5, 2, 0, 7, 3, 9]]), 3), [[5, 7]])


class TestEvents:
    """Generated training events."""

    def test_seeds_of_training_and_figures_are_apart(self) -> None:
        """Training uses no event of the figures."""
        for setting in SETTINGS.values():
            seeds = (setting.training_seeds(), setting.held_out_seeds(), setting.calibration_seeds())
            together = {seed for each in seeds for seed in each}
            assert len(together) == sum(map(len, seeds)) and max(together) < FIGURE_SEEDS

    def test_depositions(self) -> None:
        """Events have the columns of WCT, lie in the volume and depend on the seed only; some are empty."""
        data = depositions(100_001)
        assert data.shape[0] == 7 and data.shape[1] > 1000 and np.isfinite(data).all()
        assert (data[1] < 0).all() and not data[[5, 6]].any()
        assert ((data[2:5].T >= LOW_MM - 1e-6) & (data[2:5].T <= HIGH_MM + 1e-6)).all()
        np.testing.assert_array_equal(data, depositions(100_001))
        assert depositions(1, Mixture(empty=1.0)).shape == (7, 0)

    def test_time_of_arrival(self) -> None:
        """All tracks start at 0, or each at its own time within 1.5 ms."""
        together, spread = (depositions(100_001, Mixture(out_of_time=share))[0] for share in (0.0, 1.0))
        assert not together.any() and len(np.unique(spread)) > 10 and np.abs(spread).max() <= 1.5e6

    def test_pitch_directions(self) -> None:
        """The directions are those of the wires, up to the sign."""
        planes = detector.load_planes(wire_cell.description("protodunehd-wires-larsoft-v1"), 0)
        for view, (y, z) in enumerate(PITCH_DIRECTIONS):
            assert abs(planes[0, view].pitch_direction @ [z, y]) == pytest.approx(1, abs=1e-6)


class TestCrops:
    """Input of a training step."""

    def test_files_keep_the_event(self, events: EventSet) -> None:
        """Equal to the precision of float16."""
        event = toy_event(2)
        np.testing.assert_allclose(events.charge[4:6], event.charge, rtol=1e-3, atol=0.5)
        np.testing.assert_array_equal(events.dead[4:6], event.dead)
        np.testing.assert_array_equal(events.masks[4:6], event.masks)
        np.testing.assert_array_equal(events.target[4:6], event.truth > 0)

    def test_crops_belong_together(self, events: EventSet) -> None:
        """The target comes from the truth, and the charge is near the truth in units of the network."""
        features, target, weight = events.crops(1, 7, CropRule(count=8, channels=32, samples=96, dead=1.0))
        assert features.shape == (8, 4, 32, 96) and target.shape == weight.shape == (8, 1, 32, 96)
        for image, rms in enumerate((500, 400)):
            difference = (features[:, image : image + 1] * ELECTRONS - 2000 * target)[weight > 0]
            assert abs(difference.mean()) < 20 and difference.std() == pytest.approx(rms, rel=0.05)
        dead = (weight == 0).all(dim=3)
        assert 8 <= dead.sum() <= 24 and (features[:, :2].sum(dim=1)[dead[:, 0]] == 0).all()

    def test_images_are_divided_by_their_noise(self, tmp_path: Path) -> None:
        """An event with twice the noise in its tight image gives half the tight image, and the same loose one."""
        event = toy_event(0)
        write_event(event_file(tmp_path, 0), event)
        event.charge[:, 1] *= 2
        write_event(event_file(tmp_path, 1), event)
        nominal = EventSet(tmp_path, [0])
        np.testing.assert_allclose(nominal.training_noise, [[500, 400]] * 2, rtol=0.15)
        noisy = EventSet(tmp_path, [1], nominal.training_noise)
        np.testing.assert_allclose(noisy.features(0), nominal.features(0), rtol=2e-3, atol=1e-4)

    def test_crops_depend_on_seed_and_step_only(self, events: EventSet) -> None:
        """So a training can resume as if it had not been stopped."""
        for one, same, other in zip(*(events.crops(*crop, RULE.crops) for crop in ((1, 5), (1, 5), (1, 6)))):
            assert torch.equal(one, same) and (not torch.equal(one, other) or one.min() == 1)


class TestNetwork:
    """Size and shape of the network."""

    def test_limits(self) -> None:
        """Fewer than 1 M parameters and 25 kFLOP per sample; the count of the stem equals one by hand."""
        network = DNNROINet()
        assert parameters(network) < 1_000_000
        assert 1000 < operations_per_sample(network) < 25_000
        without = DNNROINet(Shape(down=(0, 2, 4)))
        # Two blocks of 32 features on patches of 8 samples: 3 x 5 depthwise and 32 x 32.
        assert (
            operations_per_sample(network) - operations_per_sample(without) == 2 * 2 * (32 * 15 + 32 * 32) / 8
        )

    @pytest.mark.parametrize("size", [(800, 1500), (17, 33), (8, 32), (1, 1)])
    def test_any_size(self, size: tuple[int, int]) -> None:
        """Output and input have the same size."""
        with torch.no_grad():
            assert DNNROINet(RULE.shape).eval()(torch.zeros(2, 4, *size)).shape == (2, 1, *size)

    def test_halo_covers_what_an_output_sees(self) -> None:
        """A change beyond the halo has no effect, one within the halo does."""
        network = DNNROINet(RULE.shape).eval()
        halo = network.halo()
        features = torch.rand(1, 4, 16, 3 * halo // 32 * 32)
        with torch.no_grad():
            before = network(features)
            features[..., :32] += 1
            changed = (network(features) != before).any(dim=2).flatten()
        assert changed[:32].any() and not changed[32 + halo :].any()


class TestTraining:
    """A tiny training."""

    def test_loss_falls(self, whole: Training) -> None:
        """The loss falls to less than half of its value without training."""
        assert len(whole.losses) == RULE.steps
        assert np.mean(whole.losses[-5:]) < 0.5 * whole.losses[0]

    def test_goes_on_as_if_never_stopped(self, whole: Training, events: EventSet, tmp_path: Path) -> None:
        """Weights and losses are equal bit for bit."""
        half = trained(events, tmp_path, steps=17)
        half.save(tmp_path / "half.pt")
        resumed = Training(RULE, torch.device("cpu"))
        resumed.load(tmp_path / "half.pt")
        assert resumed.step == 17
        train(resumed, events, tmp_path / "checkpoint.pt", lambda *_: None)
        assert resumed.losses == whole.losses
        for name, value in whole.network.state_dict().items():
            assert torch.equal(value, resumed.network.state_dict()[name]), name

    def test_another_training_is_rejected(self, tmp_path: Path) -> None:
        """The error for a checkpoint with other rules names the difference."""
        Training(RULE, torch.device("cpu")).save(tmp_path / "checkpoint.pt")
        other = Training(dataclasses.replace(RULE, seed=2), torch.device("cpu"))
        with pytest.raises(OtherTraining, match="another seed"):
            other.load(tmp_path / "checkpoint.pt")

    def test_learning_rate(self) -> None:
        """The rate rises, then falls to nearly 0."""
        rates = [learning_rate(RULE, step) for step in range(RULE.steps)]
        assert (
            np.argmax(rates) in (RULE.warm - 1, RULE.warm)
            and max(rates) == RULE.rate
            and rates[-1] < 0.01 * RULE.rate
        )

    def test_figures(self, whole: Training, events: EventSet, tmp_path: Path) -> None:
        """Compare the counts with direct ones; write ROC and pictures."""
        model = export.Probability(whole.network)
        counts = evaluation.count(model, events)
        probability = np.stack([evaluation.probabilities(model, events, view) for view in (0, 2, 4)])
        found, true = probability >= 0.5, events.truth[::2] > 500
        merit = evaluation.merits(counts)["U"]
        assert merit.efficiency == pytest.approx((found & true).sum() / true.sum())
        assert merit.purity == pytest.approx((found & true).sum() / found.sum())
        assert merit.false_rate == pytest.approx((found & ~true).sum() / (~true).sum())
        assert all(0.9 < area <= 1 for area in evaluation.area_under_roc(counts).values())
        bins = [
            (probability >= low) & ((probability < low + 0.05) | (low == 0.95)) for low in np.arange(20) / 20
        ]
        errors = [abs(events.target[::2][each].sum() - probability[each].sum()) for each in bins]
        seen = evaluation.calibration_errors(counts)["U"]
        assert seen["all"] == pytest.approx(sum(errors) / probability.size, rel=1e-5)
        uncertain = sum(each.sum() for each in bins[1:-1])
        assert seen["uncertain"] == pytest.approx(sum(errors[1:-1]) / uncertain, rel=1e-5)
        figures.draw(tmp_path / "figures.png", counts, 0.5, [1.0, 0.5, 0.25])
        figures.draw_reliability(tmp_path / "reliability.png", counts)
        for name in ("figures.png", "reliability.png"):
            assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


class TestCalibration:
    """The output of a network becomes the probability of its target."""

    def test_fit_finds_a_known_line(self) -> None:
        """Samples drawn with the probability of another logit."""
        rng = np.random.default_rng(6)
        logits = rng.normal(-1, 3, 200_000)
        in_target = rng.random(logits.size) < 1 / (1 + np.exp(0.8 - 1.3 * logits))
        line = calibration.fit_line(logits, np.ones_like(logits), in_target.astype(np.float64))
        assert (line.slope, line.offset) == (pytest.approx(1.3, abs=0.03), pytest.approx(-0.8, abs=0.03))

    @wire_cell.needs_program
    def test_command_calibrates_a_file_and_keeps_its_rois(self, events: EventSet, tmp_path: Path) -> None:
        """Outputs that are too high become shares of target samples; no ROI changes."""
        small = SETTINGS["small"]
        for seed in (*small.held_out_seeds(), *small.calibration_seeds()):
            write_event(event_file(tmp_path, seed), toy_event(seed))
        network = trained(events, tmp_path).network.eval()
        calibration.apply_line(calibration.Line(1.0, 1.5), *network.head.parameters())
        about = noise.metadata(events.training_noise) | {"inputs": list(INPUTS)}
        export.write_torch_script(tmp_path / "toy.ts", network, about)
        words = ["--setting", "small", "--data", str(tmp_path), "--work", str(tmp_path)]
        errors = []
        for given, output in (("toy.ts", "new.ts"), ("new.ts", None)):
            task = ["--evaluate"] if output is None else ["--output", str(tmp_path / output), "--calibrate"]
            assert command.main([*words, *task, str(tmp_path / given)], "") == 0
            errors.append(json.loads((tmp_path / "figures.json").read_text())["calibration_error"])
        assert errors[0] == errors[1]
        assert (tmp_path / "reliability.png").read_bytes().startswith(b"\x89PNG")

        about = export.read_metadata((tmp_path / "new.ts").read_bytes())
        assert about["figures"]["calibration_error"] == errors[0]
        before, after = (torch.jit.load(tmp_path / name) for name in ("toy.ts", "new.ts"))
        for view in range(2):
            old, new = (evaluation.probabilities(model, events, view) for model in (before, after))
            np.testing.assert_array_equal(new > about["mask_threshold"], old > 0.5)
        for view, error in evaluation.calibration_errors(evaluation.count(before, events)).items():
            assert errors[0][view]["uncertain"] < 0.6 * error["uncertain"], view

    @pytest.mark.parametrize("about", [{}, {"inputs": ["loose", "mp2", "mp3"]}])
    def test_command_rejects_other_files(
        self, about: dict, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The message names the file and what it has."""
        path = tmp_path / "other.ts"
        export.write_torch_script(path, DNNROINet(RULE.shape), about)
        with pytest.raises(SystemExit):
            command.main(["--work", str(tmp_path), "--evaluate", str(path)], "")
        assert f"{path} has the inputs {about.get('inputs')}" in capsys.readouterr().err
        path.write_bytes(b"no model")
        with pytest.raises(SystemExit):
            command.main(["--work", str(tmp_path), "--evaluate", str(path)], "")
        assert f"{path} is no TorchScript file" in capsys.readouterr().err


class TestExport:
    """The file for SPNGTorchService."""

    @pytest.fixture(name="file")
    def fixture_file(self, events: EventSet, tmp_path: Path) -> tuple[Path, DNNROINet]:
        """An exported file and its network."""
        network = trained(events, tmp_path, steps=10).network.eval()
        about = export.metadata(
            network, {"commit": "abc"}, {}, noise.metadata(events.training_noise) | {"detector": "pdhd"}
        )
        export.write_torch_script(tmp_path / "toy.ts", network, about)
        return tmp_path / "toy.ts", network

    @pytest.mark.parametrize("size", [(64, 160), (17, 33), (30, 250)])
    def test_same_as_eager(self, file: tuple[Path, DNNROINet], size: tuple[int, int]) -> None:
        """Equal at any size, up to the rounding of folded normalisations."""
        features = torch.rand(2, 4, *size, generator=torch.Generator().manual_seed(1))
        with torch.no_grad():
            np.testing.assert_allclose(
                torch.jit.load(file[0])(features), torch.sigmoid(file[1](features)), atol=1e-5
            )

    def test_metadata(self, file: tuple[Path, DNNROINet]) -> None:
        """The metadata hold the keys of SPNGTorchService and provenance, but no path of the machine."""
        extra = {"metadata.json": ""}
        torch.jit.load(file[0], _extra_files=extra)
        about = json.loads(extra["metadata.json"])
        assert (
            about["inputs"] == ["loose", "tight", "mp2", "mp3"]
            and about["scale"] == 1 / 4000
            and about["rebin"] == 4
        )
        assert about["multiple"] == 32 and about["halo"] == file[1].halo() and about["transpose"] is False
        assert about["training"]["commit"] == "abc" and about["parameters"] == parameters(file[1])
        assert about["detector"] == "pdhd"
        assert about["training_noise"]["loose"] == pytest.approx([500, 500], rel=0.15), (
            "that of the toy events"
        )
        assert about["training_noise"]["tight"] == pytest.approx([400, 400], rel=0.15)
        assert about["noise_range"][0] <= 1 <= about["noise_range"][1]
        with zipfile.ZipFile(file[0]) as archive:
            assert not [name for name in archive.namelist() if b"site-packages" in archive.read(name)]

    def test_other_metadata_in_the_same_file(self, file: tuple[Path, DNNROINet]) -> None:
        """Code and weights keep their bytes, the output is equal, and writing twice gives the same file."""
        before = file[0].read_bytes()
        after = export.with_metadata(before, {"training_noise": [1.0]})
        assert export.read_metadata(after) == {"training_noise": [1.0]}
        assert export.with_metadata(after, export.read_metadata(before)) == export.with_metadata(
            before, export.read_metadata(before)
        )
        kept = [
            {
                name: archive.read(name)
                for name in archive.namelist()
                if "metadata" not in name and "serialization_id" not in name
            }
            for archive in (zipfile.ZipFile(io.BytesIO(content)) for content in (before, after))
        ]
        assert kept[0] == kept[1] and len(kept[0]) > 10
        features = torch.rand(1, 4, 32, 64)
        assert torch.equal(*(torch.jit.load(io.BytesIO(content))(features) for content in (before, after)))

    @wire_cell.needs_program
    def test_wire_cell_uses_it(self, file: tuple[Path, DNNROINet], tmp_path: Path) -> None:
        """The ROIs of the program equal those of the network on the dumped inputs."""
        samples, numbers, _ = wire_cell.default_adc()
        given = wire_cell.write_arrays(tmp_path / "adc.npz", wire_cell.event(samples[:, :1500], numbers))
        arrays = wire_cell.job(
            tmp_path, input=given, model=file[0], tags="roi", dump="coincidence,loose,tight"
        )
        read = {
            name: wire_cell.read_arrays(tmp_path / f"output-{name}-induction.npz")
            for name in ("coincidence", "loose", "tight")
        }
        training = export.read_metadata(file[0].read_bytes())["training_noise"]
        features = torch.from_numpy(
            np.stack(
                [
                    network_input.features(
                        {name: read[name][f"{name}_0"][view] for name in ("loose", "tight")},
                        [read["coincidence"][f"{name}_0"][view] for name in ("mp2", "mp3")],
                        {name: of_planes[view] for name, of_planes in training.items()},
                    )
                    for view in range(2)
                ]
            ).astype(np.float32)
        )
        with torch.no_grad():
            probability = torch.sigmoid(file[1](features)).numpy()[:, 0]
        channels = {int(channel): row for row, channel in enumerate(arrays["channels_roi_0"])}
        for view, order in enumerate(detector.pdhd_channel_order(0)[:2]):
            found = arrays["frame_roi_0"][[channels[int(channel)] for channel in order], ::4] > 0
            sure = np.abs(probability[view] - 0.5) > 1e-4
            np.testing.assert_array_equal(found[sure], probability[view][sure] > 0.5)
