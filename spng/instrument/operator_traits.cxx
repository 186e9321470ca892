// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/operator_traits.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace spng::instrument {
namespace {

/// Tell whether an operator is a view, an allocation or a composite whose schema does not declare it as one.
bool is_known_transparent(const std::string& name) {
    static const std::unordered_set<std::string_view> names = {
        // views without alias annotation
        "_unsafe_view", "unsafe_split", "unsafe_split_with_sizes", "unsafe_chunk", "broadcast_tensors",
        "meshgrid", "lift",
        // views in place
        "squeeze_", "unsqueeze_", "transpose_", "t_", "swapaxes_", "swapdims_", "as_strided_", "detach_",
        "requires_grad_",
        // allocations
        "empty", "empty_like", "empty_strided", "empty_permuted", "empty_quantized", "new_empty",
        "new_empty_strided", "_efficientzerotensor", "resize_", "resize_as_", "set_",
        // composites that may do nothing
        "type_as", "dropout",
        // bookkeeping of the allocator
        "record_stream"};
    return names.contains(name);
}

/// Tell whether an operator reads data although it returns no tensor.
bool reads_data(const std::string& name) {
    return name == "_local_scalar_dense" || name == "equal";
}

bool aliases_without_write(const c10::AliasInfo* alias) {
    if (alias == nullptr || alias->isWrite()) {
        return false;
    }
    if (!alias->beforeSets().empty()) {
        return true;
    }
    for (const auto& contained : alias->containedTypes()) {
        if (aliases_without_write(&contained)) {
            return true;
        }
    }
    return false;
}

bool holds_tensor(const c10::Type& type) {
    if (type.kind() == c10::TypeKind::TensorType) {
        return true;
    }
    for (const auto& contained : type.containedTypes()) {
        if (holds_tensor(*contained)) {
            return true;
        }
    }
    return false;
}

OperatorRole role_of(const c10::FunctionSchema& schema, const std::string& base_name) {
    if (is_known_transparent(base_name)) {
        return OperatorRole::Transparent;
    }
    if (schema.returns().empty()) {
        return schema.is_mutable() ? OperatorRole::Computes : OperatorRole::Transparent;
    }
    bool returns_tensor = false;
    for (const auto& value : schema.returns()) {
        if (aliases_without_write(value.alias_info())) {
            return OperatorRole::Transparent;
        }
        returns_tensor = returns_tensor || holds_tensor(*value.type());
    }
    return returns_tensor || reads_data(base_name) ? OperatorRole::Computes : OperatorRole::Transparent;
}

bool has_kernel(const c10::OperatorHandle& handle) {
    return handle.hasKernelForDispatchKey(c10::DispatchKey::CPU) ||
           handle.hasKernelForDispatchKey(c10::DispatchKey::CUDA);
}

OperatorTraits make_traits(const at::RecordFunction& function) {
    OperatorTraits traits{.name = function.name()};
    const auto operator_name = function.operator_name();
    if (!operator_name) {
        return traits; // a label such as RECORD_FUNCTION("...")
    }
    const auto colons = traits.name.find("::");
    if (traits.name.substr(0, colons) == "spng") {
        traits.role = OperatorRole::Own;
        return traits;
    }
    const std::string base_name = colons == std::string::npos ? traits.name : traits.name.substr(colons + 2);
    traits.role = OperatorRole::Computes;
    traits.prepares = base_name == "copy_" || base_name == "fill_" || base_name == "zero_";
    if (const auto handle = c10::Dispatcher::singleton().findSchema(*operator_name)) {
        traits.role = role_of(handle->schema(), base_name);
        traits.has_kernel = traits.role == OperatorRole::Computes && has_kernel(*handle);
    }
    return traits;
}

/// Traits, one object per name and overload. Never freed: records point to them.
const OperatorTraits& registered_traits(const at::RecordFunction& function) {
    static std::mutex mutex;
    static auto& all = *new std::unordered_map<std::string, std::unique_ptr<const OperatorTraits>>;
    const std::string key = std::string(function.name()) + "." + function.overload_name();
    const std::lock_guard lock(mutex);
    auto& entry = all[key];
    if (!entry) {
        entry = std::make_unique<const OperatorTraits>(make_traits(function));
    }
    return *entry;
}

} // namespace

const OperatorTraits& traits_of(const at::RecordFunction& function) {
    // Each overload's name has a unique address in the operator's schema, so one look-up by address finds the
    // traits. The comparison guards against reused addresses: labels have no schema, and a library with operators
    // may be unloaded.
    static thread_local std::unordered_map<const char*, const OperatorTraits*> by_address;
    auto& known = by_address[function.overload_name()];
    if (known == nullptr || std::strcmp(known->name.c_str(), function.name()) != 0) {
        known = &registered_traits(function);
    }
    return *known;
}

void LeafCounter::enter(const OperatorTraits& traits, std::size_t tag) {
    Frame frame{{&traits, tag}, false, false, false, m_prepared.size()};
    if (!m_frames.empty()) {
        const Frame& outer = m_frames.back();
        frame.hidden = outer.hidden || outer.leaf.traits->role == OperatorRole::Own;
        frame.below_kernel = outer.below_kernel || outer.leaf.traits->has_kernel;
    }
    m_frames.push_back(frame);
}

c10::ArrayRef<LeafCounter::Leaf> LeafCounter::leave() {
    m_certain.clear();
    if (m_frames.empty()) {
        return m_certain;
    }
    const Frame frame = m_frames.back();
    m_frames.pop_back();
    const OperatorTraits& traits = *frame.leaf.traits;
    const bool prepared_below = m_prepared.size() > frame.first_prepared;
    bool is_leaf = false;
    if (!frame.hidden && !frame.counted_below) {
        is_leaf = traits.role == OperatorRole::Own ||
                  (traits.role == OperatorRole::Computes && (traits.has_kernel || !prepared_below));
    }
    if (is_leaf || traits.has_kernel) {
        if (!is_leaf) {
            m_certain.append(m_prepared.begin() + frame.first_prepared, m_prepared.end());
        }
        m_prepared.resize(frame.first_prepared);
    }
    if (is_leaf && traits.prepares && frame.below_kernel) {
        m_prepared.push_back(frame.leaf);
    } else if (is_leaf) {
        m_certain.push_back(frame.leaf);
    }
    if (!m_frames.empty()) {
        m_frames.back().counted_below |= frame.counted_below || !m_certain.empty();
    }
    return m_certain;
}

} // namespace spng::instrument
