# SPDX-License-Identifier: Apache-2.0
"""Input that is made to do harm: networks that never return or open files, long names, control characters, full
standard output, values of environment variables.

Other such input is tested beside the code that reads it: tests/detector and tests/sim (values beyond any detector),
tests/io (damaged archives), tests/fuzz (mutations of all of them).
"""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.support import wire_cell
from tests.support.small_site import Site

pytestmark = wire_cell.needs_program

COPY = wire_cell.ROOT / "tests" / "app" / "jobs" / "copy.jsonnet"
STAND_IN = wire_cell.DATA / "dnnroi-standin.ts"
LONG = "x" * 60_000


def network_with(code: str, path: Path, name: str = "code/__torch__.py") -> Path:
    """Write the stand-in with other code in front of its own, in a member of this name."""
    with zipfile.ZipFile(STAND_IN) as original, zipfile.ZipFile(path, "w") as changed:
        for member in original.namelist():
            content = original.read(member)
            if member.endswith("code/__torch__.py"):
                begin = b"features: Tensor) -> Tensor:\n"
                assert begin in content
                content = content.replace(begin, begin + code.encode())
                member = f"archive/{name}"
            changed.writestr(member, content)
    return path


@pytest.fixture(name="site")
def small_site(tmp_path: Path) -> Site:
    """Return a small detector with an event."""
    site = Site.at(tmp_path)
    wire_cell.write_arrays(tmp_path / "adc.npz", site.busy_frames(1, 400))
    return site


class TestNetworks:
    """A network is a program."""

    @pytest.mark.parametrize("flag", ["--no-progress", "--check"])
    def test_endless_loop(self, site: Site, tmp_path: Path, flag: str) -> None:
        """The job ends by itself, without output."""
        network_with("    while True:\n      features = torch.add(features, 1)\n", tmp_path / "loop.ts")
        block = self.rejected(site, tmp_path, flag, "model=loop.ts", "network_timeout=2")
        assert "error: the network does not return" in block and "no result after 2 s" in block
        assert "SPNGTorchService:induction" in block and "loop.ts" in block

    @pytest.mark.parametrize("member", ["code/__torch__.py", "CODE/__TORCH__.PY"])
    def test_code_that_opens_files(self, site: Site, tmp_path: Path, member: str) -> None:
        """Rejected before LibTorch runs any of it, which ignores the case of names."""
        code = '    y = torch.from_file("written.bin", True, 16)\n'
        network_with(code, tmp_path / "writes.ts", member)
        block = self.rejected(site, tmp_path, "--no-progress", "model=writes.ts")
        assert "error: the code of a network opens files" in block and "aten::from_file" in block
        assert not (tmp_path / "written.bin").exists()

    def test_only_shipped_models(self, site: Site, tmp_path: Path) -> None:
        """The option, and the variable for programs that use the library."""
        network_with("", tmp_path / "own.ts")
        block = self.rejected(site, tmp_path, "--only-shipped-models", "model=own.ts")
        assert "error: a network is not in the list of accepted ones" in block
        words = [*site.flags, "-A", "input=adc.npz", "-A", "output=out.npz", "-A", f"model={STAND_IN}"]
        done = wire_cell.run("-c", wire_cell.PIPELINE, "--only-shipped-models", *words, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        (tmp_path / "list").write_text("0" * 64 + "  own.ts\n")
        environment = os.environ | {"SPNG_ONLY_MODELS": "list"}
        done = wire_cell.run("-c", wire_cell.PIPELINE, *words, folder=tmp_path, env=environment)
        assert done.returncode == 1 and "expected: a network of list" in done.stderr

    @staticmethod
    def rejected(site: Site, folder: Path, flag: str, *arguments: str) -> str:
        """Run a job that fails; return its message."""
        words = wire_cell.settings("input=adc.npz", "output=out.npz", *arguments)
        done = wire_cell.run("-c", wire_cell.PIPELINE, flag, *site.flags, *words, folder=folder)
        assert done.returncode in (1, 2), done.stderr
        assert not list(folder.glob("*out.npz*"))
        return done.stderr


class TestLongNames:
    """60,000 characters: one block that fits on a screen, at once."""

    @pytest.mark.parametrize(
        "words",
        [
            ("-A", f"input={LONG}"),
            ("-A", f"output={LONG}.npz"),
            ("-A", f"engine={LONG}"),
            ("-A", f"{LONG}=1"),
            ("-l", LONG),
            ("-p", LONG),
            ("--timing", LONG),
            (f"--{LONG}",),
        ],
        ids=lambda words: " ".join(words)[:16],
    )
    def test_on_the_command_line(self, tmp_path: Path, words: tuple[str, ...]) -> None:
        given = () if words == ("-A", f"input={LONG}") else ("-A", "input=none.npz")
        done = wire_cell.run("-c", COPY, *given, *words, folder=tmp_path)
        assert done.returncode == 2, done.stderr[:2000]
        assert done.stderr.startswith("error: ")
        assert len(done.stderr) < 30_000

    def test_configuration(self, tmp_path: Path) -> None:
        done = wire_cell.run("-c", LONG, folder=tmp_path)
        assert done.returncode == 2
        assert done.stderr.startswith("error: configuration file 'xxx") and len(done.stderr) < 20_000


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    """Those of a member's name, in the message and in the log."""
    name = "frame_\x1b]0;owned\x07_0.npy"
    with zipfile.ZipFile(tmp_path / "in.npz", "w") as archive:
        archive.writestr(name, b"no array")
    words = ("-c", COPY, "-A", "input=in.npz", "-l", "log.txt", "-L", "trace")
    done = wire_cell.run(*words, folder=tmp_path)
    assert done.returncode == 1
    assert "\x1b" not in done.stderr + done.stdout and "\\x1b]0;owned\\x07" in done.stderr
    assert "\x1b" not in (tmp_path / "log.txt").read_text()


@pytest.mark.parametrize("flag", ["--help", "--version", "--list", "--describe=SPNGDecon", "--schema=all"])
def test_full_standard_output(flag: str) -> None:
    """A text that is lost is a failure."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [wire_cell.PROGRAM, flag], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr.startswith("error: cannot write to standard output")
    assert "No space left on device" in done.stderr


def test_full_standard_output_of_a_job(tmp_path: Path) -> None:
    """The outputs are complete; the table is not, and the status reports it."""
    wire_cell.write_arrays(tmp_path / "in.npz", wire_cell.event(np.zeros((4, 100), np.int16), np.arange(4)))
    words = ["-c", str(COPY), "-A", "input=in.npz", "--timing", "timing.json"]
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [wire_cell.PROGRAM, *words],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1 and "error: cannot write to standard output" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"in.npz", "out.npz", "timing.json"}


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SPNG_RECORD_MEMORY", "lots"),
        ("SPNG_RECORD_SPILL", "nan"),
        ("SPNG_RECORD_GRAPHS", "hole"),
        ("SPNG_RECORD_WHAT", "everything"),
        ("SPNG_NVTX_LEVEL", "9"),
        ("SPNG_PROFILE_EVENTS", "x"),
        ("SPNG_ONLY_MODELS", "nofile"),
    ],
)
def test_environment_variables(site: Site, tmp_path: Path, variable: str, value: str) -> None:
    """A value that cannot be meant is named."""
    words = [*site.flags, "-A", "input=adc.npz", "-A", f"model={STAND_IN}", "--record", "run.sqlite"]
    done = wire_cell.run(
        "-c", wire_cell.PIPELINE, *words, folder=tmp_path, env=os.environ | {variable: value}
    )
    assert variable in done.stderr or value in done.stderr, done.stderr
    assert done.returncode in (1, 2), done.stderr
