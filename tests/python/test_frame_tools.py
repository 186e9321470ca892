# SPDX-License-Identifier: Apache-2.0
"""wirecell-frame info and convert."""

from __future__ import annotations

import json
import os
import signal as signals
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from wirecell_frame.cli import main

from spng import formats, read_frames, write_frames
from tests.python.frame_examples import frame, require_equal, rich_events, signal
from tests.support import wire_cell

pytest.importorskip("h5py")
pytest.importorskip("zarr")
ENDINGS = (*wire_cell.ENDINGS, ".h5", ".zarr")


class TestInfo:
    """wirecell-frame info."""

    def test_text(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "a.h5"
        formats.write(path, rich_events())
        assert main(["info", str(path)]) == 0
        samples = [event["signal"].samples for event in rich_events()]
        share = 100 * sum(np.count_nonzero(each) for each in samples) / sum(each.size for each in samples)
        finite = np.concatenate([each[np.isfinite(each)] for each in samples])
        expected = f"""\
{path}
  format    h5, {path.stat().st_size:,} bytes
  events    3, ids 4, 9-10
  tag       signal: 26 channels x 300 ticks, float32, dense
            channels 7-32
            tick 512 ns, start 4001 to 10002.5 ns, first tick 3
            {share:.3g} % of the samples are not 0, {finite.min():g} to {finite.max():g}; 4 are NaN or infinite; with summary
"""
        lines = capsys.readouterr().out.splitlines(keepends=True)
        assert "".join(lines[:7]) == expected
        assert "  tag       *: 3 channels x 7 ticks, int16, dense\n" in lines
        assert "  mask      bad: 2 rows, channels 8-9\n" in lines and "  note      model: none\n" in lines

    @pytest.mark.parametrize("form", ["dense", "sparse"])
    def test_json(self, tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "a.zarr"
        events = [frame(-abs(signal(ident)), ident, tag="a") for ident in (3, 1)]
        formats.write(path, events, form)
        assert main(["info", "--json", str(path)]) == 0
        (found,) = json.loads(capsys.readouterr().out)
        assert found["bytes"] == sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        assert [event["ident"] for event in found["events"]] == [3, 1]
        for event, expected in zip(found["events"], events):
            (tag,) = event["tags"]
            samples = expected["a"].samples
            assert (tag["form"], tag["dtype"], tag["channels"], tag["ticks"]) == (form, "float32", 26, 300)
            assert (tag["minimum"], tag["maximum"]) == (samples.min(), 0)
            assert tag["not_zero"] == np.count_nonzero(samples)

    def test_planes(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        formats.write(
            tmp_path / "a.h5", [frame(np.ones((2560, 2), np.int16), channels=np.arange(2560) + 5120)]
        )
        assert main(["info", str(tmp_path / "a.h5")]) == 0
        assert "channels 5120-7679 (U 800, V 800, W 960)" in capsys.readouterr().out

    def test_a_damaged_file_among_others(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        formats.write(tmp_path / "a.h5", rich_events())
        (tmp_path / "b.h5").write_bytes((tmp_path / "a.h5").read_bytes()[:-500])
        formats.write(tmp_path / "c.zarr", [frame(signal())])
        assert main(["info", *(str(tmp_path / name) for name in ("a.h5", "b.h5", "c.zarr"))]) == 1
        seen = capsys.readouterr()
        assert seen.err.startswith("error: ") and "b.h5" in seen.err
        assert "a.h5\n" in seen.out and "c.zarr\n" in seen.out and "b.h5\n" not in seen.out


class TestWithoutTheNativeModule:
    """As on a machine that has only the Python files."""

    @staticmethod
    def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        """Run Python with an empty build folder."""
        environment = os.environ | {"SPNG_BUILD": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run(
            [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )

    def test_files_are_an_error(self, tmp_path: Path) -> None:
        formats.write(tmp_path / "a.h5", rich_events())
        done = self.python(tmp_path, "-m", "wirecell_frame", "compare", "a.h5", "a.h5")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("error: the native module") and "./wcb --notests" in done.stderr

    def test_samples_are_compared(self, tmp_path: Path) -> None:
        """scripts/gpu_check needs this on machines without a build."""
        code = "import numpy, bench.gpu.agreement as a; g = a.Agreement('x'); n = numpy.eye(3); a.add_frame(g, 0, n, n); print(g.both)"
        done = self.python(tmp_path, "-c", code)
        assert (done.stdout, done.stderr) == ("3\n", "")


class TestConvert:
    """wirecell-frame convert."""

    @pytest.mark.parametrize("form", ["dense", "sparse"])
    @pytest.mark.parametrize("ending", ENDINGS)
    def test_there_and_back(self, tmp_path: Path, ending: str, form: str) -> None:
        write_frames(tmp_path / "in.npz", rich_events())
        target, again = tmp_path / f"out{ending}", tmp_path / "again.npz"
        assert main(["convert", str(tmp_path / "in.npz"), str(target), "--frames", form]) == 0
        assert main(["convert", str(target), str(again)]) == 0
        assert again.read_bytes() == (tmp_path / "in.npz").read_bytes()
        for one, other in zip(read_frames(target), rich_events()):
            require_equal(one, other)

    @wire_cell.needs_program
    @pytest.mark.parametrize(
        ("ending", "form"), [(".npz", "dense"), (".tar", "sparse"), (".tar.gz", "dense")]
    )
    def test_the_same_bytes_as_the_job(self, tmp_path: Path, ending: str, form: str) -> None:
        write_frames(tmp_path / "in.tar", rich_events())
        done = wire_cell.run(
            "-c", "cfg/convert.jsonnet", "-A", "input=in.tar", "-A", f"output=job{ending}",
            "-A", f"frames={form}", "-A", "tags=roi,signal", "-A", "nevents=2", folder=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        words = ["--frames", form, "--tags", "roi,signal", "--events", "2"]
        assert main(["convert", str(tmp_path / "in.tar"), str(tmp_path / f"out{ending}"), *words]) == 0
        assert (tmp_path / f"out{ending}").read_bytes() == (tmp_path / f"job{ending}").read_bytes()

    @pytest.mark.parametrize("ending", ENDINGS)
    def test_a_damaged_input_keeps_the_old_output(
        self, tmp_path: Path, ending: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The first event is intact, so that writing has begun."""
        write_frames(tmp_path / "in.tar", [frame(signal(ident), ident) for ident in range(9)])
        data = (tmp_path / "in.tar").read_bytes()
        (tmp_path / "in.tar").write_bytes(data[: len(data) * 3 // 4])
        write_frames(tmp_path / f"out{ending}", [frame(signal(), 77)])
        assert main(["convert", str(tmp_path / "in.tar"), str(tmp_path / f"out{ending}")]) == 1
        assert capsys.readouterr().err.startswith("error: ")
        assert [event.ident for event in read_frames(tmp_path / f"out{ending}")] == [77]
        assert {each.name for each in tmp_path.iterdir()} == {"in.tar", f"out{ending}"}

    @pytest.mark.parametrize("ending", [".npz", ".h5", ".zarr"])
    def test_an_interrupted_conversion(self, tmp_path: Path, ending: str) -> None:
        """SIGTERM arrives after the first of endless events."""
        script = f"""
import itertools, sys
from pathlib import Path
import spng
from tests.python.frame_examples import frame, signal
from wirecell_frame.commands import convert
from wirecell_frame.cli import main

samples = signal()

def endless(path, tags):
    for ident in itertools.count():
        yield frame(samples, ident)
        print(ident, flush=True)

convert.read_frames = endless
sys.exit(main(["convert", "in.npz", "out{ending}"]))
"""
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(wire_cell.ROOT), *sys.path])}
        with subprocess.Popen(
            [sys.executable, "-c", script],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdout.readline() == b"0\n"
            process.send_signal(signals.SIGTERM)
            process.communicate(timeout=60)
        assert process.returncode == 128 + signals.SIGTERM
        assert list(tmp_path.iterdir()) == []

    def test_standard_output_names_the_result(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_frames(tmp_path / "in.npz", rich_events())
        assert main(["convert", str(tmp_path / "in.npz"), str(tmp_path / "out.h5"), "--events", "1"]) == 0
        assert capsys.readouterr().out.startswith(f"{tmp_path / 'out.h5'}: 1 event, ")

    @pytest.mark.parametrize(
        ("words", "status"),
        [
            (["in.npz", "in.npz"], 2),
            (["in.npz", "out.csv"], 2),
            (["in.npz", "out.h5", "--events", "0"], 2),
            (["in.npz", "out.h5", "--tags", ","], 2),
            (["in.npz", "out.h5", "--tags", "gauss"], 1),
            (["absent.npz", "out.h5"], 1),
            (["in.npz", "absent/out.npz"], 1),
        ],
    )
    def test_faults(
        self,
        tmp_path: Path,
        words: list[str],
        status: int,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.chdir(tmp_path)
        write_frames(Path("in.npz"), rich_events())
        assert main(["convert", *words]) == status
        assert capsys.readouterr().err.startswith("error: ")
        assert [each.name for each in tmp_path.iterdir()] == ["in.npz"]
