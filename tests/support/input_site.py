# SPDX-License-Identifier: Apache-2.0
"""A site for tests of the input check: the small detector, four tracks across its face, and jobs on them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.support import synthetic, wire_cell
from tests.support.small_detector import HEIGHT_MM, WIDTH_MM, small_detector, write_description
from tests.support.synthetic import Detector

TICKS = 2000
NOISE_COUNTS = 12.0  # that of the noise spectra: 13.7 on U and V, 10.8 on W
ELECTRONS_PER_MM = 25_000.0  # pulses of 50 sigma and more on all planes
U, V, W = range(3)
PLANES = "UVW"

Kernels = Callable[[int], np.ndarray]


@dataclass(frozen=True)
class Site:
    """A folder with the small detector's files.

    images  electrons of four tracks across the face, (channel, tick) of each view
    """

    folder: Path
    flags: list[str]
    anode: Detector
    images: list[np.ndarray]

    def rows(self, plane: int) -> np.ndarray:
        """Rows of frames with the channels of a plane."""
        return np.searchsorted(self.anode.channels, self.anode.views[plane].channels)

    def charge(self) -> np.ndarray:
        """The true charge of the tracks in units of 20 electrons, as somebody may take for ADC; int16 (channel, tick)."""
        samples = np.zeros((len(self.anode.channels), TICKS), dtype=np.int16)
        for view, image in zip(self.anode.views, self.images, strict=True):
            samples[self.rows(view.plane)] = image / 20
        return samples

    def samples(
        self, kernels: Kernels | None = None, noise: float = NOISE_COUNTS, seed: int = 1
    ) -> np.ndarray:
        """The tracks as the planes see them with these kernels (wire, tick); int16 (channel, tick)."""
        samples = (
            np.random.default_rng(seed).normal(0, noise, (len(self.anode.channels), TICKS)) if noise else 0
        )
        samples = samples + np.zeros((len(self.anode.channels), TICKS))
        for view, image in zip(self.anode.views, self.images, strict=True):
            kernel = (kernels or self.anode.kernel)(view.plane)
            samples[self.rows(view.plane)] += synthetic.waveforms(view, kernel, image) + 8000
        return np.clip(np.floor(samples + 0.5), 0, 2**14 - 1).astype(np.int16)

    def run(
        self,
        samples: np.ndarray,
        *flags: str,
        status: int = 0,
        kept: np.ndarray | None = None,
        **arguments: object,
    ) -> tuple[str, dict]:
        """Run the job on one event. -> standard error, and the part `input` of --timing."""
        return self.run_events([samples], *flags, status=status, kept=kept, **arguments)

    def run_events(
        self,
        events: list[np.ndarray],
        *flags: str,
        status: int = 0,
        kept: np.ndarray | None = None,
        **arguments: object,
    ) -> tuple[str, dict]:
        """As run(), on events that follow each other."""
        channels = self.anode.channels
        chosen = slice(None) if kept is None else kept
        arrays: wire_cell.Arrays = {}
        for ident, samples in enumerate(events):
            arrays |= wire_cell.event(samples[chosen], channels[chosen], ident)
        wire_cell.write_arrays(self.folder / "adc.npz", arrays)
        for name in ("output.npz", "timing.json"):
            (self.folder / name).unlink(missing_ok=True)
        given = {
            "input": "adc.npz",
            "output": "output.npz",
            "device": "cpu",
            "threads": 1,
            "tags": "signal,decon_charge",
            **arguments,
        }
        words = wire_cell.settings(**given)
        done = wire_cell.run(
            "-c",
            wire_cell.PIPELINE,
            *self.flags,
            *flags,
            *words,
            "--timing",
            "timing.json",
            folder=self.folder,
        )
        assert done.returncode == status, done.stderr
        if status:
            leftovers = sorted(
                path.name for path in self.folder.iterdir() if "output" in path.name or "partial" in path.name
            )
            assert leftovers == []
            return done.stderr, {}
        return done.stderr, json.loads((self.folder / "timing.json").read_text())["input"]

    def output(self) -> wire_cell.Arrays:
        """Return the arrays that the last run wrote."""
        return wire_cell.read_arrays(self.folder / "output.npz")

    def notes(self, ident: int = 0) -> dict[str, str]:
        """Return the notes of an event that the last run wrote."""
        return json.loads(bytes(self.output()[f"notes_spng_{ident}"]))


@pytest.fixture(name="site", scope="module")
def fixture_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The detector, with its files."""
    folder = tmp_path_factory.mktemp("input-check")
    flags, anode = write_description(folder), small_detector(folder)
    ends = np.array([[0.04 * WIDTH_MM, 0.45 * HEIGHT_MM], [0.96 * WIDTH_MM, 0.55 * HEIGHT_MM]])
    tracks = [
        synthetic.straight_track(anode.planes(), 0, ends, (tick, tick + 20), ELECTRONS_PER_MM)
        for tick in (50, 450, 850, 1250)
    ]
    charge = synthetic.joined(tracks)
    images = [synthetic.charge_image(view, charge, TICKS, sigma_ticks=1.5) for view in anode.views]
    return Site(folder, flags, anode, images)
