# SPDX-License-Identifier: Apache-2.0
"""Optional packages, which are imported at their first use."""

from __future__ import annotations

import importlib
from types import ModuleType

from wirecell_profile.errors import pip_install

from .errors import Error


def required(module: str, need: str, kind: str = "Usage") -> ModuleType:
    """Import a module of an optional package. Raise Error of a kind that gives the command to install it.

    need  the things that need it, with the verb: "HDF5 files need"
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise Error(
            kind,
            f"{need} the Python package {package}",
            seen=str(error),
            hint=pip_install(package),
        ) from None
