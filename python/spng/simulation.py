# SPDX-License-Identifier: Apache-2.0
"""The simulation: depositions in, ADC waveforms and their truth out; or a frame of charge in, ADC waveforms out."""

from __future__ import annotations

import tempfile
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .arguments import checked, seen
from .conversion import arguments_of, require_whole_array
from .errors import input_error
from .frame import Frame, TagError, require_frame
from .frame_files import write_frames
from .pipeline import Pipeline
from .process import native

if TYPE_CHECKING:
    Depositions = np.ndarray
else:
    Depositions = Any  # __call__() checks them

# Arguments that Simulation sets.
RESERVED = {
    "depos": "call the simulation with the depositions",
    "output": "the simulation returns the waveforms",
    "truth": "the simulation returns the truth",
}


class Simulation:
    """A warm simulation of one anode. Each event has other random numbers; the seed is an argument."""

    @checked
    def __init__(self, detector: str = "pdhd", anode: int = 0, **arguments: Any) -> None:
        """Prepare the simulation.

        arguments  of cfg/simulate.jsonnet: seed=7, noise=False, drift=False, device="cuda"

        Raise spng.Error if a file or an argument is wrong.
        """
        self._core = native().Simulation(detector, anode, arguments_of(arguments, RESERVED))
        self._about = f"detector={detector!r}, anode={anode}"

    def __repr__(self) -> str:
        return f"<spng.Simulation: {self._about}>"

    @checked
    def __call__(self, depositions: Depositions, ident: int = 0) -> Frame:
        """Simulate one event.

        depositions  (7, n): t [ns], q [electrons, negative], x, y, z [mm], sigma_L, sigma_T [mm]; or (n, 7)

        Return a frame with the tags adc (int16), truth [electrons] and roi (int16). Depositions that cannot be simulated are
        dropped, with a warning in the log.
        """
        require_whole_array(depositions, "depositions")
        try:
            array = np.asarray(depositions)
        except (ValueError, TypeError):  # lists of different lengths
            array = np.empty(0)
        if array.ndim != 2 or 7 not in array.shape or array.dtype.kind not in "iuf":
            raise input_error(
                "the depositions have the wrong form",
                seen=f"{array.dtype} of shape {array.shape}" if array.size else seen(depositions),
                expected="(7, n): t [ns], q [electrons], x, y, z [mm], sigma_L, sigma_T [mm]",
            )
        rows = array if array.shape[0] == 7 else array.T
        return self._core.process(np.ascontiguousarray(rows, np.float64), ident)


@checked
def simulate(depositions: Depositions, detector: str = "pdhd", anode: int = 0, **arguments: Any) -> Frame:
    """Simulate one event; see Simulation, which saves the preparation for several events."""
    return Simulation(detector, anode, **arguments)(depositions)


@checked
def waveforms_from_charge(
    charge: Frame,
    detector: str = "pdhd",
    anode: int = 0,
    noise: str | PathLike[str] | Frame = "spectra",
    *,
    tag: str = "",
    **arguments: Any,
) -> Frame:
    """Simulate the ADC waveforms of a frame of charge, for example of a real event.

    charge     traces (channel, tick) [electrons] by arrival time at the wires, as the chain and the Wire-Cell Toolkit give them
    noise      "spectra": random noise of the detector; "none"; or raw waveforms to which the signals are added: a frame, or a file
    tag        of the charge; default: the only one
    arguments  further ones of cfg/from_charge.jsonnet: seed=7, noise_level=0.5, noise_tag="raw", device="cuda"

    Return a frame with the tag "*" (int16), the ident of the charge and the masks of both inputs. Each call adds the same noise for
    the same seed: give each event another seed. Raise spng.Error if a file, a tag, a channel or an argument is wrong.
    """
    require_frame(charge, "charge")
    try:
        traces = charge[tag] if tag else charge.only()
    except TagError:
        raise input_error(
            "the frame has no charge of that tag" if tag else "the frame of charge has several tags, or none",
            seen=", ".join(map(repr, charge.traces)) or "no tag",
            expected=repr(tag) if tag else "one tag, or the one to use in the argument tag",
        ) from None
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(noise, Frame):
            write_frames(Path(folder) / "noise.tar", noise)
            noise = Path(folder) / "noise.tar"
        with Pipeline(
            detector,
            anode,
            configuration="cfg/from_charge.jsonnet",
            input="memory",
            output="memory",
            noise=noise,
            **arguments,
        ) as pipeline:
            return pipeline(traces, masks=charge.masks, ident=charge.ident)
