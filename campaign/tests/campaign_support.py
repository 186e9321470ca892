# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the tests of campaigns: a bench with the fake program, servers of the engine, independent checks."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import fake_wire_cell
import psutil
import pytest
from wirecell_campaign import cli
from wirecell_campaign.interrupts import STOP_SIGNALS
from wirecell_campaign.process import die_with_parent

HERE = Path(__file__).resolve().parent
COMMAND = [sys.executable, "-m", "wirecell_campaign"]
MEMORY = Path("/dev/shm")  # a file system on which fsync does not wait for the disk

# A scheduler at a port and two workers of one thread in one process, so that the engine is imported once.
CLUSTER = """
import sys, threading
from distributed import LocalCluster
options = dict(threads_per_worker=1, memory_limit=0, dashboard_address=None, worker_dashboard_address=None)
with LocalCluster(n_workers=2, processes=False, protocol="tcp://", host="127.0.0.1", scheduler_port=int(sys.argv[1]),
                  local_directory=sys.argv[2], **options):
    threading.Event().wait()
"""


def environment() -> dict[str, str]:
    """Return variables for processes that import the packages of the source tree, without installation."""
    own = os.pathsep.join(str(folder) for folder in (HERE.parent, HERE.parents[1] / "profiling"))
    return dict(os.environ, PYTHONPATH=own)


def start_afresh() -> None:
    """Die with the test, and restore signals that a shell in the background or nohup ignores. Call between fork and exec."""
    die_with_parent()
    for code in STOP_SIGNALS:
        signal.signal(code, signal.SIG_DFL)


@contextmanager
def small_file_system(folder: Path, size: str) -> Iterator[None]:
    """Mount a file system in memory of this size, such as "64k", over a folder; skip the test if that is not possible."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


class Bench:
    """Inputs, a list, and the fake program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.inputs = folder / "inputs"
        self.output = folder / "out"
        self.list = folder / "list.txt"
        self.program = folder / "bin" / "wire-cell"
        self.config = folder / "job.jsonnet"
        self.inputs.mkdir()
        self.program.parent.mkdir()
        self.program.write_text(
            f"#!{sys.executable} -IS\n" + (HERE / "fake_wire_cell.py").read_text(encoding="utf-8"),
            encoding="utf-8",
        )
        self.program.chmod(0o755)
        self.config.write_text("{}\n", encoding="utf-8")

    def make(self, count: int, instructions: str = "", **special: str) -> list[str]:
        """Write inputs f000.npz ... and the list; return the outputs' names. special: other instructions for some inputs."""
        names = [f"f{index:03d}.npz" for index in range(count)]
        for name in names:
            told = special.get(name.removesuffix(".npz"), instructions)
            (self.inputs / name).write_text(f"{told}\n# {name}\n", encoding="utf-8")
        self.list.write_text("".join(f"inputs/{name}\n" for name in names), encoding="utf-8")
        return names

    def words(self, *more: str) -> list[str]:
        """Return the command line of a run."""
        return [
            "run",
            str(self.list),
            "--output",
            str(self.output),
            "--program",
            str(self.program),
            "--config",
            str(self.config),
            *more,
        ]

    def run(self, *more: str) -> int:
        """Run in this process; return the exit status."""
        return cli.main(self.words(*more))

    def start(self, *more: str, **variables: str) -> subprocess.Popen:
        """Start a process in a session of its own. variables: of its environment."""
        return subprocess.Popen(
            [*COMMAND, *self.words(*more)],
            env=environment() | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=start_afresh,
        )

    def done(self) -> list[str]:
        """Return the outputs in the folder."""
        return sorted(path.name for path in self.output.glob("*.npz"))

    def wait_for_outputs(
        self, count: int, process: subprocess.Popen | None = None, limit: float = 240.0
    ) -> None:
        """Wait until so many outputs exist."""
        deadline = time.monotonic() + limit
        while len(self.done()) < count:
            assert time.monotonic() < deadline, f"only {self.done()}"
            assert process is None or process.poll() is None, process.communicate()
            time.sleep(0.02)

    def check(self, names: list[str]) -> None:
        """Check for exactly these outputs with the right bytes, each with one record, in the manifest and in the checksums."""
        assert self.done() == sorted(names)
        sums = {}
        for name in names:
            content = (self.output / name).read_bytes()
            assert content == fake_wire_cell.output_of((self.inputs / name).read_bytes()), (
                f"{name} is not what its input makes"
            )
            sums[name] = hashlib.sha256(content).hexdigest()
        records = {
            path.name: json.loads(path.read_text())
            for path in (self.output / ".campaign" / "records").iterdir()
        }
        assert sorted(records) == [f"{name}.json" for name in sorted(names)]
        manifest = json.loads((self.output / "manifest.json").read_text())
        assert {entry["path"]: entry["sha256"] for entry in manifest["files"]} == sums
        subprocess.run(["sha256sum", "--quiet", "--strict", "-c", "SHA256SUMS"], cwd=self.output, check=True)
        assert len((self.output / "SHA256SUMS").read_text().splitlines()) == len(names)
        self.check_no_leftovers()

    def check_no_leftovers(self) -> None:
        """Check for temporary files in the folder and its bookkeeping."""
        known = {"manifest.json", "SHA256SUMS", "summary.json", "summary.txt", ".campaign", *self.done()}
        assert {path.name for path in self.output.iterdir()} == known
        assert not list((self.output / ".campaign" / "scratch").iterdir())
        assert not [path for path in self.output.rglob("*") if "partial" in path.name or "probe" in path.name]


class Servers:
    """Schedulers and workers, all ended at the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen] = []

    def __enter__(self) -> Servers:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def scheduler(self, port: int = 0, **variables: str) -> str:
        """Start a scheduler; return its address when it listens."""
        port = port or free_port()
        self._start(
            [
                *"-m distributed.cli.dask_scheduler --host 127.0.0.1 --port".split(),
                str(port),
                "--no-dashboard",
            ],
            variables,
        )
        return wait_for_scheduler(port)

    def cluster(self) -> str:
        """Start a scheduler with two workers in a single process; return its address when it listens."""
        port = free_port()
        self._start(["-c", CLUSTER, str(port), str(self._folder)], {})
        return wait_for_scheduler(port)

    def worker(self, address: str, prefix: list[str] | None = None, **variables: str) -> subprocess.Popen:
        """Start a worker with one thread. prefix: command that starts it; variables: of its environment."""
        return self._start(
            [
                "-m",
                "distributed.cli.dask_worker",
                address,
                *"--host 127.0.0.1 --nthreads 1 --memory-limit 0 --no-dashboard --no-nanny --local-directory".split(),
                str(self._folder),
            ],
            variables,
            prefix or [],
        )

    def wait_for_workers(self, address: str, count: int) -> None:
        """Wait until so many workers are registered."""
        from distributed import Client

        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=240)

    def _start(
        self, words: list[str], variables: dict[str, str], prefix: list[str] | None = None
    ) -> subprocess.Popen:
        quiet = {
            "DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES": "[]",
            "DASK_DISTRIBUTED__WORKER__HTTP__ROUTES": "[]",
            "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
            "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
        }
        process = subprocess.Popen(
            [*(prefix or []), sys.executable, *words],
            env=environment() | quiet | variables,
            start_new_session=True,
            preexec_fn=die_with_parent,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._processes.append(process)
        return process

    def kill_scheduler(self) -> None:
        """Return the first living process."""
        process = next(
            process
            for process in self._processes
            if process.poll() is None and "distributed.cli.dask_scheduler" in process.args
        )
        process.kill()
        process.wait()


def free_port() -> int:
    """Return a free port of the loopback interface."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_scheduler(port: int) -> str:
    """Wait until a scheduler of this machine listens; return its address."""
    deadline = time.monotonic() + 240
    while not listens(port):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return f"tcp://127.0.0.1:{port}"


def listens(port: int) -> bool:
    """Tell whether something answers at the address."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def children(pid: int, pattern: str) -> list[int]:
    """Return child processes whose command line matches, none for an ended process."""
    found = []
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(pid).children():
            with suppress(psutil.NoSuchProcess):
                if re.search(pattern, " ".join(child.cmdline())):
                    found.append(child.pid)
    return found


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
