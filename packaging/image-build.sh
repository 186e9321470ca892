#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# image-build.sh SET: install the packages of the system, build, and make the wheel in out/wheel.
# Run it in a checkout, as root, on Enterprise Linux 9 or Debian 12; the images do. SET is slim (CPU) or full (CUDA too).
set -eu
set_of_packages=$1
if command -v dnf >/dev/null; then
    dnf install -y dnf-plugins-core epel-release
    dnf config-manager --set-enabled crb
    dnf install -y python3.12 git-core
    python=python3.12
    # shellcheck disable=SC2046  # one word for each package
    dnf install -y $($python -m scripts.wcb.system_packages el9)
    PATH=/opt/rh/gcc-toolset-13/root/usr/bin:$PATH
else
    apt-get update
    apt-get install -y --no-install-recommends ca-certificates git python3
    python=python3
    # shellcheck disable=SC2046
    apt-get install -y --no-install-recommends $($python -m scripts.wcb.system_packages apt)
fi

$python wcb setup "--$set_of_packages" --no-system
tbb=
if command -v dnf >/dev/null; then # its own oneTBB is too old
    .venv/bin/python -m pip install --no-deps --require-hashes --requirement packaging/requirements-tbb.txt
    tbb=--with-tbb=$PWD/.venv
fi
# shellcheck disable=SC2086  # no word if it is empty
$python wcb configure --with-nvtx $tbb
$python wcb build --notests
$python wcb wheel --no-build
