# SPDX-License-Identifier: Apache-2.0
"""Test the content of recordings of NVTX programs, and how programs begin and end under the recorder."""

from __future__ import annotations

import resource
import sqlite3
from pathlib import Path

import pytest

from tests.recorder import recorded
from tests.recorder.recorded import CATEGORY, DOMAIN, MARK, PUSH_POP, START_END, THREAD, Recorded, run
from tests.support import shared, wire_cell

pytestmark = recorded.needs_recorder


@pytest.fixture(scope="module")
def everything(program: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Recorded]:
    """Return the output of the program and its recording."""
    folder = tmp_path_factory.mktemp("everything")
    done = run(program, "everything", folder=folder)
    return done.stdout, Recorded(folder / "out.sqlite")


class TestContent:
    def test_push_and_pop_answer_with_the_depth_in_their_domain(
        self, everything: tuple[str, Recorded]
    ) -> None:
        """Depths are: outer 0, in the other domain 0, inner 1; then the other domain's 0, inner 1, outer 0."""
        assert everything[0] == "0 0 1 0 1 0\n"

    def test_names(self, everything: tuple[str, Recorded]) -> None:
        """Registered names are stored as references, others as text; wide strings become UTF-8."""
        file = everything[1]
        assert file.sql("SELECT s.value, n.text FROM NVTX_EVENTS n JOIN StringIds s ON n.textId = s.id") == [
            ("registered", None),
            ("registered", None),
        ]
        assert file.sql("SELECT text FROM NVTX_EVENTS WHERE text LIKE 'ä%'") == [("ä€😀",)]
        assert [mark.name for mark in file.ranges(MARK)][:2] == ["wide mark", "mark"]

    def test_counters_in_names_of_operators_are_cut_out(self, everything: tuple[str, Recorded]) -> None:
        names = [each.name for each in everything[1].ranges(PUSH_POP) if each.name.startswith("aten::")]
        assert names == ["aten::add", "aten::add, sizes = [[2, 3], []]"]

    def test_payloads_colours_categories(self, everything: tuple[str, Recorded]) -> None:
        """Each payload is in the column of its type; unsigned 64 bits are stored as signed, as in nsys."""
        file = everything[1]
        columns = "uint64Value, int64Value, doubleValue, uint32Value, int32Value, floatValue"
        rows = {
            name: values
            for name, *values in file.sql(f"SELECT text, {columns} FROM NVTX_EVENTS WHERE eventType = 34")
        }
        expected = {"u64": -1, "i64": -5, "f64": 0.1, "u32": 4000000000, "i32": -6, "f32": 0.5}
        for position, (name, value) in enumerate(expected.items()):
            assert rows[name] == [value if column == position else None for column in range(6)]
        assert file.sql("SELECT DISTINCT category, color FROM NVTX_EVENTS WHERE textId IS NOT NULL") == [
            (3, 0xFF102030)
        ]

    def test_domains_categories_threads(self, everything: tuple[str, Recorded]) -> None:
        file = everything[1]
        domains = {row.name: row.domain for row in file.ranges(DOMAIN)}
        assert set(domains) == {"own", "bréit"} and 0 not in domains.values()
        assert {row.name: row.domain for row in file.ranges(CATEGORY)} == {
            "third": domains["own"],
            "fourth": 0,
        }
        [worker] = file.ranges(THREAD)
        named = dict(
            file.sql(
                "SELECT t.globalTid & 0xFFFFFF, s.value FROM ThreadNames t JOIN StringIds s ON t.nameId = s.id"
            )
        )
        assert (
            worker.name == "the worker"
            and named[worker.thread] == "the worker"
            and "annotated" in named.values()
        )

    def test_start_and_end(self, everything: tuple[str, Recorded]) -> None:
        """endGlobalTid is set only if a range ended on another thread; a range ends once."""
        file = everything[1]
        same, other = file.sql(
            "SELECT globalTid, endGlobalTid, rangeId FROM NVTX_EVENTS WHERE eventType = 60 ORDER BY start"
        )
        assert same[1] is None and other[1] not in (None, other[0]) and other[2] != same[2]
        assert [row.name for row in file.ranges(START_END)] == ["same thread", "registered"]

    def test_times(self, everything: tuple[str, Recorded]) -> None:
        """Ranges are sorted, within the session, and nested as in the program."""
        file = everything[1]
        rows = file.ranges()
        assert [row.start for row in rows] == sorted(row.start for row in rows)
        [(duration,)] = file.sql("SELECT duration FROM ANALYSIS_DETAILS")
        assert all(0 <= row.start <= (row.end or row.start) <= duration for row in rows)
        by_name = {row.name: row for row in file.ranges(PUSH_POP)}
        outer, inner = by_name["outer"], by_name["ä€😀"]
        assert outer.start <= inner.start < inner.end <= outer.end

    def test_schema(self, everything: tuple[str, Recorded]) -> None:
        """Tables with a name of nsys have the first of its columns, in its order; GPU tables are absent."""
        file = everything[1]
        tables = file.tables()
        assert {
            "NVTX_EVENTS",
            "StringIds",
            "PROCESSES",
            "ThreadNames",
            "TARGET_INFO_GPU",
            "ANALYSIS_DETAILS",
            "DIAGNOSTIC_EVENT",
            "TARGET_INFO_SYSTEM_ENV",
            "TARGET_INFO_SESSION_START_TIME",
            "META_DATA_CAPTURE",
            "META_DATA_EXPORT",
            "ENUM_CUDA_MEMCPY_OPER",
            "ENUM_CUDA_MEM_KIND",
            "ENUM_NSYS_EVENT_TYPE",
            "SPNG_RUN",
            "SPNG_NODE",
            "SPNG_EDGE",
            "SPNG_CALL",
            "SPNG_EVENT",
            "SPNG_MSG",
            "SPNG_SAMPLE",
            "SPNG_DIAG",
        } <= set(tables)
        assert not any(name.startswith("CUPTI") for name in tables)
        folder = shared.shared_folder()
        if folder is None:
            pytest.skip("no shared data with an export of nsys")
        with sqlite3.connect(f"file:{folder}/data/nsys/radar-a100.sqlite?mode=ro", uri=True) as real:
            for name in set(tables) & {row[0] for row in real.execute("SELECT name FROM sqlite_master")}:
                columns = [row[1] for row in real.execute(f"PRAGMA table_info({name})")]
                assert tables[name] == [column for column in columns if column in tables[name]], name
                if name.startswith("ENUM_"):
                    assert set(file.sql(f"SELECT * FROM {name}")) <= set(
                        real.execute(f"SELECT * FROM {name}")
                    ), name

    def test_manifest(self, everything: tuple[str, Recorded], program: Path) -> None:
        run_of = everything[1].run()
        assert run_of["program"] == str(program) and run_of["command_line"] == f"{program} everything"
        assert run_of["end"] == "exit" and run_of["tier"] == "nvtx" and run_of["cpu_cores"].isdigit()
        assert int(run_of["ranges"]) == 5 + 2 + 8  # push/pop, start/end, marks
        assert [run_of[key] for key in run_of if key.startswith("dropped.")] == ["0"] * 4
        assert 0 < float(run_of["range_overhead_inside_ns"]) < float(run_of["range_overhead_ns"]) < 5000

    def test_samples(self, everything: tuple[str, Recorded]) -> None:
        rows = dict(
            everything[1].sql(
                "SELECT metric, MAX(value) FROM SPNG_SAMPLE WHERE source = 'process' GROUP BY metric"
            )
        )
        assert 1e6 < rows["resident_bytes"] < 1e9 and 0 < rows["cpu_ns"] < 1e11

    def test_samples_of_the_machine(self, everything: tuple[str, Recorded]) -> None:
        """At the start and at the end of the recording; at least the process was busy."""
        query = "SELECT value FROM SPNG_SAMPLE WHERE source = '{}' AND metric = 'cpu_ns' ORDER BY t"
        machine, process = (everything[1].sql(query.format(source)) for source in ("machine", "process"))
        assert len(machine) >= 2 and machine == sorted(machine) and machine[-1][0] > process[-1][0]


class TestHowProgramsEnd:
    @pytest.mark.parametrize(
        "way, status, end",
        [
            ("return", 0, "exit"),
            ("exit", 0, "exit"),
            ("quick_exit", 0, "exit"),
            ("exit in a thread", 0, "exit"),
            ("abort", -6, "signal 6"),
            ("abort in a thread", -6, "signal 6"),
            ("segv", -11, "signal 11"),
            ("term", -15, "signal 15"),
            ("int", -2, "signal 2"),
            ("hup", -1, "signal 1"),
            ("quit", -3, "signal 3"),
            ("usr1", -10, "signal 10"),
            ("xcpu", -24, "signal 24"),
        ],
    )
    def test_the_file_is_complete(
        self, program: Path, tmp_path: Path, way: str, status: int, end: str
    ) -> None:
        run(program, "end", way, folder=tmp_path, status=status, spill="0.1")
        assert [path.name for path in tmp_path.iterdir()] == ["out.sqlite"]
        file = Recorded(tmp_path / "out.sqlite")
        assert file.run()["end"] == end
        said, left_open = file.ranges(PUSH_POP)
        assert (said.name, left_open.name) == ("said", "open")
        assert left_open.end - left_open.start > 0.3e9

    @pytest.mark.parametrize("way, status", [("kill", -9), ("_exit", 0)])
    def test_without_a_last_word_the_part_file_can_be_recovered(
        self, program: Path, tmp_path: Path, way: str, status: int
    ) -> None:
        """No file has the final name; at most the rows since the last spill are lost."""
        run(program, "end", way, folder=tmp_path, status=status, spill="0.1")
        [part] = tmp_path.glob("out.sqlite.*.part")
        assert not (tmp_path / "out.sqlite").exists()
        done = wire_cell.run("--recover-record", part, folder=tmp_path)
        assert done.returncode == 0 and done.stdout == f"{tmp_path}/out.sqlite recovered\n", done.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["out.sqlite"]
        file = Recorded(tmp_path / "out.sqlite")
        assert file.run()["end"] == "recovered"
        said, left_open = file.ranges(PUSH_POP)
        assert (said.name, left_open.name) == ("said", "open")
        assert left_open.end - left_open.start > 0.15e9

    def test_recovering_what_is_no_recording(self, tmp_path: Path) -> None:
        (tmp_path / "x.part").write_bytes(b"SQLite format 3\0 and no more")
        block = wire_cell.rejected("--recover-record", tmp_path / "x.part", folder=tmp_path, status=1)
        assert "x.part" in block
        assert "unable to open" in wire_cell.rejected(
            "--recover-record", "absent.part", folder=tmp_path, status=1
        )


class TestThreadsAndProcesses:
    def test_threads_that_ended_before_anything_was_written(self, program: Path, tmp_path: Path) -> None:
        run(program, "threads", "80", folder=tmp_path, spill="60")
        rows = Recorded(tmp_path / "out.sqlite").ranges(PUSH_POP)
        assert len(rows) == 80 and {row.name for row in rows} == {"short-lived"}

    def test_a_fork_is_silent(self, program: Path, tmp_path: Path) -> None:
        run(program, "fork", folder=tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["out.sqlite"]
        assert [row.name for row in Recorded(tmp_path / "out.sqlite").ranges(PUSH_POP)] == ["parent", "after"]

    @pytest.mark.parametrize("name, files", [("out.sqlite", 1), ("out-%p.sqlite", 2)])
    def test_children_have_a_file_only_if_the_name_tells_them_apart(
        self, program: Path, tmp_path: Path, name: str, files: int
    ) -> None:
        done = run(program, "command", f"{program} ranges 3", record=name, folder=tmp_path)
        assert done.stdout == "0\n"
        found = [Recorded(path).ranges(PUSH_POP) for path in tmp_path.iterdir()]
        assert sorted(len(rows) for rows in found) == [1, 3][:files]

    def test_two_libraries_share_their_domains(self, program: Path, tmp_path: Path) -> None:
        """Each library has its own copy of NVTX and attaches separately."""
        run(program, "library", str(program.with_name("library.so")), folder=tmp_path)
        file = Recorded(tmp_path / "out.sqlite")
        [domain] = file.ranges(DOMAIN)
        assert domain.name == "shared"
        assert [(row.name, row.domain) for row in file.ranges(PUSH_POP)] == [
            ("from the library", domain.domain)
        ] * 2

    def test_nvtx_used_before_the_recorder_was_named(self, program: Path, tmp_path: Path) -> None:
        """NVTX looks for a tool once, so no range is recorded, but nothing breaks."""
        run(program, "early", folder=tmp_path, NVTX_INJECTION64_PATH="", LATE_TOOL=str(recorded.RECORDER))
        assert list(tmp_path.iterdir()) == []


class TestLimits:
    def test_many_ranges(self, program: Path, tmp_path: Path) -> None:
        """300 chunks of rows."""
        run(program, "ranges", "300000", folder=tmp_path)
        file = Recorded(tmp_path / "out.sqlite")
        assert file.sql(
            "SELECT COUNT(*), COUNT(DISTINCT globalTid) FROM NVTX_EVENTS WHERE eventType = 59"
        ) == [(300000, 1)]
        assert file.sql(
            "SELECT COUNT(*) FROM (SELECT start < LAG(end) OVER (ORDER BY rowid) AS wrong FROM NVTX_EVENTS "
            "WHERE eventType = 59) WHERE wrong"
        ) == [(0,)]

    def test_memory_limit(self, program: Path, tmp_path: Path) -> None:
        """1 MB holds 18 chunks of 1024 rows; with a writer that sleeps for a minute the rest is dropped,
        counted and reported.
        """
        run(program, "ranges", "300000", folder=tmp_path, spill="60", memory="1")
        file = Recorded(tmp_path / "out.sqlite")
        kept, dropped = len(file.ranges(PUSH_POP)), int(file.run()["dropped.memory_limit"])
        assert kept + dropped == 300000 and kept >= 16 * 1024
        assert (dropped > 0) == (f"warning: {dropped} ranges and marks were dropped" in file.diagnostics())

    def test_row_limit(self, program: Path, tmp_path: Path) -> None:
        run(program, "ranges", "50000", folder=tmp_path, rows="10000")
        file = Recorded(tmp_path / "out.sqlite")
        kept, dropped = len(file.ranges(PUSH_POP)), int(file.run()["dropped.row_limit"])
        assert kept + dropped == 50000 and 10000 <= kept < 10000 + 2 * 1024
        assert f"warning: {dropped} ranges and marks were dropped" in file.diagnostics()

    def test_unbalanced(self, program: Path, tmp_path: Path) -> None:
        """Pops without push are counted; pushes without pop end with the session, up to the depth that a thread keeps."""
        assert run(program, "unbalanced", folder=tmp_path).stdout == "1 1\n"
        file = Recorded(tmp_path / "out.sqlite")
        assert file.run()["unbalanced_pops"] == "2" and file.run()["dropped.too_deep"] == str(20000 - 16384)
        names = [row.name for row in file.ranges(PUSH_POP)]
        assert names == ["fine"] + ["never popped"] * 16384
        assert "2 ranges ended without a begin" in file.diagnostics()

    def test_many_names(self, program: Path, tmp_path: Path) -> None:
        run(program, "names", "100000", folder=tmp_path)
        assert len({row.name for row in Recorded(tmp_path / "out.sqlite").ranges(PUSH_POP)}) == 100000

    def test_full_disk(self, program: Path, tmp_path: Path) -> None:
        """The program ends as usual; one line gives the reason and the part file, which can be recovered."""
        limit = 4_000_000  # of which 300,000 ranges need about four times as much
        done = run(
            program,
            "ranges",
            "300000",
            folder=tmp_path,
            spill="0.05",
            limits=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )
        assert "SPNG recorder: " in done.stderr and ".part" in done.stderr
        [part] = tmp_path.glob("out.sqlite.*.part")
        assert not (tmp_path / "out.sqlite").exists() and not list(tmp_path.glob("*.tmp"))
        assert wire_cell.run("--recover-record", part, folder=tmp_path).returncode == 0
        assert 30_000 < len(Recorded(tmp_path / "out.sqlite").ranges(PUSH_POP)) < 300_000


class TestNames:
    def test_patterns(self, program: Path, tmp_path: Path) -> None:
        run(program, "ranges", "1", record="%q{JOB_NAME}-100%%-%h.sqlite", folder=tmp_path, JOB_NAME="job 7")
        [path] = tmp_path.iterdir()
        assert path.name.startswith("job 7-100%-") and "%h" not in path.name

    @pytest.mark.parametrize(
        "name, said",
        [
            ("%x.sqlite", "%x.sqlite"),
            ("%q{NO_SUCH_VARIABLE}", "NO_SUCH_VARIABLE"),
            ("absent/out.sqlite", "absent/out.sqlite"),
            ("/proc/out.sqlite", "/proc/out.sqlite"),
        ],
    )
    def test_what_cannot_be_is_said_and_the_program_runs(
        self, program: Path, tmp_path: Path, name: str, said: str
    ) -> None:
        done = run(program, "everything", record=name, folder=tmp_path)
        assert done.stderr.startswith("SPNG recorder: nothing is recorded: ") and said in done.stderr
        assert list(tmp_path.iterdir()) == []

    def test_parts(self, program: Path, tmp_path: Path) -> None:
        done = run(program, "ranges", "1", folder=tmp_path, what="nvtx,sample")
        assert "'sample'" in done.stderr and "samples" in done.stderr
        run(program, "ranges", "1", folder=tmp_path, what="nvtx")
        assert "SPNG_SAMPLE" not in Recorded(tmp_path / "out.sqlite").tables()
        run(program, "ranges", "1", folder=tmp_path, what="samples")
        file = Recorded(tmp_path / "out.sqlite")
        assert file.ranges(PUSH_POP) == [] and file.sql("SELECT COUNT(*) > 0 FROM SPNG_SAMPLE") == [(1,)]

    @pytest.mark.parametrize("rank, files", [("1", 1), ("0", 0)])
    def test_rank(self, program: Path, tmp_path: Path, rank: str, files: int) -> None:
        run(program, "ranges", "1", folder=tmp_path, rank=rank, SLURM_PROCID="1")
        assert len(list(tmp_path.iterdir())) == files

    def test_without_a_request_there_is_no_file(self, program: Path, tmp_path: Path) -> None:
        run(program, "everything", record=None, folder=tmp_path)
        assert list(tmp_path.iterdir()) == []
