# SPDX-License-Identifier: Apache-2.0
"""Channels of real data of ProtoDUNE-VD: a frame of noise with the channels and masks of the published result of anode 0 is
processed, with no channel rejected and nothing found.

The result (../shared/data/real, run 39324) is only in the shared data; tests/detector/anode_test.cxx has the channels of all anodes.
"""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

from tests.detector.test_detectors import shared_detector_files
from tests.support import wire_cell

pytestmark = wire_cell.needs_program

TICKS = 1600
EVENT = 339850


@pytest.mark.parametrize("name, tick_ns", [("pdvd_bottom", 500.0), ("pdvd_bottom-data", 512.0)])
def test_channels_of_protodune_vd_are_accepted(name: str, tick_ns: float, tmp_path: Path) -> None:
    detector_files = shared_detector_files()
    if detector_files is None:
        pytest.skip("the shared data is not here")
    result = detector_files.parent / "real" / "protodunevd-sp-frames-anode0.tar.bz2"
    if not result.is_file():
        pytest.skip(f"{result} is not here")
    wanted = {f"channels_gauss0_{EVENT}.npy", f"chanmask_bad_{EVENT}.npy"}
    arrays = {}
    with tarfile.open(result) as archive:
        for member in archive:
            if member.name in wanted:
                content = archive.extractfile(member)
                assert content is not None
                arrays[member.name] = np.load(io.BytesIO(content.read()))
    mask, channels = (arrays[name] for name in sorted(wanted))
    mask = mask.copy()
    mask[:, 2] = TICKS
    noise = np.random.default_rng(39324).normal(0, 7, (len(channels), TICKS))
    wire_cell.write_arrays(
        tmp_path / "adc.npz",
        {
            "frame_raw0_1": (noise + np.where(channels < 1904, 9402, 3601)[:, None]).round().astype(np.int16),
            "channels_raw0_1": channels,
            "tickinfo_raw0_1": np.array([0, tick_ns, 0]),
            "chanmask_bad_1": mask,
        },
    )
    output = wire_cell.job(
        tmp_path, "-P", detector_files, input="adc.npz", output="signal.npz", detname=name, tpcid=0
    )
    assert len(channels) == 1536
    np.testing.assert_array_equal(output["channels_signal_1"], np.sort(channels))
    assert (output["frame_signal_1"] != 0).mean() < 1e-3
