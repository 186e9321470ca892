#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# @NAME@ of this installed tree.
set -u
program=$(readlink -f -- "$0")
here=$(dirname -- "$program")
reject() { # error, seen, expected, hint
    printf 'error: %s\n  where:    %s\n  seen:     %s\n  expected: %s\n  hint:     %s\n' "$1" "$program" "$2" "$3" "$4" >&2
    exit 2
}
python=@INTERPRETER@
expected='@EXPECTED@'
command -v "$python" >/dev/null || reject '@NAME@ needs Python' "no $python" "$expected" '@HINT@'
seen=$("$python" -c '
import importlib.util, sys
sys.path = [folder for folder in sys.path if folder]
wanted, *modules = sys.argv[1:]
version = tuple(map(int, wanted.rstrip("+").split(".")))
if sys.version_info < version or (not wanted.endswith("+") and sys.version_info[:2] != version):
    print("Python", sys.version.split()[0], "in", sys.executable)
else:
    found = {module: importlib.util.find_spec(module.replace("-", "_")) for module in modules}
    absent = [module for module in modules if not (found[module] and found[module].origin)]  # an empty folder has none
    print("no package " + ", ".join(absent) + " in " + sys.executable if absent else "")' @PYTHON@ @MODULES@)
[ -z "$seen" ] || reject '@NAME@ cannot run with this Python' "$seen" "$expected" '@HINT@'

# Write nothing into this installed tree (-B), and do not import files of the current folder (-P).
PATH=$here:$PATH
PYTHONPATH=$here/@PACKAGES@${PYTHONPATH:+:$PYTHONPATH}
export PATH PYTHONPATH
exec "$python" -B -P -m @PACKAGE@ "$@"
