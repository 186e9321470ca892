# SPDX-License-Identifier: Apache-2.0
"""The Python tools in the installed tree: packages in lib/python3.X/site-packages, where a Python of the same prefix finds
them, and commands in bin, which the Python of configure runs.
"""

import os
import sys

from waflib import Utils


def site_packages():
    """Return the folder of the packages below the prefix."""
    return f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"


def module_search_path(env):
    """Return where the installed native module finds the library, relative to itself."""
    return "$ORIGIN/" + os.path.relpath(env.LIBDIR, f"{env.PREFIX}/{site_packages()}/spng")


def configure(cfg):
    """Remember the Python that has the packages on which the tools depend."""
    cfg.env.PYTHON = sys.executable


def build(bld):
    """Install packages and commands. The native module is installed by spng_python."""
    if not bld.is_install:
        return
    sys.path.insert(0, bld.path.abspath())
    from scripts.wcb import python_tools

    with_frames = bool(bld.env.HAVE_PYTHON)
    for package, folder in python_tools.packages(with_frames).items():
        source = bld.path.find_dir(folder)
        bld.install_files(
            f"${{PREFIX}}/{site_packages()}/{package}",
            source.ant_glob("**/*", excl="**/__pycache__ **/*.pyc"),
            cwd=source,
            relative_trick=True,
        )
    env = bld.env
    packages = os.path.relpath(f"{env.PREFIX}/{site_packages()}", env.BINDIR)
    for command, text in python_tools.launchers(env.PYTHON, packages, with_frames).items():
        node = bld.bldnode.make_node(f"launchers/{command}")
        node.parent.mkdir()
        node.write(text)
        bld.install_as(f"${{BINDIR}}/{command}", node, chmod=Utils.O755)
