# SPDX-License-Identifier: Apache-2.0
"""spng.Pipeline and spng.Simulation: the results of the program, in memory."""

from __future__ import annotations

import ctypes
import logging
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import spng
from tests.support import wire_cell
from tests.support.process_state import Mallinfo
from tests.support.wire_cell import needs_program

pytestmark = needs_program

ADC = wire_cell.ADC


@pytest.fixture(scope="module")
def event() -> spng.Frame:
    """The default event."""
    return next(spng.read_frames(ADC))


@pytest.fixture(scope="module")
def signal_of_event(pipeline: spng.Pipeline, event: spng.Frame) -> np.ndarray:
    return pipeline(event)["signal"].samples


def test_gives_the_bytes_of_the_program(event: spng.Frame, tmp_path: Path) -> None:
    """With the network, all products and both forms."""
    arguments = {"tags": "signal,wiener,roi", "frames": "sparse"}
    words = wire_cell.settings(**arguments)
    done = wire_cell.run(
        "-c", wire_cell.PIPELINE, "-A", f"input={ADC}", "-A", "output=job.npz", *words, folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    with spng.Pipeline(tags="signal,wiener,roi", sparse=True) as own:
        result = own(event)
    assert list(result.traces) == ["signal", "wiener", "roi"]
    assert isinstance(result["signal"].samples, spng.SparseSamples)
    spng.write_frames(tmp_path / "python.npz", result, form="sparse")
    assert (tmp_path / "python.npz").read_bytes() == (tmp_path / "job.npz").read_bytes()


def test_version() -> None:
    assert spng.__version__ == (wire_cell.ROOT / "spng" / "VERSION").read_text(encoding="utf-8").strip()


def test_describes_the_detector(pipeline: spng.Pipeline) -> None:
    assert pipeline.devices == ["cpu"]
    assert pipeline.tick_ns == 500
    assert {name: (ids[0], ids[-1], len(ids)) for name, ids in pipeline.planes.items()} == {
        "U": (0, 799, 800),
        "V": (800, 1599, 800),
        "W": (1600, 2559, 960),
    }


def test_planes_of_several_anodes() -> None:
    found = spng.planes("pdhd", [0, 1])
    assert list(found) == [
        "U of anode 0",
        "V of anode 0",
        "W of anode 0",
        "U of anode 1",
        "V of anode 1",
        "W of anode 1",
    ]
    assert found["U of anode 1"][0] == 2560


def test_takes_arrays_tensors_and_frames(
    pipeline: spng.Pipeline, event: spng.Frame, signal_of_event: np.ndarray
) -> None:
    traces = event.only()
    adc = traces.samples
    for waveforms in (
        event,
        traces,
        adc,
        np.asfortranarray(adc),
        adc.astype(np.int64),
        adc.astype(np.float64),
    ):
        result = pipeline(waveforms, start_ns=traces.start_ns)["signal"]
        assert isinstance(result.samples, np.ndarray) and np.array_equal(result.samples, signal_of_event)
    reverse = pipeline(adc[::-1], channels=traces.channels[::-1])["signal"]
    assert np.array_equal(reverse.samples, signal_of_event)
    assert np.array_equal(reverse.channels, traces.channels)


def test_torch_tensors_give_torch_tensors(
    pipeline: spng.Pipeline, event: spng.Frame, signal_of_event: np.ndarray
) -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(event.only().samples.copy())
    result = pipeline(tensor)["signal"].samples
    assert isinstance(result, torch.Tensor) and result.dtype == torch.float32
    assert np.array_equal(result.numpy(), signal_of_event)


def test_results_outlive_the_pipeline(event: spng.Frame, signal_of_event: np.ndarray) -> None:
    with spng.Pipeline(model="none", device="cpu") as own:
        samples = own(event)["signal"].samples
    assert np.array_equal(samples, signal_of_event)
    samples[0, 0] = 1  # the caller's memory


def test_ident_times_masks_and_notes(pipeline: spng.Pipeline, event: spng.Frame) -> None:
    adc = event.only().samples.astype(np.float32)
    adc[5, 100] = np.nan
    result = pipeline(
        adc[:-1],
        channels=np.arange(2559),
        masks={"bad": [[8, 3, 6003], [9, -4, 3]]},
        ident=41,
        start_ns=1000.0,
        first_tick=3,
    )
    assert result.ident == 41
    assert (result["signal"].start_ns, result["signal"].first_tick, result["signal"].tick_ns) == (
        1000.0,
        3,
        500.0,
    )
    assert result.masks["nan"].tolist() == [[5, 3, 6003]]
    assert result.masks["missing"].tolist() == [[2559, 3, 6003]]
    assert result.masks["bad"].tolist() == [[8, 3, 6003], [9, -4, 3]]
    assert not result["signal"].samples[[5, 8]].any()
    assert "field_sha256" in result.notes


def test_map_keeps_the_order(pipeline: spng.Pipeline, event: spng.Frame) -> None:
    frames = (spng.Frame(event.traces, ident) for ident in (4, 2, 9))
    assert [frame.ident for frame in pipeline.map(frames)] == [4, 2, 9]


def test_threads_share_a_pipeline(
    pipeline: spng.Pipeline, event: spng.Frame, signal_of_event: np.ndarray
) -> None:
    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(lambda ident: pipeline(event, ident=ident), range(6)))
    assert [frame.ident for frame in results] == list(range(6))
    assert all(np.array_equal(frame["signal"].samples, signal_of_event) for frame in results)


def test_other_threads_run_meanwhile(pipeline: spng.Pipeline, event: spng.Frame) -> None:
    """The GIL is free while the chain works: a thread counts on."""
    count, stop = 0, threading.Event()

    def work() -> None:
        nonlocal count
        while not stop.is_set():
            count += 1
            time.sleep(0)

    counter = threading.Thread(target=work)
    counter.start()
    pending = pipeline.submit(event)
    before = count
    pending.wait()
    after = count
    stop.set()
    counter.join()
    assert after - before > 10


@pytest.mark.parametrize(
    ("waveforms", "options", "expected"),
    [
        (np.zeros((2560, 6000), np.complex64), {}, "a type that cannot be ADC counts"),
        (np.zeros(6000, np.int16), {}, "the wrong number of axes"),
        (np.zeros((3, 6000), np.int16), {}, "another count of channels"),
        (np.zeros((2, 6000), np.int16), {"channels": [1, 1]}, "a channel is repeated"),
        (np.zeros((2, 6000), np.int16), {"channels": [0.5, 1.5]}, "no list of integers"),
        (np.zeros((2, 6000), np.int16), {"channels": [2**40, 1]}, "a number is too large"),
        (np.zeros((1, 6000), np.int16), {"channels": [99999]}, "channels that do not belong to the anode"),
        (np.zeros((2560, 6000), np.int16), {"masks": {"bad": [[1, 2]]}}, "a channel mask has the wrong form"),
        (
            np.zeros((2560, 6000), np.int16),
            {"masks": {"bad": [[1, 5, 2]]}},
            "a channel mask ends before it begins",
        ),
        (np.zeros((2560, 6000), np.int16), {"tick_ns": 512.0}, "the sampling period of the frame"),
        (np.zeros((2560, 6000), np.int16), {"tick_ns": -1.0}, "the times of the frame are impossible"),
        (np.zeros((0, 6000), np.int16), {}, "the shape of the samples is impossible"),
        ("adc.npz", {}, "neither an array nor a tensor"),
    ],
)
def test_bad_input_is_an_error(
    pipeline: spng.Pipeline, waveforms: object, options: dict, expected: str
) -> None:
    with pytest.raises(spng.Error, match=expected) as caught:
        pipeline(waveforms, **options)
    assert caught.value.kind == "Input"
    assert str(caught.value).startswith("error: ") and "\n  seen:     " in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_pipeline_works_after_errors(pipeline: spng.Pipeline, event: spng.Frame) -> None:
    for _ in range(2):
        with pytest.raises(spng.Error):
            pipeline(np.zeros((1, 6000), np.int16), channels=[99999])
        assert pipeline(event, ident=3).ident == 3


def test_errors_of_the_preparation() -> None:
    for options, expected in (
        ({"detector": "pdhf"}, "unknown detector 'pdhf'"),
        ({"model": "nofile.ts"}, "nofile.ts"),
        ({"anode": 9}, "no anode 9"),
        ({"device": "cuda:77"}, "device"),
        ({"no_such_argument": 1}, "no_such_argument"),
        ({"set": {"SPNGDecom.channels": 1}}, "did you mean 'SPNGDecon'"),
        ({"configuration": "cfg/simulate.jsonnet"}, "does not take events from memory"),
    ):
        with pytest.raises(spng.Error, match=expected):
            spng.Pipeline(**options)


def test_numpy_numbers_are_values_of_keys() -> None:
    key = "SPNGThresholdROIs:collection.threshold_rms_factor"
    with spng.Pipeline(model="none", device="cpu", set={key: np.float32(4)}) as own:
        assert own.timing()["settings"]["set"] == [f"{key}=4.0"]
    with pytest.raises(spng.Error, match="cannot be written as JSON") as caught:
        spng.Pipeline(model="none", device="cpu", set={key: object()})
    assert "of type object" in caught.value.seen


def test_a_closed_pipeline(event: spng.Frame) -> None:
    own = spng.Pipeline(model="none", device="cpu", set={"SPNGContext.precision": "fast"})
    pending = own.submit(event)
    own.close()
    own.close()
    timing = own.timing()
    assert (
        timing["settings"]["set"] == ['SPNGContext.precision="fast"'] and "fast" in timing["run"]["precision"]
    )
    assert own.is_closed and pending.result().ident == 0
    with pytest.raises(spng.Error, match="the pipeline is closed") as caught:
        own(event)
    assert caught.value.kind == "Usage"


def test_log_lines_go_to_logging(
    pipeline: spng.Pipeline, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="spng"):
        dead = pipeline(np.full((2560, 6000), 900, np.int16))
    assert any("2560 of 2560" in record.message for record in caplog.records), caplog.text
    assert any("2560 of 2560" in line for line in dead.warnings)
    captured = capfd.readouterr()
    assert captured.out == "" and captured.err == ""


def test_timing(pipeline: spng.Pipeline, event: spng.Frame) -> None:
    pipeline(event)
    timing = pipeline.timing()
    assert any(node["type"] == "SPNGDecon" for node in timing["nodes"])
    assert "SPNGDecon:induction" in pipeline.timing_table()


def test_ctrl_c_while_it_waits() -> None:
    """SIGINT raises KeyboardInterrupt in the main thread; the pipeline works afterwards."""
    program = """
import numpy as np, spng
pipeline = spng.Pipeline(model="none", device="cpu")
waveforms = np.full((2560, 6000), 900, np.int16)
try:
    print("ready", flush=True)
    while True:
        pipeline(waveforms)
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(pipeline(waveforms, ident=7).ident, flush=True)
"""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, preexec_fn=wire_cell.default_signals
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert process.stdout.readline() == "7\n"
    assert process.returncode == 0


def test_the_interpreter_ends_with_an_open_pipeline() -> None:
    program = "import spng; pipeline = spng.Pipeline(model='none', device='cpu')"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


class TestSimulation:
    """Depositions in memory."""

    POINT = np.array([0.0, -10000.0, -2000.0, 3000.0, 120.0, 0.0, 0.0])

    def test_charge_of_a_point(self) -> None:
        depositions = np.stack([self.POINT, self.POINT + [0, 0, 0, 0, 20, 0, 0]], axis=1)
        simulation = spng.Simulation(noise=False)
        frame = simulation(depositions, ident=5)
        assert frame.ident == 5 and list(frame.traces) == ["adc", "truth", "roi"]
        assert frame["adc"].samples.dtype == np.int16 and frame["adc"].samples.shape == (2560, 6000)
        # Each plane collects all charge that arrives after the drift, with a lifetime that takes some of it.
        for ids in spng.planes("pdhd").values():
            charge = float(frame["truth"].rows(ids).sum())
            assert 0.7 * 20000 < charge < 20000
        other = simulation(depositions.T)["truth"].samples.sum()  # other random numbers of the lifetime
        assert other == pytest.approx(frame["truth"].samples.sum(), rel=0.02)

    def test_no_depositions(self) -> None:
        frame = spng.simulate(np.empty((7, 0)), noise=False)
        assert not frame["truth"].samples.any()

    def test_bad_depositions(self) -> None:
        simulation = spng.Simulation(noise=False)
        with pytest.raises(spng.Error, match="the depositions have the wrong form"):
            simulation(np.zeros((3, 3)))
        with pytest.raises(spng.Error, match="unknown detector"):
            spng.simulate(np.empty((7, 0)), detector="pdhf")


class TestWaveformsFromCharge:
    """A frame of charge in memory."""

    TICKS = 400

    def charge(self) -> spng.Frame:
        """Return charge on some channels of ProtoDUNE-HD's anode 0, with a mask, beside waveforms of another tag."""
        channels = np.arange(2560, dtype=np.int32)
        samples = np.zeros((2560, self.TICKS), np.float32)
        samples[[100, 900, 2000], [150, 200, 250]] = 40_000
        traces = {
            tag: spng.Traces(tag, samples * factor, channels)
            for tag, factor in (("gauss0", 1), ("wiener0", 2))
        }
        return spng.Frame(traces, ident=11, masks={"bad": np.array([[7, 0, self.TICKS]])})

    def test_gives_the_bytes_of_the_program(self, tmp_path: Path) -> None:
        charge = self.charge()
        spng.write_frames(tmp_path / "charge.tar", charge)
        job = (
            "-c",
            "cfg/from_charge.jsonnet",
            *wire_cell.settings("input=charge.tar", "intag=gauss0", "output=adc.tar"),
        )
        done = wire_cell.run(*job, "-A", "seed=4", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        seen = spng.waveforms_from_charge(charge, tag="gauss0", seed=4)
        expected = next(spng.read_frames(tmp_path / "adc.tar"))
        assert seen.ident == expected.ident == 11
        assert seen["*"].samples.dtype == np.int16
        np.testing.assert_array_equal(seen["*"].samples, expected["*"].samples)
        np.testing.assert_array_equal(seen.masks["bad"], expected.masks["bad"])

    def test_on_raw_waveforms_of_some_channels(self) -> None:
        """The channels that are absent in the raw waveforms stay absent."""
        channels = np.array([99, 100, 101, 2000], np.int32)
        level = np.array([2000, 2000, 2000, 900], np.int16)[:, None]
        raw = spng.Frame({"raw": spng.Traces("raw", np.tile(level, self.TICKS), channels)})
        seen = spng.waveforms_from_charge(self.charge(), tag="gauss0", noise=raw)["*"]
        np.testing.assert_array_equal(seen.channels, channels)
        change = seen.samples - level
        assert change.max(axis=1).argmax() == 3 and (change.max(axis=1) > 5).all()
        # Collected charge arrives at its tick; the kernel's sum is 0.1457 counts per electron over all wires.
        assert abs(int(change[3].argmax()) - 250) <= 8

    @pytest.mark.parametrize("tag, text", [("gauss1", "no charge of that tag"), ("", "has several tags")])
    def test_unknown_tag(self, tag: str, text: str) -> None:
        with pytest.raises(spng.Error, match=text) as caught:
            spng.waveforms_from_charge(self.charge(), tag=tag)
        assert caught.value.kind == "Input" and caught.value.seen == "'gauss0', 'wiener0'"

    def test_noise_depends_on_the_seed_only(self) -> None:
        """So each event needs another seed."""
        charge = self.charge()
        first, second, other = (
            spng.waveforms_from_charge(replace(charge, ident=ident), tag="gauss0", seed=seed)["*"].samples
            for ident, seed in ((1, 4), (2, 4), (2, 5))
        )
        np.testing.assert_array_equal(first, second)
        assert (first != other).mean() > 0.5


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
def test_memory_does_not_grow_with_events(pipeline: spng.Pipeline, event: spng.Frame) -> None:
    """Blocks in use: pages of the process depend on how the allocator of the host cuts free ones."""
    read = ctypes.CDLL(None).mallinfo2
    read.restype = Mallinfo

    def in_use() -> int:
        now = read()
        return int(now.uordblks + now.hblkhd)

    for _ in range(4):
        pipeline(event)
    before = in_use()
    for _ in range(12):
        pipeline(event)
    assert in_use() - before < 70e6  # one buffer of 61 MB may be kept for the next event
