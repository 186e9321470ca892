"""A profile as one self-contained HTML page: timeline, numbers, charts, tables, findings, and what is missing. It loads
nothing from anywhere, and says nothing of what the file lacks but that it lacks it."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from importlib import resources

from ..errors import MissingData
from ..model.selection import Scope
from ..model.window import Window, find_window
from ..output import Result
from ..palette import PALETTE
from ..tables.sections import SECTIONS
from . import overview
from .counters import make_counters
from .payload import encode
from .tables import pairs, reasons, table
from .timeline import COPY_COLOURS, WAIT_COLOUR, make_timeline

KEYS = "wheel: zoom · drag or shift+wheel: move · double click: fit · click: details · keys: arrows w a s d + − 0 / n"


@dataclass
class Content:
    """What the page shows, made once."""

    scope: Scope
    window: Window
    tables: dict[str, Result] = field(default_factory=dict)  # section -> its table
    missing: dict[str, str] = field(default_factory=dict)  # what -> why not

    @classmethod
    def of(cls, scope: Scope) -> Content:
        """All sections that the file has data for. MissingData when it has no events."""
        content = cls(scope, find_window(scope))
        for name, section in SECTIONS.items():
            try:
                content.tables[name] = section.run(scope)
            except MissingData as error:
                content.missing[f'table "{section.about}"'] = error.what
        return content


def html_page(scope: Scope, findings: str) -> str:
    """The page. `findings`: what the rules found, as HTML."""
    content = Content.of(scope)
    timeline, counters = make_timeline(scope), make_counters(scope, content.window)
    content.missing |= {f"timeline: {what}": why for what, why in timeline.missing.items()}
    title = overview.title(scope.profile)
    parts = [
        f"<header><h1>{escape(title)}</h1><p>{escape(overview.subtitle(content.scope, content.window))}</p></header>",
        '<nav aria-label="parts of the page"><a href="#time">Timeline</a><a href="#charts">Charts</a><a href="#findings">Findings</a>'
        '<a href="#tables">Tables</a><a href="#run">Run</a><a href="#missing">What is missing</a></nav>',
        overview.tiles(content.scope, content.window, content.tables),
        '<h2 id="time">Timeline</h2>' + _timeline(title, {counter.group for counter in counters}, timeline),
        f'<h2 id="charts">Where the time went</h2><div class="charts">{"".join(overview.charts(content.scope, content.window, content.tables))}</div>',
        f'<h2 id="findings">Findings</h2>{findings}',
        '<h2 id="tables">Tables</h2>' + _tables(content.tables),
        f'<h2 id="run">Run</h2>{pairs(overview.manifest(scope.profile))}',
        '<h2 id="missing">What is missing</h2>' + _missing(content.missing),
    ]
    data = encode(timeline, counters, content.window)
    script = "\n".join(_file(name) for name in ("data.js", "timeline.js", "page.js"))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title><style>\n{_file("page.css")}</style></head><body>\n'
        + "\n".join(parts)
        + f'\n<script type="text/plain" id="timeline-data">{data}</script>\n<script>\n{script}</script>\n</body></html>\n'
    )


def _file(name: str) -> str:
    """A file of the package."""
    return resources.files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def _timeline(title: str, groups: set[str], timeline) -> str:
    """The canvas with its tools; without a script it says so."""
    rows = len(timeline.rows)
    about = f"Timeline of {title}: {rows} rows; the tables below hold its numbers."
    return (
        '<div class="tools"><button id="zoom-in" aria-label="zoom in">+</button><button id="zoom-out" aria-label="zoom out">−</button>'
        '<button id="fit">fit</button><input id="search" type="search" placeholder="find a range, kernel or call" '
        'aria-label="find a name"><button id="next">next</button><span id="matches" role="status"></span>'
        f'<span class="hint">{escape(KEYS)}</span></div>'
        f'<div id="timeline" tabindex="0" role="application" aria-label="{escape(about)}"><div class="spacer"><canvas></canvas></div></div>'
        '<div id="tip" hidden></div><div id="details" aria-live="polite"></div>'
        "<noscript><p>The timeline needs JavaScript; everything below does not.</p></noscript>"
        + _legend(timeline)
    )


def _legend(timeline) -> str:
    """The colours of kinds that occur."""
    used = set(timeline.colours)
    named = [(kind, colour) for kind, colour in PALETTE.items() if colour in used and kind != "other"]
    directions = {
        1: "copy to the device",
        2: "copy to the host",
        8: "copy within the device",
        10: "copy between devices",
    }
    named += [(directions[kind], colour) for kind, colour in COPY_COLOURS.items() if colour in used]
    named += [("API call that waits", WAIT_COLOUR)] if WAIT_COLOUR in used else []
    keys = "".join(
        f'<span><i style="background:{colour}"></i>{escape(kind)}</span>' for kind, colour in named
    )
    return f'<div class="legend" aria-label="colours">{keys}<span>other colours: by name. Grey ground: outside of the window.</span></div>'


def _tables(tables: dict[str, Result]) -> str:
    parts = []
    for number, (name, result) in enumerate(tables.items()):
        section = SECTIONS[name]
        note = f'<p class="about">{escape(section.note)}</p>' if section.note else ""
        parts.append(
            f"<details{' open' if number < 3 else ''}><summary>{escape(_capital(section.about))}</summary>{note}{table(result, name)}</details>"
        )
    return "".join(parts)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _missing(missing: dict[str, str]) -> str:
    if not missing:
        return "<p>Nothing: every part of the page has its data.</p>"
    return '<p class="about">Missing is not zero: these could not be made from this file.</p>' + reasons(
        missing
    )
