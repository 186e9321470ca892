# SPDX-License-Identifier: Apache-2.0
"""Figures of Matplotlib that notebooks display. Import this module where plots are made: it imports Matplotlib."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

DPI = 80


class NotebookFigure(Figure):
    """A figure that a notebook displays without pyplot and its backends."""

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.savefig(content, format="png", dpi=DPI)
        return content.getvalue()
