# SPDX-License-Identifier: Apache-2.0
"""The plan of a campaign: which files, and how. It needs no engine, whose import takes as long as the check of the job."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from . import input_list, program, settings
from .input_list import Entry
from .layout import longest_name
from .options import RunOptions
from .settings import Settings

THREADS = re.compile(r"^\s*threads\s*=", re.MULTILINE)  # in a configuration that has the argument


@dataclass
class Plan:
    """The files to process, and how."""

    entries: dict[str, Entry]
    settings: Settings
    program: Path
    threads: dict[str, str]  # the argument `threads`, which does not change outputs; empty: not given
    unreadable: dict[str, str]


def make_plan(options: RunOptions) -> Plan:
    """Read the list and determine the settings. Write nothing. Raise UsageError or CampaignError."""
    entries = input_list.read_entries(options.file_list, options.suffix, longest_name(bool(options.scratch)))
    config = settings.find_config(options.config)
    arguments = settings.parse_arguments(options.arguments)
    path = program.find(options.program)
    takes_threads = THREADS.search(config.read_text(encoding="utf-8", errors="replace"))
    threads = (
        {"threads": str(options.cluster.cores)}
        if options.gives_threads and takes_threads and "threads" not in arguments
        else {}
    )
    words = ["-c", str(config)] + [word for folder in options.search_path for word in ("-P", folder)]
    for name, value in (arguments | threads).items():
        words += ["-A", f"{name}={value}"]
    limit = options.timeout or program.TIMEOUT
    version = program.identity(path, limit)
    with ThreadPoolExecutor(1) as pool:  # the check runs in this thread, which signals interrupt
        known = pool.submit(settings.make, config, arguments, version, options.suffix, options.search_path)
        program.check_job(path, words, limit)
    return Plan(
        {entry.name: entry for entry in entries},
        known.result(),
        path,
        threads,
        input_list.unreadable(entries),
    )
