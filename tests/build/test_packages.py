# SPDX-License-Identifier: Apache-2.0
"""packaging/: the recipes agree with the build, and the steps of the images run in their order."""

from __future__ import annotations

import ast
import fnmatch
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.wcb import system_packages, virtual_environment
from scripts.wcb.checkout import ROOT
from scripts.wcb.wheel import licences

sys.path.insert(0, str(ROOT / "waf"))
import spng_dependencies  # noqa: E402  (a tool of waf)
import spng_options  # noqa: E402

PACKAGING = ROOT / "packaging"
RECIPE = (PACKAGING / "conda" / "recipe.yaml").read_text(encoding="utf-8")
SPACK = PACKAGING / "spack" / "spack_repo" / "spng"
TBB = PACKAGING / "requirements-tbb.txt"
VERSION = (ROOT / "spng" / "VERSION").read_text(encoding="utf-8").strip()
TORCH = next(item for item in virtual_environment.read_requirements() if item.name == "torch").version
PROGRAM_PARTS = [part for part in spng_dependencies.PARTS if part.name not in ("gtest", "benchmark")]
STAND_IN = """#!/bin/sh
echo "$(basename "$0") $*" >>"$LOG"
case "$*" in
*scripts.wcb.system_packages*) exec "$PYTHON" "$@" ;;
esac
"""


@pytest.mark.parametrize("path", sorted(PACKAGING.rglob("*.sh")), ids=lambda path: path.name)
def test_scripts_parse_and_can_be_run(path: Path) -> None:
    assert os.access(path, os.X_OK)
    subprocess.run(["sh", "-n", path], check=True)


@pytest.mark.parametrize("system", ["el9", "apt"])
def test_steps_of_an_image(system: str, tmp_path: Path) -> None:
    """Packages, set-up, build, wheel: each by the command that there is, with stand-ins for all programs."""
    tools, checkout, log = tmp_path / "bin", tmp_path / "checkout", tmp_path / "log"
    python = "python3.12" if system == "el9" else "python3"
    for folder, name in (
        (tools, "dnf" if system == "el9" else "apt-get"),
        (tools, python),
        (checkout / ".venv" / "bin", "python"),
    ):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(STAND_IN)
        (folder / name).chmod(0o755)
    for name in ("sh", "basename"):
        (tools / name).symlink_to(f"/bin/{name}")
    (checkout / "scripts").symlink_to(ROOT / "scripts")
    subprocess.run(
        [PACKAGING / "image-build.sh", "slim"],
        cwd=checkout,
        env={"PATH": str(tools), "LOG": str(log), "PYTHON": sys.executable},
        check=True,
    )
    names = system_packages.names(system, [item for item in system_packages.read_list() if item.needed])
    lines = [line for line in log.read_text().splitlines() if "system_packages" not in line]
    install = [line for line in lines if " install " in line and line.endswith(" ".join(names))]
    assert len(install) == 1
    steps = [line.replace(str(checkout), "CHECKOUT") for line in lines[lines.index(install[0]) + 1 :]]
    tbb = f"python -m pip install --no-deps --require-hashes --requirement {TBB.relative_to(ROOT)}"
    has_no_tbb = "libtbb-dev" not in names
    assert steps == [
        f"{python} wcb setup --slim --no-system",
        *([tbb] if has_no_tbb else []),
        f"{python} wcb configure --with-nvtx{' --with-tbb=CHECKOUT/.venv' if has_no_tbb else ''}",
        f"{python} wcb build --notests",
        f"{python} wcb wheel --no-build",
    ]


def test_packages_of_pip_have_hashes() -> None:
    lines = TBB.read_text(encoding="utf-8").replace("\\\n", "").splitlines()
    packages = [line.split() for line in lines if not line.startswith("#")]
    assert [words[0].split("==")[0] for words in packages] == ["tbb", "tbb-devel"]
    assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", word) for words in packages for word in words[1:])
    assert all(len(words) > 1 for words in packages)


def test_every_need_has_a_package_of_enterprise_linux() -> None:
    """In one line with Debian's; oneTBB, which it lacks, comes from pip."""
    needed = [item for item in system_packages.read_list() if item.needed]
    assert [item.apt for item in needed if item.el9 == "-"] == ["libtbb-dev"]
    python = {item.el9 for item in needed if item.apt in ("python3-venv", "python3-dev")}
    scripts = "".join(path.read_text(encoding="utf-8") for path in PACKAGING.glob("*.sh"))
    (version,) = set(re.findall(r"python3\.\d+", scripts))
    assert python == {version, f"{version}-devel"}
    debian = {name for part in spng_dependencies.PARTS for name in part.apt.split()}
    assert debian <= {item.apt for item in needed}


def test_images_take_files_that_exist() -> None:
    docker = (PACKAGING / "Dockerfile").read_text(encoding="utf-8")
    definition = (PACKAGING / "apptainer.def").read_text(encoding="utf-8")
    for text in (docker, definition):
        assert set(re.findall(r"packaging/([\w-]+\.sh)", text)) == {
            "image-build.sh",
            "image-runtime.sh",
        }
        assert re.search(r"BASE=almalinux:9\b", text) and re.search(r"SET=slim\b", text)
    assert all((PACKAGING / name).exists() for name in ("image-build.sh", "image-runtime.sh"))
    ignored = (PACKAGING / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    assert {".venv", "build*", "out"} <= set(ignored)
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tops = {line.split("/")[0] for line in tracked.splitlines()}
    assert "spng" in tops
    assert not [name for name in tops if any(fnmatch.fnmatch(name, pattern) for pattern in ignored)]


def test_no_file_of_an_apptainer_image_is_below_tmp() -> None:
    """Apptainer binds the host's /tmp over that of the image while %post runs."""
    definition = (PACKAGING / "apptainer.def").read_text(encoding="utf-8")
    files = re.findall(r"^%files.*\n((?: .*\n)+)", definition, re.MULTILINE)
    targets = [line.split()[-1] for block in files for line in block.splitlines()]
    assert targets and not [target for target in targets if Path(target).is_relative_to("/tmp")]


def test_conda_recipe_has_every_part() -> None:
    assert f'version: "{VERSION}"' in RECIPE
    assert f'torch: "{".".join(TORCH.split(".")[:2])}"' in RECIPE
    host = RECIPE.split("  host:\n")[1].split("  run:\n")[0]
    names = set(re.findall(r"^    - ([\w-]+)", host, re.MULTILINE))
    assert {part.conda for part in PROGRAM_PARTS if part.conda != "-"} <= names
    script = (PACKAGING / "conda" / "build.sh").read_text(encoding="utf-8")
    given = set(re.search(r"for part in (.+); do", script)[1].split())
    assert given <= {*spng_options.PARTS, "boost"} and {part.name for part in PROGRAM_PARTS} <= given
    assert 'skip: target_platform != "linux-64"' in RECIPE and "targets/x86_64-linux" in script
    assert re.search("env -u PIP_NO_INDEX .* -m pip install --no-deps --require-hashes", script)
    (release,) = set(re.findall(r"jsonnet/archive/refs/tags/v([\d.]+)\.tar\.gz", RECIPE))
    assert set(re.findall(r"libjsonnet\.so\.(\d+\.[\d.]+\d)", script)) == {release}


def test_spack_recipe_has_every_part() -> None:
    assert "namespace: spng" in (SPACK / "repo.yaml").read_text(encoding="utf-8")
    source = SPACK / "packages" / "spng" / "package.py"
    tree = ast.parse(source.read_text(encoding="utf-8"))
    assert len(source.relative_to(ROOT).parts) == 7  # parents[6] is the clone
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    needs = {
        re.split("[@+~]", call.args[0].value)[0]
        for call in calls
        if getattr(call.func, "id", "") == "depends_on" and isinstance(call.args[0], ast.Constant)
    }
    spack_names = {"tbb": "intel-tbb", "zlib": "zlib-api"}
    assert {spack_names.get(part.name, part.name) for part in PROGRAM_PARTS} <= needs
    assert f"py-torch@{'.'.join(TORCH.split('.')[:2])}" in source.read_text(encoding="utf-8")
    parts = next(node for node in ast.walk(tree) if isinstance(node, ast.Dict))
    given = {key.value for key in parts.keys}
    assert given <= {*spng_options.PARTS, "boost", "nvtx"} and {part.name for part in PROGRAM_PARTS} <= given


def test_licences_of_libraries_of_rpm_and_pip(monkeypatch, tmp_path: Path) -> None:
    """A wheel made on Enterprise Linux 9 has packages of rpm, and oneTBB of pip."""
    rpm = tmp_path / "bin" / "rpm"
    rpm.parent.mkdir()
    rpm.write_text(
        '#!/bin/sh\n[ "$5" = /usr/lib64/libfmt.so.8 ] && echo fmt || { echo file is not owned; exit 1; }\n'
    )
    rpm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{rpm.parent}:{os.environ['PATH']}")
    licence = tmp_path / "licenses" / "fmt" / "LICENSE.rst"
    licence.parent.mkdir(parents=True)
    licence.touch()
    found = licences.of_rpm(Path("/usr/lib64/libfmt.so.8"), tmp_path / "licenses")
    assert found == licences.Licence("fmt", licence)
    assert licences.of_rpm(Path("/usr/lib64/libown.so"), tmp_path / "licenses") is None

    library = tmp_path / "lib" / "libtbb.so.12.20"
    record = tmp_path / "lib" / "python3.12" / "site-packages" / "tbb-2023.2.0.dist-info" / "RECORD"
    record.parent.mkdir(parents=True)
    record.write_text("../../libtbb.so.12.20,sha256=x,1\n")
    (record.parent / "LICENSE.txt").touch()
    assert licences.of_pip(library) == licences.Licence("tbb", record.parent / "LICENSE.txt")
    assert licences.of_pip(library.with_name("libother.so.1")) is None
