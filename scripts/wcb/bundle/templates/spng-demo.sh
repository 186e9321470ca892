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
JSON, the recording of the run and its report as a page (needs NumPy and Jinja2), the page of the event (the same) and
pictures of it (need NumPy and Matplotlib).
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

# wirecell-frame takes LibTorch from the folder that wire-cell was given.
previous=
for argument in "$@"; do
    case $previous$argument in
    --torch=*) given=$previous$argument
        SPNG_TORCH=${given#--torch=}
        ;;
    esac
    previous=
    [ "$argument" = --torch ] && previous=--torch=
done
[ -z "${SPNG_TORCH:-}" ] || export SPNG_TORCH

echo
echo '2/3 Pictures'
frames() { # command of wirecell-frame, its output, further options
    command=$1 output=$folder/$2
    shift 2
    "$bundle/bin/wirecell-frame" "$command" --adc "$data/tracks10-adc.tar.bz2" --signal "$folder/tracks10-signal.npz" \
        --truth "$data/tracks10-truth.npz" -o "$output" "$@" || exit $?
}
if ! has numpy.linalg || ! has matplotlib.figure; then
    echo '  none: python3 has no NumPy or no Matplotlib'
elif ! seen=$("$bundle/bin/wirecell-frame" --version 2>&1); then
    printf '  none: wirecell-frame does not start:\n%s\n' "$seen"
else
    for plane in U V W; do
        frames plot "plane-$(printf %s "$plane" | tr UVW uvw).png" --plane "$plane"
    done
    frames plot waveforms.png --channel auto
    has jinja2 && frames show frames.html
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
