# SPDX-License-Identifier: Apache-2.0
"""Read files: schema versions, absent tables, names, and integers that stay integers."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from synthetic import START_END
from wirecell_profile.errors import MissingData, ProfileError
from wirecell_profile.model.identity import global_tid, pid_of, process_of, tid_of
from wirecell_profile.model.profile import Profile
from wirecell_profile.model.table import NULL, Labels, combine

VERSIONS = ("2.9.0", "3.0.0", "3.7.2", "3.16.1", "3.24.14", "3.28.0")


@pytest.mark.parametrize("version", VERSIONS)
def test_every_schema_version_reads_the_same(profile_file, version: str) -> None:
    with profile_file.writing(schema=version) as file:
        file.domain("library", 3)
        file.range("outer", 0, 100, domainId=3)
        file.range("inner", 5, 50, registered=True)
        file.launch("kernel", call=(10, 20), run=(30, 60))
        correlation = file.call("cudaMemcpyAsync_v3020", 110, 112)
        file.copy(115, 120, correlation, size=4096, kind=2)
        file.device(0, "GPU of the test")
    profile = profile_file.profile()
    assert profile.schema_version == version
    assert profile.ranges.name.to_list() == ["library:outer", "inner"]
    assert profile.calls.name.to_list() == ["cudaLaunchKernel", "cudaMemcpyAsync"]
    assert profile.operations.name.to_list() == ["kernel", "[CUDA memcpy Device-to-Host]"]
    assert profile.operations.bytes.tolist() == [NULL, 4096]
    assert profile.device_names == {0: "GPU of the test"}
    assert profile_file.scope().projection.range_of_operation.tolist() == [1, -1]


@pytest.mark.parametrize("what", ("ranges", "marks", "calls", "operations", "system_calls", "node_calls"))
def test_what_a_file_lacks_is_missing_not_empty(profile_file, what: str) -> None:
    with profile_file.writing():
        pass
    with pytest.raises(MissingData, match="run.sqlite does not contain"):
        getattr(profile_file.profile(), what)


def test_own_files_say_what_was_recorded(profile_file) -> None:
    with profile_file.writing() as file:
        file.manifest(what="nvtx,calls")
    with pytest.raises(MissingData, match=r"does not contain CUDA API calls \(recorded: nvtx, calls\)"):
        profile_file.profile().calls


def test_own_files_say_why_a_part_was_not_recorded(profile_file) -> None:
    with profile_file.writing() as file:
        reasons = {f"source.{part}": "off: no NVIDIA driver" for part in ("cuda", "nvml")}
        file.manifest(what="calls,cuda,nvml,nvtx,samples", **{"source.samples": "on"} | reasons)
    profile = profile_file.profile()
    assert profile.recorded_parts == "calls, nvtx, samples; not cuda and nvml: no NVIDIA driver"
    with pytest.raises(
        MissingData, match=r"\(recorded: calls, nvtx, samples; not cuda and nvml: no NVIDIA driver\)"
    ):
        profile.calls


def test_an_empty_table_is_missing_too(profile_file) -> None:
    with profile_file.writing() as file:
        file.table("CUPTI_ACTIVITY_KIND_KERNEL")
    assert not profile_file.profile().has("CUPTI_ACTIVITY_KIND_KERNEL")
    with pytest.raises(MissingData, match="CUDA kernels"):
        profile_file.profile().operations


def test_views_can_ask_for_what_there_is(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("only", 3, 7)
    profile = profile_file.profile()
    assert len(profile.or_empty("calls")) == 0 and len(profile.or_empty("operations").name) == 0
    assert profile.extent() == (3, 7)


def test_a_missing_column_is_null(profile_file) -> None:
    with profile_file.writing(schema="3.0.0") as file:
        file.kernel("kernel", 0, 1, 1)
    table = profile_file.profile().table("CUPTI_ACTIVITY_KIND_KERNEL")
    assert not table.has("greenContextId")
    assert table.integers("greenContextId").tolist() == [NULL]
    with pytest.raises(MissingData, match="greenContextId"):
        table.require("start", "greenContextId")


def test_integers_stay_integers(profile_file) -> None:
    """Times and identities do not become doubles, in which 2^53 + 1 would change."""
    odd = 2**53 + 1
    with profile_file.writing(vm=0x7F, pid=0xFFFFFF) as file:
        file.range("late", odd, odd + 2, tid=0xFFFFFF, event=2**62 + 1)
    ranges = profile_file.profile().ranges
    assert int(ranges.start[0]) == odd and int(ranges.duration[0]) == 2
    assert int(ranges.payload[0]) == 2**62 + 1
    assert (pid_of(int(ranges.thread[0])), tid_of(int(ranges.thread[0]))) == (0xFFFFFF, 0xFFFFFF)


def test_identities() -> None:
    thread = global_tid(123, 456, vm=1)
    assert thread == (1 << 48) + (123 << 24) + 456  # real files carry vm 1 at bit 48
    assert process_of(thread) == process_of(global_tid(123, 0, vm=1)) != process_of(global_tid(123, 0, vm=2))
    with pytest.raises(ValueError):
        global_tid(123, 1 << 24)


def test_registered_strings_come_from_the_string_table(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("spelled", 0, 1)
        file.range("registered", 2, 3, registered=True)
        file.row("NVTX_EVENTS", start=4, end=5, eventType=59, globalTid=file.thread(1), textId=999)
    assert profile_file.profile().ranges.text.to_list() == ["spelled", "registered", ""]


def test_a_domain_is_known_within_its_process(profile_file) -> None:
    """Two processes use the same domain ids. The default domain 0 has no name."""
    with profile_file.writing() as file:
        file.domain("ours", 1)
        file.domain("theirs", 1, pid=200)
        file.range("work", 0, 1, domainId=1)
        file.range("work", 0, 1, domainId=1, pid=200)
        file.range("work", 0, 1, domainId=0)
        file.range("work", 0, 1, domainId=7)
    assert profile_file.profile().ranges.name.to_list() == ["ours:work", "theirs:work", "work", "work"]


def test_a_category_is_known_within_its_domain_and_process(profile_file) -> None:
    with profile_file.writing() as file:
        file.category("sources", 5)
        file.category("filters", 5, domain=1)
        file.category("others", 5, pid=200)
        file.range("a", 0, 1, category=5)
        file.range("b", 0, 1, category=5, domainId=1)
        file.range("c", 0, 1, category=5, pid=200)
        file.range("d", 0, 1)
        file.range("e", 0, 1, category=6)
    ranges = profile_file.profile().ranges
    assert ranges.category.to_list() == ["sources", "filters", "others", "", ""]


def test_an_open_range_ends_with_the_last_nvtx_time(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("open", 10, None)
        file.range("closed", 20, 90)
        file.mark("mark", 120)
        file.call("cudaFree", 500, 600)
    ranges = profile_file.profile().ranges
    assert ranges.end.tolist() == [120, 90] and ranges.is_open.tolist() == [1, 0]


def test_marks_are_no_ranges(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("range", 0, 10)
        file.mark("mark", 5)
    profile = profile_file.profile()
    assert profile.ranges.name.to_list() == ["range"]
    assert profile.marks.name.to_list() == [
        "mark"
    ] and profile.marks.start.tolist() == profile.marks.end.tolist() == [5]


def test_imported_ranges_count_as_ranges(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("push", 0, 1, style=70)
        file.range("start", 0, 1, style=71)
    assert profile_file.profile().ranges.style.tolist() == [0, 1]


def test_event_types_are_taken_by_name(profile_file) -> None:
    """A version with other values for push/pop ranges is read by its own table."""
    with profile_file.writing() as file:
        file.row("ENUM_NSYS_EVENT_TYPE", id=159, name="NvtxPushPopRange", label="")
        file.range("new event type", 0, 1, style=159)
        file.range("another thing now", 0, 1, style=59)
    assert profile_file.profile().ranges.text.to_list() == ["new event type"]


def test_enumerations_of_the_file_go_before_ours(profile_file) -> None:
    with profile_file.writing() as file:
        file.row("ENUM_CUDA_MEMCPY_OPER", id=77, name="X", label="Sideways")
        file.copy(0, 1, 1, kind=77)
        file.copy(0, 1, 1, kind=12)
        file.copy(0, 1, 1, kind=99)
    names = profile_file.profile().operations.name.to_list()
    assert names == [
        "[CUDA memcpy Sideways]",
        "[CUDA memcpy Unified Device-to-Host]",
        "[CUDA memcpy kind 99]",
    ]


@pytest.mark.parametrize("column", ("uint64Value", "int64Value", "uint32Value", "int32Value"))
def test_payloads_of_every_integer_type(profile_file, column: str) -> None:
    with profile_file.writing() as file:
        file.range("with", 0, 1, **{column: 42})
        file.range("without", 0, 1)
        file.range("real", 0, 1, doubleValue=4.5)
    assert profile_file.profile().ranges.payload.tolist() == [42, NULL, NULL]


@pytest.mark.parametrize(
    "full, short",
    [
        ("cudaLaunchKernel_v7000", "cudaLaunchKernel"),
        ("cudaGraphLaunch_v10000", "cudaGraphLaunch_v10000"),  # nsys strips four digits only
        ("cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync_v2"),
        ("cudaMemcpyAsync_ptsz_v7000", "cudaMemcpyAsync_ptsz"),
        ("cudaFree", "cudaFree"),
    ],
)
def test_version_suffixes(profile_file, full: str, short: str) -> None:
    with profile_file.writing() as file:
        file.call(full, 0, 1)
    assert profile_file.profile().calls.name.to_list() == [short]


def test_system_calls_leave_out_the_tracer_itself(profile_file) -> None:
    with profile_file.writing() as file:
        file.system_call("start of tracing", 0, 0, event_class=31)
        file.system_call("read", 5, 9)
    assert profile_file.profile().system_calls.name.to_list() == ["read"]


def test_metadata_under_its_old_and_new_name(profile_file, tmp_path: Path) -> None:
    with profile_file.writing(schema="3.0.0") as file:
        file.row("EXPORT_META_DATA", name="EXPORT_PRODUCT_VERSION", value="2022.4")
    assert profile_file.profile().export["EXPORT_PRODUCT_VERSION"] == "2022.4"


def test_names_of_threads_and_processes(profile_file) -> None:
    with profile_file.writing() as file:
        file.thread_name("worker", 5, priority=10)
        file.process_name("wire-cell")
        thread = file.thread(5)
    profile = profile_file.profile()
    assert profile.thread_names == {thread: "worker"} and profile.thread_priorities == {thread: 10}
    assert profile.process_names == {100: "wire-cell"}


def test_own_files_have_a_manifest(profile_file) -> None:
    with profile_file.writing() as file:
        file.manifest(tier="nvtx", dropped="0")
    assert profile_file.profile().is_own and profile_file.profile().manifest == {
        "tier": "nvtx",
        "dropped": "0",
    }


def test_files_that_are_no_profile_are_rejected(tmp_path: Path) -> None:
    absent, text, other = tmp_path / "absent", tmp_path / "run.nsys-rep", tmp_path / "other.sqlite"
    with pytest.raises(ProfileError, match="cannot read"):
        Profile.open(absent)
    with pytest.raises(ProfileError, match="cannot read"):
        Profile.open(tmp_path)
    text.write_text("something else, longer than a file signature")
    with pytest.raises(ProfileError, match="nsys export --type sqlite .*run.nsys-rep"):
        Profile.open(text)
    sqlite3.connect(other).execute("CREATE TABLE recipes (name)").connection.commit()
    with pytest.raises(ProfileError, match="not a profile"):
        Profile.open(other)


def test_a_damaged_file_is_one_readable_error(profile_file) -> None:
    with profile_file.writing() as file:
        for index in range(2000):
            file.range(f"range {index}", index, index + 1)
    content = bytearray(profile_file.path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    profile_file.path.write_bytes(content)
    with pytest.raises(ProfileError, match="damaged"):
        profile_file.profile().ranges


def test_odd_characters_in_the_path(tmp_path: Path, profile_file) -> None:
    with profile_file.writing() as file:
        file.range("a", 0, 1)
    odd = tmp_path / "what? 100% #1.sqlite"
    profile_file.path.rename(odd)
    with Profile.open(odd) as profile:
        assert len(profile.ranges) == 1


def test_a_profile_is_never_changed(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("a", 0, 1)
    before = profile_file.path.read_bytes()
    profile_file.scope().projection.pairs
    assert profile_file.path.read_bytes() == before


def test_start_end_threads(profile_file) -> None:
    """endGlobalTid is NULL if the range ended on the thread on which it began."""
    with profile_file.writing() as file:
        file.range("same", 0, 1, tid=1, style=START_END)
        file.range("other", 0, 1, tid=1, style=START_END, end_tid=2)
        file.range("said", 0, 1, tid=1, style=START_END, end_tid=1)
    ranges = profile_file.profile().ranges
    assert ranges.on_one_thread.tolist() == [True, False, True]
    assert np.array_equal(tid_of(ranges.end_thread), [1, 2, 1])


def test_pairs_of_names_exceed_32_bits() -> None:
    """Two columns of 70,000 names have 4.9e9 possible pairs."""
    names = [str(index) for index in range(70_000)]
    one, other = (Labels(np.arange(70_000)[::step], names) for step in (1, -1))
    joined = combine(one, other, lambda left, right: f"{left}:{right}")
    assert joined.to_list()[::30_000] == ["0:69999", "30000:39999", "60000:9999"]
