// SPDX-License-Identifier: Apache-2.0
// Which operators count: expected numbers follow from what the operations do (each kernel that computes or
// moves data), not from what the counter said.

#include "spng/instrument/meter/node_meter.h"

#include <ATen/Functions.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/InferenceMode.h>
#include <torch/library.h>

#include <gtest/gtest.h>

namespace {

using namespace spng::instrument;
using Counts = std::map<std::string, std::uint64_t>;

at::Tensor add_twice(const at::Tensor& tensor) {
    return tensor.add(tensor).add(tensor);
}

TORCH_LIBRARY_FRAGMENT(spng, library) {
    library.def("test_add_twice(Tensor tensor) -> Tensor", &add_twice);
}

at::Tensor own_operator(const at::Tensor& tensor) {
    return c10::Dispatcher::singleton()
        .findSchemaOrThrow("spng::test_add_twice", "")
        .typed<at::Tensor(const at::Tensor&)>()
        .call(tensor);
}

/// The leaf operations of a piece of code, by name.
template <class Code>
Counts counted(const Code& code) {
    NodeMeter meter({"SPNGTest", "", "filter"});
    {
        const NodeMeter::Call call(meter, 0, c10::kCPU, {});
        code();
    }
    std::uint64_t sum = 0;
    const Counts counts = meter.operations();
    for (const auto& [name, times] : counts) {
        sum += times;
    }
    EXPECT_EQ(meter.calls().at(0).leaf_operations, sum);
    return counts;
}

class LeafOperations : public testing::Test {
protected:
    const c10::InferenceMode m_no_gradients;
    const at::Tensor m_left = at::arange(24, at::kFloat).reshape({4, 6});
    const at::Tensor m_right = m_left.add(1);
};

TEST_F(LeafOperations, ArithmeticCountsOnce) {
    EXPECT_EQ(counted([&] { m_left.add(m_right); }), (Counts{{"aten::add", 1}}));
    EXPECT_EQ(counted([&] { m_left.clone().mul_(m_right); }),
              (Counts{{"aten::copy_", 1}, {"aten::mul_", 1}}));
    EXPECT_EQ(counted([&] { at::matmul(m_left, m_right.t()); }), (Counts{{"aten::mm", 1}}));
    EXPECT_EQ(counted([&] { at::stack({m_left, m_right}); }), (Counts{{"aten::cat", 1}}));
    EXPECT_EQ(counted([&] { at::linalg_multi_dot({m_left, m_right.t(), m_left}); }),
              (Counts{{"aten::mm", 2}}));
}

TEST_F(LeafOperations, ViewsAndQueriesCountNothing) {
    EXPECT_EQ(counted([&] {
                  m_left.view({24}).reshape({2, 12}).flatten();
                  m_left.slice(1, 0, 3).select(0, 1).unsqueeze(0).squeeze(0).expand({5, 3});
                  m_left.permute({1, 0}).transpose(0, 1).t().narrow(0, 1, 2);
                  m_left.as_strided({2, 2}, {1, 1}).detach().alias();
                  m_left.unbind(0);
                  m_left.split(2, 0);
                  m_left.chunk(3, 1);
                  at::broadcast_tensors({m_left, m_right});
                  static_cast<void>(m_left.is_complex());
                  static_cast<void>(m_left.is_same_size(m_right));
              }),
              Counts{});
    const at::Tensor spectrum = at::fft_rfft(m_left);
    EXPECT_EQ(counted([&] {
                  at::view_as_real(spectrum);
                  at::real(spectrum);
                  spectrum.conj();
              }),
              Counts{});
}

TEST_F(LeafOperations, AllocationsCountNothingButFillingDoes) {
    EXPECT_EQ(counted([&] {
                  at::empty({4});
                  at::empty_like(m_left);
                  m_left.new_empty({3});
                  at::empty({0}).resize_({5});
              }),
              Counts{});
    EXPECT_EQ(counted([&] { at::zeros({4}); }), (Counts{{"aten::zero_", 1}}));
    EXPECT_EQ(counted([&] { at::full({4}, 2.0); }), (Counts{{"aten::fill_", 1}}));
}

TEST_F(LeafOperations, ConversionsCountOnlyWhereTheyCopy) {
    EXPECT_EQ(counted([&] {
                  m_left.to(at::kFloat);
                  static_cast<void>(m_left.contiguous());
                  m_left.reshape({6, 4});
              }),
              Counts{});
    EXPECT_EQ(counted([&] { m_left.to(at::kDouble); }), (Counts{{"aten::copy_", 1}}));
    EXPECT_EQ(counted([&] { static_cast<void>(m_left.t().contiguous()); }), (Counts{{"aten::copy_", 1}}));
    EXPECT_EQ(counted([&] { m_left.t().reshape({24}); }), (Counts{{"aten::copy_", 1}}));
}

TEST_F(LeafOperations, TransformsCountTheirKernels) {
    EXPECT_EQ(counted([&] { at::fft_irfft(at::fft_rfft(m_left), 6); }),
              (Counts{{"aten::_fft_r2c", 1}, {"aten::_fft_c2r", 1}}));
    // Padding inside the transform is a fill of the larger buffer and a copy into it.
    EXPECT_EQ(counted([&] { at::fft_rfft(m_left, 8); }),
              (Counts{{"aten::fill_", 1}, {"aten::copy_", 1}, {"aten::_fft_r2c", 1}}));
}

TEST_F(LeafOperations, WhatAnOperatorPreparesForItselfIsPartOfIt) {
    EXPECT_EQ(counted([&] { m_left.mul(2.0); }), (Counts{{"aten::mul", 1}})); // converts the scalar
    EXPECT_EQ(counted([&] { m_left.sum(); }), (Counts{{"aten::sum", 1}}));    // clears the result first
    EXPECT_EQ(counted([&] { m_left.abs().median(); }),
              (Counts{{"aten::abs", 1}, {"aten::median", 1}})); // clones
    EXPECT_EQ(counted([&] { m_left.mul(2.0).t().contiguous().add(1); }),
              (Counts{{"aten::mul", 1}, {"aten::copy_", 1}, {"aten::add", 1}}));
}

/// On the CPU a mean is a sum, a leaf, and a division by a number, another one: both count, the mean does
/// not.
TEST_F(LeafOperations, ParentsOfLeavesDoNotCount) {
    EXPECT_EQ(counted([&] { m_left.mean(1); }), (Counts{{"aten::sum", 1}, {"aten::div_", 1}}));
    // A mask as index: positions are found, then the values are gathered by the same operator.
    EXPECT_EQ(counted([&] { m_left.index({m_left.gt(3)}); }),
              (Counts{{"aten::gt", 1}, {"aten::nonzero", 1}}));
    // sort copies its input and the positions, which arange made.
    EXPECT_EQ(counted([&] { m_left.sort(1); }), (Counts{{"aten::arange", 1}, {"aten::copy_", 2}}));
}

TEST_F(LeafOperations, AnOwnOperatorCountsOnceAndHidesWhatItCalls) {
    EXPECT_EQ(counted([&] { own_operator(m_left).add(m_left); }),
              (Counts{{"spng::test_add_twice", 1}, {"aten::add", 1}}));
}

TEST_F(LeafOperations, NothingIsCountedOutsideOfCalls) {
    NodeMeter meter({"SPNGTest", "", "filter"});
    m_left.add(m_right);
    { const NodeMeter::Call call(meter, 0, c10::kCPU, {}); }
    m_left.add(m_right);
    EXPECT_EQ(meter.operations(), Counts{});
}

} // namespace
