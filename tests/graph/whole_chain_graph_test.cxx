// SPDX-License-Identifier: Apache-2.0
// The whole chain as one graph, on a stand-in for a device's graphs: the same files as node by node, for
// events of other lengths, times and bad channels by turns.

#include "spng/io/frame_reader.h"
#include "spng/io/frame_writer.h"
#include "spng/job/job.h"
#include "spng/job/jsonnet/jsonnet.h"
#include "tests/graph/standin_graph.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace spng {
namespace {

namespace fs = std::filesystem;
using Kind = JsonnetBinding::Kind;

const fs::path root = test::repo_root();

class WholeChain : public testing::TestWithParam<const char*> {
protected:
    static void SetUpTestSuite() {
        folder() = fs::temp_directory_path() / ("spng-whole-chain-" + std::to_string(getpid()));
        fs::create_directories(folder());
        Frame whole = *FrameReader(root / "data/tracks10-adc.tar.bz2").next();
        FrameWriter writer(folder() / "adc.tar", 0);
        const at::Tensor samples = whole.traces.front().samples;
        for (int event = 0; event < 6; ++event) {
            const std::int64_t ticks = event == 2 ? 360 : 400;
            Frame piece = whole;
            piece.ident = 10 + event;
            piece.traces.front().samples = samples.narrow(1, 900 + 50 * event, ticks).contiguous();
            piece.traces.front().start_ns = 1000.0 * event + 500;
            const int dead = whole.traces.front().channels.at(100 * event + 7);
            piece.channel_masks["bad"] = {{dead, 0, ticks}, {dead + 3, 10 + event, 20}};
            writer.write(piece);
        }
        writer.close();
    }
    static void TearDownTestSuite() { fs::remove_all(folder()); }
    static fs::path& folder() {
        static fs::path the_folder;
        return the_folder;
    }

    /// Events of the output file.
    static std::vector<Frame> run(const std::string& model, const std::string& graph,
                                  const RunOptions& options = {}, const std::string& window = "-1") {
        const fs::path output = folder() / (graph + ".tar");
        const auto components =
            evaluate_jsonnet(root / "cfg/pipeline.jsonnet",
                             {{Kind::argument_text, "input", (folder() / "adc.tar").string()},
                              {Kind::argument_text, "output", output.string()},
                              {Kind::argument_text, "device", "cpu"},
                              {Kind::argument_text, "threads", "1"},
                              {Kind::argument_text, "tags", "signal,error,wiener,roi"},
                              {Kind::argument_text, "model", model},
                              {Kind::argument_text, "engine", GetParam()},
                              {Kind::argument_text, "window", window},
                              {Kind::argument_text, "cuda_graph", graph}},
                             {root / "cfg", root / "cfg/lib"});
        Job job(components, "pipeline.jsonnet");
        job.prepare(options);
        const std::uint64_t events_done = job.run(options).events_done;
        std::vector<Frame> frames;
        FrameReader reader(output);
        while (auto frame = reader.next()) {
            frames.push_back(std::move(*frame));
        }
        EXPECT_EQ(events_done, frames.size());
        EXPECT_GE(frames.size(), 6u);
        return frames;
    }

    static void expect_the_same(const std::vector<Frame>& seen, const std::vector<Frame>& expected) {
        ASSERT_EQ(seen.size(), expected.size());
        for (std::size_t i = 0; i < seen.size(); ++i) {
            SCOPED_TRACE("event " + std::to_string(i));
            EXPECT_EQ(seen[i].ident, expected[i].ident);
            EXPECT_EQ(seen[i].channel_masks, expected[i].channel_masks);
            EXPECT_EQ(seen[i].notes, expected[i].notes);
            ASSERT_EQ(seen[i].traces.size(), expected[i].traces.size());
            for (std::size_t j = 0; j < seen[i].traces.size(); ++j) {
                const auto& a = seen[i].traces[j];
                const auto& b = expected[i].traces[j];
                EXPECT_EQ(a.tag, b.tag);
                EXPECT_EQ(a.start_ns, b.start_ns);
                EXPECT_TRUE(a.samples.equal(b.samples)) << a.tag;
                EXPECT_GT(b.samples.count_nonzero().item<std::int64_t>(), 1000);
                EXPECT_EQ(a.summary.has_value(), b.summary.has_value());
                EXPECT_TRUE(!a.summary || a.summary->equal(*b.summary));
            }
        }
    }
    const test::WithStandInGraphs m_graphs;
};
INSTANTIATE_TEST_SUITE_P(Both, WholeChain, testing::Values("Pgrapher", "TbbFlow"));

TEST_P(WholeChain, GivesTheSameFiles) {
    const auto expected = run("standin", "off");
    EXPECT_EQ(test::StandInGraph::captures(), 0);
    expect_the_same(run("standin", "on"), expected);
    // All but the first of each length, or two that were first side by side.
    EXPECT_GE(test::StandInGraph::replays(), 3);
}

TEST_P(WholeChain, GivesTheSameWindows) {
    const auto expected = run("none", "off", {}, "160,40,40");
    EXPECT_EQ(expected.size(), 12u) << "two readout windows of each readout";
    expect_the_same(run("none", "on", {}, "160,40,40"), expected);
    EXPECT_GE(test::StandInGraph::replays(), 6);
}

TEST_P(WholeChain, SynchronisedTimingGoesNodeByNode) {
    if (std::string(GetParam()) == "TbbFlow") {
        GTEST_SKIP() << "decided before an engine runs";
    }
    RunOptions options;
    options.meter_mode.synchronise = true;
    run("none", "on", options);
    EXPECT_EQ(test::StandInGraph::captures(), 0);
}

} // namespace
} // namespace spng
