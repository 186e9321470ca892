# SPDX-License-Identifier: Apache-2.0
"""URLs given as files: every program says that files must be local."""

from __future__ import annotations

from pathlib import Path

import pytest
from wirecell_frame.cli import main as frame_main
from wirecell_profile.cli import main as profile_main
from wirecell_profile.path_names import url_hint

import spng
from tests.python.frame_examples import frame, signal
from tests.support import wire_cell

pytest.importorskip("h5py")
pytest.importorskip("zarr")
pytestmark = wire_cell.needs_program

HINT = "this is a URL, and files must be local: copy it, or mount its file system"
SCHEMES = ("root://eos.cern.ch//eos/a", "https://example.org/a", "s3://bucket/a", "dcap:/pnfs/a")


@pytest.mark.parametrize(
    ("name", "is_url"),
    [
        *((scheme, True) for scheme in SCHEMES),
        ("file:///tmp/a", True),
        ("/lists/root:/eos/a", True),
        ("xrootd+tls://a", True),
        ("a.npz", False),
        ("/a/b.npz", False),
        ("./c:/a", False),
        ("a:b/c", False),
        ("1x:/a", False),
        ("a=root://b", False),
    ],
)
def test_names_of_urls(name: str, is_url: bool) -> None:
    assert url_hint(name) == (HINT if is_url else "")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("ending", [".npz", ".tar.gz", ".h5", ".zarr"])
def test_frames(
    scheme: str,
    ending: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    url = scheme + ending
    for use in (lambda: list(spng.read_frames(url)), lambda: spng.write_frames(url, frame(signal()))):
        with pytest.raises(spng.Error) as caught:
            use()
        assert caught.value.hint == HINT
    assert frame_main(["info", url]) == 1 and f"hint:     {HINT}\n" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words", [["summary", "root://x/a.sqlite"], ["compare", "https://x/a.sqlite", "https://x/b.sqlite"]]
)
def test_profiles(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert profile_main(words) != 0
    assert f"hint:     {HINT}\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["-c", "cfg/convert.jsonnet", "-A", "input=root://x/a.npz", "-A", "output=o.npz"],
        ["-c", "cfg/convert.jsonnet", "-A", f"input={wire_cell.TRUTH}", "-A", "output=https://x/a.npz"],
        ["-c", "https://x/job.jsonnet"],
        ["-c", wire_cell.PIPELINE, "-A", "model=s3://x/net.ts", "--check"],
        ["-c", "cfg/convert.jsonnet", "--files", "list.txt", "-A", "output={name}.npz"],
    ],
)
def test_jobs(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("root://x/a.npz\n")
    done = wire_cell.run(*words, folder=tmp_path)
    assert done.returncode != 0 and f"hint:     {HINT}\n" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["list.txt"]
