# SPDX-License-Identifier: Apache-2.0
"""An operator is in few files, so that a new one is quickly written and an old one quickly understood.

A file counts if it has the name as a word: declaration, bodies, kernel, host code, the cases for devices, tests of the
kernel and the list of kernels (docs/decisions/cuda-kernels.md). Not counted are files that only call its function, as
callers of any function do, names of files, prose and records, the Python chain in tests/reference with functions of its
own, and tests of the profiler with names of kernels as examples.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OPERATOR = re.compile(r'^(?:static )?const Operator (\w+)_op\{\s*"(\w+?)_?\(', re.MULTILINE)
MAX_FILES = 8
COUNTED = re.compile(r"(spng|bench|scripts|tests)/(?!reference/|checks/).*|docs/decisions/cuda-kernels\.md")
# Also a step of the chain, so that tests and configurations have the word.
FILES_OF_STEP = {
    "coincidence": re.compile(r"spng/(kernels|nodes/coincidence)/|bench/gpu/|tests/kernels/|docs/")
}
SOURCES = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "spng").rglob("*.cxx"))}


def operators() -> list[str]:
    """Return the names of all operators."""
    found = [match for text in SOURCES.values() for match in OPERATOR.findall(text)]
    assert all(variable == name for variable, name in found)
    return [name for _, name in found]


def only_calls(file: str, text: str, name: str) -> bool:
    """Tell whether a file neither declares nor defines the operator, its bodies or its kernels."""
    own = rf"{name}_op\b|kernels::{name}\b|^\w[\w:<>, ]* {name}\("
    is_cpp = file.endswith((".cxx", ".h")) and "namespace spng::kernels" not in text
    return is_cpp and re.search(own, text, re.MULTILINE) is None


def files_of(name: str) -> list[str]:
    """Return the files that count."""
    command = ["git", "grep", "-lw", "--untracked", name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    word = re.compile(rf"(?<![\w/]){name}(?!\w|\.(?:cu|cxx|h)\b)")
    files = []
    for file in filter(COUNTED.fullmatch, done.stdout.split()):
        text = (ROOT / file).read_text(encoding="utf-8")
        if (
            word.search(text)
            and FILES_OF_STEP.get(name, COUNTED).match(file)
            and not only_calls(file, text, name)
        ):
            files.append(file)
    return files


def test_there_are_operators_and_no_other_registrations() -> None:
    assert len(operators()) == len(set(operators())) > 20
    registrations = [str(path) for path, text in SOURCES.items() if "TORCH_LIBRARY" in text]
    assert not registrations


@pytest.mark.parametrize("name", operators())
def test_an_operator_is_in_few_files(name: str) -> None:
    assert len(files_of(name)) <= MAX_FILES, files_of(name)
