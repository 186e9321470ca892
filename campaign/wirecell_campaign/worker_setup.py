"""Preloaded by workers of a local cluster: a session of their own, so that Ctrl-C in the terminal is for the client alone, which
decides what becomes of running work. Workers still end with the client: they watch a pipe to it."""

from __future__ import annotations

import os


def dask_setup(_worker: object) -> None:
    """Called by dask in the worker's process."""
    if os.getpgrp() != os.getpid():
        os.setsid()
