# SPDX-License-Identifier: Apache-2.0
"""One sentence per line in Markdown: a change of a sentence is then a change of one line."""

from __future__ import annotations

import re
from collections.abc import Iterator

# A full stop, then a capital letter, in the same line of prose. Abbreviations and numbered items do not count.
SENTENCE_END = re.compile(
    r"(?<![A-Z])(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bvs)(?<!\bNo)(?<!^\d)(?<!\s\d)[.!?]\)? (?=[A-Z])"
)
CODE = re.compile(r"`[^`]*`")
NOT_PROSE = re.compile(r"\s*(\||#|<|!\[|\[[^\]]+\]: |$)")


def check(text: str) -> Iterator[tuple[int, str]]:
    """Yield line number and message of lines with two sentences, and of sentences that are wrapped."""
    in_block = False
    before = ""
    for index, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            in_block, before = not in_block, ""
            continue
        if in_block or NOT_PROSE.match(line):
            before = ""
            continue
        plain = CODE.sub("x", line)
        if SENTENCE_END.search(plain):
            yield index, "two sentences in one line"
        if (
            before
            and before[-1] not in ".:!?|\\"
            and not before.endswith(("  ", ".)", ".*"))
            and line[:1].islower()
        ):
            yield index, "a sentence is wrapped; write it in one line"
        before = line.rstrip("\n")
