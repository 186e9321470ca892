// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/model_runner.h"

#include "spng/device/device_graph.h"
#include "spng/device/memory/out_of_memory.h"
#include "tests/dnn/fake_model.h"
#include "tests/support/components.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace spng {
namespace {

using test::error_of;
using test::FakeModel;

/// out[t] = x[t-1] + 10 x[t] + 100 x[t+1] of the first feature, 0 beyond the ends.
at::Tensor three_taps(const at::Tensor& input) {
    const at::Tensor x = at::constant_pad_nd(input.narrow(1, 0, 1), {1, 1});
    const auto ticks = input.size(3);
    return x.narrow(3, 0, ticks).add(x.narrow(3, 1, ticks), 10).add(x.narrow(3, 2, ticks), 100);
}

/// Integers, so that every order of summation gives the same float32.
at::Tensor counting(at::IntArrayRef sizes) {
    std::int64_t count = 1;
    for (const auto size : sizes) {
        count *= size;
    }
    return at::arange(count, at::kFloat).remainder(97).view(sizes);
}

/// Compute three_taps with loops over elements: (view, feature, channel, tick) -> (view, channel, tick).
at::Tensor three_taps_expected(const at::Tensor& features) {
    auto out = at::zeros({features.size(0), features.size(2), features.size(3)});
    const auto in = features.accessor<float, 4>();
    auto to = out.accessor<float, 3>();
    for (std::int64_t view = 0; view < features.size(0); ++view) {
        for (std::int64_t channel = 0; channel < features.size(2); ++channel) {
            for (std::int64_t tick = 0; tick < features.size(3); ++tick) {
                const auto at = [&](std::int64_t t) {
                    return t < 0 || t >= features.size(3) ? 0.F : in[view][0][channel][t];
                };
                to[view][channel][tick] = at(tick - 1) + 10 * at(tick) + 100 * at(tick + 1);
            }
        }
    }
    return out;
}

ModelRunner runner(FakeModel::Function function, ModelRunnerOptions options) {
    return {std::make_unique<FakeModel>(std::move(function)), std::move(options)};
}

TEST(ModelRunner, ChunksGiveTheSameResult) {
    const auto features = counting({2, 3, 5, 22});
    for (const std::int64_t chunk : {0, 4, 8, 100}) {
        const auto cut =
            runner(three_taps, {.sizes = {2, 3, 5, 22}, .multiple = 4, .halo = 1, .chunk_ticks = chunk});
        EXPECT_TRUE(at::equal(cut.forward(features), three_taps_expected(features))) << "chunk " << chunk;
    }
}

TEST(ModelRunner, AWholeInputIsNoLongerThanATile) {
    const auto cut = runner(three_taps, {.sizes = {1, 1, 2, 64}, .multiple = 4, .halo = 1, .chunk_ticks = 8});
    EXPECT_EQ(cut.forward_as_is(counting({1, 1, 2, 8 + 2 + 4})).size(3), 14);
    EXPECT_THROW(cut.forward_as_is(counting({1, 1, 2, 16})), ModelOutOfMemory);
    const auto whole = runner(three_taps, {.sizes = {1, 1, 2, 64}, .multiple = 4});
    EXPECT_EQ(whole.forward_as_is(counting({1, 1, 2, 640})).size(3), 640);
}

TEST(ModelRunner, AShortHaloChangesTheResult) {
    const auto features = counting({1, 1, 1, 16}).add_(1);
    const auto cut = runner(three_taps, {.sizes = {1, 1, 1, 16}, .multiple = 4, .halo = 0, .chunk_ticks = 8});
    const auto wrong = cut.forward(features).ne(three_taps_expected(features)).nonzero();
    ASSERT_EQ(wrong.size(0), 2);
    EXPECT_EQ(wrong[0][2].item<int>(), 7);
    EXPECT_EQ(wrong[1][2].item<int>(), 8);
}

TEST(ModelRunner, HaloIsMeasuredWhenNotGiven) {
    const auto features = counting({1, 1, 2, 64});
    const auto cut = runner(three_taps, {.sizes = {1, 1, 2, 64}, .multiple = 4, .chunk_ticks = 8});
    EXPECT_TRUE(at::equal(cut.forward(features), three_taps_expected(features)));
}

TEST(ModelRunner, RejectsANetworkWithUnlimitedHalo) {
    const auto centred = [](const at::Tensor& input) { return input.narrow(1, 0, 1).sub(input.mean()); };
    const auto error =
        error_of([&] { runner(centred, {.sizes = {1, 3, 4, 64}, .multiple = 4, .chunk_ticks = 8}); });
    EXPECT_EQ(error.kind(), ErrorKind::Model);
    EXPECT_EQ(error.text().where, "fake-model.ts");
}

TEST(ModelRunner, OddSizesArePaddedWithZerosAndCropped) {
    std::vector<std::int64_t> seen;
    double sum = 0;
    const auto model = [&](const at::Tensor& input) {
        seen = input.sizes().vec();
        sum = input.sum().item<double>();
        return three_taps(input);
    };
    const auto features = counting({1, 3, 5, 7});
    const auto padding = runner(model, {.sizes = {1, 3, 5, 7}, .multiple = 4});
    EXPECT_TRUE(at::equal(padding.forward(features), three_taps_expected(features)));
    EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 3, 8, 8}));
    double expected = 0;
    for (int i = 0; i < 3 * 5 * 7; ++i) {
        expected += i % 97;
    }
    EXPECT_EQ(sum, expected);
}

TEST(ModelRunner, TransposeSwapsTicksAndChannels) {
    std::vector<std::int64_t> seen;
    const auto model = [&](const at::Tensor& input) { // out[t][c] = 1000 t + c
        seen = input.sizes().vec();
        return at::arange(input.size(2), at::kFloat)
            .mul(1000)
            .view({1, 1, -1, 1})
            .add(at::arange(input.size(3), at::kFloat))
            .expand({input.size(0), 1, input.size(2), input.size(3)});
    };
    const auto turned = runner(model, {.sizes = {2, 3, 3, 10}, .transpose = true, .multiple = 4});
    const auto out = turned.forward(counting({2, 3, 3, 10}));
    EXPECT_EQ(seen, (std::vector<std::int64_t>{2, 3, 12, 4}));
    ASSERT_EQ(out.sizes(), (at::IntArrayRef{2, 3, 10}));
    EXPECT_TRUE(out.is_contiguous());
    EXPECT_EQ(out[0][2][7].item<float>(), 7002);
    EXPECT_EQ(out[1][1][9].item<float>(), 9001);
}

TEST(ModelRunner, OutputOfAnotherShapeIsAModelError) {
    const auto model = [](const at::Tensor& input) { return input.narrow(1, 0, 2); };
    const auto wrong = runner(model, {.sizes = {1, 3, 8, 8}, .multiple = 4});
    const auto error = error_of([&] { wrong.forward(counting({1, 3, 8, 8})); });
    EXPECT_EQ(error.kind(), ErrorKind::Model);
    EXPECT_EQ(error.text().where, "fake-model.ts");
    EXPECT_NE(error.text().seen.find("(1, 2, 8, 8)"), std::string::npos) << error.what();
    EXPECT_NE(error.text().expected.find("(1, 1, 8, 8)"), std::string::npos) << error.what();
}

class LimitedMemory {
public:
    explicit LimitedMemory(std::int64_t ticks) : m_ticks(ticks) {}
    at::Tensor operator()(const at::Tensor& input) {
        ++forwards;
        if (input.size(3) > m_ticks) {
            throw ModelOutOfMemory("full");
        }
        return three_taps(input);
    }
    void set_ticks(std::int64_t ticks) { m_ticks = ticks; }
    int forwards = 0;

private:
    std::int64_t m_ticks;
};

TEST(ModelRunner, OutOfMemoryHalvesTheChunk) {
    LimitedMemory memory(16); // 64, 32, and 16 with margins of 4 on both sides are too many
    const auto halving = runner(std::ref(memory), {.sizes = {1, 1, 2, 64}, .multiple = 4, .halo = 1});
    const auto features = counting({1, 1, 2, 64});
    EXPECT_TRUE(at::equal(halving.forward(features), three_taps_expected(features)));
    EXPECT_EQ(halving.chunk_ticks(), 8);
    memory.forwards = 0;
    halving.forward(features);
    EXPECT_EQ(memory.forwards, 8);
}

TEST(ModelRunner, ChunkGrowsAgainWhenMemoryIsFree) {
    LimitedMemory memory(16);
    const auto halving = runner(std::ref(memory), {.sizes = {1, 1, 2, 64}, .multiple = 4, .halo = 1});
    const auto features = counting({1, 1, 2, 64});
    halving.forward(features);
    memory.set_ticks(1000);
    std::vector<std::int64_t> chunks;
    for (int step = 0; step < 4; ++step) {
        for (std::int64_t call = 0; call < ModelRunner::first_pause; ++call) {
            EXPECT_TRUE(at::equal(halving.forward(features), three_taps_expected(features)));
        }
        chunks.push_back(halving.chunk_ticks());
    }
    EXPECT_EQ(chunks, (std::vector<std::int64_t>{16, 32, 0, 0})); // 0: all 64
}

TEST(ModelRunner, ChunkStaysSmallWhileMemoryIsNotFree) {
    LimitedMemory memory(16);
    const auto halving = runner(std::ref(memory), {.sizes = {1, 1, 2, 64}, .multiple = 4, .halo = 1});
    const auto features = counting({1, 1, 2, 64});
    halving.forward(features);
    EXPECT_EQ(halving.chunk_ticks(), 8);
    memory.forwards = 0;
    for (int call = 0; call < 1000; ++call) {
        halving.forward(features);
    }
    // Vain attempts after 32 calls and then after 64, 128, 256 and 512: 992 calls.
    EXPECT_EQ(memory.forwards, 8 * 1000 + 5);
    EXPECT_EQ(halving.chunk_ticks(), 8);
}

TEST(ModelRunner, OutOfMemoryGivesUpAfterThreeRetries) {
    LimitedMemory memory(0);
    const auto hopeless = runner(std::ref(memory), {.sizes = {1, 1, 2, 512}, .multiple = 4, .halo = 1});
    // OutOfMemory, so that the event starts again with less beside it.
    EXPECT_THROW(hopeless.forward(counting({1, 1, 2, 512})), OutOfMemory);
    EXPECT_EQ(memory.forwards, 4);
}

TEST(ModelRunner, OutOfMemoryInACaptureIsPassedOn) {
    LimitedMemory memory(16);
    const auto limited = runner(std::ref(memory), {.sizes = {1, 1, 2, 64}, .multiple = 4, .halo = 1});
    {
        const CapturingThread capturing;
        EXPECT_THROW(limited.forward(counting({1, 1, 2, 64})), OutOfMemory);
    }
    EXPECT_EQ(limited.chunk_ticks(), 0);
    EXPECT_EQ(memory.forwards, 1);
}

TEST(ModelRunner, OutOfMemoryGivesUpAtTheSmallestChunk) {
    LimitedMemory memory(0);
    const auto hopeless = runner(std::ref(memory), {.sizes = {1, 1, 2, 8}, .multiple = 4, .halo = 1});
    EXPECT_THROW(hopeless.forward(counting({1, 1, 2, 8})), OutOfMemory);
    EXPECT_EQ(memory.forwards, 2); // 8 ticks, then 4
}

/// Network that needs 100 kB per tick besides its output.
at::Tensor hungry(const at::Tensor& input, std::int64_t& max_ticks) {
    max_ticks = std::max(max_ticks, input.size(3));
    const auto workspace = at::empty({input.size(3), 25'000}, at::kFloat);
    return three_taps(input);
}

TEST(ModelRunner, BudgetDecidesTheChunk) {
    std::int64_t max_ticks = 0;
    const auto model = [&](const at::Tensor& input) { return hungry(input, max_ticks); };
    const auto fitting =
        runner(model, {.sizes = {1, 1, 2, 256}, .multiple = 4, .halo = 1, .memory_budget = 6'500'000});
    max_ticks = 0;
    const auto features = counting({1, 1, 2, 256});
    EXPECT_TRUE(at::equal(fitting.forward(features), three_taps_expected(features)));
    EXPECT_LE(max_ticks, 65);
    EXPECT_GE(max_ticks, 60);
}

TEST(ModelRunner, EnoughBudgetDoesNotCut) {
    std::int64_t max_ticks = 0;
    const auto model = [&](const at::Tensor& input) { return hungry(input, max_ticks); };
    const auto fitting = runner(model, {.sizes = {1, 1, 2, 256}, .multiple = 4, .memory_budget = 30'000'000});
    EXPECT_EQ(fitting.chunk_ticks(), 0);
}

TEST(ModelRunner, ImpossibleBudgetIsADeviceError) {
    std::int64_t max_ticks = 0;
    const auto model = [&](const at::Tensor& input) { return hungry(input, max_ticks); };
    const auto error = error_of([&] {
        runner(model, {.sizes = {1, 1, 2, 256}, .multiple = 4, .halo = 1, .memory_budget = 1'000'000});
    });
    EXPECT_EQ(error.kind(), ErrorKind::Device); // 4 ticks with 4 on both sides need 1.2 MB
}

/// Return the highest number of concurrent forwards of 6 threads.
int max_at_once(std::int64_t concurrency) {
    std::mutex mutex;
    std::condition_variable changed;
    int running = 0;
    int most = 0;
    const auto model = [&](const at::Tensor& input) {
        std::unique_lock lock(mutex);
        most = std::max(most, ++running);
        changed.notify_all();
        // Wait for one forward above the limit, which must not start.
        changed.wait_for(lock, std::chrono::milliseconds(60), [&] { return running > concurrency; });
        --running;
        return three_taps(input);
    };
    const auto limited = runner(model, {.sizes = {1, 1, 2, 8}, .multiple = 4, .concurrency = concurrency});
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; ++i) {
        threads.emplace_back([&] { limited.forward(counting({1, 1, 2, 8})); });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    return most;
}

TEST(ModelRunner, LimitsConcurrentForwards) {
    EXPECT_EQ(max_at_once(1), 1);
    EXPECT_EQ(max_at_once(2), 2);
}

} // namespace
} // namespace spng
