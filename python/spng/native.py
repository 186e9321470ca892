# SPDX-License-Identifier: Apache-2.0
"""Load the native module. Import this module where its `core` is used: the rest of the package works without a build."""

from . import __path__
from .errors import Error

try:
    try:
        from . import _core as core
    except ImportError as problem:
        if "cannot open shared object file" not in str(problem):
            raise
        # The module searches LibTorch beside the package; Python may have torch in another folder.
        import torch  # noqa: F401

        from . import _core as core
except ImportError as problem:
    raise Error(
        "Configuration",
        "the native module of spng cannot be loaded",
        where=" or ".join(__path__),
        seen=str(problem),
        expected="_core, built for this Python, and LibTorch",
        hint="with a wheel: pip install torch==2.11.*; in a checkout: ./wcb --notests; SPNG_BUILD names another build folder",
    ) from problem

__all__ = ["core"]
