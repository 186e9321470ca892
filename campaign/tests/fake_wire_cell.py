# SPDX-License-Identifier: Apache-2.0
"""Stand-in for wire-cell that starts as quickly as Python and follows instructions in its input.

Each line of the input file is one instruction, done in order before the output is written:
    sleep S          take so long
    fail N TEXT      print an error block with TEXT and exit with status N
    die              be killed by SIGKILL while it writes
    hang             ignore SIGTERM and never end; a child process hangs too, its process id is in INPUT.child
    half             write half of the output under its final name, with status 0
    nothing          write nothing, with status 0
    touch            change the input while it is processed
    killworker       while it writes, kill the process that started this one
    big N            write N bytes more, as a member of their own
    dump             also write a second file, as the job's argument dump does
    warn TEXT        warn about the input, in the timing report and the log; with --strict fail
    log TEXT         warn in the log alone
    once ...         the instruction behind it, the first time only; INPUT.once remembers
Only modules that load in about a millisecond are imported, and no archive or JSON module, so that it starts as quickly as
Python alone.
"""

import hashlib
import os
import struct
import sys
import time
import zlib

warnings = []  # about the input of the present file
COMMIT = "fake12345678"
SIGKILL = 9
NODES = {"FrameFileSource": (3_000_000, 1_000_000), "SPNGDecon:induction": (2_000_000, 2_000_000)}


def array(values: bytes) -> bytes:
    """Return an .npy file of unsigned bytes."""
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values


def archive_of(members: list[tuple[str, bytes]]) -> bytes:
    """Return a zip archive of uncompressed members."""
    body, directory = b"", b""
    for name, content in members:
        # Version, flags, method, time and date (1 January 1980), checksum, sizes, length of the name and of extra fields.
        about = struct.pack(
            "<5H3I2H", 20, 0, 0, 0, 33, zlib.crc32(content), len(content), len(content), len(name), 0
        )
        tail = struct.pack(
            "<3H2I", 0, 0, 0, 0, len(body)
        )  # comment, disk, attributes, position of the member
        directory += b"PK\1\2" + struct.pack("<H", 20) + about + tail + name.encode()
        body += b"PK\3\4" + about + name.encode() + content
    count = len(members)
    return (
        body + directory + b"PK\5\6" + struct.pack("<4H2IH", 0, 0, count, count, len(directory), len(body), 0)
    )


def output_of(content: bytes) -> bytes:
    """Return the frame file made from an input: two events whose samples are the input's SHA-256."""
    members = [
        (f"frame_signal_{event}.npy", array(hashlib.sha256(content + bytes([event])).digest()))
        for event in range(2)
    ]
    for line in content.decode().splitlines():
        if line.startswith("big "):
            noise = zlib.crc32(content)
            samples = bytes((noise * i) % 251 for i in range(997)) * (int(line.split()[1]) // 997)
            members.append(("more_0.npy", array(samples)))
    return archive_of(members)


class FileEndsError(Exception):
    """Nothing more is done for the present file."""


def fail(status: int, text: str, kind: str = "Internal") -> None:
    """Fail as wire-cell does, with an answer if it processes a list."""
    block = f"error: {text}\n  where:    the fake\n"
    sys.stderr.write(f"some log line\n{block}")
    if "--files" in sys.argv:
        answer(status, block, kind)
    sys.exit(status)


def answer(status: int, error: str = "", kind: str = "") -> None:
    """Print the answer to a line."""
    text = error.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    print(f'{{"status": {status}, "error": "{text}", "kind": "{kind}"}}', flush=True)


def write_partial(path: str, content: bytes) -> str:
    """Write as wire-cell does, under a temporary name first, which remains after a kill; return that name."""
    partial = os.path.join(
        os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}-{os.urandom(4).hex()}.partial"
    )
    try:
        with open(partial, "wb") as file:
            file.write(content)
    except OSError as error:
        os.unlink(partial)
        fail(1, f"cannot write the output file\n  seen:     {error.strerror}")
    return partial


def write(path: str, content: bytes) -> None:
    """Write a complete file."""
    os.replace(write_partial(path, content), path)


def obey(line: str, source: str, target: str, content: bytes) -> None:
    """Follow one instruction."""
    word, *rest = line.split(" ", 2)
    if word == "once":
        try:
            os.close(os.open(source + ".once", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        obey(line.split(" ", 1)[1], source, target, content)
    elif word == "sleep":
        time.sleep(float(rest[0]))
    elif word == "fail":
        fail(int(rest[0]), rest[1])
    elif word == "die":
        write_partial(target, output_of(content)[:150])
        os.kill(os.getpid(), SIGKILL)
    elif word == "hang":
        import signal
        import subprocess

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen(["sleep", "600"])
        with open(source + ".child", "w") as file:
            file.write(f"{os.getpid()} {child.pid}")
        time.sleep(600)
    elif word == "half":
        with open(target, "wb") as file:
            file.write(output_of(content)[:150])
        raise FileEndsError
    elif word == "nothing":
        raise FileEndsError
    elif word == "touch":
        with open(source, "a") as file:
            file.write("# changed\n")
    elif word == "killworker":
        write_partial(target, output_of(content)[:150])
        os.kill(os.getppid(), SIGKILL)
        time.sleep(60)
    elif word in ("warn", "log"):
        text = line.split(" ", 1)[1]
        if word == "warn" and "--strict" in sys.argv:
            fail(1, text, "Input")
        sys.stderr.write(f"[06:58:24.779] W [ SPNGCheck:anode0 ] {text}\n")
        warnings.extend([text] * (word == "warn"))
    elif word == "dump":
        write(target.removesuffix(".npz") + "-decon-induction.npz", output_of(content))


def main() -> None:
    """Parse the options that a campaign uses."""
    words = sys.argv[1:]
    if "--version" in words:
        print(f"wire-cell (SPNG) 0.0\n  commit    {os.environ.get('FAKE_COMMIT', COMMIT)}")
        return
    arguments = dict(words[i + 1].split("=", 1) for i, word in enumerate(words) if word == "-A")
    if "--check" in words:
        if "typo" in arguments:
            fail(2, "the job has no argument 'typo'")
        return
    for line in sys.stdin:
        try:  # noqa: SIM105  contextlib would take longer to load
            process(eval(line), words, arguments)  # JSON of plain strings is Python too
        except FileEndsError:
            pass
        answer(0)
    if "--record" in words and "FAKE_NO_PROFILE" not in os.environ:
        time.sleep(0.2)  # the real program completes a profile at its end
        with open(words[words.index("--record") + 1], "w") as file:
            file.write("profile")


def with_values(text: str, values: dict) -> str:
    """Return a text with values in place of its placeholders."""
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    return text


def process(values: dict, words: list, arguments: dict) -> None:
    """Process one file. values: of the placeholders in the words of the command."""
    source, target = values["input"], with_values(arguments["output"], values)
    with open(source, "rb") as file:
        content = file.read()
    if log := os.environ.get("FAKE_LOG"):
        with open(log, "a") as file:
            file.write(f"{os.path.basename(target)}\n")
    warnings.clear()
    for line in content.decode().splitlines():
        if line and not line.startswith("#"):
            obey(line, source, target, content)
    write(target, output_of(content))
    nodes = [
        {"name": name, "cpu_ns": sum(walls), "per_call": [{"wall_ns": wall} for wall in walls]}
        for name, walls in NODES.items()
    ]
    timing = {
        "schema": "spng-timing-1",
        "program": {"commit": os.environ.get("FAKE_COMMIT", COMMIT)},
        "nodes": nodes,
        "input": {"warnings": warnings},
        "run": {
            "wall_seconds": 0.008,
            "startup_seconds": 0.001,
            "process_peak_bytes": 5_000_000,
            "device": "cpu",
        },
    }
    with open(with_values(words[words.index("--timing") + 1], values), "w") as file:
        file.write(repr(timing).replace("'", '"'))  # JSON, since there are only numbers and plain words


if __name__ == "__main__":
    main()
