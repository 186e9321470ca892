# SPDX-License-Identifier: Apache-2.0
"""Words that are ambiguous in this project, and sentences without a head."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TEXT_ENDINGS = (
    *(".h", ".cxx", ".cu", ".cuh", ".c", ".py", ".jsonnet", ".js", ".css", ".sh", ".md", ".txt", ".toml"),
    *(".yml", ".yaml", ""),
)
# The list itself and its test; data; the terms of the licence.
EXEMPT_FILES = re.compile(
    r"scripts/wcb/lint/words\.py|tests/checks/test_words\.py|data/.*\.(json|sha256)|LICENSE|CHANGELOG\.md"
    r"|profiling/tests/data/.*\.json|docs/benchmarks/reference\.json"
)
SIMD_FILES = (
    r"spng/kernels/|tests/kernels/|lane_sum|multiversion|cuda-kernels\.md|instruction_sets|glossary\.md"
)
CUDA_FILES = r"spng/kernels/|spng/device/|tests/kernels/|tests/device/|compile_kernels|spng_cuda|cuda-\w+\.md"
NOTHING = r"(?!)"


@dataclass(frozen=True)
class Rule:
    """A word, the one to use, and regular expressions of contexts in which it is right and of files to check or to leave out."""

    word: str
    instead: str
    right: str = NOTHING
    only: str = ""
    exempt: str = NOTHING

    def uses(self, line: str) -> list[str]:
        """Return the wrong uses in a line. A word may follow an underscore: refuse_foreign."""
        pattern = rf"(?<![A-Za-z-])(?:{self.word})(?![a-z])"
        return [found.group() for found in re.finditer(pattern, re.sub(self.right, "", line))]


RULES = (
    Rule(r"[Mm]end(?:s|ed|ing)?", "hint"),
    Rule(r"[Rr]efus(?:e|es|ed|al|als|ing)", "reject", right=r"[Cc]onnection[ _]?[Rr]efused|ECONNREFUSED"),
    Rule(r"(?:channel|wire|anode|event|frame|plane|node|device) numbers?", "index, id or count"),
    Rule(
        r"[Ll]anes?",
        "device replica",
        right=r"(?i)\b(simd|warp|vector|32|64|each|of a warp'?s?) lanes?\b|lane_sum\w*|lanes? of (a|the) warp",
        exempt=SIMD_FILES + r"|board_waves|html_\w+\.(py|js|css)$",
    ),
    Rule(
        r"[Ii]mages?",
        "fatbin or module (CUDA)",
        right=r"images?/|\.images\b|(ROI|charge|loose) images?|nvPTXCompiler|container images?",
        only=CUDA_FILES,
    ),
    Rule(
        r"(?i:(?:an?|the|of|in|each|every|one|this|that|no|its|per|all|two|any|by|with|and|or|between) windows?)(?![_(.])",
        "the kind of window: readout window, capture window, ...",
        right=r"\bwindow W\b",
    ),
    Rule(r"(?i:record(?:ed|ing|s)? (?:a |the )?(?:CUDA |device )?graphs?|graph recordings?)", "capture"),
)

# "What ...", "Where ...", "That which ...", "Those that ..." as the opening of a comment, docstring, item or sentence.
HEADLESS = re.compile(
    r"^\s*(?:///?<?|#|\*|\"\"\"|[-*])?\s*(What|Where|That which|Those (that|which|who))\b"
    r"|[a-z)`][.:] (What|That which|Those that)\b"
)
QUESTION = re.compile(r"\?|^\s*#+ |^\s*\|")  # a question, a heading or a row of a table in Markdown


@dataclass(frozen=True)
class Finding:
    """One use of a word of the list."""

    path: str
    line: int
    word: str
    instead: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: '{self.word}': use {self.instead}"


def is_text(path: str) -> bool:
    """Tell whether a file is text that people write."""
    return Path(path).suffix in TEXT_ENDINGS


def is_covered(path: str) -> bool:
    """Tell whether the check reads the file at all."""
    return is_text(path) and not EXEMPT_FILES.match(path)


def check_text(path: str, text: str) -> Iterator[Finding]:
    """Yield the findings of one file. `path` is relative to the root of the repository, with slashes."""
    rules = [rule for rule in RULES if re.search(rule.only, path) and not re.search(rule.exempt, path)]
    rules = [rule for rule in rules if rule.uses(text)]
    for index, line in enumerate(text.splitlines(), start=1):
        for rule in rules:
            for word in rule.uses(line):
                yield Finding(path, index, word, rule.instead)
        headless = HEADLESS.search(line)
        if headless and not QUESTION.search(line):
            yield Finding(path, index, headless.group().strip(), "a sentence that names its subject")


def check_files(root: Path, paths: list[str]) -> list[Finding]:
    """Check files of the repository, given by their paths from its root."""
    findings: list[Finding] = []
    for path in filter(is_covered, paths):
        try:
            text = (root / path).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        findings += check_text(path, text)
    return findings
