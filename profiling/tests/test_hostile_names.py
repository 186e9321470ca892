# SPDX-License-Identifier: Apache-2.0
"""Names that would control a terminal or run code in a page: users see them spelled."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from chromium import dump, marks, needs_chromium
from hostile_profile import COMMANDS, EVERY_NAME, EVIL, SPELLED, sql
from page_policy import HOSTILE_NAME, assert_policy, attacked
from wirecell_profile.cli import main
from wirecell_profile.model.profile import Profile
from wirecell_profile.output import MAX_WHOLE, cut_apart
from wirecell_profile.path_names import shell_word
from wirecell_profile.terminal import visible_output


def test_the_terminal_shows_names_spelled_and_files_have_them_as_they_are(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = tmp_path / f"{EVIL[:8]}.sqlite"
    shutil.copy(honest, profile)
    sql(f"UPDATE NVTX_EVENTS SET text = '{EVIL}' WHERE text = 'mark' OR text = 'configure'")(profile)
    assert main(["stats", str(profile), "-r", "nvtx_sum"]) == 0
    assert f"spng.setup:{SPELLED}" in capsys.readouterr().out
    assert main(["stats", str(profile), "-r", "nvtx_sum", "-f", "csv"]) == 0
    ends_of_lines_stay = SPELLED.removesuffix(r"\nend") + "\nend"
    assert f'"spng.setup:{ends_of_lines_stay}"' in capsys.readouterr().out
    assert main(["stats", str(profile), "-r", "nvtx_sum", "-f", "csv", "-o", str(tmp_path / "report")]) == 0
    with (tmp_path / "report_nvtx_sum.csv").open(encoding="utf-8", newline="") as file:
        assert f"spng.setup:{EVIL}" in [row[-1] for row in csv.reader(file)]
    assert main(["stats", str(tmp_path / EVIL[:8])]) == 1
    assert f"/{SPELLED[:11]}\n" in capsys.readouterr().err


def test_long_names_that_look_alike_are_cut() -> None:
    part = "a" * MAX_WHOLE
    names = [part + one + part + other + part for one in "xy" for other in "xy"]  # no cut shows both letters
    assert {len(name) for name in cut_apart(names, 40)} == {MAX_WHOLE}


def test_a_text_that_the_terminal_cannot_encode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of files may be any bytes, and a terminal may have only ASCII."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    with visible_output():
        print("\udcff \u00b5s")
    stream.seek(0)
    assert stream.read() == "\\xff \\xb5s\n"


RUN_ALL = """
import sys
from hostile_profile import COMMANDS
from wirecell_profile.cli import main
profile, folder, honest = sys.argv[1:]
for line in (*COMMANDS, "html {f}", "trace {f}", "export {f} -f hdf5 -t summary_nodes", "merge {f} {h} -o {o}/m.sqlite"):
    if main([word.format(f=profile, o=folder, h=honest) for word in line.split()]):
        sys.exit(f"failed: {line}")
sys.exit(main(["summary", folder]))
"""


@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
def test_paths_of_any_bytes(honest: Path, tmp_path: Path, locale: str) -> None:
    """All commands, in a locale of UTF-8 and in one of ASCII; pages and JSON are valid UTF-8."""
    folder = os.fsencode(tmp_path) + b"/d\xff"
    os.mkdir(folder)
    profile = os.path.join(folder, b"p\xe9 \xc3\xa9.sqlite")
    shutil.copy(os.fsencode(honest), profile)
    environment = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, profile, folder, honest],
        env=environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=False,
    )
    e_acute = "é" if locale == "C.UTF-8" else r"\xc3\xa9"
    errors = done.stderr.decode()
    assert done.returncode == 1 and f"where:    {tmp_path}/d\\xff\n" in errors, errors
    assert f"/d\\xff/p\\xe9 {e_acute}.html: " in done.stdout.decode()
    spelled = "p\\xe9 é.sqlite"
    page = Path(os.fsdecode(folder), "page.html").read_text(encoding="utf-8")
    assert spelled in page
    trace = json.loads(Path(os.fsdecode(folder), "trace.json").read_text(encoding="utf-8"))
    assert trace["otherData"]["file"] == spelled
    with Profile.open(os.fsdecode(folder + b"/merged.sqlite")) as merged:
        assert merged.manifest["merged_from"] == f"{spelled}, honest.sqlite"


def test_names_of_files_fake_no_lines(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file or folder whose name has lines of an error block; commands that succeed and that fail."""
    fake = "x\nerror: fake\n  seen: y"
    profile, folder = tmp_path / f"{fake}.sqlite", tmp_path / fake
    shutil.copy(honest, profile)
    folder.mkdir()
    more = (
        "html {f}",
        "trace {f}",
        "export {f} -t nvtx_sum",
        "html {o}/absent",
        "compare {o}",
    )
    for line in (*COMMANDS, *more):
        main([word.format(f=profile, o=folder, h=honest) for word in line.split()])
    shown = capsys.readouterr()
    lines = (shown.out + shown.err).splitlines()
    assert sum("error: fake" in line for line in lines) > 10
    assert not any(line.startswith(("error: fake", "  seen: y")) for line in lines)


def test_words_of_a_shell(tmp_path: Path) -> None:
    """Commands in findings and pages name the file as bash reads it."""
    for name in (b"plain", b"a b", b"it's", b"p\xe9", b"p\xe9'\\ \xc3\xa9", "é".encode()):
        line = f"printf %s {shell_word(os.fsdecode(name))}"
        shown = subprocess.run(["bash", "-c", line], stdout=subprocess.PIPE, check=True)
        assert shown.stdout == name


@pytest.fixture(scope="module")
def pages(honest: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the pages of a profile whose names are HTML with scripts."""
    folder = tmp_path_factory.mktemp("pages")
    profile = folder / "run.sqlite"
    shutil.copy(honest, profile)
    name = HOSTILE_NAME.replace("'", "''")
    sql(*(f"UPDATE {table} SET {column} = {column} || '{name}'" for table, column in EVERY_NAME))(profile)
    sql(f"UPDATE SPNG_RUN SET value = '{name}' WHERE key IN ('command_line', 'commit', 'host')")(profile)
    for line in COMMANDS:
        if ".html" in line:
            assert main([word.format(f=profile, o=folder, h=honest) for word in line.split()]) == 0
    return folder


def test_pages_of_the_documents_have_a_policy() -> None:
    stored = sorted((Path(__file__).resolve().parents[2] / "docs").rglob("*.html"))
    assert stored
    for path in stored:
        assert_policy(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["page", "compare"])
@needs_chromium
def test_names_in_pages_do_not_run(name: str, pages: Path, tmp_path: Path) -> None:
    """The page shows the names; the browser blocks code even in a page that does not escape them."""
    path = pages / f"{name}.html"
    text = path.read_text(encoding="utf-8")
    assert_policy(text)
    assert "&lt;/script&gt;&lt;script&gt;" in text
    document, messages = dump(path, tmp_path)
    assert messages == [] and "ran" not in marks(document)
    path = tmp_path / "attacked.html"
    path.write_text(attacked(text), encoding="utf-8")
    document, messages = dump(path, tmp_path)
    assert "ran" not in marks(document)
    for blocked in ("inline script", "inline event", "inline style", "base URI", "Framing", "the stylesheet"):
        assert any(blocked in message and "violates" in message for message in messages), blocked
