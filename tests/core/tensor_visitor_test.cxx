// SPDX-License-Identifier: Apache-2.0
#include "spng/core/tensor_visitor.h"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace spng {
namespace {

/// Tensors of 1, 2, 4, ... bytes, so that a sum tells which of them it has.
class Sizes {
public:
    at::Tensor next() {
        const auto size = m_next;
        m_next *= 2;
        return at::empty({size}, at::kByte);
    }

private:
    std::int64_t m_next = 1;
};

std::vector<Encoding> all_encodings(Sizes& sizes) {
    return {DenseSamples{}, PackedMask{3}, CompactedRows{sizes.next(), 4},
            SparseSamples{1, 2, sizes.next(), sizes.next()}};
}

NamedTensor full_tensor(Sizes& sizes, Encoding encoding = {}) {
    NamedTensor tensor;
    tensor.name = "full";
    tensor.data = sizes.next();
    tensor.summary = sizes.next();
    tensor.pedestal = sizes.next();
    tensor.expected_noise = sizes.next();
    tensor.encoding = std::move(encoding);
    return tensor;
}

ChannelTable full_table(Sizes& sizes) {
    ChannelTable table;
    table.ids = sizes.next();
    table.good = sizes.next();
    table.fault = sizes.next();
    table.bad_ticks = {{"chirp", 500, sizes.next()}, {"pulse", 500, sizes.next()}};
    return table;
}

TensorSet set_of(NamedTensor tensor) {
    return {std::make_shared<const EventInfo>(), {std::move(tensor)}};
}

template <class Record>
std::int64_t bytes_of(const Record& record, TensorRole wanted) {
    std::int64_t sum = 0;
    for_each_tensor(record, [&](const at::Tensor& tensor, TensorRole role) {
        sum += role == wanted && tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : 0;
    });
    return sum;
}

TEST(TensorVisitor, VisitsEveryTensorInItsRole) {
    Sizes sizes;
    const NamedTensor tensor = full_tensor(sizes);
    EXPECT_EQ(bytes_of(tensor, TensorRole::samples), 1);
    EXPECT_EQ(bytes_of(tensor, TensorRole::device), 2 + 4 + 8);
    EXPECT_EQ(bytes_of(tensor, TensorRole::host), 0);
    const ChannelTable table = full_table(sizes);
    EXPECT_EQ(bytes_of(table, TensorRole::samples), 0);
    EXPECT_EQ(bytes_of(table, TensorRole::device), 32 + 64 + 128 + 256);
    EXPECT_EQ(bytes_of(table, TensorRole::host), 16);
}

TEST(TensorVisitor, VisitsTheTensorsOfEveryEncoding) {
    std::vector<std::int64_t> device, host;
    Sizes sizes;
    for (const Encoding& encoding : all_encodings(sizes)) {
        NamedTensor tensor;
        tensor.encoding = encoding;
        device.push_back(bytes_of(tensor, TensorRole::device));
        host.push_back(bytes_of(tensor, TensorRole::host));
        EXPECT_EQ(bytes_of(tensor, TensorRole::samples), 0); // undefined
        EXPECT_EQ(set_of(tensor).bytes(), device.back() + host.back());
    }
    EXPECT_EQ(device, (std::vector<std::int64_t>{0, 0, 1, 0}));
    EXPECT_EQ(host, (std::vector<std::int64_t>{0, 0, 0, 2 + 4}));
}

TEST(TensorVisitor, ChangesTensors) {
    Sizes sizes;
    NamedTensor tensor = full_tensor(sizes, CompactedRows{sizes.next(), 2});
    for_each_tensor(tensor, [](at::Tensor& each, TensorRole) { each = at::empty({100}, at::kByte); });
    EXPECT_EQ(set_of(tensor).bytes(), 500U);
    EXPECT_EQ(tensor.compacted()->factor, 2);
}

TEST(TensorVisitor, OneTensorElsewhereIsNotOnTheHost) {
    Sizes of_encodings;
    for (const Encoding& encoding : all_encodings(of_encodings)) {
        Sizes sizes;
        NamedTensor whole = full_tensor(sizes, encoding);
        const ChannelTable table = full_table(sizes);
        whole.channels = std::make_shared<const ChannelTable>(table);
        EXPECT_TRUE(set_of(whole).is_on_host());
        std::vector<bool> seen;
        const auto tensors = [](const auto& record) {
            std::size_t count = 0;
            for_each_tensor(record, [&](const at::Tensor&, TensorRole) { ++count; });
            return count;
        };
        const auto moved = [](auto record, std::size_t which) {
            for_each_tensor(record, [&](at::Tensor& each, TensorRole) {
                each = which-- == 0 ? at::empty({1}, at::kMeta) : each;
            });
            return record;
        };
        for (std::size_t i = 0; i < tensors(whole); ++i) {
            seen.push_back(set_of(moved(whole, i)).is_on_host());
        }
        for (std::size_t i = 0; i < tensors(table); ++i) {
            whole.channels = std::make_shared<const ChannelTable>(moved(table, i));
            seen.push_back(set_of(whole).is_on_host());
        }
        EXPECT_GE(seen.size(), 9U);
        EXPECT_TRUE(std::none_of(seen.begin(), seen.end(), [](bool on_host) { return on_host; }));
    }
}

} // namespace
} // namespace spng
