# SPDX-License-Identifier: Apache-2.0
"""Files that are done with a doubtful result: warnings, --strict, outliers, inputs that changed unnoticed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from campaign_support import Bench
from wirecell_campaign import cli, input_warnings, outliers, output_check

POLARITY = "the polarity of the pulses differs (U of anode 0): seen 1.00, expected -0.05"
NOISE = "view U: the noise is 8.04 times that of the training"


def test_warnings_of_a_file_are_kept_everywhere(bench: Bench, cluster_address: str, capsys) -> None:
    """Loaded programs process several files each; the warnings belong to the third one alone."""
    names = bench.make(7, f003=f"warn {POLARITY}\nlog {NOISE}")
    assert bench.run("--cluster", cluster_address) == 0
    bench.check(names)
    assert "1 file with warnings: f003.npz" in capsys.readouterr().err
    for name in names:
        record = json.loads((bench.output / f".campaign/records/{name}.json").read_text())
        assert record["warnings"] == ([POLARITY, NOISE] if name == "f003.npz" else [])
    expected = {"f003.npz": [POLARITY, NOISE]}
    assert json.loads((bench.output / "summary.json").read_text())["warnings"] == expected
    manifest = json.loads((bench.output / "manifest.json").read_text())
    assert {each["path"]: each["warnings"] for each in manifest["files"] if each["warnings"]} == expected
    for command in ("status", "summary"):
        assert cli.main([command, str(bench.output)]) == 0
        shown = capsys.readouterr().out
        assert f"1 file with warnings:\n\nf003.npz\n  {POLARITY}\n  {NOISE}\n" in shown


def test_doubtful_input_fails_with_strict(bench: Bench, cluster_address: str, capsys) -> None:
    """It is not tried again, which would not help; other failures are."""
    names = bench.make(5, f001=f"once warn {POLARITY}", f002="once fail 1 lost")
    words = ("--cluster", cluster_address, "--strict", "--on-error", "skip")
    assert bench.run(*words) == 1
    said = capsys.readouterr()
    assert "4 of 5 done, 1 failed" in said.out and "f001.npz failed" in said.err and POLARITY in said.err
    bench.check([name for name in names if name != "f001.npz"])
    assert cli.main(["status", str(bench.output)]) == 0
    assert f"error: {POLARITY}" in capsys.readouterr().out
    assert json.loads((bench.output / "manifest.json").read_text())["failed"] == ["f001.npz"]


def test_strict_does_not_accept_what_was_done_without_it(bench: Bench, cluster_address: str, capsys) -> None:
    """A warning that the program does not make an error stays a warning."""
    bench.make(4, f001=f"warn {POLARITY}", f002=f"log {NOISE}")
    words = ("--cluster", cluster_address, "--on-error", "skip", "--retries", "0")
    assert bench.run(*words) == 0
    assert bench.run(*words, "--strict") == 2
    said = capsys.readouterr().err
    assert "f001.npz: done without --strict, with warnings, f002.npz: done without" in said
    assert bench.run(*words, "--strict", "--redo") == 1
    assert bench.done() == ["f000.npz", "f002.npz", "f003.npz"]
    assert bench.run(*words) == 0, "without --strict all are accepted"
    assert bench.done() == ["f000.npz", "f001.npz", "f002.npz", "f003.npz"]


@pytest.mark.parametrize(
    "reported, said, expected",
    [
        ([], "[06:58:24.779] W [ a:b ] one\n[06:58:24.779] E [ a:b ] two\nthree\n", ["one"]),
        (["one", "one"], "[06:58:24.779] W [ a ] one\n", ["one"]),
        (
            ["event 3: one"],
            "[06:58:24.779] W [ a ] one\n[06:58:24.779] W [ a ] two\n",
            ["event 3: one", "two"],
        ),
        ([str(i) for i in range(60)], "", [*(str(i) for i in range(50)), "and 10 more warnings"]),
    ],
)
def test_a_warning_is_kept_once(reported: list[str], said: str, expected: list[str]) -> None:
    assert input_warnings.of_file(reported, said) == expected
    assert input_warnings.of_file(["one"], "", 3, 7) == ["3 of 7 events have warnings", "one"]


def test_an_input_that_changed_with_equal_size_and_time(bench: Bench, cluster_address: str, capsys) -> None:
    """A changed mode does not change the content, and a changed content is found although size and time are as before."""
    names = bench.make(3)
    words = ("--cluster", cluster_address)
    assert bench.run(*words) == 0
    path = bench.inputs / "f001.npz"
    before = path.stat()
    path.chmod(0o600)
    assert bench.run(*words) == 0
    path.write_text(path.read_text().replace("# f001", "# g001"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert bench.run(*words, "--quick") == 0, "--quick compares size and time"
    assert bench.run(*words) == 2
    assert "f001.npz: done, but of another content of the input" in capsys.readouterr().err
    assert bench.run(*words, "--redo") == 0
    bench.check(names)


# ---- outliers


@pytest.mark.parametrize("is_sparse", [False, True])
def test_samples_and_charge_of_an_output(tmp_path: Path, is_sparse: bool) -> None:
    """The member is larger than a block, whose size is no multiple of three samples."""
    samples = np.zeros((3, 70_001), dtype="f4")
    samples[1, 5:10] = 100.0
    arrays = {"frame_signal_7": samples, "channels_signal_7": np.arange(3), "summary_signal_7": np.ones(9)}
    if is_sparse:
        arrays = {
            "runs_signal_7": np.array([[1, 5, 10]]),
            "values_signal_7": samples[1, 5:10],
            "shape_signal_7": np.array(samples.shape),
        }
    np.savez(tmp_path / "out.npz", **arrays)
    seen = output_check.read_content(tmp_path / "out.npz")
    assert seen == output_check.Content(events=1, samples=samples.size, not_zero=5, charge=500.0)


def record_of(size: int = 1000, not_zero: int = 40, charge: float = 5e6, events: int = 1) -> dict:
    """Return the part of a record that outliers are found by."""
    content = {
        "events": events,
        "samples": 1000 * events,
        "not_zero": not_zero * events,
        "charge": charge * events,
    }
    return {"products": [{"size": size * events}], "events": events, "content": content}


def test_outliers_are_named_in_one_line() -> None:
    """A file with two events is none."""
    records = {f"f{i}": record_of(1000 + i, 40 + i, 5e6 * (1 + i / 10), 1 + i % 2) for i in range(8)}
    assert outliers.find(records) == {}
    found = outliers.find(records | {"f13": record_of(5020, 195, 6.75e8), "empty": record_of(200, 0, 0.0)})
    assert outliers.as_line(found) == (
        "f13: 5 times the bytes of an event, 19.5 % of samples not 0 (median 4.35 %), 1e+02 times the charge of an event; "
        "empty: 0.2 times the bytes of an event, 0 % of samples not 0 (median 4.35 %), 0 times the charge of an event"
    )


def test_files_that_differ_by_nature_are_no_outliers() -> None:
    records = {f"f{i}": record_of(1000 * 2**i, 2**i, 1e6 * 2**i) for i in range(8)}
    assert outliers.find(records) == {}
    few = dict(list(records.items())[:3]) | {"f13": record_of(10**9)}
    assert outliers.find(few) == {}, "nobody knows which of few files is the strange one"


def test_the_summary_names_outliers(bench: Bench, cluster_address: str, capsys) -> None:
    bench.make(6, f002="big 20000")
    assert bench.run("--cluster", cluster_address) == 0
    assert "outliers: f002.npz: " in capsys.readouterr().err
    assert cli.main(["summary", str(bench.output)]) == 0
    assert "outliers: f002.npz: 37 times the bytes of an event\n" in capsys.readouterr().out


def test_detector_files_that_changed_are_named(bench: Bench, cluster_address: str, capsys) -> None:
    """The records have the checksums of all files that the program read."""
    bench.make(3)
    assert bench.run("--cluster", cluster_address) == 0
    for index in range(3):
        path = bench.output / f".campaign/records/f00{index}.npz.json"
        record = json.loads(path.read_text())
        files = [{"path": "/d/wires", "sha256": "a"}, {"path": "/d/field", "sha256": "b" if index else "c"}]
        record["timing"]["provenance"] = {"files": files}
        path.write_text(json.dumps(record))
    assert bench.run("--cluster", cluster_address) == 0
    assert cli.main(["summary", str(bench.output)]) == 0
    said = capsys.readouterr()
    assert said.err.splitlines()[-1] == "outputs were made with different contents of: /d/field"
    assert "outputs were made with different contents of: /d/field\n" in said.out
