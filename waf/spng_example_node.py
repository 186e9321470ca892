# SPDX-License-Identifier: Apache-2.0
"""The example of spng/README.md, "A new node": its parts become the files that the page names, built as a reader builds them."""

import re

PAGE = "spng/README.md"
PARTS = ("spng/nodes/roi/clip.h", "spng/nodes/roi/clip.cxx", "tests/roi/clip_test.cxx")


def code_of(page, part):
    """Return the C++ block after the line that begins with the part's name."""
    found = re.search(rf"^`{re.escape(part)}`.*?^```cpp\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"{PAGE}: no code of {part}")
    return found[1]


def extract(task):
    page = task.inputs[0].read(encoding="utf-8")
    for part, node in zip(PARTS, task.outputs):
        node.write(code_of(page, part), encoding="utf-8")


def build(bld):
    """Build header and source as a plugin in build/tests; leave the file of the test to the test program.

    Build nothing if a reader has added the files to the checkout: a type can be registered only once.
    """
    bld.example_node_tests = []
    if any(bld.path.find_node(part) for part in PARTS):
        return
    files = [bld.path.find_or_declare(f"example/{part}") for part in PARTS]
    bld(rule=extract, source=PAGE, target=files, name="example_files")
    bld.shlib(
        target="tests/SpngExampleNode",
        source=[files[1]],
        includes=[bld.bldnode.make_node("example")],
        export_includes=[bld.bldnode.make_node("example")],
        use="example_files spng FMT TORCH NLOHMANN SPDLOG NVTX SYSTEM",
        install_path=None,
        name="example_node",
    )
    bld.example_node_tests = [files[2]]
