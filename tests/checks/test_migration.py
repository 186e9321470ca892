# SPDX-License-Identifier: Apache-2.0
"""docs/migration.md has every name of the Wire-Cell Toolkit (WCT), and its rows are true."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.wire_cell import ROOT, needs_program, run

PAGE = (ROOT / "docs" / "migration.md").read_text(encoding="utf-8")
NAMES = json.loads((ROOT / "tests" / "cfg" / "wct_names.json").read_text(encoding="utf-8"))
SAME = "## Types of the same name"
ENGINES = ("Pgrapher", "TbbFlow")


def names_in(cell: str) -> list[str]:
    """Return the words in backticks of a cell."""
    return re.findall(r"`([^`]+)`", cell)


def tables(text: str) -> Iterator[list[list[str]]]:
    """Yield the rows of each table, as cells, without the two lines of its head."""
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        lines = [line[1:-1].split("|") for line in block.splitlines()[2:]]
        yield [[cell.strip() for cell in line] for line in lines]


def section(heading: str) -> str:
    """Return the text of a section with the sections below it."""
    level = heading.split()[0]
    begin = PAGE.index(f"\n{heading}\n") + 1
    end = re.search(rf"^#{{1,{len(level)}}} ", PAGE[begin + len(heading) :], re.MULTILINE)
    return PAGE[begin : begin + len(heading) + end.start()] if end else PAGE[begin:]


def keys_on_page() -> dict[str, set[str]]:
    """Return the keys that the tables have for each type."""
    keys: dict[str, set[str]] = {}
    for table in tables(PAGE):
        for row in table:
            for name in names_in(row[0]):
                if name in NAMES["types"] and len(row) > 2:
                    keys.setdefault(name, set()).update(names_in(row[1]))
    [processor] = tables(section("### OmnibusSigProc"))
    keys["OmnibusSigProc"] = {key for row in processor for key in names_in(row[0])}
    return keys


def common_keys() -> set[str]:
    """Return the keys of the table of WCT's base classes."""
    *_, table = tables(section(SAME))
    return {key for row in table for key in names_in(row[0])}


@cache
def schemas() -> dict[str, Any]:
    """Return the JSON schema of each type."""
    done = run("--schema", "all")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def schema_of(type_name: str) -> dict[str, Any]:
    """Return the JSON schema of a type, which may have its name in WCT."""
    if type_name in schemas():
        return schemas()[type_name]
    done = run("--schema", type_name)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("type_name", NAMES["types"])
def test_each_key_has_a_row(type_name: str) -> None:
    """Each type of WCT's SPNG and OSP configurations is on the page with all of its keys."""
    on_page = keys_on_page()
    assert type_name in on_page, f"{type_name} has no row"
    missing = set(NAMES["types"][type_name]) - on_page[type_name] - common_keys()
    assert not missing, f"{type_name} lacks rows of {sorted(missing)}"


def test_each_type_and_key_exists() -> None:
    """The tables have no key that WCT does not have."""
    for type_name, keys in keys_on_page().items():
        known = set(NAMES["types"][type_name])
        assert keys <= known, f"{type_name} has no {sorted(keys - known)} in WCT"


def test_each_option_has_a_row() -> None:
    """Each option of WCT's program is on the page, and in our program if its row says 'same'."""
    [table] = tables(section("## Command line"))
    on_page = [names_in(row[0]) for row in table]
    assert on_page == [
        [f"--{words[0]}", *(f"-{letter}" for letter in words[1:])]
        for words in (option.split(",") for option in NAMES["options"])
    ]


@needs_program
def test_options_are_the_same() -> None:
    """The program has the options that the page calls the same."""
    help_text = run("--help").stdout
    [table] = tables(section("## Command line"))
    for row in table:
        assert row[1].startswith("same")
        long, *short = names_in(row[0])
        spelling = f"{short[0]} [ {long} ]" if short else long
        assert re.search(
            rf"^  {re.escape(spelling)}\b|^  {re.escape(spelling)}(\s|$)", help_text, re.MULTILINE
        ), spelling


@needs_program
def test_plugins(tmp_path: Path) -> None:
    """Plugins are accepted or rejected as the page says."""
    [table] = tables(section("## Plugins"))
    found = {name: row[1].split(";")[0].split(",")[0] for row in table for name in names_in(row[0])}
    assert sorted(found) == NAMES["plugins"]
    assert set(found.values()) == {"accepted", "error"}
    file = tmp_path / "plugins.json"
    for name, answer in found.items():
        file.write_text(json.dumps([{"type": "wire-cell", "data": {"plugins": [name]}}]), encoding="utf-8")
        message = run("-c", file, "--check-configuration").stderr
        is_rejected = (
            f"plugin '{name}' of the Wire-Cell Toolkit" in message and "docs/migration.md" in message
        )
        assert is_rejected == (answer == "error"), message


@needs_program
def test_keys_of_types_of_the_same_name() -> None:
    """`same` keys are keys of the type here, accepted names are its second names, and others are not keys."""
    table, *_ = tables(section(SAME))
    kinds = {"same": 0, "none": 0, "accepted": 0}
    for types, keys, here, _ in table:
        [type_name] = names_in(types)
        known = {"edges"} if type_name in ENGINES else set(schema_of(type_name)["properties"])
        for key in names_in(keys):
            if here == "none":
                kinds["none"] += 1
                assert key not in known, f"{type_name} has {key}"
            else:
                kinds["same" if here == "same" else "accepted"] += 1
                assert {key, *names_in(here)} <= known, f"{type_name} lacks {key}"
    assert kinds["same"] >= 35 and kinds["none"] >= 60 and kinds["accepted"] == 3


@needs_program
def test_accepted_names() -> None:
    """The table of accepted names is true and complete: it is that of the node reference."""
    [table] = tables(section("## Names that are accepted"))
    types, keys = {}, set()
    for wct, here in table:
        if wct.startswith("type"):
            types[names_in(wct)[0]] = names_in(here)[0]
        elif wct.startswith("key"):
            owner = re.search(r"of (\w+)", wct)
            assert owner
            keys.add((owner[1], names_in(wct)[0], names_in(here)[0]))
    for name, own in types.items():
        assert schema_of(name)["title"] == own
    for type_name, name, own in keys:
        properties = schemas()[type_name]["properties"]
        assert properties[name] == properties[own]
    reference = run("--describe", "all").stdout
    assert set(re.findall(r"^(?!\|).*; in WCT: (\w+)$", reference, re.MULTILINE)) == set(types)
    in_reference = re.findall(r"^\| `(\w+)` \|.*; in WCT: (\w+) \|$", reference, re.MULTILINE)
    assert sorted(in_reference) == sorted((here, wct) for _, wct, here in keys)
