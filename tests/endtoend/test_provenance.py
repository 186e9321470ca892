# SPDX-License-Identifier: Apache-2.0
"""Which network, wires, responses, noise and configuration ran: in the output's notes, in --timing, and on the log; and what a
damaged network does to a job.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from tests.support import wire_cell
from tests.support.small_detector import write_description

pytestmark = wire_cell.needs_program

SHIPPED = wire_cell.DATA / "dnnroi-standin.ts"
FIELD = wire_cell.DATA / "dune-garfield-1d565.json.gz"
NOISE = wire_cell.DATA / "protodunehd-noise-spectra-14mVfC-v1.json.bz2"
DAMAGED_BYTE, DAMAGED_BIT = 109155, 6  # of data/dnnroi.ts: in a kernel of a convolution


def sha256(path: Path) -> str:
    """Of the file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def notes_of(arrays: wire_cell.Arrays, ident: int = 0) -> dict[str, str]:
    """The notes of an event."""
    (name,) = [name for name in arrays if "notes" in name and name.endswith(f"_{ident}")]
    return json.loads(arrays[name].tobytes())


def with_checksums(files: dict[str, Path]) -> dict[str, str]:
    """Names and checksums by role, as notes have them."""
    return {role: path.name for role, path in files.items()} | {
        f"{role}_sha256": sha256(path) for role, path in files.items()
    }


@pytest.fixture(name="site", scope="module")
def fixture_site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], wire_cell.Arrays]:
    """A folder with a small detector and adc.npz, the flags of its jobs, and the arrays of adc.npz."""
    folder = tmp_path_factory.mktemp("site")
    flags = write_description(folder)
    return (
        folder,
        flags,
        wire_cell.job(folder, *flags, job_file="cfg/simulate.jsonnet", output="adc.npz", truth="truth.npz"),
    )


class TestRecord:
    """Files by name and checksum in notes, by absolute path and checksum in --timing."""

    def test_simulation(self, site: tuple[Path, list[str], wire_cell.Arrays]) -> None:
        folder, _, adc = site
        wires = folder / "small-wires.json.bz2"
        assert notes_of(adc) == with_checksums({"wires": wires, "field": FIELD, "noise": NOISE})
        assert notes_of(wire_cell.read_arrays(folder / "truth.npz")) == with_checksums({"wires": wires})

    def test_pipeline(self, site: tuple[Path, list[str], wire_cell.Arrays], tmp_path: Path) -> None:
        folder, flags, _ = site
        shutil.copy(wire_cell.DATA / "dnnroi-standin.ts", tmp_path / "mine.ts")
        output = wire_cell.job(
            tmp_path,
            *flags,
            "--timing",
            "timing.json",
            input=folder / "adc.npz",
            model="mine.ts",
            tags="signal,decon_charge",
        )
        files = {"model": tmp_path / "mine.ts", "wires": folder / "small-wires.json.bz2", "field": FIELD}
        notes = notes_of(output)
        metadata = json.loads(notes.pop("model_metadata"))
        assert metadata["name"] == "dnnroi-standin" and "not a trained network" in notes.pop("stand-in")
        assert notes == with_checksums(files)

        found = json.loads((tmp_path / "timing.json").read_text(encoding="utf-8"))["provenance"]
        recorded = {each["role"]: each for each in found["files"]}
        files["noise"] = NOISE  # of the comparison of the input with the detector, not of the output
        assert len(found["files"]) == len(recorded) == 4 and recorded["model"].pop("metadata") == metadata
        assert recorded == {
            role: {"role": role, "path": str(path), "bytes": path.stat().st_size, "sha256": sha256(path)}
            for role, path in files.items()
        }
        assert found["configuration"]["path"] == str(wire_cell.ROOT / wire_cell.PIPELINE)

    def test_configuration_counts_with_imports_and_arguments(
        self, site: tuple[Path, list[str], wire_cell.Arrays], tmp_path: Path
    ) -> None:
        folder, flags, _ = site

        def checksum(**arguments: str) -> str:
            wire_cell.job(
                tmp_path,
                *flags,
                "--timing",
                "timing.json",
                input=folder / "adc.npz",
                model="none",
                **arguments,
            )
            return json.loads((tmp_path / "timing.json").read_text(encoding="utf-8"))["provenance"][
                "configuration"
            ]["sha256"]

        first = checksum()
        assert len(first) == 64 and checksum() == first
        assert checksum(filters="pdsp") != first


class TestHiddenFile:
    """A file of the current folder is taken before a shipped one of its name, and the log reports it."""

    def test_network(self, site: tuple[Path, list[str], wire_cell.Arrays], tmp_path: Path) -> None:
        """The notes do not depend on the folder: equal files give equal bytes wherever they lie."""
        folder, flags, _ = site
        shutil.copy(SHIPPED, tmp_path / SHIPPED.name)
        arguments = (f"input={folder / 'adc.npz'}", "output=out.npz", "device=cpu")
        said, outputs = {}, set()
        for model in (SHIPPED.name, f"./{SHIPPED.name}", str(SHIPPED)):
            words = wire_cell.settings(*arguments, f"model={model}")
            done = wire_cell.run("-c", wire_cell.PIPELINE, *flags, *words, folder=tmp_path)
            assert done.returncode == 0, done.stderr
            outputs.add((tmp_path / "out.npz").read_bytes())
            said[model] = [line.partition("] ")[2] for line in done.stderr.splitlines() if "[ data ]" in line]
        expected = f"{SHIPPED.name}: taking {tmp_path / SHIPPED.name} of the current folder, not {SHIPPED}"
        assert len(outputs) == 1
        assert said == {SHIPPED.name: [f"W [ data ] {expected}"], f"./{SHIPPED.name}": [], str(SHIPPED): []}

    def test_configuration(self, tmp_path: Path) -> None:
        shutil.copy(wire_cell.ROOT / wire_cell.PIPELINE, tmp_path / "pipeline.jsonnet")
        done = wire_cell.run("--check-configuration", "-c", "pipeline.jsonnet", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert f"taking {tmp_path / 'pipeline.jsonnet'} of the current folder" in done.stderr


class TestDamagedNetwork:
    """One flipped bit is an error before anything runs."""

    def damaged(self, path: Path) -> Path:
        """A copy of data/dnnroi.ts with one bit flipped."""
        content = bytearray((wire_cell.DATA / "dnnroi.ts").read_bytes())
        content[DAMAGED_BYTE] ^= 1 << DAMAGED_BIT
        path.write_bytes(content)
        return path

    def test_of_a_user(self, site: tuple[Path, list[str], wire_cell.Arrays], tmp_path: Path) -> None:
        folder, flags, _ = site
        path = self.damaged(tmp_path / "one-bit.ts")
        words = wire_cell.settings(f"input={folder / 'adc.npz'}", "device=cpu", f"model={path}")
        block = wire_cell.rejected("-c", wire_cell.PIPELINE, *flags, *words, folder=tmp_path, status=1)
        assert block.startswith("error: cannot load a model file") and f"{path}, member " in block
        assert "CRC-32 0x" in block and "its header lists 0x" in block
        assert [each.name for each in tmp_path.iterdir()] == ["one-bit.ts"]

    def test_of_the_installation(
        self, site: tuple[Path, list[str], wire_cell.Arrays], tmp_path: Path
    ) -> None:
        """Another tree with the program, in which a shipped file is damaged; under a name of its own it is a user's."""
        folder, flags, _ = site
        tree = tmp_path / "tree"
        build = wire_cell.PROGRAM.parents[1]
        for name in ("bin", "lib"):
            shutil.copytree(build / name, tree / name)
        for name in ("cfg", "data"):
            shutil.copytree(wire_cell.ROOT / name, tree / "share" / "wirecell" / name)
        data = tree / "share" / "wirecell" / "data"
        with open(data / SHIPPED.name, "ab") as file:
            file.write(b"\0")
        shutil.copy(data / SHIPPED.name, data / "my-standin.ts")

        def run(model: str) -> tuple[int, str]:
            words = wire_cell.settings(input=folder / "adc.npz", output="out.npz", device="cpu", model=model)
            done = wire_cell.run(
                "-c",
                wire_cell.PIPELINE,
                *flags,
                *words,
                folder=tmp_path,
                executable=tree / "bin" / "wire-cell",
            )
            return done.returncode, done.stderr

        status, block = run("standin")
        assert status == 1 and block.startswith("error: a shipped data file is damaged or was replaced"), (
            block
        )
        assert sha256(data / SHIPPED.name) in block and sha256(SHIPPED) in block and "another name" in block
        assert not (tmp_path / "out.npz").exists()
        status, text = run("my-standin.ts")
        assert status == 0, text
