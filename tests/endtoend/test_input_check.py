# SPDX-License-Identifier: Apache-2.0
"""Input that the job can read but whose result is doubtful: it is counted, warned about, and an error with --strict."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.reference import response
from tests.support import wire_cell
from tests.support.input_site import NOISE_COUNTS, PLANES, TICKS, Site, U, V, W, fixture_site  # noqa: F401

pytestmark = wire_cell.needs_program


@pytest.fixture(name="with_nan", scope="module")
def fixture_with_nan(site: Site) -> tuple[np.ndarray, list[int], wire_cell.Arrays]:
    """Samples in float32, two channels of U with a sample that is not a number, and what the job makes of them."""
    samples, channels = site.samples().astype(np.float32), site.rows(U)[[10, 30]].tolist()
    samples[channels, 500] = np.nan
    site.run(samples)
    return samples, channels, site.output()


def plane_of(report: dict, plane: int) -> dict:
    """The report's part about a plane."""
    return next(entry for entry in report["planes"] if entry["plane"] == PLANES[plane])


def notes_of(output: wire_cell.Arrays) -> dict[str, str]:
    """The notes of event 0."""
    return json.loads(bytes(output["notes_spng_0"]))


def misfits(report: dict, key: str) -> str:
    """Planes of which a number was compared and does not fit."""
    return "".join(entry["plane"] for entry in report["planes"] if entry[key] and not entry[key]["fits"])


def test_input_that_fits_is_silent(site: Site) -> None:
    """All comparisons are made, hold, and are written down."""
    stderr, report = site.run(site.samples(), "--strict")
    assert stderr == ""
    assert report["events"] == 1 and report["warnings"] == []
    for plane, polarity in ((U, -0.05), (V, -0.02), (W, 1.0)):
        entry = plane_of(report, plane)
        assert entry["channels"] == len(site.rows(plane))
        assert [
            entry[key] for key in ("absent", "not_finite", "out_of_range", "constant", "masked", "saturated")
        ] == [0] * 6
        assert entry["noise_adc"]["seen"] == pytest.approx(NOISE_COUNTS, rel=0.1)
        assert entry["noise_adc"]["expected"] == pytest.approx((13.7, 13.7, 10.8)[plane], rel=0.03)
        assert entry["polarity"]["expected"] == pytest.approx(polarity, abs=0.01)
        assert abs(entry["polarity"]["seen"] - polarity) < 0.3
    assert plane_of(report, W)["shaping_ns"]["seen"] == pytest.approx(2200, rel=0.03)
    assert plane_of(report, U)["lobe_order"]["seen"] > 0.95


@pytest.mark.parametrize("factor", [0.7, 1.5])
def test_noise_as_in_real_data_is_silent(site: Site, factor: float) -> None:
    """From 0.7 to 1.5 times that of the spectra."""
    stderr, report = site.run(site.samples(noise=NOISE_COUNTS * factor))
    assert "noise" not in stderr and misfits(report, "noise_adc") == ""


def test_too_much_noise_is_named_or_an_error(site: Site) -> None:
    """The warning has the numbers; with --strict the job ends before it writes anything."""
    samples = site.samples(noise=3 * NOISE_COUNTS)
    stderr, report = site.run(samples)
    assert misfits(report, "noise_adc") == "UVW" and len(report["warnings"]) == 3
    assert "U of anode 0" in stderr and "times the expected" in stderr
    block, _ = site.run(samples, "--strict", status=1)
    assert block.startswith("error: the noise differs from the detector's") and "U of anode 0" in block
    assert site.run(samples, check_input="false")[0] == ""


def test_a_simulation_without_noise_has_no_wrong_noise(site: Site) -> None:
    """No noise is no wrong noise. Channels without charge are constant then, and count as dead."""
    stderr, report = site.run(site.samples(noise=0), max_bad_share=1)
    assert (
        stderr == "" and plane_of(report, U)["noise_adc"] is None and plane_of(report, U)["polarity"]["fits"]
    )


def test_a_plane_that_collects_is_named(site: Site) -> None:
    """V collects though it is described as induction, and the reverse on W."""
    wires = {U: U, V: W, W: V}
    stderr, report = site.run(site.samples(lambda plane: site.anode.kernel(wires[plane])))
    assert misfits(report, "polarity") == "VW"
    assert (
        plane_of(report, V)["polarity"]["seen"] > 0.9 and abs(plane_of(report, W)["polarity"]["seen"]) < 0.3
    )
    assert "V of anode 0" in stderr and "U of anode 0" not in stderr


def test_inverted_signs_are_named(site: Site) -> None:
    """On collection by the sign of the charge, on induction by the order of the lobes."""
    _, report = site.run(site.samples(lambda plane: -site.anode.kernel(plane)))
    assert misfits(report, "polarity") == "W" and misfits(report, "lobe_order") == "UV"


@pytest.mark.parametrize(
    "shaping_us, seen_us", [(1.0, (0.9, 1.2)), (2.0, (1.9, 2.07)), (2.4, (2.33, 2.5)), (3.0, (2.9, 3.1))]
)
def test_another_shaping_time_is_named(site: Site, shaping_us: float, seen_us: tuple[float, float]) -> None:
    """Other settings of the electronics, and the nominal one 9 % off."""
    _, report = site.run(
        site.samples(lambda plane: response.response_kernel(site.anode.field, plane, shaping_us=shaping_us))
    )
    assert "W" in misfits(report, "shaping_ns")
    assert seen_us[0] < plane_of(report, W)["shaping_ns"]["seen"] / 1000 < seen_us[1]


# What the small detector may also be: other channels collect, or three times the gain.
ALTERNATIVES = """local small = import 'small.jsonnet'; local groups = small.groups(0); small { alternatives:: [
    small { name: 'swapped', groups(anode):: [
        groups[0] { views: [groups[0].views[0]] },
        groups[0] { name: 'v', kind: 'collection', views: [groups[0].views[1]] },
        groups[1] { kind: 'induction' },
    ] },
    small { name: 'louder', electronics+: { gain: 3 * super.gain } },
    (import 'detectors/pdhd_badAPA1.jsonnet'),  // other counts of channels
] }"""


def test_a_detector_that_fits_is_named(site: Site) -> None:
    """By the planes that collect, and by the noise; none for planes that no detector has."""
    flags = ["--tla-code", f"detname={ALTERNATIVES}"]
    wires = {U: U, V: W, W: V}
    swapped, report = site.run(site.samples(lambda plane: site.anode.kernel(wires[plane])), *flags)
    assert misfits(report, "polarity") == "VW"
    assert swapped.count("hint: -A detname=swapped fits noise and polarity; or check") == 2
    louder, _ = site.run(site.samples(noise=3 * NOISE_COUNTS), *flags)
    assert louder.count("hint: -A detname=louder fits noise and polarity; or check") == 3
    inverted, _ = site.run(site.samples(lambda plane: -site.anode.kernel(plane)), *flags)
    assert "inverted" in inverted and "fits noise" not in inverted


@pytest.mark.parametrize(
    "factor, detector", [(1, "pdhd"), (2.4 / 2.2, "pdhd"), (2.0 / 2.2, "pdhd"), (1, "pdhd_badAPA1")]
)
def test_simulated_muons_of_other_electronics_are_named(tmp_path: Path, factor: float, detector: str) -> None:
    """Muons of all angles, 9 % off and nominal, and of the anode whose V wires collect; all processed as pdhd."""
    described = (
        f"(import 'detectors/{detector}.jsonnet') {{ electronics+: {{ shaping: super.shaping * {factor} }} }}"
    )
    words = [
        *wire_cell.settings("kind=muons", "tracks=20", "seed=811000", "device=cpu", "output=adc.npz"),
    ]
    done = wire_cell.run(
        "-c", "cfg/simulate.jsonnet", "--tla-code", f"detname={described}", *words, folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    words = ["-A", "input=adc.npz", "-A", "output=o.npz", "-A", "device=cpu", "-A", "model=none"]
    done = wire_cell.run("-c", wire_cell.PIPELINE, *words, "--timing", "timing.json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "timing.json").read_text())["input"]
    if detector != "pdhd":
        assert misfits(report, "polarity") == "V" and "V of anode 0" in done.stderr
        assert "hint: -A detname=pdhd_badAPA1 fits noise and polarity; or check" in done.stderr
        return
    shaping = plane_of(report, W)["shaping_ns"]
    assert shaping["seen"] == pytest.approx(2200 * factor, rel=0.03) and shaping["samples"] >= 300
    assert misfits(report, "shaping_ns") == ("" if factor == 1 else "W")
    if factor == 1:
        assert "shape of the pulses" not in done.stderr
    else:
        assert "expected 2.20 us +- 5 %" in done.stderr
        assert ("too high" in done.stderr) == (factor > 1)


def test_a_readout_without_pulses_says_nothing(site: Site) -> None:
    """Noise alone."""
    noise = np.random.default_rng(5).normal(4000, NOISE_COUNTS, (len(site.anode.channels), TICKS))
    stderr, report = site.run(noise.astype(np.int16))
    assert stderr == "" and all(
        entry["polarity"] is None and entry["shaping_ns"] is None for entry in report["planes"]
    )


def test_a_sample_beyond_the_digitiser_empties_its_channel_only(
    site: Site, with_nan: tuple[np.ndarray, list[int], wire_cell.Arrays]
) -> None:
    """As NaN does: the same output to the byte, and a mask of its own."""
    samples, channels, expected = with_nan[0].copy(), *with_nan[1:]
    samples[channels, 500] = [3e38, -1e9]
    _, report = site.run(samples)
    seen = site.output()
    for tag in ("signal", "decon_charge"):
        np.testing.assert_array_equal(seen[f"frame_{tag}_0"], expected[f"frame_{tag}_0"])
        assert np.isfinite(seen[f"frame_{tag}_0"]).all()
    assert not seen["frame_signal_0"][channels].any() and seen["frame_signal_0"][site.rows(U)].any()
    masks = [[channel, 0, TICKS] for channel in channels]
    assert seen["chanmask_outofrange_0"].tolist() == masks == expected["chanmask_nan_0"].tolist()
    assert plane_of(report, U)["out_of_range"] == 2 and plane_of(report, U)["not_finite"] == 0


def test_infinite_float64_counts_as_not_finite(site: Site) -> None:
    """Infinite values are read as such; finite ones beyond float32 are an error (tests/support/raw_frames.py)."""
    samples = site.samples().astype(np.float64)
    samples[3, 3] = np.inf
    _, report = site.run(samples)
    assert sum(entry["not_finite"] for entry in report["planes"]) == 1
    assert np.isfinite(site.output()["frame_decon_charge_0"]).all()


def test_channels_that_cannot_be_used_are_counted(site: Site) -> None:
    """Few are no warning; the table and the JSON have them."""
    samples = site.samples()
    u = site.rows(U)
    samples[u[0]] = 1234  # dead
    stderr, report = site.run(samples, kept=np.delete(np.arange(len(samples)), u[2]))
    entry = plane_of(report, U)
    assert (entry["absent"], entry["constant"], entry["saturated"], entry["saturated_samples"]) == (
        1,
        1,
        0,
        0,
    )
    assert stderr == "" and report["warnings"] == []
    assert "saturated" not in notes_of(site.output())


@pytest.mark.parametrize("flags", [[], ["--strict"]])
def test_saturated_samples_are_named_and_listed(site: Site, flags: list[str]) -> None:
    """As from heavily ionising tracks: one warning, a mask and a note; no error with --strict. The charge stays."""
    samples = site.samples()
    u, w = site.rows(U), site.rows(W)
    samples[u[1], 100:105] = 2**14 - 1
    samples[w[2], [300, 302, 303]] = 0
    stderr, report = site.run(samples, *flags)
    line = (
        "saturated samples, whose charge is too low (anode 0, event 0): "
        f"seen 8 samples at 0 or 16383 on 2 of {len(samples)} channels"
    )
    assert stderr.count("satur") >= 1 and line in stderr and len(stderr.splitlines()) == 1
    assert len(report["warnings"]) == 1 and line in report["warnings"][0]
    counts = [
        (plane_of(report, plane)["saturated"], plane_of(report, plane)["saturated_samples"])
        for plane in (U, W)
    ]
    assert counts == [(1, 5), (1, 3)]
    output, channels = site.output(), site.anode.channels
    assert output["chanmask_saturated_0"].tolist() == [
        [channels[u[1]], 100, 105],
        [channels[w[2]], 300, 301],
        [channels[w[2]], 302, 304],
    ]
    assert notes_of(output)["saturated"] == "8 samples on 2 channels"
    assert output["frame_signal_0"][u[1], 90:115].max() > 0


@pytest.mark.parametrize(("dtype", "wrong"), [("uint16", 40_000), ("int32", -40_000), ("int64", 1_000_000)])
def test_one_wrong_sample_of_a_wide_integer_hides_no_saturated_one(
    site: Site, dtype: str, wrong: int
) -> None:
    """Readers make floats of integers beyond int16."""
    samples = site.samples().astype(dtype)
    u, w = site.rows(U), site.rows(W)
    samples[u[1], 100:105] = 2**14 - 1
    samples[w[2], 300] = wrong
    site.run(samples)
    output, channels = site.output(), site.anode.channels
    is_in_range = abs(wrong) < 16 * 2**14
    of_wrong = [[channels[w[2]], 300, 301]] if is_in_range else []
    assert output["chanmask_saturated_0"].tolist() == [[channels[u[1]], 100, 105], *of_wrong]
    assert ("chanmask_outofrange_0" in output) == (not is_in_range)


def test_many_saturated_channels_are_an_error(site: Site) -> None:
    """With --strict; without, one warning."""
    samples = site.samples()
    samples[::10, 100:105] = 2**14 - 1
    stderr, report = site.run(samples)
    assert "too many saturated channels" in stderr and len(report["warnings"]) == 1
    block, _ = site.run(samples, "--strict", status=1)
    assert block.startswith("error: too many saturated channels")


def test_a_large_share_of_absent_channels_is_named_or_an_error(site: Site) -> None:
    """Most of W is not in the file."""
    samples = site.samples()
    w = site.rows(W)
    kept = np.delete(np.arange(len(samples)), w[5:])
    stderr, report = site.run(samples, kept=kept)
    absent = len(w) - 5
    assert f"{absent} of {len(samples)} channels: {absent} absent" in stderr and "max_bad_share" in stderr
    assert plane_of(report, W)["absent"] == absent and len(report["warnings"]) == 2
    block, _ = site.run(samples, "--strict", status=1, kept=kept)
    assert block.startswith("error: too many unusable channels")
    (line,) = site.run(samples, "--strict", kept=kept, max_bad_share=0.5)[0].splitlines()
    assert "too few channels of a view to measure its noise" in line and "seen 5 of" in line


def test_the_table_has_the_counts(site: Site) -> None:
    """Below the timing table."""
    wire_cell.write_arrays(
        site.folder / "adc.npz", wire_cell.event(site.samples()[:-3], site.anode.channels[:-3])
    )
    done = wire_cell.run(
        "-c",
        wire_cell.PIPELINE,
        *site.flags,
        *wire_cell.settings("input=adc.npz", "output=output.npz"),
        folder=site.folder,
    )
    assert done.returncode == 0
    table = done.stdout.splitlines()
    title = next(i for i, line in enumerate(table) if line.startswith("input, mean per event"))
    assert "absent" in table[title] and "masked" not in table[title]
    assert table[-1] == f"3 of {len(site.anode.channels)} channels cannot be used"
