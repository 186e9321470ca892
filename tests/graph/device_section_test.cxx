// SPDX-License-Identifier: Apache-2.0
// The device section as one node gives the same results as its nodes one by one, whatever the events contain.

#include "spng/engine/device_section.h"
#include "spng/graph/node_mixins.h"
#include "spng/instrument/meter/unmeasured.h"

#include "tests/graph/standin_graph.h"
#include "tests/support/components.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace spng {
namespace {

using Json = nlohmann::json;

struct UploadConfig {
    bool leaves_work = false;
    static constexpr auto fields() {
        return std::make_tuple(field(&UploadConfig::leaves_work, "leaves_work", "", any(), "to the section"));
    }
};
/// Passes the event on. The work that it leaves adds 1 to the samples and finds the last one.
class SectionUpload : public NodeWith<UploadConfig>, public DeviceWorkStarter {
public:
    std::vector<TensorSetPtr> example() const override { return {}; }
    bool leave_device_work() override { return config().leaves_work; }
    DeviceWork device_work(const TensorSetPtr& uploaded) const override {
        NamedTensor tensor = uploaded->only();
        tensor.data = tensor.data.add(1);
        const at::Tensor last = tensor.data.flatten().slice(0, -1);
        return {{std::make_shared<const TensorSet>(uploaded->event_ptr(), std::vector{tensor})}, last};
    }
    void collect(const TensorSet& set, const at::Tensor& findings) const override {
        found.emplace_back(set.event().index, findings.item<float>());
    }
    mutable std::vector<std::pair<std::uint64_t, float>> found; ///< event and its finding

private:
    Ports process(const Ports& inputs) override { return inputs; }
};

/// Twice the waveform where the channel is good, the largest sample as summary; every second sample as a
/// second output.
class SectionWork : public NodeWith<NoConfig> {
    Ports process(const Ports& inputs) override {
        calls += instrument::Unmeasured::is_on() ? 0 : 1;
        NamedTensor waveform = inputs[0]->only();
        waveform.name = "doubled";
        waveform.data = at::where(waveform.channels->good.unsqueeze(-1), waveform.data.mul(2), 0);
        waveform.summary = waveform.data.amax(-1);
        if (const auto& late = inputs[0]->event().late_values) {
            late->add(name().text(), waveform.data.max(), waveform.channels->ids,
                      [](const at::Tensor& value) {
                          return Notes{{"largest", std::to_string(value.item<int>())}};
                      });
        }
        waveform.axes[2].start = inputs[0]->event().start;
        NamedTensor coarse = waveform;
        coarse.name = "coarse";
        coarse.data = waveform.data.slice(2, 0, std::nullopt, 2);
        coarse.axes[2].period *= 2;
        return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::vector{waveform}),
                std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::vector{coarse})};
    }

public:
    std::atomic<int> calls = 0; ///< for events, without captures and replays of a stand-in
};

struct MoreConfig {
    std::string rejection;
    bool shifts = false;
    static constexpr auto fields() {
        return std::make_tuple(field(&MoreConfig::rejection, "rejection", "", any(), "why not"),
                               field(&MoreConfig::shifts, "shifts", "", any(), "make up a time"));
    }
};
class SectionMore : public NodeWith<MoreConfig>, public Uncapturable {
public:
    std::string capture_rejection() const override { return config().rejection; }

private:
    Ports process(const Ports& inputs) override {
        NamedTensor tensor = inputs[0]->only();
        tensor.data = tensor.data.add(1);
        tensor.axes[2].start += config().shifts ? 17 : 0;
        return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::vector{tensor})};
    }
};

/// Copies its inputs, as every node with AsynchronousOutput.
class SectionPack : public NodeWith<NoConfig>, public AsynchronousOutput {
    Ports process(const Ports& inputs) override {
        std::vector<NamedTensor> tensors = merge(inputs)->tensors();
        for (auto& tensor : tensors) {
            tensor.data = tensor.data.clone();
            tensor.summary = tensor.summary.clone();
        }
        return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::move(tensors))};
    }
};

class SectionSink : public NodeWith<NoConfig> {
    Ports process(const Ports& inputs) override {
        arrived.push_back(inputs[0]);
        return {};
    }

public:
    std::vector<TensorSetPtr> arrived;
};

class SectionTap : public NodeWith<NoConfig> {
    Ports process(const Ports& inputs) override { return inputs; }
};

const Registration<SectionUpload> upload_type{
    {.type = "TestSectionUpload", .kind = "frame", .inputs = {"a"}, .outputs = {"a"}, .text = "test"}};
const Registration<SectionWork> work_type{
    {.type = "TestSectionWork", .kind = "roi", .inputs = {"a"}, .outputs = {"a", "b"}, .text = "test"}};
const Registration<SectionMore> more_type{
    {.type = "TestSectionMore", .kind = "roi", .inputs = {"a"}, .outputs = {"a"}, .text = "test"}};
const Registration<SectionPack> pack_type{
    {.type = "TestSectionPack", .kind = "frame", .inputs = {"a", "b"}, .outputs = {"a"}, .text = "test"}};
const Registration<SectionSink> sink_type{
    {.type = "TestSectionSink", .kind = "sink", .inputs = {"a"}, .text = "test"}};
const Registration<SectionTap> tap_type{{.type = "TestSectionTap",
                                         .kind = "plumbing",
                                         .inputs = {"a"},
                                         .outputs = {"a"},
                                         .concurrency = Concurrency::serial,
                                         .text = "test"}};

/// upload -> work -> (more | nothing) -> pack -> sink, with a tap between more and pack if asked for.
class Section : public testing::Test {
protected:
    void build(const Json& more = Json::object(), bool with_tap = false, bool leaves_work = false) {
        for (const char* name : {"TestSectionWork", "TestSectionPack", "TestSectionSink"}) {
            m_components.add(name, Json::object());
        }
        m_components.add("TestSectionUpload", {{"leaves_work", leaves_work}});
        m_components.add("TestSectionMore", more);
        std::vector<EdgeConfig> edges{{{"TestSectionUpload", 0}, {"TestSectionWork", 0}},
                                      {{"TestSectionWork", 0}, {"TestSectionMore", 0}},
                                      {{"TestSectionWork", 1}, {"TestSectionPack", 1}},
                                      {{"TestSectionPack", 0}, {"TestSectionSink", 0}}};
        if (with_tap) {
            m_components.add("TestSectionTap", Json::object());
            edges.push_back({{"TestSectionMore", 0}, {"TestSectionTap", 0}});
            edges.push_back({{"TestSectionTap", 0}, {"TestSectionPack", 0}});
        } else {
            edges.push_back({{"TestSectionMore", 0}, {"TestSectionPack", 0}});
        }
        // A part of a graph: the upload's input is given by the test.
        Graph whole = complete(edges);
        m_graph = std::make_unique<Graph>(std::move(whole));
        m_components.environment().prepare_all();
    }

    /// The whole graph with one node in place of its section.
    void enclose(std::size_t slots = 1, std::size_t max_captures = DeviceSection::max_shapes) {
        GraphSection section = find_device_section(*m_graph);
        ASSERT_EQ(section.rejection, "");
        m_section.set_name({"SPNGDeviceSection", ""});
        m_section.configure(Json::object());
        m_section.enclose(*m_graph, section, {}, slots, max_captures);
        m_section.prepare(m_components.environment());
        m_short = std::make_unique<Graph>(with_section(*m_graph, section, m_section));
    }

    static TensorSetPtr event(int index, std::int64_t ticks, double start = 0, int first_tick = 0) {
        auto info = std::make_shared<EventInfo>();
        info->index = static_cast<std::uint64_t>(index);
        info->ident = 100 + index;
        info->start = start;
        info->tick = 500;
        info->first_tick = first_tick;
        info->ticks = ticks;
        info->masks["bad"] = {{index, 0, ticks}};
        static const at::Tensor ids = at::arange(4, at::kInt).view({2, 2});
        auto channels = std::make_shared<ChannelTable>();
        channels->ids = ids;
        channels->good = at::ones({2, 2}, at::kBool);
        channels->good[index % 2][0] = false;
        NamedTensor waveform;
        waveform.name = "adc";
        waveform.data = at::arange(4 * ticks, at::kFloat).view({2, 2, ticks}).add(1000 * index);
        waveform.axes = {
            {"view", "", 0, 1}, {"channel", "", 0, 1}, {"tick", "ns", start + first_tick * 500, 500}};
        waveform.channels = std::move(channels);
        return std::make_shared<const TensorSet>(std::move(info), std::vector{waveform});
    }

    /// Return the sets that arrive at the sink for these events, through the short graph or node by node.
    std::vector<TensorSetPtr> run(const std::vector<TensorSetPtr>& events, bool one_by_one = false) {
        auto& sink = dynamic_cast<SectionSink&>(*m_components.environment().find("TestSectionSink"));
        sink.arrived.clear();
        const Graph& graph = one_by_one ? *m_graph : *m_short;
        for (const auto& input : events) {
            std::vector<TensorSetPtr> on_edge(graph.edges().size());
            for (const auto& vertex : graph.vertices()) {
                Ports in;
                for (const std::size_t edge : vertex.input_edges) {
                    in.push_back(on_edge[edge]);
                }
                if (in.empty()) {
                    in.push_back(input);
                }
                const Ports out = vertex.node->call(input->event().index, in, {});
                for (std::size_t port = 0; port < vertex.output_edges.size(); ++port) {
                    on_edge[vertex.output_edges[port]] = out.at(port);
                }
            }
        }
        return sink.arrived;
    }

    /// Events of these lengths in their order.
    static std::vector<TensorSetPtr> events_of(const std::vector<std::int64_t>& lengths) {
        std::vector<TensorSetPtr> events;
        for (const std::int64_t ticks : lengths) {
            events.push_back(event(static_cast<int>(events.size()), ticks));
        }
        return events;
    }

    void expect_the_same(const std::vector<TensorSetPtr>& events) {
        const auto seen = run(events);
        const auto expected = run(events, true);
        ASSERT_EQ(seen.size(), expected.size());
        for (std::size_t i = 0; i < seen.size(); ++i) {
            SCOPED_TRACE("event " + std::to_string(i));
            EXPECT_EQ(seen[i]->event_ptr(), events[i]->event_ptr());
            ASSERT_EQ(seen[i]->tensors().size(), expected[i]->tensors().size());
            for (std::size_t j = 0; j < seen[i]->tensors().size(); ++j) {
                const NamedTensor& a = seen[i]->tensors()[j];
                const NamedTensor& b = expected[i]->tensors()[j];
                EXPECT_EQ(a.name, b.name);
                EXPECT_TRUE(a.data.equal(b.data));
                EXPECT_TRUE(a.summary.equal(b.summary));
                EXPECT_EQ(a.channels, events[i]->only().channels);
                EXPECT_EQ(a.axes[2].start, b.axes[2].start);
                EXPECT_EQ(a.axes[2].period, b.axes[2].period);
            }
        }
    }

    const test::WithStandInGraphs m_graphs;
    test::Components m_components;
    std::unique_ptr<Graph> m_graph, m_short;
    DeviceSection m_section;

private:
    /// Without a source: vertices in topological order by hand, since a Graph wants every port connected.
    Graph complete(const std::vector<EdgeConfig>& wanted) {
        std::vector<Graph::Vertex> vertices;
        std::map<std::string, std::size_t> index_of;
        for (const char* name : {"TestSectionUpload", "TestSectionWork", "TestSectionMore", "TestSectionTap",
                                 "TestSectionPack", "TestSectionSink"}) {
            if (auto* node = dynamic_cast<Node*>(m_components.environment().find(name))) {
                index_of[name] = vertices.size();
                const bool first = vertices.empty();
                vertices.push_back({node,
                                    std::vector<std::size_t>(first ? 0 : node->registered().inputs.size()),
                                    std::vector<std::size_t>(node->registered().outputs.size())});
            }
        }
        std::vector<Graph::Edge> edges;
        for (const auto& edge : wanted) {
            const Graph::Target tail{index_of.at(edge.tail.node), static_cast<std::size_t>(edge.tail.port)};
            const Graph::Target head{index_of.at(edge.head.node), static_cast<std::size_t>(edge.head.port)};
            vertices[tail.node].output_edges[tail.port] = edges.size();
            vertices[head.node].input_edges[head.port] = edges.size();
            edges.push_back({tail, head});
        }
        return {std::move(vertices), std::move(edges)};
    }
};

TEST_F(Section, IsBetweenUploadAndPackAndCallsThePacking) {
    build();
    const GraphSection section = find_device_section(*m_graph);
    EXPECT_EQ(section.vertices, (std::vector<std::size_t>{1, 2}));
    EXPECT_EQ(section.entering.size(), 1u);
    EXPECT_EQ(section.ends, (std::vector<std::size_t>{3}));
    EXPECT_EQ(section.leaving.size(), 1u);
    enclose();
    ASSERT_EQ(m_short->vertices().size(), 3u);
    EXPECT_EQ(m_short->edges().size(), 2u);
    EXPECT_EQ(m_short->vertices()[1].node, &m_section);
}

TEST_F(Section, ReplaysGiveTheSameForEveryEvent) {
    build();
    enclose();
    expect_the_same({event(0, 8), event(1, 8), event(2, 8), event(3, 8), event(4, 8)});
    EXPECT_EQ(test::StandInGraph::replays(), 4); // all but the first
    EXPECT_EQ(test::StandInGraph::captures(), 1);
}

TEST_F(Section, TheHostSeesTheValuesOfEveryEvent) {
    build();
    enclose();
    const auto note_of = [this](int index) {
        TensorSetPtr input = event(index, 8);
        auto info = std::make_shared<EventInfo>(input->event());
        info->late_values = std::make_shared<LateValues>();
        run({std::make_shared<const TensorSet>(info, input->tensors())});
        return info->late_values->all().at(0)->notes();
    };
    for (const int index : {0, 1, 2, 3}) { // the first goes node by node, the second is captured
        EXPECT_EQ(note_of(index), (Notes{{"largest", std::to_string(2 * (1000 * index + 31))}}));
    }
    EXPECT_EQ(test::StandInGraph::replays(), 3);
}

TEST_F(Section, ResultsOfEarlierEventsStay) {
    build();
    enclose();
    const auto results = run({event(0, 8), event(1, 8), event(2, 8)});
    EXPECT_EQ(results[1]->at("doubled").data[1][1][7].item<float>(), 2 * (1000 + 31) + 1);
    EXPECT_EQ(results[2]->at("doubled").data[1][1][7].item<float>(), 2 * (2000 + 31) + 1);
}

TEST_F(Section, ShapesAlternate) {
    build();
    enclose();
    expect_the_same({event(0, 8), event(1, 12), event(2, 8), event(3, 12), event(4, 8), event(5, 6)});
    EXPECT_EQ(test::StandInGraph::replays(), 3);
    EXPECT_EQ(test::StandInGraph::captures(), 2);
}

TEST_F(Section, TimesOfEachEvent) {
    build();
    enclose();
    // Start 0 is told apart from other starts, since a constant 0 would look the same.
    expect_the_same({event(0, 8, 1e9, 3), event(1, 8, 2e9, 3), event(2, 8, 0), event(3, 8, 5e8, 3),
                     event(4, 8, 7e8), event(5, 8, 8e8), event(6, 8, 9e8)});
    EXPECT_EQ(test::StandInGraph::replays(), 4);
}

TEST_F(Section, TimeThatIsNotOfTheInputIsNotReplayed) {
    build({{"shifts", true}});
    enclose();
    expect_the_same({event(0, 8, 100), event(1, 8, 200), event(2, 8, 300)});
    EXPECT_EQ(test::StandInGraph::replays(), 0);
    for (int i = 0; i < static_cast<int>(DeviceSection::first_pause) + 2; ++i) {
        expect_the_same({event(i, 8, 100 * (i + 1))});
    }
    EXPECT_EQ(test::StandInGraph::captures(), 1); // and is not tried again, which could not help
}

TEST_F(Section, RejectedCaptureFallsBack) {
    build();
    enclose();
    test::StandInGraph::rejects() = 1;
    expect_the_same({event(0, 8), event(1, 8), event(2, 8)});
    EXPECT_EQ(test::StandInGraph::replays(), 0);
    EXPECT_EQ(test::StandInGraph::captures(), 1);
}

TEST_F(Section, RejectedCaptureIsTriedAgainLaterAndLessAndLessOften) {
    build();
    enclose();
    test::StandInGraph::rejects() = 1;
    expect_the_same(events_of({8, 8}));
    const auto first = static_cast<std::size_t>(DeviceSection::first_pause);
    expect_the_same(events_of(std::vector<std::int64_t>(first, 8)));
    EXPECT_EQ(test::StandInGraph::captures(), 2);
    test::StandInGraph::rejects() = 0;
    expect_the_same(events_of(std::vector<std::int64_t>(2 * first - 2, 8)));
    EXPECT_EQ(test::StandInGraph::captures(), 2);
    expect_the_same(events_of({8, 8, 8, 8}));
    EXPECT_EQ(test::StandInGraph::captures(), 3);
    EXPECT_GE(test::StandInGraph::replays(), 3);
}

TEST_F(Section, RejectedShapesAreForgottenAfterTheirPause) {
    build();
    enclose();
    test::StandInGraph::rejects() = 1;
    for (std::int64_t ticks = 8; ticks < 32; ticks += 2) {
        expect_the_same(events_of({ticks, ticks}));
    }
    EXPECT_EQ(m_section.shapes(), 12U);
    expect_the_same(events_of(std::vector<std::int64_t>(DeviceSection::first_pause, 8)));
    for (std::int64_t ticks = 32; ticks < 56; ticks += 2) {
        expect_the_same(events_of({ticks}));
    }
    EXPECT_LE(m_section.shapes(), 13U);
}

TEST_F(Section, WindowsOfALongReadoutAreAShapeOfTheirOwn) {
    build();
    enclose();
    std::vector<TensorSetPtr> events;
    for (int i = 0; i < 6; ++i) {
        const auto readout = event(i, 8, 100 * (i + 1));
        auto info = std::make_shared<EventInfo>(readout->event());
        if (i % 2 == 0) {
            info->window = ReadoutWindow{0, i / 2, 2, 6};
        }
        events.push_back(std::make_shared<const TensorSet>(info, readout->tensors()));
    }
    expect_the_same(events);
    EXPECT_EQ(test::StandInGraph::captures(), 2);
    EXPECT_EQ(test::StandInGraph::replays(), 4);
}

TEST_F(Section, OfMoreShapesTheOneAskedForLongestAgoIsForgotten) {
    build();
    enclose();
    expect_the_same(events_of({8, 8, 10, 12, 14, 8, 16, 8, 10, 10}));
    // 8 stays, since it was asked for after 10, which is forgotten for 16 and begins anew.
    EXPECT_EQ(test::StandInGraph::replays(), 4);
    EXPECT_EQ(test::StandInGraph::captures(), 2);
}

TEST_F(Section, NoMoreCapturesThanPlanned) {
    build();
    enclose(1, 1);
    // The graph of 8 goes when 10 was asked for twice since its last use, not when the two alternate.
    expect_the_same(events_of({8, 8, 10, 8, 10, 8}));
    EXPECT_EQ(test::StandInGraph::captures(), 1);
    EXPECT_EQ(test::StandInGraph::replays(), 3);
    expect_the_same(events_of({10, 10, 10}));
    EXPECT_EQ(test::StandInGraph::captures(), 2);
    EXPECT_EQ(test::StandInGraph::replays(), 5);
    EXPECT_EQ(test::StandInGraph::alive(), 1);
}

TEST_F(Section, CaptureWithoutMemoryDropsTheGraphUsedLongestAgo) {
    build();
    enclose();
    test::StandInGraph::fitting() = 2;
    expect_the_same(events_of({8, 8, 10, 10, 8, 12, 12}));
    EXPECT_EQ(test::StandInGraph::alive(), 2);    // 8 and 12
    EXPECT_EQ(test::StandInGraph::captures(), 5); // two of 12 failed: with emptied caches, and before that
    expect_the_same(events_of({8, 12}));
    EXPECT_EQ(test::StandInGraph::captures(), 5);
}

TEST_F(Section, EventWithoutMemoryDropsGraphsAndCapturesAgainLater) {
    build();
    enclose();
    expect_the_same(events_of({8, 8, 10, 10, 10}));
    test::StandInGraph::fitting() = 1;
    expect_the_same(events_of({10})); // the graph of 8 goes
    EXPECT_EQ(test::StandInGraph::alive(), 1);
    EXPECT_EQ(test::StandInGraph::replays(), 5); // one of them failed
    test::StandInGraph::fitting() = 0;
    expect_the_same(events_of({10}));
    EXPECT_EQ(test::StandInGraph::alive(), 0);
    // An event that was tried again counts twice.
    expect_the_same(events_of(std::vector<std::int64_t>(DeviceSection::first_pause - 2, 10)));
    EXPECT_EQ(test::StandInGraph::captures(), 2);
    test::StandInGraph::fitting() = 1;
    expect_the_same(events_of({10}));
    EXPECT_EQ(test::StandInGraph::captures(), 3);
    EXPECT_EQ(test::StandInGraph::alive(), 1);
}

TEST_F(Section, MissingMemoryForAnyGraphLeavesTheNodesOneByOne) {
    build();
    enclose();
    test::StandInGraph::fitting() = 0;
    expect_the_same(events_of({8, 8, 8, 10, 10, 8}));
    EXPECT_EQ(test::StandInGraph::captures(), 2); // the second with emptied caches; none for 10
    EXPECT_EQ(test::StandInGraph::replays(), 0);
}

TEST_F(Section, ReleasesTheGraphUsedLongestAgoOrAll) {
    build();
    enclose();
    expect_the_same(events_of({8, 8, 10, 10, 12, 12, 8}));
    m_section.release_memory(false);
    EXPECT_EQ(test::StandInGraph::alive(), 2);
    expect_the_same(events_of({8, 12}));
    EXPECT_EQ(test::StandInGraph::captures(), 3); // 10 was used longest ago
    m_section.release_memory(true);
    EXPECT_EQ(test::StandInGraph::alive(), 0);
    m_section.release_memory(true);
    expect_the_same(events_of({8, 12}));
}

TEST_F(Section, FailedReplayIsTheEventsFailureAndTheNextOneWorks) {
    build();
    enclose();
    run({event(0, 8), event(1, 8)});
    test::StandInGraph::fails_at() = 2;
    const Error error = test::error_of([&] { run({event(2, 8)}); });
    EXPECT_NE(std::string(error.what()).find("a kernel failed"), std::string::npos) << error.what();
    expect_the_same({event(3, 8), event(4, 8)});
    EXPECT_EQ(test::StandInGraph::replays(), 4); // one of them failed
}

TEST_F(Section, RecordedCallsAreNotMeasuredAndReplaysAreOneCall) {
    build();
    enclose();
    run({event(0, 8), event(1, 8), event(2, 8)});
    auto* work = dynamic_cast<Node*>(m_components.environment().find("TestSectionWork"));
    // The stand-in's replays call the nodes, unmeasured as while recording.
    EXPECT_EQ(work->meter().calls().size(), 1u);
    EXPECT_EQ(m_section.meter().calls().size(), 3u);
}

TEST_F(Section, ThreadsShareTheRecordings) {
    build();
    enclose(2);
    run({event(0, 8)});
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (int i = 0; i < 50; ++i) {
                const int index = 10 * thread + i % 10;
                const Ports out = m_section.call(static_cast<std::uint64_t>(index), {event(index, 8)}, {});
                const auto last = out[0]->at("doubled").data[1][1][7].item<float>();
                wrong += last != 2 * (1000 * index + 31) + 1;
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_LE(test::StandInGraph::captures(), 2);
    EXPECT_GT(test::StandInGraph::replays(), 0);
}

TEST_F(Section, WorkLeftByTheUploadIsCapturedAndItsFindingsAreCollected) {
    build(Json::object(), false, true);
    enclose();
    const auto results = run(events_of({8, 8, 8, 8}));
    EXPECT_EQ(test::StandInGraph::replays(), 3);
    const auto& upload = dynamic_cast<SectionUpload&>(*m_components.environment().find("TestSectionUpload"));
    ASSERT_EQ(upload.found.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
        const auto last = static_cast<float>(1000 * i + 31 + 1);
        EXPECT_EQ(upload.found[i], std::pair(std::uint64_t{i}, last));
        EXPECT_EQ(results[i]->at("doubled").data[1][1][7].item<float>(), 2 * last + 1);
    }
}

TEST(StaticInputs, CopyTensorsThatAreNewOnly) {
    auto info = std::make_shared<EventInfo>();
    const at::Tensor table = at::ones({3});
    const auto set = [&](const at::Tensor& samples) {
        NamedTensor rows, frame;
        rows.name = "rows";
        rows.data = table;
        frame.name = "frame";
        frame.data = samples;
        return Ports{std::make_shared<const TensorSet>(info, std::vector{rows, frame})};
    };
    StaticInputs inputs(set(at::zeros({2})), at::kCPU);
    const NamedTensor& rows = inputs.ports()[0]->at("rows");
    const NamedTensor& frame = inputs.ports()[0]->at("frame");
    inputs.load(set(at::full({2}, 5)));
    EXPECT_TRUE(rows.data.equal(table));
    EXPECT_TRUE(frame.data.equal(at::full({2}, 5.F)));
    rows.data.fill_(7); // stays if the table is not copied again
    inputs.load(set(at::full({2}, 6)));
    EXPECT_TRUE(rows.data.equal(at::full({3}, 7.F)));
    EXPECT_TRUE(frame.data.equal(at::full({2}, 6.F)));
}

TEST_F(Section, TapRejects) {
    build(Json::object(), true);
    EXPECT_EQ(find_device_section(*m_graph).rejection, "TestSectionTap sees one event at a time");
}

TEST_F(Section, NodeThatRejectsSaysWhy) {
    build({{"rejection", "it waits"}});
    EXPECT_EQ(find_device_section(*m_graph).rejection, "TestSectionMore: it waits");
}

TEST(DeviceSection, IsNotForConfigurations) {
    test::Components components;
    components.add("SPNGDeviceSection", Json::object());
    const Error error = test::error_of([&] { components.environment().prepare_all(); });
    EXPECT_EQ(error.exit_status(), 2);
}

TEST(PortKey, TellsShapesTypesAndTablesApart) {
    auto info = std::make_shared<EventInfo>();
    info->tick = 500;
    const auto set = [&](at::ScalarType type, std::int64_t ticks, const at::Tensor& ids) {
        NamedTensor tensor;
        tensor.name = "adc";
        tensor.data = at::ones({1, 2, ticks}, type);
        auto channels = std::make_shared<ChannelTable>();
        channels->ids = ids;
        channels->good = at::ones({1, 2}, at::kBool);
        tensor.channels = channels;
        return Ports{std::make_shared<const TensorSet>(info, std::vector{tensor})};
    };
    const at::Tensor ids = at::arange(2, at::kInt).view({1, 2});
    const std::string key = port_key(set(at::kShort, 8, ids));
    EXPECT_EQ(key, port_key(set(at::kShort, 8, ids)));
    EXPECT_NE(key, port_key(set(at::kFloat, 8, ids)));
    EXPECT_NE(key, port_key(set(at::kShort, 9, ids)));
    EXPECT_NE(key, port_key(set(at::kShort, 8, ids.clone())));
    info->ident = 5;
    info->masks["bad"] = {{1, 0, 8}};
    EXPECT_EQ(key, port_key(set(at::kShort, 8, ids)));
    info->tick = 512;
    EXPECT_NE(key, port_key(set(at::kShort, 8, ids)));
}

} // namespace
} // namespace spng
