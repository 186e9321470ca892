# SPDX-License-Identifier: Apache-2.0
"""The parts besides LibTorch: where they are, and one folder with links to exactly their headers.

The torch wheel ships headers of another fmt than the one that Debian's spdlog was built with, and a prefix
given for one part often holds other versions of the others. So no whole prefix goes onto the include path: each
part's own header folder is linked into build/parts/include, the only folder searched before LibTorch's.
"""

import os
import re
import subprocess
from dataclasses import dataclass

from spng_options import folders
from waflib import Logs


@dataclass(frozen=True)
class Part:
    name: str  # as in --with-NAME
    uselib: str  # waf's variable suffix
    headers: tuple  # entries of an include folder that belong to the part; the first must exist
    libraries: tuple  # what is linked
    apt: str
    conda: str
    pkg_config: str = ""
    version: tuple = ()  # (header, expression whose groups are the version)
    optional: bool = False  # its absence leaves something out instead of ending configure


# fmt: off
PARTS = (
    Part("fmt", "FMT", ("fmt",), ("fmt",), "libfmt-dev", "fmt", "fmt",
         ("fmt/core.h", r"FMT_VERSION (\d+)")),
    Part("spdlog", "SPDLOG", ("spdlog",), ("spdlog",), "libspdlog-dev", "spdlog", "spdlog",
         ("spdlog/version.h", r"SPDLOG_VER_(?:MAJOR|MINOR|PATCH) (\d+)")),
    Part("jsonnet", "JSONNET", ("libjsonnet.h", "libjsonnet_fmt.h"), ("jsonnet",), "libjsonnet-dev", "-", "",
         ("libjsonnet.h", r'LIB_JSONNET_VERSION "v?([\d.]+)')),
    Part("libarchive", "ARCHIVE", ("archive.h", "archive_entry.h"), ("archive",), "libarchive-dev",
         "libarchive", "libarchive", ("archive.h", r'ARCHIVE_VERSION_ONLY_STRING "([\d.]+)')),
    Part("libdeflate", "DEFLATE", ("libdeflate.h",), ("deflate",), "libdeflate-dev", "libdeflate", "libdeflate",
         ("libdeflate.h", r'LIBDEFLATE_VERSION_STRING\s+"([\d.]+)')),
    Part("zlib", "ZLIB", ("zlib.h", "zconf.h"), ("z",), "zlib1g-dev", "zlib", "zlib",
         ("zlib.h", r'ZLIB_VERSION "([\d.]+)')),
    Part("boost", "BOOST", ("boost",), ("boost_program_options",), "libboost-program-options-dev",
         "libboost-devel", "", ("boost/version.hpp", r'BOOST_LIB_VERSION "([\d_]+)')),
    Part("tbb", "TBB", ("oneapi", "tbb"), ("tbb",), "libtbb-dev", "tbb-devel", "tbb",
         ("oneapi/tbb/version.h", r"TBB_VERSION_(?:MAJOR|MINOR) (\d+)")),
    Part("nlohmann-json", "NLOHMANN", ("nlohmann",), (), "nlohmann-json3-dev", "nlohmann_json",
         "nlohmann_json", ("nlohmann/json.hpp", r"\|  version (\d+\.\d+\.\d+)")),
    Part("sqlite", "SQLITE", ("sqlite3.h",), ("sqlite3",), "libsqlite3-dev", "sqlite", "sqlite3",
         ("sqlite3.h", r'SQLITE_VERSION +"([\d.]+)'), optional=True),
    Part("gtest", "GTEST", ("gtest", "gmock"), ("gmock", "gtest", "gtest_main"),
         "libgtest-dev libgmock-dev", "gtest", "gtest", optional=True),
    Part("benchmark", "BENCHMARK", ("benchmark",), ("benchmark", "benchmark_main"),
         "libbenchmark-dev", "benchmark", "benchmark", optional=True),
)
# fmt: on

SYSTEM_INCLUDES = ("/usr/local/include", "/usr/include")

# Libraries with the same interface: where the left one is absent, the right one does, and configure reports it.
SAME_INTERFACE = {"gojsonnet": "jsonnet"}


def configure(cfg):
    cfg.env.PARTS_FOUND = []
    include_link_folder = os.path.join(cfg.bldnode.abspath(), "parts", "include")
    missing = []
    for part in PARTS:
        location = locate(cfg, part)
        if isinstance(location, str):
            if part.optional and not folder_is_given(cfg, part):
                cfg.env.PARTS_FOUND.append(f"{part.name}: absent, what needs it is left out")
            else:
                missing.append((part, location))
            continue
        include_folder, library_folder, libraries = location
        link_headers(include_link_folder, include_folder, part)
        cfg.env[f"LIB_{part.uselib}"] = list(libraries)
        if library_folder:
            cfg.env[f"LIBPATH_{part.uselib}"] = [library_folder]
            cfg.env.append_unique("RPATH_PARTS", [library_folder])
        cfg.env[f"HAVE_{part.uselib}"] = 1
        cfg.env.PARTS_FOUND.append(describe(part, include_folder, library_folder, libraries))
    if missing:
        report_missing(cfg, missing)
    # FMT is used first by everything, so this folder is searched before LibTorch's.
    cfg.env.CXXFLAGS_FMT = ["-isystem", include_link_folder]
    cfg.env.DEFINES_SPDLOG = ["SPDLOG_COMPILED_LIB"]
    if not os.path.isdir(os.path.join(include_link_folder, "spdlog", "fmt", "bundled")):
        cfg.env.DEFINES_SPDLOG += ["SPDLOG_FMT_EXTERNAL"]


def locate(cfg, part):
    """Return (include folder, library folder or '' for the compiler's, library names), or the missing parts."""
    options, stem = cfg.options, "with_" + part.name.replace("-", "_")
    root = getattr(options, stem, None)
    if root == "no":
        return "left out with =no"
    libraries = folders(getattr(options, f"{stem}_libs", None)) or list(part.libraries)
    given = [
        [root] if root not in (None, "yes") else [],
        folders(getattr(options, f"{stem}_include", None)),
        folders(getattr(options, f"{stem}_lib", None)),
    ]
    include_given = given[1] + [os.path.join(folder, "include") for folder in given[0]]
    library_given = given[2] + [os.path.join(folder, "lib") for folder in given[0]]
    if (
        part.name == "boost"
        and options.boost_mt
        and find_libraries(cfg, [f"{libraries[0]}-mt"], library_given) is not None
    ):
        libraries = [f"{libraries[0]}-mt"]

    for names in [libraries] + [[SAME_INTERFACE.get(name, name) for name in libraries]]:
        for include_folders, library_folders in usual_folders(cfg, part):
            # A folder that was given replaces the usual ones of its kind.
            include_folder = first_with(include_given or include_folders, part.headers[0])
            library_folder = find_libraries(cfg, names, library_given or library_folders) if names else ""
            if include_folder and library_folder is not None:
                if names != libraries:
                    cfg.env.append_value(
                        "NOTES",
                        [
                            f"lib{libraries[0]} was not found: lib{names[0]}, with the same "
                            "interface, is taken"
                        ],
                    )
                return include_folder, library_folder, names
    wanted = " or ".join([part.headers[0]] + [f"lib{name}.so" for name in libraries])
    return f"no {wanted} in " + (", ".join(include_given + library_given) or "the usual folders")


def folder_is_given(cfg, part):
    """Return whether the user names a folder for the part, so that its absence is an error."""
    stem = "with_" + part.name.replace("-", "_")
    names = (stem, f"{stem}_include", f"{stem}_lib")
    return any(getattr(cfg.options, name, None) not in (None, "yes", "no") for name in names)


def usual_folders(cfg, part):
    """Return (include folders, library folders) to try in order; no library folder means those of the
    compiler.
    """
    include_folder, library_folder = (pkg_config(part, name) for name in ("includedir", "libdir"))
    if include_folder and include_folder not in SYSTEM_INCLUDES:
        yield [include_folder], [library_folder]
    if os.environ.get("CONDA_PREFIX"):
        yield (
            [os.path.join(os.environ["CONDA_PREFIX"], "include")],
            [os.path.join(os.environ["CONDA_PREFIX"], "lib")],
        )
    yield list(SYSTEM_INCLUDES), []
    # The field often installs into the same prefix that holds the parts.
    yield [os.path.join(cfg.env.PREFIX, "include")], [os.path.join(cfg.env.PREFIX, "lib")]


def find_libraries(cfg, libraries, library_folders):
    """Return the folder that has them all; '' if the compiler finds them without it; None if they are absent."""
    multiarch = f"{os.uname().machine}-linux-gnu"
    for folder in library_folders:
        for location in (folder, os.path.join(folder, multiarch)):
            if all(has_library(location, name) for name in libraries):
                return location
    return "" if not library_folders and all(compiler_finds(cfg, name) for name in libraries) else None


def first_with(locations, entry):
    return next((location for location in locations if os.path.exists(os.path.join(location, entry))), "")


def pkg_config(part, variable):
    try:
        return (
            subprocess.run(
                ["pkg-config", f"--variable={variable}", part.pkg_config],
                capture_output=True,
                text=True,
                check=False,
            ).stdout.strip()
            if part.pkg_config
            else ""
        )
    except FileNotFoundError:
        return ""


def has_library(folder, name):
    return any(os.path.exists(os.path.join(folder, f"lib{name}{suffix}")) for suffix in (".so", ".a"))


def compiler_finds(cfg, name):
    """Ask the compiler for the file, so that multiarch folders need not be guessed."""
    for suffix in (".so", ".a"):
        answer = subprocess.run(
            cfg.env.CXX + [f"-print-file-name=lib{name}{suffix}"], capture_output=True, text=True, check=False
        ).stdout.strip()
        if os.path.isabs(answer):
            return True
    return False


def link_headers(link_folder, include_folder, part):
    """Make link_folder/<entry> point to the part's own headers."""
    os.makedirs(link_folder, exist_ok=True)
    for entry in part.headers:
        link, source = os.path.join(link_folder, entry), os.path.join(include_folder, entry)
        if os.path.islink(link):
            os.remove(link)
        if os.path.exists(source):
            os.symlink(source, link)


def describe(part, include_folder, library_folder, libraries):
    """Return a line such as 'spdlog: 1.10.0 (/usr/include; libspdlog)'."""
    version = ""
    if part.version:
        path = os.path.join(include_folder, part.version[0])
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as stream:
                version = ".".join(re.findall(part.version[1], stream.read())[:3]).replace("_", ".")
            if version.isdigit():  # fmt: 90100 is 9.1.0
                version = f"{int(version) // 10000}.{int(version) // 100 % 100}.{int(version) % 100}"
    files = ", ".join(f"lib{name}" for name in libraries) or "headers only"
    location = f" in {library_folder}" if library_folder else ""
    return f"{part.name}: {version or 'found'} ({include_folder}; {files}{location})"


def report_missing(cfg, missing):
    """Report the missing parts, their names in apt and conda-forge, and their options, in one block."""
    lines = [
        f"  {part.name}: {reason}\n"
        f"      apt: {part.apt}   conda-forge: {part.conda}   or: --with-{part.name}=DIR"
        for part, reason in missing
    ]
    Logs.error("")
    cfg.fatal(
        "missing parts:\n"
        + "\n".join(lines)
        + "\n  To fix: ./wcb setup installs them with root or sudo; or give their folders"
    )
