"""Where the work is done: workers on this machine, jobs of a batch system, or a scheduler that runs already."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import dask
from distributed import Client, LocalCluster, Security

from .errors import CampaignError, WrongUse
from .layout import Layout
from .options import BATCH, ClusterOptions

LOOPBACK = "127.0.0.1"

# Of distributed. A worker's loss is reported at once, for the campaign itself decides how often a file is tried; the memory of
# workers is not limited, for it is the program that uses memory; nothing is served over HTTP.
CONFIGURATION = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.admin.tick.limit": "60s",
}


def security(options: ClusterOptions) -> Security | None:
    """TLS for all connections, when asked for. WrongUse when a part is missing."""
    if not options.tls:
        return None
    if set(options.tls) != {"ca", "certificate", "key"}:
        raise WrongUse(
            "TLS needs three files",
            seen=", ".join(options.tls),
            expected="--tls-ca, --tls-cert and --tls-key",
        )
    for path in options.tls.values():
        if not os.access(path, os.R_OK):
            raise WrongUse("a file for TLS cannot be read", path)
    roles = {
        f"tls_{role}_{part}": options.tls[name]
        for role in ("client", "scheduler", "worker")
        for part, name in (("cert", "certificate"), ("key", "key"))
    }
    return Security(tls_ca_file=options.tls["ca"], require_encryption=True, **roles)


def batch_cluster(options: ClusterOptions, layout: Layout) -> object:
    """A cluster of dask-jobqueue, without jobs yet. WrongUse for options that the batch system needs or does not know."""
    common = {
        "cores": options.cores,
        "processes": 1,
        "memory": options.memory or f"{2 * options.cores}GB",
        "python": sys.executable,
        "job_name": "wirecell-campaign",
        "log_directory": str(layout.logs),
        "local_directory": "/tmp",
        "death_timeout": 120,
        "interface": options.interface or None,
        "job_script_prologue": options.prologue,
        # One run of the program per job, with all cores of it; the later word wins over the one that dask-jobqueue writes.
        "worker_extra_args": ["--nthreads", "1", "--memory-limit", "0", "--no-dashboard"],
        "scheduler_options": {"dashboard": False, "dashboard_address": ":0"},
        "security": security(options),
        "silence_logs": logging.CRITICAL,
    }
    if options.where == "slurm":
        from dask_jobqueue import SLURMCluster

        return SLURMCluster(
            queue=options.queue or None,
            account=options.account or None,
            walltime=options.walltime or "04:00:00",
            job_extra_directives=options.directives,
            **common,
        )
    from dask_jobqueue import HTCondorCluster

    directives = dict(split_directive(word) for word in options.directives)
    for name, value in (("accounting_group", options.account), ("+MaxRuntime", options.walltime)):
        if value:
            directives[name] = value
    if options.queue:
        raise WrongUse(
            "HTCondor has no queues", seen=f"--queue {options.queue}", hint="--directive 'requirements=...'"
        )
    return HTCondorCluster(disk=options.disk or "4GB", job_extra_directives=directives, **common)


def split_directive(word: str) -> tuple[str, str]:
    """'name=value' of HTCondor."""
    name, sign, value = word.partition("=")
    if not sign:
        raise WrongUse("a directive of HTCondor has no value", seen=word, expected="name=value")
    return name.strip(), value.strip()


def job_script(options: ClusterOptions, layout: Layout) -> str:
    """What would be submitted for each worker. WrongUse as of batch_cluster()."""
    absent = [folder for folder in (layout.logs, layout.internal, layout.root) if not folder.exists()]
    try:
        with dask.config.set(CONFIGURATION), made(lambda: batch_cluster(options, layout)) as cluster:
            return cluster.job_script()
    finally:
        for folder in absent:  # dask-jobqueue makes the folder of its logs at once
            if folder.exists():
                folder.rmdir()


class Supply:
    """Keeps a cluster's number of workers. Jobs end, by their walltime or because others are more important, and the nanny of a
    local worker gives up when that is killed while it starts; nothing in the engine replaces these."""

    def __init__(self, cluster: object, wanted: int, on_one_machine: bool) -> None:
        self._cluster, self._wanted, self._on_one_machine = cluster, wanted, on_one_machine

    def refill(self, retired: int) -> None:
        """Have as many workers as wanted. Of workers that were retired, those of other machines get a successor."""
        self._cluster.scale(self._wanted - retired if self._on_one_machine else self._wanted)


@contextmanager
def connected(options: ClusterOptions, layout: Layout) -> Iterator[tuple[Client, Supply | None]]:
    """A client, with its cluster and the supply of workers where these belong to the campaign; all end with the context."""
    log_to_file(layout.logs / "engine.log")
    with dask.config.set(CONFIGURATION):
        if options.where == "local":
            with made(lambda: local_cluster(options)) as cluster, client(cluster, options) as connection:
                yield connection, Supply(cluster, options.workers, on_one_machine=True)
        elif options.where in BATCH:
            with (
                made(lambda: batch_cluster(options, layout)) as cluster,
                client(cluster, options) as connection,
            ):
                yield connection, Supply(cluster, options.workers, on_one_machine=False)
        else:
            with client(options.where, options) as connection:
                yield connection, None


def local_cluster(options: ClusterOptions) -> LocalCluster:
    """Workers on this machine, for this machine only."""
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
def made(make: Callable[[], object]) -> Iterator[object]:
    """A cluster that is closed at the end. CampaignError when it cannot be made."""
    try:
        cluster = make()
    except CampaignError:
        raise
    except (OSError, RuntimeError, ValueError, TypeError) as error:
        raise CampaignError("the workers cannot be started", seen=str(error)) from None
    try:
        yield cluster
    finally:
        cluster.close()


@contextmanager
def client(cluster: object, options: ClusterOptions) -> Iterator[Client]:
    """A client of a cluster or an address. CampaignError when no scheduler answers."""
    try:
        connection = Client(
            cluster, timeout=options.patience, security=security(options), set_as_default=False
        )
    except ValueError as error:
        raise WrongUse(
            "--cluster is no address",
            seen=str(cluster),
            expected=f"local, slurm, htcondor or tcp://HOST:PORT ({error})",
        ) from None
    except (OSError, TimeoutError) as error:
        raise CampaignError(
            "no scheduler answers",
            str(cluster),
            str(error),
            "a dask scheduler",
            "dask scheduler starts one; with TLS the address begins with tls://",
        ) from None
    try:
        yield connection
    finally:
        connection.close()


def log_to_file(path: Path) -> None:
    """Messages of the engine go to a file, not between the lines for the user. Distributed gives several loggers a handler."""
    handler = logging.FileHandler(path, delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    for name in ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
