# SPDX-License-Identifier: Apache-2.0
"""The packages of wirecell_profile import each other without cycles, and only in the order below."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "wirecell_profile"
BASE = "base"  # the modules beside the packages that other modules import
COMMAND_LINE = "command line"
# Each package imports only from itself and from packages of earlier lines.
ORDER = (BASE, "model", "tables", "reports", "rules", "compare", "html", "export", "commands", COMMAND_LINE)
MAX_SOURCES = 30


def modules() -> dict[str, Path]:
    """Return dotted name below wirecell_profile -> source; a package has the name of its folder, the root the
    empty name.
    """
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    """Return all modules of the package that a module imports: at the top, in functions, and for type
    checking.
    """
    package = name.split(".") if path.name == "__init__.py" and name else name.split(".")[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.removeprefix("wirecell_profile.") for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            target = (node.module or "").split(".") if node.module else []
            if node.level:
                target = package[: len(package) - node.level + 1] + target
            elif target[0] == "wirecell_profile":
                target = target[1:]
            else:
                continue
            names = {".".join([*target, alias.name]) for alias in node.names}
            is_module = names & known.keys()
            found |= is_module | ({".".join(target)} if names - is_module else set())
    return found & known.keys()


def package_of(name: str) -> str:
    """Return the line of ORDER that a module belongs to."""
    if "." in name or (ROOT / name).is_dir():
        return name.split(".")[0]
    return COMMAND_LINE if name in ("cli", "__main__") else BASE


def test_no_module_imports_itself_through_others() -> None:
    known = modules()
    graph = {name: imports(name, path, known) - {name} for name, path in known.items()}
    assert sum(map(len, graph.values())) > 200
    TopologicalSorter(graph).prepare()  # CycleError names the cycle


def test_packages_import_only_earlier_ones() -> None:
    known = modules()
    wrong = [
        f"{name} imports {other}"
        for name, path in known.items()
        if name
        for other in imports(name, path, known)
        if other and ORDER.index(package_of(other)) > ORDER.index(package_of(name))
    ]
    assert not wrong


def test_no_folder_is_large() -> None:
    folders = {path.parent for path in modules().values()}
    assert {folder.name for folder in folders} == {ROOT.name, *ORDER[1:-1]}
    assert all(len(list(folder.glob("*.py"))) <= MAX_SOURCES for folder in folders)
