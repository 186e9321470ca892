# SPDX-License-Identifier: Apache-2.0
"""The word list of the style guide as a check: one word for one idea, and no sentence without a head.

Each rule has a pattern, the words to use in its place, and the contexts in which the pattern is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Rule:
    """One row of the word list."""

    pattern: re.Pattern[str]
    instead: str
    # Contexts that are right: removed from a line before the pattern is searched.
    allowed: re.Pattern[str] | None = None
    # Files that the rule covers, and files that use the word in another, correct sense.
    only: re.Pattern[str] = field(default=re.compile(""))
    exempt: re.Pattern[str] | None = None


@dataclass(frozen=True)
class Finding:
    """One use of a word of the left column."""

    path: str
    line: int
    word: str
    instead: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: '{self.word}': use {self.instead}"


def rule(pattern: str, instead: str, allowed: str = "", only: str = "", exempt: str = "") -> Rule:
    """Make a rule from the text of its patterns."""
    return Rule(
        re.compile(pattern),
        instead,
        re.compile(allowed) if allowed else None,
        re.compile(only),
        re.compile(exempt) if exempt else None,
    )


START = r"(?<![A-Za-z])"  # a word may follow an underscore: refuse_foreign, my_place
END = r"(?![a-z])"
COMMENT = r"^\s*(?:///?<?|#|\*|\"\"\"|[-*])?\s*"  # before the first word of a comment, docstring or list item
SIMD_FILES = (
    r"spng/kernels/|tests/kernels/|lane_sum|multiversion|cuda-kernels\.md|instruction_sets|glossary\.md"
)
CUDA_FILES = r"spng/kernels/|spng/device/|tests/kernels/|tests/device/|compile_kernels|spng_cuda|cuda-\w+\.md"

RULES = (
    rule(rf"{START}[Mm]end(s|ed|ing)?{END}", "hint"),
    rule(
        rf"{START}[Rr]efus(e|es|ed|al|als|ing){END}",
        "reject, rejected, rejection",
        allowed=r"[Cc]onnection[ _]?[Rr]efused|ConnectionRefusedError|ECONNREFUSED",
    ),
    rule(rf"{START}[Mm]isuse{END}", "usage error"),
    rule(rf"{START}[Cc]omplain(t|ts|s|ed|ing)?{END}", "error, error response, report"),
    rule(rf"{START}most_[a-z]\w*|\bmost tries\b|\bmost turns\b", "max_X"),
    rule(
        rf"{START}number\b(?! of\b)|\b(channel|wire|anode|event|frame|plane|node|thread|process|device) numbers\b",
        "index, id or count",
        # A number as a value, the type of JSON and Jsonnet, signals of POSIX, and usual compounds.
        allowed=r"(?i)\b(random|signal|real|complex|whole|odd|even|finite|positive|negative|version|line|issue|one|attachment) "
        r"number\b|\ba number\b|\| number \||'number'|\"number\"|`number`|\b[a-z]+_number_of_\w+"
        r"|array of number|number\(|is_number\w*|json_number\w*|\bnumber or\b|\.number\b|first_frame_number",
        # Names of arguments in a library of WCT.
        exempt=r"cfg/lib/wirecell\.jsonnet|tests/cfg/wirecell_test\.cxx",
    ),
    rule(
        rf"{START}[Pp]laces?{END}",
        "position, location, path or slot",
        allowed=r"(?i)(?<![a-z])in[-_ ]place(?![a-z])(?: of)?|\bin the last place\b|\b(takes?|took|taking) (the |its )?place\b|\bdecimal places?\b|placement|\bout-of-place\b"
        r"|\bplaces? (its|the|a|each|them|it)\b|\bat one place\b"
        # Keys of JSON and the column of wirecell-profile rules.
        r"|\"places?\"|hits\):,\} places,",
    ),
    rule(
        r"(?i)\bthe field's (own |CPU |usual |traditional |other )*"
        r"(toolkit|way|simulation|traditional|chain|programs?|own|options?|words?|terms?|code|tools?|practice|people)",
        "Wire-Cell Toolkit (WCT), LArTPC experiments",
    ),
    rule(
        r"(?i)\btraditional\b",
        "OmnibusSigProc (OSP)",
        allowed=r"\[\"traditional\"\]|`traditional`",
        exempt=r"cfg/.*\.jsonnet",
    ),
    rule(r"\w*text_of\b", "to_string or summary", allowed=r"\bcontext_of\b"),
    rule(rf"{START}[Tt]exts\b", "strings", allowed=r"\.texts\(\)"),
    rule(r"(?<![A-Za-z_.])made\(", "make_X"),
    rule(r"\bthe_one\b", "find_unique"),
    rule(r"(?<![A-Za-z_.])act\(", "dispatch"),
    rule(r"\bbegin_anew\b|\bled through\b|\b(is|are) led\b", "reset, restart, drain"),
    rule(rf"{START}[Pp]atience{END}", "timeout", allowed=r"--patience\b"),
    rule(
        rf"{START}[Ll]anes?{END}",
        "device replica",
        allowed=r"(?i)\b(simd|warp|vector|32|64|each|of a warp'?s?) lanes?\b|lane_sum\w*|lanes? of (a|the) warp",
        exempt=SIMD_FILES + r"|board_waves|html_\w+\.(py|js|css)$",
    ),
    rule(
        rf"{START}[Ii]mages?{END}",
        "fatbin or module (CUDA)",
        allowed=r"images?/|\.images\b|(ROI|charge|loose) images?|nvPTXCompiler|container images?",
        only=CUDA_FILES,
    ),
    rule(
        r"(?i)(?<!-)\b(an?|the|of|in|each|every|one|this|that|no|its|per|all|two|any|by|with|and|or|between) windows?\b(?![_(.])",
        "the kind of window: readout window, network tile, capture window, ...",
        allowed=r"\bwindow W\b",
    ),
    rule(r"(?i)\brecord(ed|ing|s)? (a |the )?(CUDA |device )?graphs?\b|\bgraph recordings?\b", "capture"),
    rule(rf"{START}[Pp]ermits?{END}", "reservation", exempt=r"README\.md$"),
    rule(
        r"\bstands?\b(?! for\b)|\bstood\b",
        "is, lies, is stored",
        allowed=r"(?i)stands? (alone|in for)|stand-?ins?|stand-?alone|standby|understand\w*",
    ),
    rule(
        r"(?i)\bsays? (so|of)\b|\bof itself\b|\banswers? for\b|\bno words? for\b|\btakes? off\b|\bin vain\b"
        r"|\bby itself says\b|\ball the same\b|\bever other\b|\bonce more in\b",
        "a plain verb: reports, covers, is responsible for, subtracts",
    ),
)

# "What ...", "Where ...", "That which ...", "Those that ..." as the opening of a comment, docstring, item or sentence.
HEADLESS = re.compile(
    COMMENT + r"(What|Where|That which|Those (that|which|who))\b|[a-z)`][.:] (What|That which|Those that)\b"
)
QUESTION = re.compile(r"\?|^\s*#+ |^\s*\|")  # a question, a heading or a row of a table in Markdown


def is_text(path: str) -> bool:
    """Tell whether a file is text that people write."""
    return Path(path).suffix in TEXT_ENDINGS


def is_covered(path: str) -> bool:
    """Tell whether the check reads the file at all."""
    return is_text(path) and not EXEMPT_FILES.match(path)


def check_text(path: str, text: str) -> Iterator[Finding]:
    """Yield the findings of one file. `path` is relative to the root of the repository, with slashes."""
    rules = [
        item
        for item in RULES
        if item.only.search(path)
        and not (item.exempt and item.exempt.search(path))
        and item.pattern.search(text)
    ]
    has_interest = False
    for index, line in enumerate(text.splitlines(), start=1):
        for item in rules:
            rest = item.allowed.sub("", line) if item.allowed else line
            for found in item.pattern.finditer(rest):
                yield Finding(path, index, found.group(), item.instead)
        if re.search(r"(?i)\bregions of interest\b", line):
            if has_interest:
                yield Finding(path, index, "regions of interest", "ROIs, after the first use in a file")
            has_interest = True
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
