# SPDX-License-Identifier: Apache-2.0
"""Reports of a real export of an A100 equal the text that nsys prints for it, byte for byte."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest
from wirecell_profile.model.profile import Profile
from wirecell_profile.model.projection import union_length
from wirecell_profile.model.selection import Scope
from wirecell_profile.output import as_csv
from wirecell_profile.reports import find

from tests.support.shared import shared_folder

DATA = Path(__file__).parent / "data"
HASHES = dict(
    reversed(line.split()) for line in (DATA / "radar-a100.sha256").read_text(encoding="utf-8").splitlines()
)


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scope]:
    """Return the part of the export that is in the repository."""
    path = tmp_path_factory.mktemp("radar") / "radar-a100.sqlite"
    path.write_bytes(lzma.decompress((DATA / "radar-a100.sqlite.xz").read_bytes()))
    with Profile.open(path) as profile:
        yield Scope(profile)


@pytest.fixture(scope="module")
def whole() -> Iterator[tuple[Scope, Path]]:
    """Return the whole export with nsys's text."""
    shared = shared_folder()
    folder = shared / "data" / "nsys" if shared else None
    if folder is None or not folder.is_dir():
        pytest.skip("no shared data (SPNG_SHARED, or a folder shared beside the checkout)")
    with Profile.open(folder / "radar-a100.sqlite") as profile:
        yield Scope(profile), folder


def report(scope: Scope, name: str) -> str:
    """Return the report as CSV."""
    return as_csv(find(name)[0].run(scope, frozenset()))


def test_no_report_of_nsys_is_left_out() -> None:
    assert len(HASHES) == 19


@pytest.mark.parametrize("name", HASHES)
def test_same_text_as_nsys(cut: Scope, name: str) -> None:
    assert hashlib.sha256(report(cut, name).encode()).hexdigest() == HASHES[name]


@pytest.mark.parametrize("name", HASHES)
def test_same_rows_as_nsys_from_the_whole_export(whole: tuple[Scope, Path], name: str) -> None:
    scope, folder = whole
    path = folder / f"radar-a100.{name}.csv"
    text = (
        path.read_text()
        if path.exists()
        else gzip.decompress(path.with_name(f"{path.name}.gz").read_bytes()).decode()
    )
    expected, seen = (list(csv.reader(io.StringIO(part))) for part in (text, report(scope, name)))
    assert seen[0] == expected[0]
    different = [(i, want, got) for i, (want, got) in enumerate(zip(expected, seen)) if want != got]
    assert not different, different[0]
    assert len(seen) == len(expected)


def test_driver_launches_are_not_orphans(cut: Scope) -> None:
    """The driver's cuLaunchKernel launched 56 % of the kernels, those of cuFFT; none of them is an orphan."""
    projection = cut.projection
    launch = projection.call_of_operation[projection.is_kernel]
    assert len(launch) == 3435 and (launch >= 0).all()
    assert (projection.calls.event_class[launch] == 1).sum() == 1919
    assert {
        projection.calls.name.text(call) for call in launch[projection.calls.event_class[launch] == 1]
    } == {"cuLaunchKernel"}


def test_device_busy_share_is_the_published_one(cut: Scope) -> None:
    """The busy share is that of a prototype, over the extent of the device operations: 77.9 % for all, 72.6 %
    for kernels.
    """
    operations = cut.profile.operations
    extent = operations.end.max() - operations.start.min()
    kernels = operations.take(cut.projection.is_kernel)
    assert round(100 * union_length(operations.start, operations.end) / extent, 1) == 77.9
    assert round(100 * union_length(kernels.start, kernels.end) / extent, 1) == 72.6
