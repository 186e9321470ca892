# SPDX-License-Identifier: Apache-2.0
"""requirements-hashes.txt, and pip with it: a package is installed only from a file with a listed SHA-256."""

from __future__ import annotations

import hashlib
import re
import sys
import zipfile
from pathlib import Path

import pytest

from scripts.wcb import hashes, virtual_environment
from scripts.wcb.lint import environment

PYTHON = Path(sys.executable)


def test_every_pinned_package_has_its_hashes_and_no_other_has_any():
    pinned = {f"{item.name}=={item.version}" for item in virtual_environment.read_requirements()}
    known = hashes.read()
    assert set(known) == pinned | set(environment.pins())
    for pin, line in known.items():
        assert re.fullmatch(re.escape(pin) + r"( +--hash=sha256:[0-9a-f]{64})+", line)


@pytest.fixture
def shelf(monkeypatch, tmp_path) -> Path:
    """A folder with the wheel of a package, instead of an index, and an empty list of hashes."""
    with zipfile.ZipFile(tmp_path / "spng_demo-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("spng_demo.py", "")
        folder = "spng_demo-1.0.dist-info"
        wheel.writestr(f"{folder}/METADATA", "Metadata-Version: 2.1\nName: spng-demo\nVersion: 1.0\n")
        wheel.writestr(f"{folder}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{folder}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setattr(hashes, "HASHES", tmp_path / "hashes.txt")
    return tmp_path


def write_list(shelf: Path, *checksums: str) -> None:
    lines = "".join(f" \\\n    --hash=sha256:{checksum}" for checksum in checksums)
    hashes.HASHES.write_text(f"{hashes.HEADER}spng-demo==1.0{lines}\n")


def install(shelf: Path) -> int:
    return hashes.install(PYTHON, ["spng-demo==1.0"], "--quiet", "--target", str(shelf / "installed"))


def test_a_file_with_a_listed_hash_is_installed(shelf):
    checksum = hashlib.sha256((shelf / "spng_demo-1.0-py3-none-any.whl").read_bytes()).hexdigest()
    write_list(shelf, "0" * 64, checksum)
    assert install(shelf) == 0
    assert (shelf / "installed" / "spng_demo.py").exists()


def test_a_file_with_another_hash_is_rejected(shelf, capfd):
    write_list(shelf, "0" * 64)
    assert install(shelf) == 1
    shown = capfd.readouterr().err
    assert "DO NOT MATCH THE HASHES" in shown and "spng-demo==1.0" in shown and "Traceback" not in shown
    assert not (shelf / "installed").exists()


def test_a_package_without_hashes_is_not_asked_for(shelf, monkeypatch, capsys):
    write_list(shelf, "0" * 64)
    monkeypatch.setattr(hashes, "run", lambda command: pytest.fail(f"ran {command}"))
    with pytest.raises(SystemExit):
        hashes.install(PYTHON, ["spng-demo==1.1"])
    assert "hashes.txt has no hash of spng-demo==1.1" in capsys.readouterr().err


def test_an_answer_of_the_index_becomes_the_list(shelf, monkeypatch):
    """With the wheel in place of the packages of one list."""
    checksum = hashlib.sha256((shelf / "spng_demo-1.0-py3-none-any.whl").read_bytes()).hexdigest()
    (shelf / "requirements.txt").write_text("# comment\nspng-demo==1.0  # base 0 0 0\n")
    monkeypatch.setattr(hashes, "ROOT", shelf)
    monkeypatch.setattr(hashes, "PROCESSORS", {"requirements.txt": ("x86_64", "aarch64")})
    hashes.main()
    assert hashes.read() == {"spng-demo==1.0": f"spng-demo==1.0     --hash=sha256:{checksum}"}
