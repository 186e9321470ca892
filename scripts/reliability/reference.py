# SPDX-License-Identifier: Apache-2.0
"""R1: every node of the chain against the NumPy reference in float64."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict

from scripts.output import Table
from scripts.wcb.checkout import ROOT
from tests.support import figures

from .row import Outcome, Verdict
from .work import Work

FILTER_STEP, STEP = 2e-5, 1e-5  # of the RMS: with Fourier transforms, without
# Test -> nodes and bar; the bar of masks is that no sample differs outside of the margin.
WAVEFORMS = {
    "TestTransforms::test_deconvolution": ("SPNGDecon, after the filter of the charge", FILTER_STEP),
    "TestTransforms::test_charge": ("SPNGApply1DSpectrum, charge", FILTER_STEP),
    "TestTransforms::test_images": ("SPNGApply1DSpectrum, images", FILTER_STEP),
    "TestNoise::test_summary": ("SPNGApply1DSpectrum and SPNGNoiseSummary", FILTER_STEP),
    "TestNoise::test_long_pulse_image": ("SPNGLongPulses", STEP),
    "TestOutput::test_apply_roi": ("SPNGApplyROI", STEP),
    "TestOutput::test_wiener": ("SPNGApply1DSpectrum and SPNGApplyROI, Wiener filter", FILTER_STEP),
}
DOUBLE = {
    "TestDouble::test_deconvolution": "SPNGDecon, each frequency",
    "TestDouble::test_charge": "SPNGApply1DSpectrum, charge",
    "TestDouble::test_images": "SPNGApply1DSpectrum, images",
}
MASKS = {
    "TestRegions::test_collection_regions": "SPNGThresholdROIs, collection",
    "TestRegions::test_induction_witnesses": "SPNGThresholdROIs, induction",
    "TestRegions::test_coincidence": "SPNGNoTileMPCoincidence",
    "TestRegions::test_induction_regions_of_interest": "SPNGCoincidenceROIs",
    "TestReference::test_regions": "SPNGDNNROI, its network on features of the reference",
}
OPTIONAL = (
    "optional nodes have no such reference: noise filters, SPNGChargeError, SPNGResampler and the simulation are compared with "
    "expected values in their own tests"
)
TESTS = (
    "tests/reference/test_steps.py",
    "tests/dnn/test_noise.py::TestReference",
)


def measured_figures(work: Work) -> tuple[dict[str, dict[str, list[float]]], str, int]:
    """Run the tests; return their figures by test and name, pytest's last line, and its status."""
    path = work.folder / "figures.jsonl"
    path.touch()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=line", *TESTS],
        cwd=ROOT,
        env={**os.environ, figures.FILE: str(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        test = re.sub(r"\[.*", "", entry["test"].partition("::")[2])
        found[test][entry["name"]].append(entry["value"])
    return found, done.stdout.strip().splitlines()[-1], done.returncode


def against_reference(work: Work) -> Outcome:
    """Measure R1."""
    found, last_line, status = measured_figures(work)
    waveforms, doubles, masks, misses = [], [], [], []
    worst = {FILTER_STEP: 0.0, STEP: 0.0}
    for test, (node, bar) in WAVEFORMS.items():
        value = max(found[test]["difference"])
        worst[bar] = max(worst[bar], value)
        waveforms.append([node, f"{value:.1e}", f"{bar:.0e}"])
        if value > bar:
            misses.append(f"{node}: {value:.1e} instead of {bar:.0e}")
    for test, node in DOUBLE.items():
        doubles.append([node, f"{max(found[test]['difference']):.1e}"])
    wrong = 0
    for test, node in MASKS.items():
        each = {name: int(sum(found[test][name])) for name in ("set", "wrong", "doubtful")}
        wrong += each["wrong"]
        if not each["set"]:
            misses.append(f"{node}: not measured")
        masks.append([node, *map(str, each.values())])
    if wrong:
        misses.append(f"{wrong} samples of masks differ")
    if status != 0:
        misses.append(f"pytest: {last_line}")
    return Outcome(
        f"max abs difference {worst[FILTER_STEP]:.1e} (with transforms) and {worst[STEP]:.1e} of the RMS; {wrong} samples of "
        f"masks differ",
        Verdict.SHORT if misses else Verdict.PART,
        "; ".join([*misses, OPTIONAL]),
        f"Default event (2560 x 6000) in float32, each node on the input that it had in the run (`{' '.join(TESTS)}`: {last_line}).\n"
        "SPNGFrameToTorchSetFanout and SPNGTorchTensorSetToFrameFanin keep every sample, which the same tests compare.\n"
        "SPNGChannelRMS is compared by its effect on images and masks.",
        [
            Table("Waveforms and images, float32", ["node", "max abs difference / RMS", "bar"], waveforms),
            Table("The same steps in float64", ["node", "max abs difference / RMS"], doubles),
            Table(
                "Masks",
                [
                    "node",
                    "samples set",
                    "differ",
                    "within 1e-4 sigma of a threshold (network: 1e-3 of its output)",
                ],
                masks,
            ),
        ],
    )
