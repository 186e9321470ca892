# SPDX-License-Identifier: Apache-2.0
# Find LibTorch, check that it and this machine fit, and set LD_LIBRARY_PATH. Launchers include this file.
# LibTorch comes from --torch DIR, else from the variable SPNG_TORCH, else from the python3 on the path.
# Needs: program, the launcher; bundle, the folder of the bundle; "$@", from which it removes --torch DIR.

@REJECT@

is_older() { # two versions 2.MINOR of the C library; anything after MINOR is ignored
    minor=${1#2.}
    [ "${minor%%.*}" -lt "${2#2.}" ]
}

# Check the machine before starting any program of the bundle: messages of the kernel and the loader are hard to understand.
machine=$(uname -m)
[ "$machine" = '@MACHINE@' ] || reject 'this bundle is for other processors' "$machine" '@MACHINE@' \
    'make the bundle on such a machine: ./wcb bundle DIR'
c_library=$(getconf GNU_LIBC_VERSION 2>/dev/null)
loader='@LOADER@'
[ -e "$loader" ] || reject 'this system has no GNU C library' "no $loader" 'glibc @GLIBC@ or newer' \
    'run it in a container of a common distribution, such as @SYSTEM@'
if [ -n "$c_library" ] && is_older "${c_library#glibc }" '@GLIBC@'; then
    reject 'the C library of this system is too old' "$c_library" 'glibc @GLIBC@ or newer, as where the bundle was made' \
        'run it in a container of a newer system, such as @SYSTEM@, or make the bundle on a system as old as this'
fi

# Remove our own option; pass all other arguments to the program.
torch=${SPNG_TORCH:-}
source='the variable SPNG_TORCH'
count=$#
while [ "$count" -gt 0 ]; do
    argument=$1
    shift
    count=$((count - 1))
    case $argument in
    --torch=*)
        torch=${argument#--torch=}
        source='the option --torch'
        ;;
    --torch)
        [ "$count" -gt 0 ] || reject 'the option --torch needs a folder' 'no further argument' '--torch DIR' \
            'give the folder of the torch package: .../site-packages/torch'
        torch=$1
        source='the option --torch'
        shift
        count=$((count - 1))
        ;;
    *) set -- "$@" "$argument" ;;
    esac
done

install='python3 -m pip install torch==@TORCH@, or give the folder of that package: --torch DIR, or SPNG_TORCH=DIR'
if [ -n "$torch" ]; then
    given=$torch
    for folder in "$given" "$given/torch" "$given"/lib/python3*/site-packages/torch; do
        torch=$folder
        [ -e "$torch/lib/libtorch_cpu.so" ] && break
    done
    [ -e "$torch/lib/libtorch_cpu.so" ] || reject "$source names no LibTorch" "no lib/libtorch_cpu.so in $given" \
        "the folder of torch @TORCH@: .../site-packages/torch" "$install"
else
    command -v python3 >/dev/null || reject 'LibTorch is not found' 'no python3 on the path' \
        'torch @TORCH@, CPU or CUDA, in the packages of python3' "$install"
    # Do not import torch, which takes seconds, and do not search the current folder.
    torch=$(python3 -c '
import importlib.util, sys
sys.path = [folder for folder in sys.path if folder]
torch = importlib.util.find_spec("torch")
print(torch.submodule_search_locations[0] if torch and torch.origin else "")')
    [ -n "$torch" ] || reject 'LibTorch is not found' "no package torch in $(command -v python3)" \
        'torch @TORCH@, CPU or CUDA, in the packages of python3' "$install"
    [ -e "$torch/lib/libtorch_cpu.so" ] || reject 'the torch package of python3 has no LibTorch' \
        "no libtorch_cpu.so in $torch/lib" 'torch @TORCH@, CPU or CUDA' "$install"
fi
torch=$(readlink -f -- "$torch")

release=$(sed -n "s/^__version__ *= *'\(.*\)'.*/\1/p" "$torch/version.py" 2>/dev/null)
[ -n "$release" ] || release=$(cat "$torch/build-version" 2>/dev/null)
[ "${release%%+*}" = '@TORCH@' ] || reject 'LibTorch is of another release' "${release:-no version.py} in $torch" \
    'torch @TORCH@: the C++ interface of LibTorch changes with every release' "$install"
if grep -q _ZN3c105ErrorC1ENS_14SourceLocationESs "$torch/lib/libc10.so" 2>/dev/null; then
    reject 'LibTorch was built for another C++ ABI' "the old std::string in $torch/lib/libc10.so" \
        '_GLIBCXX_USE_CXX11_ABI=1, as in every torch wheel' "$install"
fi

case $bundle$torch in
*[:\;]*) reject 'a folder with a colon or a semicolon in its name' "$bundle, $torch" \
    'a name that can be part of a search path of libraries' 'move the folder' ;;
esac

# The program finds libraries that it opens later, CUDA's too, by this path. The bundle's own libraries have search paths.
path=$torch/lib
for folder in "$torch"/../nvidia/*/lib; do
    [ -d "$folder" ] && path=$path:$folder
done
[ -e "$torch/lib/libgomp.so.1" ] || path=$path:$bundle/lib/openmp
path=$path${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# Ask the loader for missing libraries in advance. Prefer the system's compiler libraries if they are as new as ours: other
# programs' libraries may need a newer one.
not_found() {
    LD_TRACE_LOADED_OBJECTS=1 LD_LIBRARY_PATH=$path "$loader" "$bundle/lib/libWireCellSpng.so" 2>&1 | sed -n '/not found/p'
}
missing=$(not_found)
case $missing in
*GLIBCXX_* | *CXXABI_* | *GCC_* | *'libstdc++.so.6 =>'* | *'libgcc_s.so.1 =>'*)
    path=$bundle/lib/runtime:$path
    missing=$(not_found)
    ;;
esac
if [ -n "$missing" ]; then
    missing=$(printf '%s\n' "$missing" | sed 's/^[[:space:]]*//; s/ (required by.*//; s/ => not found//' | sort -u)
    reject 'libraries are missing or too old' "not found: $(printf '%s' "$missing" | tr '\n' ' ')" \
        "the libraries that torch @TORCH@ in $torch installs, and glibc @GLIBC@ or newer (here: ${c_library:-unknown})" \
        'install torch with all that it depends on: python3 -m pip install torch==@TORCH@, without --no-deps'
fi

LD_LIBRARY_PATH=$path
export LD_LIBRARY_PATH
