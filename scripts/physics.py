"""Figures of merit of the main job against simulated truth, and the page docs/benchmarks/physics.md.

    .venv/bin/python scripts/physics.py [--page docs/benchmarks/physics.md]

Events of anode 0 of ProtoDUNE-HD: the default event (ten tracks, simulated by the field's own toolkit), and events of
tests/reference/simulate.py, with many tracks and with none. Definitions stand in tests/reference/metrics.py. The
wire-cell of the last build is used. The exit status says that all ran, not that the figures are good: tests do that.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wcblib.checkout import ROOT, build_folder, fail, say

sys.path.insert(0, str(ROOT))
# pylint: disable=wrong-import-position
from tests.reference import frames, metrics, simulate  # noqa: E402
from tests.reference.chain import VIEWS, Chain  # noqa: E402
from tests.support.wire_cell import description, read_arrays  # noqa: E402

DATA = ROOT / "data"
MANY, SEED = 60, 60  # tracks of the busy event, and its seed, on which nothing was chosen
BARS = "charge within 3 % on W, at least 0.80 on U and V, purity at least 0.6 (ten tracks); W within 5 % (sixty tracks)"
# Of the field's traditional chain on the default event: charge, efficiency, purity on U, V, W, with the same
# definitions (output of OmnibusSigProc, version 0.35.0-1069-g2ddac97f).
TRADITIONAL = ((0.942, 0.97, 0.59), (0.824, 0.91, 0.59), (1.015, 1.00, 0.67))


@dataclass(frozen=True)
class Event:
    """ADC counts as a frame file and the truth of each view, (channel, tick) electrons."""

    name: str
    adc: Path
    truth: list[np.ndarray]


def default_event(chain: Chain) -> Event:
    """The one in data/."""
    return Event("ten tracks (default event)", DATA / "tracks10-adc.tar.bz2",
                 chain.rows(frames.read_frame(DATA / "tracks10-truth.npz")))


def simulated_event(chain: Chain, noise: Path, tracks: int, folder: Path) -> Event:
    """One of our own simulation."""
    lines = simulate.random_tracks(np.random.default_rng(SEED), tracks) if tracks else np.zeros((0, 2, 3))
    counts, truth = simulate.event(chain, noise, lines, SEED)
    path = folder / f"adc-{tracks}.npz"
    samples = np.concatenate(counts).astype(np.int16)
    frames.write_frame(path, frames.Frame(samples, np.concatenate(chain.order), simulate.FRAME_START_US * 1000,
                                          simulate.TICK_US * 1000))
    return Event(f"{tracks} tracks, simulated here" if tracks else "noise alone", path, truth)


def signals(program: Path, chain: Chain, event: Event, folder: Path) -> tuple[list[np.ndarray], dict]:
    """What the main job makes of the event: three views in electrons, and what it says about itself."""
    output, timing = folder / "signal.npz", folder / "timing.json"
    command = [str(program), "-c", "cfg/pipeline.jsonnet", "-A", f"input={event.adc}", "-A", f"output={output}",
               "-A", "device=cpu", "--timing", str(timing)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        fail(f"the main job failed with status {done.returncode}\n{done.stderr}", 1)
    (name,) = (name for name in read_arrays(output) if name.startswith("frame_"))
    frame = frames.read_frame(output, tag=name.split("_")[1])
    return chain.rows(frame), json.loads(timing.read_text(encoding="utf-8"))


def rows_of(event: Event, found: list[np.ndarray]) -> list[list[str]]:
    """Figures of each view; of noise only what is kept of it."""
    rows = []
    for view, signal, truth in zip(VIEWS, found, event.truth):
        kept = metrics.any_tick(signal != 0).mean()
        if not truth.any():
            rows.append([event.name, view, "", "", "", "", "", f"{kept:.1e}"])
            continue
        merit = metrics.merit(signal, truth)
        channels = np.median(metrics.channel_ratios(signal, truth))
        rows.append([event.name, view, f"{merit.charge:.3f}", f"{channels:.3f}", f"{merit.efficiency:.3f}",
                     f"{merit.purity:.3f}", f"{metrics.best_shift(signal, truth):+.2f}", f"{kept:.1e}"])
    return rows


HEADS = ["event", "view", "charge", "channels", "efficiency", "purity", "late by [ticks]", "pixels kept"]


def markdown(rows: list[list[str]]) -> str:
    """A table."""
    lines = [HEADS, ["---"] * 2 + ["---:"] * (len(HEADS) - 2), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page(rows: list[list[str]], about: dict) -> str:
    """docs/benchmarks/physics.md but for the part behind the marker, which people write."""
    traditional = [["ten tracks, traditional chain", view, f"{c:.3f}", "", f"{e:.2f}", f"{p:.2f}", "", ""]
                   for view, (c, e, p) in zip(VIEWS, TRADITIONAL)]
    return f"""# Physics: charge with regions of interest, `model=none`

Written by `.venv/bin/python scripts/physics.py --page docs/benchmarks/physics.md`, but for the part below the line.
{about['time']}, commit {about['program']['commit']}, {about['machine']['cpu']}, {about['run']['device']},
{about['run']['precision']}. Bars: {BARS}. No factor is fitted to any data.

{markdown(rows + traditional)}

charge: output over true charge, all ticks. channels: the median over channels of the same ratio. efficiency: true
pixels (4 ticks, above 500 electrons) that are inside a region. purity: region pixels that are true. late by: peak of the
cross-correlation with the truth. pixels kept: share of all pixels inside a region.
"""


MARKER = "\n---\n"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=Path, help="also write this page; what stands below its line is kept")
    parser.add_argument("--build", type=Path, metavar="FOLDER",
                        help="build folder (default: that of the last ./wcb configure)")
    options = parser.parse_args()
    build = options.build.resolve() if options.build else build_folder()
    if build is None or not (build / "bin" / "wire-cell").exists():
        fail("no wire-cell: run ./wcb first, or name its folder with --build")

    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chain = Chain(description("protodunehd-wires-larsoft-v1", folder), description("dune-garfield-1d565", folder))
        noise = description("protodunehd-noise-spectra-14mVfC-v1", folder)
        for event in (default_event(chain), simulated_event(chain, noise, MANY, folder),
                      simulated_event(chain, noise, 0, folder)):
            found, about = signals(build / "bin" / "wire-cell", chain, event, folder)
            rows += rows_of(event, found)
            say("\n".join("  ".join(word.rjust(15) for word in row[1:]) + "  " + row[0] for row in rows[-len(VIEWS):]))
    say("columns: " + ", ".join(HEADS[1:]))
    if options.page is not None:
        path = options.page if options.page.is_absolute() else ROOT / options.page
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        below = MARKER + old.split(MARKER, 1)[1] if MARKER in old else ""
        path.write_text(page(rows, about) + below, encoding="utf-8")
        say(f"Written: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
