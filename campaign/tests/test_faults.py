# SPDX-License-Identifier: Apache-2.0
"""Faults of a farm: killed workers, restarted schedulers, full disks, missing files, killed clients."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from campaign_support import (
    COMMAND,
    Bench,
    Servers,
    children,
    environment,
    free_port,
    is_alive,
    small_file_system,
)
from wirecell_campaign import cli
from wirecell_campaign.process import die_with_parent

WORKER = "multiprocessing.spawn"
SEED = 6
LONG = 240  # s; a machine with other things to do takes its time
root_only = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can mount a file system or become another user"
)


def programs_of(process: subprocess.Popen) -> list[int]:
    """Return the programs that the local workers of a client run."""
    return [pid for worker in children(process.pid, WORKER) for pid in children(worker, "wire-cell")]


def test_workers_killed_at_random(bench: Bench) -> None:
    """Up to four SIGKILLs at random times to random workers (seeded), while two workers process 30 files."""
    names = bench.make(30, "sleep 0.15")
    process = bench.start("--workers", "2")
    chance = random.Random(SEED)
    killed = 0
    while killed < 4 and process.poll() is None:
        time.sleep(chance.uniform(0.1, 0.4))
        workers = sorted(children(process.pid, WORKER))
        if bench.done() and workers:
            os.kill(chance.choice(workers), signal.SIGKILL)
            killed += 1
    said, errors = process.communicate(timeout=LONG)
    assert process.returncode == 0, errors
    assert killed >= 3
    bench.check(names)


def test_workers_killed_while_they_start(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine does not replace such a worker: its nanny waits for it without limit."""
    monkeypatch.setenv("DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT", "1s")
    names = bench.make(8, "sleep 0.1")
    process = bench.start("--workers", "1")
    bench.wait_for_outputs(1, process)
    first = children(process.pid, WORKER)
    os.kill(first[0], signal.SIGKILL)
    deadline = time.monotonic() + LONG
    while not (second := set(children(process.pid, WORKER)) - set(first)):
        assert time.monotonic() < deadline
    os.kill(second.pop(), signal.SIGKILL)
    _, errors = process.communicate(timeout=LONG)
    assert process.returncode == 0, errors
    bench.check(names)


def test_a_file_that_kills_its_workers_is_given_up(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    # A file queued at the same worker is lost with it each time, so the bad one comes last, when most others are done.
    monkeypatch.setattr("wirecell_campaign.retries.MAX_LOSSES", 5)
    names = bench.make(4, f003="killworker")
    assert bench.run("--workers", "2", "--on-error", "skip") == 1
    assert "the worker was lost at each attempt" in capsys.readouterr().err
    bench.check([name for name in names if name != "f003.npz"])


def test_client_killed_and_run_again(bench: Bench, cluster_address: str) -> None:
    """kill -9: the lock is free at once, no program continues, nothing is lost or done twice."""
    names = bench.make(16, "sleep 0.1")
    process = bench.start("--workers", "2")
    bench.wait_for_outputs(6, process)
    workers, programs = children(process.pid, WORKER), programs_of(process)
    process.kill()
    process.communicate()
    deadline = time.monotonic() + LONG
    while any(map(is_alive, workers + programs)):
        assert time.monotonic() < deadline, "processes are left"
        time.sleep(0.05)
    done = {name: (bench.output / name).stat().st_ino for name in bench.done()}
    assert len(done) >= 6
    assert bench.run("--cluster", cluster_address) == 0
    bench.check(names)
    assert {name: (bench.output / name).stat().st_ino for name in done} == done, "done files stay as they are"


def test_two_clients_on_one_folder(bench: Bench, capsys) -> None:
    names = bench.make(12, "sleep 0.15")
    process = bench.start("--workers", "1")
    bench.wait_for_outputs(1, process)
    assert bench.run("--workers", "1") == 1
    said = capsys.readouterr().err
    assert "another client uses this output folder" in said and f"process {process.pid} on" in said
    assert cli.main(["status", str(bench.output)]) == 0
    assert f"running: process {process.pid}" in capsys.readouterr().out
    process.communicate(timeout=LONG)
    assert process.returncode == 0
    bench.check(names)


def test_ctrl_c_lets_running_files_end(bench: Bench, cluster_address: str) -> None:
    """SIGINT for the whole process group, as a terminal sends it."""
    names = bench.make(40, "sleep 0.3")
    process = bench.start("--workers", "2")
    bench.wait_for_outputs(2, process)
    os.killpg(process.pid, signal.SIGINT)
    said, errors = process.communicate(timeout=LONG)
    assert process.returncode == 130
    assert "running files are finished first" in errors and "the same command continues from here" in errors
    assert "Traceback" not in errors
    done = bench.done()
    assert 2 <= len(done) < 40
    bench.check(done)
    for name in names[8:]:
        (bench.inputs / name).unlink()
    bench.list.write_text("inputs/f00[0-7].npz\n")
    assert bench.run("--cluster", cluster_address) == 0


@pytest.mark.parametrize(
    "signals, status",
    [
        ([signal.SIGINT, signal.SIGINT], 130),
        ([signal.SIGTERM], 143),
        ([signal.SIGHUP, signal.SIGHUP], 129),
    ],
)
def test_stopping_at_once(bench: Bench, signals: list[int], status: int) -> None:
    """test_interrupts.py has the other signals, which one handler counts.

    The engine may swap files that it gets at the same time, so f004 may wait behind f005, which is submitted after three are done.
    """
    bench.make(6, "sleep 0.05", f005="sleep 300")
    log = bench.folder / "begun"
    log.touch()
    process = bench.start("--workers", "1", FAKE_LOG=str(log))
    deadline = time.monotonic() + LONG
    while "f005.npz" not in log.read_text():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    programs = programs_of(process)
    assert programs
    for code in signals:
        process.send_signal(code)
        time.sleep(0.4)  # equal signals at the same time are one
    _, errors = process.communicate(timeout=LONG)
    assert process.returncode == status, errors
    assert "stopping" in errors and "the same command continues from here" in errors
    assert not any(map(is_alive, programs))
    done = bench.done()
    assert len(done) >= 3 and "f005.npz" not in done
    bench.check(done)


# Every Python started with its folder in PYTHONPATH imports this. Attempts run in a thread of a worker, not in the client.
SLOW_LINKING = """
import threading, time
from wirecell_campaign import publish
at_once = publish.link_products

def link_products(*words):
    if threading.current_thread() is not threading.main_thread():
        time.sleep(300)
    at_once(*words)

publish.link_products = link_products
"""


def test_stopped_between_a_record_and_its_output(bench: Bench) -> None:
    """The output is finished by then and is not lost with the worker."""
    names = bench.make(1)
    (bench.folder / "slow").mkdir()
    (bench.folder / "slow" / "sitecustomize.py").write_text(SLOW_LINKING)
    process = bench.start("--workers", "1", PYTHONPATH=f"{bench.folder}/slow:{environment()['PYTHONPATH']}")
    deadline = time.monotonic() + LONG
    while not (bench.output / ".campaign/records/f000.npz.json").exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    assert not bench.done()
    process.terminate()
    _, errors = process.communicate(timeout=LONG)
    assert process.returncode == 143, errors
    bench.check(names)


def test_scheduler_restarted_while_the_client_runs(bench: Bench, servers: Servers) -> None:
    names = bench.make(14, "sleep 0.1")
    port = free_port()
    address = servers.scheduler(port)
    servers.worker(address, DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="3s")
    process = bench.start("--cluster", address, "--cluster-timeout", "60")
    bench.wait_for_outputs(5, process)
    servers.kill_scheduler()
    time.sleep(0.5)
    servers.scheduler(port)
    servers.worker(address)  # a worker ends with its scheduler; a farm starts a new one
    _, errors = process.communicate(timeout=LONG)
    assert process.returncode == 0, errors
    bench.check(names)


def test_scheduler_that_stays_away(bench: Bench, servers: Servers, cluster_address: str, capsys) -> None:
    names = bench.make(12, "sleep 0.1")
    address = servers.scheduler()
    servers.worker(address)
    process = bench.start("--cluster", address, "--cluster-timeout", "1.5")
    bench.wait_for_outputs(3, process)
    servers.kill_scheduler()
    _, errors = process.communicate(timeout=LONG)
    assert process.returncode == 1
    assert "error: the scheduler is lost and did not come back" in errors and "Traceback" not in errors
    assert bench.run("--cluster", address, "--cluster-timeout", "0.5") == 1
    assert "no scheduler answers" in capsys.readouterr().err
    assert bench.run("--cluster", cluster_address) == 0
    bench.check(names)


def test_no_workers(bench: Bench, servers: Servers, capsys) -> None:
    bench.make(2)
    assert bench.run("--cluster", servers.scheduler(), "--cluster-timeout", "1") == 1
    assert "error: no worker for 1 s" in capsys.readouterr().err


def test_a_worker_that_was_believed_dead(bench: Bench, servers: Servers) -> None:
    """A worker is suspended, another one processes its file, then it resumes and is too late."""
    names = bench.make(3, f000="sleep 1.5")
    address = servers.scheduler(DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL="1s")
    stopped = servers.worker(address)
    servers.wait_for_workers(address, 1)
    bench.list.write_text("inputs/f000.npz\ninputs/f001.npz\ninputs/f002.npz\n")
    process = bench.start("--cluster", address, "--cluster-timeout", "30")
    deadline = time.monotonic() + LONG
    while not list(bench.output.glob(".campaign/scratch/f000.npz.*/out")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    stopped.send_signal(signal.SIGSTOP)
    servers.worker(address)
    _, errors = process.communicate(timeout=LONG)
    assert process.returncode == 0, errors
    record = json.loads((bench.output / ".campaign/records/f000.npz.json").read_text())
    before = (bench.output / "f000.npz").stat().st_ino
    stopped.send_signal(signal.SIGCONT)
    time.sleep(1.0)  # its program has ended by now; whatever it does with the output has happened
    assert json.loads((bench.output / ".campaign/records/f000.npz.json").read_text()) == record
    assert (bench.output / "f000.npz").stat().st_ino == before
    bench.check(names)


@root_only
def test_disk_full_on_one_worker(bench: Bench, servers: Servers) -> None:
    """One worker's own disk has 64 kB, outputs have 200 kB. The other worker processes its files, and it gets no more."""
    names = bench.make(12, "big 200000\nsleep 0.05")
    small, large = bench.folder / "small", bench.folder / "large"
    small.mkdir()
    large.mkdir()
    with small_file_system(small, "64k"):
        address = servers.scheduler()
        full = servers.worker(address, OWN_DISK=str(small))
        servers.worker(address, OWN_DISK=str(large))
        servers.wait_for_workers(address, 2)
        process = bench.start("--cluster", address, "--scratch", "$OWN_DISK")
        _, errors = process.communicate(timeout=LONG)
        assert process.returncode == 0, errors
        assert "gets no more files" in errors and "No space left on device" in errors
        full.wait(LONG)  # retired
    bench.check(names)
    assert not list(large.iterdir())


@root_only
def test_disk_full_everywhere_stops_readably(bench: Bench, capsys) -> None:
    bench.make(8, "big 200000")
    bench.output.mkdir()
    with small_file_system(bench.output, "300k"):
        assert bench.run("--workers", "2") == 1
        said = capsys.readouterr().err
        assert (
            "no working worker is left" in said
            and "No space left on device" in said
            and "Traceback" not in said
        )
        bench.check(bench.done())


HIDING = 'mount -t tmpfs none "$1" && shift && exec "$@"'


@root_only
def test_workers_that_lack_files(bench: Bench, servers: Servers) -> None:
    """Three workers in mount namespaces in which an empty folder hides the program, the model, or the inputs."""
    names = bench.make(14, "sleep 0.05")
    model = bench.folder / "models" / "network.ts"
    model.parent.mkdir()
    model.write_text("network")
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespaces here")
    address = servers.scheduler()
    blind = [
        servers.worker(
            address, prefix=["unshare", "-m", "sh", "-c", HIDING, "sh", str(bench.folder / hidden)]
        )
        for hidden in ("bin", "models", "inputs")
    ]
    servers.worker(address)
    servers.wait_for_workers(address, 4)
    process = bench.start("--cluster", address, "-A", f"model={model}")
    _, errors = process.communicate(timeout=LONG)
    assert process.returncode == 0, errors
    assert errors.count(f"on {os.uname().nodename} gets no more files") == 3
    for lacking in (str(bench.program), str(model), f"{bench.inputs}/f0"):
        assert lacking in errors
    for worker in blind:
        worker.wait(LONG)  # retired
    bench.check(names)


def runs_this_python(user: int) -> bool:
    """Tell whether another user may run the interpreter of the tests, which may lie in a home folder."""
    try:
        return (
            subprocess.run([sys.executable, "-c", ""], user=user, check=False, capture_output=True).returncode
            == 0
        )
    except PermissionError:
        return False


@root_only
def test_a_folder_without_the_right_to_write(bench: Bench) -> None:
    if not runs_this_python(65534):
        pytest.skip(f"user 65534 cannot run {sys.executable}")
    bench.make(1)
    bench.output.mkdir(mode=0o755)
    for folder in (bench.folder, *bench.folder.parents):
        if not os.stat(folder).st_mode & 0o001:
            os.chmod(folder, os.stat(folder).st_mode | 0o055)
    done = subprocess.run(
        [*COMMAND, *bench.words()], env=environment(), capture_output=True, text=True, user=65534, check=False
    )
    assert done.returncode == 1, done.stderr
    assert "error: cannot write the output folder" in done.stderr and "Permission denied" in done.stderr


def test_an_output_that_is_a_file(bench: Bench, capsys) -> None:
    bench.make(1)
    bench.output.write_text("a file")
    assert bench.run() == 1
    assert "cannot write the output folder" in capsys.readouterr().err


def test_hung_jobs_are_stopped_and_tried_again(bench: Bench, cluster_address: str) -> None:
    names = bench.make(3, f001="once hang")
    assert bench.run("--cluster", cluster_address, "--timeout", "1") == 0
    assert not any(is_alive(int(pid)) for pid in (bench.inputs / "f001.npz.child").read_text().split())
    bench.check(names)


def test_workers_without_the_package(bench: Bench, servers: Servers, capsys) -> None:
    bench.make(1)
    address = servers.scheduler()
    servers.worker(address, PYTHONPATH="", prefix=[sys.executable, "-c", BLOCKING])
    servers.wait_for_workers(address, 1)
    assert bench.run("--cluster", address) == 1
    said = capsys.readouterr().err
    assert "workers cannot run tasks of this campaign" in said and "wirecell_campaign" in said


# Runs `python -m MODULE ...` (the following words) like a Python without the package.
BLOCKING = (
    "import runpy, sys; sys.modules['wirecell_campaign'] = None; sys.argv = sys.argv[3:]; "
    "runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
)


SBATCH = """#!/bin/sh
# A Slurm of one machine: runs the given script after the usual delay of a job.
echo "$1" >> {log}
cp "$1" {folder}/script.$$
setsid sh {folder}/script.$$ > {folder}/job.$$.log 2>&1 &
echo "Submitted batch job $!"
"""


def test_slurm_with_jobs_that_are_taken_away(bench: Bench) -> None:
    """The real cluster class of dask-jobqueue with stand-ins for sbatch and scancel. An ended job is submitted again."""
    names = bench.make(12, "sleep 0.15")
    tools = bench.folder / "tools"
    tools.mkdir()
    submitted = tools / "submitted"
    (tools / "sbatch").write_text(SBATCH.format(log=submitted, folder=tools))
    (tools / "scancel").write_text('#!/bin/sh\nkill -TERM -- "-$1" 2>/dev/null || true\n')
    for tool in ("sbatch", "scancel"):
        (tools / tool).chmod(0o755)
    variables = environment() | {
        "DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT": "1s",
        "PATH": f"{tools}:{os.environ['PATH']}",
    }
    process = subprocess.Popen(
        [
            *COMMAND,
            *bench.words(
                "--cluster", "slurm", "--workers", "1", "--interface", "lo", "--cluster-timeout", "60"
            ),
        ],
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=die_with_parent,
    )
    try:
        bench.wait_for_outputs(3, process)
        script = next(tools.glob("script.*"))
        victim = next(
            pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if is_job(pid, script)
        )
        os.killpg(victim, signal.SIGKILL)
        _, errors = process.communicate(timeout=LONG)
        assert process.returncode == 0, errors
        assert len(submitted.read_text().splitlines()) >= 2
        bench.check(names)
    finally:
        process.kill()
        process.communicate()
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            if is_job(pid, tools):
                os.killpg(pid, signal.SIGKILL)


def is_job(pid: int, script: Path) -> bool:
    """Tell whether a process is the shell of a job."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return words[0] == b"sh" and len(words) > 1 and str(script).encode() in words[1]
