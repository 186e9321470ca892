# SPDX-License-Identifier: Apache-2.0
"""Provenance of a study: command, program, machine and load."""

from __future__ import annotations

import shlex
import sys
from typing import Any

from bench import machine_load


def about_run(timing: dict[str, Any], cores: int, start: machine_load.Moment) -> dict[str, Any]:
    """Return the provenance of a study that ends now. timing: the timing report of one of its jobs."""
    end, load = machine_load.now(), machine_load.since(start)
    return {
        "command": shlex.join(["./wcb", "physics", *sys.argv[1:]]),
        "cores": cores,
        "precision": timing["run"]["precision"],
        "wall_seconds": end.wall - start.wall,
        "cpu_seconds": end.own - start.own,
        "load_text": load.text(),
        **{key: timing[key] for key in ("time", "program", "versions", "machine")},
    }
