#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# image-runtime.sh: the system packages of an image that runs the bundle: Python for the tools, and OpenMP, which LibTorch may need.
set -eu
if command -v dnf >/dev/null; then
    dnf install -y python3.12 libgomp
    dnf clean all
else
    apt-get update
    apt-get install -y --no-install-recommends libgomp1 python3
    rm -rf /var/lib/apt/lists/*
fi
