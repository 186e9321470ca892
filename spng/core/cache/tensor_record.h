// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstdint>
#include <vector>

namespace spng {

/// Describe a contiguous tensor on the CPU to a RecordWriter, or an undefined one, which is made, to a RecordReader.
template <class Record>
void visit_tensor(Record& record, at::Tensor& tensor) {
    auto sizes = tensor.defined() ? tensor.sizes().vec() : std::vector<std::int64_t>{};
    auto type = tensor.defined() ? tensor.scalar_type() : at::kByte;
    record.list(sizes);
    record.value(type);
    if (!tensor.defined()) {
        tensor = at::empty(sizes, type);
    }
    record.bytes(tensor.mutable_data_ptr(), tensor.nbytes());
}

} // namespace spng
