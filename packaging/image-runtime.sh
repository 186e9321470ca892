#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# image-runtime.sh: install Python, OpenMP, which LibTorch may need, and the wheel of /opt/wheel into /opt/venv; run the first job.
set -eu
if command -v dnf >/dev/null; then
    dnf install -y python3.12 libgomp
    dnf clean all
else
    apt-get update
    apt-get install -y --no-install-recommends libgomp1 python3
    rm -rf /var/lib/apt/lists/*
fi

/opt/venv/bin/python -m pip install --no-deps --no-index /opt/wheel/*.whl
PATH=/opt/venv/bin:$PATH
folder=$(mktemp -d)
wire-cell -c pipeline.jsonnet -A device=cpu -A "output=$folder/signal.npz" --record "$folder/run.sqlite"
wirecell-profile html "$folder/run.sqlite" -o "$folder/run.html"
wirecell-frame info "$folder/signal.npz"
rm -r "$folder"
