// SPDX-License-Identifier: Apache-2.0
// The Pipeline object: frames in memory, from several threads, with errors in between.
#include "WireCellSpng/Pipeline.h"
#include "spng/io/frame_reader.h"
#include "tests/support/paths.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace spng {
namespace {

/// One pipeline for all tests, without the network, whose time is not tested here.
class PipelineTest : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        PipelineOptions options;
        options.model = "none";
        options.device = "cpu";
        s_pipeline = std::make_unique<Pipeline>(options);
        FrameReader reader(test::repo_root() / "data" / "tracks10-adc.tar.bz2");
        s_adc = reader.next()->traces.front();
    }
    static void TearDownTestSuite() { s_pipeline.reset(); }

    static InputFrame input(int ident = 0) {
        InputFrame frame;
        frame.samples = s_adc.samples.const_data_ptr();
        frame.channels = s_adc.samples.size(0);
        frame.ticks = s_adc.samples.size(1);
        frame.channel_ids = s_adc.channels;
        frame.tick_ns = s_adc.tick_ns;
        frame.start_ns = s_adc.start_ns;
        frame.ident = ident;
        return frame;
    }

    /// Return the error of a frame, and process a right one after it.
    static Error error_of(InputFrame frame) {
        std::optional<Error> seen;
        try {
            s_pipeline->process(std::move(frame));
        } catch (const Error& error) {
            seen = error;
        }
        EXPECT_EQ(s_pipeline->process(input(3)).ident, 3);
        EXPECT_TRUE(seen.has_value());
        return seen.value_or(Error(ErrorKind::Internal, {.what = "no error"}));
    }

    static std::unique_ptr<Pipeline> s_pipeline;
    static TaggedTraces s_adc;
};

std::unique_ptr<Pipeline> PipelineTest::s_pipeline;
TaggedTraces PipelineTest::s_adc;

std::vector<float> samples_of(const OutputTraces& traces) {
    const auto* first = static_cast<const float*>(traces.samples);
    return {first, first + traces.channels * traces.ticks};
}

double sum(const std::vector<float>& samples) {
    double total = 0;
    for (const float sample : samples) {
        total += sample;
    }
    return total;
}

TEST_F(PipelineTest, DescribesItsFrames) {
    EXPECT_EQ(s_pipeline->devices(), std::vector<std::string>{"cpu"});
    EXPECT_EQ(s_pipeline->tick_ns(), 500);
    const auto& planes = s_pipeline->planes();
    ASSERT_EQ(planes.size(), 3U);
    const std::size_t sizes[] = {800, 800, 960};
    for (std::size_t plane = 0; plane < 3; ++plane) {
        EXPECT_EQ(planes[plane].plane, static_cast<int>(plane));
        EXPECT_EQ(planes[plane].anode, 0);
        EXPECT_EQ(planes[plane].channel_ids.size(), sizes[plane]);
    }
    EXPECT_EQ(planes[0].channel_ids.front(), 0);
    EXPECT_EQ(planes[2].channel_ids.back(), 2559);
}

TEST_F(PipelineTest, ReturnsChargeAndPrintsNothing) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const OutputFrame result = s_pipeline->process(input(7));
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(result.ident, 7);
    ASSERT_EQ(result.traces.size(), 1U);
    const OutputTraces& signal = result.traces.front();
    EXPECT_EQ(signal.tag, "signal");
    EXPECT_EQ(signal.type, SampleType::float32);
    EXPECT_EQ(signal.channels, 2560);
    EXPECT_EQ(signal.ticks, 6000);
    EXPECT_EQ(signal.cuda_device, -1);
    EXPECT_FALSE(signal.is_sparse);
    // The true charge of the event is 61.4 million electrons on three planes (data/README.md).
    EXPECT_GT(sum(samples_of(signal)), 5e7);
    EXPECT_GE(result.waited_seconds, 0);
    EXPECT_GT(result.run_seconds, 0);
}

TEST_F(PipelineTest, GivesEachThreadItsOwnResult) {
    const std::vector<float> alone = samples_of(s_pipeline->process(input()).traces.front());
    std::vector<std::thread> threads;
    std::vector<int> right(3, 0);
    for (int thread = 0; thread < 3; ++thread) {
        threads.emplace_back([&, thread] {
            for (int event = 0; event < 2; ++event) {
                const int ident = 10 * thread + event;
                const OutputFrame result = s_pipeline->process(input(ident));
                right[static_cast<std::size_t>(thread)] +=
                    result.ident == ident && samples_of(result.traces.front()) == alone;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(right, (std::vector<int>{2, 2, 2}));
}

TEST_F(PipelineTest, QueuedFramesGiveResultsInOrder) {
    std::vector<std::future<OutputFrame>> results;
    for (int event = 0; event < 3; ++event) {
        results.push_back(s_pipeline->submit(input(event)));
    }
    for (int event = 0; event < 3; ++event) {
        EXPECT_EQ(results[static_cast<std::size_t>(event)].get().ident, event);
    }
}

TEST_F(PipelineTest, ConvertsOtherTypesWithoutLoss) {
    const std::vector<float> expected = samples_of(s_pipeline->process(input()).traces.front());
    const at::Tensor wide = s_adc.samples.to(at::kInt), real = s_adc.samples.to(at::kDouble);
    InputFrame frame = input();
    frame.samples = wide.const_data_ptr();
    frame.type = SampleType::int32;
    EXPECT_EQ(samples_of(s_pipeline->process(frame).traces.front()), expected);
    frame.samples = real.const_data_ptr();
    frame.type = SampleType::float64;
    EXPECT_EQ(samples_of(s_pipeline->process(frame).traces.front()), expected);
}

TEST_F(PipelineTest, MarksUnusableChannels) {
    at::Tensor samples = s_adc.samples.to(at::kFloat).contiguous().clone();
    samples.mutable_data_ptr<float>()[5 * 6000 + 17] = std::numeric_limits<float>::quiet_NaN();
    InputFrame frame = input();
    frame.samples = samples.const_data_ptr();
    frame.type = SampleType::float32;
    frame.channels = 2559; // the last one is absent
    frame.channel_ids.pop_back();
    frame.masks["bad"] = {{8, 0, 6000}};
    const OutputFrame result = s_pipeline->process(frame);
    EXPECT_EQ(result.masks.at("nan").front().channel, 5);
    EXPECT_EQ(result.masks.at("missing").front().channel, 2559);
    EXPECT_EQ(result.masks.at("bad"), (std::vector<ChannelRange>{{8, 0, 6000}}));
    const std::vector<float> charge = samples_of(result.traces.front());
    EXPECT_EQ(sum({charge.begin() + 5 * 6000, charge.begin() + 6 * 6000}), 0);
    EXPECT_EQ(sum({charge.begin() + 8 * 6000, charge.begin() + 9 * 6000}), 0);
}

TEST_F(PipelineTest, RejectsFramesThatCannotBeRight) {
    InputFrame frame = input();
    frame.samples = nullptr;
    EXPECT_EQ(error_of(frame).text().what, "the frame has no samples");
    frame = input();
    frame.channel_ids.clear();
    frame.channels = 2559;
    EXPECT_EQ(error_of(frame).text().expected, "2560 channels");
    frame = input();
    frame.channel_ids[1] = frame.channel_ids[0];
    EXPECT_EQ(error_of(frame).text().seen, "channel 0 twice");
    frame = input();
    frame.channels = 800;
    EXPECT_EQ(error_of(frame).text().what, "channel ids and samples do not fit together");
    frame = input();
    frame.ticks = 0;
    EXPECT_EQ(error_of(frame).text().seen, "(2560, 0)");
    frame = input();
    frame.tick_ns = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(error_of(frame).text().what, "the times of the frame are impossible");
    frame = input();
    frame.masks["bad"] = {{3, 10, 5}};
    EXPECT_EQ(error_of(frame).text().what, "a channel mask ends before it begins");
    frame = input();
    frame.masks["saturated"] = {{3, std::numeric_limits<std::int64_t>::min(), 5}};
    EXPECT_EQ(error_of(frame).text().what, "a channel mask has impossible ticks");
    frame = input();
    frame.cuda_device = 99;
    EXPECT_EQ(error_of(frame).text().seen, "cuda:99");
}

TEST_F(PipelineTest, ReportsErrorsOfTheChainAsFromFiles) {
    InputFrame frame = input();
    frame.tick_ns = 512;
    const Error period = error_of(frame);
    EXPECT_EQ(period.kind(), ErrorKind::Input);
    EXPECT_EQ(period.text().what, "the sampling period of the frame is not that of the detector");
    EXPECT_EQ(period.text().seen, "512 ns");
    frame.tick_ns = 0.5;
    const Error microseconds = error_of(frame);
    EXPECT_EQ(microseconds.text().seen, "0.5 ns, as if it were in microseconds");
    EXPECT_EQ(microseconds.text().expected, "500 ns");
    EXPECT_EQ(microseconds.text().hint, "give the times of the frame in nanoseconds");
    frame = input();
    frame.channel_ids[0] = 99999;
    const Error channels = error_of(frame);
    EXPECT_EQ(channels.text().what, "channels that do not belong to the anode");
    EXPECT_NE(channels.text().where.find("SPNGFrameToTorchSetFanout"), std::string::npos);
}

TEST_F(PipelineTest, ReportsTimeOfNodes) {
    s_pipeline->process(input());
    EXPECT_NE(s_pipeline->timing_text().find("SPNGDecon:induction"), std::string::npos);
    EXPECT_NE(s_pipeline->timing_json().find("\"SPNGDecon\""), std::string::npos);
}

TEST(PipelineLife, FinishesQueuedFramesAndRejectsLaterOnes) {
    PipelineOptions options;
    options.model = "none";
    options.device = "cpu";
    options.sparse = true;
    Pipeline pipeline(options);
    const std::vector<std::int16_t> flat(std::size_t{2560} * 6000, 900);
    InputFrame frame;
    frame.samples = flat.data();
    frame.channels = 2560;
    frame.ticks = 6000;
    auto pending = pipeline.submit(frame);
    EXPECT_FALSE(pipeline.is_closed());
    pipeline.close();
    EXPECT_TRUE(pipeline.is_closed());
    const OutputFrame result = pending.get();
    EXPECT_TRUE(result.traces.front().is_sparse);
    EXPECT_EQ(result.traces.front().run_count, 0);
    EXPECT_EQ(result.traces.front().channels, 2560);
    EXPECT_NE(pipeline.timing_text().find("SPNGDecon:induction"), std::string::npos);
    try {
        pipeline.process(frame);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Usage);
        EXPECT_EQ(error.text().what, "the pipeline is closed");
    }
}

TEST(PipelineLife, ReportsErrorsOfTheConfiguration) {
    PipelineOptions options;
    options.detector = "pdhf";
    EXPECT_THROW(Pipeline{options}, Error);
    options = {};
    options.model = "nofile.ts";
    EXPECT_THROW(Pipeline{options}, Error);
    options = {};
    options.arguments["tpcid"] = "1";
    EXPECT_THROW(Pipeline{options}, Error);
    options = {};
    options.configuration = "cfg/simulate.jsonnet";
    try {
        Pipeline pipeline(options);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.text().what, "the configuration does not take events from memory");
    }
}

/// The child ends with status 0 if the pipeline of its parent throws, and ends, without waiting for threads that it lacks.
TEST_F(PipelineTest, ThrowsInAChildOfFork) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        int errors = 0;
        const std::vector<std::function<void()>> calls{[] { s_pipeline->process(input()); },
                                                       [] { s_pipeline->close(); },
                                                       [] { static_cast<void>(s_pipeline->is_closed()); },
                                                       [] { static_cast<void>(s_pipeline->timing_json()); }};
        for (const auto& call : calls) {
            try {
                call();
            } catch (const Error& error) {
                errors += error.kind() == ErrorKind::Usage ? 1 : 0;
            }
        }
        s_pipeline.reset();
        _exit(errors == static_cast<int>(calls.size()) ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(s_pipeline->process(input(4)).ident, 4);
}

TEST(PipelineLog, GoesToTheHandlerOnly) {
    std::vector<std::string> levels;
    PipelineOptions options;
    options.model = "none";
    options.device = "cpu";
    Pipeline* called = nullptr;
    std::string error_in_handler;
    set_log_handler(
        [&](const std::string& level, const std::string&, const std::string&) {
            levels.push_back(level);
            try {
                if (called != nullptr) {
                    called->close(); // would wait for the thread that waits for this handler
                }
            } catch (const Error& error) {
                error_in_handler = error.text().what;
            }
        },
        "debug");
    Pipeline pipeline(options);
    called = &pipeline;
    std::vector<std::int16_t> flat(std::size_t{2560} * 6000, 900);
    InputFrame frame;
    frame.samples = flat.data();
    frame.channels = 2560;
    frame.ticks = 6000;
    pipeline.process(frame); // all channels are dead
    set_log_handler({});
    EXPECT_EQ(error_in_handler, "a callback waits for the pipeline");
    for (const char* level : {"debug", "info", "warn"}) {
        EXPECT_NE(std::find(levels.begin(), levels.end(), level), levels.end()) << level;
    }
    EXPECT_THROW(set_log_handler([](const auto&, const auto&, const auto&) {}, "loud"), Error);
}

} // namespace
} // namespace spng
