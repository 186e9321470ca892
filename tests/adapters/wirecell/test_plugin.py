# SPDX-License-Identifier: Apache-2.0
"""SPNGSigProc in the Wire-Cell Toolkit's own wire-cell: the bytes and the errors of our program.

Needs an installed toolkit: that of ./wcb configure --with-wirecell=DIR. Without one, only the page is tested.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripts.wcb.checkout import ROOT, build_folder
from tests.support import wire_cell
from tests.support.shared import shared_folder

ADAPTER = ROOT / "adapters" / "wirecell"
PAGE = ROOT / "docs" / "wirecell-plugin.md"
TAGS = {"signal": "gauss", "wiener": "wiener", "roi": "roi", "mp2": "mp2_roi", "mp3": "mp3_roi"}
KEYS = '{tags: ["roi"], use_multi_plane_protection: true}'


def toolkit_folder() -> Path | None:
    """Return WIRECELL_DIR, or the folder that the last configure was given."""
    if given := os.environ.get("WIRECELL_DIR"):
        return Path(given)
    folder = build_folder()
    if folder is None:
        return None
    cache = (folder / "c4che" / "_cache.py").read_text(encoding="utf-8")
    found = re.search(r"^WIRECELL_FOLDER = '(.+)'$", cache, re.MULTILINE)
    return Path(found[1]) if found else None


@pytest.fixture(name="toolkit", scope="module")
def fixture_toolkit() -> Path:
    """The folder of the toolkit."""
    folder, build = toolkit_folder(), build_folder()
    if folder is None:
        pytest.skip("no Wire-Cell Toolkit: ./wcb configure --with-wirecell=DIR")
    if build is None or not (build / "lib" / "libWireCellSpngPlugin.so").exists():
        pytest.skip("libWireCellSpngPlugin is not built: ./wcb configure --with-wirecell=DIR && ./wcb")
    return folder


def environment(toolkit: Path, **more: str) -> dict[str, str]:
    """The variables of a user of the toolkit: its Jsonnet comes first in WIRECELL_PATH, and hides ours."""
    build = build_folder()
    assert build is not None
    libraries = [str(build / "lib"), str(toolkit / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
    folders = [str(toolkit / "share" / "wirecell"), str(ADAPTER / "cfg"), os.environ.get("WIRECELL_PATH", "")]
    return os.environ | {
        "LD_LIBRARY_PATH": ":".join(filter(None, libraries)),
        "WIRECELL_PATH": ":".join(filter(None, folders)),
        **more,
    }


def run(toolkit: Path, folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess:
    """Run the example job in the toolkit's wire-cell."""
    return subprocess.run(
        [toolkit / "bin" / "wire-cell", "-c", "spng-frames.jsonnet", *arguments],
        cwd=folder,
        env=environment(toolkit, **more),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def toolkit_arrays(toolkit: Path, folder: Path, source: Path, **arguments: Any) -> wire_cell.Arrays:
    """The arrays of the job with all tags in the toolkit's wire-cell."""
    outtags = "[" + ",".join(f'"{tag}"' for tag in TAGS.values()) + "]"
    given = wire_cell.settings(input=source, output="wct.npz", device="cpu", **arguments)
    done = run(toolkit, folder, *given, "--tla-code", f"keys={KEYS}", "--tla-code", f"outtags={outtags}")
    assert done.returncode == 0, done.stderr
    return wire_cell.read_arrays(folder / "wct.npz")


def our_arrays(folder: Path, source: Path, **arguments: Any) -> wire_cell.Arrays:
    """The arrays of our program, with the tags of the toolkit. Its frames are float32, coincidences have the value of
    OmnibusSigProc (save_mproi()), and it keeps no notes.
    """
    arrays = wire_cell.job(folder, input=source, output="ours.npz", tags=",".join(TAGS), **arguments)
    renamed = {}
    for name, array in arrays.items():
        kind, tag, ident = re.fullmatch(r"([a-z]+)_(.+)_(\d+)", name).groups()  # type: ignore[union-attr]
        if kind != "notes":
            scale = 4000 if tag in ("mp2", "mp3") else 1
            shown = array.astype(np.float32) * np.float32(scale) if kind == "frame" else array
            renamed[f"{kind}_{TAGS.get(tag, tag)}_{ident}"] = shown
    return renamed


def require_equal(seen: wire_cell.Arrays, expected: wire_cell.Arrays) -> None:
    """Require the same names, types, shapes and bytes; a mask is a set of rows."""
    assert sorted(seen) == sorted(expected)
    for name, array in expected.items():
        other = seen[name]
        assert (other.dtype, other.shape) == (array.dtype, array.shape), name
        if name.startswith("chanmask_"):
            assert sorted(map(tuple, other.tolist())) == sorted(map(tuple, array.tolist())), name
        else:
            assert np.ascontiguousarray(other).tobytes() == np.ascontiguousarray(array).tobytes(), name


@wire_cell.needs_program
def test_the_default_event_has_the_bytes_of_our_program(toolkit: Path, tmp_path: Path) -> None:
    """With the network, and all tags."""
    seen = toolkit_arrays(toolkit, tmp_path, wire_cell.default_input())
    require_equal(seen, our_arrays(tmp_path, wire_cell.default_input()))
    assert np.count_nonzero(seen["frame_gauss_0"]) > 100_000
    assert set(np.unique(seen["frame_roi_0"])) == {0, 1}
    assert seen["summary_wiener_0"].shape == (2560,)


@wire_cell.needs_program
@pytest.mark.parametrize(
    ("name", "detname", "tpcid"),
    [("pdsp1rc-mu-adc-n10", "pdsp", 1), ("pdhd0bad-mu-adc-n07", "pdhd_badAPA1", 0)],
)
def test_frames_of_the_toolkits_simulation(
    toolkit: Path, tmp_path: Path, name: str, detname: str, tpcid: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = shared_folder()
    if shared is None:
        pytest.skip("no shared data")
    if not (shared / "data" / "field" / f"{name}.npz").exists():
        pytest.skip(f"no shared data/field/{name}.npz")
    monkeypatch.setenv("WIRECELL_PATH", str(shared / "data" / "detector"))
    source = shared / "data" / "field" / f"{name}.npz"
    seen = toolkit_arrays(toolkit, tmp_path, source, detname=detname, tpcid=tpcid)
    require_equal(seen, our_arrays(tmp_path, source, detname=detname, tpcid=tpcid))


@wire_cell.needs_program
def test_masks_and_bad_channels_have_the_bytes_of_our_program(toolkit: Path, tmp_path: Path) -> None:
    """A channel with NaN, one that is missing, saturated samples, a mask of the input, no network."""
    samples, channels, _ = wire_cell.default_adc()
    faulty = samples[:-1].copy()
    faulty[100, 50:60] = 16383
    arrays = wire_cell.event(faulty, channels[:-1])
    arrays["chanmask_bad_0"] = np.array([[7, 0, 6000], [9, 100, 200]], dtype=np.int32)
    source = wire_cell.write_arrays(tmp_path / "faulty.npz", arrays)
    seen = toolkit_arrays(toolkit, tmp_path, source, model="none")
    require_equal(seen, our_arrays(tmp_path, source, model="none"))
    assert {"chanmask_bad_0", "chanmask_missing_0", "chanmask_saturated_0"} <= set(seen)

    induction = wire_cell.write_arrays(tmp_path / "uv.npz", wire_cell.event(samples[:1600], channels[:1600]))
    seen = toolkit_arrays(toolkit, tmp_path, induction, model="none")
    require_equal(seen, our_arrays(tmp_path, induction, model="none"))
    assert not seen["frame_gauss_0"][1600:].any()

    infinite = faulty.astype(np.float32)
    infinite[5, 17] = np.nan
    source = wire_cell.write_arrays(tmp_path / "nan.npz", wire_cell.event(infinite, channels[:-1]))
    seen = toolkit_arrays(toolkit, tmp_path, source, model="none")
    require_equal(seen, our_arrays(tmp_path, source, model="none"))
    assert seen["chanmask_nan_0"].tolist() == [[5, 0, 6000]]


def fields(text: str) -> dict[str, str]:
    """The lines of an error block."""
    found = re.search(r"error: .*(?:\n  (?:where|seen|expected|hint): .*)*", text)
    assert found, text
    return dict(re.findall(r"^\s*(error|where|seen|expected|hint): +(.+)$", found[0], re.MULTILINE))


@wire_cell.needs_program
@pytest.mark.parametrize("case", ["channels", "period", "repeated"])
def test_frames_are_rejected_as_from_files(toolkit: Path, tmp_path: Path, case: str) -> None:
    samples, channels, _ = wire_cell.default_adc()
    shifted = channels + (10_000 if case == "channels" else 0)
    if case == "repeated":
        shifted = channels.copy()
        shifted[1] = shifted[0]
    frame = wire_cell.event(samples, shifted, tick_ns=512.0 if case == "period" else 500.0)
    source = wire_cell.write_arrays(tmp_path / "bad.npz", frame)
    done = run(
        toolkit, tmp_path, *wire_cell.settings(input=source, output="wct.npz", model="none", device="cpu")
    )
    assert done.returncode == 1, done.stderr
    seen = fields(done.stderr)
    ours = wire_cell.run(
        "-c",
        wire_cell.PIPELINE,
        *wire_cell.settings(input=source, output="ours.npz", model="none", device="cpu"),
        folder=tmp_path,
    )
    expected = fields(ours.stderr)
    if case == "repeated":  # found by the adapter, which joins the traces of a channel
        assert seen["error"] == "a channel is repeated" and "channel 0 twice" in seen["seen"]
    else:
        assert {name: seen[name] for name in ("error", "seen", "expected", "hint")} == {
            name: expected[name] for name in ("error", "seen", "expected", "hint")
        }
    assert seen["where"].startswith("SPNGSigProc, ")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["-A", "model=absent.ts"], "absent.ts"),
        (["--tla-code", "keys={gaus_tag: 'x'}"], "did you mean 'gauss_tag'?"),
        (["--tla-code", "keys={ADC_mV: 1.0, troi_pad: 5}"], "docs/wirecell-plugin.md#keys-of-omnibussigproc"),
        (["-A", "detname=pdhdd"], "pdhdd"),
    ],
)
def test_wrong_keys_end_the_job_with_our_block(
    toolkit: Path, tmp_path: Path, arguments: list[str], text: str
) -> None:
    done = run(toolkit, tmp_path, *wire_cell.settings(input=wire_cell.ADC, output="wct.npz"), *arguments)
    assert done.returncode == 1, done.stderr
    assert text in done.stderr
    assert fields(done.stderr)["where"].startswith("SPNGSigProc")


def test_another_version_of_the_toolkit_is_rejected(toolkit: Path, tmp_path: Path) -> None:
    """A library before the program's has the variable with the version."""
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    source, library = tmp_path / "version.cxx", tmp_path / "libversion.so"
    source.write_text('namespace WireCell { const char* version = "0.12.3"; }\n', encoding="utf-8")
    subprocess.run(["g++", "-shared", "-fPIC", source, "-o", library], check=True)
    done = run(
        toolkit, tmp_path, *wire_cell.settings(input=wire_cell.ADC, output="wct.npz"), LD_PRELOAD=str(library)
    )
    assert done.returncode == 1, done.stderr
    block = fields(done.stderr)
    assert block["error"] == "the plugin was built for another version of the Wire-Cell Toolkit"
    assert block["seen"] == "a program of version 0.12.3"


def test_log_lines_go_to_the_log_of_the_toolkit(toolkit: Path, tmp_path: Path) -> None:
    given = wire_cell.settings(input=wire_cell.default_input(), output="wct.npz", model="none", device="cpu")
    done = run(toolkit, tmp_path, "-l", "job.log", "-L", "info", *given)
    assert done.returncode == 0, done.stderr
    log = (tmp_path / "job.log").read_text(encoding="utf-8")
    assert re.search(r" I \[ +spng +\] memory: ", log), log


def test_the_job_with_omnibussigproc_is_changed_by_one_line(toolkit: Path, tmp_path: Path) -> None:
    """replace() of the page's example keeps the keys of equal meaning and the components that the node uses."""
    job = tmp_path / "replaced.jsonnet"
    job.write_text(
        """
local pg = import 'pgraph.jsonnet';
local spng = import 'spng_sigproc.jsonnet';
local anode = { type: 'AnodePlane', name: 'apa2', data: { ident: 2 } };
local osp = pg.pnode({
    type: 'OmnibusSigProc',
    name: 'sigproc2',
    data: {
        anode: 'AnodePlane:apa2', ADC_mV: 1.5, gauss_tag: 'gauss2', wiener_tag: 'wiener2', sparse: true,
        use_roi_debug_mode: true,
    },
}, nin=1, nout=1, uses=[anode]);
local node = spng.replace(osp, 'pdhd', { model: 'none' });
assert node.iports[0].node == 'SPNGSigProc:sigproc2';
assert node.uses[0] == anode;
local data = node.uses[1].data { use_roi_debug_mode:: super.use_roi_debug_mode };
assert data.use_roi_debug_mode : 'the node must see it, to reject it';
assert data == {
    anode: 'AnodePlane:apa2', gauss_tag: 'gauss2', wiener_tag: 'wiener2', sparse: true, detname: 'pdhd', model: 'none',
};
error 'all is right'
""",
        encoding="utf-8",
    )
    done = subprocess.run(
        [toolkit / "bin" / "wire-cell", "-c", str(job)],
        env=environment(toolkit),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "all is right" in done.stdout + done.stderr


def test_a_program_that_embeds_the_toolkit(toolkit: Path, tmp_path: Path) -> None:
    """The C++ checks: frames in memory, bad ones in between, the end of the stream, anodes, sparse traces."""
    build = build_folder()
    assert build is not None
    checks = build / "tests" / "wirecell_checks"
    if not checks.exists():
        pytest.skip(f"{checks} is not built")
    done = subprocess.run(
        [checks],
        cwd=tmp_path,
        env=environment(toolkit),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_adapter_needs_no_headers_of_libtorch() -> None:
    allowed = r"adapters/wirecell/\w+|WireCellSpng/Pipeline|spng/core/(error|field|nearest)|WireCell(Iface|Util)/\w+"
    for path in sorted(ADAPTER.glob("*.[hc]*")):
        for header in re.findall(r'^#include "(.+)\.h"', path.read_text(encoding="utf-8"), re.MULTILINE):
            assert re.fullmatch(allowed, header), (path.name, header)


def test_the_page_lists_all_keys() -> None:
    header = (ADAPTER / "keys.h").read_text(encoding="utf-8")
    keys = {*re.findall(r"&C::(\w+),\s*\"\1\"", header), "arguments"}
    assert len(keys) > 10
    page = PAGE.read_text(encoding="utf-8")
    table = page[page.index("\n## Keys\n") : page.index("\n## Keys of OmnibusSigProc\n")]
    assert set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)))) == keys


def test_the_page_lists_the_keys_without_equal_meaning() -> None:
    source = (ADAPTER / "keys.cxx").read_text(encoding="utf-8")
    keys = " ".join(re.findall(r'"([^"]*)"', source.split("foreign_keys =")[1].split(";")[0])).split()
    assert "troi_pad" in keys and len(keys) > 60
    page = PAGE.read_text(encoding="utf-8").split("\n## Keys of OmnibusSigProc\n")[1]
    assert [key for key in keys if f"`{key}`" not in page] == []
