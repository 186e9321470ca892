// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sets whose tensors are replaced by copies.

#include "spng/core/rows/compacted_rows.h"
#include "spng/core/tensor_visitor.h"

#include <ATen/ops/clone.h>

#include <map>
#include <memory>
#include <vector>

namespace spng {

/// Copies tensors; equal tensor objects share a copy.
class Copies {
public:
    at::Tensor of(const at::Tensor& tensor) {
        return make(tensor, [&] { return tensor.clone(); });
    }

    /// The rows of a tensor; of compacted rows only what is inside their ROIs.
    at::Tensor rows_of(const NamedTensor& tensor) {
        return make(tensor.data, [&] {
            const auto* compacted = tensor.compacted();
            return compacted ? copy_compacted(tensor.data, compacted->mask, compacted->factor)
                             : tensor.data.clone();
        });
    }

private:
    template <class Make>
    at::Tensor make(const at::Tensor& tensor, const Make& copy_of) {
        if (!tensor.defined()) {
            return tensor;
        }
        at::Tensor& copy = m_copies[tensor.unsafeGetTensorImpl()];
        if (!copy.defined()) {
            copy = copy_of();
        }
        return copy;
    }

    std::map<const c10::TensorImpl*, at::Tensor> m_copies;
};

/// Replace the tensors of a set. table_for: the channel table of a replacement.
template <class Replacements, class TableFor>
std::vector<NamedTensor> replaced(const TensorSet& set, Replacements& by, const TableFor& table_for) {
    std::vector<NamedTensor> tensors;
    for (const NamedTensor& old : set.tensors()) {
        NamedTensor& tensor = tensors.emplace_back(old);
        for_each_tensor(tensor, [&](at::Tensor& each, TensorRole role) {
            if (role != TensorRole::host) {
                each = role == TensorRole::samples ? by.rows_of(old) : by.of(each);
            }
        });
        tensor.channels = old.channels ? table_for(old.channels) : nullptr;
    }
    return tensors;
}

template <class Replacements>
std::shared_ptr<const ChannelTable> replaced(const ChannelTable& table, Replacements& by) {
    auto copy = std::make_shared<ChannelTable>(table);
    for_each_tensor(*copy, [&](at::Tensor& each, TensorRole role) {
        if (role != TensorRole::host) {
            each = by.of(each);
        }
    });
    return copy;
}

} // namespace spng
