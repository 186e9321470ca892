// SPDX-License-Identifier: Apache-2.0
#include "spng/device/operation_threads.h"

#include <ATen/Parallel.h>

// Of the OpenMP runtime that LibTorch loads. Its header belongs to one compiler and is absent for clang-tidy.
extern "C" void omp_set_num_threads(int threads);

namespace spng {

// at::set_num_threads() would also change the number of all threads that have not called an operation yet. The number of
// OpenMP belongs to the calling thread; LibTorch and MKL read it there. The first call of LibTorch in a thread replaces it by
// MKL's count (at most the physical cores, or MKL_NUM_THREADS), and the first at::parallel_for() of our own code does so once
// more, because LibTorch hides the flag in its copy of that inline function. Both replacements must be made before ours.

namespace {

int threads_of_this_thread() {
    at::internal::lazy_init_num_threads();
    return at::get_num_threads();
}

} // namespace

OperationThreads::OperationThreads(int threads) : m_before(threads_of_this_thread()) {
    omp_set_num_threads(threads);
}

OperationThreads::~OperationThreads() {
    omp_set_num_threads(m_before);
}

} // namespace spng
