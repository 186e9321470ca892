# SPDX-License-Identifier: Apache-2.0
"""Files of other versions: what cannot be read is named, never shown as zero or without a name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hostile_profile import sql
from wirecell_profile.cli import main
from wirecell_profile.model.profile import Profile
from wirecell_profile.model.schema import REQUIRED
from wirecell_profile.model.selection import Scope, Selection
from wirecell_profile.reports import all_reports
from wirecell_profile.tables.sections import SECTIONS

OPERATIONS = ["utilisation", "kernels", "streams", "range-devices", "node-devices"]
OPERATIONS += ["stats cuda_gpu_sum", "stats nvtx_gpu_proj_sum"]
# table -> tables of summary and stats that must be missing without one of its columns
USERS = {
    "NVTX_EVENTS": ["ranges", "range-devices", "gaps", "stats nvtx_sum", "stats nvtx_gpu_proj_sum"],
    "CUPTI_ACTIVITY_KIND_RUNTIME": ["api", "range-devices", "node-devices", "stats cuda_api_sum"],
    **dict.fromkeys(
        (f"CUPTI_ACTIVITY_KIND_{kind}" for kind in "KERNEL MEMCPY MEMSET GRAPH_TRACE".split()), OPERATIONS
    ),
    "CUDA_GPU_MEMORY_USAGE_EVENTS": ["leaks"],
    "OSRT_API": ["stats osrt_sum"],
    "SPNG_CALL": [],
    **dict.fromkeys(
        "SPNG_NODE SPNG_EVENT SPNG_MSG SPNG_SAMPLE SPNG_CALL_CORRELATION GPU_METRICS".split(), []
    ),
    **dict.fromkeys("ThreadNames PROCESSES TARGET_INFO_GPU".split(), []),
}
CASES = [(table, word) for table in USERS for word in REQUIRED[table].split()]


def tables_of(profile: Profile) -> tuple[dict[str, list[dict]], dict[str, str]]:
    """Return the tables of summary and stats that can be made, and why the others cannot."""
    scope = Scope(profile, Selection())
    made, missing = scope.make_all({name: section.run for name, section in SECTIONS.items()})
    reports = {
        f"stats {name}": lambda scope, report=report: report.run(scope, frozenset())
        for name, report in all_reports().items()
    }
    more, further = scope.make_all(reports)
    return {name: result.records() for name, result in (made | more).items()}, missing | further


@pytest.fixture(scope="module")
def complete(honest: Path) -> dict[str, list[dict]]:
    with Profile.open(honest) as profile:
        return tables_of(profile)[0]


@pytest.mark.parametrize("table, column", CASES, ids=[f"{table}-{column}" for table, column in CASES])
def test_a_table_without_a_needed_column(
    table: str,
    column: str,
    honest: Path,
    complete: dict[str, list[dict]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "run.sqlite"
    shutil.copy(honest, path)
    sql(*(f"ALTER TABLE {table} DROP COLUMN {name}" for name in column.split("|")))(path)
    with Profile.open(path) as profile:
        made, missing = tables_of(profile)
    reason = f"its table {table} has no column {' or '.join(column.split('|'))}"
    assert capsys.readouterr().err == f"note: run.sqlite: {reason}\n"
    for name in USERS[table]:
        assert name in complete and name not in made and reason in missing[name], name
    for name, rows in made.items():
        assert all(
            row[key] != ""
            for row in rows
            for key in row
            if "Name" in key or key in ("Range", "Kernel", "Node")
        )
        if name == "events" and table in ("CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_MEMSET"):
            assert {row["GPU ops"] for row in rows} == {None}


@pytest.mark.parametrize("given", ["demangledName", "shortName", "mangledName"])
def test_the_name_column_that_there_is_names_the_kernels(given: str, honest: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    shutil.copy(honest, path)
    others = {"demangledName", "shortName", "mangledName"} - {given}
    sql(
        "INSERT INTO StringIds VALUES (999, 'from the column')",
        f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET {given} = 999",
        *(f"ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN {name}" for name in others),
    )(path)
    with Profile.open(path) as profile:
        made, _ = tables_of(profile)
    assert {row["Kernel"] for row in made["kernels"]} == {"from the column"}
    sql("DELETE FROM StringIds WHERE id = 999")(path)
    with Profile.open(path) as profile:
        assert {row["Kernel"] for row in tables_of(profile)[0]["kernels"]} == {"(no name)"}


def test_tables_of_another_version_are_named(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.sqlite"
    shutil.copy(honest, path)
    sql(
        "ALTER TABLE NVTX_EVENTS RENAME TO NVTX_EVENTS_V2",
        "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO CUPTI_ACTIVITY_KIND_KERNEL9",
    )(path)
    assert main(["summary", str(path), "-f", "json"]) == 0
    shown = capsys.readouterr()
    for table in ("NVTX_EVENTS_V2", "CUPTI_ACTIVITY_KIND_KERNEL9"):
        assert f"note: run.sqlite: its table {table} is unknown\n" in shown.err
    missing = json.loads(shown.out)["missing"]
    assert "its table NVTX_EVENTS_V2 is unknown" in missing["ranges"]
    assert {"utilisation", "kernels", "range-devices"} <= missing.keys()
    assert main(["stats", str(path), "-r", "nvtx_sum"]) == 1


@pytest.mark.parametrize(
    "version, doubt",
    [
        ("3.0", ""),
        ("3.28.4", ""),
        ("3.29.0", "its schema 3.29.0 is newer"),
        ("4.0.1", "its schema 4.0.1 is newer"),
        ("2.9", "its schema 2.9 is older"),
        ("next", "its schema has the version 'next'"),
    ],
)
@pytest.mark.parametrize("parts", [False, True])
def test_the_version_of_the_schema_is_judged(
    version: str, doubt: str, parts: bool, honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one row, or in one for each part."""
    path = tmp_path / "run.sqlite"
    shutil.copy(honest, path)
    rows = [f"('EXPORT_SCHEMA_VERSION', '{version}')"]
    if parts:
        names = ("MAJOR", "MINOR", "MICRO")
        rows = [
            f"('EXPORT_SCHEMA_VERSION_{name}', '{part}')" for name, part in zip(names, version.split("."))
        ]
    sql("DELETE FROM META_DATA_EXPORT", f"INSERT INTO META_DATA_EXPORT VALUES {', '.join(rows)}")(path)
    with Profile.open(path):
        pass
    said = capsys.readouterr().err
    assert said.startswith(f"note: run.sqlite: {doubt}") if doubt else said == ""
    assert not doubt or "this program knows 3.0 to 3.28" in said


@pytest.mark.parametrize(
    "ending, hint",
    [
        (".nsys-rep", "nsys export --type sqlite {}/run.nsys-rep"),
        (".qdrep", "nsys export --type sqlite {}/run.qdrep"),
        *(
            (ending, "nsys export --type sqlite {}/run.nsys-rep")
            for ending in (".json", ".hdf", ".arrow", ".text")
        ),
        (".qdstrm", "QdstrmImporter gives run.nsys-rep; then nsys export --type sqlite {}/run.nsys-rep"),
    ],
)
def test_other_formats_of_nsys(
    ending: str, hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"run{ending}"
    path.write_bytes(b"{}")
    assert main(["summary", str(path)]) == 1
    assert f"{hint.format(tmp_path)}\n" in capsys.readouterr().err
