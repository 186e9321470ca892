#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# @NAME@ of this bundle, run by the python3 on the path, with our libraries.
set -u
program=$(readlink -f -- "$0")
bundle=$(dirname -- "$(dirname -- "$program")")
. "$bundle/libexec/find-torch.sh"

command -v python3 >/dev/null || reject '@NAME@ needs Python' 'no python3 on the path' 'python3 of version @PYTHON@' \
    'install it'
seen=$(python3 -P -c '
import importlib.util, sys
version = "%d.%d" % sys.version_info[:2]
numpy = importlib.util.find_spec("numpy")
print("Python " + version if version != "@PYTHON@" else "" if numpy and numpy.origin else "no package numpy",
      "in " + sys.executable)' 2>&1)
case $seen in
' in '*) ;;
*) reject '@NAME@ cannot run with this Python' "$seen" 'python3 of version @PYTHON@ with numpy' \
    'put such a python3 first on the path, and python3 -m pip install numpy' ;;
esac

# Write nothing into the bundle (-B), and do not import files of the current folder (-P).
PYTHONPATH=$bundle/python${PYTHONPATH:+:$PYTHONPATH}
export PYTHONPATH
exec python3 -B -P -m wirecell_frame "$@"
