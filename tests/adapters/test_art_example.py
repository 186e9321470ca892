# SPDX-License-Identifier: Apache-2.0
"""The art module of docs/examples compiles and runs between stand-ins of art and LArSoft."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.support import installed

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
EXAMPLE = installed.ROOT / "docs" / "examples" / "art" / "SpngSignal_module.cc"


@dataclass(frozen=True)
class Site:
    """The built program."""

    prefix: Path
    program: Path

    def run(
        self, folder: Path, adc: np.ndarray, channels: np.ndarray, model: str
    ) -> subprocess.CompletedProcess:
        """Run the module over one event; the result is folder/signal."""
        adc.tofile(folder / "adc")
        channels.tofile(folder / "channels")
        words = [folder / "adc", folder / "channels", "6000", model, folder / "signal"]
        environment = os.environ | {"OMP_WAIT_POLICY": "passive"}
        return subprocess.run(
            [self.program, *words], env=environment, capture_output=True, text=True, check=False
        )


@pytest.fixture(scope="module", name="site")
def fixture_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("art")
    prefix = installed.prefix()
    stand_ins = installed.ROOT / "tests" / "adapters" / "art" / "stand_ins.h"
    for header in re.findall(r'^#include "(.+)"$', EXAMPLE.read_text(encoding="utf-8"), re.MULTILINE):
        path = folder / "include" / header
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#include "{stand_ins}"\n', encoding="utf-8")
    program = folder / "run_module"
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{folder / 'include'}"]
    command += [f"-I{prefix / 'include'}", f'-DSPNG_ART_EXAMPLE="{EXAMPLE}"']
    command += [str(stand_ins.with_name("run_module.cxx")), "-o", str(program)]
    command += [f"-L{prefix / 'lib'}", "-lWireCellSpng", f"-Wl,-rpath,{prefix / 'lib'}"]
    subprocess.run(command, check=True)
    return Site(prefix, program)


def test_gives_the_signal_of_the_program(site: Site, tmp_path: Path) -> None:
    """In the order of the channels, with views and associations; digits of another anode are left out."""
    adc, channels = installed.default_event()
    done = site.run(tmp_path, adc[::-1], channels[::-1], "default")
    assert done.returncode == 0, done.stderr
    job = installed.run_job(
        site.prefix,
        tmp_path,
        input=installed.ROOT / "data" / "tracks10-adc.tar.bz2",
        output=tmp_path / "output.npz",
    )
    assert job.returncode == 0, job.stderr
    rows = np.fromfile(tmp_path / "signal", dtype=[("channel", np.int32), ("samples", np.float32, 6000)])
    with np.load(tmp_path / "output.npz") as expected:
        assert np.array_equal(rows["channel"], expected["channels_signal_0"])
        assert rows["samples"].tobytes() == expected["frame_signal_0"].tobytes()


def test_an_absent_channel_has_no_wire(site: Site, tmp_path: Path) -> None:
    adc, channels = installed.default_event()
    done = site.run(tmp_path, adc[1:], channels[1:], "none")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "signal").stat().st_size == 2559 * 4 * 6001


def test_errors_have_the_category_of_the_module(site: Site, tmp_path: Path) -> None:
    adc, channels = installed.default_event()
    done = site.run(tmp_path, adc[:2], np.array([3, 3], dtype=np.int32), "none")
    assert done.returncode == 3
    assert done.stderr.startswith("SpngSignal: error: ") and "channel 3 twice" in done.stderr
    done = site.run(tmp_path, adc.ravel()[:-5], channels, "none")
    assert done.returncode == 3
    assert done.stderr == "SpngSignal: channel 2559 has 5995 ticks, those before it 6000\n"


def test_a_missing_model(site: Site, tmp_path: Path) -> None:
    adc, channels = installed.default_event()
    done = site.run(tmp_path, adc, channels, "absent.ts")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ") and "absent.ts" in done.stderr
