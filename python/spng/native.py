# SPDX-License-Identifier: Apache-2.0
"""Load the native module. Import this module where its `core` is used: the rest of the package works without a build."""

from . import __path__
from .errors import Error

try:
    from . import _core as core
except ImportError as problem:
    raise Error(
        "Configuration",
        "the native module of spng cannot be loaded",
        where=" or ".join(__path__),
        seen=str(problem),
        expected="_core, built for this Python",
        hint="build it with ./wcb --notests; SPNG_BUILD names another build folder",
    ) from problem

__all__ = ["core"]
