# SPDX-License-Identifier: Apache-2.0
"""./wcb wheel: its files, and a run from an environment without the checkout."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from scripts.wcb.bundle.elf_file import dynamic_entries
from scripts.wcb.bundle.libraries import C_LIBRARY, TORCH
from scripts.wcb.checkout import ROOT, VENV
from tests.support import wire_cell
from tests.support.wire_cell import needs_program

pytestmark = [
    needs_program,
    pytest.mark.skipif(not (VENV / "bin" / "python").exists(), reason="no virtual environment"),
]
# Libraries of the system that the torch wheel needs too, and torch's own OpenMP.
OF_THE_SYSTEM = re.compile(r"lib(stdc\+\+|gcc_s|gomp)\.so\.\d+")
# Packages of the project's environment that a program of the wheel needs.
NEEDED = (
    "torch",
    "numpy",
    "numpy.libs",
    "nvidia",
    "torchgen",
    "typing_extensions.py",
    "jinja2",
    "markupsafe",
)

PROGRAM = """
import sys, spng
source, target = sys.argv[1:]
with spng.Pipeline() as pipeline:
    spng.write_frames(target, pipeline.map(spng.read_frames(source)))
print(spng.__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [str(ROOT / "wcb"), "wheel", "--no-build", f"--out={folder}"],
        capture_output=True,
        text=True,
        check=False,
    )
    if "no release build" in done.stderr or "needs a release build" in done.stderr:
        pytest.skip("no release build")
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages: the wheel, and links to those that it needs."""
    folder = tmp_path_factory.mktemp("site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    packages = next(iter((VENV / "lib").glob("python3*/site-packages")))
    for name in NEEDED:
        if (packages / name).exists():
            (folder / name).symlink_to(packages / name)
    return folder


def test_name_and_metadata(wheel: Path) -> None:
    version = (ROOT / "spng" / "VERSION").read_text().strip()
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert wheel.name.startswith(f"wirecell_spng-{version}-{python}-{python}-linux_")
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"wirecell_spng-{version}.dist-info/METADATA").decode()
    assert re.findall(r"^Requires-Dist: ([^;\n]*)$", text, re.MULTILINE) == ["numpy", "torch==2.11.*"]


def test_the_record_has_every_file(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        record = next(name for name in names if name.endswith(".dist-info/RECORD"))
        rows = [line.rsplit(",", 2) for line in archive.read(record).decode().splitlines()]
        assert sorted(name for name, _, _ in rows) == sorted(names)
        for name, digest, size in rows:
            if name != record:
                content = archive.read(name)
                found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                assert (digest, int(size)) == (f"sha256={found}", len(content)), name
    for name in (
        "spng/py.typed",
        "spng/pictures/templates/frames.html",
        "spng/share/wirecell/cfg/pipeline.jsonnet",
    ):
        assert name in names or any(each.startswith(str(Path(name).parent)) for each in names), name


def test_libraries_are_complete(installed: Path) -> None:
    """Each library needs only others of the wheel, of torch and of the system, and searches no folder of this machine."""
    libraries = [*installed.glob("spng/lib/*.so*"), *installed.glob("spng/_core*.so")]
    own = {path.name for path in libraries}
    assert "libWireCellSpng.so" in own
    for path in libraries:
        needed = dynamic_entries(path, "NEEDED")
        missing = [
            name
            for name in needed
            if name not in own and not any(each.fullmatch(name) for each in (C_LIBRARY, TORCH, OF_THE_SYSTEM))
        ]
        assert not missing, f"{path.name} needs {missing}"
        for folders in dynamic_entries(path, "RPATH|RUNPATH"):
            assert all(folder.startswith("$ORIGIN") for folder in folders.split(":")), path.name


def run(installed: Path, *words: str | Path, folder: Path) -> subprocess.CompletedProcess:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}
    base = getattr(sys, "_base_executable", sys.executable)
    return subprocess.run(
        [base, "-s", *map(str, words)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_torch_may_be_in_another_folder(wheel: Path, installed: Path, tmp_path: Path) -> None:
    """As with pip install --user, or a virtual environment above one that has torch."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    for name in ("numpy", "numpy.libs"):
        (tmp_path / name).symlink_to(installed / name)
    code = "import spng.native, torch; print(spng.native.core.__file__, torch.__file__)"
    done = run(tmp_path, "-c", code, folder=tmp_path)
    assert done.returncode == 1 and "pip install torch==2.11.*" in done.stderr
    done = run(tmp_path, "-c", f"import sys; sys.path.append({str(installed)!r}); {code}", folder=tmp_path)
    module, torch = done.stdout.split()
    assert Path(module).parent == tmp_path / "spng" and Path(torch).parent == installed / "torch", done.stderr


def test_the_same_bytes_as_the_program(installed: Path, tmp_path: Path) -> None:
    done = wire_cell.run(
        "-c", wire_cell.PIPELINE, "-A", f"input={wire_cell.ADC}", "-A", "output=job.npz", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    done = run(installed, "-c", PROGRAM, wire_cell.ADC, "wheel.npz", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == str(installed / "spng" / "__init__.py")
    assert (tmp_path / "wheel.npz").read_bytes() == (tmp_path / "job.npz").read_bytes()
    done = run(installed, "-m", "wirecell_frame", "info", "wheel.npz", folder=tmp_path)
    assert done.returncode == 0 and "signal" in done.stdout, done.stderr
