# SPDX-License-Identifier: Apache-2.0
"""The targets of reliability, each with the tests that measure it."""

from __future__ import annotations

from dataclasses import dataclass

OWN = "tests/reliability"  # the tests with the mark `reliability`
SIMULATOR = "The [simulated CUDA runtime](decisions/cuda-simulator.md) stands in for a device"
QUICK = "SPNG_QUICK"  # variable of --quick, which the tests read
ON_A_GPU = "Figures of a GPU: [cuda](benchmarks/cuda.md)."


@dataclass(frozen=True)
class Row:
    """A target.

    tests  files, classes or functions for pytest; cpp: filters for build/tests/spng_tests
    gap    what the tests do not cover
    """

    name: str
    title: str
    target: str
    tests: tuple[str, ...] = ()
    cpp: tuple[str, ...] = ()
    note: str = ""
    gap: str = ""


ROWS = (
    Row(
        "R1",
        "every node against an independent NumPy implementation",
        "max abs difference at most 1e-5 of the RMS, 2e-5 with Fourier transforms; masks equal but for samples within 1e-4 sigma of "
        "a threshold",
        ("tests/reference/test_steps.py", "tests/dnn/test_noise.py::TestReference"),
        note="Default event (2560 x 6000), each node on the input that it had in the run.\n"
        "Figures of TestDouble are those of float64.",
        gap="optional nodes have no such reference: noise filters, SPNGChargeError, SPNGResampler and the simulation are compared "
        "with expected values in their own tests",
    ),
    Row(
        "R2",
        "repeated runs on the CPU",
        "20 runs write the same bytes",
        (f"{OWN}/test_repetition.py::test_repeated_runs",),
    ),
    Row(
        "R3",
        "threads",
        "any number of graph threads: the same bytes; of threads in operations: within 1e-6 of the RMS",
        (
            f"{OWN}/test_repetition.py::test_graph_threads",
            f"{OWN}/test_repetition.py::test_threads_in_operations",
            "tests/endtoend/test_engines.py::TestEngines",
        ),
    ),
    Row(
        "R4",
        "repeated runs on a GPU",
        "with precision=exact 20 runs write the same bytes",
        (f"{OWN}/test_repetition.py::test_repeated_runs_on_a_device", "tests/gpu/test_cuda_modes.py"),
        note=f"{SIMULATOR}.\n{ON_A_GPU}",
    ),
    Row(
        "R5",
        "agreement of CPU and GPU",
        "99.9 % of the ROI samples equal, max abs difference in both ROIs at most 1e-4 of the RMS; precision=fast: 99.5 %, charge within 0.5 %",
        (
            "tests/gpu/test_cuda.py",
            "tests/cuda_simulator/test_modes.py::test_mode",
            "tests/cuda_simulator/test_modes.py::test_fast",
        ),
        note=f"{SIMULATOR}: own kernels run in an emulator, those of LibTorch are the CPU's.\n{ON_A_GPU}",
    ),
    Row(
        "R6",
        "parts and the whole",
        "computed in parts (tiles, views, anodes): masks equal, within 1e-6 of the RMS",
        (
            f"{OWN}/test_repetition.py::test_tiles_of_the_network",
            f"{OWN}/test_repetition.py::test_views_one_by_one",
            "tests/endtoend/test_memory.py::TestBudget::test_windows_of_the_network",
            "tests/endtoend/test_anodes.py",
        ),
        note="Readout windows of a long readout are no such parts: each is an event with its own noise and thresholds, and differs from "
        "one transform over all ([long readouts](decisions/long-readouts.md)).",
    ),
    Row(
        "R7",
        "endurance",
        "1000 events: memory grows by at most 1 % or 20 MB after event 50, that of a GPU by 0; constant numbers of open files and "
        "threads; a readout of 20 million ticks: memory and time per readout window do not grow, the charge at seams is complete",
        (f"{OWN}/test_endurance.py",),
        note="Events and frames of 6000 ticks of the small detector (154 channels), through a pipe.",
        gap="growth of the memory of a GPU: not run here (no device)",
    ),
    Row(
        "R8",
        "sanitizers",
        "all tests under ASan and UBSan: 0 reports; engines and writers under TSan: 0 reports; reasons for suppressions",
        (f"{OWN}/test_hardening.py::test_sanitizers",),
        note="From the result of `./wcb harden`; `scripts/harden/suppressions` has the suppressions with their reasons.",
    ),
    Row(
        "R9",
        "compute-sanitizer",
        "memcheck, initcheck and racecheck: 0 errors",
        ("tests/cuda_simulator/test_modes.py::test_schedule",),
        note=f"{SIMULATOR}: it detects races between streams and uses that it cannot simulate; its emulator checks the kernels "
        f"([what it does not see](decisions/cuda-kernels.md)).\n{ON_A_GPU}",
        gap="compute-sanitizer: `scripts/gpu_check sanitize`, on a machine with a GPU",
    ),
    Row(
        "R10",
        "damaged input",
        "100 000 mutated inputs, 64 cuts, single flipped bits: no crash, no hang (2 s), at most 50 MB more memory than an "
        "undamaged file; a header of 10^12 elements is rejected",
        (
            f"{OWN}/test_damage.py",
            f"{OWN}/test_hardening.py::test_fuzzing",
            "tests/python/test_format_failures.py",
        ),
        ("EveryBit*", "ArchiveDamage*"),
        note="Inputs of the fuzzing are from the result of `./wcb harden`.",
    ),
    Row(
        "R11",
        "outputs that cannot be written",
        "full disk, read-only folder: status 1, a message with the path, of a full disk also with the bytes, no file under the final name",
        (
            f"{OWN}/test_unwritable.py",
            "tests/faults/test_run_faults.py::TestOutput",
            "tests/faults/test_recording_faults.py",
            "tests/python/test_frame_outputs.py",
        ),
        note="A recording that does not fit leaves its rows in a .part file, which the message names.\n"
        "An input/output error of a disk (EIO) cannot be made here.",
    ),
    Row(
        "R12",
        "signals",
        "the end within 2 s with 128 + signal (130, 143), completed events readable, no temporary files; a second SIGINT ends at once",
        (
            f"{OWN}/test_signals.py",
            "tests/app/test_command_line.py::TestSignals",
            "tests/faults/test_run_faults.py::TestSignals",
        ),
        note="Small events, one each 0.1 s through a pipe, on Pgrapher and TbbFlow in turn.",
    ),
    Row(
        "R13",
        "little memory, lost devices",
        "a small budget: the same result in tiles; an impossible one, full memory, a lost device: a clear error, at most 3 retries",
        (
            f"{OWN}/test_memory.py",
            "tests/endtoend/test_memory.py",
            "tests/cuda_simulator/test_fault_sweep.py",
            "tests/cuda_simulator/test_faults_lost_device.py",
        ),
        note=f"{SIMULATOR}, compared to the byte with the CPU.\n"
        "A budget that is too small is an error of the configuration, status 2; memory that ends in the run is status 1.",
        gap="on a device: not run here (no device), simulated only",
    ),
    Row(
        "R14",
        "faulty data",
        "a defined behaviour for each fault; NaN in a channel does not leave it",
        (
            f"{OWN}/test_faulty_data.py",
            "tests/endtoend/test_bad_channels.py",
            "tests/endtoend/test_input_check.py",
            "tests/faults/test_input_faults.py",
        ),
        note="A bad channel is replaced by zeros, or by the mean of its neighbours, before the transform across channels.",
    ),
    Row(
        "R15",
        "wrong configurations",
        "status 2 in less than 1 s, a message with node, key and closest match; all files of cfg/ evaluate",
        (f"{OWN}/test_configuration.py", "tests/faults/test_configuration_faults.py"),
        note="Processor time includes the start of the program and the evaluation of the configuration.",
    ),
    Row(
        "R16",
        "networks that cannot be used",
        "non-zero status, a message with the file, of another shape also with the shape; no output",
        (
            "tests/dnn/test_model_input.py",
            "tests/faults/test_input_faults.py::TestMissingFiles::test_model",
            "tests/faults/test_input_faults.py::TestMissingFiles::test_model_that_is_none",
        ),
        ("TorchScriptModelTest.*", "ModelRunner.OutputOfAnotherShape*"),
        note="The network is tried before the first event, so no output is written.",
    ),
    Row(
        "R17",
        "overhead, start-up",
        "ranges without a tool below 0.5 %, timers below 1 %, start-up at most 3 s on the CPU",
        (f"{OWN}/test_overhead.py",),
        note="Ranges and timers: counts in a later default event (model=none) times the processor time of one, by "
        "`build/bench/recorder_bench` and `build/bench/instrument_bench`.\n"
        "Operators are counted also without `--timing`; their cost is that of an addition of one element with its count, so an upper limit.\n"
        "Start-up: wall time from the start of the program to its first node, the least of the runs, because other programs only "
        "lengthen it; files are in the system's page cache. Jobs that share a device take turns by [flock](user-guide.md#sharing-a-machine).",
    ),
    Row(
        "R18",
        "the process of a host",
        "a Pipeline changes nothing in the process of its program; children of fork end, or get an error at once",
        ("tests/python/test_host_process.py", "tests/python/test_fork_and_callbacks.py"),
        note="The properties of a process are listed in tests/support/process_state.py.",
    ),
    Row(
        "R19",
        "outputs with the names of other files",
        "no output replaces an input, a list or a file of another kind; non-zero status, a message with the file, nothing left",
        (
            "tests/app/test_output_kinds.py",
            "tests/app/test_output_paths.py",
            "tests/faults/test_run_faults.py::TestFilesThatMeet",
            "tests/python/test_frame_outputs.py",
        ),
    ),
    Row(
        "R20",
        "every door",
        "a fault in the members of an event is rejected alike in .npz, .tar, HDF5, Zarr and Python",
        (
            "tests/python/test_format_checks.py::test_every_door_has_the_checks_of_npz",
            "tests/python/test_format_checks.py::test_every_door_has_the_checks_of_npz_in_memory",
            "tests/python/test_format_checks.py::test_every_door_has_the_conversions_of_npz",
        ),
        note="HTTP and gRPC have the same function for the members of an event; tests/serve sends them such tensors.",
    ),
)
