# SPDX-License-Identifier: Apache-2.0
"""Writers of tables: CSV, JSON, Parquet, Arrow (feather) and HDF5. Files appear under their names only when
complete.

Integers stay 64-bit integers. Missing values are empty in CSV, and null in JSON, Parquet and Arrow. HDF5 has
no null: missing integers have the value of the attribute `missing`, missing reals are NaN, missing strings are
empty.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ..errors import ProfileError, pip_install
from ..model.table import NULL
from ..output import Result, as_csv, as_json, write, written


def optional(name: str) -> ModuleType:
    """Import a module of an optional dependency.

    Raise ProfileError with installation hint if it is missing.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.split(".")[0]
        raise ProfileError(
            f"this format needs the Python package {package}",
            seen=str(error),
            hint=f"{pip_install(package)}; or --format csv or json",
        ) from None


def column_kind(values: tuple) -> type:
    """Return the narrowest of int, float and str that holds all values; float for a column without values."""
    kinds = {type(value) for value in values if value is not None}
    if str in kinds:
        return str
    return int if kinds and kinds <= {int, bool} else float


def write_arrow(result: Result, path: Path) -> None:
    """Write Arrow's file format (feather version 2)."""
    table = _arrow_table(result)
    with written(path) as partial:
        optional("pyarrow.feather").write_feather(table, str(partial))


def write_parquet(result: Result, path: Path) -> None:
    """Write Parquet, compressed with zstd."""
    table = _arrow_table(result)
    with written(path) as partial:
        optional("pyarrow.parquet").write_table(table, str(partial), compression="zstd")


def _arrow_table(result: Result) -> Any:
    arrow = optional("pyarrow")
    types = {str: arrow.string(), int: arrow.int64(), float: arrow.float64()}
    arrays = []
    for values in _columns(result):
        kind = column_kind(values)
        arrays.append(
            arrow.array([None if value is None else kind(value) for value in values], type=types[kind])
        )
    return arrow.table(arrays, names=_names(result))


def write_hdf5(results: dict[str, Result], path: Path) -> None:
    """Write one file with a group per table and a data set per column."""
    h5py = optional("h5py")
    with written(path) as partial, h5py.File(partial, "w") as file:
        for name, result in results.items():
            group = file.create_group(name)
            group.attrs["columns"] = _names(result)
            for column, values in zip(_names(result), _columns(result)):
                _write_column(h5py, group, column, values)


def _write_column(h5py: ModuleType, group: Any, column: str, values: tuple) -> None:
    kind = column_kind(values)
    name = column.replace("/", " per ")  # HDF5 reads a slash as a group
    if kind is str:
        strings = ["" if value is None else str(value) for value in values]
        group.create_dataset(name, data=np.array(strings, dtype=object), dtype=h5py.string_dtype())
    elif kind is int:
        data = np.array([NULL if value is None else int(value) for value in values], dtype=np.int64)
        group.create_dataset(name, data=data).attrs["missing"] = NULL
    else:
        group.create_dataset(
            name, data=np.array([np.nan if value is None else value for value in values], np.float64)
        )


def _names(result: Result) -> list[str]:
    return [column.name for column in result.columns]


def _columns(result: Result) -> list[tuple]:
    return list(zip(*result.rows)) if result.rows else [()] * len(result.columns)


PACKAGES = {
    "parquet": ["pyarrow.parquet"],
    "arrow": ["pyarrow.feather"],
    "hdf5": ["h5py"],
}  # that a format needs
WRITERS: dict[str, Callable[[Result, Path], None]] = {
    "csv": lambda result, path: write(as_csv(result), path),
    "json": lambda result, path: write(as_json(result), path),
    "parquet": write_parquet,
    "arrow": write_arrow,
}
