# SPDX-License-Identifier: Apache-2.0
"""Unity chunks: names of unnamed namespaces stay apart, messages name the sources."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("waflib")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "waf"))

import spng_unity  # noqa: E402  (the path must be set first)

SOURCE = """#include "beside.h"

namespace house {
namespace {

constexpr int size = NUMBER'000;

struct Item {
    int value = NUMBER;
};

template <typename T>
T sum(const std::vector<T>& items, int first) {
    return items.size() + first; // the sum of size
}

int only_here() {
    return "size"[0] + Item().value;
}

} // namespace

int room_NUMBER() {
    return size + only_here() + sum(std::vector<int>{}, 1);
}

} // namespace house
"""


class Node:
    """Stand-in for a waf node: a path below a root."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, path.name

    @property
    def parent(self) -> Node:
        return Node(self.path.parent)

    def read(self, encoding: str) -> str:
        return self.path.read_text(encoding)

    def find_node(self, name: str) -> Node | None:
        return Node(self.path / name) if (self.path / name).exists() else None

    def path_from(self, other: Node) -> str:
        return str(self.path.relative_to(other.path))


@pytest.fixture
def chunk(tmp_path: Path) -> str:
    """Text of two joined sources which have equal names in unnamed namespaces."""
    (tmp_path / "spng").mkdir()
    (tmp_path / "spng" / "beside.h").write_text("#pragma once\n#include <vector>\n")
    nodes = []
    for index in ("1", "2"):
        path = tmp_path / "spng" / f"room{index}.cxx"
        path.write_text(SOURCE.replace("NUMBER", index))
        nodes.append(Node(path))
    return spng_unity.joined(nodes, Node(tmp_path), Node(tmp_path))


def test_finds_the_names_of_unnamed_namespaces() -> None:
    assert spng_unity.local_names(SOURCE) == {"size", "Item", "sum", "only_here"}


def test_fixtures_keep_their_names() -> None:
    text = (
        "namespace {\n\nclass Files : public ::testing::Test {};\n\nTEST_F(Files, are) {}\n\n} // namespace\n"
    )
    assert spng_unity.local_names(text) == set()


def test_renames_neither_members_nor_text(chunk: str) -> None:
    assert "size_in_room1 = 1'000;" in chunk and "items.size() + first; // the sum of size" in chunk
    assert '"size"[0]' in chunk and "Item_in_room2().value" in chunk and "room_1()" in chunk


def test_compiles_and_names_the_sources(chunk: str, tmp_path: Path) -> None:
    source = tmp_path / "chunk.cxx"

    def compiled(text: str) -> subprocess.CompletedProcess[str]:
        source.write_text(text)
        command = ["g++", "-std=c++20", "-I", str(tmp_path), "-fsyntax-only", str(source)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert compiled(chunk).returncode == 0
    broken = compiled(chunk.replace("constexpr int size_in_room2", "constexpr size_in_room2"))
    assert "spng/room2.cxx:6:11: error" in broken.stderr
