#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wire-cell of this bundle.
set -u
program=$(readlink -f -- "$0")
bundle=$(dirname -- "$(dirname -- "$program")")
. "$bundle/libexec/find-torch.sh"
exec "$bundle/libexec/wire-cell" "$@"
