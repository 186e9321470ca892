"""What the loader reads of an ELF file: needed libraries, search path, symbol versions.

Formats after the System V ABI (gABI 4, chapters 4 and 5) and the Linux Standard Base (symbol versions); 64 bit, little
endian, which is what LibTorch's wheels are for.
"""

from __future__ import annotations

import struct
from pathlib import Path

PT_LOAD, PT_DYNAMIC = 1, 2
SHT_DYNSYM = 11
DT_NEEDED, DT_STRTAB, DT_SONAME, DT_RPATH, DT_RUNPATH = 1, 5, 14, 15, 29
DT_VERNEED, DT_VERNEEDNUM = 0x6FFFFFFE, 0x6FFFFFFF


class ElfFile:
    """One program or library, in memory; `save` writes what was changed."""

    def __init__(self, path: Path) -> None:
        """Raises ValueError for a file of another kind."""
        self.path = path
        self.data = bytearray(path.read_bytes())
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path}: not an ELF file of 64 bits, little endian")
        self._segments = self._headers(32, 54, "<IIQQQQQQ")  # type, flags, offset, address, -, size in file, ...
        self._dynamic = self._read_dynamic()
        table = self._values(DT_STRTAB)
        self._strings = self._offset(table[0]) if table else 0

    @property
    def needed(self) -> list[str]:
        """Names of the libraries it is linked to, in their order."""
        return [self._string(value) for value in self._values(DT_NEEDED)]

    @property
    def soname(self) -> str:
        """The name by which others need it; empty when it has none."""
        return "".join(self._string(value) for value in self._values(DT_SONAME)[:1])

    @property
    def search_path(self) -> str:
        """Folders, separated by colons, of RPATH or RUNPATH; empty without either."""
        return ":".join(self._string(value) for value in self._values(DT_RPATH) + self._values(DT_RUNPATH))

    def needed_versions(self) -> set[str]:
        """Symbol versions that other libraries must have: 'GLIBC_2.34', 'GLIBCXX_3.4.29'."""
        found: set[str] = set()
        position = self._offset(self._values(DT_VERNEED)[0]) if self._values(DT_VERNEED) else 0
        for _ in range(sum(self._values(DT_VERNEEDNUM))):
            _, count, _, first, following = struct.unpack_from("<HHIII", self.data, position)
            entry = position + first
            for _ in range(count):
                _, _, _, name, step = struct.unpack_from("<IHHII", self.data, entry)
                found.add(self._string(name))
                entry += step
            position += following
        return found

    def symbols(self) -> set[str]:
        """Names of all dynamic symbols, own and needed ones."""
        return {self._string(name) for name in self._symbol_names()}

    def set_search_path(self, folder: str) -> None:
        """Let the search path be `folder`, as RPATH; does nothing to a file without any.

        RPATH, not RUNPATH: it comes before LD_LIBRARY_PATH, where other versions of the same libraries often are, and
        holds for the libraries of the libraries too. Raises ValueError where the old text is shorter, or in use by
        something else.
        """
        text = folder.encode()
        for index, (tag, value) in enumerate(self._dynamic):
            if tag not in (DT_RPATH, DT_RUNPATH):
                continue
            old = self._string(value)
            # The linker lets a name that ends another one share its bytes.
            inside = range(value + 1, value + len(old))
            others = [other for kind, other in self._dynamic if kind in (DT_NEEDED, DT_SONAME)]
            if len(text) > len(old) or any(start in inside for start in (*others, *self._symbol_names())):
                raise ValueError(f"{self.path}: its search path {old} cannot be changed")
            start = self._strings + value
            self.data[start : start + len(old)] = text.ljust(len(old), b"\0")
            struct.pack_into("<q", self.data, self._dynamic_offset + 16 * index, DT_RPATH)
        self._dynamic = self._read_dynamic()

    def replace(self, old: bytes, new: bytes) -> None:
        """Put `new` for all occurrences of `old`, of the same length, so that nothing moves."""
        assert len(old) == len(new)
        self.data = self.data.replace(old, new)

    def save(self) -> None:
        """Write the file back."""
        self.path.write_bytes(self.data)

    def _headers(self, table_at: int, size_at: int, form: str) -> list[tuple[int, ...]]:
        (start,) = struct.unpack_from("<Q", self.data, table_at)
        size, count = struct.unpack_from("<HH", self.data, size_at)
        return [struct.unpack_from(form, self.data, start + size * index) for index in range(count)]

    def _read_dynamic(self) -> list[tuple[int, int]]:
        for segment in self._segments:
            if segment[0] == PT_DYNAMIC:
                self._dynamic_offset = segment[2]
                part = self.data[segment[2] : segment[2] + segment[5]]
                entries = list(struct.iter_unpack("<qQ", part))
                return entries[: [tag for tag, _ in entries].index(0)]
        return []

    def _values(self, wanted: int) -> list[int]:
        return [value for tag, value in self._dynamic if tag == wanted]

    def _offset(self, address: int) -> int:
        for kind, _, offset, start, _, size, _, _ in self._segments:
            if kind == PT_LOAD and start <= address < start + size:
                return offset + address - start
        raise ValueError(f"{self.path}: no segment has the address {address:#x}")

    def _string(self, index: int) -> str:
        start = self._strings + index
        return self.data[start : self.data.index(b"\0", start)].decode()

    def _symbol_names(self) -> list[int]:
        sections = self._headers(40, 58, "<IIQQQQIIQQ")  # name, type, flags, address, offset, size, ...
        tables = [(section[4], section[5]) for section in sections if section[1] == SHT_DYNSYM]
        return [
            name
            for offset, size in tables
            for name, *_ in struct.iter_unpack("<IBBHQQ", self.data[offset : offset + size])
        ]
