# SPDX-License-Identifier: Apache-2.0
"""./wcb demo: from a fresh clone to signals, a timing table, pictures, and pages of the run and of the first event.

Does the missing steps of set-up, configure (with NVTX) and build, then runs the main job on five copies of the event in
data/: the first event of a run contains its start-up, and an uncompressed file leaves the processor to the nodes.
"""

from __future__ import annotations

import sys

from . import setup
from .checkout import OUT, ROOT, VENV, build, run, say

ADC = ROOT / "data" / "tracks10-adc.tar.bz2"
TRUTH = ROOT / "data" / "tracks10-truth.npz"
FOLDER = OUT / "demo"
EVENTS = 5
INPUT = FOLDER / f"adc-x{EVENTS}.tar"
SIGNAL = FOLDER / "tracks10-signal.npz"
TIMING = FOLDER / "timing.json"
PROFILE = FOLDER / "run.sqlite"
REPORT = FOLDER / "report.html"
PAGE = FOLDER / "frames.html"
PICTURES = {
    **{f"plane-{plane.lower()}.png": ["--plane", plane] for plane in "UVW"},
    "waveforms.png": ["--channel", "auto"],
}


def main() -> int:
    """Run the command."""
    parser = setup.make_parser("demo", __doc__)
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N (default auto)")
    setup.add_options(parser)
    options = parser.parse_args()

    say("1/5 Set-up")
    setup.ensure(options.mode, options.no_system)
    say("\n2/5 Build")
    built = build("--notests")

    say("\n3/5 Run")
    FOLDER.mkdir(parents=True, exist_ok=True)
    python = str(VENV / "bin" / "python")
    status = run([python, "-m", "bench.frames", str(ADC), str(EVENTS), str(FOLDER)])
    if status:
        return status
    command = [str(built / "bin" / "wire-cell"), "-c", "cfg/pipeline.jsonnet", "-A", f"input={INPUT}"]
    command += ["-A", f"output={SIGNAL}", "-A", f"device={options.device}", "--timing", str(TIMING)]
    recorder = built / "lib" / "libSpngRecorder.so"
    if recorder.exists():
        command += ["--record", str(PROFILE)]
    say("  " + " ".join(command))
    status = run(command)
    if status:
        return status

    say("\n4/5 Pictures")
    frame_tool = str(VENV / "bin" / "wirecell-frame")
    frames = ["--adc", str(INPUT), "--signal", str(SIGNAL), "--truth", str(TRUTH)]
    for picture, chosen in PICTURES.items():
        status = run([frame_tool, "plot", *frames, *chosen, "-o", str(FOLDER / picture)])
        if status:
            return status

    say("\n5/5 Pages")
    status = run([frame_tool, "show", *frames, "--events", "1", "-o", str(PAGE)])
    if status == 0 and recorder.exists():
        status = run([str(VENV / "bin" / "wirecell-profile"), "html", str(PROFILE), "-o", str(REPORT)])
    if status:
        return status
    say(
        "\nNext: ./wcb test; or your own frame:\n"
        "  build/bin/wire-cell -c cfg/pipeline.jsonnet -A input=FRAME.npz -A output=SIGNAL.npz"
    )
    say(f"\nSignals   {SIGNAL}\nTiming    {TIMING}\nPictures  {FOLDER}/{', '.join(PICTURES)}")
    if recorder.exists():
        say(f"Recording {PROFILE}\nOpen in a browser: the run, with nodes, timeline and memory\n  {REPORT}")
    else:
        say("No report of the run: this build has no NVTX (./wcb configure --with-nvtx, then again)")
    say(f"Open in a browser: the first event, with ADC, signal and truth to zoom\n  {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
