# SPDX-License-Identifier: Apache-2.0
"""Command line options of ./wcb configure and ./wcb build.

The names are those of the Wire-Cell Toolkit's `wcb`. Its options which concern parts that this project does not
have are accepted and noted, so that a configure line from the toolkit's documentation works unchanged.
"""

import difflib
import sys

# Every part has --with-NAME=DIR, --with-NAME-include=A,B, --with-NAME-lib=A,B and --with-NAME-libs=x,y.
PARTS = {
    "libtorch": "LibTorch 2.11 or newer; default: the torch package of the virtual environment",
    "cuda": "CUDA headers (NVTX, CUPTI); default: those that come with LibTorch",
    "jsonnet": "libjsonnet; --with-jsonnet-libs=gojsonnet takes the Go one",
    "spdlog": "spdlog",
    "fmt": "fmt, the one that spdlog was built with",
    "tbb": "oneTBB",
    "libarchive": "libarchive",
    "libdeflate": "libdeflate",
    "zlib": "zlib",
    "nlohmann-json": "nlohmann-json (headers)",
    "sqlite": "SQLite, for the recorder (--record)",
    "grpc": "gRPC and protobuf, for wire-cell --serve grpc://",
    "gtest": "GoogleTest, for the tests",
    "benchmark": "Google Benchmark, for ./wcb bench",
    "wirecell": "an installed Wire-Cell Toolkit: builds its plugin libWireCellSpngPlugin; default: no",
}

# Parts of the Wire-Cell Toolkit that this project does not use.
FIELD_PARTS = (
    "root fftw fftwthreads eigen eigen3 hdf5 h5cpp protobuf triton zmq libzmq czmq libczmq "
    "zyre libzyre zio libzio glpk kokkos rtuples dynamo jsoncpp libtool spng bzip2 python"
).split()
FIELD_FLAGS = "--tests --alltests --clear-failed --dump-test-scripts".split()
FIELD_VALUES = (
    "--cxxstd --with-spdlog-active-level --with-spdlog-static --test-group --test-duration --testcmd --test-data-url "
    "--test-data-versions --docs --docs-prefix --emacs-daemon --install-config --kokkos-options --boost-toolset "
    "--boost-linkage_autodetect --boost-abi --boost-python"
).split()

# Words that stand for yes and no in place of a folder, in any case; those of the Wire-Cell Toolkit, and digits.
YES, NO = ("yes", "on", "true", "1"), ("no", "off", "false", "0")

BUILD_MODES = ("release", "debug", "asan", "tsan")


def options(opt):
    group = opt.add_option_group("SPNG options of configure")
    group.add_option(
        "--build-mode",
        choices=BUILD_MODES,
        default="release",
        dest="build_mode",
        help="release (default), debug, asan (address and undefined) or tsan (threads)",
    )
    group.add_option(
        "--build-debug",
        default="",
        metavar="FLAGS",
        dest="build_debug",
        help="flags of the compiler after those of the build mode, such as --build-debug='-O0 -ggdb3'",
    )
    group.add_option(
        "--with-nvtx",
        nargs="?",
        const="yes",
        default="no",
        type=yes_no_or_folder,
        metavar="yes|no|DIR",
        dest="with_nvtx",
        help="compile the NVTX ranges in (NVTX3 headers, no library); DIR holds include/nvtx3",
    )
    group.add_option(
        "--cuda-compiler",
        choices=("auto", "nvcc", "nvrtc", "none"),
        default="auto",
        dest="cuda_compiler",
        help="what compiles the CUDA kernels: auto (default) is nvcc where it fits LibTorch, else NVRTC, which comes "
        "with LibTorch; none leaves them out",
    )
    group.add_option(
        "--with-lineinfo",
        nargs="?",
        const="yes",
        default="no",
        type=yes_or_no,
        metavar="yes|no",
        dest="with_lineinfo",
        help="line information in the CUDA kernels, for profilers that show the source",
    )
    group.add_option(
        "--unity",
        type=int,
        default=8,
        metavar="N",
        dest="unity",
        help="compile up to N sources of a folder together (8); 1: each alone",
    )
    group.add_option(
        "--no-pch",
        action="store_true",
        dest="no_pch",
        help="compile without a precompiled header; so does every compiler but g++",
    )
    for name, text in PARTS.items():
        stem = "with_" + name.replace("-", "_")
        group.add_option(
            f"--with-{name}",
            nargs="?",
            const="yes",
            type=yes_no_or_folder,
            metavar="DIR",
            dest=stem,
            help=text,
        )
        for suffix, meaning in (
            ("include", "header folders"),
            ("lib", "library folders"),
            ("libs", "library names"),
        ):
            spellings = [f"--with-{name}-{suffix}"] + (
                [f"--with-{name}-includes"] if suffix == "include" else []
            )
            group.add_option(*spellings, metavar="A,B", dest=f"{stem}_{suffix}", help=f"{name}: {meaning}")
    group.add_option(
        "--with-boost", type=yes_no_or_folder, metavar="DIR", dest="with_boost", help="Boost 1.74 or newer"
    )
    group.add_option(
        "--boost-include",
        "--boost-includes",
        metavar="DIR",
        dest="with_boost_include",
        help="boost: header folder",
    )
    group.add_option(
        "--boost-libs", "--boost-lib", metavar="DIR", dest="with_boost_lib", help="boost: library folder"
    )
    group.add_option(
        "--boost-mt",
        action="store_true",
        dest="boost_mt",
        help="prefer libboost_*-mt; without such files the plain ones are taken",
    )

    group = opt.add_option_group("SPNG options of build")
    group.add_option("--notests", action="store_true", dest="notests", help="leave tests and benchmarks out")
    group.add_option(
        "--benchmarks", action="store_true", dest="benchmarks", help="with --notests: build the benchmarks"
    )

    group = opt.add_option_group("Options of the field that mean nothing here: accepted, noted, ignored")
    for name in FIELD_PARTS:
        for suffix in ("", "-include", "-lib", "-libs"):
            group.add_option(
                f"--with-{name}{suffix}",
                nargs="?",
                const="yes",
                metavar="...",
                help="no meaning here",
                dest=f"ignored:--with-{name}{suffix}",
            )
    for flag in FIELD_FLAGS:
        group.add_option(
            flag, action="store_const", const="yes", help="no meaning here", dest=f"ignored:{flag}"
        )
    for value in FIELD_VALUES:
        group.add_option(
            value, nargs="?", const="yes", metavar="...", help="no meaning here", dest=f"ignored:{value}"
        )

    reject_unknown(opt)


def yes_no_or_folder(text):
    """Return 'yes' or 'no' for the words that mean it; return any other text unchanged."""
    word = text.lower()
    return "yes" if word in YES else "no" if word in NO else text


def yes_or_no(text):
    """Return as yes_no_or_folder does; another text is an error of argparse."""
    word = yes_no_or_folder(text)
    if word not in ("yes", "no"):
        raise ValueError(text)
    return word


def takes_optional_value(option):
    """Return whether the option may have no value, so that a command after it must not be taken for its
    value.
    """
    return option.startswith("--with-") or option in FIELD_VALUES


def reject_unknown(opt):
    """End with status 2 and the nearest known name at an unknown option, instead of waf's page of help."""
    opt.parser.allow_abbrev = False
    known = [name for name in opt.parser._option_string_actions if name.startswith("--")]
    for argument in opt.parser.parse_known_args()[1]:
        if argument.startswith("-"):
            name = argument.split("=")[0]
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]}?" if near else "See ./wcb --help."
            sys.stderr.write(f"wcb: unknown option {name}. {hint}\n")
            sys.exit(2)


def ignored_options(options):
    """Return the given options that mean nothing here, as the user wrote them."""
    return [
        key.split(":", 1)[1]
        for key, value in vars(options).items()
        if key.startswith("ignored:") and value is not None
    ]


def folders(text):
    """Split 'A,B' into ['A', 'B']."""
    return [part for part in (text or "").split(",") if part]
