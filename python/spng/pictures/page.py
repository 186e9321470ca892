# SPDX-License-Identifier: Apache-2.0
"""The page of frames: one self-contained HTML file with every sample."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from wirecell_profile.errors import pip_install
from wirecell_profile.output_kind import HTML

from ..arguments import checked
from ..channel_planes import Planes, planes_of
from ..errors import Error
from ..formats.output import replaced_file, require_own_kind
from .layers import ADC, CHARGE, TRUTH, Event, Input, events_of, sources_of
from .payload import make_payload
from .planes import choose
from .thumbnail import event_html

TEMPLATES = Path(__file__).parent / "templates"
IFRAME = '<iframe srcdoc="{page}" style="width: 100%; height: {height}px; border: 0" title="frames"></iframe>'
NOTEBOOK_HEIGHT = 1060  # pixels: images and waveforms
NOTEBOOK_BYTES = 20_000_000  # a notebook keeps smaller pages only; pictures stand for larger ones


@dataclass(frozen=True)
class Page:
    """A page of frames. Notebooks show it; save() writes it.

    pictures  small pictures of the first event, as HTML, for notebooks if the page is large
    """

    text: str
    pictures: str = ""

    @checked
    def save(self, path: str | PathLike[str], overwrite: bool = False) -> Path:
        """Write the page. Raise Error(Output) if that fails, or if it would replace a file of another kind.

        overwrite  replace that file, too
        """
        path = Path(path)
        if not overwrite:
            require_own_kind(path, HTML.holds, HTML.name)
        with replaced_file(path) as partial:
            partial.write_text(self.text, encoding="utf-8", errors="backslashreplace")
        return path

    def __repr__(self) -> str:
        return f"<Page of frames: {len(self.text) / 1e6:.1f} MB>"

    def _repr_html_(self) -> str:
        if self.pictures:
            return self.pictures
        return IFRAME.format(page=html.escape(self.text), height=NOTEBOOK_HEIGHT)


@checked
def show(
    *frames: Input,
    adc: Input | None = None,
    signal: Input | None = None,
    truth: Input | None = None,
    layers: Mapping[str, Input] | None = None,
    planes: Planes = None,
    plane: str | None = None,
    channels: tuple[int, int] | None = None,
    events: int | None = None,
) -> Page:
    """Return the page of frames, with every sample: images of the planes, waveforms, differences, charge.

    Each input is a Frame, several of them, or a file (FILE or FILE:TAG). Frames of one ident are one event.

    @param frames    inputs whose role is guessed: integers are ADC counts, tags with "truth" are the truth
    @param adc, signal, truth  inputs by role
    @param layers    inputs by label, such as those of other programs
    @param planes    channel ids by plane, or names and counts, as in planes_of() of spng/channel_planes.py
    @param plane, channels  show only this plane, only the channels from the first to the last
    @param events    show at most this many events
    @throws Error if an input cannot be read, or planes or channels do not fit it
    """
    roles = {ADC: adc, CHARGE: signal, TRUTH: truth}
    found = events_of(sources_of(frames, layers or {}, roles), events)
    parts = choose(planes_of(found[0].channels, planes), [plane] if plane else None, channels)
    return page_of(found, parts)


def page_of(events: list[Event], planes: Mapping[str, np.ndarray]) -> Page:
    """Return the page of these events with the channels of these planes."""
    from wirecell_profile.errors import ProfileError
    from wirecell_profile.html.render import render as fill

    payload = make_payload(events, dict(planes))
    files = dict.fromkeys(Path(layer.file).name for event in events for layer in event.layers if layer.file)
    try:
        text = fill(
            "frames.html",
            TEMPLATES,
            title=f"Frames of {', '.join(files)}" if files else "Frames",
            about=json.dumps(payload.about, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
            blocks=payload.blocks,
        )
    except ProfileError as error:
        raise Error("Configuration", error.what, hint=pip_install("jinja2")) from None
    if len(text) <= NOTEBOOK_BYTES:
        return Page(text)
    note = (
        f"The page with every sample has {len(text) / 1e6:.0f} MB, too much for a notebook: "
        "save('frames.html') writes it; plane= and channels= of spng.show() make it smaller."
    )
    return Page(text, event_html(events[0], note))
