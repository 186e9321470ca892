# SPDX-License-Identifier: Apache-2.0
"""The command line: usage errors, job scripts of batch systems, verify and summary, and open network ports."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from campaign_support import COMMAND, Bench, children, environment
from wirecell_campaign import cli


@pytest.mark.parametrize(
    "words, said",
    [
        (["--cluster", "pbs"], "--cluster is not understood"),
        (["--cluster", "tcp://127.0.0.1:1", "--workers", "2"], "has its own workers"),
        (["--queue", "gpu"], "this cluster has no options of batch systems"),
        (["--cluster", "htcondor", "--directive", "x", "--dry-run"], "has no value"),
        (["--cluster", "htcondor", "--queue", "x", "--dry-run"], "HTCondor has no queues"),
        (["-A", "typo=1"], "the job has no argument 'typo'"),
        (["-A", "input=x"], "the campaign sets -A input for each file"),
        (["--config", "nowhere.jsonnet"], "no such configuration"),
        (["--scratch", "rel/x"], "--scratch is not a path on a worker"),
        (["--scratch", "/tmp/run%d"], "the path of the scratch folder contains %d"),
        (["--output", "run%d"], "the path of the output folder contains %d"),
        (["--output", "run\udcff", "--cluster", "slurm"], "the path of the output folder is not UTF-8"),
    ],
)
def test_usage_errors(bench: Bench, capsys, words: list[str], said: str) -> None:
    bench.make(2)
    assert bench.run(*words) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("error: ") and said in shown and "Traceback" not in shown


@pytest.mark.parametrize(
    "words",
    [
        ["--workers", "0"],
        ["--retries", "-1"],
        ["--timeout", "0"],
        ["--on-error", "pray"],
        ["--cluster-timeout", "nan"],
    ],
)
def test_bad_values(bench: Bench, words: list[str]) -> None:
    bench.make(1)
    with pytest.raises(SystemExit) as stopped:
        bench.run(*words)
    assert stopped.value.code == 2


def test_a_program_that_is_none(bench: Bench, capsys) -> None:
    bench.make(1)
    bench.program.chmod(0o644)
    assert bench.run() == 2 and "cannot run the program" in capsys.readouterr().err
    bench.program.write_text("#!/bin/sh\necho something else\n")
    bench.program.chmod(0o755)
    assert bench.run() == 1 and "the program does not run on this machine" in capsys.readouterr().err


def test_without_the_engine(bench: Bench) -> None:
    """As in a wheel on a machine without dask: a readable error, and the commands that need no engine work."""
    bench.make(1)
    blocked = "import sys; sys.modules['distributed'] = None; from wirecell_campaign.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", blocked, *bench.words()],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (
        done.returncode == 2
        and "error: the engine is not installed" in done.stderr
        and "pip install" in done.stderr
    )
    done = subprocess.run(
        [sys.executable, "-c", blocked, "status", str(bench.folder)],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "the folder has no campaign" in done.stderr


def test_the_job_script_of_slurm(bench: Bench, capsys) -> None:
    bench.make(3)
    assert (
        bench.run(
            *"--cluster slurm --dry-run --workers 7 --queue gpu --account dune --memory 8GB --cores 3".split(),
            *"--walltime 1d2h --directive=--gres=gpu:1 --prologue".split(),
            "module load cuda",
            "--interface",
            "lo",
        )
        == 0
    )
    shown = capsys.readouterr().out
    script = shown[shown.index("#!") :]
    for line in (
        "#SBATCH -J wirecell-campaign",
        "#SBATCH -p gpu",
        "#SBATCH -A dune",
        "#SBATCH -n 1",
        "#SBATCH --cpus-per-task=3",
        "#SBATCH --mem=8G",
        "#SBATCH -t 26:00:00",
        "#SBATCH --gres=gpu:1",
        "module load cuda",
    ):
        assert line in script.splitlines(), line
    assert "the script of each of 7 jobs" in shown
    worker = script.strip().splitlines()[-1]
    assert worker.startswith(f"{sys.executable} -P -m distributed.cli.dask_worker tls://127.0.0.1:")
    assert re.findall(r"--nthreads (\d+)", worker) == ["1"]
    assert re.findall(r"--memory-limit (\S+)", worker) == ["0"]
    assert "--no-dashboard" in worker and "--interface lo" in worker
    assert "--dashboard-address 127.0.0.1:0" in worker
    assert not bench.output.exists(), "a dry run writes nothing"


def test_the_job_script_of_htcondor(bench: Bench, capsys) -> None:
    bench.make(3)
    assert (
        bench.run(
            *"--cluster htcondor --dry-run --account group_dune --memory 4GB --disk 9GB --directive".split(),
            'requirements=(OpSys == "LINUX")',
            *"--walltime 08:00:00 --interface lo --prologue".split(),
            "export A=1",
        )
        == 0
    )
    shown = capsys.readouterr().out
    for line in (
        "MY.DaskWorkerCores = 1",
        "MY.DaskWorkerMemory = 4000000000",
        "MY.DaskWorkerDisk = 9000000000",
        "accounting_group = group_dune",
        "+MaxRuntime = 28800",
        'requirements = (OpSys == "LINUX")',
    ):
        assert line in shown.splitlines(), line
    assert "export A=1; " in shown and "distributed.cli.dask_worker" in shown and "\nQueue\n" in shown
    assert re.findall(r"--nthreads (\d+)", shown) == ["1"]
    assert re.findall(r"--memory-limit (\S+)", shown) == ["0"]


def test_verify_finds_every_difference(bench: Bench, cluster_address: str, capsys) -> None:
    bench.make(4)
    assert bench.run("--cluster", cluster_address) == 0
    assert cli.main(["verify", str(bench.output)]) == 0
    assert "4 of 4 files agree with the manifest" in capsys.readouterr().out
    (bench.output / "f000.npz").unlink()
    (bench.output / "f001.npz").write_bytes(b"x")
    (bench.output / "stray.npz").write_bytes(b"x")
    assert cli.main(["verify", str(bench.output)]) == 1
    assert capsys.readouterr().out == (
        "missing: f000.npz\ndiffers from the manifest: f001.npz\nnot in the manifest: stray.npz\n"
        "2 of 4 files agree with the manifest\n"
    )


BOOKKEEPING = {
    "manifest.json": [
        '{"schema": "spng-campaign-manifest-1"}',
        '{"schema": "spng-campaign-manifest-1", "files": [{}]}',
        "torn",
    ],
    ".campaign/failures/f001.npz.json": ["{}", "[]", "torn"],
    ".campaign/names.json": ["[{}]", "{}", "torn"],
    ".campaign/settings.json": ["{}"],
}


@pytest.mark.parametrize(
    "path, content", [(path, content) for path, contents in BOOKKEEPING.items() for content in contents]
)
def test_files_of_the_campaign_that_are_not_whole(
    bench: Bench, cluster_address: str, capsys, path: str, content: str
) -> None:
    """Without its manifest the folder cannot be verified; status and summary still work, and the next run corrects it."""
    names = bench.make(2)
    assert bench.run("--cluster", cluster_address) == 0
    (bench.output / path).write_text(content)
    capsys.readouterr()
    assert cli.main(["verify", str(bench.output)]) == (2 if path == "manifest.json" else 0)
    assert ("error: the folder has no complete manifest" in capsys.readouterr().err) == (
        path == "manifest.json"
    )
    assert cli.main(["status", str(bench.output)]) == 0 == cli.main(["summary", str(bench.output)])
    assert "2 of 2 done, 0 failed, 0 left" in capsys.readouterr().out
    assert bench.run("--cluster", cluster_address) == 0
    bench.check(names)


def test_summary_is_made_again_from_the_records(bench: Bench, cluster_address: str, capsys) -> None:
    bench.make(5)
    assert bench.run("--cluster", cluster_address) == 0
    before = (bench.output / "summary.json").read_text()
    (bench.output / "summary.json").unlink()
    capsys.readouterr()
    assert cli.main(["summary", str(bench.output)]) == 0
    assert (bench.output / "summary.json").read_text() == before
    shown = capsys.readouterr().out
    assert shown == (bench.output / "summary.txt").read_text() and "5 files done, 10 events" in shown
    node = json.loads(before)["nodes"]["FrameFileSource"]
    assert node == {"calls": 10, "mean": 2e6, "p50": 2e6, "p95": 3e6, "total": 2e7, "cpu_ns": 20_000_000}
    assert cli.main(["summary", "--profiles", str(bench.output)]) == 1
    assert "there are no profiles to merge" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["status", "verify", "summary"])
def test_a_folder_that_is_no_campaign(tmp_path: Path, capsys, command: str) -> None:
    assert cli.main([command, str(tmp_path)]) == 2
    assert "the folder has no campaign" in capsys.readouterr().err


def listening(pid: int) -> set[str]:
    """Return the addresses on which a process accepts connections."""
    import psutil

    return {
        one.laddr.ip
        for one in psutil.Process(pid).net_connections("inet")
        if one.status == psutil.CONN_LISTEN
    }


def test_a_local_cluster_is_open_to_this_machine_only(bench: Bench) -> None:
    bench.make(30, "sleep 0.2")
    process = bench.start("--workers", "2")
    try:
        bench.wait_for_outputs(1, process)
        workers = children(process.pid, "multiprocessing.spawn")
        assert len(workers) == 2
        for pid in (process.pid, *workers):
            assert listening(pid) == {"127.0.0.1"}
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_a_reader_that_has_seen_enough(bench: Bench, cluster_address: str) -> None:
    bench.make(2)
    assert bench.run("--cluster", cluster_address) == 0
    shown = subprocess.run(
        f"{' '.join(COMMAND)} summary {bench.output} | head -1",
        shell=True,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "2 files done" in shown.stdout and shown.stderr == ""
