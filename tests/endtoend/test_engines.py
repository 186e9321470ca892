# SPDX-License-Identifier: Apache-2.0
"""The result depends on neither the engine, nor the threads, nor the form of the files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support import synthetic, wire_cell
from tests.support.small_site import Site
from tests.support.wire_cell import difference

pytestmark = wire_cell.needs_program

TICKS = 480
EVENT_STARTS = {
    4: 900,
    0: 2000,
    7: 3000,
    2: 4500,
}  # event id: its first tick in the default event; in the file's order
THREADS_LIMIT = 1e-6  # of the RMS: sums in another order
TRANSFORM_LIMIT = 2e-5  # the same, of steps with Fourier transforms in float32
SMALL_IDENT, SMALL_START_NS = 4, 450_000.0
NOISE_COUNTS = 12.0  # as in the default event
MASKS = ("mp2", "mp3", "roi")
WAVEFORMS = ("signal", "error", "decon_charge", "wiener", "loose")


def cut(first: int) -> tuple[np.ndarray, np.ndarray]:
    """TICKS of the default event: int16 (channel, tick) and channel ids."""
    samples, channels, _ = wire_cell.default_adc()
    return np.ascontiguousarray(samples[:, first : first + TICKS]), channels


@pytest.fixture(name="inputs", scope="module")
def fixture_inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with adc.npz, four events."""
    folder = tmp_path_factory.mktemp("inputs")
    arrays: wire_cell.Arrays = {}
    for ident, first in EVENT_STARTS.items():
        arrays.update(wire_cell.event(*cut(first), ident, start_ns=500.0 * first))
    wire_cell.write_arrays(folder / "adc.npz", arrays)
    return folder


@pytest.fixture(name="serial", scope="module")
def fixture_serial(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of the serial engine with its two threads inside operations."""
    folder = tmp_path_factory.mktemp("serial")
    wire_cell.job(folder, input=inputs / "adc.npz", threads=2)
    return folder / "output.npz"


@pytest.fixture(name="small", scope="module")
def fixture_small(site: Site) -> wire_cell.Arrays:
    """An event of the small detector with three tracks. Written to small.npz too."""
    rng = np.random.default_rng(4)
    ends = rng.uniform([20.0, 20.0], [170.0, 180.0], (3, 2, 2))
    starts = np.array([80, 250, 400]) - site.anode.delay_ticks
    tracks = [
        synthetic.straight_track(site.anode.planes(), 0, zy, (start, start + 60), 20_000.0)
        for zy, start in zip(ends, starts, strict=True)
    ]
    samples = site.samples(synthetic.joined(tracks), TICKS, NOISE_COUNTS)
    arrays = wire_cell.event(samples, site.anode.channels, SMALL_IDENT, start_ns=SMALL_START_NS)
    wire_cell.write_arrays(site.folder / "small.npz", arrays)
    return arrays


def small_job(site: Site, folder: Path, *flags: str, **arguments: object) -> wire_cell.Arrays:
    """Run the main job in `folder` with the small detector and the shipped network, on small.npz unless told otherwise."""
    given = {"input": site.folder / "small.npz", "model": "dnnroi.ts", "threads": 2, **arguments}
    return wire_cell.job(folder, *site.flags, *flags, **given)


@pytest.fixture(name="plain", scope="module")
def fixture_plain(
    site: Site, small: wire_cell.Arrays, tmp_path_factory: pytest.TempPathFactory
) -> wire_cell.Arrays:
    """Output of the small event with the job's defaults."""
    output = small_job(site, tmp_path_factory.mktemp("plain"))
    assert output[f"frame_signal_{SMALL_IDENT}"].any()
    return output


@pytest.fixture(name="every_tag", scope="module")
def fixture_every_tag(
    site: Site, small: wire_cell.Arrays, tmp_path_factory: pytest.TempPathFactory
) -> wire_cell.Arrays:
    """All tags of the small event."""
    return small_job(site, tmp_path_factory.mktemp("tags"), tags=",".join(WAVEFORMS + MASKS))


@pytest.fixture(name="induction")
def fixture_induction(site: Site) -> int:
    """Channels of U and V, which come first."""
    return sum(len(view.channels) for view in site.anode.views[:2])


def names_without_ident(arrays: wire_cell.Arrays) -> set[str]:
    """Names of arrays of an event, its id cut off."""
    return {name.rpartition("_")[0] for name in arrays}


class TestEngines:
    """Same bytes."""

    def test_output_is_in_input_order(self, inputs: Path, serial: Path) -> None:
        output = wire_cell.read_arrays(serial)
        frames = [name for name in output if name.startswith("frame_")]
        assert frames == [f"frame_signal_{ident}" for ident in EVENT_STARTS]
        given = wire_cell.read_arrays(inputs / "adc.npz")
        for ident in EVENT_STARTS:
            assert output[f"frame_signal_{ident}"].any()
            np.testing.assert_array_equal(output[f"tickinfo_signal_{ident}"], given[f"tickinfo_*_{ident}"])

    def test_repeated_run(self, inputs: Path, serial: Path, tmp_path: Path) -> None:
        wire_cell.job(tmp_path, input=inputs / "adc.npz", threads=2)
        assert (tmp_path / "output.npz").read_bytes() == serial.read_bytes()

    @pytest.mark.parametrize("graph_threads", [1, 4])
    def test_parallel_engine(self, inputs: Path, serial: Path, tmp_path: Path, graph_threads: int) -> None:
        """Two events in flight are the engine's default. test_memory.py compares as many threads as events in flight."""
        wire_cell.job(
            tmp_path, "-t", str(graph_threads), input=inputs / "adc.npz", engine="TbbFlow", threads=2
        )
        assert (tmp_path / "output.npz").read_bytes() == serial.read_bytes()

    def test_threads_inside_operations(self, inputs: Path, serial: Path, tmp_path: Path) -> None:
        output, expected = (
            wire_cell.job(tmp_path, input=inputs / "adc.npz", threads=1),
            wire_cell.read_arrays(serial),
        )
        for ident in EVENT_STARTS:
            name = f"frame_signal_{ident}"
            np.testing.assert_array_equal(output[name] != 0, expected[name] != 0)
            found = difference(output[name], expected[name])
            assert found < THREADS_LIMIT, f"event {ident}: max|difference|/RMS = {found:.2e}"


class TestTags:
    """Check every tag that the output can hold."""

    def test_all_are_there(self, site: Site, every_tag: wire_cell.Arrays) -> None:
        expected = {
            f"{part}_{tag}" for part in ("frame", "channels", "tickinfo") for tag in WAVEFORMS + MASKS
        }
        assert names_without_ident(every_tag) - {"summary_roi"} == expected | {"summary_wiener", "notes_spng"}
        for tag in WAVEFORMS + MASKS:
            assert every_tag[f"frame_{tag}_4"].shape == (len(site.anode.channels), TICKS)
            np.testing.assert_array_equal(every_tag[f"channels_{tag}_4"], site.anode.channels)
            np.testing.assert_array_equal(every_tag[f"tickinfo_{tag}_4"], [SMALL_START_NS, 500.0, 0.0])

    def test_signal_is_the_default_outputs(
        self, every_tag: wire_cell.Arrays, plain: wire_cell.Arrays
    ) -> None:
        np.testing.assert_array_equal(every_tag["frame_signal_4"], plain["frame_signal_4"])

    @pytest.mark.parametrize("tag", MASKS)
    def test_masks(self, every_tag: wire_cell.Arrays, induction: int, tag: str) -> None:
        mask = every_tag[f"frame_{tag}_4"]
        assert mask.dtype == np.int16 and set(np.unique(mask)) == {0, 1}
        by_pixel = mask.reshape(len(mask), -1, 4)
        np.testing.assert_array_equal(by_pixel, np.repeat(by_pixel[..., :1], 4, axis=-1))
        assert mask[:induction].any() and (mask[induction:].any() == (tag == "roi"))

    def test_masks_and_waveforms_agree(self, every_tag: wire_cell.Arrays, induction: int) -> None:
        outside = every_tag["frame_roi_4"] == 0
        assert (
            not every_tag["frame_signal_4"][outside].any() and not every_tag["frame_wiener_4"][outside].any()
        )
        assert every_tag["frame_decon_charge_4"][outside].any()
        assert not (every_tag["frame_mp2_4"] & every_tag["frame_mp3_4"]).any()
        loose = every_tag["frame_loose_4"]
        assert not loose[induction:].any() and loose[:induction].any()

    def test_wiener_carries_the_noise(self, site: Site, every_tag: wire_cell.Arrays) -> None:
        """Imaging needs it: electrons, for every channel."""
        summary = every_tag["summary_wiener_4"]
        assert summary.shape == site.anode.channels.shape and (summary > 50).all() and (summary < 5000).all()
        assert difference(every_tag["frame_wiener_4"], every_tag["frame_signal_4"]) > 0.1

    @pytest.mark.parametrize("dtype, limit", [("float64", THREADS_LIMIT), ("float32", TRANSFORM_LIMIT)])
    def test_one_node_per_view(
        self, site: Site, every_tag: wire_cell.Arrays, tmp_path: Path, dtype: str, limit: float
    ) -> None:
        """In float32 other batches mean other roundings in the transforms: a last digit of the largest sample is 2e-6 of the
        RMS already, so there only the bound of transforms holds. Masks are equal in both.
        """
        tags = ",".join(WAVEFORMS + MASKS)
        expected = every_tag if dtype == "float32" else small_job(site, tmp_path, dtype=dtype, tags=tags)
        output = small_job(site, tmp_path, output="views.npz", batch="false", dtype=dtype, tags=tags)
        assert output.keys() == expected.keys()
        for tag in MASKS:
            np.testing.assert_array_equal(output[f"frame_{tag}_4"], expected[f"frame_{tag}_4"])
        for name in [f"frame_{tag}_4" for tag in WAVEFORMS] + ["summary_wiener_4"]:
            inside = expected[name] != 0
            found = difference(output[name][inside], expected[name][inside])
            assert found < limit, f"{name}: max|difference|/RMS = {found:.2e}"


class TestForms:
    """Files in other forms hold the same."""

    @pytest.mark.parametrize("ending", [".tar", ".tar.gz", ".tar.bz2"])
    def test_archives(
        self, site: Site, small: wire_cell.Arrays, plain: wire_cell.Arrays, tmp_path: Path, ending: str
    ) -> None:
        """In and out in one go."""
        wire_cell.write_arrays(tmp_path / f"adc{ending}", small)
        output = small_job(site, tmp_path, input=f"adc{ending}", output=f"output{ending}")
        assert list(output) == list(plain)
        for name, array in plain.items():
            np.testing.assert_array_equal(output[name], array)
            assert output[name].dtype == array.dtype

    def test_encodings_of_samples(
        self, site: Site, small: wire_cell.Arrays, plain: wire_cell.Arrays, tmp_path: Path
    ) -> None:
        """Types, orders of axes and bytes, and channels in any order: events of one file."""
        samples, channels = small["frame_*_4"], small["channels_*_4"]
        shuffled = np.random.default_rng(4).permutation(len(channels))
        encoded = [
            np.asfortranarray(samples),
            samples.astype(">i2"),
            samples.astype(np.float32),
            np.asfortranarray(samples.astype(">f4")),
            samples.astype(np.float64),
        ]
        arrays: wire_cell.Arrays = {}
        for ident, array in enumerate(encoded):
            arrays.update(wire_cell.event(array, channels, ident))
        arrays.update(wire_cell.event(samples[shuffled], channels[shuffled], len(encoded)))
        wire_cell.write_arrays(tmp_path / "adc.npz", arrays)
        output = small_job(site, tmp_path, input="adc.npz")
        for ident in range(len(encoded) + 1):
            np.testing.assert_array_equal(
                output[f"frame_signal_{ident}"], plain["frame_signal_4"], err_msg=f"event {ident}"
            )

    def test_two_tags(
        self, site: Site, small: wire_cell.Arrays, plain: wire_cell.Arrays, tmp_path: Path
    ) -> None:
        """The tag is chosen by name; without a name it is an error that says which there are."""
        samples, channels = small["frame_*_4"], small["channels_*_4"]
        arrays = {
            **wire_cell.event(samples, channels, 0, "raw"),
            **wire_cell.event(samples[:, ::-1], channels, 0, "backward"),
        }
        wire_cell.write_arrays(tmp_path / "adc.npz", arrays)
        output = small_job(site, tmp_path, input="adc.npz", intag="raw")
        np.testing.assert_array_equal(output["frame_signal_0"], plain["frame_signal_4"])
        block = wire_cell.rejected(
            "-c",
            wire_cell.PIPELINE,
            *site.flags,
            *wire_cell.settings("device=cpu", "input=adc.npz", "output=other.npz"),
            folder=tmp_path,
            status=1,
        )
        assert (
            "'raw'" in block
            and "'backward'" in block
            and "intag" in block
            and not (tmp_path / "other.npz").exists()
        )
