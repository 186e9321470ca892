# SPDX-License-Identifier: Apache-2.0
"""The Python tools in an installed tree: their packages, and launchers of their commands."""

from __future__ import annotations

import shlex

# Folders of the packages in the checkout.
PACKAGES = {"wirecell_profile": "profiling", "wirecell_campaign": "campaign"}
# The command with our libraries in it needs the native module, which a build may leave out.
FRAME_PACKAGES = {"spng": "python", "wirecell_frame": "python"}
LAUNCHER = """#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Write nothing into this installed tree (-B), and do not import files of the current folder (-P).
here=$(dirname -- "$(readlink -f -- "$0")")
python={python}
PATH=$here:$PATH
PYTHONPATH=$here/{packages}${{PYTHONPATH:+:$PYTHONPATH}}
export PATH PYTHONPATH
exec "${{SPNG_PYTHON:-$python}}" -B -P -m {package} "$@"
"""


def packages(with_frames: bool) -> dict[str, str]:
    """Return the folders of the packages in the checkout, by package."""
    found = PACKAGES | (FRAME_PACKAGES if with_frames else {})
    return {name: f"{folder}/{name}" for name, folder in found.items()}


def launchers(python: str, folder: str, with_frames: bool) -> dict[str, str]:
    """Return the scripts that start the commands, by command.

    @param python  the Python that configure found; the variable SPNG_PYTHON gives another one
    @param folder  of the packages, relative to that of the commands
    """
    return {
        name.replace("_", "-"): LAUNCHER.format(python=shlex.quote(python), packages=folder, package=name)
        for name in packages(with_frames)
        if name != "spng"
    }
