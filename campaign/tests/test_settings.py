# SPDX-License-Identifier: Apache-2.0
"""Changes of settings that change outputs, and changes that do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from wirecell_campaign import settings
from wirecell_campaign.errors import UsageError

PROGRAM = {"version": "1", "commit": "abc"}


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a configuration with nested imports, one of them in the folder `cfg` above, and a model."""
    monkeypatch.chdir(tmp_path)
    for name, text in (
        (
            "cfg/jobs/job.jsonnet",
            "local a = import 'a.jsonnet'; local b = import \"lib/b.jsonnet\"; local s = importstr 'text.txt'; a",
        ),
        ("cfg/jobs/a.jsonnet", "{ c: import '../lib/c.jsonnet' }"),
        ("cfg/lib/b.jsonnet", "{ again: import 'c.jsonnet' }"),
        ("cfg/lib/c.jsonnet", "{}"),
        ("cfg/jobs/text.txt", "import 'nothing.jsonnet'"),
        ("model.ts", "weights"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path / "cfg/jobs/job.jsonnet"


def digest(job: Path, *words: str, program: dict = PROGRAM, suffix: str = ".npz") -> str:
    """Return the digest of the settings of -A words."""
    return settings.make(job, settings.parse_arguments(list(words)), program, suffix, []).digest()


@pytest.mark.parametrize(
    "file",
    [
        "cfg/jobs/job.jsonnet",
        "cfg/jobs/a.jsonnet",
        "cfg/lib/b.jsonnet",
        "cfg/lib/c.jsonnet",
        "cfg/jobs/text.txt",
    ],
)
def test_every_imported_file_counts(job: Path, file: str) -> None:
    before = digest(job)
    Path(file).write_text(Path(file).read_text() + " ")
    assert digest(job) != before


def test_arguments_program_and_ending_count(job: Path) -> None:
    seen = {
        digest(job),
        digest(job, "model=none"),
        digest(job, "model=x"),
        digest(job, "model=none", "tpcid=1"),
        digest(job, program={"version": "1", "commit": "abd"}),
        digest(job, suffix=".tar"),
    }
    assert len(seen) == 6
    assert digest(job, "model=none", "tpcid=1") == digest(job, "tpcid=1", "model=none"), (
        "their order does not"
    )


def test_a_file_is_identified_by_its_content_not_its_path(job: Path) -> None:
    before = digest(job, "model=model.ts")
    Path("elsewhere").mkdir()
    Path("elsewhere/net.ts").write_text("weights")
    assert digest(job, "model=elsewhere/net.ts") == before
    Path("model.ts").write_text("other weights")
    assert digest(job, "model=model.ts") != before


def test_files_become_absolute_and_plain_words_stay(job: Path, tmp_path: Path) -> None:
    Path("none").write_text("a file with the name of a word")
    found = settings.parse_arguments(["model=model.ts", "filters=none", "dump=a=b"])
    assert found == {"model": str(tmp_path / "model.ts"), "filters": "none", "dump": "a=b"}


@pytest.mark.parametrize(
    "words, said",
    [
        (["model"], "no value"),
        (["=x"], "no value"),
        (["input=x"], "for each file"),
        (["output=x"], "for each file"),
        (["a=1", "a=2"], "given twice"),
    ],
)
def test_bad_arguments(words: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        settings.parse_arguments(words)


def test_a_difference_is_named(job: Path) -> None:
    old = settings.make(job, {"filters": "pdhd"}, PROGRAM, ".npz", [])
    new = settings.make(job, {"filters": "pdhd"}, {"version": "1", "commit": "new"}, ".npz", [])
    block = str(settings.changed(old.content(), new, Path("/out")))
    assert (
        "program: {'version': '1', 'commit': 'abc'} -> {'version': '1', 'commit': 'new'}" in block
        and "arguments" not in block.split("expected")[0]
    )
    assert "another version" in str(
        settings.changed({"arguments": {"filters": "pdhd"}} | vars(old), old, Path("/out"))
    )


def test_the_projects_own_configuration_is_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert settings.find_config("cfg/pipeline.jsonnet").name == "pipeline.jsonnet"
    assert settings.find_config("pipeline.jsonnet").is_file()
    packages = tmp_path / "spng/share/wirecell"
    (packages / "cfg").mkdir(parents=True)
    (packages / "cfg/pipeline.jsonnet").write_text("{}")
    monkeypatch.setattr(settings, "FOLDERS", [tmp_path / "absent", packages])
    assert settings.find_config("cfg/pipeline.jsonnet") == packages / "cfg/pipeline.jsonnet"
    with pytest.raises(UsageError, match="no such configuration"):
        settings.find_config("nothing.jsonnet")
