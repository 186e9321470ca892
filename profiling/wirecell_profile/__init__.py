"""Analysis of profiles: files of wire-cell's own recorder and SQLite exports of Nsight Systems.

`profile.Profile` reads a file, `projection.Projection` joins host ranges with device operations, `selection.Scope`
narrows both to what was asked for, and everything in `reports` and `commands` is built on these three.
"""

from pathlib import Path

__version__ = Path(__file__).with_name("VERSION").read_text(encoding="utf-8").strip()
