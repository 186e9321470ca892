// SPDX-License-Identifier: Apache-2.0
// Traces of a frame become one block of samples.
#include "adapters/wirecell/dense_frame.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace spng::wirecell {
namespace {

using Samples = std::vector<float>;

TraceView view(int channel, int first_tick, const Samples& samples) {
    return {channel, first_tick, samples.data(), samples.size()};
}

template <class T>
std::vector<T> values(const InputFrame& frame) {
    const auto* first = static_cast<const T*>(frame.samples);
    return {first, first + frame.channels * frame.ticks};
}

ErrorText error_of(const std::vector<TraceView>& traces) {
    try {
        dense_frame(traces);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Input);
        EXPECT_EQ(error.text().where, "input frame");
        return error.text();
    }
    ADD_FAILURE() << "no error";
    return {};
}

TEST(WirecellDenseFrame, IntegersAreInt16InTheOrderOfTheTraces) {
    const Samples a{1, 2, 3}, b{-32768, 32767, 0};
    const InputFrame frame = dense_frame({view(7, 0, a), view(3, 0, b)});
    EXPECT_EQ(frame.type, SampleType::int16);
    EXPECT_EQ(frame.channels, 2);
    EXPECT_EQ(frame.ticks, 3);
    EXPECT_EQ(frame.first_tick, 0);
    EXPECT_EQ(frame.channel_ids, (std::vector<int>{7, 3}));
    EXPECT_EQ(values<std::int16_t>(frame), (std::vector<std::int16_t>{1, 2, 3, -32768, 32767, 0}));
    EXPECT_TRUE(frame.masks.empty());
    EXPECT_NE(frame.owner, nullptr);
}

TEST(WirecellDenseFrame, OtherValuesStayFloat) {
    const Samples fraction{1, 2.5F}, large{1, 32768}, infinite{1, std::numeric_limits<float>::infinity()};
    for (const Samples& samples : {fraction, large, infinite}) {
        const InputFrame frame = dense_frame({view(0, 0, samples)});
        EXPECT_EQ(frame.type, SampleType::float32);
        EXPECT_EQ(values<float>(frame), samples);
    }
    const Samples nan{1, std::nanf("")};
    const InputFrame frame = dense_frame({view(0, 0, nan)});
    EXPECT_EQ(frame.type, SampleType::float32);
    EXPECT_TRUE(std::isnan(values<float>(frame)[1]));
}

TEST(WirecellDenseFrame, OffsetsAndSegmentsAreJoinedAndGapsMarked) {
    const Samples a{1, 2}, b{5}, c{3, 4, 5, 6};
    // Channel 4 has ticks 10, 11 and 13; channel 9 has 11 to 14. The later segment comes first.
    const InputFrame frame = dense_frame({view(4, 13, b), view(9, 11, c), view(4, 10, a)});
    EXPECT_EQ(frame.first_tick, 10);
    EXPECT_EQ(frame.ticks, 5);
    EXPECT_EQ(frame.channel_ids, (std::vector<int>{4, 9}));
    EXPECT_EQ(values<std::int16_t>(frame), (std::vector<std::int16_t>{1, 2, 0, 5, 0, 0, 3, 4, 5, 6}));
    EXPECT_EQ(frame.masks.at("bad"), (std::vector<ChannelRange>{{4, 12, 13}, {4, 14, 15}, {9, 10, 11}}));
}

TEST(WirecellDenseFrame, NegativeTicksAreTicks) {
    const Samples a{1, 2}, b{3, 4};
    const InputFrame frame = dense_frame({view(0, -3, a), view(1, -3, b)});
    EXPECT_EQ(frame.first_tick, -3);
    EXPECT_EQ(frame.ticks, 2);
}

TEST(WirecellDenseFrame, RejectsFramesThatAreNone) {
    const Samples a{1, 2, 3}, none;
    EXPECT_EQ(error_of({}).what, "the frame has no channels");
    EXPECT_EQ(error_of({view(5, 0, none)}).seen, "channel 5");
    const ErrorText twice = error_of({view(5, 0, a), view(5, 2, a)});
    EXPECT_EQ(twice.what, "a channel is repeated");
    EXPECT_EQ(twice.seen, "channel 5 twice, ticks 0 to 3 and 2 to 5");
    const ErrorText far =
        error_of({view(0, std::numeric_limits<int>::min(), a), view(1, std::numeric_limits<int>::max(), a)});
    EXPECT_EQ(far.what, "the shape of the samples is impossible");
}

} // namespace
} // namespace spng::wirecell
