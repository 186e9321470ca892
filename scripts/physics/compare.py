# SPDX-License-Identifier: Apache-2.0
"""Comparison of frames with their truth, and the stored figures of WCT's OmnibusSigProc (OSP)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from spng.charge_tags import OUTPUT_TAGS, TRUTH_TAGS, first_of

from spng import Frame, Traces, read_frames

from . import study, summary
from .settings import Sample, Variant
from .wires import VIEWS, Anode


class ComparisonImpossible(Exception):
    """The files do not fit together; the text gives the reason."""


def _chosen(frame: Frame, path: Path, preferred: tuple[str, ...]) -> Traces:
    try:
        return first_of(frame, preferred)
    except ValueError:
        raise ComparisonImpossible(
            f"{path}: frames {', '.join(frame.traces)}; expected one of {', '.join(preferred)}"
        ) from None


def figures(output: Path, truth: Path, anode: Anode) -> dict[str, Any]:
    """Return view -> figures over all events common to output and truth, and the frame tag that was read.

    @throws ComparisonImpossible if they have no event or channel in common, or different lengths
    """
    label = Sample("compared", "", "muons", {}, 1, 0, 1, ())
    found: dict[int, list[study.Measured]] = {view: [] for view in range(len(VIEWS))}
    of_truth, of_output = [frame.ident for frame in read_frames(truth)], []
    tag = ""
    for frame in read_frames(output):
        of_output.append(frame.ident)
        if frame.ident not in of_truth:
            continue
        seen = _chosen(frame, output, OUTPUT_TAGS)
        true = _chosen(next(read_frames(truth, idents=[frame.ident])), truth, TRUTH_TAGS)
        tag = seen.tag
        if seen.samples.shape[1] != true.samples.shape[1]:
            raise ComparisonImpossible(
                f"{output}: {seen.samples.shape[1]} ticks, the truth has {true.samples.shape[1]}"
            )
        for view, channels in enumerate(anode.channels):
            if not set(channels) & set(seen.channels):
                raise ComparisonImpossible(f"{output} has no channel of view {VIEWS[view]}")
            found[view].append(
                study.measure_view(
                    label, Variant(tag, tag), view, frame.ident, seen.rows(channels), true.rows(channels)
                )
            )
    if not tag:
        raise ComparisonImpossible(
            f"{output} and {truth} have no event in common: {of_output} and {of_truth}"
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
