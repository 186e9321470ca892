# SPDX-License-Identifier: Apache-2.0
"""Runs with a working engine: order, resume, settings, lists, failures of files."""

from __future__ import annotations

import json
import os
import time

import pytest
from campaign_support import Bench
from test_publish import leave_unplaced
from wirecell_campaign import cli
from wirecell_campaign.layout import Layout, longest_name


def test_every_file_is_done_once(bench: Bench, cluster_address: str, monkeypatch, capsys) -> None:
    names = bench.make(10)
    assert bench.run("--cluster", cluster_address) == 0
    bench.check(names)
    assert "10 of 10 done, 0 failed, 0 not done" in capsys.readouterr().out
    record = json.loads((bench.output / ".campaign/records/f003.npz.json").read_text())
    assert record["input"]["path"] == str(bench.inputs / "f003.npz") and record["input"]["size"] == len(
        "\n# f003.npz\n"
    )
    assert (record["events"], record["status"], record["number"]) == (2, 0, 1)
    assert record["timing"]["nodes"]["FrameFileSource"]["wall_ns"] == [3_000_000, 1_000_000]


def test_the_same_command_does_nothing_twice(bench: Bench, cluster_address: str, capsys) -> None:
    names = bench.make(6)
    assert bench.run("--cluster", cluster_address) == 0
    before = {path: path.stat().st_mtime_ns for path in (bench.output / ".campaign/records").iterdir()}
    bench.list.write_text(bench.list.read_text() + "inputs/more.npz\n")
    (bench.inputs / "more.npz").write_text("# more\n")
    assert bench.run("--cluster", cluster_address) == 0
    assert {path: path.stat().st_mtime_ns for path in before} == before
    bench.check([*names, "more.npz"])
    assert "7 files, 6 done before, 1 to do" in capsys.readouterr().err


def test_a_shorter_list_leaves_the_other_files_as_they_are(bench: Bench, cluster_address: str) -> None:
    """Also after a kill between record and output, when the output is in the scratch folder, which is cleaned."""
    names = bench.make(3)
    Layout(bench.output).make()
    leave_unplaced(bench, "f001.npz")
    bench.list.write_text("inputs/f000.npz\ninputs/f002.npz\n")
    assert bench.run("--cluster", cluster_address) == 0
    bench.check(names)


def test_local_cluster_and_nothing_to_do_without_one(bench: Bench, capsys) -> None:
    names = bench.make(5)
    assert bench.run("--workers", "2") == 0
    bench.check(names)
    start = time.monotonic()
    assert bench.run("--workers", "2") == 0
    assert time.monotonic() - start < 2
    bench.check(names)


def test_failures_are_listed_with_the_programs_block(bench: Bench, cluster_address: str, capsys) -> None:
    names = bench.make(10, f004="fail 1 the ADC is upside down", f007="fail 2 wrong key")
    assert bench.run("--cluster", cluster_address, "--on-error", "skip", "--retries", "2") == 1
    captured = capsys.readouterr()
    assert "8 of 10 done, 2 failed, 0 not done" in captured.out
    assert "f004.npz failed, attempts: 3" in captured.err and "error: the ADC is upside down" in captured.err
    assert "some log line" not in captured.err
    assert "f007.npz failed, attempts: 1" in captured.err, "wrong use is not tried again"
    bench.check([name for name in names if name not in ("f004.npz", "f007.npz")])
    manifest = json.loads((bench.output / "manifest.json").read_text())
    assert manifest["failed"] == ["f004.npz", "f007.npz"] and not manifest["complete"]
    assert cli.main(["status", str(bench.output)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("8 of 10 done, 2 failed, 0 left\nnot running\n") and "upside down" in shown

    for name in ("f004.npz", "f007.npz"):  # corrected: the same command does just these
        (bench.inputs / name).write_text("# corrected\n")
    assert bench.run("--cluster", cluster_address, "--on-error", "skip", "--retries", "2") == 0
    bench.check(names)
    assert json.loads((bench.output / "manifest.json").read_text())["complete"]
    assert not list((bench.output / ".campaign/failures").iterdir())


def test_stop_at_the_first_failure(bench: Bench, cluster_address: str, capsys) -> None:
    bench.make(40, "sleep 0.02", f000="fail 2 broken")
    assert bench.run("--cluster", cluster_address) == 1
    captured = capsys.readouterr()
    assert "not all files were tried: a file failed (--on-error stop)" in captured.err
    assert 0 < len(bench.done()) < 39
    bench.check(bench.done())
    manifest = json.loads((bench.output / "manifest.json").read_text())
    assert len(manifest["files"]) + len(manifest["failed"]) + len(manifest["left"]) == 40


@pytest.mark.parametrize(
    "fault", ["once fail 1 no luck", "once half", "once nothing", "once die", "once touch"]
)
def test_a_second_attempt_is_made(bench: Bench, cluster_address: str, fault: str) -> None:
    names = bench.make(3, f001=fault)
    assert bench.run("--cluster", cluster_address) == 0
    bench.check(names)
    record = json.loads((bench.output / ".campaign/records/f001.npz.json").read_text())
    assert record["number"] == 2
    assert json.loads((bench.output / "summary.json").read_text())["later_attempts"] == 1


def test_urls_are_no_files(bench: Bench, cluster_address: str, capsys) -> None:
    bench.make(2)
    bench.list.write_text("inputs/f000.npz\nroot://eos.cern.ch//a/f001.npz\n")
    for words in ([], ["--on-error", "skip"]):
        assert bench.run("--cluster", cluster_address, *words) == 1
        assert "hint:     this is a URL, and files must be local" in capsys.readouterr().err


def test_an_unreadable_file_among_many(bench: Bench, cluster_address: str, capsys) -> None:
    names = bench.make(14)
    (bench.inputs / "f011.npz").unlink()
    (bench.inputs / "f012.npz").unlink()
    (bench.inputs / "f012.npz").mkdir()
    assert bench.run("--cluster", cluster_address) == 1, "stop: nothing is started"
    assert "cannot read 2 inputs" in capsys.readouterr().err and bench.done() == []
    assert bench.run("--cluster", cluster_address, "--on-error", "skip") == 1
    said = capsys.readouterr().err
    assert (
        f"f011.npz failed, attempts: 1\nerror: cannot read the input\n  where:    {bench.inputs}/f011.npz"
        in said
    )
    assert "Is a directory" in said
    bench.check([name for name in names if name not in ("f011.npz", "f012.npz")])


def test_changed_settings_are_rejected(bench: Bench, cluster_address: str, capsys) -> None:
    names = bench.make(4)
    assert bench.run("--cluster", cluster_address, "-A", "filters=pdhd") == 0
    assert bench.run("--cluster", cluster_address, "-A", "filters=smooth") == 2
    said = capsys.readouterr().err
    assert "made with other settings" in said and "'pdhd'" in said and "'smooth'" in said and "--redo" in said
    bench.config.write_text("{} // changed\n")
    assert bench.run("--cluster", cluster_address, "-A", "filters=pdhd") == 2
    assert "config_sha256" in capsys.readouterr().err
    record = bench.output / ".campaign/records/f000.npz.json"
    before = json.loads(record.read_text())["attempt"]
    assert bench.run("--cluster", cluster_address, "-A", "filters=smooth", "--redo") == 0
    assert json.loads(record.read_text())["attempt"] != before
    bench.check(names)


@pytest.mark.parametrize(
    "content", ["{}", '{"digest": "x"}', '{"digest": "x", "settings": null}', "[]", "torn"]
)
def test_settings_that_are_not_whole_are_as_none(
    bench: Bench, cluster_address: str, capsys, content: str
) -> None:
    """The records contain the settings of their outputs."""
    names = bench.make(2)
    words = ("--cluster", cluster_address, "-A", "filters=pdhd")
    assert bench.run(*words) == 0
    kept = bench.output / ".campaign/settings.json"
    whole = kept.read_text()
    kept.write_text(content)
    assert cli.main(["status", str(bench.output)]) == 0
    assert bench.run("--cluster", cluster_address, "-A", "filters=smooth") == 2
    assert "2 files were done with other settings" in capsys.readouterr().err
    kept.write_text(content)
    assert bench.run(*words) == 0
    assert kept.read_text() == whole
    bench.check(names)


def test_the_number_of_threads_is_no_setting(bench: Bench, cluster_address: str) -> None:
    bench.config.write_text("function(\n    threads=0,\n) {}\n")
    names = bench.make(2)
    assert bench.run("--cluster", cluster_address, "--cores", "2") == 0
    assert bench.run("--cluster", cluster_address, "--cores", "1") == 0
    bench.check(names)


def test_an_input_that_changed_since_is_not_mixed_in(bench: Bench, cluster_address: str, capsys) -> None:
    names = bench.make(4)
    assert bench.run("--cluster", cluster_address) == 0
    os.utime(bench.inputs / "f001.npz", (1, 1))  # another time and equal content is the same input
    assert bench.run("--cluster", cluster_address) == 0
    (bench.inputs / "f002.npz").write_text("# something else\n")
    assert bench.run("--cluster", cluster_address) == 2
    assert "f002.npz: done, but of another content of the input" in capsys.readouterr().err
    assert bench.run("--cluster", cluster_address, "--redo") == 0
    bench.check(names)


def test_an_input_may_go_once_it_is_done(bench: Bench, cluster_address: str) -> None:
    bench.make(2)
    assert bench.run("--cluster", cluster_address) == 0
    (bench.inputs / "f000.npz").unlink()
    assert bench.run("--cluster", cluster_address) == 0


def test_an_input_that_keeps_changing_fails_readably(bench: Bench, cluster_address: str, capsys) -> None:
    bench.make(3, f001="touch")
    assert bench.run("--cluster", cluster_address, "--on-error", "skip", "--retries", "1") == 1
    assert "error: the input changed while it was read" in capsys.readouterr().err
    assert bench.done() == ["f000.npz", "f002.npz"]


@pytest.mark.parametrize(
    "damage", ["cut", "flip", "gone", "torn record", "empty record", "record of something else"]
)
def test_damage_between_runs_is_found_and_repaired(bench: Bench, cluster_address: str, damage: str) -> None:
    names = bench.make(3)
    assert bench.run("--cluster", cluster_address) == 0
    path, record = bench.output / "f001.npz", bench.output / ".campaign/records/f001.npz.json"
    content = path.read_bytes()
    if damage == "cut":
        path.write_bytes(content[:100])
    elif damage == "flip":
        time_before = path.stat().st_mtime_ns
        path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
        os.utime(path, ns=(time_before, time_before))
    elif damage == "gone":
        path.unlink()
    elif damage == "torn record":
        record.write_text(record.read_text()[:200])
    elif damage == "empty record":
        record.write_text("")
    else:
        record.write_text('{"schema": "spng-campaign-record-1", "products": []}')
    assert bench.run("--cluster", cluster_address) == 0
    aside = list((bench.output / ".campaign/aside").rglob("f001.npz*"))
    assert len([one for one in aside if one.is_file()]) == (1 if damage == "gone" else 2), (
        "nothing is thrown away"
    )
    bench.check(names)


def test_a_file_of_somebody_else_is_never_overwritten(bench: Bench, cluster_address: str, capsys) -> None:
    bench.make(3)
    bench.output.mkdir()
    (bench.output / "f001.npz").write_text("mine")
    assert bench.run("--cluster", cluster_address) == 1
    assert "not of this campaign" in capsys.readouterr().err
    assert (bench.output / "f001.npz").read_text() == "mine" and bench.done() == ["f001.npz"]


def test_dumped_edges_are_products_too(bench: Bench, cluster_address: str) -> None:
    bench.make(2, f000="dump")
    assert bench.run("--cluster", cluster_address) == 0
    manifest = json.loads((bench.output / "manifest.json").read_text())
    assert [entry["path"] for entry in manifest["files"]] == [
        "f000-decon-induction.npz",
        "f000.npz",
        "f001.npz",
    ]
    assert cli.main(["verify", str(bench.output)]) == 0


def test_a_dump_with_the_name_of_a_foreign_file_fails_and_takes_everything_back(
    bench: Bench, cluster_address: str, capsys
) -> None:
    bench.make(2, f000="dump")
    bench.output.mkdir()
    (bench.output / "f000-decon-induction.npz").write_text("mine")
    assert bench.run("--cluster", cluster_address, "--on-error", "skip", "--overwrite") == 1
    assert "cannot give the output its name" in capsys.readouterr().err
    assert bench.done() == ["f000-decon-induction.npz", "f001.npz"]
    assert (bench.output / "f000-decon-induction.npz").read_text() == "mine"
    assert not (bench.output / ".campaign/records/f000.npz.json").exists()


def test_clock_skew_has_no_effect(bench: Bench, cluster_address: str) -> None:
    """Inputs with future times, outputs with past times."""
    names = bench.make(3)
    future = time.time() + 10**6
    for name in names:
        os.utime(bench.inputs / name, (future, future))
    assert bench.run("--cluster", cluster_address) == 0
    for name in names:
        os.utime(bench.output / name, (1, 1))
        record = bench.output / f".campaign/records/{name}.json"
        content = json.loads(record.read_text()) | {
            "start": "2040-01-01T00:00:00.000+00:00",
            "stop": "1999-01-01T00:00:00.000+00:00",
        }
        record.write_text(json.dumps(content))
    before = [(bench.output / name).stat().st_ino for name in names]
    assert bench.run("--cluster", cluster_address) == 0
    assert [(bench.output / name).stat().st_ino for name in names] == before, "nothing is done again"
    assert json.loads((bench.output / "summary.json").read_text())["busy_seconds"] > 0


def with_long_name(bench: Bench, length: int) -> str:
    """Append an input whose output's name has so many bytes and which fails at first; return the name."""
    name = "x" * (length - len(".npz")) + ".npz"
    (bench.inputs / name).write_text("fail 1 broken\n")
    bench.list.write_text(bench.list.read_text() + f"inputs/{name}\n")
    return name


@pytest.mark.parametrize("on_own_disk", [False, True])
def test_a_name_that_is_too_long_is_rejected_before_the_start(
    bench: Bench, capsys, on_own_disk: bool
) -> None:
    bench.make(1)
    with_long_name(bench, longest_name(on_own_disk) + 1)
    scratch = ("--scratch", str(bench.folder)) if on_own_disk else ()
    assert bench.run("--on-error", "skip", *scratch) == 2
    assert "too long a name" in capsys.readouterr().err and not bench.output.exists()


@pytest.mark.parametrize("on_own_disk", [False, True])
def test_the_longest_name_goes_through_everything(
    bench: Bench, cluster_address: str, on_own_disk: bool
) -> None:
    """Its failure is stored, its damaged output is set aside, it is done."""
    names = [*bench.make(1), with_long_name(bench, longest_name(on_own_disk))]
    scratch = ("--scratch", str(bench.folder)) if on_own_disk else ()
    words = ("--cluster", cluster_address, "--on-error", "skip", "--retries", "11", *scratch)
    assert bench.run(*words) == 1
    assert json.loads((bench.output / f".campaign/failures/{names[1]}.json").read_text())["attempts"] == 12
    (bench.inputs / names[1]).write_text("# corrected\n")
    assert bench.run(*words) == 0
    (bench.output / names[1]).write_bytes(b"damage")
    assert bench.run(*words) == 0
    bench.check(names)


def test_dry_run_writes_nothing(bench: Bench, capsys) -> None:
    bench.make(3)
    assert bench.run("--dry-run", "-A", "tpcid=1") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("3 to do\n") and "tpcid=1" in shown
    assert not bench.output.exists()
