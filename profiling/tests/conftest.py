# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of wirecell_profile, which also run from the source tree without an installation."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

from hostile_profile import write_profile  # noqa: E402  after the path
from synthetic import Synthetic  # noqa: E402
from wirecell_profile.model.profile import Profile  # noqa: E402
from wirecell_profile.model.selection import Scope, Selection  # noqa: E402


class ProfileFile:
    """A synthetic profile that is first written, then read."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self.path = path
        self._stack = stack

    def profile(self) -> Profile:
        """Open the profile for reading."""
        return self._stack.enter_context(Profile.open(self.path))

    def scope(self, **chosen: object) -> Scope:
        """Return the profile through a selection."""
        return Scope(self.profile(), Selection(**chosen))

    @contextmanager
    def writing(self, **options: object) -> Iterator[Synthetic]:
        """Write the profile."""
        with Synthetic(self.path, **options) as file:
            yield file


@pytest.fixture
def profile_file(tmp_path: Path) -> Iterator[ProfileFile]:
    """Return a synthetic profile to write."""
    with ExitStack() as stack:
        yield ProfileFile(tmp_path / "run.sqlite", stack)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a profile with rows in all tables; tests change copies of it."""
    path = tmp_path_factory.mktemp("honest") / "honest.sqlite"
    write_profile(path)
    return path
