# SPDX-License-Identifier: Apache-2.0
"""The manifest: outputs of the campaign with checksums, and their verification."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from .checksum import is_same
from .errors import UsageError
from .layout import CHECKSUMS, MANIFEST, OWN_NAMES, PROFILES, Layout, read_json, write_json, write_whole

SCHEMA = "spng-campaign-manifest-1"
FILE_KEYS = {"path", "size", "sha256"}  # needed by verify()
CHECKERS = 4


@dataclass
class Verdict:
    """Differences between the folder and its manifest; all lists are empty if there are none."""

    checked: int = 0
    missing: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        return not (self.missing or self.damaged or self.unknown)


def make(settings: dict, records: dict[str, dict], failed: list[str], left: list[str]) -> dict:
    """Return the manifest of records; `failed` and `left` are missing outputs."""
    files = [
        {
            "path": product["path"],
            "size": product["size"],
            "sha256": product["sha256"],
            "output": name,
            "input": record["input"],
            "events": record["events"],
            "host": record["host"],
            "attempt": record["attempt"],
            "settings": record["settings"],
            "warnings": record.get("warnings", []),
        }
        for name, record in records.items()
        for product in record["products"]
    ]
    return {
        "schema": SCHEMA,
        "complete": not failed and not left,
        "settings": settings,
        "files": sorted(files, key=lambda entry: entry["path"]),
        "failed": sorted(failed),
        "left": sorted(left),
    }


def write(layout: Layout, manifest: dict) -> None:
    """Write manifest.json and SHA256SUMS. Raise OSError."""
    lines = [checksum_line(entry["sha256"], entry["path"]) for entry in manifest["files"]]
    write_whole(layout.root / CHECKSUMS, "".join(lines))
    write_json(layout.root / MANIFEST, manifest)


def checksum_line(digest: str, path: str) -> str:
    """Return a line as sha256sum writes it: with backslash, line feed and carriage return escaped in the name, and then a
    backslash at the start of the line.
    """
    escaped = path.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    mark = "\\" if escaped != path else ""
    return f"{mark}{digest}  {escaped}\n"


def read(layout: Layout) -> dict:
    """Return the manifest of a folder. Raise UsageError if it is absent or incomplete."""
    found = read_json(layout.root / MANIFEST)
    if isinstance(found, dict) and found.get("schema") == SCHEMA:
        files = found.get("files")
        if isinstance(files, list) and all(
            isinstance(entry, dict) and set(entry) >= FILE_KEYS for entry in files
        ):
            return found
    raise UsageError(
        "the folder has no complete manifest",
        str(layout.root),
        expected=MANIFEST,
        hint="wirecell-campaign run writes it at its end; run the same command again",
    )


def verify(layout: Layout) -> Verdict:
    """Read every file of the manifest and compare its checksum; find files that are not in it."""
    entries = read(layout)["files"]

    def one(entry: dict) -> tuple[str, bool, bool]:
        path = layout.root / entry["path"]
        return entry["path"], path.exists(), is_same(path, entry)

    verdict = Verdict(len(entries))
    with ThreadPoolExecutor(CHECKERS) as pool:
        for path, exists, same in pool.map(one, entries):
            if not exists:
                verdict.missing.append(path)
            elif not same:
                verdict.damaged.append(path)
    known = {entry["path"] for entry in entries}
    verdict.unknown = sorted(name for name in present(layout.root) if name not in known)
    return verdict


def present(root: Path) -> list[str]:
    """Return the files of the folder that are outputs or lie among them, relative to it."""
    own = [path for path in root.iterdir() if path.name not in OWN_NAMES]
    profiles = root / PROFILES
    return [
        path.relative_to(root).as_posix()
        for path in own + (list(profiles.iterdir()) if profiles.is_dir() else [])
    ]
