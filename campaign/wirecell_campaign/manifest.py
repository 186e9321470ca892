"""The manifest: what the campaign has made, with checksums; and whether the folder still holds just that."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from .checksum import is_same
from .errors import WrongUse
from .layout import CHECKSUMS, MANIFEST, OWN_NAMES, PROFILES, Layout, read_json, write_json, write_whole

SCHEMA = "spng-campaign-manifest-1"
FILE_KEYS = {"path", "size", "sha256"}  # that verify() needs
CHECKERS = 4


@dataclass
class Verdict:
    """How the folder differs from its manifest; empty lists: not at all."""

    checked: int = 0
    missing: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        return not (self.missing or self.damaged or self.unknown)


def make(settings: dict, records: dict[str, dict], failed: list[str], left: list[str]) -> dict:
    """The manifest of records; `failed` and `left` are outputs that are not there."""
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
    """manifest.json and SHA256SUMS. OSError."""
    lines = [checksum_line(entry["sha256"], entry["path"]) for entry in manifest["files"]]
    write_whole(layout.root / CHECKSUMS, "".join(lines))
    write_json(layout.root / MANIFEST, manifest)


def checksum_line(digest: str, path: str) -> str:
    """As sha256sum writes it: backslash, line feed and carriage return in a name are escaped, and the line then begins with a
    backslash."""
    escaped = path.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    mark = "\\" if escaped != path else ""
    return f"{mark}{digest}  {escaped}\n"


def read(layout: Layout) -> dict:
    """The manifest of a folder. WrongUse when there is none, or none that is whole."""
    found = read_json(layout.root / MANIFEST)
    files = found.get("files") if isinstance(found, dict) and found.get("schema") == SCHEMA else None
    if not isinstance(files, list) or not all(
        isinstance(entry, dict) and set(entry) >= FILE_KEYS for entry in files
    ):
        raise WrongUse(
            "the folder has no manifest, or none that is whole",
            str(layout.root),
            expected=MANIFEST,
            hint="it is written when wirecell-campaign run ends; run the same command again",
        )
    return found


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
    """Files of the folder that are outputs or stand among them, relative to it."""
    own = [path for path in root.iterdir() if path.name not in OWN_NAMES]
    profiles = root / PROFILES
    return [
        path.relative_to(root).as_posix()
        for path in own + (list(profiles.iterdir()) if profiles.is_dir() else [])
    ]
