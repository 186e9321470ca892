// SPDX-License-Identifier: Apache-2.0
#include "spng/core/sparse_samples.h"

#include "spng/core/error.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <limits>

namespace spng {
namespace {

using Runs = std::vector<std::vector<int>>;

at::Tensor runs_tensor(const Runs& runs) {
    at::Tensor tensor = at::empty({static_cast<std::int64_t>(runs.size()), 3}, at::kInt);
    auto* to = tensor.mutable_data_ptr<int>();
    for (const auto& run : runs) {
        to = std::copy(run.begin(), run.end(), to);
    }
    return tensor;
}

SparseSamples samples_of(std::int64_t rows, std::int64_t ticks, const Runs& runs, const at::Tensor& values) {
    return {rows, ticks, runs_tensor(runs), values};
}

bool same_bits(const at::Tensor& left, const at::Tensor& right) {
    const auto bits = [](const at::Tensor& tensor) {
        return tensor.view(tensor.scalar_type() == at::kFloat ? at::kInt : at::kShort);
    };
    return left.scalar_type() == right.scalar_type() && left.sizes() == right.sizes() &&
           bits(left).equal(bits(right));
}

TEST(SparseSamples, DensePutsTheValuesIntoTheirRuns) {
    const auto samples =
        samples_of(3, 5, {{0, 1, 3}, {0, 4, 5}, {2, 0, 1}}, at::tensor({1.f, 2.f, 3.f, 4.f}));
    EXPECT_TRUE(dense(samples).equal(
        at::tensor({0.f, 1.f, 2.f, 0.f, 3.f, 0.f, 0.f, 0.f, 0.f, 0.f, 4.f, 0.f, 0.f, 0.f, 0.f})
            .view({3, 5})));
}

TEST(SparseSamples, SparseFindsTheShortestRuns) {
    const at::Tensor array =
        at::tensor({0, 7, 8, 0, 9, 0, 0, 0, 0, 0, 1, 0, 2, 3, 4}, at::kShort).view({3, 5});
    const SparseSamples seen = sparse(array);
    EXPECT_EQ(seen.rows, 3);
    EXPECT_EQ(seen.ticks, 5);
    EXPECT_TRUE(seen.runs.equal(runs_tensor({{0, 1, 3}, {0, 4, 5}, {2, 0, 1}, {2, 2, 5}})));
    EXPECT_TRUE(seen.values.equal(at::tensor({7, 8, 9, 1, 2, 3, 4}, at::kShort)));
}

TEST(SparseSamples, RoundTripKeepsAllBits) {
    at::manual_seed(1);
    for (const auto& [rows, ticks] : {std::pair{1, 1}, {1, 7}, {70, 1}, {33, 130}, {0, 5}, {100, 33}}) {
        const at::Tensor noise = at::randn({rows, ticks});
        at::Tensor values = noise.where(noise > 1, at::zeros({}));
        EXPECT_TRUE(same_bits(dense(sparse(values)), values)) << rows << " x " << ticks;
        const at::Tensor counts = values.mul(1000).to(at::kShort);
        EXPECT_TRUE(same_bits(dense(sparse(counts)), counts)) << rows << " x " << ticks;
    }
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                    inf = std::numeric_limits<float>::infinity();
    const at::Tensor special = at::tensor({-0.f, 0.f, nan, -inf, 1e-45f, 0.f}).view({2, 3});
    EXPECT_TRUE(same_bits(dense(sparse(special)), special));
    EXPECT_EQ(sparse(special).values.numel(), 4);
}

TEST(SparseSamples, ViewsAreReadInTheirOrder) {
    const at::Tensor array = at::tensor({0.f, 1.f, 2.f, 0.f, 0.f, 3.f}).view({3, 2}).t();
    EXPECT_TRUE(dense(sparse(array)).equal(array));
}

TEST(SparseSamples, ShortestRunsDependOnTheDenseArrayOnly) {
    // Zeros inside and at the ends of runs, runs that touch, and a run of zeros.
    const auto samples =
        samples_of(2, 12, {{0, 0, 4}, {0, 4, 7}, {0, 9, 11}, {1, 0, 5}},
                   at::tensor({0.f, 1.f, 2.f, 3.f, 4.f, 0.f, -0.f, 0.f, 0.f, 5.f, 0.f, 0.f, 0.f, 6.f}));
    const SparseSamples seen = with_shortest_runs(samples), expected = sparse(dense(samples));
    EXPECT_TRUE(seen.runs.equal(runs_tensor({{0, 1, 5}, {0, 6, 7}, {1, 0, 1}, {1, 4, 5}})));
    EXPECT_TRUE(seen.runs.equal(expected.runs));
    EXPECT_TRUE(same_bits(seen.values, expected.values));
}

TEST(SparseSamples, NothingButZeros) {
    const SparseSamples seen = sparse(at::zeros({4, 9}, at::kShort));
    EXPECT_EQ(seen.runs.sizes(), (std::vector<std::int64_t>{0, 3}));
    EXPECT_EQ(seen.values.numel(), 0);
    EXPECT_TRUE(same_bits(dense(seen), at::zeros({4, 9}, at::kShort)));
    EXPECT_EQ(with_shortest_runs(seen).runs.size(0), 0);
}

TEST(SparseSamples, FaultsAreNamed) {
    const at::Tensor three = at::ones({3});
    const auto fault = [&](const Runs& runs, const at::Tensor& values) {
        const auto found = fault_of(samples_of(2, 10, runs, values));
        return found ? found->what + "; " + found->seen : std::string();
    };
    EXPECT_EQ(fault({{0, 0, 1}, {1, 8, 10}}, three), "");
    EXPECT_EQ(fault({{2, 0, 3}}, three), "a run is outside of the frame; run 0: row 2, ticks 0 to 3");
    EXPECT_EQ(fault({{-1, 0, 3}}, three), "a run is outside of the frame; run 0: row -1, ticks 0 to 3");
    EXPECT_EQ(fault({{0, 8, 11}}, three), "a run is outside of the frame; run 0: row 0, ticks 8 to 11");
    EXPECT_EQ(fault({{0, -1, 2}}, three), "a run is outside of the frame; run 0: row 0, ticks -1 to 2");
    EXPECT_EQ(fault({{0, 3, 3}}, three),
              "a run ends before it begins, or is empty; run 0: row 0, ticks 3 to 3");
    EXPECT_EQ(fault({{0, 3, 1}}, three),
              "a run ends before it begins, or is empty; run 0: row 0, ticks 3 to 1");
    EXPECT_EQ(fault({{1, 0, 1}, {0, 0, 2}}, three),
              "two runs overlap or are out of order; run 1: row 0, ticks 0 to 2, after row 1, ticks 0 to 1");
    EXPECT_EQ(fault({{0, 0, 2}, {0, 1, 2}}, three),
              "two runs overlap or are out of order; run 1: row 0, ticks 1 to 2, after row 0, ticks 0 to 2");
    EXPECT_EQ(fault({{0, 0, 4}}, three), "the values do not fit the runs; 3 values");
    EXPECT_FALSE(fault_of(samples_of(2, 10, {{0, 0, 4}}, three))->in_runs);
    EXPECT_NE(fault({{0, 0, 3}}, three.to(at::kDouble)), "");
    EXPECT_NE(fault({{0, 0, 3}}, three.view({1, 3})), "");
    EXPECT_TRUE(fault_of({2, 10, at::zeros({1, 2}, at::kInt), three})->in_runs);
    EXPECT_TRUE(fault_of({-1, 10, at::zeros({0, 3}, at::kInt), at::zeros({0})}));
    EXPECT_THROW(dense(samples_of(2, 10, {{0, 0, 4}}, three)), Error);
    EXPECT_THROW(with_shortest_runs(samples_of(2, 10, {{0, 0, 4}}, three)), Error);
    EXPECT_THROW(sparse(three), Error);
    EXPECT_THROW(sparse(at::ones({2, 2}, at::kDouble)), Error);
}

} // namespace
} // namespace spng
