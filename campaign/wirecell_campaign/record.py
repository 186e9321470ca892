"""The record of a done file. It is written once, by the attempt that made the output; with it the file is done."""

from __future__ import annotations

from pathlib import Path

from .checksum import is_same
from .layout import Layout, read_json

SCHEMA = "spng-campaign-record-1"
# What a record holds, beside: events, program, number, host, worker, start, stop, seconds, status, timing.
PRODUCT_KEYS = {"path", "scratch", "size", "sha256", "mtime_ns"}
INPUT_KEYS = {"path", "size", "mtime_ns", "sha256"}


def read(path: Path) -> dict | None:
    """A record; None when it is absent or is not whole, as after a crash of the file system."""
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
    """All whole records by the name of their output, in order of the names."""
    found = {path.name.removesuffix(".json"): read(path) for path in sorted(layout.records.glob("*.json"))}
    return {name: record for name, record in found.items() if record}


def wrong_products(layout: Layout, record: dict, quick: bool) -> list[str]:
    """Paths of products that are absent or are not what the record says."""
    return [
        product["path"]
        for product in record["products"]
        if not is_same(layout.root / product["path"], product, quick)
    ]


def is_input_same(record: dict, path: Path) -> bool:
    """Whether the input has the content that the output was made of. An input that is gone counts as the same: the output is done."""
    return is_same(path, record["input"], quick=True) or not path.exists()
