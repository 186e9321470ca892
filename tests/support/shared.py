# SPDX-License-Identifier: Apache-2.0
"""Find the shared data for Python tests: the same rule as tests/support/paths.h."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def shared_folder() -> Path | None:
    """Return the folder of SPNG_SHARED, else the nearest folder `shared` with a `data` in it beside the
    source tree or a folder above it; None if there is none, so that the test skips.
    """
    given = os.environ.get("SPNG_SHARED")
    candidates = (
        [Path(given)] if given is not None else [folder.parent / "shared" for folder in (ROOT, *ROOT.parents)]
    )
    return next((folder for folder in candidates if (folder / "data").is_dir()), None)
