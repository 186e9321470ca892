# SPDX-License-Identifier: Apache-2.0
"""Test the recorder on CUPTI and NVML records.

The libraries are stand-ins with the real structures (fake_cuda/), and the loader finds them like the real ones.
Tests of the real libraries are in tests/gpu.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from wirecell_profile.model.nodes import NodeProjection, capturing_nodes
from wirecell_profile.model.profile import Profile
from wirecell_profile.model.projection import Projection

from tests.recorder import recorded
from tests.recorder.recorded import Recorded
from tests.support import wire_cell

pytestmark = recorded.needs_recorder

HERE = Path(__file__).parent
LIBRARIES = {"libcuda": "libcuda.so.1", "libcupti": "libcupti.so.13", "libnvidia-ml": "libnvidia-ml.so.1"}


class Machine(NamedTuple):
    """The program, and a folder with all libraries of a machine with a GPU."""

    program: Path
    libraries: Path


class Run(NamedTuple):
    """A recording, and the thread that made it."""

    file: Recorded
    path: Path
    thread: int


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    compiler, include = shutil.which(os.environ.get("CXX", "g++")), recorded.cuda_include()
    if compiler is None or include is None or not (include / "cupti.h").exists():
        pytest.skip("no compiler or no headers of CUPTI")
    folder = tmp_path_factory.mktemp("machine")
    flags = ["-std=c++20", "-O0", "-I", str(wire_cell.ROOT), "-isystem", str(include)]
    for name, library in LIBRARIES.items():
        subprocess.run(
            [
                compiler,
                *flags,
                "-shared",
                "-fPIC",
                HERE / "fake_cuda" / f"{name}.cxx",
                "-o",
                folder / library,
            ],
            check=True,
            timeout=120,
        )
    program = folder / "device_program"
    subprocess.run(
        [compiler, *flags, HERE / "device_program.cxx", "-o", program, "-ldl"], check=True, timeout=120
    )
    return Machine(program, folder)


def record(machine: Machine, folder: Path, without: tuple[str, ...] = (), **variables: str) -> Run:
    """Run the program on a machine that lacks some of the libraries."""
    libraries = folder / "libraries"
    libraries.mkdir(exist_ok=True)
    for library in LIBRARIES.values():
        if library not in without:
            (libraries / library).symlink_to(machine.libraries / library)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("SPNG_", "NVTX_", "NSYS_"))
    }
    done = subprocess.run(
        [machine.program, recorded.RECORDER, "run.sqlite"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment | {"LD_LIBRARY_PATH": str(libraries)} | variables,
    )
    assert done.returncode == 0, done.stderr
    return Run(Recorded(folder / "run.sqlite"), folder / "run.sqlite", int(done.stdout))


@pytest.fixture(scope="module")
def full(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return record(machine, tmp_path_factory.mktemp("full"))


def rows(run: Run, table: str, columns: str, *, relative: bool = True) -> list[tuple]:
    """Return the rows of a table; the first two columns are times from the start of the first call."""
    [(begin,)] = run.file.sql("SELECT MIN(start) FROM SPNG_CALL")
    found = run.file.sql(f"SELECT {columns} FROM {table}")
    return [(start - begin, end - begin, *rest) for start, end, *rest in found] if relative else found


def name_of(run: Run, index: int) -> str:
    return run.file.sql(f"SELECT value FROM StringIds WHERE id = {index}")[0][0]


class TestRows:
    """The times of rows equal those of the program to the nanosecond."""

    def test_tier(self, full: Run) -> None:
        manifest = full.file.run()
        assert manifest["tier"] == "cupti" and manifest["source.cuda"] == "on"
        assert manifest["cuda.clock"] == "the recorder's own" and manifest["cuda.dropped_records"] == "0"
        assert full.file.diagnostics() == ""

    def test_kernels(self, full: Run) -> None:
        columns = (
            "start, end, deviceId, contextId, streamId, correlationId, demangledName, shortName, mangledName, "
            "registersPerThread, gridX, gridY, gridZ, blockX, staticSharedMemory, dynamicSharedMemory, localMemoryTotal, "
            "gridId, sharedMemoryExecuted, cacheConfig, graphNodeId"
        )
        found = rows(full, "CUPTI_ACTIVITY_KIND_KERNEL", columns)
        assert [(row[0], row[1], row[5], row[20]) for row in found] == [
            (1000, 3000, 11, None),
            (3000, 4500, 12, None),
            (21000, 22000, 21, 200),
            (41000, 42000, 22, None),
        ]
        assert [name_of(full, index) for index in found[0][6:9]] == [
            "void at::native::copy<float, 4>(int)",
            "copy",
            "_ZN2at6native4copyIfLi4EEEvi",
        ]
        assert [name_of(full, index) for index in found[1][6:9]] == ["regular_fft"] * 3
        assert all(row[2:5] == (0, 1, 7) for row in found)
        assert found[0][9:20] == (32, 108, 2, 1, 256, 48, 1024, 65536, 5, 8192, 2)

    def test_copies_and_sets(self, full: Run) -> None:
        """Kinds of memory have the values of nsys: 0 pageable, 2 device, 4 managed."""
        assert rows(
            full, "CUPTI_ACTIVITY_KIND_MEMCPY", "start, end, correlationId, bytes, copyKind, srcKind, dstKind"
        ) == [(4500, 5000, 13, 4096, 1, 0, 2), (5500, 5600, 16, 64, 10, 2, 2)]
        assert rows(
            full, "CUPTI_ACTIVITY_KIND_MEMSET", "start, end, correlationId, value, bytes, memKind"
        ) == [(5000, 5100, 14, 255, 512, 4)]

    def test_calls_of_runtime_and_driver(self, full: Run) -> None:
        """The driver's launch inside the runtime's is left out although it came first; that of a library that
        uses the driver is kept.
        """
        found = rows(
            full,
            "CUPTI_ACTIVITY_KIND_RUNTIME",
            "start, end, correlationId, eventClass, nameId, globalTid & 0xFFFFFF",
        )
        assert [row[:4] for row in found] == [
            (100, 200, 11, 0),
            (300, 400, 12, 1),
            (500, 600, 13, 0),
            (20100, 20200, 21, 0),
            (40000, 40100, 22, 0),
        ]
        assert [name_of(full, row[4]) for row in found[:2]] == ["cudaLaunchKernel_v7000", "cuLaunchKernel"]
        assert [row[5] - full.thread for row in found] == [0, 0, 0, 0, 1]

    def test_no_kernel_without_its_launch(self, full: Run) -> None:
        assert (
            full.file.sql(
                "SELECT correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId NOT IN "
                "(SELECT correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME)"
            )
            == []
        )

    def test_waits_memory_overhead(self, full: Run) -> None:
        assert rows(
            full,
            "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
            "start, end, deviceId, contextId, streamId, correlationId, syncType",
        ) == [(700, 5100, 0, 1, 7, 15, 3)]
        assert rows(
            full,
            "CUDA_GPU_MEMORY_USAGE_EVENTS",
            "start, start, virtualAddress, bytes, memKind, memoryOperationType",
        ) == [(50, 50, 0x7F0000000000, 2097152, 2, 0), (9000, 9000, 0x7F0000000000, 2097152, 2, 1)]
        found = rows(full, "PROFILER_OVERHEAD", "start, end, globalTid & 0xFFFFFF, nameId")
        assert [row[:3] for row in found] == [(6000, 6400, full.thread)] and name_of(
            full, found[0][3]
        ) == "CUPTI buffer flush"

    def test_the_machine(self, full: Run) -> None:
        """The machine is described in the units of nsys: Hz, bytes per second.

        The driver describes it: CUPTI has no record of a device if CUDA started before the recorder.
        """
        assert rows(
            full,
            "TARGET_INFO_GPU",
            "name, smCount, clockRate, memoryBandwidth, totalMemory, uuid, busLocation, computeMajor, maxWarpsPerSm, "
            "l2CacheSize",
            relative=False,
        ) == [
            (
                "Fake GPU",
                108,
                1410000000,
                1555200000000,
                42949672960,
                "GPU-abababab-abab-abab-abab-abababababab",
                "0000:65:00.0",
                8,
                64,
                None,
            )
        ]
        assert rows(
            full, "TARGET_INFO_CUDA_CONTEXT_INFO", "contextId, deviceId, nullStreamId", relative=False
        ) == [(1, 0, 7)]
        assert rows(full, "TARGET_INFO_CUDA_STREAM", "streamId, contextId", relative=False) == [(7, 1)]

    def test_device_time_by_events(self, full: Run) -> None:
        assert [row for (row,) in full.file.sql("SELECT device FROM SPNG_CALL ORDER BY start")] == [
            4100,
            None,
        ]


class TestAttribution:
    def test_the_analysis_finds_the_node_of_each_kernel(self, full: Run) -> None:
        """Kernels are attributed by correlation, those of a CUDA graph to the call that launched it, and a copy by
        the call around its launch. The node that captured a kernel of a graph is known besides.
        """
        with Profile.open(full.path) as profile:
            nodes = NodeProjection(profile, profile.node_calls, Projection.of(profile))
            operations = nodes.projection.operations
            found = {
                operations.name.text(row): nodes.calls.node.text(call) if call >= 0 else None
                for row, call in enumerate(nodes.call_of_operation.tolist())
            }
            captured = capturing_nodes(profile, operations).to_list()
        assert found["void at::native::copy<float, 4>(int)"] == "SPNGDecon:u"
        assert found["regular_fft"] == "SPNGDecon:u"
        assert found["captured"] == "SPNGDNNROI"
        assert dict(zip(operations.name.to_list(), captured))["captured"] == "SPNGDecon:u"
        assert found["elsewhere"] == "SPNGDNNROI"
        assert found["[CUDA memcpy Host-to-Device]"] == "SPNGDecon:u"


class TestOtherMachines:
    def test_clock_of_cupti(self, machine: Machine, full: Run, tmp_path: Path) -> None:
        """If CUPTI keeps its own clock, times are converted with the precision that the manifest gives."""
        run = record(machine, tmp_path, FAKE_OWN_CLOCK="1")
        clock = run.file.run()["cuda.clock"]
        assert clock.startswith("CUPTI's, converted; ")
        uncertainty = int(clock.split("+-")[1].split()[0])
        found = rows(run, "CUPTI_ACTIVITY_KIND_KERNEL", "start, end")
        for seen, expected in zip(found, rows(full, "CUPTI_ACTIVITY_KIND_KERNEL", "start, end"), strict=True):
            assert abs(seen[0] - expected[0]) <= uncertainty and abs(seen[1] - expected[1]) <= uncertainty
        assert uncertainty < 50_000

    def test_cupti_in_use(self, machine: Machine, tmp_path: Path) -> None:
        run = record(machine, tmp_path, FAKE_BUSY="1")
        assert run.file.run()["tier"] == "events"
        assert run.file.run()["tier_reason"] == "CUPTI is in use by Other Profiler"
        assert "warning: cuda is not recorded: CUPTI is in use by Other Profiler" in run.file.diagnostics()
        assert "CUPTI_ACTIVITY_KIND_KERNEL" not in run.file.tables()
        assert run.file.sql("SELECT name FROM TARGET_INFO_GPU") == [("Fake GPU",)]
        assert run.file.sql("SELECT device FROM SPNG_CALL WHERE device IS NOT NULL") == [(4100,)]

    def test_cupti_forbidden(self, machine: Machine, tmp_path: Path) -> None:
        run = record(machine, tmp_path, FAKE_FORBIDDEN="1")
        assert run.file.run()["tier_reason"].endswith("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES")

    def test_no_driver(self, machine: Machine, tmp_path: Path) -> None:
        """Without a driver there is no warning, because the machine has no device."""
        run = record(machine, tmp_path, ("libcuda.so.1",))
        reason = "no NVIDIA driver (libcuda.so.1 is not found)"
        assert run.file.run()["source.cuda"] == f"off: {reason}" and run.file.run()["tier_reason"] == reason
        assert run.file.diagnostics() == ""

    def test_old_cupti(self, machine: Machine, tmp_path: Path) -> None:
        """A CUPTI library without the needed functions is reported."""
        libraries = tmp_path / "libraries"
        libraries.mkdir()
        (libraries / "libcupti.so.13").symlink_to(machine.libraries / "libnvidia-ml.so.1")
        run = record(machine, tmp_path, ("libcupti.so.13",))
        assert run.file.run()["source.cuda"] == "off: this CUPTI is too old: it has no cuptiGetVersion"
        assert "cuda is not recorded" in run.file.diagnostics()

    def test_no_device(self, machine: Machine, tmp_path: Path) -> None:
        assert (
            record(machine, tmp_path, FAKE_NO_DEVICE="1").file.run()["source.cuda"] == "off: no CUDA device"
        )

    def test_dropped_records_are_counted(self, machine: Machine, tmp_path: Path) -> None:
        """17 dropped records with each of the two buffers are counted."""
        run = record(machine, tmp_path, FAKE_DROPPED="17")
        assert run.file.run()["cuda.dropped_records"] == "34"
        assert "CUPTI dropped 34 records" in run.file.diagnostics()


class TestNvml:
    """The machine has another GPU, of other people, that NVML lists first."""

    def test_samples(self, full: Run) -> None:
        """A metric that the GPU does not support, here its temperature, has no rows."""
        found = dict(
            full.file.sql("SELECT metric, MAX(value) FROM SPNG_SAMPLE WHERE source = 'gpu0' GROUP BY metric")
        )
        assert found == {
            "power_watts": pytest.approx(251.5),
            "sm_clock_hz": 1410e6,
            "memory_clock_hz": 1215e6,
            "gpu_busy_percent": 87,
            "memory_busy_percent": 40,
            "memory_used_bytes": 1048576,
            "throttle_reasons": 1,
        }

    def test_other_gpus_are_not_sampled(self, full: Run) -> None:
        """The index of a GPU is that of CUDA, as in the tables of CUPTI, and not that of NVML."""
        assert full.file.sql("SELECT DISTINCT source FROM SPNG_SAMPLE WHERE metric = 'power_watts'") == [
            ("gpu0",)
        ]
        assert "suspect run" not in full.file.diagnostics()

    def test_unused_gpu_is_not_sampled(self, machine: Machine, tmp_path: Path) -> None:
        run = record(machine, tmp_path, FAKE_UNUSED="1")
        assert run.file.sql("SELECT COUNT(*) FROM SPNG_SAMPLE WHERE source LIKE 'gpu%'") == [(0,)]
        assert run.file.run()["source.nvml"] == "on"

    def test_divided_gpu(self, machine: Machine, tmp_path: Path) -> None:
        """Memory is that of the part; the rest belongs to the whole GPU, and the recording contains a note."""
        run = record(machine, tmp_path, FAKE_MIG="1")
        found = dict(
            run.file.sql("SELECT metric, MAX(value) FROM SPNG_SAMPLE WHERE source = 'gpu0' GROUP BY metric")
        )
        assert found["memory_used_bytes"] == 4096 and found["power_watts"] == pytest.approx(251.5)
        assert "gpu_busy_percent" not in found
        assert "information: GPU 0 is divided (MIG)" in run.file.diagnostics()

    def test_throttled_run_is_suspect(self, machine: Machine, tmp_path: Path) -> None:
        said = record(machine, tmp_path, FAKE_THROTTLED="1").file.diagnostics()
        assert said.startswith("warning: suspect run: the clocks of GPU 0 were reduced (power limit) in ")

    def test_without_driver(self, machine: Machine, tmp_path: Path) -> None:
        run = record(machine, tmp_path, ("libnvidia-ml.so.1",))
        assert run.file.run()["source.nvml"] == "off: no NVIDIA driver (libnvidia-ml.so.1 is not found)"
