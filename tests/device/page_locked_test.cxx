// SPDX-License-Identifier: Apache-2.0
// Memory whose release throws, as LibTorch's page-locked memory does when the device is lost.

#include "spng/device/memory/page_locked.h"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

namespace spng {
namespace {

int freed = 0;

/// Return a tensor of four bytes that `deleter` frees.
at::Tensor tensor_freed_by(c10::DeleterFnPtr deleter) {
    static char memory[4];
    at::Tensor tensor = at::empty({4}, at::kByte);
    tensor.set_(
        c10::Storage(c10::Storage::use_byte_size_t{}, 4, c10::DataPtr(memory, memory, deleter, c10::kCPU)));
    return tensor;
}

void free_or_throw(void*) {
    ++freed;
    TORCH_CHECK(freed % 2 == 0, "CUDA error: an illegal memory access was encountered");
}

TEST(FreeQuietly, ExceptionWhileFreeingIsCaught) {
    freed = 0;
    for (int i = 0; i < 4; ++i) {
        const at::Tensor tensor = tensor_freed_by(free_or_throw);
        free_quietly<struct Throwing>(tensor);
        free_quietly<struct Throwing>(tensor); // a second call changes nothing
        EXPECT_EQ(tensor.storage().data_ptr().get_context(), tensor.data_ptr())
            << "LibTorch knows blocks by it";
    }
    EXPECT_EQ(freed, 4);
}

TEST(FreeQuietly, OtherDeleterIsNotChanged) {
    const c10::DeleterFnPtr own = [](void*) {};
    const at::Tensor first = tensor_freed_by(own);
    free_quietly<struct Mixed>(first);
    const c10::DeleterFnPtr other = [](void*) { ++freed; };
    const at::Tensor second = tensor_freed_by(other);
    free_quietly<struct Mixed>(second);
    EXPECT_EQ(second.storage().data_ptr().get_deleter(), other);
    EXPECT_NE(first.storage().data_ptr().get_deleter(), own);
}

} // namespace
} // namespace spng
