# SPDX-License-Identifier: Apache-2.0
"""Settings of the whole process: log lines, and how input that does not fit is treated."""

from __future__ import annotations

import atexit
import functools
import logging
from types import ModuleType

from .arguments import checked
from .errors import in_python

LEVELS = {
    "trace": logging.DEBUG,
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
}
_logger = logging.getLogger("spng")


@functools.cache
def native() -> ModuleType:
    """Return the native module, whose log lines go to the logger "spng" of Python's logging from now on."""
    from .native import core

    core.set_log_handler(_log, "warn")
    atexit.register(core.set_log_handler, None, "warn")  # no line may come after the interpreter has ended
    return core


def _log(level: str, logger: str, text: str) -> None:
    _logger.log(LEVELS[level], "%s: %s", logger, in_python(text))


@checked
def set_strict(strict: bool = True) -> None:
    """Make input that does not fit the detector an error (True), or a warning in the log (False, the default)."""
    native().set_strict(strict)
