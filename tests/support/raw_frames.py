# SPDX-License-Identifier: Apache-2.0
"""Frame files as other programs could write them: without any check and without checksums."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.support.wire_cell import write_arrays

# Members that every reader rejects: the change of the event, the sentence of the error, the value that it shows.
FAULTS: tuple[tuple[dict[str, Any], str, str], ...] = (
    ({"channels_a": 2**40 + np.arange(3)}, "too large", str(2**40)),
    ({"channels_a": np.array([2**63, 2**64 - 1, 1], np.uint64)}, "too large", "above 2^63"),
    ({"channels_a": np.array([7.0, 8.5, 9.0])}, "must hold integers", "Double"),
    ({"channels_a": np.array([7, 7, 9])}, "a channel occurs twice", "channel 7"),
    ({"channels_a": np.arange(4)}, "do not match", "4 values"),
    ({"frame_a": np.full((3, 4), 2**24 + 1)}, "32-bit floats", "16777217"),
    ({"frame_a": np.full((3, 4), 1e300)}, "32-bit floats", "1e+300"),
    ({"frame_a": np.zeros((3, 4, 2), np.int16)}, "wrong number of axes", "3 x 4 x 2"),
    ({"summary_a": np.zeros(2)}, "do not match", "2 values"),
    ({"tickinfo_a": [0.0, 500.0, 0.9]}, "tick information", "tbin 0.9"),
    ({"tickinfo_a": [0.0, 500.0, 2.0**40]}, "tick information", "1099511627776"),
    ({"tickinfo_a": [0.0, -1.0, 0.0]}, "tick information", "tick -1"),
    ({"chanmask_bad": np.array([[7, 0, 2**62]])}, "too large", str(2**62)),
    ({"chanmask_bad": np.array([[7.0, 0.5, 3.0]])}, "must hold integers", "Double"),
    ({"chanmask_bad": np.array([[7, 5, 3]])}, "ends before it begins", "5 to 3"),
    ({"chanmask_bad": np.array([[7, 5]])}, "wrong shape", "1 x 2"),
)


def raw_event(**changes: Any) -> dict[str, Any]:
    """Return the members of an event of 3 channels and 4 ticks, some of them changed."""
    return {
        "frame_a": np.arange(12, dtype=np.int16).reshape(3, 4),
        "channels_a": np.array([7, 8, 9]),
        "tickinfo_a": [0.0, 500.0, 0.0],
        **changes,
    }


def write_raw(path: Path, members: dict[str, Any]) -> Path:
    """Write an event. HDF5 and Zarr need their packages."""
    if path.suffix == ".h5":
        import h5py  # noqa: PLC0415  (an optional package)

        with h5py.File(path, "w") as file:
            for name, array in members.items():
                file[f"0/{name}"] = array
        return path
    if path.suffix != ".zarr":
        return write_arrays(path, {f"{name}_0": np.asarray(array) for name, array in members.items()})
    import zarr  # noqa: PLC0415  (an optional package)

    root = zarr.create_group(path, attributes={"events": [0]})
    masks = {
        name.removeprefix("chanmask_"): np.asarray(rows).tolist()
        for name, rows in members.items()
        if name.startswith("chanmask_")
    }
    event = root.create_group("0", attributes={"tags": ["a"], "masks": masks})
    times = dict(zip(("start_ns", "tick_ns", "first_tick"), members["tickinfo_a"]))
    for kind in ("frame", "channels", "summary"):
        if f"{kind}_a" in members:
            attributes = times if kind == "frame" else {}
            event.create_array(f"{kind}_a", data=np.asarray(members[f"{kind}_a"]), attributes=attributes)
    return path
