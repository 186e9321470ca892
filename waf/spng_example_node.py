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
    """Build header and source as a plugin in build/tests, and the test, which the test program links.

    Build nothing if a reader has added the files to the checkout: a type can be registered only once.
    """
    if any(bld.path.find_node(part) for part in PARTS):
        return
    files = [bld.path.find_or_declare(f"example/{part}") for part in PARTS]
    bld(rule=extract, source=PAGE, target=files, name="example_files")
    own = {"includes": [bld.bldnode.make_node("example")], "install_path": None}
    libraries = "example_files spng FMT TORCH NLOHMANN SPDLOG NVTX SYSTEM"
    bld.shlib(target="tests/SpngExampleNode", source=[files[1]], use=libraries, name="example_node", **own)
    bld.objects(source=[files[2]], use=f"GTEST {libraries}", name="example_test", **own)
