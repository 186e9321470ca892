# SPDX-License-Identifier: Apache-2.0
"""The record of a finished file, written once by the attempt that made the output. A file with a record is done."""

from __future__ import annotations

from pathlib import Path

from . import checksum
from .checksum import is_same
from .layout import Layout, read_json

SCHEMA = "spng-campaign-record-1"
# A record also has: events, content (of the output), warnings, strict, program, `number` (of the attempt, from 1), host, worker,
# start, stop, seconds, status, timing.
PRODUCT_KEYS = {"path", "scratch", "size", "sha256", "mtime_ns"}
INPUT_KEYS = {"path", "size", "mtime_ns", "sha256"}


def read(path: Path) -> dict | None:
    """Return a record, or None if it is absent or incomplete, as after a crash of the file system."""
    found = read_json(path)
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        return None
    products, source = found.get("products"), found.get("input")
    whole = (
        isinstance(products, list)
        and products
        and all(isinstance(product, dict) and set(product) >= PRODUCT_KEYS for product in products)
        and isinstance(source, dict)
        and set(source) >= INPUT_KEYS
        and {"name", "settings", "attempt", "host", "events", "seconds", "timing"} <= set(found)
    )
    return found if whole else None


def read_all(layout: Layout) -> dict[str, dict]:
    """Return all complete records by the name of their output, in order of the names."""
    found = {path.name.removesuffix(".json"): read(path) for path in sorted(layout.records.glob("*.json"))}
    return {name: record for name, record in found.items() if record}


def wrong_products(layout: Layout, record: dict, quick: bool) -> list[str]:
    """Return the paths of products that are absent or differ from the record."""
    return [
        product["path"]
        for product in record["products"]
        if not is_same(layout.root / product["path"], product, quick)
    ]


def is_input_same(record: dict, path: Path, quick: bool) -> bool:
    """Tell whether the input still has the content from which the output was made. An input that is absent or cannot be read
    counts as the same.
    """
    try:
        return checksum.is_input_same(path, record["input"], quick)
    except OSError:
        return True
