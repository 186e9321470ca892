# SPDX-License-Identifier: Apache-2.0
"""Export reports and tables of a profile as files: CSV, JSON, Parquet, Arrow or HDF5.

Tables without data in the file are listed and left out. Parquet and Arrow need pyarrow, HDF5 needs h5py.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..errors import UsageError, system_error
from ..export.catalogue import all_tables, raw_tables
from ..export.table_files import PACKAGES, WRITERS, optional, write_hdf5
from ..model import selection
from ..model.profile import Profile
from ..output import Result, missing_text
from ..output_kind import HDF5
from ..terminal import visible
from ._options import add_format, add_output, add_profile, check_outputs, chosen, kind_of_table

NAME = "export"
HELP = "export all tables as CSV, JSON, Parquet, Arrow or HDF5"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_profile(parser, "?")
    add_format(parser, *WRITERS, "hdf5")
    add_output(
        parser,
        "folder for one file per table (default: the profile's name with _tables); for hdf5 the file",
        "PATH",
    )
    parser.add_argument("-t", "--table", action="append", metavar="A,B", help="only these tables")
    parser.add_argument("--raw", action="store_true", help="also the file's own tables, as raw_NAME")
    parser.add_argument("--list", action="store_true", help="list the tables")
    selection.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    if arguments.list:
        print("\n".join(all_tables()))
        return 0
    for package in PACKAGES.get(arguments.format, ()):
        optional(package)  # raises ProfileError before anything is read or made
    if arguments.file is None:
        raise UsageError("no file given", hint="wirecell-profile export FILE.sqlite --format csv")
    with Profile.open(arguments.file) as profile:
        scope = selection.Scope(profile, selection.from_arguments(arguments))
        tables = all_tables() | (raw_tables(profile) if arguments.raw else {})
        names = chosen(arguments.table, tables, "--table", "table", "--list shows all; raw_NAME needs --raw")
        made, missing = scope.make_all({name: tables[name] for name in names})
        if not arguments.table:  # nobody asked for them
            lacking = f"{profile.name} does not contain "
            data = f"{lacking}their data (--table NAME names them)"
            missing = {name: data if why.startswith(lacking) else why for name, why in missing.items()}
        told = missing_text(missing, profile.recorded_parts, "SKIPPED ")
    print(told, end="", file=sys.stderr)
    if made:
        print(visible(str(_write(made, arguments))))
    return 0 if made else 1


def _write(made: dict[str, Result], arguments: argparse.Namespace) -> Path:
    """Write the tables and return their location."""
    style = arguments.format
    if style == "hdf5":
        path = arguments.output or arguments.file.with_suffix(".h5")
        check_outputs(arguments, ("--output", path, HDF5))
        write_hdf5(made, path)
        return path
    folder = arguments.output or arguments.file.with_name(f"{arguments.file.stem}_tables")
    paths = {name: folder / f"{name}.{style}" for name in made}
    outputs = (("--output", path, kind_of_table(made[name], style)) for name, path in paths.items())
    check_outputs(arguments, *outputs)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise system_error("cannot make the folder", folder, error) from None
    for name, result in made.items():
        WRITERS[style](result, paths[name])
    return folder
