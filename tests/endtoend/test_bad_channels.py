# SPDX-License-Identifier: Apache-2.0
"""Channels that cannot be trusted, and frames that cannot be used. One run holds all events that must succeed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support import wire_cell
from tests.support.small_site import Site

pytestmark = wire_cell.needs_program

FIRST_TICK, TICKS = 900, 600  # where tracks cross the frame
U_CHANNEL, W_CHANNEL = 150, 2370  # those that become bad; tracks are on both
BRIDGED = (1060, 200, 212)  # channel, first tick, end of a gap
SATURATED = (2300, 300, 303)
FULL_SCALE = 2**14 - 1

CLEAN, NOT_FINITE, MISSING, DEAD, GAP, GAP_FILLED, AT_RAIL, AT_RAIL_REAL = range(8)


def cut() -> tuple[np.ndarray, np.ndarray]:
    """600 ticks of the default event: int16 (channel, tick) and channel ids."""
    samples, channels, _ = wire_cell.default_adc()
    return np.ascontiguousarray(samples[:, FIRST_TICK : FIRST_TICK + TICKS]), channels


def mask_rows(*rows: tuple[int, int, int]) -> np.ndarray:
    """Contents of a channel mask: (row, 3) channel, first tick, end."""
    return np.array(rows, dtype=np.int32)


def all_events() -> wire_cell.Arrays:
    """The events by their numbers above."""
    samples, channels = cut()
    kept = ~np.isin(channels, (U_CHANNEL, W_CHANNEL))
    not_finite = samples.astype(np.float32)
    not_finite[U_CHANNEL, 17] = np.nan
    not_finite[W_CHANNEL, 400] = -np.inf

    channel, begin, end = BRIDGED
    gap, filled = samples.copy(), samples.copy()
    gap[channel, begin:end] = 12345
    between = np.linspace(samples[channel, begin - 1], samples[channel, end], end - begin + 2)[1:-1]
    filled[channel, begin:end] = np.rint(between)

    channel, begin, end = SATURATED
    at_rail = samples.copy()
    at_rail[channel, begin:end] = FULL_SCALE

    # Two ranges that only together cover the readout, one of them beyond its end.
    bad = {
        DEAD: mask_rows((U_CHANNEL, 0, TICKS), (W_CHANNEL, 0, 250), (W_CHANNEL, 250, 9999)),
        GAP: mask_rows(BRIDGED),
    }
    arrays: wire_cell.Arrays = {}
    for ident, (rows, numbers) in {
        CLEAN: (samples, channels),
        NOT_FINITE: (not_finite, channels),
        MISSING: (samples[kept], channels[kept]),
        DEAD: (samples, channels),
        GAP: (gap, channels),
        GAP_FILLED: (filled, channels),
        AT_RAIL: (at_rail, channels),
        AT_RAIL_REAL: (at_rail.astype(np.float32), channels),
    }.items():
        arrays.update(wire_cell.event(rows, numbers, ident))
        if ident in bad:
            arrays[f"chanmask_bad_{ident}"] = bad[ident]
    return arrays


@pytest.fixture(name="output", scope="module")
def fixture_output(tmp_path_factory: pytest.TempPathFactory) -> wire_cell.Arrays:
    """Return the output of the chain for all events."""
    folder = tmp_path_factory.mktemp("bad-channels")
    wire_cell.write_arrays(folder / "adc.npz", all_events())
    return wire_cell.job(folder, input="adc.npz")


def signal(output: wire_cell.Arrays, ident: int) -> np.ndarray:
    """The charge of an event, all channels of the anode in order."""
    np.testing.assert_array_equal(output[f"channels_signal_{ident}"], np.arange(2560))
    return output[f"frame_signal_{ident}"]


def masks(output: wire_cell.Arrays, ident: int) -> dict[str, list[list[int]]]:
    """Channel masks of an event, by name, sorted."""
    ending = f"_{ident}"
    return {
        name.removeprefix("chanmask_").removesuffix(ending): sorted(array.tolist())
        for name, array in output.items()
        if name.startswith("chanmask_") and name.endswith(ending)
    }


def test_clean_event(output: wire_cell.Arrays) -> None:
    """The channels that become bad below carry charge here, and nothing is listed."""
    charge = signal(output, CLEAN)
    assert np.isfinite(charge).all() and charge[U_CHANNEL].any() and charge[W_CHANNEL].any()
    assert masks(output, CLEAN) == {}


@pytest.mark.parametrize("ident, listed", [(NOT_FINITE, "nan"), (MISSING, "missing"), (DEAD, "bad")])
def test_bad_channel_is_zero_and_listed(output: wire_cell.Arrays, ident: int, listed: str) -> None:
    charge = signal(output, ident)
    assert np.isfinite(charge).all()
    assert not charge[[U_CHANNEL, W_CHANNEL]].any()
    found = masks(output, ident)
    assert list(found) == [listed]
    assert {row[0] for row in found[listed]} == {U_CHANNEL, W_CHANNEL}
    if listed != "bad":  # that one is the input's own
        assert found[listed] == [[U_CHANNEL, 0, TICKS], [W_CHANNEL, 0, TICKS]]


def test_bad_channels_do_not_leak(output: wire_cell.Arrays) -> None:
    """Not a number, missing or masked: the others see the same, the mean of both neighbours. And they do have charge."""
    expected = signal(output, MISSING)
    assert expected[U_CHANNEL - 5 : U_CHANNEL + 6].any() and expected[W_CHANNEL - 5 : W_CHANNEL + 6].any()
    np.testing.assert_array_equal(signal(output, NOT_FINITE), expected)
    np.testing.assert_array_equal(signal(output, DEAD), expected)


def test_a_single_bad_channel_counts_as_the_mean_of_its_neighbours(tmp_path: Path) -> None:
    """In the wrap of U too. At the edge of W, and beside another one, it counts as zero."""
    samples, channels = cut()
    single = {
        0: (799, 1),
        U_CHANNEL: (U_CHANNEL - 1, U_CHANNEL + 1),
        W_CHANNEL: (W_CHANNEL - 1, W_CHANNEL + 1),
    }
    zero = [1600, 1000, 1001]
    quiet = samples - np.median(samples, axis=1, keepdims=True).astype(np.float32)
    quiet[:, :200] = quiet[:, 400:] = 0  # so that 0 is the median of each channel and of each mean
    filled = quiet.copy()
    for channel, neighbours in single.items():
        filled[channel] = filled[list(neighbours)].mean(axis=0)
    filled[zero] = 0
    bad = np.isin(channels, [*single, *zero])
    arrays = wire_cell.event(quiet[~bad], channels[~bad], 0) | wire_cell.event(filled, channels, 1)
    wire_cell.write_arrays(tmp_path / "adc.npz", arrays)
    words = {"tags": "decon_charge", "model": "none", "check_input": "false"}
    output = wire_cell.job(tmp_path, input="adc.npz", **words)
    seen, expected = (output[f"frame_decon_charge_{ident}"][~bad] for ident in (0, 1))
    scale = np.abs(expected).max(axis=1, keepdims=True)
    assert (np.abs(seen - expected) < 1e-4 * scale + 1e-2).all()  # float32
    zeros = np.where(bad[:, None], 0, filled).astype(np.float32)
    wire_cell.write_arrays(tmp_path / "zeros.npz", wire_cell.event(zeros, channels, 0))
    output = wire_cell.job(tmp_path, input="zeros.npz", **words)
    difference = np.abs(output["frame_decon_charge_0"][~bad] - expected)
    changed = np.flatnonzero((difference > 1e-2 * scale + 1).any(axis=1))
    changed = channels[~bad][changed]
    assert np.isin([799, 1, 149, 151, 2369, 2371], changed).all()
    assert not np.isin([999, 1002, 1601], changed).any()


def test_masks_count_from_the_first_tick_of_the_tag(output: wire_cell.Arrays, tmp_path: Path) -> None:
    """Also if another tag of the file begins at another tick."""
    every = all_events()
    arrays = {
        f"{part}_{tag}_{GAP}": every[f"{part}_*_{GAP}"]
        for tag in ("early", "late")
        for part in ("frame", "channels", "tickinfo")
    }
    late = arrays[f"tickinfo_late_{GAP}"] + [0, 0, 1000]
    channel, begin, end = BRIDGED
    gap = mask_rows((channel, begin + 1000, end + 1000))
    arrays |= {f"tickinfo_late_{GAP}": late, f"chanmask_bad_{GAP}": gap}
    wire_cell.write_arrays(tmp_path / "tags.npz", arrays)
    found = wire_cell.job(tmp_path, input="tags.npz", intag="late")
    np.testing.assert_array_equal(signal(found, GAP), signal(output, GAP))
    assert masks(found, GAP) == {"bad": gap.tolist()}


def test_planes_without_bad_channels_keep_their_waveforms(output: wire_cell.Arrays) -> None:
    """V had no bad channel: its charge changes only where coincidence with U and W changed its regions."""
    clean, other = signal(output, CLEAN)[800:1600], signal(output, NOT_FINITE)[800:1600]
    changed = (clean != other).any(axis=1).sum()
    assert changed < 40, f"{changed} channels of V changed"


def test_gap_is_bridged(output: wire_cell.Arrays) -> None:
    np.testing.assert_array_equal(signal(output, GAP), signal(output, GAP_FILLED))
    assert masks(output, GAP) == {"bad": [list(BRIDGED)]}
    assert signal(output, GAP)[BRIDGED[0]].any() == signal(output, CLEAN)[BRIDGED[0]].any()


def test_saturated_samples_are_kept_and_listed(output: wire_cell.Arrays) -> None:
    """Real-valued samples have no rail; the same numbers then give the same charge."""
    assert masks(output, AT_RAIL) == {"saturated": [list(SATURATED)]}
    assert masks(output, AT_RAIL_REAL) == {}
    np.testing.assert_array_equal(signal(output, AT_RAIL), signal(output, AT_RAIL_REAL))
    channel, begin, end = SATURATED
    assert signal(output, AT_RAIL)[channel, begin:end].max() > signal(output, CLEAN)[channel, begin:end].max()


@pytest.fixture(name="quiet")
def fixture_quiet(site: Site) -> tuple[np.ndarray, np.ndarray]:
    """A frame of the small detector that holds nothing: samples, channels."""
    channels = site.anode.channels
    return np.tile(np.array([2000, 2001], dtype=np.int16), (len(channels), 50)), channels


class TestUnusable:
    """Frames that end the job: one block, status 1, no output."""

    @staticmethod
    def fails(site: Site, folder: Path, arrays: wire_cell.Arrays, *flags: str) -> str:
        wire_cell.write_arrays(folder / "adc.npz", arrays)
        block = wire_cell.rejected(
            "-c",
            wire_cell.PIPELINE,
            *site.flags,
            *flags,
            *wire_cell.settings("device=cpu", "input=adc.npz", "output=output.npz"),
            folder=folder,
            status=1,
        )
        assert sorted(path.name for path in folder.iterdir()) == ["adc.npz"]
        return block

    def test_channels_of_another_anode(
        self, site: Site, quiet: tuple[np.ndarray, np.ndarray], tmp_path: Path
    ) -> None:
        samples, channels = quiet
        block = self.fails(site, tmp_path, wire_cell.event(samples, channels + len(channels)))
        assert (
            "do not belong to the anode" in block
            and f"{len(channels)} of {len(channels)}" in block
            and "tpcid" in block
        )

    def test_duplicate_channel(
        self, site: Site, quiet: tuple[np.ndarray, np.ndarray], tmp_path: Path
    ) -> None:
        samples, channels = quiet
        channels = channels.copy()
        channels[7] = channels[130]
        block = self.fails(site, tmp_path, wire_cell.event(samples, channels))
        assert "130" in block

    def test_zero_ticks(self, site: Site, quiet: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
        samples, channels = quiet
        block = self.fails(site, tmp_path, wire_cell.event(samples[:, :0], channels))
        assert "tick" in block

    def test_fewer_channel_numbers_than_rows(
        self, site: Site, quiet: tuple[np.ndarray, np.ndarray], tmp_path: Path
    ) -> None:
        samples, channels = quiet
        block = self.fails(site, tmp_path, wire_cell.event(samples, channels[:-1]))
        assert str(len(channels) - 1) in block and str(len(channels)) in block

    def test_wrong_type(self, site: Site, quiet: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
        samples, channels = quiet
        block = self.fails(site, tmp_path, wire_cell.event(samples.astype(np.complex64), channels))
        assert "c8" in block or "complex" in block

    def test_another_sampling_period(
        self, site: Site, quiet: tuple[np.ndarray, np.ndarray], tmp_path: Path
    ) -> None:
        samples, channels = quiet
        block = self.fails(site, tmp_path, wire_cell.event(samples, channels, tick_ns=512.0))
        assert "512" in block and "500" in block

    def test_missing_file_is_wrong_use(self, tmp_path: Path) -> None:
        block = wire_cell.rejected(
            "-c", wire_cell.PIPELINE, "-A", "input=absent.npz", folder=tmp_path, status=2
        )
        assert "absent.npz" in block and not list(tmp_path.iterdir())

    def test_skipped_event_leaves_the_others(
        self, site: Site, quiet: tuple[np.ndarray, np.ndarray], tmp_path: Path
    ) -> None:
        """--on-error skip: the bad one is reported and left out, as was asked for, so the job did not fail."""
        samples, channels = quiet
        arrays: wire_cell.Arrays = {}
        for ident, rows in enumerate((samples, samples[:, :0], samples)):
            arrays.update(wire_cell.event(rows, channels, ident))
        wire_cell.write_arrays(tmp_path / "adc.npz", arrays)
        done = wire_cell.run(
            "-c",
            wire_cell.PIPELINE,
            *site.flags,
            "--on-error",
            "skip",
            *wire_cell.settings("device=cpu", "input=adc.npz", "output=output.npz"),
            folder=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        assert "no ticks" in done.stderr and "1 events skipped, 2 completed" in done.stderr
        output = wire_cell.read_arrays(tmp_path / "output.npz")
        assert sorted(name for name in output if name.startswith("frame_")) == [
            "frame_signal_0",
            "frame_signal_2",
        ]
        np.testing.assert_array_equal(output["frame_signal_0"], output["frame_signal_2"])
