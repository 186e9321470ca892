# SPDX-License-Identifier: Apache-2.0
"""Run wire-cell once for every file of a list.

LIST is a text file with one path or pattern per line (# begins a comment; - reads standard input). Every input gives one output
of the same name in the output folder. After an interruption the same command continues; finished files are not repeated.

Ctrl-C lets running files end, a second Ctrl-C stops them."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

from ..attempt import FORMATS as ENDINGS
from ..errors import UsageError
from ..options import BATCH, ClusterOptions, RunOptions
from ..paths import is_utf8, require_usable
from ..plan import make_plan
from ..times import FORMS, seconds

NAME = "run"
HELP = "run wire-cell over the files of a list"


def positive(text: str) -> int:
    """Parse an integer from 1."""
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def not_negative(text: str) -> int:
    """Parse an integer from 0."""
    value = int(text)
    if value < 0:
        raise ValueError
    return value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file_list", metavar="LIST", help="list of inputs")
    parser.add_argument(
        "--cluster",
        dest="where",
        default="local",
        metavar="WHERE",
        help="local, slurm, htcondor, or the address of a dask scheduler, tcp://HOST:PORT; default: local",
    )
    parser.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help="files to process at the same time; default: 1 for local, 4 jobs for batch systems",
    )
    parser.add_argument(
        "--output", metavar="DIR", help="output folder; default: LIST without its ending, with -campaign"
    )
    parser.add_argument(
        "--config", default="cfg/pipeline.jsonnet", metavar="FILE", help="default: %(default)s"
    )
    parser.add_argument(
        "-A",
        dest="arguments",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="argument of the job, as in wire-cell",
    )
    parser.add_argument(
        "-P",
        dest="search_path",
        action="append",
        default=[],
        metavar="DIR",
        help="folder of data files, as in wire-cell",
    )
    parser.add_argument(
        "--format",
        dest="suffix",
        choices=ENDINGS,
        default=".npz",
        help="ending of outputs; default: %(default)s",
    )
    parser.add_argument(
        "--record",
        dest="record_profiles",
        action="store_true",
        help="also record a profile of each file, and merge them at the end",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="show the plan, and the job script of a batch system; write nothing",
    )

    faults = parser.add_argument_group("failures")
    faults.add_argument(
        "--retries",
        type=not_negative,
        default=3,
        metavar="N",
        help="retries of a file that failed; default: %(default)s",
    )
    faults.add_argument(
        "--timeout",
        type=seconds,
        metavar="TIME",
        help=f"stop an attempt, or another call of a program, that takes longer; TIME: {FORMS}; default: none",
    )
    faults.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        default="stop",
        help="if a file fails for good, start no others, or continue and list it at the end; default: %(default)s",
    )
    faults.add_argument(
        "--strict",
        action="store_true",
        help="a file whose input does not fit the detector fails, as with wire-cell --strict; default: it is done, with warnings",
    )
    faults.add_argument(
        "--redo",
        action="store_true",
        help="remake outputs whose settings or input changed, or with --strict those with warnings",
    )
    faults.add_argument(
        "--overwrite",
        action="store_true",
        help="use an output folder with other files; move those with the names of outputs to its folder .campaign/aside",
    )
    faults.add_argument(
        "--quick",
        action="store_true",
        help="accept inputs and outputs of the recorded size and time without reading them",
    )
    faults.add_argument(
        "--cluster-timeout",
        type=seconds,
        metavar="TIME",
        help="time to wait for a scheduler (default 60 s) and for workers (default 60 s; batch systems: without limit)",
    )

    program = parser.add_argument_group("program")
    program.add_argument(
        "--program", metavar="FILE", help="wire-cell; default: that of the checkout, else of PATH"
    )
    program.add_argument(
        "--scratch",
        metavar="DIR",
        default="",
        help="folder on the worker for the files of attempts; may contain variables of the worker such as $TMPDIR; "
        "default: in the output folder",
    )

    batch = parser.add_argument_group("workers")
    batch.add_argument(
        "--cores",
        type=positive,
        metavar="N",
        help="cores of a worker, also passed to the job as `threads`; default: this machine's "
        "cores / workers, 1 for batch systems",
    )
    batch.add_argument("--queue", default="", help="partition of Slurm")
    batch.add_argument("--account", default="", help="account, or accounting group of HTCondor")
    batch.add_argument(
        "--memory",
        default="",
        metavar="SIZE",
        help="memory of a job, such as 4GB; default: 2GB for each core",
    )
    batch.add_argument(
        "--disk", default="", metavar="SIZE", help="disk space of a job of HTCondor; default: 4GB"
    )
    batch.add_argument(
        "--walltime",
        type=seconds,
        metavar="TIME",
        help="time limit of a job, written in the form of the batch system; default: 4h with Slurm",
    )
    batch.add_argument(
        "--interface", default="", help="network interface by which workers reach the scheduler, such as ib0"
    )
    batch.add_argument(
        "--directive",
        dest="directives",
        action="append",
        default=[],
        metavar="TEXT",
        help="additional line of the job's header: an option of sbatch, "
        "NAME=VALUE for HTCondor; may be repeated",
    )
    batch.add_argument(
        "--prologue",
        action="append",
        default=[],
        metavar="COMMAND",
        help="shell command to run before the worker starts, such as 'module load ...'; may be repeated",
    )
    batch.add_argument(
        "--tls",
        dest="tls_wanted",
        action=argparse.BooleanOptionalAction,
        help="encrypt and authenticate all connections with a certificate made for this run; default: on, "
        "except with a scheduler that runs already",
    )
    for name in ("ca", "cert", "key"):
        batch.add_argument(
            f"--tls-{name}",
            metavar="FILE",
            help="use your own certificate instead; needs all three files",
        )


def run(arguments: argparse.Namespace) -> int:
    chosen = options(arguments)
    with ThreadPoolExecutor(1) as pool:
        engine = pool.submit(
            importlib.import_module, "wirecell_campaign.campaign"
        )  # while the program checks the job
        try:
            plan = make_plan(chosen)
        finally:
            require_engine(engine)
    return engine.result().run_campaign(chosen, plan)


def require_engine(engine: Future[ModuleType]) -> None:
    """Wait for the import. Raise UsageError if the engine is not installed."""
    try:
        engine.result()
    except ModuleNotFoundError as error:
        raise UsageError(
            "the engine is not installed",
            sys.executable,
            str(error),
            hint="python3 -m pip install dask distributed dask-jobqueue",
        ) from None


def options(arguments: argparse.Namespace) -> RunOptions:
    """Return the options with their defaults. Raise UsageError for options that the cluster lacks and for unusable folders."""
    given = vars(arguments)
    where = arguments.where
    batch_only = ("queue", "account", "memory", "disk", "walltime", "interface", "directives", "prologue")
    useless = [f"--{name.removesuffix('s')}" for name in batch_only if given[name]]
    if where not in BATCH and useless:
        raise UsageError(
            "this cluster has no options of batch systems",
            seen=f"--cluster {where} {' '.join(useless)}",
            expected=f"--cluster {' or '.join(BATCH)}",
        )
    if where not in (*BATCH, "local"):
        if "://" not in where and ":" not in where:
            raise UsageError(
                "--cluster is not understood",
                seen=where,
                expected="local, slurm, htcondor or an address such as tcp://HOST:PORT",
            )
        if arguments.workers:
            raise UsageError("a running scheduler has its own workers", seen="--workers", hint="remove it")
    workers = arguments.workers or (4 if where in BATCH else 1)
    tls = {"ca": arguments.tls_ca, "certificate": arguments.tls_cert, "key": arguments.tls_key}
    cluster = taken(ClusterOptions, given) | {
        "workers": workers,
        "cores": arguments.cores or (max(1, (os.cpu_count() or 1) // workers) if where == "local" else 1),
        "tls": {name: str(Path(path).absolute()) for name, path in tls.items() if path},
        "scheduler_timeout": arguments.cluster_timeout or 60.0,
    }
    default_output = (
        "campaign" if arguments.file_list == "-" else Path(arguments.file_list).stem + "-campaign"
    )
    output = Path(arguments.output or default_output).absolute()
    require_usable(output, "the output folder", "--output")
    if where in BATCH and not is_utf8(str(output)):
        expected = f"UTF-8 for jobs of {where}"
        raise UsageError("the path of the output folder is not UTF-8", "--output", str(output), expected)
    if arguments.scratch:
        if arguments.scratch[0] not in "/$":
            raise UsageError(
                "--scratch is not a path on a worker",
                seen=arguments.scratch,
                expected="an absolute path, or one that begins with a variable such as $TMPDIR",
            )
        require_usable(Path(arguments.scratch), "the scratch folder", "--scratch")
    own = taken(RunOptions, given) | {
        "output": output,
        "search_path": [str(Path(folder).absolute()) for folder in arguments.search_path],
        "stop_at_failure": arguments.on_error == "stop",
        "worker_timeout": arguments.cluster_timeout or (None if where in BATCH else 60.0),
        "gives_threads": bool(arguments.cores) or where == "local" or where in BATCH,
        "cluster": ClusterOptions(**cluster),
    }
    return RunOptions(**own)


def taken(kind: type, given: dict[str, Any]) -> dict[str, Any]:
    """Return the options that are fields of a dataclass, by name."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in given.items() if name in names}
