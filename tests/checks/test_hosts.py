# SPDX-License-Identifier: Apache-2.0
"""The repository names no host of a package registry: mirrors and credentials are settings of the machine."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# In two parts, so that this file does not contain them.
HOSTS = [
    f"{name}.{domain}"
    for name, domain in (
        ("deb", "debian.org"),
        ("security", "debian.org"),
        ("archive", "ubuntu.com"),
        ("pypi", "org"),
        ("files", "pythonhosted.org"),
        ("download", "pytorch.org"),
        ("conda", "anaconda.org"),
        ("registry", "npmjs.org"),
        ("static", "crates.io"),
        ("proxy", "golang.org"),
        ("docker", "io"),
        ("ghcr", "io"),
        ("nvcr", "io"),
    )
]


def test_no_registry_host_is_named() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, HOSTS))})\b")
    found = []
    for name in filter(None, tracked.split("\0")):
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        found += [f"{name}: {match}" for match in pattern.findall(text)]
    assert not found, found
