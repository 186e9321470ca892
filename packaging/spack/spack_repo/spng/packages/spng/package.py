# SPDX-License-Identifier: Apache-2.0
"""The recipe of a clone: spack repo add packaging/spack/spack_repo/spng && spack install spng@main"""

from pathlib import Path

from spack.package import *
from spack_repo.builtin.build_systems.generic import Package

CLONE = Path(__file__).resolve().parents[6]


class Spng(Package):
    """Signal processing for liquid-argon TPCs on LibTorch."""

    homepage = CLONE.as_uri()
    git = CLONE.as_uri()

    license("Apache-2.0")

    version("main", branch="main")

    variant("cuda", default=False, description="LibTorch with CUDA, and the CUDA kernels")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    conflicts("%gcc@:11", msg="g++ 12 or newer is needed")

    extends("python@3.11:")
    depends_on("py-pip", type="build")
    depends_on("py-nanobind", type="build")
    depends_on("py-torch@2.11~cuda", when="~cuda")
    depends_on("py-torch@2.11+cuda", when="+cuda")
    depends_on("cuda@12.8:", when="+cuda")
    depends_on("nvtx", type="build", when="~cuda")

    depends_on("boost+program_options")
    depends_on("fmt")
    depends_on("intel-tbb@2021.1.1:")
    depends_on("jsonnet")
    depends_on("libarchive")
    depends_on("libdeflate")
    depends_on("nlohmann-json")
    depends_on("spdlog")
    depends_on("sqlite")
    depends_on("zlib-api")

    depends_on("py-dask", type="run")
    depends_on("py-distributed", type="run")
    depends_on("py-jinja2", type="run")
    depends_on("py-matplotlib", type="run")
    depends_on("py-numpy", type="run")

    def setup_build_environment(self, env):
        env.set("PYTHONPATH", join_path(self.stage.source_path, "waf"))

    def install(self, spec, prefix):
        python = spec["python"].command
        pins = Path("requirements-hashes.txt").read_text(encoding="utf-8")
        start = pins.index("waflib==")
        Path("waflib.txt").write_text(pins[start : pins.index("\n", pins.index("sha256", start))] + "\n")
        python(
            "-m",
            "pip",
            "install",
            "--no-deps",
            "--require-hashes",
            "--target=waf",
            "--requirement=waflib.txt",
        )

        parts = {
            "libtorch": join_path(spec["py-torch"].prefix, spec["python"].package.platlib, "torch"),
            "nvtx": spec["cuda" if "+cuda" in spec else "nvtx"].prefix,
            "boost": spec["boost"].prefix,
            "fmt": spec["fmt"].prefix,
            "tbb": spec["intel-tbb"].prefix,
            "jsonnet": spec["jsonnet"].prefix,
            "libarchive": spec["libarchive"].prefix,
            "libdeflate": spec["libdeflate"].prefix,
            "nlohmann-json": spec["nlohmann-json"].prefix,
            "spdlog": spec["spdlog"].prefix,
            "sqlite": spec["sqlite"].prefix,
            "zlib": spec["zlib-api"].prefix,
        }
        options = [f"--with-{name}={folder}" for name, folder in parts.items()]
        if "+cuda" in spec:
            options.append(f"--with-cuda={spec['cuda'].prefix}")
        python("wcb", "configure", "--no-venv", f"--prefix={prefix}", *options)
        python("wcb", "build", "--no-venv", "--notests", f"--jobs={make_jobs}")
        python("wcb", "install", "--no-venv", "--notests")

    @run_after("install")
    def check_installed(self):
        wire_cell = Executable(join_path(self.prefix.bin, "wire-cell"))
        wire_cell("--check-configuration", "-c", "pipeline.jsonnet", "-A", "model=none")
