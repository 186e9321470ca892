# SPDX-License-Identifier: Apache-2.0
"""Choose the tag of a frame by its name."""

from __future__ import annotations

from dataclasses import replace

from .frame import Frame, Traces

OUTPUT_TAGS = ("signal", "gauss0", "gauss", "*")  # the first of these in a file is compared with the truth
TRUTH_TAGS = ("truth", "*")


def first_of(frame: Frame, tags: tuple[str, ...]) -> Traces:
    """Return the first of these tags that the frame has, else its only tag, with all samples. Raise ValueError if it has others."""
    traces = next((frame[tag] for tag in tags if tag in frame.traces), None) or frame.only()
    return replace(traces, samples=traces.dense())
