# SPDX-License-Identifier: Apache-2.0
"""Make radar-a100.sqlite.xz and radar-a100.sha256 from the whole export and nsys's reports:
make_radar_cut.py FOLDER.

Keep the tables that the reports read, with the strings they refer to. FOLDER is shared/data/nsys.
"""

from __future__ import annotations

import gzip
import hashlib
import lzma
import sqlite3
import sys
import tempfile
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


def copy(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Return the tables, with StringIds last and reduced to the strings that the others use."""
    used: set[int] = set()
    for table in TABLES:
        target.execute(source.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0])
        columns = [row[1] for row in source.execute(f"PRAGMA table_info({table})")]
        rows = source.execute(f"SELECT * FROM {table}").fetchall()
        if table == "StringIds":
            rows = [row for row in rows if row[0] in used]
        if table == "META_DATA_EXPORT":
            rows = [row for row in rows if row[0] in ("EXPORT_SCHEMA_VERSION", "EXPORT_PRODUCT_VERSION")]
        for column in TEXT_COLUMNS.intersection(columns):
            used.update(row[columns.index(column)] for row in rows)
        target.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
    target.commit()
    target.execute("VACUUM")


def main() -> None:
    """Run the command."""
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        cut = Path(scratch) / "cut.sqlite"
        source = sqlite3.connect(f"file:{folder}/radar-a100.sqlite?mode=ro", uri=True)
        target = sqlite3.connect(cut)
        copy(source, target)
        target.close()
        (HERE / "radar-a100.sqlite.xz").write_bytes(
            lzma.compress(cut.read_bytes(), preset=9 | lzma.PRESET_EXTREME)
        )
    lines = []
    for path in sorted(folder.glob("radar-a100.*.csv*")):
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        lines.append(f"{hashlib.sha256(text).hexdigest()}  {path.name.split('.')[1]}\n")
    (HERE / "radar-a100.sha256").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
