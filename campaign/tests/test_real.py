# SPDX-License-Identifier: Apache-2.0
"""The real program: small frames through the pipeline, merged profiles."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from wirecell_campaign import cli

from tests.support.wire_cell import PROGRAM, ROOT, default_adc, event, needs_program, write_arrays

TICKS = 1000


@needs_program
def test_two_small_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Outputs equal those of wire-cell alone; timings and profiles of both files are merged."""
    monkeypatch.chdir(tmp_path)
    samples, channels, _ = default_adc()
    for index in range(2):
        frame = event(samples[:, 500 * index : 500 * index + TICKS], channels)
        write_arrays(tmp_path / f"ev{index}.npz", frame)
    (tmp_path / "list.txt").write_text("ev*.npz\n")
    arguments = [word for each in ("model=none", "device=cpu", "threads=1") for word in ("-A", each)]
    words = ["run", "list.txt", "--output", "out", "--program", str(PROGRAM), *arguments, "--workers", "1"]
    assert cli.main([*words, "--record"]) == 0, capsys.readouterr().err

    alone = [
        PROGRAM,
        *"-c cfg/pipeline.jsonnet -A input=ev1.npz -A output=alone.npz".split(),
        *arguments,
    ]
    subprocess.run(alone, check=True, capture_output=True)
    assert (tmp_path / "out/ev1.npz").read_bytes() == (tmp_path / "alone.npz").read_bytes()

    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert summary["events"] == 2 and summary["nodes"]["SPNGDecon:induction"]["calls"] == 2
    record = json.loads((tmp_path / "out/.campaign/records/ev0.npz.json").read_text())
    assert record["events"] == 1 and record["program"] == record["timing"]["commit"]
    provenance = record["timing"]["provenance"]
    assert provenance["configuration"]["path"] == str(ROOT / "cfg/pipeline.jsonnet")
    for file in provenance["files"]:
        assert hashlib.sha256(Path(file["path"]).read_bytes()).hexdigest() == file["sha256"]
    assert {file["role"] for file in provenance["files"]} == {"wires", "field", "noise"}
    assert summary["files_with_timing"] == 2
    shown = subprocess.run(
        [sys.executable, "-m", "wirecell_profile", "summary", "out/profile.sqlite"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "SPNGDecon" in shown.stdout
    assert cli.main(["verify", "out"]) == 0
    assert cli.main(words) == 0, "resumed without --record too"
    assert cli.main([*words, "--record"]) == 0, "the joined profile is made again"


@needs_program
def test_warnings_of_a_loaded_program_belong_to_their_file(tmp_path: Path, monkeypatch, capsys) -> None:
    """Frames of the true charge between frames of ADC counts, all in one program; with --strict they fail."""
    monkeypatch.chdir(tmp_path)
    samples, channels, _ = default_adc()
    for index in (0, 2):
        write_arrays(tmp_path / f"ev{index}.npz", event(samples[:, :TICKS], channels))
    for index in (1, 3):
        (tmp_path / f"ev{index}.npz").symlink_to(ROOT / "data" / "tracks10-truth.npz")
    (tmp_path / "list.txt").write_text("ev*.npz\n")
    arguments = [word for each in ("model=none", "device=cpu", "threads=1") for word in ("-A", each)]
    words = ["run", "list.txt", "--program", str(PROGRAM), *arguments, "--on-error", "skip", "--retries", "0"]
    assert cli.main([*words, "--output", "out"]) == 0, capsys.readouterr().err
    warnings = json.loads((tmp_path / "out/summary.json").read_text())["warnings"]
    assert list(warnings) == ["ev1.npz", "ev3.npz"]
    for lines in warnings.values():
        assert sum("polarity of the pulses" in line for line in lines) == 2, "U and V, each once"
    assert cli.main([*words, "--output", "strict", "--strict"]) == 1
    said = capsys.readouterr()
    assert "2 of 4 done, 2 failed" in said.out
    assert "ev1.npz failed" in said.err and "error: the polarity of the pulses" in said.err
