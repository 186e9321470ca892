// SPDX-License-Identifier: Apache-2.0
// Results of the chain become traces with tags.
#include "adapters/wirecell/result_traces.h"
#include "adapters/wirecell/version.h"

#include <gtest/gtest.h>

namespace spng::wirecell {
namespace {

using Samples = std::vector<float>;

/// Two channels of four ticks, the second with a negative sample, as signal with summary and as int16 mask.
class WirecellResultTraces : public ::testing::Test {
protected:
    const Samples charge{0, 1, 2, 0, 0, 0, -1, 5};
    const std::vector<std::int16_t> mask{0, 1, 1, 0, 0, 0, 1, 1};
    const Samples packed{1, 2, -1, 5};
    const std::vector<std::array<std::int32_t, 3>> runs{{0, 1, 3}, {1, 2, 4}};

    static OutputTraces traces(std::string tag) {
        OutputTraces result;
        result.tag = std::move(tag);
        result.channels = 2;
        result.ticks = 4;
        result.channel_ids = {3, 8};
        result.first_tick = 100;
        result.start_ns = 250;
        result.tick_ns = 512;
        return result;
    }
    OutputFrame dense() const {
        OutputFrame frame;
        frame.traces = {traces("signal"), traces("roi")};
        frame.traces[0].samples = charge.data();
        frame.traces[0].summary = {0.5, 0.25};
        frame.traces[1].type = SampleType::int16;
        frame.traces[1].samples = mask.data();
        return frame;
    }
    OutputFrame sparse() const {
        OutputFrame frame = dense();
        frame.traces[0].is_sparse = true;
        frame.traces[0].samples = packed.data();
        frame.traces[0].runs = runs.data();
        frame.traces[0].run_count = 2;
        return frame;
    }
};

TEST_F(WirecellResultTraces, ADenseRowIsATrace) {
    SigProcKeys keys;
    keys.tags = {{"roi", "roi0"}, {"signal", "gauss0"}, {"signal", "again"}};
    const ResultTraces result = result_traces(dense(), keys);
    ASSERT_EQ(result.traces.size(), 4U);
    EXPECT_EQ(result.traces[1].channel, 8);
    EXPECT_EQ(result.traces[1].first_tick, 100);
    EXPECT_EQ(result.traces[1].samples, (Samples{0, 0, 1, 1}));
    EXPECT_EQ(result.traces[3].samples, (Samples{0, 0, -1, 5}));
    EXPECT_EQ(result.start_ns, 250);
    EXPECT_EQ(result.tick_ns, 512);
    ASSERT_EQ(result.tags.size(), 3U);
    EXPECT_EQ(result.tags[0].tag, "roi0");
    EXPECT_EQ(result.tags[0].traces, (std::vector<std::size_t>{0, 1}));
    EXPECT_TRUE(result.tags[0].summary.empty());
    EXPECT_EQ(result.tags[1].tag, "gauss0");
    EXPECT_EQ(result.tags[1].traces, (std::vector<std::size_t>{2, 3}));
    EXPECT_EQ(result.tags[1].summary, (std::vector<double>{0.5, 0.25}));
    EXPECT_EQ(result.tags[2].tag, "again");
    EXPECT_EQ(result.tags[2].traces, result.tags[1].traces);
}

TEST_F(WirecellResultTraces, ASparseRunIsATrace) {
    SigProcKeys keys;
    keys.tags = {{"signal", "gauss"}};
    const ResultTraces result = result_traces(sparse(), keys);
    ASSERT_EQ(result.traces.size(), 2U);
    EXPECT_EQ(result.traces[0].channel, 3);
    EXPECT_EQ(result.traces[0].first_tick, 101);
    EXPECT_EQ(result.traces[0].samples, (Samples{1, 2}));
    EXPECT_EQ(result.traces[1].first_tick, 102);
    EXPECT_EQ(result.traces[1].samples, (Samples{-1, 5}));
    EXPECT_EQ(result.tags[0].summary, (std::vector<double>{0.5, 0.25}));
}

TEST_F(WirecellResultTraces, NegativeChargeIsRemovedOnRequest) {
    SigProcKeys keys;
    keys.tags = {{"signal", "gauss"}};
    keys.save_negative_charge = false;
    EXPECT_EQ(result_traces(dense(), keys).traces[1].samples, (Samples{0, 0, 0, 5}));
}

TEST_F(WirecellResultTraces, RunsEndWhereNegativeChargeWasRemoved) {
    SigProcKeys keys;
    keys.tags = {{"signal", "gauss"}};
    keys.save_negative_charge = false;
    const ResultTraces result = result_traces(sparse(), keys);
    ASSERT_EQ(result.traces.size(), 2U);
    EXPECT_EQ(result.traces[1].channel, 8);
    EXPECT_EQ(result.traces[1].first_tick, 103);
    EXPECT_EQ(result.traces[1].samples, Samples{5});
    EXPECT_EQ(result.tags[0].summary, (std::vector<double>{0.5, 0.25}));
}

TEST_F(WirecellResultTraces, AScaledProductHasTracesOfItsOwn) {
    SigProcKeys keys;
    keys.tags = {{"roi", "mp3", 4000}, {"roi", "roi"}, {"roi", "mp2", 4000}};
    const ResultTraces result = result_traces(dense(), keys);
    ASSERT_EQ(result.traces.size(), 4U);
    EXPECT_EQ(result.traces[1].samples, (Samples{0, 0, 4000, 4000}));
    EXPECT_EQ(result.traces[3].samples, (Samples{0, 0, 1, 1}));
    EXPECT_EQ(result.tags[2].traces, (std::vector<std::size_t>{0, 1}));
}

TEST_F(WirecellResultTraces, AMissingProductIsAnError) {
    SigProcKeys keys;
    keys.tags = {{"wiener", "wiener"}};
    EXPECT_THROW(result_traces(dense(), keys), Error);
}

TEST(WirecellVersion, MajorAndMinorMustBeEqual) {
    EXPECT_NO_THROW(require_wirecell("0.35.0-1069-g2ddac97f", "0.35.2"));
    EXPECT_NO_THROW(require_wirecell("0.35.0", ""));
    EXPECT_NO_THROW(require_wirecell("2ddac97f", "2ddac97f"));
    for (const char* other : {"0.34.3", "1.35.0", "0.3", "2ddac97f"}) {
        try {
            require_wirecell("0.35.0", other);
            ADD_FAILURE() << other;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::Configuration);
            EXPECT_EQ(error.text().seen, std::string("a program of version ") + other);
            EXPECT_EQ(error.text().expected, "version 0.35 (0.35.0)");
        }
    }
}

} // namespace
} // namespace spng::wirecell
