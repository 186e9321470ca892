// SPDX-License-Identifier: Apache-2.0
#pragma once
// One list of the tensors in a NamedTensor and in a ChannelTable. Structured bindings name all members, so that a member
// that is added and not listed here does not compile.

#include "spng/core/tensor_set.h"

#include <concepts>
#include <type_traits>
#include <variant>

namespace spng {

enum class TensorRole {
    samples, ///< NamedTensor::data, in the encoding of its record
    device,  ///< on the device of the samples
    host,    ///< on the host for every event: ids of channels, sparse samples
};

/// `Record` or `const Record`.
template <class Some, class Record>
concept MaybeConst = std::same_as<std::remove_const_t<Some>, Record>;

template <MaybeConst<DenseSamples> Some, class Visit>
void for_each_tensor(Some&, const Visit&) {}

template <MaybeConst<PackedMask> Some, class Visit>
void for_each_tensor(Some& mask, const Visit&) {
    [[maybe_unused]] auto& [samples] = mask;
}

template <MaybeConst<CompactedRows> Some, class Visit>
void for_each_tensor(Some& rows, const Visit& visit) {
    auto& [mask, factor] = rows;
    visit(mask, TensorRole::device);
}

template <MaybeConst<SparseSamples> Some, class Visit>
void for_each_tensor(Some& sparse, const Visit& visit) {
    auto& [rows, ticks, runs, values] = sparse;
    visit(runs, TensorRole::host);
    visit(values, TensorRole::host);
}

/// Call visit(tensor, TensorRole) for all tensors of a NamedTensor, defined or not, without those of its channel table.
template <MaybeConst<NamedTensor> Some, class Visit>
void for_each_tensor(Some& tensor, const Visit& visit) {
    auto& [name, data, encoding, axes, unit, domain, channels, summary, pedestal, expected_noise, notes] =
        tensor;
    visit(data, TensorRole::samples);
    std::visit([&](auto& encoded) { for_each_tensor(encoded, visit); }, encoding);
    visit(summary, TensorRole::device);
    visit(pedestal, TensorRole::device);
    visit(expected_noise, TensorRole::device);
}

template <MaybeConst<BadTickRanges> Some, class Visit>
void for_each_tensor(Some& ranges, const Visit& visit) {
    auto& [mask, period, ticks] = ranges;
    visit(ticks, TensorRole::device);
}

/// Call visit(tensor, TensorRole) for all tensors of a ChannelTable, defined or not.
template <MaybeConst<ChannelTable> Some, class Visit>
void for_each_tensor(Some& table, const Visit& visit) {
    auto& [views, planes, ids, first_row, good, fault, bad_ticks] = table;
    visit(ids, TensorRole::host);
    visit(good, TensorRole::device);
    visit(fault, TensorRole::device);
    for (auto& ranges : bad_ticks) {
        for_each_tensor(ranges, visit);
    }
}

} // namespace spng
