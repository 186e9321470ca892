#pragma once
// Page-locked memory of the host, which a CUDA device copies from and to while the host goes on.

#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>

#include <atomic>

namespace spng {

/// A tensor on the host whose elements are not set.
/// @param page_locked  for copies to and from a CUDA device, which must have been started (Context). LibTorch
///                     keeps such memory for reuse and hands it out again only when copies out of it and into
///                     it are done. Where it fails to for another reason than memory (it looks at what became
///                     of copies of all devices, one of which may be lost) the memory is an ordinary one, and
///                     copies make the host wait.
at::Tensor host_tensor(at::IntArrayRef sizes, c10::ScalarType type, bool page_locked);

/// Keep what frees the tensor's memory from throwing, which in a destructor ends the program: LibTorch's
/// page-locked memory, given back, asks the device about its copies, and a lost device answers by an error.
/// The memory is then lost too.
/// @tparam Kind  of memory: all tensors of a kind must be freed by the same function; others are left alone
template <class Kind>
void free_quietly(const at::Tensor& tensor) {
    static std::atomic<c10::DeleterFnPtr> original{nullptr};
    const auto quiet = +[](void* context) {
        try {
            original.load()(context);
        } catch (const c10::Error&) {
            // Whoever works with the device is told by the device.
        }
    };
    c10::DataPtr& data = tensor.storage().unsafeGetStorageImpl()->_mutable_data_ptr_no_checks();
    const c10::DeleterFnPtr own = data.get_deleter();
    c10::DeleterFnPtr none = nullptr;
    if (own != quiet && (original.compare_exchange_strong(none, own) || none == own)) {
        [[maybe_unused]] const bool is_changed = data.compare_exchange_deleter(own, quiet);
    }
}

} // namespace spng
