# SPDX-License-Identifier: Apache-2.0
"""Options of the main job that a user gives by hand: thresholds, --set, filters without a network; and what the report says
about the job.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support import wire_cell
from tests.support.small_detector import write_description

pytestmark = wire_cell.needs_program


@pytest.fixture(name="site", scope="module")
def fixture_site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A folder with a small detector and adc.npz, and the flags of its jobs."""
    folder = tmp_path_factory.mktemp("options")
    flags = write_description(folder)
    wire_cell.job(folder, *flags, job_file="cfg/simulate.jsonnet", output="adc.npz", seed=5)
    return folder, flags


def signal(site: tuple[Path, list[str]], *flags: str, **arguments: object) -> np.ndarray:
    """Process adc.npz; return the signal."""
    folder, own = site
    return wire_cell.job(folder, *own, *flags, input="adc.npz", threads=1, **arguments)["frame_signal_0"]


def settings(**keys: float) -> list[str]:
    """The keys of nodes as flags: SPNGThresholdROIs__collection__pad=1."""
    return [
        word
        for key, value in keys.items()
        for word in ("--set", "{}:{}.{}={}".format(*key.split("__"), value))
    ]


def test_thresholds_are_keys_of_the_nodes(site: tuple[Path, list[str]]) -> None:
    """One number for all planes, or one for each kind of plane; the same bytes as with --set."""
    nominal = signal(site)
    both = signal(site, seed_threshold="9,12", grow_threshold=3)
    flags = settings(
        SPNGCoincidenceROIs__induction__seed_rms_factor=9,
        SPNGCoincidenceROIs__induction__lone_seed_rms_factor=9,
        SPNGCoincidenceROIs__induction__grow_rms_factor=3,
        SPNGThresholdROIs__collection__threshold_rms_factor=12,
        SPNGThresholdROIs__collection__grow_rms_factor=3,
    )
    np.testing.assert_array_equal(both, signal(site, *flags))
    assert 0 < np.count_nonzero(both) < 0.9 * np.count_nonzero(nominal)
    low = signal(site, seed_threshold=3)
    assert np.count_nonzero(low) > np.count_nonzero(nominal)
    # A seed without coincidence stays at 5: three is below.
    flags = settings(
        SPNGCoincidenceROIs__induction__seed_rms_factor=3,
        SPNGThresholdROIs__collection__threshold_rms_factor=3,
    )
    np.testing.assert_array_equal(low, signal(site, *flags))


def test_the_report_names_job_and_files(site: tuple[Path, list[str]]) -> None:
    """In the table, in --timing and with --check; --set is one of the settings, and part of the checksum."""
    folder, flags = site
    words = [*flags, "-c", wire_cell.PIPELINE, "-A", "output=out.npz", "-A", "seed_threshold=4.5"]
    words += ["-A", "input=adc.npz", "-A", "device=cpu", "--timing", "timing.json", "--table", "wide"]
    about = "small anode 0, filters smooth, no network: small has none, seed_threshold 4.5"
    reports = []
    for more in ([], ["--set", "SPNGContext.threads=1"]):
        done = wire_cell.run(*words, *more, folder=folder)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        assert done.stdout.splitlines()[1:3] == [about, "read adc.npz, wrote out.npz"]
        reports.append(json.loads((folder / "timing.json").read_text()))
    without, with_change = reports
    assert with_change["run"]["about"] == about and with_change["run"]["files_written"] == ["out.npz"]
    assert with_change["settings"]["set"] == ["SPNGContext.threads=1"] and "set" not in without["settings"]
    assert with_change["run"]["intra_op_threads"] == 1
    checksums = [report["provenance"]["configuration"]["sha256"] for report in reports]
    assert checksums[0] != checksums[1]
    done = wire_cell.run("--check-configuration", *words[:-4], folder=folder)
    assert done.returncode == 0 and about in done.stdout.splitlines()


def rejected(*words: str) -> str:
    """Check a job that must be rejected; return the error block."""
    done = wire_cell.run("--check-configuration", "-c", wire_cell.PIPELINE, "-A", "device=cpu", *words)
    assert done.returncode == 2 and done.stderr.startswith("error: "), done.stderr
    return done.stderr


def test_a_network_that_is_dropped_is_told() -> None:
    """The network was trained with other filters."""
    words = ["--check-configuration", "-c", wire_cell.PIPELINE, "-A", "device=cpu"]
    reason = "no network: the network of pdhd needs filters=smooth"
    assert f"pdhd anode 0, filters pdhd, {reason}" in wire_cell.run(*words, "-A", "filters=pdhd").stdout
    assert "filters smooth, network dnnroi.ts\n" in wire_cell.run(*words).stdout
    assert reason in rejected("-A", "filters=pdhd", "-A", "mask_threshold=0.9")


def test_arguments_of_a_network_need_one() -> None:
    for argument in ("mask_threshold=0.9", "model_server=127.0.0.1:9", "remote_model=x"):
        block = rejected("-A", "model=none", "-A", argument)
        name = argument.partition("=")[0]
        assert f"argument '{name}' is about a network, and the job has no network: model=none" in block


@pytest.mark.parametrize(
    "words, told",
    [
        (["-A", "detector=pdhd"], "did you mean 'detname'?"),
        (["-A", "anode=1"], "did you mean 'tpcid'?"),
        (["-A", "detectr=pdhd"], "did you mean 'detname'?"),
        (["-A", "sparse=true"], "did you mean 'frames'?"),
        (["-A", "queue_size=4"], "did you mean 'events_in_flight'?"),
        (["-A", "files=a.npz"], "did you mean 'input'?"),
        (["-A", "inptu=a.npz"], "did you mean 'input'?"),
        (["-A", "thresold=3"], "'seed_threshold' or 'grow_threshold'"),
        (["-A", "seed_threshold=high"], "takes a number, not 'high'"),
        (["-A", "grow_threshold=-1"], "argument 'grow_threshold' takes numbers of 0 or more, not '-1'"),
        (["-A", "seed_threshold=3,-2"], "argument 'seed_threshold' takes numbers of 0 or more, not '3,-2'"),
        (["-A", "seed_threshold=1,2,3"], "takes one number, or those of induction and collection planes"),
        (["--set", "SPNGDecom.channels=1"], "did you mean 'SPNGDecon'?"),
        (["--set", "SPNGDecon:inductoin.channels=1"], "did you mean 'SPNGDecon:induction'?"),
        (["--set", "SPNGDecon.chanels=1"], "did you mean 'channels'?"),
        (["--set", "SPNGDecon.channels=-1"], "SPNGDecon:induction, key channels"),
    ],
)
def test_wrong_names_and_values(words: list[str], told: str) -> None:
    assert told in rejected(*words)


def test_a_detector_without_its_files_names_their_repository() -> None:
    """And not the files of another detector."""
    words = [
        "--check",
        "-c",
        wire_cell.PIPELINE,
        *wire_cell.settings("device=cpu", "detname=pdsp", "model=none"),
    ]
    done = wire_cell.run(*words, env={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 2
    blocks = [
        block for block in done.stderr.split("error: ") if block.startswith("data file 'protodune-wires")
    ]
    hint = "it is in https://github.com/WireCell/wire-cell-data: give the folder of your copy with -P or in WIRECELL_PATH"
    assert len(blocks) == 1 and hint in blocks[0] and "protodunehd" not in blocks[0]
