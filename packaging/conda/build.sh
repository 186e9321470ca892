#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Build and install into $PREFIX; rattler-build sets the variables.
set -eu
make -C jsonnet libjsonnet.so OPT='-O2 -fPIC'
install -m 755 jsonnet/libjsonnet.so.0.21.0 "$PREFIX/lib/"
ln -sf libjsonnet.so.0.21.0 "$PREFIX/lib/libjsonnet.so.0"
ln -sf libjsonnet.so.0 "$PREFIX/lib/libjsonnet.so"
install -m 644 jsonnet/include/libjsonnet.h jsonnet/include/libjsonnet_fmt.h "$PREFIX/include/"

sed -n '/^waflib==/,/[^\\]$/p' requirements-hashes.txt >waflib.txt
# rattler-build sets PIP_NO_INDEX.
env -u PIP_NO_INDEX "$PYTHON" -m pip install --no-deps --require-hashes --target waf --requirement waflib.txt
PYTHONPATH=$PWD/waf
export PYTHONPATH
parts=
for part in libtorch fmt spdlog jsonnet libarchive libdeflate zlib boost tbb nlohmann-json sqlite; do
    parts="$parts --with-$part=$PREFIX"
done
# shellcheck disable=SC2086  # one word for each part
"$PYTHON" wcb configure --no-venv --prefix="$PREFIX" --with-nvtx="$PREFIX/targets/x86_64-linux" $parts
"$PYTHON" wcb build --no-venv --notests
"$PYTHON" wcb install --no-venv --notests
