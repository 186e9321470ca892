# SPDX-License-Identifier: Apache-2.0
"""Fixtures that run ./wcb as a user does, and make LibTorch folders from links."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.build import build_support

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Run:
    """Result of a run of ./wcb."""

    status: int
    out: str
    err: str


@pytest.fixture
def run_wcb():
    """A function that runs ./wcb with arguments and environment variables."""

    def run(*arguments: str, **variables: str) -> Run:
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("CONDA_PREFIX", "LIBTORCH", "CXX")
        }
        done = subprocess.run(
            [sys.executable, str(ROOT / "wcb"), *arguments],
            env=environment | variables,
            text=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            cwd=ROOT,
        )
        return Run(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def configure(run_wcb, tmp_path):
    """A function that configures into a folder of its own and does not change the checkout's build."""

    def run(*arguments: str, **variables: str) -> Run:
        return run_wcb(
            "configure",
            f"--out={tmp_path / 'build'}",
            *arguments,
            WAFLOCK=f".lock-{tmp_path.name}",
            NO_LOCK_IN_RUN="1",
            NO_LOCK_IN_TOP="1",
            **variables,
        )

    return run


@pytest.fixture
def torch_folder() -> Path:
    """LibTorch of the virtual environment."""
    return build_support.torch_folder()


@pytest.fixture
def made_up_torch(torch_folder, tmp_path):
    """A function that makes a LibTorch folder with links to the real CPU parts; files given by path replace them."""

    def make(replaced: dict[str, bytes] | None = None) -> Path:
        folder = tmp_path / "libtorch"
        (folder / "lib").mkdir(parents=True)
        for name in ("libtorch_cpu.so", "libc10.so"):
            if f"lib/{name}" not in (replaced or {}):
                (folder / "lib" / name).symlink_to(torch_folder / "lib" / name)
        if any(path.startswith("include") for path in replaced or {}):
            (folder / "include" / "ATen").mkdir(parents=True)
            (folder / "include" / "ATen" / "Version.h").touch()
        else:
            (folder / "include").symlink_to(torch_folder / "include")
        for path, content in (replaced or {}).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        return folder

    return make
