# SPDX-License-Identifier: Apache-2.0
"""The plugin for gRPC: a library of its own, which links gRPC and protobuf and nothing of LibTorch (docs/decisions/server.md).

Without gRPC it is left out, and wire-cell --serve grpc://... names what is missing.
"""

import os
import shutil
import subprocess

# Found in the build folder only; waf's own include path has it for the plugin alone.
PROTO = "spng/kserve/grpc/inference.proto"


def configure(cfg):
    env = cfg.env
    env.HAVE_GRPC = ""
    wanted = getattr(cfg.options, "with_grpc", None)  # a configure that stored its options before may lack it
    if env.BUILD_MODE in ("asan", "tsan"):
        text = "left out: sanitizers do not allow a library that prefers its own symbols"
    elif wanted == "no":
        text = "left out (--with-grpc=no)"
    else:
        text = find(cfg, wanted if wanted not in (None, "yes") else "")
    if wanted not in (None, "no") and not env.HAVE_GRPC and text.startswith("absent"):
        cfg.fatal(f"--with-grpc: {text}")
    env.PARTS_FOUND = [*env.PARTS_FOUND, f"grpc: {text}"]


def find(cfg, prefix):
    """Set the variables of the build and return a description."""
    env = cfg.env
    search = dict(os.environ)
    if prefix:
        folders = [os.path.join(prefix, name, "pkgconfig") for name in ("lib", "lib64", "share")]
        search["PKG_CONFIG_PATH"] = os.pathsep.join([*folders, search.get("PKG_CONFIG_PATH", "")])
    path = os.pathsep.join([os.path.join(prefix, "bin")] if prefix else []) + os.pathsep + os.environ["PATH"]
    protoc, plugin = shutil.which("protoc", path=path), shutil.which("grpc_cpp_plugin", path=path)
    version = pkg_config(["--modversion", "grpc++"], search)
    if not version or not pkg_config(["--modversion", "protobuf"], search) or not protoc or not plugin:
        return (
            "absent, servers and clients of gRPC are left out (apt: libgrpc++-dev libprotobuf-dev "
            "protobuf-compiler protobuf-compiler-grpc pkg-config; conda-forge: libgrpc libprotobuf pkg-config)"
        )
    env.HAVE_GRPC = "yes"
    env.PROTOC, env.GRPC_CPP_PLUGIN = protoc, plugin
    env.CXXFLAGS_GRPC = [
        flag.replace("-I", "-isystem", 1) if flag.startswith("-I") else flag
        for flag in pkg_config(["--cflags", "grpc++", "protobuf"], search).split()
    ]
    # Behind the objects, because of --as-needed; Debian's list repeats names.
    libraries = list(dict.fromkeys(pkg_config(["--libs", "protobuf", "grpc++"], search).split()))
    env.LIB_GRPC = ["grpc++_reflection"] + [flag[2:] for flag in libraries if flag.startswith("-l")]
    env.LIBPATH_GRPC = [flag[2:] for flag in libraries if flag.startswith("-L")]
    env.RPATH_GRPC = [os.path.join(prefix, "lib")] if prefix else []
    return f"{version} ({protoc}, {plugin})"


def pkg_config(arguments, environment):
    try:
        return subprocess.run(
            ["pkg-config", *arguments], capture_output=True, text=True, check=False, env=environment
        ).stdout.strip()
    except FileNotFoundError:
        return ""


def build(bld):
    """Generate the messages, and build the plugin without the precompiled header, which has LibTorch's headers."""
    if not bld.env.HAVE_GRPC:
        return
    proto = bld.path.find_node(PROTO)
    folder = bld.bldnode.make_node("grpc")
    folder.mkdir()
    stem = os.path.splitext(proto.name)[0]
    names = [f"{stem}.pb.h", f"{stem}.pb.cc", f"{stem}.grpc.pb.h", f"{stem}.grpc.pb.cc"]
    generated = [folder.find_or_declare(name) for name in names]
    bld(
        rule="${PROTOC} -I" + proto.parent.abspath() + " --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN}"
        f" --cpp_out={folder.abspath()} --grpc_out={folder.abspath()} ${{SRC[0].abspath()}}",
        source=proto,
        target=generated,
        ext_out=[".h"],
        group=0,
        cls_keyword=lambda task: "Generating",
    )
    bld.shlib(
        target="lib/WireCellSpngGrpc",
        source=bld.path.ant_glob("spng/kserve/grpc/*.cxx")
        + [node for node in generated if node.name.endswith(".cc")]
        + bld.path.ant_glob(
            "spng/kserve/address.cxx spng/kserve/datatypes.cxx spng/kserve/json_descriptions.cxx spng/kserve/known_parameters.cxx "
            "spng/core/error.cxx spng/core/nearest.cxx spng/core/printable.cxx"
        ),
        includes=[".", folder],
        use="GRPC NLOHMANN SYSTEM",
        cxxflags=["-fvisibility=hidden"],
        linkflags=["-Wl,--as-needed"] + bld.env.LINKFLAGS_COMPLETE,
        rpath=["$ORIGIN"] + bld.env.RPATH_GRPC,
        install_path="${LIBDIR}",
        name="spng_grpc",
    )
