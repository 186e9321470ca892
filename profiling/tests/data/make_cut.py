# SPDX-License-Identifier: Apache-2.0
"""Make the test data of a real export in two steps:

make_cut.py cut EXPORT.sqlite NAME.sqlite [UNTIL]   write the tables that the reports read, with the strings they
    refer to and without events that start at UNTIL [ns] or later, to NAME.sqlite, and to data/NAME.sqlite.xz
make_cut.py hash NAME.nsys.txt                      write the hashes of nsys's reports of it to data/NAME.sha256

The text between the steps is that of bench/nsys_agreement.py --keep on NAME.sqlite.
"""

from __future__ import annotations

import hashlib
import lzma
import re
import sqlite3
import sys
from pathlib import Path

HERE = Path(__file__).parent
TABLES = (
    "NVTX_EVENTS",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "OSRT_API",
    "TARGET_INFO_GPU",
    "ThreadNames",
    "ENUM_CUDA_MEMCPY_OPER",
    "ENUM_CUDA_MEM_KIND",
    "ENUM_NSYS_EVENT_TYPE",
    "META_DATA_EXPORT",
    "StringIds",
)
TEXT_COLUMNS = {"nameId", "textId", "demangledName", "shortName", "mangledName"}


def copy(source: sqlite3.Connection, target: sqlite3.Connection, until: int | None) -> None:
    """Copy the tables that the source has, with StringIds last and reduced to the strings that the others use."""
    used: set[int] = set()
    for table in TABLES:
        made = source.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        if made is None:
            continue
        target.execute(made[0])
        columns = [row[1] for row in source.execute(f"PRAGMA table_info({table})")]
        rows = source.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()
        if until is not None and "start" in columns:
            rows = [row for row in rows if row[columns.index("start")] < until]
        if table == "StringIds":
            rows = [row for row in rows if row[0] in used]
        if table == "META_DATA_EXPORT":
            rows = [row for row in rows if row[0] in ("EXPORT_SCHEMA_VERSION", "EXPORT_PRODUCT_VERSION")]
        for column in TEXT_COLUMNS.intersection(columns):
            used.update(row[columns.index(column)] for row in rows)
        target.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
    target.commit()
    target.execute("VACUUM")


def hashes(text: str) -> str:
    """Return a line 'SHA-256  REPORT' for each report of a text of nsys's."""
    parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)[1:]
    return "".join(
        f"{hashlib.sha256(body.encode()).hexdigest()}  {name}\n"
        for name, body in zip(parts[::2], parts[1::2])
    )


def main() -> None:
    """Run the command."""
    step, *words = sys.argv[1:]
    if step == "hash":
        text = Path(words[0])
        name = text.name.removesuffix(".nsys.txt")
        (HERE / f"{name}.sha256").write_text(hashes(text.read_text(encoding="utf-8")), encoding="utf-8")
        return
    export, cut = Path(words[0]), Path(words[1])
    cut.unlink(missing_ok=True)
    target = sqlite3.connect(cut)
    copy(sqlite3.connect(f"file:{export}?mode=ro", uri=True), target, int(words[2]) if words[2:] else None)
    target.close()
    packed = lzma.compress(cut.read_bytes(), preset=9 | lzma.PRESET_EXTREME)
    (HERE / f"{cut.name}.xz").write_bytes(packed)


if __name__ == "__main__":
    main()
