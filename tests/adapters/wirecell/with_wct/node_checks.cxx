// SPDX-License-Identifier: Apache-2.0
// SPNGSigProc in a program that embeds the Wire-Cell Toolkit (WCT): frames in memory, errors in between. Built with
// --with-wirecell=DIR only; test_plugin.py runs it.
#include "WireCellSpng/Pipeline.h"

#include "WireCellIface/IAnodePlane.h"
#include "WireCellIface/IConfigurable.h"
#include "WireCellIface/IFrameFilter.h"
#include "WireCellIface/INamed.h"
#include "WireCellIface/ITerminal.h"
#include "WireCellUtil/Exceptions.h"
#include "WireCellUtil/NamedFactory.h"
#include "WireCellUtil/PluginManager.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <sstream>

namespace {

using namespace WireCell;

constexpr int channel_count = 2560, tick_count = 6000;

class TestTrace : public ITrace {
public:
    TestTrace(int channel, int tbin, ChargeSequence charge)
        : m_channel(channel), m_tbin(tbin), m_charge(std::move(charge)) {}
    int channel() const override { return m_channel; }
    int tbin() const override { return m_tbin; }
    const ChargeSequence& charge() const override { return m_charge; }

private:
    int m_channel, m_tbin;
    ChargeSequence m_charge;
};

struct TestFrame : IFrame {
    std::shared_ptr<ITrace::vector> all = std::make_shared<ITrace::vector>();
    tag_list_t tags;
    std::map<tag_t, trace_list_t> tagged;
    Waveform::ChannelMaskMap channel_masks;
    int id = 7;
    double start = 1000, period = 500;

    const tag_list_t& frame_tags() const override { return none; }
    const tag_list_t& trace_tags() const override { return tags; }
    const trace_list_t& tagged_traces(const tag_t& tag) const override { return tagged.at(tag); }
    const trace_summary_t& trace_summary(const tag_t&) const override { return no_summary; }
    ITrace::shared_vector traces() const override { return all; }
    Waveform::ChannelMaskMap masks() const override { return channel_masks; }
    int ident() const override { return id; }
    double time() const override { return start; }
    double tick() const override { return period; }

private:
    const tag_list_t none;
    const trace_summary_t no_summary;
};

/// Noise on a baseline, and a pulse every 40 channels. The same values each time.
std::vector<std::int16_t> make_samples() {
    std::vector<std::int16_t> samples;
    samples.reserve(std::size_t{channel_count} * tick_count);
    std::uint32_t state = 1;
    for (int channel = 0; channel < channel_count; ++channel) {
        for (int tick = 0; tick < tick_count; ++tick) {
            state = state * 1664525U + 1013904223U;
            const int noise = static_cast<int>(state >> 28U) - 8;
            const double distance = (tick - 2000 - channel) / 6.0;
            const double pulse = channel % 40 == 0 ? 300 * std::exp(-0.5 * distance * distance) : 0;
            samples.push_back(static_cast<std::int16_t>(2000 + noise + static_cast<int>(pulse)));
        }
    }
    return samples;
}

const std::vector<std::int16_t>& samples() {
    static const std::vector<std::int16_t> made = make_samples();
    return made;
}

std::shared_ptr<TestFrame> make_frame(int first_channel = 0, int tbin = 0) {
    auto frame = std::make_shared<TestFrame>();
    for (int channel = 0; channel < channel_count; ++channel) {
        const auto* row = samples().data() + std::size_t{tick_count} * static_cast<std::size_t>(channel);
        frame->all->push_back(std::make_shared<TestTrace>(first_channel + channel, tbin,
                                                          ITrace::ChargeSequence(row, row + tick_count)));
    }
    return frame;
}

ITrace::ChargeSequence charge_of(const IFrame& frame, const std::string& tag) {
    ITrace::ChargeSequence all;
    for (const std::size_t index : frame.tagged_traces(tag)) {
        const auto& charge = frame.traces()->at(index)->charge();
        all.insert(all.end(), charge.begin(), charge.end());
    }
    return all;
}

Configuration json(const std::string& text) {
    Configuration value;
    std::istringstream(text) >> value;
    return value;
}

constexpr const char* keys = R"({"model": "none", "device": "cpu", "arguments": {"threads": 2}})";

struct Node {
    std::shared_ptr<IFrameFilter> filter;
    std::shared_ptr<IConfigurable> configurable;
    std::shared_ptr<ITerminal> terminal;
};

Node make_node(const std::string& name) {
    PluginManager::instance().add("WireCellSpngPlugin");
    Node node{Factory::lookup<IFrameFilter>("SPNGSigProc", name),
              Factory::lookup<IConfigurable>("SPNGSigProc", name),
              Factory::lookup<ITerminal>("SPNGSigProc", name)};
    Factory::lookup<INamed>("SPNGSigProc", name)->set_name(name);
    return node;
}

/// Configure as WCT does: the defaults, updated.
void configure(const Node& node, const std::string& text) {
    Configuration all = node.configurable->default_configuration();
    Configuration given = json(text);
    update(all, given);
    node.configurable->configure(all);
}

/// Return the block of the exception that the work throws.
template <class Expected, class Work>
std::string block_of(Work work) {
    try {
        work();
    } catch (const Expected& error) {
        const auto* message = boost::get_error_info<errmsg>(error);
        EXPECT_NE(message, nullptr);
        return message == nullptr ? "" : *message;
    }
    ADD_FAILURE() << "no exception";
    return "";
}

class SigProcNode : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        s_node = make_node("sp");
        configure(s_node, keys);
        s_expected = charge_of(*process(make_frame()), "gauss");
    }
    static void TearDownTestSuite() {
        s_node.terminal->finalize();
        s_node = {};
    }

    static IFrame::pointer process(const IFrame::pointer& in, const Node& node = s_node) {
        IFrame::pointer out;
        EXPECT_TRUE((*node.filter)(in, out));
        return out;
    }

    /// Return the block of a frame that the node rejects, and process a right one after it.
    static std::string block(const IFrame::pointer& in) {
        const std::string text = block_of<ValueError>([&] { process(in); });
        EXPECT_EQ(text.rfind("error: ", 0), 0U) << text;
        EXPECT_NE(text.find("\n  where:    SPNGSigProc:sp"), std::string::npos) << text;
        EXPECT_EQ(charge_of(*process(make_frame()), "gauss"), s_expected);
        return text;
    }

    static Node s_node;
    static ITrace::ChargeSequence s_expected;
};

Node SigProcNode::s_node;
ITrace::ChargeSequence SigProcNode::s_expected;

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST_F(SigProcNode, GivesTheBytesOfThePipeline) {
    auto in = make_frame();
    in->channel_masks["bad"][5] = {{0, tick_count}};
    const auto out = process(in);
    EXPECT_EQ(out->ident(), 7);
    EXPECT_EQ(out->time(), 1000);
    EXPECT_EQ(out->tick(), 500);
    EXPECT_EQ(out->frame_tags(), IFrame::tag_list_t{"sigproc"});
    EXPECT_EQ(out->trace_tags(), (IFrame::tag_list_t{"gauss", "wiener"}));
    EXPECT_EQ(out->masks().at("bad").at(5), (Waveform::BinRangeList{{0, tick_count}}));
    EXPECT_EQ(out->tagged_traces("gauss").size(), std::size_t{channel_count});
    EXPECT_EQ(out->trace_summary("wiener").size(), std::size_t{channel_count});
    EXPECT_TRUE(out->trace_summary("gauss").empty());
    EXPECT_TRUE(out->tagged_traces("other").empty());

    spng::PipelineOptions options;
    options.model = "none";
    options.device = "cpu";
    options.tags = {"signal", "wiener"};
    options.arguments = {{"threads", "2"}};
    spng::Pipeline pipeline(options);
    spng::InputFrame frame;
    frame.samples = samples().data();
    frame.channels = channel_count;
    frame.ticks = tick_count;
    frame.masks["bad"] = {{5, 0, tick_count}};
    const spng::OutputFrame expected = pipeline.process(frame);
    double total = 0;
    for (const auto& [tag, traces] :
         {std::pair{"gauss", expected.traces[0]}, {"wiener", expected.traces[1]}}) {
        const auto* values = static_cast<const float*>(traces.samples);
        const ITrace::ChargeSequence seen = charge_of(*out, tag);
        EXPECT_TRUE(std::equal(seen.begin(), seen.end(), values, values + traces.channels * traces.ticks))
            << tag;
        total += std::accumulate(seen.begin(), seen.end(), 0.0);
    }
    EXPECT_GT(total, 0);
    EXPECT_EQ(out->trace_summary("wiener"), expected.traces[1].summary);
}

TEST_F(SigProcNode, PassesTheEndOfTheStreamAndEmptyFrames) {
    EXPECT_EQ(process(nullptr), nullptr);
    auto empty = std::make_shared<TestFrame>();
    empty->channel_masks["bad"][5] = {{0, 1}};
    const auto out = process(empty);
    EXPECT_EQ(out->ident(), 7);
    EXPECT_TRUE(out->traces()->empty());
    EXPECT_EQ(out->masks().count("bad"), 1U);
}

TEST_F(SigProcNode, ChoosesTheTracesOfATag) {
    auto in = make_frame();
    IFrame::trace_list_t raw(channel_count);
    std::iota(raw.begin(), raw.end(), 0U);
    in->tags = {"raw"};
    in->tagged = {{"raw", raw}};
    EXPECT_EQ(charge_of(*process(in), "gauss"), s_expected);
    in->tags = {"raw", "orig"};
    in->tagged["orig"] = {0};
    const std::string several = block(in);
    EXPECT_TRUE(contains(several, "the frame has several tags")) << several;
    EXPECT_TRUE(contains(several, "seen:     'raw', 'orig'")) << several;

    const Node node = make_node("raw");
    configure(
        node,
        R"({"model": "none", "device": "cpu", "intag": "raw", "arguments": {"threads": 2}, "wiener_tag": ""})");
    EXPECT_EQ(charge_of(*process(in, node), "gauss"), s_expected);
    in->tagged["raw"] = {};
    EXPECT_TRUE(
        contains(block_of<ValueError>([&] { process(in, node); }), "the frame has no waveforms of that tag"));
    node.terminal->finalize();
    EXPECT_TRUE(contains(block_of<ValueError>([&] { process(in, node); }), "after finalize()"));
}

TEST_F(SigProcNode, KeepsTheOffsetOfTheSamples) {
    const auto out = process(make_frame(0, 100));
    EXPECT_EQ(out->traces()->front()->tbin(), 100);
    EXPECT_EQ(charge_of(*out, "gauss"), s_expected);
}

TEST_F(SigProcNode, CountsTheTicksOfMasksFromTheTimeOfTheFrame) {
    auto from_0 = make_frame(), from_100 = make_frame(0, 100);
    from_0->channel_masks["bad"][40] = {{1500, 2500}};
    from_100->channel_masks["bad"][40] = {{1600, 2600}};
    const auto expected = process(from_0), out = process(from_100);
    EXPECT_EQ(out->masks().at("bad").at(40), (Waveform::BinRangeList{{1600, 2600}}));
    EXPECT_EQ(charge_of(*out, "gauss"), charge_of(*expected, "gauss"));
    EXPECT_NE(charge_of(*out, "gauss"), s_expected);
}

TEST_F(SigProcNode, GivesTheTimesOfResampledWaveforms) {
    const Node node = make_node("resampled");
    configure(
        node,
        R"({"detname": "pdhd-data", "model": "none", "device": "cpu", "arguments": {"threads": 2, "check_input": false}})");
    auto in = make_frame(0, 100);
    in->period = 512;
    constexpr int largest = std::numeric_limits<int>::max();
    in->channel_masks["bad"][5] = {{100, 100 + tick_count}};
    in->channel_masks["bad"][6] = {{100, largest}};
    const auto out = process(in, node);
    EXPECT_EQ(out->tick(), 500);
    EXPECT_EQ(out->time(), 1000 + 100 * 512);
    EXPECT_EQ(out->traces()->front()->tbin(), 0);
    const auto ticks = static_cast<int>(out->traces()->front()->charge().size());
    EXPECT_EQ(ticks, 6144);
    EXPECT_EQ(out->masks().at("bad").at(5), (Waveform::BinRangeList{{0, ticks}}));
    EXPECT_EQ(out->masks().at("bad").at(6), (Waveform::BinRangeList{{0, largest}}));
    node.terminal->finalize();
}

TEST_F(SigProcNode, RejectsFramesAndLivesOn) {
    EXPECT_TRUE(contains(block(make_frame(2560)), "channels that do not belong to the anode"));

    auto twice = make_frame();
    twice->all->push_back(twice->all->front());
    EXPECT_TRUE(contains(block(twice), "a channel is repeated"));

    auto period = make_frame();
    period->period = 512;
    EXPECT_TRUE(contains(block(period), "the sampling period of the frame is not that of the detector"));
    period->period = 0;
    EXPECT_TRUE(contains(block(period), "the tick information is unusable"));
    period->period = 500;
    period->start = std::nan("");
    EXPECT_TRUE(contains(block(period), "the times of the frame are impossible"));

    auto none = make_frame();
    none->all->at(3) = std::make_shared<TestTrace>(3, 0, ITrace::ChargeSequence());
    EXPECT_TRUE(contains(block(none), "a trace has no samples"));

    auto reversed = make_frame();
    reversed->channel_masks["bad"][5] = {{10, 0}};
    EXPECT_TRUE(contains(block(reversed), "a channel mask ends before it begins"));
}

TEST_F(SigProcNode, ListsNanAndMissingChannels) {
    auto in = make_frame();
    ITrace::ChargeSequence broken = in->all->at(3)->charge();
    broken[17] = std::numeric_limits<float>::quiet_NaN();
    in->all->at(3) = std::make_shared<TestTrace>(3, 0, broken);
    in->all->pop_back();
    const auto out = process(in);
    EXPECT_EQ(out->masks().at("nan").count(3), 1U);
    EXPECT_EQ(out->masks().at("missing").count(channel_count - 1), 1U);
    EXPECT_EQ(out->tagged_traces("gauss").size(), std::size_t{channel_count});
    for (const float sample : out->traces()->at(3)->charge()) {
        EXPECT_EQ(sample, 0);
    }
}

TEST_F(SigProcNode, SparseTracesAreTheRuns) {
    const Node node = make_node("sparse");
    configure(node, R"({"model": "none", "device": "cpu", "sparse": true, "arguments": {"threads": 2}})");
    const auto out = process(make_frame(), node);
    ITrace::ChargeSequence dense(s_expected.size());
    for (const std::size_t index : out->tagged_traces("gauss")) {
        const ITrace& trace = *out->traces()->at(index);
        EXPECT_LT(trace.charge().size(), std::size_t{tick_count});
        const auto begin = std::ptrdiff_t{trace.channel()} * tick_count + trace.tbin();
        std::copy(trace.charge().begin(), trace.charge().end(), dense.begin() + begin);
    }
    EXPECT_EQ(dense, s_expected);
    EXPECT_EQ(out->trace_summary("wiener").size(), out->tagged_traces("wiener").size());
}

TEST_F(SigProcNode, RejectsKeysAndCanBeConfiguredAfterwards) {
    const Node node = make_node("keys");
    const auto block_of_keys = [&](const std::string& text) {
        return block_of<Exception>([&] { configure(node, text); });
    };
    EXPECT_TRUE(contains(block_of_keys(R"({"gaus_tag": "x"})"), "did you mean 'gauss_tag'?"));
    EXPECT_TRUE(contains(block_of_keys(R"({"ADC_mV": 1})"), "docs/wirecell-plugin.md"));
    EXPECT_TRUE(contains(block_of_keys(R"({"detname": "pdhdd"})"), "pdhdd"));
    EXPECT_TRUE(contains(block_of_keys(R"({"arguments": {"noise_filtr": "none"}})"), "noise_filter"));
    EXPECT_TRUE(contains(block_of_keys(R"({"device": "cuda:77"})"), "error: "));
    const std::string model = block_of_keys(R"({"model": "absent.ts"})");
    EXPECT_TRUE(contains(model, "absent.ts")) << model;
    EXPECT_TRUE(contains(model, "where:    SPNGSigProc:keys")) << model;
    EXPECT_TRUE(
        contains(block_of<ValueError>([&] { process(make_frame(), node); }), "the node has no pipeline"));
    configure(node, keys);
    EXPECT_EQ(charge_of(*process(make_frame(), node), "gauss"), s_expected);
}

/// The channels from `first` on.
struct TestAnode : IAnodePlane, IConfigurable {
    void configure(const Configuration& config) override {
        id = config["ident"].asInt();
        first = config["first"].asInt();
    }
    int ident() const override { return id; }
    int nfaces() const override { return 0; }
    IAnodeFace::pointer face(int) const override { return nullptr; }
    IAnodeFace::vector faces() const override { return {}; }
    WirePlaneId resolve(int) const override { return WirePlaneId(0); }
    std::vector<int> channels() const override {
        std::vector<int> ids(channel_count);
        std::iota(ids.rbegin(), ids.rend(), first);
        return ids;
    }
    IChannel::pointer channel(int) const override { return nullptr; }
    IWire::vector wires(int) const override { return {}; }
    int id = 0, first = 0;
};

TEST_F(SigProcNode, TakesTheAnodeOfTheJob) {
    auto* factory = new NamedFactory<TestAnode>;
    Factory::associate<IAnodePlane>("TestAnode", factory);
    Factory::associate<IConfigurable>("TestAnode", factory);
    Factory::lookup<IConfigurable>("TestAnode", "right")->configure(json(R"({"ident": 1, "first": 2560})"));
    Factory::lookup<IConfigurable>("TestAnode", "wrong")->configure(json(R"({"ident": 1, "first": 0})"));
    const Node node = make_node("anode");
    configure(
        node,
        R"({"anode": "TestAnode:right", "model": "none", "device": "cpu", "arguments": {"threads": 2}})");
    EXPECT_EQ(process(make_frame(2560), node)->traces()->front()->channel(), 2560);
    const std::string other = block_of<ValueError>(
        [&] { configure(node, R"({"anode": "TestAnode:wrong", "model": "none", "device": "cpu"})"); });
    EXPECT_TRUE(contains(other, "the anode of the job is not that of the detector")) << other;
    EXPECT_TRUE(contains(other, "TestAnode:wrong: 2560 channels, 0 to 2559")) << other;
    EXPECT_TRUE(contains(other, "pdhd: 2560 channels, 2560 to 5119")) << other;
    configure(node, R"({"anode": "TestAnode:right", "tpcid": [1, 2], "model": "none", "device": "cpu"})");
    const std::string absent =
        block_of<ValueError>([&] { configure(node, R"({"anode": "TestAnode:absent"})"); });
    EXPECT_TRUE(contains(absent, "the job has no such anode")) << absent;
    EXPECT_TRUE(contains(absent, "SPNGSigProc:anode, key anode")) << absent;
    const std::string arguments =
        block_of<ValueError>([&] { configure(node, R"({"arguments": "noise_filter=sticky"})"); });
    EXPECT_TRUE(contains(arguments, "key arguments")) << arguments;
}

} // namespace
