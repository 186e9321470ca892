"""The page of physics figures: one HTML file with its pictures inside, and its tables as Markdown for docs/."""

from __future__ import annotations

import base64
import html
from pathlib import Path
from typing import Any

from .sections import Section

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1f2933; background: #fff; margin: 0; }
main { max-width: 1120px; margin: 0 auto; padding: 24px; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 19px; margin: 40px 0 6px; border-top: 1px solid #e4e7eb; padding-top: 20px; }
h3 { font-size: 15px; margin: 20px 0 6px; } p { margin: 6px 0; max-width: 90ch; } .about { color: #616e7c; font-size: 13px; }
nav { font-size: 13px; margin: 14px 0; } nav a { margin-right: 14px; color: #1d4e89; text-decoration: none; white-space: nowrap; }
table { border-collapse: collapse; font-size: 12.5px; margin: 10px 0; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 9px; text-align: right; border-bottom: 1px solid #e4e7eb; white-space: nowrap; } th { background: #f5f7fa; font-weight: 600; }
th.word, td.word { text-align: left; } tr.met td:nth-last-child(2) { color: #15803d; } tr.short td:nth-last-child(2) { color: #b91c1c; font-weight: 600; }
.wide { overflow-x: auto; } img { width: 100%; height: auto; } details { margin: 8px 0; } summary { cursor: pointer; color: #1d4e89; }
"""

DEFINITIONS = "\n".join(
    (
        "Pixel: four consecutive ticks of a channel.",
        "ROI pixel: at least one of its ticks has a non-zero output.",
        "True pixel: at least one of its ticks has a true charge above 500 electrons.",
        "Charge bias: total output / total true charge - 1, over all channels and ticks of a view.",
        "Median channel and resolution: median and half the central 68 % of the same ratio over channels with more than 5000 "
        "electrons (line scan: standard deviation over the inner channels of the line).",
        "Efficiency: true pixels that are ROI pixels.",
        "Purity: ROI pixels that are true.",
        "Late by: peak of the cross-correlation with the truth.",
        "Errors are one standard deviation, from the spread between events.",
    )
)


def about_lines(result: dict[str, Any]) -> list[str]:
    """Where the figures come from."""
    events = "; ".join(
        f"{sample['label']}: {sample['events']} (seeds {sample['seeds'][0]} to {sample['seeds'][1]})"
        for sample in result["samples"]
    )
    return [
        f"{result['time']}, commit {result['program']['commit']}, {result['machine']['cpu']}, "
        f"{result['precision']}; {result['wall_seconds']:.0f} s on {result['cores']} cores with {result['cpu_seconds']:.0f} s "
        f"of processor time, while {result['load_text']}.",
        f"Command: {result['command']}",
        f"Model: {result['model'] or 'none'}",
        f"Events: {events or 'none'}.",
    ]


def to_html(result: dict[str, Any], sections: list[Section]) -> str:
    """The whole page, without anything from outside."""
    parts = [
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>SPNG physics</title><style>{STYLE}</style></head>"
        "<body><main><h1>SPNG: physics figures</h1>"
    ]
    parts += [f"<p class=about>{html.escape(line)}</p>" for line in about_lines(result)]
    parts.append(
        "<nav>"
        + " ".join(f"<a href='#{part.anchor}'>{html.escape(part.title)}</a>" for part in sections)
        + "</nav>"
    )
    for section in sections:
        parts.append(f"<section id='{section.anchor}'><h2>{html.escape(section.title)}</h2>")
        parts += [f"<p>{html.escape(text)}</p>" for text in section.text]
        for title, svg in section.pictures:
            image = base64.b64encode(svg.encode()).decode()
            parts.append(f"<img alt='{html.escape(title)}' src='data:image/svg+xml;base64,{image}'>")
        for table in section.tables:
            body = f"<div class=wide>{table.html()}</div>"
            title = html.escape(table.title)
            if section.folded:
                body = f"<details><summary>{title}</summary>{body}</details>"
            elif len(section.tables) > 1:
                body = f"<h3>{title}</h3>{body}"
            parts.append(body)
        parts.append("</section>")
    parts.append(
        f"<section id='definitions'><h2>Definitions</h2><p>{html.escape(DEFINITIONS)}</p></section></main></body></html>"
    )
    return "\n".join(parts)


MARKER = "\n---\n"


def to_markdown(result: dict[str, Any], sections: list[Section]) -> str:
    """The tables, without the hand-written part behind the marker."""
    parts = [
        "# Physics: charge in regions of interest\n",
        f"Written by `{result['command']}`, except for the part below the line.\n{about_lines(result)[0]}\n"
        f"{about_lines(result)[2]}.\n{about_lines(result)[3]}\n`./wcb physics` writes the same with pictures to "
        "out/physics/physics.html.\n",
    ]
    for section in sections:
        parts.append(f"## {section.title}\n")
        parts += [f"{text}\n" for text in section.text]
        for table in section.tables:
            parts.append(
                (f"### {table.title}\n\n" if len(section.tables) > 1 else "") + table.markdown() + "\n"
            )
    parts.append(f"## Definitions\n\n{DEFINITIONS}\n")
    return "\n".join(parts)


def write_markdown(result: dict[str, Any], sections: list[Section], path: Path) -> None:
    """Write the page and keep the part below its line."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    below = MARKER + old.split(MARKER, 1)[1] if MARKER in old else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_markdown(result, sections) + below, encoding="utf-8")
