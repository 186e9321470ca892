# SPDX-License-Identifier: Apache-2.0
"""SPNG: charge waveforms with regions of interest (ROIs) from raw waveforms of liquid-argon TPCs."""

import os
from pathlib import Path

from .errors import Error, NotBuilt

# A checkout has the native module in its build folder, a wheel beside this file.
_BUILD = os.environ.get("SPNG_BUILD") or Path(__file__).parents[2] / "build"
__path__ = [*__path__, str(Path(_BUILD) / "python" / "spng")]

try:
    from . import _core as _core
except ImportError as problem:
    # Comparisons and formats such as HDF5 need no native module, so report it where it is used.
    _core = NotBuilt(  # type: ignore[assignment]
        Error(
            "Configuration",
            "the native module of spng cannot be loaded",
            where=", ".join(__path__),
            seen=str(problem),
            expected="_core of the same Python",
            hint="build it with ./wcb --notests, or name another build folder with SPNG_BUILD",
        )
    )

from .frame import Frame, SparseSamples, Traces  # noqa: E402
from .frame_files import read_frames, write_frames  # noqa: E402

__all__ = ["Error", "Frame", "SparseSamples", "Traces", "read_frames", "write_frames"]
