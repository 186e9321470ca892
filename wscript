# SPDX-License-Identifier: Apache-2.0
"""The build: what is configured, built and installed. Run it through ./wcb (see ./wcb --help).

The helpers are in waf: one file per idea.
"""

import os

from waflib import Configure, Utils

APPNAME = "spng"
with open("spng/VERSION", encoding="utf-8") as stream:
    VERSION = stream.read().strip()
top = "."
out = "build"

TOOLS = "waf"

# After a pull that changes the build, configure runs again by itself with the options it had.
Configure.autoconfig = "clobber"


def options(opt):
    """declare the options"""
    opt.load("compiler_cxx")
    opt.load("spng_options spng_install", tooldir=TOOLS)


def configure(cfg):
    """configure: find the compiler, LibTorch and the other parts, and remember the options"""
    cfg.load("compiler_cxx gccdeps")
    cfg.load("spng_compiler spng_pch spng_unity spng_install spng_libtorch spng_cuda", tooldir=TOOLS)
    cfg.load("spng_dependencies spng_grpc spng_link_check spng_wirecell", tooldir=TOOLS)
    cfg.load("spng_python spng_python_tools spng_summary", tooldir=TOOLS)
    watch_tools(cfg)


def watch_tools(cfg):
    """Run configure again when our tools change, or when the set-up brings another set of LibTorch's packages."""
    set_up = cfg.path.find_node(".venv/spng-setup.json")
    for file in [*cfg.path.ant_glob(f"{TOOLS}/*.py"), *([set_up] if set_up else [])]:
        cfg.hash = Utils.h_list((cfg.hash, file.read("rb")))
        cfg.files.append(file.abspath())


def build(bld):
    """build: the library, the program, the Python module, the tests and the benchmarks"""
    bld.load("spng_build_info spng_install", tooldir=TOOLS)
    libraries = "FMT TORCH JSONNET ARCHIVE DEFLATE ZLIB BOOST SPDLOG TBB NLOHMANN CUDA NVTX SYSTEM"
    include_folders = [".", "spng/include", bld.bldnode.make_node("include")]

    bld.add_group()
    bld.load("spng_pch", tooldir=TOOLS)
    bld.shlib(
        features="pch",
        target="lib/WireCellSpng",
        source=bld.chunks_of(
            bld.path.ant_glob(
                "spng/**/*.cxx", excl=["spng/app/main.cxx", "spng/kernels/plugin/**", "spng/kserve/grpc/**"]
            ),
            "library",
        ),
        includes=include_folders,
        export_includes=include_folders,
        use=libraries,
        linkflags=["-Wl,--as-needed"] + bld.env.LINKFLAGS_COMPLETE,
        install_path="${LIBDIR}",
        name="spng",
    )

    # Loaded by NVTX into any program, so it knows nothing of the library above.
    if bld.env.WITH_NVTX == "yes" and bld.env.HAVE_SQLITE:
        bld.shlib(
            target="lib/SpngRecorder",
            source=bld.path.ant_glob(
                "profiling/recorder/**/*.cxx spng/core/error.cxx spng/core/printable.cxx"
                " spng/core/files/output_path.cxx spng/core/files/temporary_files.cxx spng/core/files/url.cxx",
                excl=[] if bld.env.CUPTI_INCLUDE else ["profiling/recorder/device/cupti_*.cxx"],
            ),
            includes=["."],
            use="NVTX CUDA SQLITE SYSTEM",
            cxxflags=["-fvisibility=hidden"] + bld.env.CXXFLAGS_FMT,  # the folder of the parts' headers
            linkflags=["-Wl,--as-needed"] + bld.env.LINKFLAGS_COMPLETE,
            rpath="$ORIGIN",  # where a wheel has SQLite, for other programs too
            install_path="${LIBDIR}",
        )

    bld.load("spng_cuda spng_grpc spng_wirecell spng_python", tooldir=TOOLS)

    def program(target, source, use="", defines=()):
        if source:
            bld.program(
                features="pch",
                target=target,
                source=source,
                use=f"spng {libraries} {use}",
                defines=list(defines),
                rpath=["$ORIGIN/../lib", "$ORIGIN"],
                # The library registers its components when loaded, even if nothing names a symbol of it.
                linkflags="-Wl,--no-as-needed",
                install_path=None,
            )

    # A launcher that loads the library itself, and must not load OpenMP before it: see main.cxx.
    bld.program(
        target="bin/wire-cell",
        source="spng/app/main.cxx",
        use="SYSTEM",
        rpath=bld.env.RPATH_PROGRAM,
        linkflags=["-Wl,--as-needed"] + bld.env.LINKFLAGS_LAUNCHER,
        install_path="${BINDIR}",
    )
    if bld.env.HAVE_GTEST and not bld.options.notests:
        program(
            "tests/spng_tests",
            bld.chunks_of(bld.path.ant_glob("tests/**/*_test.cxx"), "tests")
            + ["tests/kernels/emulated_kernels.cxx"]
            + bld.sources_without_wirecell(),
            use="GTEST example_node example_test",
            defines=[f'SPNG_SOURCE_DIR="{bld.path.abspath()}"'],
        )
    if not bld.options.notests:
        program("tests/spng_fuzz", bld.chunks_of(bld.path.ant_glob("tests/fuzz/**/*.cxx"), "fuzz"))
    if bld.env.HAVE_BENCHMARK and (bld.options.benchmarks or not bld.options.notests):
        for source in bld.path.ant_glob("bench/cpp/**/*_bench.cxx"):
            program("bench/" + os.path.splitext(source.name)[0], [source], use="BENCHMARK")
    bld.load("spng_cuda_simulator spng_packages spng_python_tools", tooldir=TOOLS)
    if bld.env.HAVE_GTEST and not bld.options.notests:
        bld.load("spng_example_node", tooldir=TOOLS)  # last: it may be absent, and waf numbers the targets
    install_files(bld)


def install_files(bld):
    """Install headers, licence, configuration and data. The program finds the last two relative to its own path."""
    include_folder = "${PREFIX}/include"
    bld.install_files(f"{include_folder}/WireCellSpng", bld.path.ant_glob("spng/include/WireCellSpng/*.h"))
    bld.install_files(
        include_folder,
        bld.path.ant_glob("spng/**/*.h profiling/recorder/recorder_abi.h", excl="spng/include/**"),
        relative_trick=True,
    )
    bld.install_files("${PREFIX}/share/doc/spng", "LICENSE NOTICE")
    for folder in ("cfg", "data"):
        bld.install_files(
            "${PREFIX}/share/wirecell", bld.path.ant_glob(f"{folder}/**/*"), relative_trick=True
        )
