# SPDX-License-Identifier: Apache-2.0
"""Every event is compared with the detector's files, not only the first ones: warnings belong to their event."""

from __future__ import annotations

import numpy as np

from tests.support import wire_cell
from tests.support.input_site import NOISE_COUNTS, Site, W, fixture_site  # noqa: F401

pytestmark = wire_cell.needs_program

GOOD = 9  # the comparisons of a job end after eight events at the latest


def noisy(site: Site) -> np.ndarray:
    return site.samples(noise=3 * NOISE_COUNTS)


def inverted(site: Site) -> np.ndarray:
    return site.samples(lambda plane: -site.anode.kernel(plane))


def exchanged(site: Site) -> np.ndarray:
    """The planes V and W collect and induce in place of each other."""
    return site.samples(lambda plane: site.anode.kernel({0: 0, 1: 2, 2: 1}[plane]))


def weak(site: Site) -> np.ndarray:
    """Scaled down, as data of another gain."""
    return (0.3 * (site.samples().astype(np.float32) - 8000) + 8000).astype(np.int16)


KINDS = {
    "true charge": (lambda site: site.charge(), "polarity of the pulses differs"),
    "three times the noise": (noisy, "the noise differs"),
    "inverted": (inverted, "polarity of the pulses differs"),
    "planes exchanged": (exchanged, "polarity of the pulses differs"),
    "another gain": (weak, "the noise differs"),
    "half of the channels dead": (
        lambda site: site.samples() * (site.anode.channels % 2)[:, None],
        "unusable",
    ),
}


def test_late_events_that_do_not_fit_are_named(site: Site) -> None:  # noqa: F811
    """After good events: each kind in the log once, with its event, and each event in its own note; the others have none."""
    good = site.samples()
    bad = [make(site).astype(np.int16) for make, _ in KINDS.values()]
    events = [good] * GOOD + [event for kind in bad for event in (kind, good)]
    stderr, report = site.run_events(events)
    assert report["doubtful_events"] == len(KINDS) and report["events"] == len(events)
    assert len(report["warnings"]) == stderr.count(" W [ ")
    assert f"the polarity of the pulses differs from the response (U of anode 0, event {GOOD})" in stderr
    assert stderr.count("(U of anode 0, event") == 3, "polarity, noise and sign, once for each plane"
    words = [words for _, words in KINDS.values()]
    for ident in range(len(events)):
        warnings = site.notes(ident).get("warnings", "")
        if ident < GOOD or (ident - GOOD) % 2:
            assert warnings == "", f"event {ident}"
        else:
            assert words[(ident - GOOD) // 2] in warnings, f"event {ident}: {warnings}"
            assert all(f"event {ident})" in line for line in warnings.splitlines())


def test_strict_fails_the_event_and_no_other(site: Site) -> None:  # noqa: F811
    """With --on-error skip the good events are written."""
    good = site.samples()
    stderr, _ = site.run_events([good, noisy(site), good], "--strict", "--on-error", "skip")
    assert "event 1" in stderr
    idents = {name.rsplit("_", 1)[1] for name in site.output() if name.startswith("frame_")}
    assert idents == {"0", "2"}


def test_a_known_misfit_is_logged_once_and_noted_in_each_event(site: Site) -> None:  # noqa: F811
    """All events have too much noise."""
    stderr, report = site.run_events([noisy(site)] * 4)
    assert len(report["warnings"]) == stderr.count("the noise differs") == 3
    assert report["doubtful_events"] == 4
    for ident in range(4):
        assert site.notes(ident)["warnings"].count("the noise differs") == 3


def test_events_that_fit_have_no_warnings(site: Site) -> None:  # noqa: F811
    """Different noise in each, and one without pulses."""
    events = [site.samples(seed=seed) for seed in range(6)]
    events.append(site.samples(lambda plane: 0 * site.anode.kernel(plane), seed=7))
    stderr, report = site.run_events(events, "--strict")
    assert stderr == "" and report["doubtful_events"] == 0
    assert all("warnings" not in site.notes(ident) for ident in range(len(events)))
    assert site.output()["frame_signal_0"][site.rows(W)].sum() > 0
