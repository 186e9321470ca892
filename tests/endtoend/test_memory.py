# SPDX-License-Identifier: Apache-2.0
"""The memory plan, budgets and devices of whole jobs, on the CPU."""

from __future__ import annotations

import itertools
import json
import re
import resource
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support import wire_cell
from tests.support.small_site import Site

pytestmark = wire_cell.needs_program

COPY = wire_cell.ROOT / "tests" / "app" / "jobs" / "copy.jsonnet"

FIRST_TICK, TICKS = 900, 1500  # of the default event, where tracks cross
EVENTS = 4
SMALL_TICKS = 600
# The detector of the main job with a readout of TICKS, by which memory is planned.
READOUT = (
    "--tla-code",
    f"detname=(import 'detectors/pdhd.jsonnet') + {{ readout+: {{ nticks: {TICKS} }} }}",
)


@pytest.fixture(name="adc", scope="module")
def fixture_adc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six events of TICKS, each moved by some ticks. For jobs with READOUT."""
    samples, channels, _ = wire_cell.default_adc()
    arrays: wire_cell.Arrays = {}
    for ident in range(6):
        first = FIRST_TICK + 100 * ident
        arrays.update(wire_cell.event(samples[:, first : first + TICKS], channels, ident))
    return wire_cell.write_arrays(tmp_path_factory.mktemp("adc") / "adc.tar", arrays)


@pytest.fixture(name="site", scope="module")
def fixture_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The small detector, for tests that compare no amounts of memory, and small.tar: four events with a track each."""
    site = Site.at(tmp_path_factory.mktemp("small"))
    wire_cell.write_arrays(site.folder / "small.tar", site.busy_frames(EVENTS, SMALL_TICKS))
    return site


def timed(folder: Path, *flags: str, **arguments: Any) -> dict[str, Any]:
    """Run the main job; what --timing says. Its output is output.tar."""
    wire_cell.job(folder, "--timing", "timing.json", *flags, output="output.tar", **arguments)
    return json.loads((folder / "timing.json").read_text(encoding="utf-8"))


class TestPlan:
    """Compare the plan that is printed before the run with the memory that the run takes."""

    @pytest.mark.parametrize(
        "arguments",
        [
            {"model": "none"},
            {"model": "default"},
            {"model": "none", "batch": "false"},
            {"model": "default", "batch": "false"},
            {"model": "none", "tags": "signal,error,decon_charge,wiener"},
        ],
    )
    def test_one_event_at_a_time(self, adc: Path, tmp_path: Path, arguments: dict[str, str]) -> None:
        report = timed(tmp_path, *READOUT, input=adc, nevents=2, **arguments)
        planned = report["settings"]["memory"]["total_bytes"]
        measured = report["run"]["host_tensor_peak_bytes"]
        assert measured <= planned <= 1.3 * measured, (planned / 1e6, measured / 1e6)

    @pytest.mark.parametrize(
        ("arguments", "graphs"),
        [
            ({"cuda_graph": "off"}, "308 MB an event x 2 in flight + 74.9 MB"),
            ({}, "x 2 in flight + 308 MB x 8 CUDA graphs + 74.9 MB"),
            ({"memory_budget": "900MB"}, "x 2 in flight + 74.9 MB"),
            (
                {"cuda_graph": "on", "memory_budget": "900MB"},
                "x 1 in flight + 308 MB x 1 CUDA graph + 74.9 MB",
            ),
            ({"cuda_graph": "on"}, "x 2 in flight + 308 MB x 8 CUDA graphs + 74.9 MB"),
            ({"cuda_graph": "on", "events_in_flight": 1}, "x 1 in flight + 308 MB x 4 CUDA graphs + 74.9 MB"),
            (
                {"cuda_graph": "on", "memory_budget": "2GB"},
                "x 2 in flight + 308 MB x 3 CUDA graphs + 74.9 MB",
            ),
            ({"cuda_graph": "on", "memory_budget": "500MB"}, "x 1 in flight + 74.9 MB"),
            ({"cuda_graph": "on", "device": "cpu"}, "x 2 in flight + 74.9 MB"),
        ],
    )
    def test_graphs_of_a_device_are_counted(self, arguments: dict[str, str], graphs: str) -> None:
        asked = {"device": "cuda", "engine": "TbbFlow", "output": "x.npz"} | arguments
        flags = wire_cell.settings(**asked)
        done = wire_cell.run("-c", "pipeline.jsonnet", "--check-configuration", *flags)
        assert graphs in done.stdout, done.stdout

    @pytest.mark.parametrize("model", ["none", "default"])
    def test_two_events_in_flight(
        self, adc: Path, expected: tuple[bytes, dict[str, Any]], tmp_path: Path, model: str
    ) -> None:
        """The plan is for the case that both are where they take most."""
        report = expected[1] if model == "default" else in_flight(tmp_path, adc, model=model)
        memory = report["settings"]["memory"]
        measured = report["run"]["host_tensor_peak_bytes"]
        assert memory["events_in_flight"] == 2
        assert measured <= memory["total_bytes"] <= 1.3 * measured, (
            memory["total_bytes"] / 1e6,
            measured / 1e6,
        )

    def test_features_are_those_of_the_network(self, tmp_path: Path) -> None:
        """The stand-in takes three features and the default network four, of 2 x 800 x 1500 samples of 4 bytes."""
        planned = {}
        for model in ("standin", "default"):
            done = wire_cell.run(
                "--check-configuration", "-c", wire_cell.PIPELINE, "-A", f"model={model}", folder=tmp_path
            )
            planned[model] = float(re.search(r"network ([0-9.]+) MB", done.stdout)[1])
        assert planned["default"] - planned["standin"] == pytest.approx(9.6, abs=1.0), planned

    def test_check_tells_without_running(self, tmp_path: Path) -> None:
        done = wire_cell.run(
            "--check-configuration",
            "-c",
            wire_cell.PIPELINE,
            *wire_cell.settings("device=cpu,cpu", "engine=TbbFlow"),
            folder=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines[1].startswith("pdhd anode 0, "), lines
        assert lines[2].startswith("memory: one event of 6000 ticks takes "), lines
        assert "input " in lines[2] and "network " in lines[2]
        assert " x 2 in flight " in lines[3] and "on each of 2 devices; budget none" in lines[3]
        assert lines[4].startswith(
            "memory: of a long readout each readout window of 18000 ticks is an event: "
        ), lines

    def test_windows_of_a_long_readout(self, tmp_path: Path) -> None:
        """A readout window of two frames is planned for as an event of twice the ticks."""
        samples, channels, _ = wire_cell.default_adc()
        frames: wire_cell.Arrays = {}
        for ident in range(3):
            piece = samples[:, TICKS * ident : TICKS * (ident + 1)]
            frames.update(wire_cell.event(piece, channels, ident, start_ns=500.0 * TICKS * ident))
        series = wire_cell.write_arrays(tmp_path / "series.tar", frames)
        window = f"{2 * TICKS - 1000},252,748"
        report = timed(tmp_path, *READOUT, input=series, series="true", window=window, model="none")
        memory = report["settings"]["memory"]
        assert (report["run"]["events"], memory["ticks"], memory["window_ticks"]) == (2, TICKS, 2 * TICKS)
        assert 1.9 < memory["window_event_bytes"] / memory["event_bytes"] < 2.1
        planned = memory["constant_bytes"] + 2 * (memory["event_bytes"] + memory["file_bytes"])
        measured = report["run"]["host_tensor_peak_bytes"]
        assert 0.8 * planned <= measured <= 1.1 * planned, (planned / 1e6, measured / 1e6)


def in_flight(folder: Path, adc: Path, **arguments: Any) -> dict[str, Any]:
    """Run all events on the parallel engine, which has two in flight; what --timing says."""
    return timed(folder, *READOUT, "-t", "2", input=adc, engine="TbbFlow", threads=1, **arguments)


@pytest.fixture(name="expected", scope="module")
def fixture_expected(adc: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, Any]]:
    """Output of the events without a budget, two in flight, and what --timing says."""
    folder = tmp_path_factory.mktemp("expected")
    report = in_flight(folder, adc)
    return (folder / "output.tar").read_bytes(), report


class TestBudget:
    """Less memory, same bytes."""

    def test_fewer_events_in_flight(
        self, adc: Path, expected: tuple[bytes, dict[str, Any]], tmp_path: Path
    ) -> None:
        """Three quarters are enough for one event instead of two."""
        output, plan = expected[0], expected[1]["settings"]["memory"]
        budget = int(0.75 * plan["total_bytes"])
        report = in_flight(tmp_path, adc, memory_budget=budget)
        memory = report["settings"]["memory"]
        assert memory["events_in_flight"] == 1 and report["settings"]["events_in_flight"] == 1
        assert memory["network_budget_bytes"] is None and memory["budget_bytes"] == budget
        assert report["run"]["host_tensor_peak_bytes"] <= budget
        assert (tmp_path / "output.tar").read_bytes() == output

    def test_windows_of_the_network(self, tmp_path: Path) -> None:
        """10 MB less than one event takes. An event of 6000 ticks: the network alone takes 67 MB for a few ticks."""
        whole = timed(tmp_path, threads=1)
        output, plan = (tmp_path / "output.tar").read_bytes(), whole["settings"]["memory"]
        budget = plan["event_bytes"] + plan["constant_bytes"] + plan["file_bytes"] - 10_000_000
        report = timed(tmp_path, threads=1, memory_budget=budget)
        assert 0 < report["settings"]["memory"]["network_budget_bytes"] < 100_000_000
        forwards = next(node for node in report["nodes"] if node["type"] == "SPNGTorchService")
        assert forwards["leaf_operations"] > 200  # several forwards; 67 operations are one
        assert report["run"]["host_tensor_peak_bytes"] <= budget
        assert report["run"]["host_tensor_peak_bytes"] < whole["run"]["host_tensor_peak_bytes"]
        assert (tmp_path / "output.tar").read_bytes() == output

    def test_too_small(self, tmp_path: Path) -> None:
        block = wire_cell.rejected(
            "-c",
            wire_cell.PIPELINE,
            *wire_cell.settings("device=cpu", "memory_budget=50MB"),
            folder=tmp_path,
            status=2,
        )
        assert "the memory budget is too small for one event" in block
        assert "seen:     50.0 MB" in block and "expected: at least " in block

    @pytest.mark.parametrize("budget", ["much", "-1", "4XB", "1e30TB"])
    def test_no_amount(self, tmp_path: Path, budget: str) -> None:
        words: list[str | Path] = ["-c", wire_cell.PIPELINE, "-A", f"memory_budget={budget}"]
        if budget != "much":  # the component alone, without the main job around it
            context = {"type": "SPNGContext", "data": {"device": "cpu", "memory_budget": budget}}
            job = [{"type": "wire-cell", "data": {"plugins": ["WireCellSpng"]}}, context]
            words = [tmp_path / "job.json"]
            words[0].write_text(json.dumps(job), encoding="utf-8")
        block = wire_cell.rejected("--check-configuration", *words, folder=tmp_path, status=2)
        assert "invalid amount of memory" in block and "SPNGContext, key memory_budget" in block

    def test_out_of_memory(self, tmp_path: Path) -> None:
        """An address space that suffices to start, but not for an event: without the network, which
        continues with fewer ticks, in float64, which takes twice the memory, and with a budget that is too large.
        """
        done = self.run_within(1_000, tmp_path, model="none", dtype="float64", memory_budget="8GB")
        assert done.returncode == 1, (done.returncode, done.stderr)
        assert "out of memory" in done.stderr and "hint:" in done.stderr, done.stderr
        assert not (tmp_path / "o.npz").exists()

    def test_the_address_space_is_a_budget(self, tmp_path: Path) -> None:
        assert timed(tmp_path)["settings"]["memory"]["budget_bytes"] is None
        done = self.run_within(3_000, tmp_path, timing="timing.json")
        assert done.returncode == 0, done.stderr
        budget = json.loads((tmp_path / "timing.json").read_text(encoding="utf-8"))["settings"]["memory"][
            "budget_bytes"
        ]
        assert 500_000_000 < budget < 2_700_000_000
        assert (tmp_path / "o.npz").exists()

    @pytest.mark.parametrize("megabytes, said", [(700, "memory"), (900, "not enough memory for one event")])
    def test_an_address_space_that_is_too_small(self, megabytes: int, said: str, tmp_path: Path) -> None:
        """With 700 MB libjsonnet would find no memory and abort, with 900 MB oneDNN would crash."""
        done = self.run_within(megabytes, tmp_path)
        assert done.returncode == 1, (done.returncode, done.stderr)
        assert said in done.stderr.split("error: ")[-1].splitlines()[0], done.stderr
        assert not list(tmp_path.iterdir())

    @staticmethod
    def run_within(
        megabytes: int, folder: Path, timing: str = "", **arguments: object
    ) -> subprocess.CompletedProcess[str]:
        """Run the main job in a limited address space."""

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (megabytes * 1_000_000, megabytes * 1_000_000))

        given = {
            "device": "cpu",
            "threads": 1,
            "input": wire_cell.default_input(),
            "output": "o.npz",
            **arguments,
        }
        words = ["-c", wire_cell.PIPELINE, *(["--timing", timing] if timing else [])]
        for name, value in given.items():
            words += ["-A", f"{name}={value}"]
        return wire_cell.run(*words, folder=folder, preexec_fn=limit)


class TestDevices:
    """Two device replicas on the CPU stand in for two devices."""

    def test_same_bytes_and_order(self, site: Site, tmp_path: Path) -> None:
        for name, devices, engine in [
            ("one", "cpu", "Pgrapher"),
            ("two", "cpu,cpu", "TbbFlow"),
            ("serial", "cpu,cpu", "Pgrapher"),
        ]:
            (tmp_path / name).mkdir()
            report = timed(
                tmp_path / name,
                *site.flags,
                "-t",
                "2",
                input=site.folder / "small.tar",
                engine=engine,
                threads=1,
                device=devices,
            )
            assert report["run"]["device"] == devices
            decon = next(node for node in report["nodes"] if node["name"] == "SPNGDecon:induction")
            assert decon["calls"] == EVENTS
            assert [share["calls"] for share in decon["per_device"]] == ([2, 2] if "," in devices else [4])
        arrays = wire_cell.read_arrays(tmp_path / "one" / "output.tar")
        events = [arrays[f"frame_signal_{ident}"] for ident in range(EVENTS)]
        assert all(first.any() and (first != second).any() for first, second in itertools.pairwise(events))
        expected = (tmp_path / "one" / "output.tar").read_bytes()
        assert (tmp_path / "two" / "output.tar").read_bytes() == expected
        assert (tmp_path / "serial" / "output.tar").read_bytes() == expected

    @pytest.mark.parametrize("devices", ["cpu,cuda:0", "cpu,", "auto,auto"])
    def test_lists_that_are_none(self, tmp_path: Path, devices: str) -> None:
        block = wire_cell.rejected(
            "--check-configuration",
            COPY,
            *wire_cell.settings("input=adc.npz", f"device={devices}"),
            folder=tmp_path,
            status=2,
        )
        assert "SPNGContext, key device" in block
