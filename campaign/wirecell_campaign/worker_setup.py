# SPDX-License-Identifier: Apache-2.0
"""Setup of the workers of a local cluster: give each a session of its own.

Ctrl-C in the terminal then reaches only the client, which decides on running work. Workers still end with the client: they
watch a pipe to it.
"""

from __future__ import annotations

import os


def dask_setup(_worker: object) -> None:
    """Start a session. dask calls this in the worker's process."""
    if os.getpgrp() != os.getpid():
        os.setsid()
