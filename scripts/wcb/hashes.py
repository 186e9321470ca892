# SPDX-License-Identifier: Apache-2.0
"""requirements-hashes.txt: the SHA-256 of every file that pip may install.

After a change of requirements.txt or requirements-lint.txt, .venv/bin/python -m scripts.wcb.hashes writes it again. pip asks
the index of its settings for the hashes, once for each Python and processor, and downloads no package.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from .checkout import ROOT, fail, run, say

HASHES = ROOT / "requirements-hashes.txt"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PROCESSORS = {  # list -> processors for which the index has all of it
    "requirements.txt": ("x86_64", "aarch64"),
    "requirements-lint.txt": ("x86_64",),
}
NEWEST_GLIBC = 28  # 2.28, which torch needs: other packages must not need a newer one
HEADER = """# SPDX-License-Identifier: Apache-2.0
# Written by: .venv/bin/python -m scripts.wcb.hashes
"""


def read() -> dict[str, str]:
    """Return name==version -> its line for pip, with all hashes."""
    lines = HASHES.read_text(encoding="utf-8").replace("\\\n", "").splitlines()
    return {line.split()[0]: line for line in lines if line.strip() and not line.startswith("#")}


def install(python: Path, pins: Iterable[str], *options: str) -> int:
    """Install packages by pip without dependencies, each from a file with a listed hash; return pip's exit status.

    A file is needed because pip takes no hashes on its command line.
    """
    known = read()
    lines = []
    for pin in pins:
        if pin not in known:
            fail(f"{HASHES.name} has no hash of {pin}. To fix: .venv/bin/python -m scripts.wcb.hashes")
        lines.append(known[pin] + "\n")
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.writelines(lines)
        file.flush()
        words = ["install", "--no-deps", "--no-input", "--disable-pip-version-check", "--require-hashes"]
        command = [str(python), "-m", "pip", *words, *options, "--requirement", file.name]
        return run(command)


def ask_index(requirements: Path, python: str, processor: str) -> dict[str, str]:
    """Return SHA-256 -> name==version of the files that pip would install on such a machine."""
    platforms = ["manylinux2014", *(f"manylinux_2_{minor}" for minor in range(5, NEWEST_GLIBC + 1))]
    command = [
        sys.executable,
        *"-m pip install --dry-run --quiet --ignore-installed --no-deps".split(),
    ]
    command += ["--only-binary", ":all:", "--target", "/nonexistent", "--python-version", python]
    command += [word for one in platforms for word in ("--platform", f"{one}_{processor}")]
    done = subprocess.run(
        [*command, "--report", "-", "--requirement", str(requirements)], stdout=subprocess.PIPE, check=False
    )
    if done.returncode:
        fail(f"pip found no files of {requirements.name} for Python {python} on {processor}", 1)
    return {
        item["download_info"]["archive_info"]["hashes"]["sha256"]: (
            f"{item['metadata']['name'].lower().replace('_', '-')}=={item['metadata']['version']}"
        )
        for item in json.loads(done.stdout)["install"]
    }


def main() -> None:
    """Write the list."""
    pins: dict[str, str] = {}
    for name, processors in PROCESSORS.items():
        for processor in processors:
            for python in PYTHONS:
                say(f"{name}: Python {python}, {processor}")
                pins |= ask_index(ROOT / name, python, processor)
    lines: dict[str, str] = {}
    for checksum, pin in sorted(pins.items()):
        lines[pin] = lines.get(pin, pin) + f" \\\n    --hash=sha256:{checksum}"
    HASHES.write_text(HEADER + "".join(lines[pin] + "\n" for pin in sorted(lines)), encoding="utf-8")


if __name__ == "__main__":
    main()
