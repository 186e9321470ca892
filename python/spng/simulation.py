# SPDX-License-Identifier: Apache-2.0
"""The simulation: depositions in, ADC waveforms and their truth out."""

from __future__ import annotations

from typing import Any

import numpy as np

from .conversion import argument_text
from .errors import input_error
from .frame import Frame
from .process import native


class Simulation:
    """A warm simulation of one anode. Each event has other random numbers; the seed is an argument."""

    def __init__(self, detector: str = "pdhd", anode: int = 0, **arguments: Any) -> None:
        """Prepare the simulation.

        arguments  of cfg/simulate.jsonnet: seed=7, noise=False, drift=False, device="cuda"

        Raise spng.Error if a file or an argument is wrong.
        """
        strings = {name: argument_text(value) for name, value in arguments.items()}
        self._core = native().Simulation(detector, anode, strings)

    def __call__(self, depositions: np.ndarray, ident: int = 0) -> Frame:
        """Simulate one event.

        depositions  (7, n): t [ns], q [electrons, negative], x, y, z [mm], sigma_L, sigma_T [mm]; or (n, 7)

        Return a frame with the tags adc (int16), truth [electrons] and roi (int16). Depositions that cannot be simulated are
        dropped, with a warning in the log.
        """
        array = np.asarray(depositions)
        if array.ndim != 2 or 7 not in array.shape or not np.issubdtype(array.dtype, np.number):
            raise input_error(
                "the depositions have the wrong form",
                seen=f"{array.dtype} of shape {array.shape}",
                expected="(7, n): t [ns], q [electrons], x, y, z [mm], sigma_L, sigma_T [mm]",
            )
        rows = array if array.shape[0] == 7 else array.T
        return self._core.process(np.ascontiguousarray(rows, np.float64), ident)


def simulate(depositions: np.ndarray, detector: str = "pdhd", anode: int = 0, **arguments: Any) -> Frame:
    """Simulate one event; see Simulation, which saves the preparation for several events."""
    return Simulation(detector, anode, **arguments)(depositions)
