"""The page of physics figures: one HTML file with its pictures inside, and its tables as Markdown for docs/."""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import plots, tables
from .settings import SEED_FACTORS
from .tables import Table

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1f2933; background: #fff; margin: 0; }
main { max-width: 1120px; margin: 0 auto; padding: 24px; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 19px; margin: 40px 0 6px; border-top: 1px solid #e4e7eb; padding-top: 20px; }
h3 { font-size: 15px; margin: 20px 0 6px; } p { margin: 6px 0; max-width: 90ch; } .about { color: #616e7c; font-size: 13px; }
nav { font-size: 13px; margin: 14px 0; } nav a { margin-right: 14px; color: #1d4e89; text-decoration: none; white-space: nowrap; }
table { border-collapse: collapse; font-size: 12.5px; margin: 10px 0; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 9px; text-align: right; border-bottom: 1px solid #e4e7eb; } th { background: #f5f7fa; font-weight: 600; }
th.word, td.word { text-align: left; } tr.met td:nth-last-child(2) { color: #15803d; } tr.short td:nth-last-child(2) { color: #b91c1c; font-weight: 600; }
.wide { overflow-x: auto; } img { width: 100%; height: auto; } details { margin: 8px 0; } summary { cursor: pointer; color: #1d4e89; }
"""

DEFINITIONS = """pixel: four consecutive ticks of a channel. Region pixel: at least one of its ticks has a non-zero output. True
pixel: at least one of its ticks has a true charge above 500 electrons. Charge bias: total output / total true charge - 1, over
all channels and ticks of a view. Median channel and resolution: median and half the central 68 % of the same ratio over channels
with more than 5000 electrons (line scan: standard deviation over the inner channels of the line). Efficiency: true pixels that
are region pixels. Purity: region pixels that are true. Late by: peak of the cross-correlation with the truth. Errors are one
standard deviation, from the spread between events."""


@dataclass
class Section:
    """A part of the page: text, pictures (title, SVG), tables; `folded` tables are closed on the page."""

    anchor: str
    title: str
    text: list[str]
    pictures: list[tuple[str, str]] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    folded: bool = False


def sections_of(result: dict[str, Any], traditional: dict[str, Any]) -> list[Section]:
    """All sections, in order. One whose events were not simulated says so."""
    figures = result["figures"]
    muons = [sample for sample in result["samples"] if sample["name"].startswith("muons-")]
    compared = [name for name in figures[muons[0]["name"]] if not name.endswith("-fast")] if muons else []
    network = "" if result["model"] else " There is no trained network here: figures of DNNROI are left out."
    found = [Section("bars", "What is promised, and what is measured",
                     [f"For {result['variants'].get(result['main_variant'], result['main_variant'])}.{network}"],
                     tables=[tables.bars_table(result)])]

    activity = Section("activity", "Cosmic-like events, quiet to busy",
                       ["Isotropic muons with noise, before and after DNNROI. Green: within the bar."])
    if muons:
        activity.pictures.append(("Charge bias, resolution, efficiency and purity over the number of muons",
                                  plots.activity(result, compared)))
        activity.tables = [tables.sample_table(result, sample["name"], sample["label"], compared) for sample in muons]
        activity.folded = True
    found.append(activity)

    lines = Section("lines", "Line scan", [
        "Single lines of 5000 electrons/mm by their angle to the pitch direction of the view; 90 degrees would be along the "
        "drift. Mean over noise seeds. Perfect regions are taken from the truth (true pixels above 100 electrons, two ticks "
        "wider): what is left then is not the fault of what finds the regions. The traditional chain and perfect regions on "
        "the field's own events are those of data/osp-linescan.json, one noisy line for each point."])
    if result["lines"]:
        lines.pictures.append(("Bias, resolution, efficiency and purity over the angle", plots.lines(result, traditional)))
        views = list(next(iter(result["lines"].values())))
        lines.tables, lines.folded = [tables.line_table(result, traditional, view) for view in views], True
    found.append(lines)

    coincidence = Section("coincidence", "With and without MP2 and MP3", [
        "What the coincidence of the two other views adds. Rule without: every seed counts and no region goes on to the wires "
        "beside. DNNROI without: the trained network with empty MP2 and MP3, which it was not trained for; it says how much "
        "the network leans on them, not what one trained without them would do."])
    if muons:
        pairs = [name for name in compared if name.split("-")[0] in ("rule", "model")]
        coincidence.tables = [tables.sample_table(result, sample["name"], sample["label"], pairs)
                              for sample in (muons[0], muons[-1])[:len(muons)]]
        coincidence.folded = True
    found.append(coincidence)

    noise = Section("noise", "Noise alone", ["Everything that is kept is false."])
    if "noise" in figures:
        noise.pictures.append(("Share of pixels kept of noise", plots.noise(result)))
        noise.tables = [tables.noise_table(result)]
    found.append(noise)

    seeds = [f"rule-seed-{factor:g}" for factor in SEED_FACTORS]
    curve = Section("roc", "Efficiency against purity over the threshold", [
        "DNNROI: over the threshold on the network's output, 0.01 to 0.99; the diamond is 0.5, at which the chain cuts. Rule: "
        "over the threshold of its seeds, in units of the noise, written beside the points." + network])
    if "roc" in figures or result["roc"]:
        ordered = sorted(["rule", *seeds], key=lambda name: 4.0 if name == "rule" else float(name.rsplit("-", 1)[1]))
        curve.pictures.append(("Efficiency against purity", plots.roc(result, ordered)))
    found.append(curve)

    fast = Section("fast", "precision=fast", ["The same events with precision=fast; on the CPU and on CUDA it may differ in "
                                              "what it changes (docs/user-guide.md)."])
    if muons:
        fast.tables = [tables.fast_table(result)]
    found.append(fast)

    dead = Section("dead", "Dead channels", [
        "The same events with channels at a constant value that the mask `bad` names, chosen at random; figures of the "
        "channels that are alive. With dead_is_hit=true a dead wire counts as hit when other views ask for coincidence."])
    if "dead" in figures:
        label = next(sample["label"] for sample in result["samples"] if sample["name"] == "dead")
        dead.tables = [tables.sample_table(result, "dead", label)]
    found.append(dead)

    default = Section("default-event", "Default event", [
        "Ten tracks simulated by the field's own toolkit (data/README.md), and what its traditional signal processing makes of "
        "them. Nothing was tuned on it."])
    if "default_event" in result:
        default.tables = [tables.default_event_table(result, traditional)]
    found.append(default)
    for place, comparison in enumerate(result.get("comparisons", [])):
        files = ", ".join(path for path in comparison["files"].values() if path)
        found.append(Section(f"comparison-{place + 1}", f"Comparison with {comparison['label']}",
                             [f"Tag {comparison['other']['tag']}; files: {files}."],
                             tables=[tables.comparison_table(result, comparison)]))
    for section in found:
        if not section.tables and not section.pictures:
            section.text.append("Not run.")
    return found


def about_lines(result: dict[str, Any]) -> list[str]:
    """Where the figures come from."""
    events = "; ".join(f"{sample['label']}: {sample['events']} (seeds {sample['seeds'][0]} to {sample['seeds'][1]})"
                       for sample in result["samples"])
    return [f"{result['time']}, commit {result['program']['commit']}, {result['machine']['cpu']}, {result['cores']} cores, "
            f"{result['precision']}, {result['wall_seconds']:.0f} s in all.",
            f"Command: {result['command']}", f"Model: {result['model'] or 'none'}", f"Events: {events or 'none'}."]


def to_html(result: dict[str, Any], sections: list[Section]) -> str:
    """The whole page, without anything from outside."""
    parts = [f"<!doctype html><html lang=en><head><meta charset=utf-8><title>SPNG physics</title><style>{STYLE}</style></head>"
             "<body><main><h1>SPNG: physics figures</h1>"]
    parts += [f"<p class=about>{html.escape(line)}</p>" for line in about_lines(result)]
    parts.append("<nav>" + "".join(f"<a href='#{part.anchor}'>{html.escape(part.title)}</a>" for part in sections) + "</nav>")
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
    parts.append(f"<section id='definitions'><h2>Definitions</h2><p>{html.escape(DEFINITIONS)}</p></section></main></body></html>")
    return "\n".join(parts)


MARKER = "\n---\n"


def to_markdown(result: dict[str, Any], sections: list[Section]) -> str:
    """The tables, without the part behind the marker, which people write."""
    parts = ["# Physics: charge with regions of interest\n",
             f"Written by `{result['command']}`, but for the part below the line. {about_lines(result)[0]}\n"
             f"{about_lines(result)[2]}. {about_lines(result)[3]} The same with pictures: `./wcb physics` writes "
             "out/physics/physics.html.\n"]
    for section in sections:
        parts.append(f"## {section.title}\n")
        parts += [f"{text}\n" for text in section.text]
        for table in section.tables:
            parts.append((f"### {table.title}\n\n" if len(section.tables) > 1 else "") + table.markdown() + "\n")
    parts.append(f"## Definitions\n\n{DEFINITIONS}\n")
    return "\n".join(parts)


def write_markdown(result: dict[str, Any], sections: list[Section], path: Path) -> None:
    """Write the page; what stands below its line is kept."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    below = MARKER + old.split(MARKER, 1)[1] if MARKER in old else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_markdown(result, sections) + below, encoding="utf-8")
