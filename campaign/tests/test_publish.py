# SPDX-License-Identifier: Apache-2.0
"""Publication happens once, also with simultaneous attempts and killed processes."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import socket
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path

import fake_wire_cell
import pytest
from campaign_support import Bench, is_alive, small_file_system
from wirecell_campaign import attempt, publish, record, resume
from wirecell_campaign.checksum import described
from wirecell_campaign.errors import CampaignError
from wirecell_campaign.input_list import Entry
from wirecell_campaign.layout import Layout
from wirecell_campaign.resume import State
from wirecell_campaign.task import Outcome, Result, Task

FORK = multiprocessing.get_context("fork")
ROUNDS = 12
RACERS = 3


def task_of(bench: Bench, name: str, identity: str, **more: object) -> Task:
    """Return an attempt at one file of the bench."""
    return Task(
        root=str(bench.output),
        name=name,
        input=str(bench.inputs / name),
        attempt=identity,
        attempt_index=1,
        program=str(bench.program),
        config=str(bench.config),
        arguments={},
        settings="s",
        commit=fake_wire_cell.COMMIT,
        **more,
    )


def race(task: Task, barrier: Barrier, target: str) -> None:
    """Run one of several attempts that publish at the same time."""
    original = attempt.publish

    def together(*words: object) -> bool:
        barrier.wait()
        return original(*words)

    attempt.publish = together
    result = attempt.run_attempt(task)
    Path(target).write_text(result.outcome.value)


def test_of_attempts_at_the_same_time_just_one_is_published(bench: Bench) -> None:
    """Real processes, released by a barrier at publication; their outputs differ only by the inode."""
    names = bench.make(ROUNDS)
    layout = Layout(bench.output)
    layout.make()
    for name in names:
        barrier = FORK.Barrier(RACERS)
        said = [bench.folder / f"{name}.{index}" for index in range(RACERS)]
        racers = [
            FORK.Process(target=race, args=(task_of(bench, name, str(index)), barrier, str(said[index])))
            for index in range(RACERS)
        ]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join()
        outcomes = [path.read_text() for path in said]
        assert sorted(outcomes) == ["lost"] * (RACERS - 1) + ["published"]
        known = record.read(layout.record(name))
        assert known["attempt"].startswith(f"{outcomes.index('published')}.")
        path = bench.output / name
        assert path.read_bytes() == fake_wire_cell.output_of((bench.inputs / name).read_bytes())
        assert described(path) == {key: known["products"][0][key] for key in ("size", "mtime_ns", "sha256")}
        assert path.stat().st_nlink == 1
    assert not list(layout.scratch.iterdir()) and len(list(layout.records.iterdir())) == ROUNDS


def test_an_attempt_that_begins_after_the_stop(bench: Bench) -> None:
    bench.make(1)
    layout = Layout(bench.output)
    layout.make()
    task = task_of(bench, "f000.npz", "a")
    layout.stop(task.scratch).touch()
    assert attempt.run_attempt(task).outcome is Outcome.CANCELLED
    assert list(layout.scratch.iterdir()) == [layout.stop(task.scratch)]
    assert not list(layout.records.iterdir()) and not (bench.output / "f000.npz").exists()


def test_a_late_attempt_changes_nothing(bench: Bench) -> None:
    """A worker that seemed dead ends long after another one processed its file."""
    bench.make(1)
    Layout(bench.output).make()
    assert attempt.run_attempt(task_of(bench, "f000.npz", "a")).outcome is Outcome.PUBLISHED
    before = ((bench.output / "f000.npz").stat(), (bench.output / ".campaign/records/f000.npz.json").stat())
    assert attempt.run_attempt(task_of(bench, "f000.npz", "b")).outcome is Outcome.LOST
    after = ((bench.output / "f000.npz").stat(), (bench.output / ".campaign/records/f000.npz.json").stat())
    assert [state.st_ino for state in after] == [state.st_ino for state in before]
    assert [state.st_mtime_ns for state in after] == [state.st_mtime_ns for state in before]


CALLS = ("link", "fsync", "unlink", "write", "mkdir")


def killed_at(task: Task, call: str, count: int) -> None:
    """Run an attempt that is killed at its count-th file operation of a kind after the start of its publication."""
    original = attempt.publish

    def armed(*words: object) -> bool:
        left = count

        def deadly(real):
            def one(*given: object, **named: object):
                nonlocal left
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*given, **named)

            return one

        for name in (call,):
            setattr(os, name, deadly(getattr(os, name)))
        return original(*words)

    attempt.publish = armed
    attempt.run_attempt(task)


@pytest.mark.parametrize(
    "call, count",
    [
        ("fsync", 1),
        ("fsync", 2),
        ("fsync", 3),
        ("fsync", 4),
        ("link", 1),
        ("link", 2),
        ("link", 3),
        ("fsync", 5),
        ("unlink", 1),
        ("unlink", 2),
    ],
)
def test_killed_at_any_step_the_file_is_done_or_to_do(bench: Bench, call: str, count: int) -> None:
    """After the kill a new client finds either nothing or a complete output. With two products a kill can come between them."""
    bench.make(1, "dump")
    name = "f000.npz"
    layout = Layout(bench.output)
    layout.make()
    process = FORK.Process(target=killed_at, args=(task_of(bench, name, "a"), call, count))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL, "the step was not reached"
    published = layout.record(name).exists()
    assert published == (call == "unlink" or (call, count) in [("link", 2), ("link", 3), ("fsync", 5)])

    found = resume.look(layout, [Entry(bench.inputs / name, name)], "s", quick=False)
    assert found.states[name] is (State.DONE if published else State.TO_DO)
    expected = fake_wire_cell.output_of((bench.inputs / name).read_bytes())
    if published:
        assert (bench.output / name).read_bytes() == expected
        assert (bench.output / "f000-decon-induction.npz").read_bytes() == expected
    else:
        assert not list(bench.output.glob("*.npz"))
    resume.clean_scratch(layout)
    again = attempt.run_attempt(task_of(bench, name, "b"))
    assert again.outcome is (Outcome.LOST if published else Outcome.PUBLISHED)
    assert (bench.output / name).read_bytes() == expected and not list(layout.scratch.iterdir())


def leave_unplaced(bench: Bench, name: str) -> None:
    """Run an attempt that is killed after its record and before its products."""
    process = FORK.Process(target=killed_at, args=(task_of(bench, name, "a"), "link", 2))
    process.start()
    process.join()
    layout = Layout(bench.output)
    assert (
        layout.record(name).exists() and not (bench.output / name).exists() and list(layout.scratch.iterdir())
    )


def test_cleaning_scratch_finishes_publications_first(bench: Bench) -> None:
    """The scratch folder has the only copy of a finished output."""
    bench.make(1, "dump")
    layout = Layout(bench.output)
    layout.make()
    leave_unplaced(bench, "f000.npz")
    resume.clean_scratch(layout)
    expected = fake_wire_cell.output_of((bench.inputs / "f000.npz").read_bytes())
    assert [(bench.output / name).read_bytes() for name in ("f000.npz", "f000-decon-induction.npz")] == [
        expected
    ] * 2
    assert not list(layout.scratch.iterdir())


def test_a_record_whose_products_are_nowhere_is_damage(bench: Bench) -> None:
    bench.make(1)
    layout = Layout(bench.output)
    layout.make()
    attempt.run_attempt(task_of(bench, "f000.npz", "a"))
    (bench.output / "f000.npz").unlink()
    found = resume.look(layout, [Entry(bench.inputs / "f000.npz", "f000.npz")], "s", quick=True)
    assert found.states["f000.npz"] is State.DAMAGED


def test_settling_waits_for_a_slow_file_system(bench: Bench) -> None:
    """A record that is visible before its product, as on a network file system."""
    bench.make(1)
    layout = Layout(bench.output)
    layout.make()
    attempt.run_attempt(task_of(bench, "f000.npz", "a"))
    known = record.read(layout.record("f000.npz"))
    product = bench.output / "f000.npz"
    hidden = product.rename(bench.folder / "hidden")
    calls = []

    def sleep(seconds: float) -> None:
        calls.append(seconds)
        if len(calls) == 3:
            hidden.rename(product)

    assert publish.settle(layout, known, timeout=30, sleep=sleep) and len(calls) == 3


def test_a_lost_answer_of_nfs_counts_as_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """link(2) succeeded, its answer was lost, and the repeated request found the name taken."""
    source, target = tmp_path / "a", tmp_path / "b"
    source.write_text("x")
    real = os.link

    def repeated(*words: object) -> None:
        real(*words)
        raise FileExistsError(17, "File exists")

    monkeypatch.setattr(os, "link", repeated)
    assert publish.link_first(source, target)


def test_a_file_system_without_hard_links_is_rejected(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout(bench.output)
    layout.make()

    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    with pytest.raises(CampaignError, match="no hard links"):
        publish.require_links(layout)
    assert not list(layout.scratch.iterdir()) and not list(layout.records.iterdir())


# ---- attempts that fail


def failing(bench: Bench, **more: object) -> Result:
    """Run an attempt at f000 that must fail and leave no file."""
    layout = Layout(bench.output)
    layout.make()
    result = attempt.run_attempt(task_of(bench, "f000.npz", "a", **more), "tcp://worker:1")
    assert result.outcome is Outcome.FAILED
    assert not list(layout.scratch.iterdir()) and not list(layout.records.iterdir()) and not bench.done()
    assert (
        f"input:    {bench.inputs}/f000.npz" in result.block
        and f"worker:   {socket.gethostname()} tcp://worker:1" in result.block
    )
    return result


def test_a_worker_without_the_program(bench: Bench) -> None:
    bench.make(1)
    bench.program.unlink()
    result = failing(bench)
    assert (
        result.fault.value == "worker"
        and "the worker has no program" in result.block
        and str(bench.program) in result.block
    )


def test_a_program_whose_interpreter_is_missing(bench: Bench) -> None:
    bench.make(1)
    bench.program.write_text("#!/no/such/python\n")
    assert failing(bench).fault.value == "worker"


def test_a_worker_without_the_model(bench: Bench) -> None:
    bench.make(1)
    result = failing(bench, files=["/models/network.ts"])
    assert result.fault.value == "worker"
    assert f"worker {socket.gethostname()}" in result.block and "/models/network.ts" in result.block


def test_a_worker_with_another_program(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.make(1)
    monkeypatch.setenv("FAKE_COMMIT", "older")
    result = failing(bench)
    assert (
        result.fault.value == "worker" and "older" in result.block and fake_wire_cell.COMMIT in result.block
    )


@pytest.mark.parametrize(
    "told, fault, said",
    [
        ("fail 1 broken", "file", "error: broken"),
        ("fail 2 wrong key", "final", "exit status 2"),
        ("fail 1 cannot write: No space left on device", "worker", "No space left"),
        ("fail 127 error while loading shared libraries: libx.so", "worker", "libx.so"),
        ("die", "file", "signal 9 ended the program"),
        ("half", "file", "no complete output"),
        ("nothing", "file", "no such file after exit status 0"),
        ("touch", "file", "the input changed while it was read"),
    ],
)
def test_whose_fault_it_is(bench: Bench, told: str, fault: str, said: str) -> None:
    bench.make(1, told)
    result = failing(bench)
    assert result.fault.value == fault and said in result.block


def test_a_hung_program_is_ended_with_all_it_started(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wirecell_campaign.process.GRACE", 0.2)
    bench.make(1, "hang")
    result = failing(bench, timeout=3.0)
    assert result.fault.value == "file" and "did not end in 3 s" in result.block
    started = [int(pid) for pid in (bench.inputs / "f000.npz.child").read_text().split()]
    deadline = time.monotonic() + 60
    while any(map(is_alive, started)):  # a killed process is there for a moment
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_missing_input_is_the_workers_fault_when_the_client_sees_it(bench: Bench) -> None:
    bench.make(1)
    (bench.inputs / "f000.npz").unlink()
    assert failing(bench, input_seen=True).fault.value == "worker"
    shutil.rmtree(bench.output)
    assert failing(bench, input_seen=False).fault.value == "final"


def test_scratch_on_the_workers_own_disk(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.make(1)
    Layout(bench.output).make()
    monkeypatch.setenv("OWN_DISK", str(bench.folder / "disk"))
    assert (
        attempt.run_attempt(task_of(bench, "f000.npz", "a", local_scratch="$OWN_DISK/x")).outcome
        is Outcome.PUBLISHED
    )
    assert list((bench.folder / "disk" / "x").iterdir()) == []
    shutil.rmtree(bench.output)
    assert "is not absolute" in failing(bench, local_scratch="$NOT_SET/x").block


def test_a_full_disk_of_the_output_folder(bench: Bench) -> None:
    """On a file system in memory of 64 kB."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    bench.make(1, "big 200000")
    bench.output.mkdir()
    with small_file_system(bench.output, "128k"):
        result = failing(bench)
        assert result.fault.value == "worker" and "No space left on device" in result.block


def test_the_record_says_what_was_done(bench: Bench) -> None:
    bench.make(1, "sleep 0.1")
    Layout(bench.output).make()
    attempt.run_attempt(task_of(bench, "f000.npz", "a"), "tcp://worker:1")
    known = json.loads((bench.output / ".campaign/records/f000.npz.json").read_text())
    assert (
        known["host"] == socket.gethostname()
        and known["worker"] == "tcp://worker:1"
        and known["settings"] == "s"
    )
    assert 0.1 <= known["seconds"] < 5 and known["start"] < known["stop"]
