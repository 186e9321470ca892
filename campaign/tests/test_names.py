# SPDX-License-Identifier: Apache-2.0
"""Names of files: UTF-8 in every locale, and characters that would command the terminal."""

from __future__ import annotations

import json
import os
import subprocess
from types import SimpleNamespace

import fake_wire_cell
import pytest
from campaign_support import Bench
from wirecell_campaign import cli, engine
from wirecell_campaign.errors import CampaignError

# A locale of ASCII, without Python's own ways out of it.
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture
def names(bench: Bench) -> list[str]:
    """Inputs whose names are not ASCII; return the outputs' names."""
    names = ["größe é.npz", "терм\x1b[31m.npz"]
    for name in names:
        (bench.inputs / name).write_text(f"# {name}\n", encoding="utf-8")
    bench.list.write_text("inputs/größe é.npz\ninputs/терм*\n", encoding="utf-8")
    return names


@pytest.mark.parametrize("first", [ASCII, {"LC_ALL": "C.UTF-8"}])
def test_a_campaign_goes_on_in_another_locale(
    bench: Bench, cluster_address: str, names: list[str], first: dict[str, str]
) -> None:
    """The bookkeeping is the same, in both directions."""
    second = {"LC_ALL": "C.UTF-8"} if first is ASCII else ASCII
    for locale, said in ((first, "0 done before, 2 to do"), (second, "2 done before, 0 to do")):
        process = bench.start("--cluster", cluster_address, **locale)
        output, messages = process.communicate()
        assert process.returncode == 0 and said in messages, messages
        assert "2 of 2 done" in output
    bench.check(names)
    manifest = json.loads((bench.output / "manifest.json").read_text(encoding="utf-8"))
    assert [each["path"] for each in manifest["files"]] == sorted(names)
    assert cli.main(["verify", str(bench.output)]) == 0


def test_workers_have_the_same_names(bench: Bench, capsys) -> None:
    """Those of jobs, by their scripts; those of a running scheduler are asked."""
    bench.make(1)
    for where in ("slurm", "htcondor"):
        assert bench.run("--cluster", where, "--dry-run", "--interface", "lo", "--no-tls") == 0
        assert "export PYTHONUTF8=1" in capsys.readouterr().out
    replies = {"tcp://good": engine.encoding_of_names(), "tcp://bad": "ascii"}
    client = SimpleNamespace(run=lambda _function, on_error: replies)
    with pytest.raises(CampaignError, match="another encoding\n  where:    tcp://bad\n  seen:     ascii\n"):
        engine.Engine(client).require_package()


def test_names_that_fake_lines(
    bench: Bench, cluster_address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the list, the output folder, an input and one that fails."""
    fake = "x\nerror: fake\n  seen: y"
    (bench.inputs / f"{fake}.npz").write_text("# good\n")
    (bench.inputs / f"{fake}z.npz").write_text("fail 1 bad\n")
    bench.list = bench.folder / f"{fake}.txt"
    bench.list.write_text("inputs/x*\n")
    bench.output = bench.folder / fake
    assert bench.run("--cluster", cluster_address, "--dry-run") == 0
    assert bench.run("--cluster", cluster_address, "--retries", "0") == 1
    for command in ("status", "summary", "verify"):
        assert cli.main([command, str(bench.output)]) == 0
        assert cli.main([command, f"no{fake}"]) == 2
    bench.list = bench.folder / f"no{fake}"
    assert bench.run("--cluster", cluster_address) == 2
    shown = capsys.readouterr()
    lines = (shown.out + shown.err).splitlines()
    assert sum("error: fake" in line for line in lines) > 8
    assert not any(line.startswith(("error: fake", "  seen: y")) for line in lines)


def test_names_of_any_bytes(bench: Bench, cluster_address: str, capsys) -> None:
    """Of an input, its folder, the list and the output folder; the program gets links, and its dumps their names."""
    latin = os.fsdecode(b"r\xe9sum\xe9")
    bench.inputs = bench.inputs.rename(bench.folder / latin)
    bench.output = bench.folder / f"{latin}-out"
    names = [f"{latin}.npz", "plain.npz", "vt\v,nel\x85,nbsp\xa0.npz"]
    for name in names:
        (bench.inputs / name).write_text(f"dump\n# {name!a}\n")
    bench.list = bench.folder / f"{latin}.txt"
    bench.list.write_bytes(b"".join(os.fsencode(f"{bench.inputs}/{name}\n") for name in names))
    dumps = [name.replace(".npz", "-decon-induction.npz") for name in names]
    assert bench.run("--cluster", cluster_address) == 0, capsys.readouterr().err
    assert bench.done() == sorted([*names, *dumps])
    for name in names:
        expected = fake_wire_cell.output_of((bench.inputs / name).read_bytes())
        assert (bench.output / name).read_bytes() == expected
    subprocess.run(["sha256sum", "--quiet", "--strict", "-c", "SHA256SUMS"], cwd=bench.output, check=True)
    assert cli.main(["verify", str(bench.output)]) == 0
    assert bench.run("--cluster", cluster_address) == 0
    said = capsys.readouterr()
    assert "3 done before, 0 to do" in said.err and "r\\xe9sum" in said.out


def test_names_do_not_command_the_terminal(
    bench: Bench, cluster_address: str, names: list[str], capsys
) -> None:
    (bench.inputs / names[1]).write_text("fail 1 wrong\x1b]0;title\x07\n", encoding="utf-8")
    assert bench.run("--cluster", cluster_address, "--on-error", "skip", "--retries", "0") == 1
    os.truncate(bench.output / names[0], 0)
    (bench.output / "\x1b[2J").write_text("unknown")
    assert cli.main(["status", str(bench.output)]) == 0
    assert cli.main(["verify", str(bench.output)]) == 1
    said = "".join(capsys.readouterr())
    assert "терм\\x1b[31m.npz failed" in said and "differs from the manifest: größe é.npz" in said
    assert "not in the manifest: \\x1b[2J" in said
    assert not {"\x1b", "\x07"} & set(said)
