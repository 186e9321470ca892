// SPDX-License-Identifier: Apache-2.0
#pragma once
// Portable builds that use the vector units of the machine: a CPU kernel marked SPNG_MULTIVERSION is compiled
// for plain x86-64, for AVX2 (x86-64-v3) and for AVX-512 (x86-64-v4), and the loader picks one at start. Mark
// functions that loop over a whole row, since every call passes through the loader's table. Functions called
// from a marked one must be inline to be compiled for the same instruction set.
//
// The mark is empty on other processors, with other compilers, and with sanitizers, whose runtime is not
// ready when the loader picks. -DSPNG_MULTIVERSION= makes a build without versions, to compare with.

#if defined(SPNG_MULTIVERSION)
#elif defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&               \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SPNG_MULTIVERSION                                                                                    \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), optimize("O3")))
#else
#define SPNG_MULTIVERSION
#endif
