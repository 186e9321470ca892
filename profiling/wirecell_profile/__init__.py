# SPDX-License-Identifier: Apache-2.0
"""Analysis of profiles: files of wire-cell's own recorder and SQLite exports of Nsight Systems.

`model.profile.Profile` reads a file, `model.projection.Projection` joins host ranges with device operations,
and `model.selection.Scope` narrows both to a selection. All reports and commands use these three.
"""

from pathlib import Path

__version__ = Path(__file__).with_name("VERSION").read_text(encoding="utf-8").strip()
