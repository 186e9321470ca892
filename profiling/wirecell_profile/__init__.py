"""Analysis of profiles: files of wire-cell's own recorder and SQLite exports of Nsight Systems.

`profile.Profile` reads a file, `projection.Projection` joins host ranges with device operations, `selection.Scope`
narrows both to what was asked for, and everything in `reports` and `commands` is built on these three.
"""

__version__ = "1.0"
