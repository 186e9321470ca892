# SPDX-License-Identifier: Apache-2.0
"""Workers of a campaign: on this machine, as jobs of a batch system, or of a running scheduler."""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import dask
from distributed import Client, LocalCluster, Security
from distributed.deploy import Cluster

from .errors import CampaignError, UsageError
from .layout import Layout
from .options import BATCH, ClusterOptions
from .times import clock
from .tls import credentials, remove_stale, security

if TYPE_CHECKING:
    from dask_jobqueue import JobQueueCluster
    from dask_jobqueue.core import Job

OwnCluster = TypeVar("OwnCluster", bound=Cluster)

LOOPBACK = "127.0.0.1"
SLURM_WALLTIME = 4 * 3600.0  # s

# Settings of distributed. The loss of a worker is reported at once, because the campaign decides on retries. Workers have no
# memory limit, because the program uses the memory, not the worker. Nothing is served over HTTP. Nobody reads the engine's own
# profile and statistics of the machine, which cost some per cent of a core for each worker.
CONFIGURATION = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.tick.limit": "60s",
}


class JobOptions(TypedDict):
    """Keyword arguments of dask-jobqueue that are common to all batch systems."""

    cores: int
    processes: int
    memory: str
    python: str
    job_name: str
    log_directory: str
    local_directory: str
    death_timeout: int  # s
    interface: str | None
    job_script_prologue: list[str]
    worker_extra_args: list[str]
    scheduler_options: dict[str, object]
    security: Security | None
    silence_logs: int


def batch_cluster(options: ClusterOptions, layout: Layout) -> JobQueueCluster:
    """Return a cluster of dask-jobqueue without jobs. Raise UsageError for missing options and options that the batch system lacks."""
    common: JobOptions = {
        "cores": options.cores,
        "processes": 1,
        "memory": options.memory or f"{2 * options.cores}GB",
        "python": f"{sys.executable} -P",  # imports no file of the job's folder
        "job_name": "wirecell-campaign",
        "log_directory": str(layout.logs),
        "local_directory": "/tmp",
        "death_timeout": 120,
        "interface": options.interface or None,
        "job_script_prologue": ["export PYTHONUTF8=1", *options.prologue],  # see utf8_mode.py
        # Workers' web servers cannot be switched off and have no TLS.
        "worker_extra_args": ["--no-dashboard", "--dashboard-address", f"{LOOPBACK}:0"],
        "scheduler_options": {"dashboard": False, "dashboard_address": f"{LOOPBACK}:0"},
        "security": security(options),
        "silence_logs": logging.CRITICAL,
    }
    if options.where == "slurm":
        from dask_jobqueue.slurm import SLURMCluster, SLURMJob

        return SLURMCluster(
            job_cls=job_of_one_run(SLURMJob),
            queue=options.queue or None,
            account=options.account or None,
            walltime=clock(options.walltime or SLURM_WALLTIME),
            job_extra_directives=options.directives,
            **common,
        )
    from dask_jobqueue.htcondor import HTCondorCluster, HTCondorJob

    directives = dict(split_directive(word) for word in options.directives)
    if options.account:
        directives["accounting_group"] = options.account
    if options.walltime:
        directives["+MaxRuntime"] = str(math.ceil(options.walltime))
    if options.queue:
        raise UsageError(
            "HTCondor has no queues", seen=f"--queue {options.queue}", hint="--directive 'requirements=...'"
        )
    return HTCondorCluster(
        job_cls=job_of_one_run(HTCondorJob),
        disk=options.disk or "4GB",
        job_extra_directives=directives,
        **common,
    )


def job_of_one_run(job: type[Job]) -> Any:  # dask-jobqueue declares its argument as an instance
    """Return a job whose worker has one thread, for one run of the program with all cores, and no limit of its memory."""
    return type(job.__name__, (job,), {"worker_process_threads": 1, "worker_process_memory": 0})


def split_directive(word: str) -> tuple[str, str]:
    """Split a directive 'name=value' of HTCondor."""
    name, sign, value = word.partition("=")
    if not sign:
        raise UsageError("a directive of HTCondor has no value", seen=word, expected="name=value")
    return name.strip(), value.strip()


def job_script(options: ClusterOptions, layout: Layout) -> str:
    """Return the job script of a worker. Raise UsageError like batch_cluster()."""
    absent = [folder for folder in (layout.logs, layout.internal, layout.root) if not folder.exists()]
    try:
        with (
            dask.config.set(CONFIGURATION),
            credentials(options, layout) as secured,
            closing_cluster(lambda: batch_cluster(secured, layout)) as cluster,
        ):
            return cluster.job_script()
    finally:
        for folder in absent:  # dask-jobqueue creates the folder of its logs immediately
            if folder.exists():
                folder.rmdir()


class Supply:
    """Keeps the number of workers of a cluster constant.

    Jobs end by their walltime or by preemption, and the nanny of a local worker gives up if the worker is killed while it
    starts. The engine does not replace these workers.
    """

    def __init__(self, cluster: Cluster, wanted: int, on_one_machine: bool) -> None:
        self._cluster, self._wanted, self._on_one_machine = cluster, wanted, on_one_machine

    def refill(self, retired: int) -> None:
        """Start missing workers. A retired worker gets a successor unless it is on this machine."""
        self._cluster.scale(self._wanted - retired if self._on_one_machine else self._wanted)


@contextmanager
def connected(options: ClusterOptions, layout: Layout) -> Iterator[tuple[Client, Supply | None]]:
    """Yield a client, and the supply of workers if the campaign owns them. All end with the context."""
    log_to_file(layout.logs / "engine.log")
    remove_stale(layout)
    with dask.config.set(CONFIGURATION), credentials(options, layout) as options:
        if options.where == "local":
            with (
                closing_cluster(lambda: local_cluster(options)) as cluster,
                client(cluster, options) as connection,
            ):
                yield connection, Supply(cluster, options.workers, on_one_machine=True)
        elif options.where in BATCH:
            with (
                closing_cluster(lambda: batch_cluster(options, layout)) as jobs,
                client(jobs, options) as connection,
            ):
                yield connection, Supply(jobs, options.workers, on_one_machine=False)
        else:
            with client(options.where, options) as connection:
                yield connection, None


def local_cluster(options: ClusterOptions) -> LocalCluster:
    """Return a cluster of workers on this machine that accepts connections from this machine only."""
    return LocalCluster(
        n_workers=options.workers,
        threads_per_worker=1,
        host=LOOPBACK,
        dashboard_address=f"{LOOPBACK}:0",
        worker_dashboard_address=f"{LOOPBACK}:0",
        memory_limit=0,
        silence_logs=logging.CRITICAL,
        preload="wirecell_campaign.worker_setup",
        security=security(options),
        protocol="tls://" if options.tls else "tcp://",
    )


@contextmanager
def closing_cluster(make: Callable[[], OwnCluster]) -> Iterator[OwnCluster]:
    """Yield a cluster and close it at the end. Raise CampaignError if it cannot be made."""
    try:
        cluster = make()
    except CampaignError:
        raise
    except (OSError, RuntimeError, ValueError, TypeError) as error:
        raise CampaignError("cannot start the workers", seen=str(error)) from None
    try:
        yield cluster
    finally:
        cluster.close()


@contextmanager
def client(cluster: Cluster | str, options: ClusterOptions) -> Iterator[Client]:
    """Yield a client of a cluster or an address. Raise CampaignError if no scheduler answers."""
    try:
        connection = Client(
            cluster, timeout=options.scheduler_timeout, security=security(options), set_as_default=False
        )
    except ValueError as error:
        raise UsageError(
            "--cluster is not an address",
            seen=str(cluster),
            expected=f"local, slurm, htcondor or tcp://HOST:PORT ({error})",
        ) from None
    except (OSError, TimeoutError) as error:
        raise CampaignError(
            "no scheduler answers",
            str(cluster),
            str(error),
            "a dask scheduler",
            "start one by: dask scheduler; with TLS the address begins with tls://",
        ) from None
    try:
        yield connection
    finally:
        connection.close()


def log_to_file(path: Path) -> None:
    """Send messages of the engine to a file instead of the terminal. Distributed has several loggers with handlers."""
    handler = logging.FileHandler(path, delay=True, encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    for name in ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
