# SPDX-License-Identifier: Apache-2.0
"""wirecell-profile export writes the same values in every format: integers are exact, missing values are not
zero.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest
from wirecell_profile.cli import main
from wirecell_profile.export.catalogue import all_tables
from wirecell_profile.export.table_files import column_kind, write_arrow, write_hdf5, write_parquet
from wirecell_profile.output import Result, columns
from wirecell_profile.reports import all_reports
from wirecell_profile.tables.sections import SECTIONS

BIG = 2**53 + 1
MIXED = Result(columns("A (ns)", "B/s", "Name", "Empty"), [(BIG, 1.5, "x", None), (None, None, None, None)])


@pytest.fixture
def recorded(profile_file) -> str:
    """Write two ranges, and a kernel and a copy late in time."""
    with profile_file.writing() as file:
        file.range("outer", BIG - 100, BIG + 1_000)
        file.launch("kernel<int>", (BIG, BIG + 10), (BIG + 20, BIG + 30), short="kernel")
    return str(profile_file.path)


def test_every_report_and_section_is_a_table() -> None:
    tables = all_tables()
    assert set(all_reports()) <= set(tables)
    assert {f"summary_{name.replace('-', '_')}" for name in SECTIONS} <= set(tables)
    assert {"summary_memory", "summary_leaks", "memory_timeline", "timeline", "rules"} <= set(tables)


def test_csv_and_json(recorded: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "tables"
    assert main(["export", recorded, "-o", str(folder)]) == 0
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1 and shown.err.startswith("SKIPPED ")  # one line for all that lack data
    assert ", osrt_sum, " in shown.err and ", summary_nodes, " in shown.err
    names = {path.stem for path in folder.iterdir()}
    assert {
        "nvtx_sum",
        "cuda_gpu_trace",
        "summary_utilisation",
        "summary_ranges",
        "timeline",
        "rules",
    } <= names
    assert "osrt_sum" not in names
    rows = list(csv.DictReader((folder / "cuda_gpu_trace.csv").open()))
    assert rows[0]["Start (ns)"] == str(BIG + 20)
    assert main(["export", recorded, "-o", str(folder), "-f", "json", "-t", "timeline,rules"]) == 0
    assert json.loads((folder / "timeline.json").read_text())[0]["Duration (ns)"] == 1_100


def test_raw_tables(recorded: str, tmp_path: Path) -> None:
    assert (
        main(["export", recorded, "-o", str(tmp_path), "--raw", "-t", "raw_NVTX_EVENTS", "-f", "json"]) == 0
    )
    (row,) = json.loads((tmp_path / "raw_NVTX_EVENTS.json").read_text())
    assert (row["start"], row["text"], row["doubleValue"]) == (BIG - 100, "outer", None)


def test_kinds_of_columns() -> None:
    assert [column_kind(values) for values in ((1, None), (1, 2.0), ("a", 1), (None,), ())] == [
        int,
        float,
        str,
        float,
        float,
    ]


def test_parquet_and_arrow(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    feather = pytest.importorskip("pyarrow.feather")
    write_parquet(MIXED, tmp_path / "a.parquet")
    write_arrow(MIXED, tmp_path / "a.arrow")
    for table in (parquet.read_table(tmp_path / "a.parquet"), feather.read_table(tmp_path / "a.arrow")):
        assert table.to_pydict() == {
            "A (ns)": [BIG, None],
            "B/s": [1.5, None],
            "Name": ["x", None],
            "Empty": [None, None],
        }


def test_hdf5(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    write_hdf5({"mixed": MIXED, "nothing": Result(columns("A"), [])}, tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5") as file:
        data = file["mixed"]
        assert data["A (ns)"][0] == BIG and data["A (ns)"][1] == data["A (ns)"].attrs["missing"]
        assert data["Name"].asstr()[:].tolist() == ["x", ""]
        assert data["B per s"][0] == 1.5 and data["B per s"][1] != data["B per s"][1]
        assert list(data.attrs["columns"]) == ["A (ns)", "B/s", "Name", "Empty"]
        assert file["nothing"]["A"].shape == (0,)


@pytest.mark.parametrize("style, module", [("parquet", "pyarrow"), ("arrow", "pyarrow"), ("hdf5", "h5py")])
def test_an_absent_package_is_said(
    recorded: str, tmp_path: Path, style: str, module: str, capsys, monkeypatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert main(["export", recorded, "-f", style, "-o", str(tmp_path / "out"), "-t", "nvtx_sum"]) == 1
    shown = capsys.readouterr().err
    assert (
        f"needs the Python package {module}" in shown
        and f"{sys.executable} -m pip install {module};" in shown
    )


def test_wrong_use(recorded: str, tmp_path: Path) -> None:
    assert main(["export"]) == 2
    assert main(["export", recorded, "-t", "raw_NVTX_EVENTS"]) == 2
    assert main(["export", recorded, "-o", str(tmp_path), "-t", "osrt_sum"]) == 1
    assert main(["export", recorded, "-o", "/proc/nothing", "-t", "nvtx_sum"]) == 1
    assert main(["export", "--list"]) == 0
