// SPDX-License-Identifier: Apache-2.0
#include "spng/device/cuda_math.h"

#include <ATen/Context.h>

#include <condition_variable>
#include <mutex>

namespace spng {
namespace {

struct Choice {
    bool tf32_of_cublas, tf32_of_cudnn, deterministic;
};

Choice chosen() {
    const at::Context& context = at::globalContext();
    return {context.allowTF32CuBLAS(), context.allowTF32CuDNN(at::Float32Op::CONV),
            context.deterministicCuDNN()};
}

void choose(const Choice& choice) {
    at::Context& context = at::globalContext();
    context.setAllowTF32CuBLAS(choice.tf32_of_cublas);
    context.setAllowTF32CuDNN(choice.tf32_of_cudnn);
    context.setDeterministicCuDNN(choice.deterministic);
}

std::mutex mutex;
std::condition_variable changed;
int scopes = 0; // guarded by the mutex, as all below
bool is_fast = false;
Choice before{};

} // namespace

CudaMath::CudaMath(bool fast) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [fast] { return scopes == 0 || is_fast == fast; });
    if (scopes++ == 0) {
        is_fast = fast;
        before = chosen();
        choose({fast, fast, !fast});
    }
}

CudaMath::~CudaMath() {
    const std::lock_guard lock(mutex);
    if (--scopes == 0) {
        choose(before);
        changed.notify_all();
    }
}

} // namespace spng
