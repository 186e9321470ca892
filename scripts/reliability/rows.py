# SPDX-License-Identifier: Apache-2.0
"""The rows of the table and their targets."""

from __future__ import annotations

from . import (
    configuration,
    data,
    devices,
    doors,
    endurance,
    hardening,
    hosts,
    interrupts,
    memory,
    outputs,
    overhead,
    reference,
    repetition,
)
from .row import Row

ROWS = (
    Row(
        "R1",
        "every node against an independent NumPy implementation",
        "max abs difference at most 1e-5 of the RMS, 2e-5 with Fourier transforms; masks equal but for samples within 1e-4 sigma of "
        "a threshold",
        reference.against_reference,
    ),
    Row("R2", "repeated runs on the CPU", "20 runs write the same bytes", repetition.repeated),
    Row(
        "R3",
        "threads",
        "any number of graph threads: the same bytes; of threads in operations: within 1e-6 of the RMS",
        repetition.threads,
    ),
    Row(
        "R4",
        "repeated runs on a GPU",
        "with precision=exact 20 runs write the same bytes",
        devices.repeated,
        "scripts/gpu_check modes",
    ),
    Row(
        "R5",
        "agreement of CPU and GPU",
        "max abs difference at most 1e-4 of the RMS before the network, 99.9 % of the ROI samples equal; precision=fast: 99.5 %, charge "
        "within 0.1 %",
        devices.agreement,
        "scripts/gpu_check smoke",
    ),
    Row(
        "R6",
        "parts and the whole",
        "computed in parts (tiles, views, anodes): masks equal, within 1e-6 of the RMS",
        repetition.parts,
    ),
    Row(
        "R7",
        "endurance",
        "1000 events: memory grows by at most 1 % or 20 MB after event 50, that of a GPU by 0; constant numbers of open files and threads",
        endurance.soak,
    ),
    Row(
        "R8",
        "sanitizers",
        "all tests under ASan and UBSan: 0 reports; engines, reservations and writers under TSan: 0 reports; reasons for suppressions",
        hardening.sanitizers,
        hardening.COMMAND,
    ),
    Row(
        "R9",
        "compute-sanitizer",
        "memcheck, initcheck and racecheck: 0 errors",
        devices.memory_checks,
        "scripts/gpu_check sanitize",
    ),
    Row(
        "R10",
        "damaged input",
        "100 000 mutated inputs, 64 cuts, single flipped bits: no crash, no hang (2 s), no more memory than twice the declared size; a header "
        "of 10^12 elements is rejected",
        hardening.damaged,
    ),
    Row(
        "R11",
        "outputs that cannot be written",
        "full disk, read-only folder: non-zero status, a message with path and bytes, no file under the final name",
        outputs.unwritable,
    ),
    Row(
        "R12",
        "signals",
        "the end within 2 s with 128 + signal (130, 143), completed events readable, no temporary files; a second SIGINT ends at once",
        interrupts.signals,
    ),
    Row(
        "R13",
        "little memory, lost devices",
        "a small budget: the same result in tiles; an impossible one, full memory, a lost device: a clear error, at most 3 retries",
        memory.little_memory,
    ),
    Row(
        "R14",
        "faulty data",
        "a defined behaviour for each fault; NaN in a channel does not leave it",
        data.faults,
    ),
    Row(
        "R15",
        "wrong configurations",
        "non-zero status in less than 1 s, a message with node, key and closest match; all files of cfg/ evaluate",
        configuration.configurations,
    ),
    Row(
        "R16",
        "networks that cannot be used",
        "non-zero status, a message with the file and the expected shape",
        configuration.models,
    ),
    Row(
        "R17",
        "overhead, start-up, sharing",
        "ranges without a tool below 0.5 %, timers below 1 %, start-up at most 3 s on the CPU; 4 processes share a slot without deadlock, also "
        "if one is killed",
        overhead.overhead,
    ),
    Row(
        "R18",
        "the process of a host",
        "a Pipeline changes nothing in the process of its program; children of fork end, or get an error at once",
        hosts.guests,
    ),
    Row(
        "R19",
        "outputs with the names of other files",
        "no output replaces an input, a list or a file of another kind; non-zero status, a message with the file, nothing left",
        doors.other_files,
    ),
    Row(
        "R20",
        "every door",
        "a fault in the members of an event is rejected alike in .npz, .tar, HDF5, Zarr and Python",
        doors.every_door,
    ),
)
