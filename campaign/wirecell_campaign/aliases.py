# SPDX-License-Identifier: Apache-2.0
"""Names by which the program finds its files. It reads the files of a list as JSON, whose strings are UTF-8; paths are bytes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .input_list import ending_of
from .layout import OWN_DISK
from .paths import is_utf8

OUTPUT = "output"  # name of an output, without ending, for one whose name is not UTF-8


@contextmanager
def of_files(source: str, work: Path, name: str) -> Iterator[dict[str, str]]:
    """Yield values for the placeholders of the program: the input, the attempt's folders, and the name of the output without
    ending. Paths that are not UTF-8 get links, which end with the context, and an output OUTPUT.
    """
    if all(map(is_utf8, (source, str(work), name))):
        yield {"input": source, "folder": str(work / "out"), "name": name, "work": str(work)}
        return
    with tempfile.TemporaryDirectory(prefix=OWN_DISK) as folder:
        links = Path(folder)
        (links / "work").symlink_to(work)
        file = links / f"input{ending_of(source)}"
        file.symlink_to(source)
        usable = name if is_utf8(name) else OUTPUT
        yield {"input": str(file), "folder": f"{folder}/work/out", "name": usable, "work": f"{folder}/work"}


def give_names(folder: Path, name: str) -> None:
    """Give outputs their names, which had OUTPUT in place of a name that is not UTF-8."""
    if not is_utf8(name):
        for path in list(folder.iterdir()):
            path.rename(path.with_name(path.name.replace(OUTPUT, name, 1)))
