# SPDX-License-Identifier: Apache-2.0
"""The checks: their names, the files that they read, and how they run and correct."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..checkout import ROOT, STATE, VENV, build_folder
from . import clang_tidy, markdown, words
from .environment import system_tool, tool
from .files import with_ending

CPP = (".h", ".cxx", ".cu", ".cuh")
# Type-checked as a whole, because a change of one module shows in another.
TYPED = (
    "python/spng",
    "python/wirecell_frame",
    "profiling/wirecell_profile",
    "campaign/wirecell_campaign",
    "scripts",
    "bench",
)
# Sources that include a framework, which this machine need not have.
OF_FRAMEWORKS = ("adapters/", "tests/adapters/art/", "tests/adapters/phlex/")
JSONNETFMT = "jsonnetfmt"


@dataclass(frozen=True)
class Result:
    """The outcome of one check."""

    is_clean: bool
    text: str = ""
    skipped: str = ""  # the reason if the check could not run


@dataclass(frozen=True)
class Check:
    """One check."""

    name: str
    select: Callable[[list[str]], list[str]]
    run: Callable[[list[str], bool], Result]  # files, whether to correct them
    is_quick: bool = True  # part of ./wcb test, on all files


def run_tool(command: list[str]) -> Result:
    """Run a tool that exits with status 0 if there is nothing to report."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return Result(done.returncode == 0, (done.stdout + done.stderr).strip())


def both(first: Result, second: Result) -> Result:
    """Join two results."""
    return Result(first.is_clean and second.is_clean, "\n".join(filter(None, (first.text, second.text))))


def clang_format(paths: list[str], is_fix: bool) -> Result:
    """Format C++ and CUDA sources."""
    return run_tool([tool("clang-format"), *(["-i"] if is_fix else ["--dry-run", "--Werror"]), *paths])


def tidy(paths: list[str], _is_fix: bool) -> Result:
    """Find mistakes in C++ sources. Corrections are left to people: those of clang-tidy do not always compile."""
    folder = build_folder()
    if folder is None:
        return Result(True, skipped="there is no configured build (./wcb configure)")
    count, text = clang_tidy.check(folder, paths)
    return Result(count == 0, text)


def ruff_format(paths: list[str], is_fix: bool) -> Result:
    """Format Python."""
    return run_tool([tool("ruff"), "format", "--quiet", *([] if is_fix else ["--diff"]), *paths])


def ruff(paths: list[str], is_fix: bool) -> Result:
    """Find mistakes in Python."""
    return run_tool(
        [tool("ruff"), "check", "--quiet", "--output-format=concise", *(["--fix"] if is_fix else []), *paths]
    )


def mypy(_paths: list[str], _is_fix: bool) -> Result:
    """Check the types of all typed packages."""
    python = VENV / "bin" / "python"
    known = ["--python-executable", str(python)] if python.exists() else []
    return run_tool([tool("mypy"), f"--cache-dir={STATE / 'mypy'}", "--no-error-summary", *known, *TYPED])


def codespell(paths: list[str], is_fix: bool) -> Result:
    """Find misspelt words."""
    return run_tool([tool("codespell"), *(["--write-changes"] if is_fix else []), *paths])


def jsonnet_format(paths: list[str], is_fix: bool) -> Result:
    """Format Jsonnet, where the system has its formatter."""
    program = system_tool(JSONNETFMT)
    if program is None:
        return Result(True, skipped=f"no {JSONNETFMT} (Debian: apt-get install jsonnet)")
    return run_tool([program, "--indent", "4", "--in-place" if is_fix else "--test", *paths])


def word_list(paths: list[str], _is_fix: bool) -> Result:
    """Find words that the style guide replaces, and sentences without a subject."""
    findings = words.check_files(ROOT, paths)
    return Result(not findings, "\n".join(map(str, findings)))


def sentences(paths: list[str], _is_fix: bool) -> Result:
    """Find lines of Markdown with more or less than one sentence."""
    found = [
        f"{path}:{line}: {message}"
        for path in paths
        for line, message in markdown.check(Path(ROOT / path).read_text(encoding="utf-8"))
    ]
    return Result(not found, "\n".join(found))


CHECKS = (
    Check("clang-format", lambda files: with_ending(files, *CPP), clang_format),
    Check("ruff format", lambda files: with_ending(files, ".py"), ruff_format),
    Check("ruff", lambda files: with_ending(files, ".py"), ruff),
    Check("mypy", lambda files: [name for name in with_ending(files, ".py") if name.startswith(TYPED)], mypy),
    Check("codespell", lambda files: [name for name in files if words.is_text(name)], codespell),
    Check("jsonnetfmt", lambda files: with_ending(files, ".jsonnet"), jsonnet_format),
    Check("words", lambda files: [name for name in files if words.is_covered(name)], word_list),
    # The pages of benchmarks are written by scripts.
    Check(
        "sentences",
        lambda files: [name for name in with_ending(files, ".md") if not name.startswith("docs/benchmarks/")],
        sentences,
    ),
    Check(
        "clang-tidy",
        lambda files: [name for name in with_ending(files, ".cxx") if not name.startswith(OF_FRAMEWORKS)],
        tidy,
        is_quick=False,
    ),
)
