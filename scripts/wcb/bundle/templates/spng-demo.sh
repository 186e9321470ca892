#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The demo of this bundle: signals of the default event, a timing table, and pictures if Python has the packages.
set -u
program=$(readlink -f -- "$0")
bundle=$(dirname -- "$(dirname -- "$program")")
data=$bundle/share/wirecell/data

if [ "${1:-}" = --help ] || [ "${1:-}" = -h ]; then
    cat <<'TEXT'
spng-demo [DIR] [options of wire-cell]

Runs the main job on the event of this bundle and writes into DIR (default spng-demo): the signals, the timing table as
JSON, the recording of the run and its report as a page (needs NumPy and Jinja2), pictures (need NumPy and Matplotlib).
  spng-demo out --torch /opt/venv/lib/python3.11/site-packages/torch -A device=cuda
TEXT
    exit 0
fi
folder=spng-demo
case ${1:-} in
'' | -*) ;;
*)
    folder=$1
    shift
    ;;
esac
mkdir -p -- "$folder" || exit 2
folder=$(cd -- "$folder" && pwd)
has() { # give a module of the package: an empty folder counts as a package
    python3 -P -c "import $1" 2>/dev/null
}

echo '1/3 Run'
record=
[ -e "$bundle/lib/libSpngRecorder.so" ] && record=yes
"$bundle/bin/wire-cell" -c pipeline.jsonnet -A "input=$data/tracks10-adc.tar.bz2" -A "output=$folder/tracks10-signal.npz" \
    --timing "$folder/timing.json" ${record:+--record "$folder/run.sqlite"} "$@" || exit $?

echo
echo '2/3 Pictures'
if has matplotlib.figure && has numpy.linalg; then
    PYTHONPATH=$bundle/libexec${PYTHONPATH:+:$PYTHONPATH} python3 -B -P -m scripts.wcb.demo_plots \
        --adc "$data/tracks10-adc.tar.bz2" --signal "$folder/tracks10-signal.npz" --truth "$data/tracks10-truth.npz" \
        --out "$folder" || exit $?
else
    echo '  none: python3 has no NumPy or no Matplotlib'
fi

echo
echo '3/3 Report of the run'
if [ -z "$record" ]; then
    echo '  none: this bundle was built without NVTX'
elif has numpy.linalg && has jinja2; then
    "$bundle/bin/wirecell-profile" html "$folder/run.sqlite" -o "$folder/report.html" || exit $?
else
    echo "  none: python3 has no NumPy or no Jinja2. With a python3 that has both, make the report from the recording:"
    echo "  wirecell-profile html $folder/run.sqlite"
fi

echo
echo "Written to $folder:"
ls -- "$folder"
