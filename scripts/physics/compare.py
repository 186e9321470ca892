# SPDX-License-Identifier: Apache-2.0
"""Comparison of other programs' frames with the same truth, and the stored figures of WCT's OmnibusSigProc (OSP)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.frames import FrameFile

from . import study, summary
from .settings import Sample, Variant
from .wires import VIEWS, Anode

TRUTH_TAGS = ("truth", "*")


class ComparisonImpossible(Exception):
    """The files do not fit together; the text gives the reason."""


@dataclass(frozen=True)
class Comparison:
    """Another program's output, the truth, and the ADC counts for our output; without ADC counts, ours is not made."""

    output: Path
    truth: Path
    adc: Path | None

    def json(self) -> dict[str, str]:
        """Return the content of the JSON file."""
        return {"output": str(self.output), "truth": str(self.truth), "adc": str(self.adc or "")}


def parse(text: str, default_truth: Path, default_adc: Path) -> Comparison:
    """Parse OUTPUT[,TRUTH[,ADC]]; the default truth is that of the default event.

    @throws ComparisonImpossible for an absent file
    """
    paths = [Path(word).resolve() for word in text.split(",")]
    if not 1 <= len(paths) <= 3:
        raise ComparisonImpossible(f"--compare takes OUTPUT[,TRUTH[,ADC]], not {text}")
    for path in paths:
        if not path.is_file():
            raise ComparisonImpossible(f"--compare: no file {path}")
    if len(paths) == 1:
        return Comparison(paths[0], default_truth, default_adc)
    return Comparison(paths[0], paths[1], paths[2] if len(paths) == 3 else None)


def _tag(file: FrameFile, preferred: tuple[str, ...]) -> str:
    for tag in preferred:
        if tag in file.tags():
            return tag
    if len(file.tags()) != 1:
        raise ComparisonImpossible(
            f"{file.path}: frames {', '.join(file.tags()) or 'none'}; expected one of {', '.join(preferred)}"
        )
    return file.tags()[0]


def figures(output: Path, truth: Path, anode: Anode) -> dict[str, Any]:
    """Return view -> figures over all events common to output and truth, and the frame tag that was read.

    @throws ComparisonImpossible if they have no event or channel in common, or different lengths
    """
    label = Sample("compared", "", "muons", {}, 1, 0, 1, ())
    found: dict[int, list[study.Measured]] = {view: [] for view in range(len(VIEWS))}
    with FrameFile(output) as outputs, FrameFile(truth) as truths:
        tag, true_tag = _tag(outputs, study.OUTPUT_TAGS), _tag(truths, TRUTH_TAGS)
        common = [ident for ident in outputs.idents(tag) if ident in truths.idents(true_tag)]
        if not common:
            raise ComparisonImpossible(
                f"{output} and {truth} have no event in common: {outputs.idents(tag)} and "
                f"{truths.idents(true_tag)}"
            )
        for ident in common:
            seen, true = outputs.frame(tag, ident), truths.frame(true_tag, ident)
            if seen.samples.shape[1] != true.samples.shape[1]:
                raise ComparisonImpossible(
                    f"{output}: {seen.samples.shape[1]} ticks, the truth has {true.samples.shape[1]}"
                )
            for view, channels in enumerate(anode.channels):
                if not set(channels) & set(seen.channels):
                    raise ComparisonImpossible(f"{output} has no channel of view {VIEWS[view]}")
                found[view].append(
                    study.measure_view(
                        label, Variant(tag, tag), view, ident, seen.rows(channels), true.rows(channels)
                    )
                )
    return {
        "tag": tag,
        "views": {VIEWS[view]: summary.view_figures(events) for view, events in found.items()},
    }


def osp_figures(folder: Path) -> dict[str, Any]:
    """Return the stored figures of OSP: on the line scan, with those of perfect ROIs, and on the default event."""
    scan = json.loads((folder / "osp-linescan.json").read_text(encoding="utf-8"))
    tracks = json.loads((folder / "osp-tracks10.json").read_text(encoding="utf-8"))
    return {
        "lines": _lines(scan["planes"]),
        "ideal": _lines(scan["ideal_roi"]),
        "default_event": tracks["views"],
        "program": tracks["program"],
    }


def _lines(planes: dict[str, Any]) -> dict[str, Any]:
    keys = {"bias": "bias", "resolution": "res", "efficiency": "eff", "purity": "pur"}
    return {
        view: [
            {
                "theta_xz_deg": row["theta_xz_deg"],
                **{name: {"value": row[key], "error": None} for name, key in keys.items() if key in row},
            }
            for row in planes[view]
        ]
        for view in VIEWS
    }
