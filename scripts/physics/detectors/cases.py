# SPDX-License-Identifier: Apache-2.0
"""The detectors of the study: one anode of each, the variants that process it, and frames of other simulations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scripts.wcb.checkout import ROOT

from ..program import Variant
from ..settings import Sample
from ..sizes import DETECTORS_EVENTS, DETECTORS_SEED, DETECTORS_TRACKS
from ..wires import Anode, load_anode

SEEDS_PER_DETECTOR = 1000
EVENTS_OF_JOB = 5
RULE, MODEL, SMOOTH, PURE = "rule", "model", "smooth", "pure"  # names of the variants
PRODUCT_DATA = ROOT / "data"


class FilesMissing(Exception):
    """A file of a detector or of a frame is in no folder; the text names it."""


@dataclass(frozen=True)
class Detector:
    """One anode of a detector.

    wires         wire file
    parts         ids of the anodes in that file, as in the detector's description
    is_isotropic  muons come from all directions instead of from above (+y)
    """

    name: str
    anode: int
    wires: str
    parts: tuple[int, ...]
    variants: tuple[str, ...] = (RULE, SMOOTH)
    is_isotropic: bool = False

    @property
    def label(self) -> str:
        """Return name, anode and directions."""
        return f"{self.name}, anode {self.anode}" + (", isotropic" if self.is_isotropic else "")

    @property
    def changes(self) -> dict[str, str]:
        """Return the changes of the simulation, as in Program.simulate."""
        return {"SPNGTrackDepos": "{ muon: { directions: 'isotropic' } }"} if self.is_isotropic else {}

    def load(self, folders: list[Path]) -> Anode:
        """Return the channels of the anode. Raise FilesMissing if no folder has the wire file."""
        for folder in folders:
            if (folder / self.wires).is_file():
                return load_anode(folder / self.wires, *self.parts)
        raise FilesMissing(f"no file {self.wires} in {', '.join(map(str, folders))}")


HD_WIRES, VD_WIRES = "protodunehd-wires-larsoft-v1.json.gz", "protodunevd-wires-larsoft-v5.json.bz2"
DETECTORS = (
    Detector("pdhd", 0, HD_WIRES, (0,), (RULE, MODEL)),
    Detector("pdhd_badAPA1", 0, HD_WIRES, (0,), (RULE, MODEL)),
    Detector("pdsp", 1, "protodune-wires-larsoft-v4.json.bz2", (1,), (RULE, MODEL, PURE)),
    Detector("microboone", 0, "microboone-celltree-wires-v2.1.json.bz2", (0,)),
    Detector("sbnd", 0, "sbnd-wires-geometry-v0202.json.bz2", (0,)),
    Detector("pdvd_bottom", 0, VD_WIRES, (0,)),
    Detector("pdvd_top", 4, VD_WIRES, (4,)),
    # The drift of ProtoDUNE-VD is vertical, so that its muons are steeper than those from +y.
    Detector("pdvd_bottom", 0, VD_WIRES, (0,), (RULE,), is_isotropic=True),
    Detector("pdvd_top", 4, VD_WIRES, (4,), (RULE,), is_isotropic=True),
    Detector("icarus", 0, "icarus-wires-dualanode-v5.json.bz2", (110, 120), (RULE,)),
)
BY_NAME = {detector.name: detector for detector in DETECTORS if not detector.is_isotropic}


@dataclass(frozen=True)
class Frames:
    """Frames of another simulation with their truth."""

    detector: Detector
    adc: Path
    truth: Path

    @property
    def label(self) -> str:
        """Return the name of the file and of the detector."""
        return f"{self.adc.name} ({self.detector.label})"


def parse_frames(text: str) -> Frames:
    """Parse DETECTOR,ANODE,ADC,TRUTH. Raise FilesMissing for words that do not fit, or an absent file."""
    words = text.split(",")
    if len(words) != 4 or words[0] not in BY_NAME or not words[1].isdigit():
        raise FilesMissing(
            f"--frames takes DETECTOR,ANODE,ADC,TRUTH with a detector of {', '.join(BY_NAME)}, not {text}"
        )
    known, anode = BY_NAME[words[0]], int(words[1])
    parts = tuple(part + anode - known.anode for part in known.parts)
    detector = Detector(known.name, anode, known.wires, parts, known.variants)
    for path in map(Path, words[2:]):
        if not path.is_file():
            raise FilesMissing(f"--frames: no file {path}")
    return Frames(detector, Path(words[2]).resolve(), Path(words[3]).resolve())


def variants_of(detector: Detector) -> list[Variant]:
    """Return the variants that process a detector."""
    common = {"detname": detector.name, "tpcid": detector.anode, "frames": "sparse", "check_input": "false"}
    known = {
        RULE: Variant(RULE, "rule (model=none)", {**common, "model": "none"}),
        MODEL: Variant(MODEL, "DNNROI (model=default)", {**common, "model": "default"}),
        SMOOTH: Variant(SMOOTH, "rule, filters=smooth", {**common, "model": "none", "filters": SMOOTH}),
        PURE: Variant(PURE, "rule, filters=pure", {**common, "model": "none", "filters": PURE}),
    }
    return [known[name] for name in detector.variants]


def samples_of(
    events: int = DETECTORS_EVENTS, first_seed: int = DETECTORS_SEED, only: str = ""
) -> list[tuple[Detector, Sample]]:
    """Return the detectors with their samples. only: names with commas; empty: all."""
    wanted = only.split(",") if only else list(BY_NAME)
    return [
        (
            detector,
            Sample(
                detector.label,
                detector.label,
                "muons",
                {
                    "kind": "muons",
                    "tracks": DETECTORS_TRACKS,
                    "detname": detector.name,
                    "tpcid": detector.anode,
                },
                events,
                first_seed + index * SEEDS_PER_DETECTOR,
                EVENTS_OF_JOB,
                tuple(variants_of(detector)),
            ),
        )
        for index, detector in enumerate(DETECTORS)
        if detector.name in wanted
    ]
