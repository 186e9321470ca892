# SPDX-License-Identifier: Apache-2.0
"""Make an empty libicudata, 31 MB smaller than the real one.

libarchive needs libxml2 for a format that wire-cell never reads, libxml2 needs ICU's converters, and these need the
library with the tables of all languages. ICU runs without tables; its sources have an empty library ("stubdata") for
programs that need no tables. This module makes such a library from the description of the format (ICU, udata.h and ucmndata.h).
"""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path

from ..checkout import fail
from .elf_file import dynamic_entries, readelf

NAME = re.compile(r"libicudata\.so\.\d+")


def empty_tables() -> bytes:
    """Return ICU's common data without entries: header of 32 bytes, number of entries, and space for the first entry."""
    little_endian, ascii_family, bytes_of_char = 0, 0, 2
    header = struct.pack("<HBB", 32, 0xDA, 0x27)
    info = struct.pack(
        "<HHBBBB4s4B4B", 20, 0, little_endian, ascii_family, bytes_of_char, 0, b"CmnD", 1, *[0] * 7
    )
    return (header + info).ljust(32, b"\0") + struct.pack("<II", 0, 0) + bytes(16)


def make(compiler: str, original: Path, target: Path) -> None:
    """Compile an empty library with the name and the symbol of `original`."""
    symbol = re.findall(r"\bicudt\w+_dat\b", readelf(original, "--dyn-syms"))[0]
    (name,) = dynamic_entries(original, "SONAME")
    numbers = ",".join(map(str, empty_tables()))
    source = f"__attribute__((aligned(16))) const unsigned char {symbol}[] = {{{numbers}}};\n"
    command = [
        compiler,
        "-x",
        "c",
        "-",
        "-shared",
        "-fPIC",
        "-nostdlib",
        "-Wl,--build-id=none",
        f"-Wl,-soname,{name}",
        "-o",
        str(target),
    ]
    if subprocess.run(command, input=source, text=True, check=False).returncode:
        fail(f"the empty {original.name} does not compile; see the compiler's message above", 1)
