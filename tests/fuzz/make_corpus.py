# SPDX-License-Identifier: Apache-2.0
"""Write the seeds of the fuzz targets: python -m tests.fuzz.make_corpus [FOLDER].

The files are small, and equal in each run. Files of the folder with other names stay: they are inputs of earlier failures.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import math
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

CORPUS = Path(__file__).resolve().parent / "corpus"
Arrays = dict[str, np.ndarray]


def npy(array: np.ndarray, version: tuple[int, int] | None = None) -> bytes:
    """Return the bytes of a .npy file."""
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version, allow_pickle=True)
    return out.getvalue()


def archive(arrays: Arrays, container: str) -> bytes:
    """Return an archive: npz (stored), deflated, streamed (sizes after the data), tar, tar.gz or tar.bz2."""
    files = {f"{name}.npy": npy(array) for name, array in arrays.items()}
    out = io.BytesIO()
    if container in ("npz", "deflated", "streamed"):
        method = zipfile.ZIP_DEFLATED if container == "deflated" else zipfile.ZIP_STORED
        target = Unseekable(out) if container == "streamed" else out
        with zipfile.ZipFile(target, "w", method) as file:  # type: ignore[arg-type]
            for name, content in files.items():
                file.writestr(zipfile.ZipInfo(name), content, method)
        return out.getvalue()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as file_of_tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file_of_tar.addfile(info, io.BytesIO(content))
    tar = out.getvalue()
    return {"tar": tar, "tar.gz": gzip.compress(tar, 9, mtime=0), "tar.bz2": bz2.compress(tar)}[container]


class Unseekable(io.RawIOBase):
    """A pipe, as zipfile sees it: sizes follow the data."""

    def __init__(self, out: io.BytesIO) -> None:
        self.out = out

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self.out.write(data)


def dense_event(ident: int = 0, tag: str = "*", dtype: str = "<i2", order: Any = "C") -> Arrays:
    """Return an event of three channels and four ticks with all optional members."""
    samples = np.arange(12).reshape(3, 4).astype(dtype)
    return {
        f"frame_{tag}_{ident}": np.asarray(samples, order=order),
        f"channels_{tag}_{ident}": np.array([7, 8, 10], "<i4"),
        f"tickinfo_{tag}_{ident}": np.array([-250.0, 500.0, 2.0]),
        f"summary_{tag}_{ident}": np.array([1.5, 2.5, 3.5]),
        f"chanmask_bad_{ident}": np.array([[7, 1, 2]], "<i4"),
        f"notes_spng_{ident}": np.frombuffer(b'{"version": "1"}', np.uint8),
    }


def sparse_event(ident: int = 0, tag: str = "gauss") -> Arrays:
    """Return an event of runs."""
    return {
        f"runs_{tag}_{ident}": np.array([[0, 1, 3], [2, 0, 2]], "<i4"),
        f"values_{tag}_{ident}": np.array([1, 2, 3, 4], "<f4"),
        f"shape_{tag}_{ident}": np.array([3, 4], "<i8"),
        f"channels_{tag}_{ident}": np.array([7, 8, 10], "<i4"),
        f"tickinfo_{tag}_{ident}": np.array([0.0, 500.0, 0.0]),
    }


def frames() -> dict[str, bytes]:
    """Return frame files of all containers, types and forms."""
    two = {**dense_event(0), **dense_event(1, "a", ">f4", "F")}
    return {
        "stored.npz": archive(two, "npz"),
        "deflated.npz": archive(two, "deflated"),
        "streamed.npz": archive(dense_event(dtype="<f4"), "streamed"),
        "two.tar": archive({**dense_event(0, dtype="<u8"), **dense_event(1, "a", "|b1")}, "tar"),
        "two.tar.gz": archive(two, "tar.gz"),
        "float64.tar.bz2": archive(dense_event(dtype=">f8", order="F"), "tar.bz2"),
        "half.npz": archive(dense_event(dtype="<f2"), "deflated"),
        "sparse.npz": archive({**sparse_event(), **sparse_event(1, "a")}, "npz"),
        "sparse.tar": archive({**sparse_event(), **dense_event(1)}, "tar"),
    }


def depositions() -> dict[str, bytes]:
    """Return files of depositions by rows and by columns, with ancestors and faults."""
    data = np.arange(28, dtype="<f8").reshape(7, 4) - 14
    info = np.zeros((4, 4), "<i4")
    info[2, 1] = 1
    columns = {"depo_data_0": data, "depo_info_0": info}
    rows = {"depo_data_3": data.T.astype("<f4"), "depo_info_3": np.ascontiguousarray(info.T).astype(">f8")}
    return {
        "columns.npz": archive(columns, "npz"),
        "two.npz": archive({**columns, **rows, "other": data}, "deflated"),
        "rows.tar": archive(rows, "tar"),
        "two.tar.gz": archive({**columns, **rows}, "tar.gz"),
    }


def arrays() -> dict[str, bytes]:
    """Return arrays of all types, orders and versions of the format."""
    numbers = np.arange(6).reshape(2, 3)
    found = {
        f"{code}.npy": npy(numbers.astype(code)) for code in ("i1", "u1", "<u2", ">i2", "<i4", ">f4", "<f8")
    }
    return found | {
        "fortran.npy": npy(np.asfortranarray(numbers.astype("<i2"))),
        "fortran-3d.npy": npy(np.asfortranarray(np.arange(24).reshape(2, 3, 4).astype(">u8"))),
        "scalar.npy": npy(np.array(1.0)),
        "empty.npy": npy(np.zeros((0, 3))),
        "version-3.npy": npy(np.arange(3, dtype="<f2"), (3, 0)),
        "object.npy": npy(np.array([None])),
        "terabytes.npy": npy(np.zeros(1)).replace(b"(1,), }" + 12 * b" ", b"(1000000000000,), }"),
    }


def compressed(name: str, document: Any) -> dict[str, bytes]:
    """Return a document as plain and compressed files."""
    text = json.dumps(document, separators=(",", ":")).encode()
    return {
        f"{name}.json": text,
        f"{name}.json.gz": gzip.compress(text, 9, mtime=0),
        f"{name}.json.bz2": bz2.compress(text),
    }


def wire_schema() -> dict:
    """Return an anode of one face with three planes of three wires."""
    points: list[dict] = []
    wires: list[dict] = []
    planes: list[dict] = []
    for plane, angle in enumerate((0.6, -0.6, 0.0)):
        along = np.array([math.cos(angle), math.sin(angle)])  # y, z
        members = []
        for index in range(3):
            middle = 5.0 * index * np.array([-along[1], along[0]])
            for end in (middle - 10 * along, middle + 10 * along):
                points.append({"Point": {"x": -5.0 * plane, "y": round(end[0], 4), "z": round(end[1], 4)}})
            members.append(len(wires))
            ends = {"tail": len(points) - 2, "head": len(points) - 1}
            wires.append({"Wire": {"ident": len(wires), "channel": len(wires), "segment": 0, **ends}})
        planes.append({"Plane": {"ident": plane, "wires": members}})
    store = {
        "anodes": [{"Anode": {"ident": 0, "faces": [0]}}],
        "faces": [{"Face": {"ident": 0, "planes": [0, 1, 2]}}],
        "planes": planes,
        "wires": wires,
        "points": points,
    }
    return {"Store": store}


def field_response() -> dict:
    """Return the response of two planes with three paths of four samples."""

    def path(position: float) -> dict:
        elements = [0.0, 1e-3, -2e-3, 5e-4]
        return {
            "PathResponse": {
                "pitchpos": position,
                "wirepos": 0.0,
                "current": {"array": {"elements": elements}},
            }
        }

    paths = [path(position) for position in (-0.5, 0.0, 0.5)]
    planes = [
        {"PlaneResponse": {"planeid": plane, "pitch": 5.0, "location": 0.0, "paths": paths}}
        for plane in (0, 2)
    ]
    return {
        "FieldResponse": {
            "planes": planes,
            "axis": [1, 0, 0],
            "origin": 100.0,
            "tstart": 0.0,
            "period": 99.999,
            "speed": 1.6e-3,
        }
    }


def noise_spectra() -> list[dict]:
    """Return spectra of two planes."""
    spectrum = {"period": 500.0, "nsamples": 6000, "gain": 1.4e-2, "shaping": 2200.0, "wirelen": 1000.0}
    lists = {"const": 1e-5, "freqs": [0.0, 1e-4, 2e-4], "amps": [1e-3, 2e-3, 1e-3]}
    return [{**spectrum, **lists, "plane": plane} for plane in (0, 2)]


def node(type_name: str, **data: Any) -> dict:
    """Return an entry of a configuration."""
    return {"type": type_name, "data": data}


def edge(tail: str, head: str) -> dict:
    """Return an edge between the first ports."""
    return {"tail": {"node": tail, "port": 0}, "head": {"node": head, "port": 0}}


def configurations() -> dict[str, bytes]:
    """Return jobs of frames and of depositions."""
    frames_job = [
        node("wire-cell", plugins=[], apps=["Pgrapher"]),
        node("SPNGContext", device="cpu", verbosity=0),
        node("FrameFileSource", inname="frames.npz", tags=["*"], nevents=-1),
        node("FrameFileSink", outname="out.npz", frames="dense"),
        node("Pgrapher", edges=[edge("FrameFileSource", "FrameFileSink")]),
    ]
    drift_job = [
        node("wire-cell", plugins=[], apps=["TbbFlow"]),
        node("SPNGContext", device="cpu"),
        node("SPNGDepoFileSource", inname="depos.npz"),
        {**node("SPNGDrifter"), "name": "a"},
        node("SPNGDepoFileSink", outname="out.npz"),
        node(
            "TbbFlow",
            edges=[edge("SPNGDepoFileSource", "SPNGDrifter:a"), edge("SPNGDrifter:a", "SPNGDepoFileSink")],
        ),
    ]
    return compressed("frames", frames_job) | {
        "drift.json": json.dumps(drift_job, separators=(",", ":")).encode()
    }


JSONNET = {
    "function.jsonnet": """// SPDX-License-Identifier: Apache-2.0
// A job with an argument.
local node(type, data={}) = { type: type, data: data };
function(input='frames.npz', output='o.npz')
    [node('SPNGContext', { device: 'cpu' }), node('FrameFileSource', { inname: input })]
""",
    "objects.jsonnet": """// SPDX-License-Identifier: Apache-2.0
local base = { a: 1, b:: $.a + 1, c: self.b, assert self.a > 0 : 'a' };
[(base { a: 2, d+: { e: super.c } }) + { d+: {} }, |||
    text
|||, std.native('spng_batches_anodes')('cpu'), if std.length('ab') == 2 then [1.5e3, -0.0] else error 'no']
""",
}  # fmt: skip

CONTROL = {
    "health.txt": b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n",
    "start.txt": b"POST /start_profile HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab",
    "chunked.txt": b"POST /stop_profile HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
    "timings.txt": b"GET /timings HTTP/1.0\r\nAuthorization: Bearer 0123456789abcdef\r\nExpect: 100-continue\r\n\r\n",
    "other.txt": b"DELETE /%2e%2e?x=1#y HTTP/1.1\r\nX: 1\r\n 2\r\n\r\n",
}

INFERENCE = {
    "lists.txt": b'{"id":"1","parameters":{"ident":3,"tick_ns":512.5,"masks":{"bad":[[0,0,2]]}},"inputs":[{"name":"adc",'
    b'"datatype":"INT16","shape":[2,3],"data":[[1,2,3],[4,5,6]]},{"name":"channels","datatype":"INT32","shape":[2],"data":[0,1]}]}',
    "binary.txt": b'{"inputs":[{"name":"adc","datatype":"FP32","shape":[2,1],"parameters":{"binary_data_size":8}}],'
    b'"outputs":[{"name":"signal_runs","parameters":{"binary_data":true}},{"name":"signal"}]}\n\n\0\0\x80?\0\0\xc0\x7f',
    "failed-input-without-name.txt": b'{"inputs":[{"name":"","datatype":"INT16","shape":[1],"data":[1]}]}',
    "path.txt": b"/v2/models/chain/versions/1/infer?x=1",
}

MASKS = {
    "two.json": b'{"bad":[[0,0,2],[1,1,2]],"nan":[]}',
    "limits.json": b'{"bad":[[2147483647,-2147483647,2147483647]]}',
    "failed-beyond-64-bits.json": b'{"bad":[[0,18446744073709551615,2],[0,0,9223372036854775808]]}',
    "failed-backward.json": b'{"bad":[[0,2,1]]}',
    "failed-types.json": b'{"bad":[[true,1.0,"1"],[null],3]}',
}

LISTS = {
    "paths.txt": b"# of today\na.npz\n/data/b.tar.bz2\n\n  ../c d.npz \r\nout/e.npz",
    "objects.txt": b'{"input":"a.npz","name":"b/c"}\n{"input":"{name}.npz","name":"{input}","detector":"sbnd"}\n',
    "wrong.txt": b'{"input":1}\n{"name":"a"}\n[1]\n{\nbeyond.npz\n',
    "two-of-a-name.txt": b"a/x.npz\nb/x.npz\nout/x.npz\n",
}

COMMAND_LINES = {
    "run.txt": "-c\njob.jsonnet\n-A\ninput=a.npz\n--tla-code\nn=1\n-V\nx=1\n-C\ny=[1]\n-P\ncfg\n-L\nwarn\n-l\nstderr\n-t\n2",
    "record.txt": "job.json\n--record=a.sqlite\n--profile-events=2-3\n--profile-control=unix:/tmp/x\n--timing=t.json",
    "actions.txt": "--describe\nall\n--schema=SPNGDecon\n--dot=-\n--check\n--version",
}  # fmt: skip


def corpus() -> dict[str, dict[str, bytes]]:
    """Return the files of each target."""
    noise = compressed("two", noise_spectra())
    response_text = json.dumps(field_response(), separators=(",", ":")).encode()
    return {
        "frames": frames(),
        "depositions": depositions(),
        "npy": arrays(),
        "wires": compressed("small", wire_schema()),
        "responses": compressed("small", field_response()) | {"small.json.xz": lzma.compress(response_text)},
        "noise": noise,
        "configuration": configurations(),
        "jsonnet": {name: text.encode() for name, text in JSONNET.items()},
        "control": CONTROL,
        "inference": INFERENCE,
        "lists": LISTS,
        "masks": MASKS,
        "command_line": {name: text.encode() for name, text in COMMAND_LINES.items()},
    }


def main(folder: Path) -> None:
    """Write the files."""
    for target, files in corpus().items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / target / name.replace("<", "").replace(">", "big-")).write_bytes(content)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else CORPUS)
