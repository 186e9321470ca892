# SPDX-License-Identifier: Apache-2.0
"""The installed tree for pkg-config and CMake: programs that use WireCellSpng/Pipeline.h, and plugins with nodes.

Both find the tree relative to their own files, so that it can be moved.
"""

import os

PKG_CONFIG = """\
prefix=${{pcfiledir}}/{to_prefix}
libdir=${{pcfiledir}}/..
includedir=${{prefix}}/include

Name: {name}
Description: {about}
Version: {version}
{content}"""

CMAKE = """\
# Targets: WireCellSpng::WireCellSpng for programs that use WireCellSpng/Pipeline.h (C++17); WireCellSpng::Plugin for nodes (C++20).
get_filename_component(_spng_libdir "${{CMAKE_CURRENT_LIST_DIR}}/../.." ABSOLUTE)
get_filename_component(_spng_prefix "${{CMAKE_CURRENT_LIST_DIR}}/../{to_prefix}" ABSOLUTE)
if(NOT TARGET WireCellSpng::WireCellSpng)
  add_library(WireCellSpng::WireCellSpng SHARED IMPORTED)
  set_target_properties(WireCellSpng::WireCellSpng PROPERTIES
    IMPORTED_LOCATION "${{_spng_libdir}}/libWireCellSpng.so"
    INTERFACE_INCLUDE_DIRECTORIES "${{_spng_prefix}}/include"
    INTERFACE_COMPILE_FEATURES cxx_std_17)
  add_library(WireCellSpng::Plugin INTERFACE IMPORTED)
  set_target_properties(WireCellSpng::Plugin PROPERTIES
    INTERFACE_LINK_LIBRARIES "WireCellSpng::WireCellSpng;{libraries}"
    INTERFACE_INCLUDE_DIRECTORIES "{folders}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "{folders}"
    INTERFACE_COMPILE_DEFINITIONS "{defines}"
    INTERFACE_COMPILE_FEATURES cxx_std_20)
endif()
"""

CMAKE_VERSION = """\
set(PACKAGE_VERSION "{version}")
if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
"""


def build(bld):
    """Write and install the files."""
    if not bld.is_install:
        return
    for name, text in files_of_packages(bld.env, version()).items():
        node = bld.bldnode.make_node(f"packages/{name}")
        node.parent.mkdir()
        node.write(text)
        bld.install_files(f"${{LIBDIR}}/{os.path.dirname(name)}", node)


def version():
    with open("spng/VERSION", encoding="utf-8") as stream:
        return stream.read().strip()


def files_of_packages(env, release):
    """Return the files by their paths below LIBDIR."""
    folders = include_folders(env)
    defines = list(env.DEFINES_NVTX)
    libraries = [os.path.join(env.LIBPATH_TORCH[0], f"lib{name}.so") for name in env.LIB_TORCH]
    values = {
        "version": release,
        "to_prefix": os.path.relpath(env.PREFIX, os.path.join(env.LIBDIR, "pkgconfig")),
    }
    program = "Cflags: -I${includedir}\nLibs: -L${libdir} -Wl,-rpath,${libdir} -lWireCellSpng\n"
    plugin = (
        "Requires: wire-cell-spng\n"
        f"Cflags: -std=c++20 {' '.join(f'-D{each}' for each in defines)} {' '.join(f'-isystem {each}' for each in folders)}\n"
        f"Libs: {' '.join(libraries)}\n"
    )
    return {
        "pkgconfig/wire-cell-spng.pc": PKG_CONFIG.format(
            name="wire-cell-spng",
            about="GPU signal processing of liquid-argon TPCs: spng::Pipeline",
            content=program,
            **values,
        ),
        "pkgconfig/wire-cell-spng-plugin.pc": PKG_CONFIG.format(
            name="wire-cell-spng-plugin",
            about="Nodes for wire-cell and spng::Pipeline",
            content=plugin,
            **values,
        ),
        "cmake/WireCellSpng/WireCellSpngConfig.cmake": CMAKE.format(
            libraries=";".join(libraries),
            folders=";".join(folders),
            defines=";".join(defines),
            to_prefix=values["to_prefix"],
        ),
        "cmake/WireCellSpng/WireCellSpngConfigVersion.cmake": CMAKE_VERSION.format(version=release),
    }


def include_folders(env):
    """Return the folders of the headers of LibTorch and NVTX."""
    flags = [*env.CXXFLAGS_TORCH, *env.CXXFLAGS_NVTX]
    found = [flag.removeprefix("-isystem").removeprefix("-I") for flag in flags]
    return list(dict.fromkeys(folder for folder in found if os.path.isdir(folder)))
