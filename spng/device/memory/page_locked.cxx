// SPDX-License-Identifier: Apache-2.0
#include "spng/device/memory/page_locked.h"

#include "spng/core/log/log.h"
#include "spng/device/memory/out_of_memory.h"

#include <ATen/ops/empty.h>

#include <mutex>

namespace spng {
namespace {

struct PageLocked;

} // namespace

bool is_page_locked(const at::Tensor& tensor) {
    const c10::DataPtr& data = tensor.storage().data_ptr();
    return data.get_deleter() == QuietDeleter<PageLocked>::free || tensor.is_pinned();
}

at::Tensor host_tensor(at::IntArrayRef sizes, c10::ScalarType type, bool page_locked) {
    if (!page_locked) {
        return at::empty(sizes, type);
    }
    try {
        at::Tensor tensor = at::empty(sizes, at::TensorOptions(type).pinned_memory(true));
        free_quietly<PageLocked>(tensor);
        return tensor;
    } catch (const c10::Error& error) {
        const std::string reason = error.what_without_backtrace();
        if (says_out_of_memory(reason)) {
            throw;
        }
        static std::once_flag warned; // a lost device is checked again for each of its last copies
        std::call_once(warned, [&reason] {
            log::warn("device", "no page-locked memory, copies make the host wait: " + without_trace(reason));
        });
        return at::empty(sizes, type);
    }
}

} // namespace spng
