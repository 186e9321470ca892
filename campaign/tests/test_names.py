# SPDX-License-Identifier: Apache-2.0
"""Names of files: UTF-8 in every locale, and characters that would command the terminal."""

from __future__ import annotations

import json
import os

import pytest
from campaign_support import Bench
from wirecell_campaign import cli

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
