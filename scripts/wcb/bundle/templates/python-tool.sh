#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# @NAME@ of this bundle, run by the python3 on the path.
set -u
program=$(readlink -f -- "$0")
bundle=$(dirname -- "$(dirname -- "$program")")

reject() { # error, seen, expected, hint
    printf 'error: %s\n  where:    %s\n  seen:     %s\n  expected: %s\n  hint:     %s\n' "$1" "$program" "$2" "$3" "$4" >&2
    exit 2
}

expected='python3, @PYTHON@ or newer, with @MODULES@'
command -v python3 >/dev/null || reject '@NAME@ needs Python' 'no python3 on the path' "$expected" 'install it'
seen=$(python3 -c '
import importlib.util, sys
sys.path = [folder for folder in sys.path if folder]
oldest, *modules = sys.argv[1:]
if sys.version_info < tuple(map(int, oldest.split("."))):
    print("Python", sys.version.split()[0], "in", sys.executable)
else:
    found = {module: importlib.util.find_spec(module.replace("-", "_")) for module in modules}
    absent = [module for module in modules if not (found[module] and found[module].origin)]  # an empty folder has none
    print("no package " + ", ".join(absent) + " in " + sys.executable if absent else "")' @PYTHON@ @MODULES@)
[ -z "$seen" ] || reject '@NAME@ cannot run with this Python' "$seen" "$expected" \
    "python3 -m pip install @MODULES@, or put another python3 first on the path"

# Write nothing into the bundle (-B), and do not import files of the current folder (-P).
PATH=$bundle/bin:$PATH
PYTHONPATH=$bundle/python${PYTHONPATH:+:$PYTHONPATH}
export PATH PYTHONPATH
exec python3 -B -P -m @PACKAGE@ "$@"
