# SPDX-License-Identifier: Apache-2.0
"""A file whose writes never fail for the library that makes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class PatientFile:
    """A new file for h5py. It keeps the first failure, and reports success to HDF5 from then on.

    After a failed write, as on a full disk, HDF5 cannot close the file, and crashes at the end of the process.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("w+b", buffering=0)
        self.failure: OSError | None = None

    def require_success(self) -> None:
        """Raise the first failure."""
        if self.failure is not None:
            raise self.failure

    def write(self, data: memoryview) -> int:
        """Write all bytes."""
        rest = memoryview(data)
        while rest and self.failure is None:
            try:
                rest = rest[self._file.write(rest) or 0 :]
            except OSError as failure:
                self.failure = failure
        return len(data)

    def read(self, size: int) -> bytes:
        """Return bytes: zeros in place of bytes that could not be written."""
        found = self._file.read(size) if self.failure is None else b""
        return (found or b"").ljust(size, b"\0")

    def seek(self, offset: int, whence: int = 0) -> int:
        """Set the position."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the position."""
        return self._file.tell()

    def truncate(self, size: int) -> int:
        """Set the size."""
        try:
            self._file.truncate(size)
        except OSError as failure:
            self.failure = self.failure or failure
        return size

    def flush(self) -> None:
        """Do nothing: no byte waits here."""

    def close(self) -> None:
        """Close the file."""
        self._file.close()


@contextmanager
def patient_file(path: Path) -> Iterator[PatientFile]:
    """Yield a new file. At the end raise its first failure, in place of those that follow from it."""
    file = PatientFile(path)
    try:
        yield file
    except Exception:
        file.require_success()
        raise
    finally:
        file.close()
    file.require_success()
