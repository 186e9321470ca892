# SPDX-License-Identifier: Apache-2.0
"""Settings of the whole process: log lines, and how input that does not fit is treated."""

from __future__ import annotations

import atexit
import logging

from . import _core

_logger = logging.getLogger("spng")
_LEVELS = {
    "trace": logging.DEBUG,
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
}


def set_strict(strict: bool = True) -> None:
    """Make input that does not fit the detector an error (True), or a warning in the log (False, the default)."""
    _core.set_strict(strict)


def _handle(level: str, logger: str, text: str) -> None:
    _logger.log(_LEVELS[level], "%s: %s", logger, text)


def send_log_lines(level: str = "warn") -> None:
    """Send log lines of the chain, from this level on, to the logger "spng" of Python's logging. Done at import for "warn"."""
    _core.set_log_handler(_handle, level)


send_log_lines()
atexit.register(_core.set_log_handler, None, "warn")  # no line may come after the interpreter has ended
