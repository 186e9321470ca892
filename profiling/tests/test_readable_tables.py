# SPDX-License-Identifier: Apache-2.0
"""Text tables for people: units, widths, cut names, limits of rows; tables of kernels and API calls."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest
from wirecell_profile.cli import main
from wirecell_profile.compare.profile_measurements import read_profile
from wirecell_profile.model.profile import Profile
from wirecell_profile.output import Result, as_readable_table, as_table, columns, cut_apart
from wirecell_profile.tables import name_use, range_use

RADAR = Path(__file__).parent / "data" / "radar-a100.sqlite.xz"
TEMPLATE = "void at::native::elementwise_kernel<128, 4, at::native::{}Functor<float>>(int, float *)"


def test_cut_names_stay_apart() -> None:
    """Long names are cut in the middle, or where they differ if their ends are equal."""
    names = [TEMPLATE.format(kind) for kind in ("Add", "Sub", "Mul", "Add")]
    cut = cut_apart(names, 40)
    assert cut[0] == cut[3] and len(set(cut)) == 3 and all(len(name) <= 40 for name in cut)
    assert "Add" in cut[0] and "Sub" in cut[1] and "Mul" in cut[2]
    assert all(name.startswith("void at::nati") and "..." in name for name in cut)
    assert cut_apart(["short", TEMPLATE], 40)[0] == "short"


def test_names_that_no_cut_keeps_apart_stay_whole() -> None:
    """Names that differ in two distant positions have no common cut."""
    middle = "-" * 100
    names = [f"{first}{middle}{second}{middle}end" for first in "ab" for second in "cd"]
    assert len(set(cut_apart(names, 24))) == 4


def result(rows: int) -> Result:
    """Make a table with a name, a time and a size."""
    return Result(
        columns("Kernel, Total (ns), Size (B)"),
        [(f"kernel {i}", 1_000_000 * (100 - i), None if i else 5) for i in range(rows)],
    )


def test_units_suit_the_column() -> None:
    lines = as_readable_table(result(3), 0, 0, "").splitlines()
    assert lines[0].split("  ")[-2:] == ["Total (ms)", "Size (B)"]
    assert lines[2].split() == ["kernel", "0", "100.000", "5"]
    assert lines[3].split() == ["kernel", "1", "99.000"]  # a missing value is not zero
    assert "100,000,000" in as_table(result(3)), "reports keep nanoseconds"


def test_rows_that_are_left_out_are_counted() -> None:
    text = as_readable_table(result(50), 30, 0, "--rows 0")
    assert text.endswith("20 more: --rows 0\n") and len(text.splitlines()) == 2 + 30 + 1
    assert "more" not in as_readable_table(result(50), 0, 0, "--rows 0")


@pytest.mark.parametrize("width", [60, 100])
def test_tables_fit_the_terminal(width: int) -> None:
    rows = [(TEMPLATE.format("Operation" * 5 + str(i)), 10**9 - i) for i in range(3)]
    lines = as_readable_table(Result(columns("Kernel, Total (ns)"), rows), 0, width, "").splitlines()
    assert max(map(len, lines)) <= width and len(set(lines[2:])) == 3


def test_torch_numbers_do_not_make_names(profile_file) -> None:
    """emit_nvtx appends the number of each call; tables of ranges add the calls of an operator up."""
    with profile_file.writing() as file:
        for i in range(3):
            file.range(f"aten::mm, op_id = {i}", 100 * i, 100 * i + 10 + i)
        file.range("MmBackward0, seq = 7, op_id = 3, sizes = [[2, 3]]", 400, 450)
        file.range("aten::add, seq = 7, op_id = 4, input_op_ids = [(3,0), (2,0)]", 500, 501)
        file.range("read, op_idx = 3", 600, 601)
    rows = {row[0]: row[2:4] for row in range_use.times(profile_file.scope()).rows}
    assert rows == {
        "aten::mm": (3, 33),
        "MmBackward0, sizes = [[2, 3]]": (1, 50),
        "aten::add": (1, 1),
        "read, op_idx = 3": (1, 1),
    }


def test_reports_of_nsys_keep_the_names(profile_file, capsys: pytest.CaptureFixture[str]) -> None:
    with profile_file.writing() as file:
        file.range("aten::mm, op_id = 1", 0, 10)
        file.range("aten::mm, op_id = 2", 20, 30)
    assert main(["stats", str(profile_file.path), "--report", "nvtx_sum", "--format", "csv"]) == 0
    shown = capsys.readouterr().out
    assert "op_id = 1" in shown and "op_id = 2" in shown


def test_kernels_and_calls_by_name(profile_file) -> None:
    with profile_file.writing() as file:
        for i in range(4):
            at = 1000 * i
            file.launch("add<float>" if i else "mul<int>", (at, at + 10), (at + 100, at + 200 + i), short="k")
        file.call("cudaStreamSynchronize_v3020", 5000, 5500)
        file.copy(3500, 4100, file.call("cudaMemcpyAsync_v3020", 3300, 3320))
    scope = profile_file.scope()
    whole = 4100 - 100  # W: first to last operation
    kernels = name_use.kernels(scope).rows
    assert kernels == [
        ("add<float>", 3, 306, 100 * 306 / whole, 102.0, 102.0, 101, 103),
        ("mul<int>", 1, 100, 100 * 100 / whole, 100.0, 100.0, 100, 100),
    ]
    calls = {row[0]: (row[1], row[2], row[-1]) for row in name_use.api(scope).rows}
    assert calls == {
        "cudaStreamSynchronize": (1, 500, "yes"),
        "cudaLaunchKernel": (4, 40, "no"),
        "cudaMemcpyAsync": (1, 20, "no"),
    }
    assert [row[1] for row in name_use.kernels(profile_file.scope(time=(1000, 4000))).rows] == [3]


def test_summary_in_text_and_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text has readable units and a limit of rows; JSON has nanoseconds and all rows."""
    path = tmp_path / "radar.sqlite"
    path.write_bytes(lzma.decompress(RADAR.read_bytes()))
    command = ["summary", str(path), "--section", "kernels"]
    assert main([*command, "--rows", "2"]) == 0
    text = capsys.readouterr().out
    assert main([*command, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["tables"]["kernels"]
    assert "Total (ms)" in text and f"{len(rows) - 2} more: --section kernels --rows 0" in text
    with Profile.open(path) as profile:
        kernels = profile.operations.take(profile.operations.kind == 0)
    assert sum(row["Total (ns)"] for row in rows) == int(kernels.duration.sum())
    assert sum(row["Launches"] for row in rows) == len(kernels)


def test_comparisons_add_up_torch_ranges(profile_file) -> None:
    """The numbers that torch appends differ between runs; instances of an operator are compared in order."""
    with profile_file.writing() as file:
        for i in range(3):
            file.range(f"aten::mm, op_id = {i + 70}", 100 * i, 100 * i + 10 + i)
    (run,) = read_profile(profile_file.path)
    assert list(run.times["wall"]) == ["aten::mm"] and run.events == [0, 1, 2]
