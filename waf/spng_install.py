# SPDX-License-Identifier: Apache-2.0
"""Installation folders: files are installed into the folders of configure, or into those that install or uninstall is given."""

import os

FOLDERS = ("prefix", "bindir", "libdir")


def options(opt):
    """Remember the folders of the command line, because waf's defaults look the same."""
    parser = opt.parser
    defaults = {name: parser.get_default(name) for name in FOLDERS}
    parser.set_defaults(**dict.fromkeys(FOLDERS))
    seen = parser.parse_known_args()[0]
    parser.set_defaults(**defaults, folders_given=[name for name in FOLDERS if getattr(seen, name)])


def configure(cfg):
    """Set PREFIX, BINDIR, LIBDIR, and the locations where the program looks for its library."""
    env, given = cfg.env, folders_given(cfg.options)
    env.PREFIX_GIVEN = "yes" if "prefix" in given else ""
    if "libdir" not in given:
        env.LIBDIR = os.path.join(env.PREFIX, "lib")  # waf guesses lib64 on some systems
    env.RPATH_PROGRAM = list(dict.fromkeys(["$ORIGIN/../lib", library_path(env)]))


def build(bld):
    """Let install and uninstall take other folders than configure's."""
    if not bld.is_install:
        return
    env, given, options = bld.env, folders_given(bld.options), bld.options
    prefix = (
        options.prefix
        if "prefix" in given or (os.environ.get("PREFIX") and not env.PREFIX_GIVEN)
        else env.PREFIX
    )
    for name in ("BINDIR", "LIBDIR"):
        env[name] = (
            getattr(options, name.lower()) if name.lower() in given else moved(env[name], env.PREFIX, prefix)
        )
    env.PREFIX = prefix
    if library_path(env) not in env.RPATH_PROGRAM:
        bld.fatal(
            f"{env.BINDIR}/wire-cell would not find its library in {env.LIBDIR}: it looks in {', '.join(env.RPATH_PROGRAM)}\n"
            f"  hint: ./wcb configure --prefix={env.PREFIX} --bindir={env.BINDIR} --libdir={env.LIBDIR}, then ./wcb install"
        )


def folders_given(options):
    """Return the names of the folders on the command line; options that an older configure stored have none."""
    return getattr(options, "folders_given", [])


def library_path(env):
    """Return LIBDIR as an entry of the program's RPATH."""
    return "$ORIGIN/" + os.path.relpath(env.LIBDIR, env.BINDIR)


def moved(folder, old, new):
    """Return a folder below `old` as the same one below `new`; other folders do not change."""
    inside = os.path.relpath(folder, old)
    return folder if inside.startswith("..") else os.path.join(new, inside)
