# SPDX-License-Identifier: Apache-2.0
"""Reports of real exports and of synthetic profiles equal the text that nsys prints for them, byte for byte."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import lzma
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from nsys_profiles import PROFILES
from synthetic import Synthetic
from wirecell_profile.model.profile import Profile
from wirecell_profile.model.projection import union_length
from wirecell_profile.model.selection import Scope
from wirecell_profile.output import as_csv
from wirecell_profile.reports import find

from tests.support.shared import shared_folder

DATA = Path(__file__).parent / "data"
EXPORTS = ("radar-a100", "h100-2gpu")
HASHES = {
    (export, name): digest
    for export in EXPORTS
    for digest, name in map(str.split, (DATA / f"{export}.sha256").read_text(encoding="utf-8").splitlines())
}
TEXTS = {
    (title, name): text
    for title in PROFILES
    for name, text in re.findall(
        r"^## (.*)\n((?:(?!## ).*\n)*)",
        (DATA / f"{title}.nsys.txt").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
}


@pytest.fixture(scope="module")
def scopes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Scope]]:
    """Return the exports that are in the repository, and the synthetic profiles, by name."""
    folder = tmp_path_factory.mktemp("nsys")
    for export in EXPORTS:
        packed = (DATA / f"{export}.sqlite.xz").read_bytes()
        (folder / f"{export}.sqlite").write_bytes(lzma.decompress(packed))
    for title, make in PROFILES.items():
        with Synthetic(folder / f"{title}.sqlite") as file:
            make(file)
    with ExitStack() as stack:
        yield {
            name: Scope(stack.enter_context(Profile.open(folder / f"{name}.sqlite")))
            for name in (*EXPORTS, *PROFILES)
        }


@pytest.fixture(scope="module")
def cut(scopes: dict[str, Scope]) -> Scope:
    """Return the export of the A100."""
    return scopes["radar-a100"]


@pytest.fixture(scope="module")
def whole() -> Iterator[tuple[Scope, Path]]:
    """Return the whole export with nsys's text."""
    shared = shared_folder()
    folder = shared / "data" / "nsys" if shared else None
    if folder is None or not folder.is_dir():
        pytest.skip("no shared data (SPNG_SHARED, or a folder shared beside the checkout)")
    with Profile.open(folder / "radar-a100.sqlite") as profile:
        yield Scope(profile), folder


def report(scope: Scope, text: str) -> str:
    """Return the report with its options as CSV."""
    found, options = find(text)
    return as_csv(found.run(scope, options))


def test_no_report_of_nsys_is_left_out() -> None:
    """Each of the 37 reports of nsys applies to one of the files."""
    assert len({name.partition(":")[0] for _, name in (*HASHES, *TEXTS)}) == 37
    assert len(TEXTS) == 56 + 40


@pytest.mark.parametrize("export, name", HASHES)
def test_same_text_as_nsys(scopes: dict[str, Scope], export: str, name: str) -> None:
    assert hashlib.sha256(report(scopes[export], name).encode()).hexdigest() == HASHES[export, name]


@pytest.mark.parametrize("title, name", TEXTS)
def test_same_text_as_nsys_on_synthetic_profiles(scopes: dict[str, Scope], title: str, name: str) -> None:
    assert report(scopes[title], name) == TEXTS[title, name]


def test_devices_without_a_name_are_shown(scopes: dict[str, Scope]) -> None:
    """nsys rejects cuda_gpu_trace without TARGET_INFO_GPU; we show the numbers of the devices."""
    rows = report(scopes["h100-2gpu"], "cuda_gpu_trace").splitlines()
    assert ",device (0)," in rows[1]


@pytest.mark.parametrize(
    "name", [name for export, name in HASHES if export == "radar-a100" and ":" not in name]
)
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
