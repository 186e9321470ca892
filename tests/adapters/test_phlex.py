# SPDX-License-Identifier: Apache-2.0
"""The phlex module in jobs of the program phlex: the results and the errors of wire-cell.

PHLEX_DIR names an installation of phlex, or several folders with ';' as CMAKE_PREFIX_PATH does; without it the tests
are skipped. SPNG_PREFIX names an installed tree of this project that fits phlex (docs/frameworks.md). Python needs
NumPy and pytest, so that the environment of phlex suffices: pytest --noconftest tests/adapters/test_phlex.py.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import installed

PHLEX = os.environ.get("PHLEX_DIR", "")
pytestmark = [
    pytest.mark.skipif(not PHLEX, reason="PHLEX_DIR names no installation of phlex"),
    pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake"),
]
ROOT = installed.ROOT
INPUT = {"creator": "frames", "layer": "event", "suffix": "raw"}


@dataclass(frozen=True)
class Site:
    """The built modules and files of events."""

    prefix: Path
    plugins: list[str]
    samples: np.ndarray
    channels: np.ndarray

    def event(self, folder: Path, name: str, samples: np.ndarray, channels: np.ndarray, **other: Any) -> dict:
        """Write the files of an event; return its entry of the key `events`."""
        folder.mkdir(exist_ok=True)
        samples.tofile(folder / f"{name}.samples")
        channels.astype(np.int32).tofile(folder / f"{name}.channels")
        return {
            "samples": str(folder / f"{name}.samples"),
            "channels": str(folder / f"{name}.channels"),
            "type": str(samples.dtype),
            **other,
        }

    def run(
        self, folder: Path, events: list[dict], *flags: str, **keys: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run phlex with the events; the module spng has `keys`, and its results are in `folder`."""
        module = {"cpp": "spng_phlex", "input": INPUT, "device": "cpu", "model": "none", **keys}
        job = {
            "driver": {
                "cpp": "generate_layers",
                "layers": {"event": {"parent": "job", "total": len(events)}},
            },
            "sources": {"frames": {"cpp": "spng_test_source", "events": events}},
            "modules": {"spng": module, "sink": {"cpp": "spng_test_sink", "folder": str(folder)}},
        }
        folder.mkdir(exist_ok=True)
        path = folder / "job.jsonnet"
        path.write_text(json.dumps(job, indent=4), encoding="utf-8")
        program = next(
            found
            for root in PHLEX.split(";")
            if (found := shutil.which("phlex", path=str(Path(root) / "bin"))) is not None
        )
        done = subprocess.run(
            [program, "-c", str(path), *flags],
            env=os.environ | {"PHLEX_PLUGIN_PATH": ":".join(self.plugins), "OMP_WAIT_POLICY": "passive"},
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode >= 0, done.stdout + done.stderr
        return done


@pytest.fixture(scope="module", name="site")
def fixture_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    prefix = installed.prefix(tmp_path_factory.mktemp("installed") / "prefix")
    build = tmp_path_factory.mktemp("modules")
    source = ROOT / "tests" / "adapters" / "phlex"
    for command in (
        ["cmake", "-S", str(source), "-B", str(build), f"-DCMAKE_PREFIX_PATH={prefix};{PHLEX}"],
        ["cmake", "--build", str(build)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    samples, channels = installed.default_event()
    own = sorted({str(path.parent) for path in build.glob("**/libspng_*.so")})
    return Site(prefix, own + [str(Path(root) / "lib") for root in PHLEX.split(";")], samples, channels)


@pytest.fixture(scope="module", name="event")
def fixture_event(site: Site, tmp_path_factory: pytest.TempPathFactory) -> dict:
    return site.event(tmp_path_factory.mktemp("event"), "default", site.samples, site.channels)


@pytest.fixture(scope="module", name="expected")
def fixture_expected(site: Site, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The signal of the default event without the network, from wire-cell."""
    return reference(site, tmp_path_factory.mktemp("reference"), model="none")["frame_signal_0"].tobytes()


def reference(site: Site, folder: Path, **arguments: str) -> dict[str, np.ndarray]:
    """Return the arrays that wire-cell writes for the default event, or for the file of the argument input."""
    event = ROOT / "data" / "tracks10-adc.tar.bz2"
    given = {"input": str(event), **arguments}
    done = installed.run_job(site.prefix, folder, output="output.npz", **given)
    assert done.returncode == 0, done.stderr
    with np.load(folder / "output.npz") as archive:
        return {name: archive[name] for name in archive.files}


def rejected_by_program(site: Site, folder: Path, **arguments: str) -> list[str]:
    """Return the error block of wire-cell without its position."""
    done = installed.run_job(site.prefix, folder, output="output.npz", **arguments)
    assert done.returncode > 0
    return installed.error_lines(done.stderr)


def test_gives_the_bytes_of_the_program(site: Site, event: dict, tmp_path: Path) -> None:
    """With the network, two tags and a summary."""
    done = site.run(tmp_path / "out", [event], model="default", tags=["signal", "wiener"])
    assert done.returncode == 0, done.stdout + done.stderr
    arrays = reference(site, tmp_path, tags="signal,wiener")
    for tag in ("signal", "wiener"):
        assert (tmp_path / "out" / f"0-{tag}.bin").read_bytes() == arrays[f"frame_{tag}_0"].tobytes()
    summary = np.fromfile(tmp_path / "out" / "0-wiener.summary")
    assert np.array_equal(summary, arrays["summary_wiener_0"])


def test_sparse_frames(site: Site, event: dict, expected: bytes, tmp_path: Path) -> None:
    done = site.run(tmp_path, [event], sparse=True)
    assert done.returncode == 0, done.stdout + done.stderr
    dense = np.zeros(site.samples.shape, dtype=np.float32)
    values = np.fromfile(tmp_path / "0-signal.bin", dtype=np.float32)
    for row, begin, end in np.fromfile(tmp_path / "0-signal.runs", dtype=np.int32).reshape(-1, 3):
        dense[row, begin:end] = values[: end - begin]
        values = values[end - begin :]
    assert dense.tobytes() == expected and len(values) == 0


@pytest.mark.parametrize(
    ("threads", "keys"),
    [
        ("1", {}),
        ("4", {}),
        ("4", {"concurrency": 4, "queue_size": 1}),
    ],
    ids=str,
)
def test_many_events(
    site: Site, event: dict, expected: bytes, tmp_path: Path, threads: str, keys: dict
) -> None:
    """On one thread, and with more calls than frames in work."""
    done = site.run(tmp_path, [event] * 4, "-j", threads, **keys)
    assert done.returncode == 0, done.stdout + done.stderr
    for ident in range(4):
        assert (tmp_path / f"{ident}-signal.bin").read_bytes() == expected


def test_a_bad_event_ends_the_job_with_the_block_of_the_program(
    site: Site, event: dict, tmp_path: Path
) -> None:
    """phlex stops at an exception; the module names the data cell."""
    channels = site.channels.copy()
    channels[0] = 99999
    wrong = site.event(tmp_path / "event", "wrong", site.samples, channels)
    done = site.run(tmp_path / "out", [event, wrong])
    assert done.returncode == 1
    assert "event:1]" in done.stderr
    file = installed.write_frame(tmp_path / "wrong.npz", site.samples, channels)
    assert installed.error_lines(done.stderr) == rejected_by_program(
        site, tmp_path, input=str(file), model="none"
    )


def test_a_bad_event_is_kept_as_product(site: Site, event: dict, expected: bytes, tmp_path: Path) -> None:
    """The events around it have their results, whatever is wrong with it."""
    channels = site.channels.copy()
    channels[0] = 99999
    wrong = [
        site.event(tmp_path / "event", "foreign", site.samples, channels),
        site.event(tmp_path / "event", "period", site.samples, site.channels, tick_ns=512.0),
        site.event(tmp_path / "event", "shape", site.samples, site.channels, rows=1280),
    ]
    done = site.run(tmp_path / "out", [event, *wrong, event], on_error="keep")
    assert done.returncode == 0, done.stdout + done.stderr
    outputs = [(tmp_path / "out" / f"{ident}.txt").read_text(encoding="utf-8") for ident in range(5)]
    assert outputs[0] == outputs[4] == ""
    assert "error: channels that do not belong to the anode" in outputs[1]
    assert "error: the sampling period of the frame is not that of the detector" in outputs[2]
    assert "error: channel ids and samples do not fit together" in outputs[3]
    for ident in (0, 4):
        assert (tmp_path / "out" / f"{ident}-signal.bin").read_bytes() == expected


def test_rows_that_are_not_whole(site: Site, tmp_path: Path) -> None:
    wrong = site.event(tmp_path / "event", "short", site.samples.ravel()[:-1], site.channels)
    done = site.run(tmp_path / "out", [wrong])
    assert done.returncode == 1
    assert "error: the samples of the frame do not fill its rows" in done.stderr


def test_nan_masks_its_channel_as_from_a_file(site: Site, tmp_path: Path) -> None:
    samples = site.samples.astype(np.float32)
    samples[5, 17] = np.nan
    event = site.event(tmp_path / "event", "nan", samples, site.channels)
    done = site.run(tmp_path / "out", [event])
    assert done.returncode == 0, done.stdout + done.stderr
    file = installed.write_frame(tmp_path / "nan.npz", samples, site.channels)
    arrays = reference(site, tmp_path, input=str(file), model="none")
    assert (tmp_path / "out" / "0-signal.bin").read_bytes() == arrays["frame_signal_0"].tobytes()
    masks = (tmp_path / "out" / "0.txt").read_text(encoding="utf-8").splitlines()
    assert masks == [
        f"nan {channel} {begin} {end}" for channel, begin, end in arrays["chanmask_nan_0"].tolist()
    ]
    assert "[warn]" in done.stderr  # the log of the library


def test_a_missing_model(site: Site, event: dict, tmp_path: Path) -> None:
    done = site.run(tmp_path / "out", [event], model="absent.ts")
    assert done.returncode == 1
    data = ROOT / "data" / "tracks10-adc.tar.bz2"
    assert installed.error_lines(done.stderr) == rejected_by_program(
        site, tmp_path, input=str(data), model="absent.ts"
    )


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"detnam": "pdhd"}, "did you mean 'detname'?"),
        ({"on_error": "kep"}, "did you mean 'keep'?"),
        ({"detname": "pdhf"}, "unknown detector 'pdhf'; known: "),
        ({"arguments": {"nois_filter": "lines"}}, "did you mean 'noise_filter'?"),
        ({"arguments": {"engine": "TbbFlow"}}, "expected: engine=Pgrapher"),
        ({"tpcid": "zero"}, "tpcid"),
    ],
    ids=str,
)
def test_wrong_keys(site: Site, event: dict, tmp_path: Path, keys: dict, text: str) -> None:
    done = site.run(tmp_path, [event], **keys)
    assert done.returncode == 1
    assert text in done.stderr
