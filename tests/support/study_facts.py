# SPDX-License-Identifier: Apache-2.0
"""Facts about the run of an imagined physics study."""

from __future__ import annotations

from typing import Any

ABOUT: dict[str, Any] = {
    "cores": 2,
    "precision": "exact float32",
    "wall_seconds": 1.0,
    "cpu_seconds": 2.0,
    "load_text": "nothing else ran",
    "time": "now",
    "program": {"commit": "0123abcd"},
    "machine": {"cpu": "a processor"},
}
