// SPDX-License-Identifier: Apache-2.0
#pragma once
// Page-locked host memory: a CUDA device copies from and to it while the host continues.

#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>

#include <atomic>

namespace spng {

/// Return an uninitialised tensor on the host.
/// @param page_locked  for copies to and from a CUDA device, which must have been started (Context). LibTorch
///                     keeps such memory for reuse and returns it only when all copies from and to it are
///                     done. If LibTorch fails for another reason than memory (it checks the copies of all
///                     devices, and one may be lost), the result is ordinary memory, and copies make the host
///                     wait; the first time, a warning has the reason.
at::Tensor host_tensor(at::IntArrayRef sizes, c10::ScalarType type, bool page_locked);

/// Whether the tensor is in page-locked memory. LibTorch asks the driver; memory of host_tensor() is recognised
/// without that.
bool is_page_locked(const at::Tensor& tensor);

/// The deleter of free_quietly for a kind of memory.
template <class Kind>
struct QuietDeleter {
    static inline std::atomic<c10::DeleterFnPtr> original{nullptr};
    static void free(void* context) {
        try {
            original.load()(context);
        } catch (const c10::Error&) {
            // The next use of the device reports the error.
        }
    }
};

/// Wrap the deleter of the tensor's memory so that it never throws: an exception in a destructor ends the
/// program. When LibTorch's page-locked memory is freed, LibTorch queries the device about its copies, and a
/// lost device gives an error. The memory is then not returned.
/// @tparam Kind  of memory: all tensors of a kind must have the same deleter; tensors with another one are
/// left alone
template <class Kind>
void free_quietly(const at::Tensor& tensor) {
    using Quiet = QuietDeleter<Kind>;
    c10::DataPtr& data = tensor.storage().unsafeGetStorageImpl()->_mutable_data_ptr_no_checks();
    const c10::DeleterFnPtr own = data.get_deleter();
    c10::DeleterFnPtr none = nullptr;
    if (own != Quiet::free && (Quiet::original.compare_exchange_strong(none, own) || none == own)) {
        [[maybe_unused]] const bool is_changed = data.compare_exchange_deleter(own, Quiet::free);
    }
}

} // namespace spng
