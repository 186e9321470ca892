# SPDX-License-Identifier: Apache-2.0
"""The precompiled header: headers of LibTorch and others that nearly every source includes, parsed once.

It holds no header of this project, so it is made again only when configure finds other parts or flags. Sources do not
rely on it: each includes what it uses, and compiles without it (--no-pch, and compilers other than g++).
"""

from waflib import Task, TaskGen

HEADERS = (
    "ATen/Functions.h",
    "ATen/Parallel.h",
    "ATen/TensorOperators.h",
    "ATen/core/Tensor.h",
    "fmt/format.h",
    "nlohmann/json.hpp",
    "spdlog/spdlog.h",
    "algorithm",
    "chrono",
    "filesystem",
    "functional",
    "map",
    "memory",
    "mutex",
    "optional",
    "set",
    "span",
    "string",
    "thread",
    "variant",
    "vector",
)
USE = "FMT TORCH JSONNET ARCHIVE DEFLATE ZLIB BOOST SPDLOG TBB NLOHMANN CUDA NVTX SYSTEM"


def configure(cfg):
    cfg.env.PCH = "yes" if cfg.env.CXX_NAME == "gcc" and not getattr(cfg.options, "no_pch", False) else ""
    # One header serves library, program and tests: their flags must be the same.
    cfg.env.append_unique("CXXFLAGS", ["-fPIC"])


class cxx_pch(Task.Task):
    """Compile build/pch/headers.h into build/pch/headers.h.gch."""

    run_str = "${CXX} ${CXXFLAGS} ${CPPPATH_ST:INCPATHS} ${DEFINES_ST:DEFINES} -x c++-header ${SRC[0].abspath()} -o ${TGT[0].abspath()}"
    color = "GREEN"

    def keyword(self):
        return "Precompiling"


def build(bld):
    if not bld.env.PCH:
        return
    header = bld.path.find_or_declare("pch/headers.h")
    header.parent.mkdir()
    text = "".join(f"#include <{name}>\n" for name in HEADERS)
    if not header.exists() or header.read() != text:
        header.write(text)
    bld(features="cxx spng_pch_make", source=[], use=USE, name="pch", target="pch")


@TaskGen.feature("spng_pch_make")
@TaskGen.after_method("propagate_uselib_vars", "apply_incpaths")
def make_pch(self):
    header = self.bld.path.find_or_declare("pch/headers.h")
    self.bld.pch_task = self.create_task("cxx_pch", header, header.change_ext(".h.gch"))


@TaskGen.feature("pch")
@TaskGen.after_method("process_source", "propagate_uselib_vars", "apply_incpaths")
def use_pch(self):
    """Let each compilation of a task generator take the precompiled header."""
    if not self.env.PCH:
        return
    made = self.bld.get_tgen_by_name("pch")
    made.post()
    gch = self.bld.pch_task.outputs[0]
    self.env.prepend_value("CXXFLAGS", ["-include", gch.abspath()[: -len(".gch")], "-Winvalid-pch"])
    for task in self.tasks:
        if type(task).__name__ == "cxx":
            task.set_run_after(self.bld.pch_task)
            task.dep_nodes.append(gch)
