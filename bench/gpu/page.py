# SPDX-License-Identifier: Apache-2.0
"""The page docs/benchmarks/cuda.md: a head, and one section for each stage between two marks."""

from __future__ import annotations

import re

from .result_file import STAGES, Result
from .sections import section

HEAD = """# CUDA: agreement and speed on a GPU

Written by `scripts/gpu_check` ([README.md](README.md#on-a-gpu)); do not edit.
Each stage replaces its own section; a section names its machine, date and commit.

- *Agreement* of two outputs: samples that are in ROIs of both, of those in ROIs of at least one; charge, 1 plus the difference of the sums over the sum of magnitudes of the reference; and the largest difference in channels whose ROIs agree, in standard deviations (sd) of the values in ROIs.
- *Device*: sum of the times between two events in the device's stream around each call between source and sink; *host*: sum of the wall times of these calls.
  With TbbFlow calls overlap, and the sums include waiting for each other.
- *With files*: mean time from the end of one event to the end of the next.
- Times are medians over the steady events, the second half of a run: first calls of a thread take hundreds of milliseconds, and with several threads the last of them may come as late as in the tenth event.
  *Slow* counts steady events that took more than twice the median.
- The input is the default event (one ProtoDUNE-HD anode, 2560 channels x 6000 ticks), rotated in time by 97 ticks from event to event.
"""
BEGIN, END = "<!-- stage {stage} -->", "<!-- end of stage {stage} -->"


def page(results: dict[str, Result], before: str = "") -> str:
    """Return the page: sections of `results`, and of the page `before` those of other stages."""
    parts = [HEAD]
    for stage in STAGES:
        text = section(results[stage]) if stage in results else section_of(before, stage)
        if text:
            parts.append(f"{BEGIN.format(stage=stage)}\n{text}{END.format(stage=stage)}\n")
    return "\n".join(parts)


def section_of(text: str, stage: str) -> str:
    """Return the section of a stage in a page; empty if there is none."""
    begin, end = (re.escape(mark.format(stage=stage)) for mark in (BEGIN, END))
    found = re.search(rf"^{begin}\n(.*?)^{end}$", text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""
