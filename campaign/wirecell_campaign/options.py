# SPDX-License-Identifier: Apache-2.0
"""The user's options, with defaults filled in."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

BATCH = ("slurm", "htcondor")


@dataclass
class ClusterOptions:
    """Options of the cluster. Empty strings and None: the engine's or the site's default."""

    where: str = "local"  # local, one of BATCH, or the address of a scheduler
    workers: int = 1
    cores: int = 1  # of a worker
    queue: str = ""
    account: str = ""
    memory: str = ""
    disk: str = ""
    walltime: float | None = None  # s
    interface: str = ""
    directives: list[str] = field(default_factory=list)
    prologue: list[str] = field(default_factory=list)
    tls: dict[str, str] = field(default_factory=dict)  # ca, certificate, key
    tls_wanted: bool | None = None  # None: if the campaign owns the cluster and can make a certificate
    scheduler_timeout: float = 60.0  # s

    @property
    def is_own(self) -> bool:
        """Whether the campaign owns scheduler and workers, which then end with it."""
        return self.where == "local" or self.where in BATCH


@dataclass
class RunOptions:
    """Options of a run."""

    file_list: str  # path, or - for standard input
    output: Path
    config: str
    arguments: list[str]
    search_path: list[str]
    suffix: str
    record_profiles: bool
    strict: bool
    dry_run: bool
    retries: int
    timeout: float | None
    stop_at_failure: bool
    redo: bool
    overwrite: bool
    quick: bool
    worker_timeout: float | None  # s without any worker; None: without limit
    program: str | None
    scratch: str
    gives_threads: bool
    cluster: ClusterOptions
