// SPDX-License-Identifier: Apache-2.0
// The products of the phlex module and its processor, without phlex.
#include "adapters/phlex/spng_phlex/frame_processor.h"
#include "spng/io/frame_reader.h"
#include "tests/support/paths.h"

#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <vector>

namespace spng {
namespace {

/// Return the error of a call.
template <class Call>
Error error_of(Call call) {
    try {
        call();
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "no error";
    return {ErrorKind::Internal, {.what = "no error"}};
}

TEST(RawFrameTest, TakesOverSamples) {
    RawFrame frame(std::vector<float>{1, 2, 3, 4, 5, 6}, 2);
    EXPECT_EQ(frame.type, SampleType::float32);
    EXPECT_EQ(frame.channels, 2);
    EXPECT_EQ(frame.ticks, 3);
    const RawFrame copy = frame;
    frame = RawFrame();
    EXPECT_EQ(static_cast<const float*>(copy.samples)[5], 6);
    EXPECT_EQ(copy.owner.use_count(), 1);
}

TEST(RawFrameTest, KnowsTheTypesOfSamples) {
    EXPECT_EQ(RawFrame(std::vector<std::int16_t>(4), 2).type, SampleType::int16);
    EXPECT_EQ(RawFrame(std::vector<std::uint16_t>(4), 2).type, SampleType::uint16);
    EXPECT_EQ(RawFrame(std::vector<std::int32_t>(4), 2).type, SampleType::int32);
    EXPECT_EQ(RawFrame(std::vector<std::int64_t>(4), 2).type, SampleType::int64);
    EXPECT_EQ(RawFrame(std::vector<double>(4), 2).type, SampleType::float64);
}

TEST(RawFrameTest, RejectsSamplesThatDoNotFillTheRows) {
    for (const std::int64_t rows : {0, -1, 4}) {
        const Error error = error_of([&] { RawFrame(std::vector<float>(6), rows); });
        EXPECT_EQ(error.kind(), ErrorKind::Input);
        EXPECT_EQ(error.text().seen, "6 samples, " + std::to_string(rows) + " rows");
    }
    EXPECT_THROW(RawFrame(std::vector<float>(), 1), Error);
}

TEST(RawFrameTest, RejectsSamplesWithoutOwner) {
    const std::vector<std::int16_t> adc(6);
    InputFrame frame;
    frame.samples = adc.data();
    EXPECT_EQ(error_of([&] { RawFrame{frame}; }).text().what, "the samples of the frame have no owner");
    frame.owner = std::make_shared<int>(0);
    EXPECT_EQ(RawFrame(frame).samples, adc.data());
}

TEST(SignalFrameTest, FindsTracesByTag) {
    OutputFrame result;
    result.traces.resize(2);
    result.traces[1].tag = "wiener";
    const SignalFrame frame(result);
    EXPECT_EQ(&frame.tagged("wiener"), &frame.traces[1]);
    EXPECT_EQ(error_of([&] { frame.tagged("roi"); }).text().seen, "roi");
    EXPECT_TRUE(frame.error.empty());
}

/// Processors on the default event, without the network.
class FrameProcessorTest : public ::testing::Test {
protected:
    static PipelineOptions options() {
        PipelineOptions options;
        options.model = "none";
        options.device = "cpu";
        return options;
    }

    static RawFrame event() {
        FrameReader reader(test::repo_root() / "data" / "tracks10-adc.tar.bz2");
        const TaggedTraces adc = reader.next()->traces.front();
        const auto* first = adc.samples.const_data_ptr<std::int16_t>();
        RawFrame frame(std::vector<std::int16_t>(first, first + adc.samples.numel()), adc.samples.size(0));
        frame.channel_ids = adc.channels;
        frame.tick_ns = adc.tick_ns;
        frame.ident = 5;
        return frame;
    }

    static RawFrame foreign_channel() {
        RawFrame frame = event();
        frame.channel_ids[0] = 99999;
        return frame;
    }
};

TEST_F(FrameProcessorTest, GivesTheResultOfThePipeline) {
    const RawFrame frame = event();
    FrameProcessor processor(options());
    const SignalFrame result = processor.process(frame, "[event:0]");
    Pipeline pipeline(options());
    const OutputFrame expected = pipeline.process(frame);
    ASSERT_EQ(result.traces.size(), 1U);
    EXPECT_EQ(result.ident, 5);
    EXPECT_EQ(result.masks, expected.masks);
    EXPECT_EQ(
        std::memcmp(result.tagged("signal").samples, expected.traces[0].samples, 2560 * 6000 * sizeof(float)),
        0);
    EXPECT_EQ(processor.useful_calls(), 2U);
}

TEST_F(FrameProcessorTest, RejectsTheEngineThatWouldWaitForItsCallers) {
    PipelineOptions parallel = options();
    parallel.arguments["engine"] = "TbbFlow";
    const Error error = error_of([&] { FrameProcessor{parallel}; });
    EXPECT_EQ(error.kind(), ErrorKind::Configuration);
    EXPECT_EQ(error.text().seen, "engine=TbbFlow");
}

TEST_F(FrameProcessorTest, NamesThePositionOfARejectedFrame) {
    FrameProcessor processor(options());
    const Error error = error_of([&] { processor.process(foreign_channel(), "[event:3]"); });
    EXPECT_EQ(error.text().what, "channels that do not belong to the anode");
    EXPECT_EQ(error.text().where.find("[event:3], "), 0U);
    EXPECT_EQ(processor.process(event(), "[event:4]").traces.size(), 1U);
}

TEST_F(FrameProcessorTest, KeepsARejectedFrameAsProduct) {
    FrameProcessor processor(options(), Rejected::keep);
    const SignalFrame rejected = processor.process(foreign_channel(), "[event:3]");
    EXPECT_EQ(rejected.ident, 5);
    EXPECT_TRUE(rejected.traces.empty());
    EXPECT_NE(rejected.error.find("channels that do not belong to the anode"), std::string::npos);
    EXPECT_THROW(rejected.tagged("signal"), Error);
    EXPECT_TRUE(processor.process(event(), "[event:4]").error.empty());
}

} // namespace
} // namespace spng
