# SPDX-License-Identifier: Apache-2.0
"""wirecell-profile rules: each rule finds the events that it must find and ignores the others."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from wirecell_profile.cli import main
from wirecell_profile.errors import MissingData
from wirecell_profile.rules import Found, Hit, Limits, all_rules
from wirecell_profile.rules.next_commands import next_commands
from wirecell_profile.rules.source_search import Sources

from tests.support.shared import ROOT

PAGEABLE, PINNED, DEVICE, MANAGED = 0, 1, 2, 4


def find(scope, name: str, **limits) -> Found:
    """Return the findings of a rule."""
    return all_rules()[name].run(scope, Limits(**limits))


def starts(found: Found) -> list[int]:
    """Return the starts in order of cost."""
    return [hit.start for hit in found.hits]


def test_all_rules_are_there() -> None:
    assert set(all_rules()) == {
        "cuda_memcpy_async",
        "cuda_memcpy_sync",
        "cuda_memset_sync",
        "cuda_api_sync",
        "api_errors",
        "orphan_operations",
        "gpu_copies",
        "node_waits",
        "file_waits",
        "first_event",
        "idle_cores",
        "other_programs",
        "gpu_gaps",
        "gpu_time_util",
        "launch_storm",
    }


def test_copies(profile_file) -> None:
    with profile_file.writing() as file:

        def copy(start: int, api: str, source: int, target: int, length: int = 10) -> None:
            file.copy(
                start, start + length, file.call(api, start - 5, start - 4), source=source, target=target
            )

        copy(100, "cudaMemcpyAsync_v3020", PAGEABLE, DEVICE, length=20)
        copy(200, "cudaMemcpyAsync_v3020", PINNED, DEVICE)
        copy(300, "cudaMemcpyAsync_v3020", DEVICE, PAGEABLE, length=30)
        copy(400, "cudaMemcpy_v3020", PAGEABLE, DEVICE)
        copy(500, "cudaMemcpy_v3020", PINNED, DEVICE)
        copy(600, "cuMemcpyDtoD_v2", DEVICE, DEVICE)
    scope = profile_file.scope()
    found = find(scope, "cuda_memcpy_async")
    assert starts(found) == [300, 100] and found.total == 50
    assert found.hits[0].note == "1,000 B, Device to Pageable"
    assert starts(find(scope, "cuda_memcpy_sync")) == [400, 600]
    with pytest.raises(MissingData):
        find(scope, "cuda_memset_sync")


def test_sets(profile_file) -> None:
    with profile_file.writing() as file:
        for start, api, memory in (
            (100, "cudaMemset_v3020", DEVICE),
            (200, "cudaMemset_v3020", PINNED),
            (300, "cudaMemset_v3020", MANAGED),
            (400, "cudaMemsetAsync_v3020", PINNED),
        ):
            file.memset(start, start + 10, file.call(api, start - 5, start - 4), memory=memory)
    assert starts(find(profile_file.scope(), "cuda_memset_sync")) == [200, 300]


def test_waits_and_errors(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("step", 0, 1000)
        file.call("cudaStreamSynchronize_v3020", 10, 30)
        file.call("cudaDeviceSynchronize_v3020", 40, 100)
        file.call("cuCtxSynchronize", 200, 210)
        file.call("cudaEventQuery_v3020", 300, 301, result=600)
        file.call("cudaMalloc_v3020", 400, 410, result=2)
    scope = profile_file.scope()
    found = find(scope, "cuda_api_sync")
    assert (
        starts(found) == [40, 10, 200] and scope.profile.ranges.text.text(found.hits[0].range_row) == "step"
    )
    (error,) = find(scope, "api_errors").hits
    assert (error.start, error.note) == (400, "returned 2")


def test_gaps_of_the_device(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("late", 0, 60_000)
        file.launch("a", (0, 1), (0, 10_000))
        file.launch("b", (40_000, 41_000), (50_000, 60_000))  # 40 us
        file.launch("c", (70_000, 70_001), (80_000, 90_000))  # 20 us: not longer than the limit
        file.launch("d", (100_000, 100_001), (130_000, 140_000))  # 40 us, but the profiler worked
        file.row("PROFILER_OVERHEAD", start=95_000, end=96_000)
        file.launch("other device", (0, 1), (0, 1), device=1)
    scope = profile_file.scope()
    (gap,) = find(scope, "gpu_gaps").hits
    assert (gap.start, gap.duration, gap.note) == (10_000, 40_000, "device 0, until b")
    assert scope.profile.ranges.text.text(gap.range_row) == "late"
    assert len(find(scope, "gpu_gaps", gap=19_999).hits) == 2


def test_utilisation_in_chunks(profile_file) -> None:
    """Ten chunks of 100: full, full, 40 %, 0, 60 %, full ..."""
    with profile_file.writing() as file:
        file.launch("a", (0, 1), (0, 240))
        file.launch("b", (2, 3), (440, 1000))
    hits = find(profile_file.scope(), "gpu_time_util", chunks=10).hits
    assert [(hit.start, hit.duration, hit.what) for hit in hits] == [(200, 200, "chunks 3-4 of 10")]
    assert hits[0].note == "device 0, 20.0 % busy, 20.0 % by kernels"
    assert not find(profile_file.scope(), "gpu_time_util", chunks=10, utilisation=0.0).hits


def test_utilisation_is_a_sum(profile_file) -> None:
    """Three kernels at once: 200 % of the first half, 100 % of the second."""
    with profile_file.writing() as file:
        file.launch("a", (0, 1), (0, 100))
        file.launch("b", (2, 3), (20, 45), stream=8)
        file.launch("c", (4, 5), (20, 45), stream=9)
    assert not find(profile_file.scope(), "gpu_time_util", chunks=2, utilisation=99.0).hits
    (hit,) = find(profile_file.scope(), "gpu_time_util", chunks=2, utilisation=120.0).hits
    assert hit.note == "device 0, 100.0 % busy, 100.0 % by kernels"


def storm(file, count: int, start: int, name: str = "tiny", device: int = 0) -> None:
    """Write kernels of 1 us, one every 5 us."""
    for i in range(count):
        at = start + 5_000 * i
        file.launch(name, (at, at + 1_000), (at + 2_000, at + 3_000), short=name, device=device)


def test_launch_storms(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("loop", 0, 1_000_000)
        storm(file, 120, 0)
        file.range("loop", 2_000_000, 3_000_000)
        storm(file, 99, 2_000_000)
        file.range("long", 4_000_000, 9_000_000)
        for i in range(150):
            at = 4_000_000 + 10_000 * i
            file.launch("long", (at, at + 1_000), (at + 2_000, at + 5_000))  # 3 us: not short
    scope = profile_file.scope()
    (hit,) = find(scope, "launch_storm").hits
    assert (hit.start, hit.duration, hit.what) == (0, 119 * 5_000 + 3_000, "120 launches")
    assert "median 1.00 us, most often tiny" in hit.note
    assert len(find(scope, "launch_storm", storm=99).hits) == 2


def test_orphans(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("step", 0, 100)
        file.launch("inside", (10, 20), (30, 40))
        file.launch("across the edge", (90, 110), (120, 130))
        file.kernel("unknown", 200, 210, 999)
    assert {(hit.what, hit.note) for hit in find(profile_file.scope(), "orphan_operations").hits} == {
        ("across the edge", "launched outside of all ranges"),
        ("unknown", "launching call unknown"),
    }


def test_next_command_picks_the_launch(profile_file) -> None:
    with profile_file.writing() as file:
        file.manifest(command_line="wire-cell --record a.sqlite --record-what all -c job.jsonnet")
        file.domain("spng", 1)
        for start in (0, 1_000):
            file.range("Step::a/b", start, start + 500, domainId=1)
            for at in (10, 20, 30):
                file.launch(
                    "spng::k<int>", (start + at, start + at + 1), (start + at + 2, start + at + 3), short="k"
                )
        file.launch("elsewhere", (5_000, 5_001), (5_002, 5_003), short="k")
    scope = profile_file.scope()
    hit = Hit(1_020, 1, "", range_row=1, kernel_row=4)
    first, second = next_commands(scope, "kernel", hit)
    assert first.startswith(
        "ncu --nvtx --nvtx-include 'spng@Step::a\\/b/' -k k --launch-skip 4 -c 1 --section SpeedOfLight"
    )
    assert "--cache-control none" in first and "--replay-mode kernel" in first and "import" not in first
    assert first.endswith(" wire-cell -c job.jsonnet")
    assert "--replay-mode application" in second and "--set roofline" in second
    lines = next_commands(scope, "storm", hit)
    assert "--replay-mode range" in lines[1] and "nsys profile" in lines[2]
    assert next_commands(scope, "sanitizer", hit)[0].startswith("compute-sanitizer --tool memcheck wire-cell")
    assert "--nvtx" not in next_commands(scope, "kernel", Hit(0, 0, ""))[0]


OWN_KERNELS = (
    *("robust_noise_of_short_rows_float32", "capped_noise_float32", "clipped_running_sum_float32"),
    *("pack_levels_float32", "grow_regions", "join_neighbours", "unpack_ticks", "pack_ticks", "coincidence"),
    *("multi_plane", "compact_regions_linear_float32", "compact_regions_restored_float32"),
)


def test_the_source_of_own_kernels_is_imported(profile_file) -> None:
    """ncu gets the folder of the kernels' source files, and no such option for kernels of libraries."""
    others = ("conv2d_c1_k1_nhwc", "void at::native::reduce_kernel<512, 1>(int)", "vector_fft")
    with profile_file.writing() as file:
        for index, name in enumerate((*OWN_KERNELS, *others)):
            file.launch(name, (10 * index, 10 * index + 1), (10 * index + 2, 10 * index + 3))
    scope, sources = profile_file.scope(), Sources(ROOT)
    for row, name in enumerate((*OWN_KERNELS, *others)):
        line = next_commands(scope, "kernel", Hit(0, 0, "", kernel_row=row), sources)[0]
        wanted = f"--set full --import-source yes --source-folders {ROOT / 'spng' / 'kernels'} --replay-mode"
        assert (wanted in line) == (name in OWN_KERNELS), name
        assert ("--source-folders" in line) == (name in OWN_KERNELS), name


def test_every_rule_has_a_next_command(profile_file) -> None:
    with profile_file.writing() as file:
        file.launch("k", (0, 1), (2, 3))
    for rule in all_rules().values():
        assert next_commands(profile_file.scope(), rule.next_tool, Hit(0, 0, "", kernel_row=0)), rule.name


def test_sources_find_the_opening(tmp_path) -> None:
    (tmp_path / "spng").mkdir()
    (tmp_path / "spng" / "a.cxx").write_text(
        '// "Decon::fft" is slow\nvoid f() {\n    NVTX_SCOPED_RANGE("Decon::fft");\n}\n'
    )
    (tmp_path / "spng" / "b.cxx").write_text(
        '// for example "SPNGDecon"\nregistry.add({.type = "SPNGDecon"});\n'
    )
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "c.cxx").write_text('NVTX_SCOPED_RANGE("gone");\n')
    (tmp_path / "spng" / "c.h").write_text('static const LabelIn<Scheduling> label("event", Kind::Event);\n')
    # Scripts of the analysis name nodes and ranges too, before the sources in the order of folders.
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "a.py").write_text(
        'if kind == "SPNGDecon":\n    ranges = named("event")\nannotate("read")\n'
    )
    sources = Sources(tmp_path)
    assert sources.location("read") == "scripts/a.py:3"
    assert sources.location("event") == "spng/c.h:1"
    assert sources.location("Decon::fft") == "spng/a.cxx:3"
    assert sources.location("SPNGDecon:induction") == "spng/b.cxx:2"
    assert sources.location("gone") == ""


@pytest.fixture
def stormy(profile_file) -> str:
    """Write a profile with a storm in a range of this repository."""
    with profile_file.writing() as file:
        file.manifest(command_line="wire-cell -c job.jsonnet")
        file.domain("spng", 1)
        file.range("Decon::fft", 0, 1_000_000, domainId=1)
        storm(file, 120, 0)
    return str(profile_file.path)


def test_the_command(stormy: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", stormy]) == 0
    shown = capsys.readouterr().out
    assert (
        "** launch_storm" in shown
        and "spng:Decon::fft" in shown
        and "--nvtx-include spng@Decon::fft/" in shown
    )
    assert "nothing found: api_errors" in shown
    assert "cuda_memcpy_async" in shown.split("not applicable:")[1]
    assert main(["rules", stormy, "-f", "json", "-r", "launch_storm"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["places"] == 1 and finding["ranges"][0]["range"] == "spng:Decon::fft"
    assert main(["rules", "--list"]) == 0


def test_formats_for_continuous_integration(
    profile_file, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only rules of --fail-on fail; names cannot leave their cell or element."""
    name = "a|b`<script>\n]]>\x1b\uffff"
    with profile_file.writing() as file:
        file.range("outer", 0, 1_000_000)
        storm(file, 120, 0)
        file.call(name, 10, 20, result=1)
    report, path = tmp_path / "report.xml", str(profile_file.path)
    assert main(["rules", path, "-f", "junit", "-o", str(report), "--fail-on", "api_errors"]) == 1
    cases = {case.get("name"): case for case in ElementTree.parse(report).getroot().iter("testcase")}
    assert set(cases) == set(all_rules())
    states = {each: [child.tag for child in case] for each, case in cases.items()}
    assert states["api_errors"] == ["failure"] and states["launch_storm"] == ["system-out"]
    assert states["cuda_api_sync"] == [] and states["cuda_memcpy_sync"] == ["skipped"]
    assert "a|b`<script>" in cases["api_errors"][0].text
    assert main(["rules", path, "-f", "markdown"]) == 0
    shown = capsys.readouterr().out
    assert "a\\|b\\`\\<script\\>\\\\n" in shown and "<script>" not in shown
    assert "### api\\_errors: API calls that failed: 1 location, " in shown


REASON = "no NVIDIA driver (libcuda.so.1 is not found)"


@pytest.mark.parametrize(
    "words",
    [
        ["rules"],
        ["export"],
        ["export", "-t", "cuda_gpu_sum,cuda_gpu_trace,summary_bus"],
        ["stats"],
        ["summary"],
    ],
    ids=" ".join,
)
def test_a_cpu_run_tells_its_reason_once(
    words: list[str], profile_file, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with profile_file.writing() as file:
        file.manifest(**{"what": "calls,nvtx,cuda", "source.cuda": f"off: {REASON}"})
        file.range("A", 0, 100)
        file.node(0, "A", "")
        file.node_call(1, 0, 0, 0, 100)
    main(
        [words[0], str(profile_file.path), *words[1:], *(["-o", str(tmp_path)] if "export" in words else [])]
    )
    shown = capsys.readouterr()
    text = shown.out + shown.err
    told = text[max(text.find("SKIPPED"), text.find("not applicable:"), text.find("missing, not zero:")) :]
    reasons = [line.rpartition(": ")[2] for line in told.splitlines()]
    assert text.count(REASON) == 1 and len(reasons) == len(set(reasons)) > 1


def test_the_file_of_the_range_is_named(stormy: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", stormy, "-f", "json", "-r", "launch_storm", "--source", str(ROOT)]) == 0
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    file, line = finding["ranges"][0]["file"].split(":")
    assert '"Decon::fft"' in (ROOT / file).read_text().splitlines()[int(line) - 1]


@pytest.mark.parametrize(
    "words, status",
    [
        (["--fail-on", "launch_storm"], 1),
        (["--fail-on", "launch_storm=1"], 0),
        (["--fail-on", "api_errors,gpu_gaps=5"], 0),
        (["--fail-on", "cuda_memcpy_async"], 1),  # the file has no copies: not looked at is not passed
        (["--fail-on", "any", "-r", "api_errors"], 0),
        (["--fail-on", "nonsense"], 2),
        (["--rule", "nonsense"], 2),
        (["--chunks", "0"], 2),
    ],
)
def test_exit_status(stormy: str, words: list[str], status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", stormy, *words]) == status


def test_a100(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the real export FFT plans copy pageable memory synchronously, and the set-up sets managed memory."""
    import lzma

    path = tmp_path / "radar.sqlite"
    path.write_bytes(lzma.decompress((Path(__file__).parent / "data" / "radar-a100.sqlite.xz").read_bytes()))
    assert main(["rules", str(path), "-f", "json"]) == 0
    found = {finding["rule"]: finding for finding in json.loads(capsys.readouterr().out)["findings"]}
    assert (found["cuda_memcpy_sync"]["places"], found["cuda_memcpy_sync"]["time_ns"]) == (7, 1_916_845)
    assert found["cuda_memset_sync"]["places"] == 3
    assert found["cuda_memcpy_sync"]["ranges"][0]["range"] == "MatX:matxCUDAFFTPlan1D_t"
    assert all(finding["next"] for finding in found.values())
