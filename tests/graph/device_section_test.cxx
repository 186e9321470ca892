// SPDX-License-Identifier: Apache-2.0
// A captured body gives the same results as its nodes one by one, whatever the events contain.

#include "spng/engine/body/body_captured.h"
#include "spng/engine/body/port_key.h"
#include "spng/graph/device_work.h"
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
#include <mutex>
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
/// Values that the readers of reports saw, with the event or -1.
std::vector<std::pair<int, float>>& seen() {
    static std::vector<std::pair<int, float>> all;
    return all;
}

/// Note a value; readers of reports run on the threads of their events.
void see(int event, float value) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    seen().emplace_back(event, value);
}

/// Passes the event on. The work that it leaves adds 1 to the samples and reports the last one.
class SectionUpload : public NodeWith<UploadConfig>, public DeviceWorkStarter {
public:
    std::vector<TensorSetPtr> example() const override { return {}; }
    bool leave_device_work() override { return config().leaves_work; }
    std::vector<TensorSetPtr> device_work(const TensorSetPtr& uploaded) const override {
        NamedTensor tensor = uploaded->only();
        tensor.data = tensor.data.add(1);
        Report report = uploaded->reports().empty() ? Report{.node = "upload"} : *uploaded->reports().front();
        report.values = tensor.data.flatten().slice(0, -1);
        return {std::make_shared<const TensorSet>(uploaded->event_ptr(), std::vector{tensor},
                                                  Reports{std::make_shared<const Report>(report)})};
    }

private:
    Ports process(const Ports& inputs) override {
        if (!config().leaves_work) {
            return inputs;
        }
        const auto index = static_cast<int>(inputs[0]->event().index);
        Report report{.node = "upload", .read = [index](const at::Tensor& last) {
                          see(index, last.item<float>());
                          return Found{};
                      }};
        return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), inputs[0]->tensors(),
                                                  Reports{std::make_shared<const Report>(report)})};
    }
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
        const Report report{
            .node = "work", .values = waveform.data.max(), .read = [](const at::Tensor& largest) {
                see(-1, largest.item<float>());
                return Found{};
            }};
        waveform.axes[2].start = inputs[0]->event().start;
        NamedTensor coarse = waveform;
        coarse.name = "coarse";
        coarse.data = waveform.data.slice(2, 0, std::nullopt, 2);
        coarse.axes[2].period *= 2;
        return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::vector{waveform},
                                                  Reports{std::make_shared<const Report>(report)}),
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
class SectionMore : public NodeWith<MoreConfig> {
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

/// Copies its inputs, as every node that is not captured.
class SectionPack : public NodeWith<NoConfig> {
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
    Ports process(const Ports& inputs) override {
        tapped.push_back(inputs[0]->only().data);
        return inputs;
    }

public:
    std::vector<at::Tensor> tapped;
};

class SectionSource : public NodeWith<NoConfig> {
    Ports process(const Ports&) override { return {nullptr}; } // the tests give the events
};

const Registration<SectionSource> source_type{
    {.type = "TestSectionSource", .kind = "source", .outputs = {"a"}, .text = "test"}};

const Registration<SectionUpload> upload_type{
    {.type = "TestSectionUpload", .kind = "frame", .inputs = {"a"}, .outputs = {"a"}, .text = "test"}};
const Registration<SectionWork> work_type{
    {.type = "TestSectionWork", .kind = "roi", .inputs = {"a"}, .outputs = {"a", "b"}, .text = "test"}};
const Registration<SectionMore> more_type{
    {.type = "TestSectionMore", .kind = "roi", .inputs = {"a"}, .outputs = {"a"}, .text = "test"}};
const Registration<SectionPack> pack_type{{.type = "TestSectionPack",
                                           .kind = "frame",
                                           .inputs = {"a", "b"},
                                           .outputs = {"a"},
                                           .is_captured = false,
                                           .text = "test"}};
const Registration<SectionSink> sink_type{{.type = "TestSectionSink",
                                           .kind = "sink",
                                           .inputs = {"a"},
                                           .concurrency = Concurrency::serial,
                                           .text = "test"}};
const Registration<SectionTap> tap_type{{.type = "TestSectionTap",
                                         .kind = "plumbing",
                                         .inputs = {"a"},
                                         .outputs = {"a"},
                                         .concurrency = Concurrency::serial,
                                         .is_tap = true,
                                         .text = "test"}};

/// source -> upload -> work -> (more | nothing) -> pack -> sink, with a tap between more and pack if asked for.
class Section : public testing::Test {
protected:
    void build(const Json& more = Json::object(), bool with_tap = false, bool leaves_work = false) {
        for (const char* name :
             {"TestSectionSource", "TestSectionWork", "TestSectionPack", "TestSectionSink"}) {
            m_components.add(name, Json::object());
        }
        m_components.add("TestSectionUpload", {{"leaves_work", leaves_work}});
        m_components.add("TestSectionMore", more);
        std::vector<EdgeConfig> edges{{{"TestSectionSource", 0}, {"TestSectionUpload", 0}},
                                      {{"TestSectionUpload", 0}, {"TestSectionWork", 0}},
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
        m_components.environment().prepare_all();
        m_parts = split(Graph(m_components.environment(), edges, "test"));
        seen().clear();
    }

    void capture(std::size_t slots = 1, std::size_t max_captures = Captures::max_shapes) {
        ASSERT_EQ(find_device_section(m_parts).rejection, "");
        m_body = std::make_unique<CapturedBody>(m_parts, c10::kCPU, instrument::MeterMode{},
                                                Captures::Limits{.slots = slots, .captures = max_captures},
                                                log::Level::warn);
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

    /// Take an event through a body.
    std::unique_ptr<EventCall> call(const TensorSetPtr& input, Body& body) {
        HostEvent event{.index = input->event().index};
        event.sets.resize(m_parts.slots);
        event.sets[m_parts.head.front().outputs.front()] = input;
        auto call = std::make_unique<EventCall>(m_parts, c10::kCPU, event, m_state);
        body.queue(*call, false);
        call->complete();
        call->read_reports();
        return call;
    }

    /// Return the sets that arrive at the sink for these events, with captures or node by node.
    std::vector<TensorSetPtr> run(const std::vector<TensorSetPtr>& events, bool one_by_one = false) {
        auto& sink = node<SectionSink>("TestSectionSink");
        sink.arrived.clear();
        SerialBody serial;
        for (const auto& input : events) {
            const auto done = call(input, one_by_one ? static_cast<Body&>(serial) : *m_body);
            for (const Step& step : m_parts.tail) {
                done->call(step);
            }
        }
        return sink.arrived;
    }

    template <class Type>
    Type& node(const char* name) {
        return dynamic_cast<Type&>(*m_components.environment().find(name));
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
    const RunState m_state{RunOptions{}};
    Parts m_parts;
    std::unique_ptr<CapturedBody> m_body;
};

TEST_F(Section, IsBetweenUploadAndPackAndCallsThePacking) {
    build();
    const DeviceSection section = find_device_section(m_parts);
    const auto names = [](const std::vector<const Step*>& steps) {
        std::vector<std::string> all;
        for (const Step* step : steps) {
            all.push_back(step->node->name().text());
        }
        return all;
    };
    EXPECT_EQ(names(section.before), (std::vector<std::string>{"TestSectionUpload"}));
    EXPECT_EQ(names(section.inside), (std::vector<std::string>{"TestSectionWork", "TestSectionMore"}));
    EXPECT_EQ(names(section.after), (std::vector<std::string>{"TestSectionPack"}));
    EXPECT_EQ(section.entering.size(), 1u);
    ASSERT_EQ(section.leaving.size(), 2u);
    EXPECT_TRUE(section.leaving[0].is_lent);
    EXPECT_TRUE(section.leaving[1].is_lent);
}

TEST_F(Section, ReplaysGiveTheSameForEveryEvent) {
    build();
    capture();
    expect_the_same({event(0, 8), event(1, 8), event(2, 8), event(3, 8), event(4, 8)});
    EXPECT_EQ(test::StandInGraph::replays(), 4); // all but the first
    EXPECT_EQ(test::StandInGraph::captures(), 1);
}

TEST_F(Section, TheHostSeesTheValuesOfEveryEvent) {
    build();
    capture();
    run(events_of({8, 8, 8, 8})); // the first goes node by node, the second is captured
    ASSERT_EQ(seen().size(), 4u);
    for (int index = 0; index < 4; ++index) {
        EXPECT_EQ(seen()[static_cast<std::size_t>(index)],
                  std::pair(-1, static_cast<float>(2 * (1000 * index + 31))));
    }
    EXPECT_EQ(test::StandInGraph::replays(), 3);
}

TEST_F(Section, ResultsOfEarlierEventsStay) {
    build();
    capture();
    const auto results = run({event(0, 8), event(1, 8), event(2, 8)});
    EXPECT_EQ(results[1]->at("doubled").data[1][1][7].item<float>(), 2 * (1000 + 31) + 1);
    EXPECT_EQ(results[2]->at("doubled").data[1][1][7].item<float>(), 2 * (2000 + 31) + 1);
}

TEST_F(Section, ShapesAlternate) {
    build();
    capture();
    expect_the_same({event(0, 8), event(1, 12), event(2, 8), event(3, 12), event(4, 8), event(5, 6)});
    EXPECT_EQ(test::StandInGraph::replays(), 3);
    EXPECT_EQ(test::StandInGraph::captures(), 2);
}

TEST_F(Section, TimesOfEachEvent) {
    build();
    capture();
    expect_the_same({event(0, 8, 1e9, 3), event(1, 8, 2e9, 3), event(2, 8, 0), event(3, 8, 5e8, 3),
                     event(4, 8, 7e8), event(5, 8, 8e8), event(6, 8, 9e8)});
    EXPECT_EQ(test::StandInGraph::replays(), 5); // first_tick differs once
}

TEST_F(Section, TimeThatIsNotOfTheInputIsNotReplayed) {
    build({{"shifts", true}});
    capture();
    expect_the_same({event(0, 8, 100), event(1, 8, 200), event(2, 8, 300)});
    EXPECT_EQ(test::StandInGraph::replays(), 0);
    for (int i = 0; i < static_cast<int>(Captures::first_pause) + 2; ++i) {
        expect_the_same({event(i, 8, 100 * (i + 1))});
    }
    EXPECT_EQ(test::StandInGraph::captures(), 1); // and is not tried again, which could not help
}

TEST_F(Section, RejectedCaptureFallsBack) {
    build();
    capture();
    test::StandInGraph::rejects() = 1;
    expect_the_same({event(0, 8), event(1, 8), event(2, 8)});
    EXPECT_EQ(test::StandInGraph::replays(), 0);
    EXPECT_EQ(test::StandInGraph::captures(), 1);
}

TEST_F(Section, RejectedCaptureIsTriedAgainLaterAndLessAndLessOften) {
    build();
    capture();
    test::StandInGraph::rejects() = 1;
    expect_the_same(events_of({8, 8}));
    const auto first = static_cast<std::size_t>(Captures::first_pause);
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
    capture();
    test::StandInGraph::rejects() = 1;
    for (std::int64_t ticks = 8; ticks < 32; ticks += 2) {
        expect_the_same(events_of({ticks, ticks}));
    }
    EXPECT_EQ(m_body->captures().shapes(), 12U);
    expect_the_same(events_of(std::vector<std::int64_t>(Captures::first_pause, 8)));
    for (std::int64_t ticks = 32; ticks < 56; ticks += 2) {
        expect_the_same(events_of({ticks}));
    }
    EXPECT_LE(m_body->captures().shapes(), 13U);
}

TEST_F(Section, WindowsOfALongReadoutAreAShapeOfTheirOwn) {
    build();
    capture();
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
    capture();
    expect_the_same(events_of({8, 8, 10, 12, 14, 8, 16, 8, 10, 10}));
    // 8 stays, since it was asked for after 10, which is forgotten for 16 and begins anew.
    EXPECT_EQ(test::StandInGraph::replays(), 4);
    EXPECT_EQ(test::StandInGraph::captures(), 2);
}

TEST_F(Section, NoMoreCapturesThanPlanned) {
    build();
    capture(1, 1);
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
    capture();
    test::StandInGraph::fitting() = 2;
    expect_the_same(events_of({8, 8, 10, 10, 8, 12, 12}));
    EXPECT_EQ(test::StandInGraph::alive(), 2);    // 8 and 12
    EXPECT_EQ(test::StandInGraph::captures(), 5); // two of 12 failed: with emptied caches, and before that
    expect_the_same(events_of({8, 12}));
    EXPECT_EQ(test::StandInGraph::captures(), 5);
}

TEST_F(Section, EventWithoutMemoryDropsGraphsAndCapturesAgainLater) {
    build();
    capture();
    expect_the_same(events_of({8, 8, 10, 10, 10}));
    test::StandInGraph::fitting() = 1;
    expect_the_same(events_of({10})); // the graph of 8 goes
    EXPECT_EQ(test::StandInGraph::alive(), 1);
    EXPECT_EQ(test::StandInGraph::replays(), 5); // one of them failed
    test::StandInGraph::fitting() = 0;
    expect_the_same(events_of({10}));
    EXPECT_EQ(test::StandInGraph::alive(), 0);
    // An event that was tried again counts twice.
    expect_the_same(events_of(std::vector<std::int64_t>(Captures::first_pause - 2, 10)));
    EXPECT_EQ(test::StandInGraph::captures(), 2);
    test::StandInGraph::fitting() = 1;
    expect_the_same(events_of({10}));
    EXPECT_EQ(test::StandInGraph::captures(), 3);
    EXPECT_EQ(test::StandInGraph::alive(), 1);
}

TEST_F(Section, MissingMemoryForAnyGraphLeavesTheNodesOneByOne) {
    build();
    capture();
    test::StandInGraph::fitting() = 0;
    expect_the_same(events_of({8, 8, 8, 10, 10, 8}));
    EXPECT_EQ(test::StandInGraph::captures(), 2); // the second with emptied caches; none for 10
    EXPECT_EQ(test::StandInGraph::replays(), 0);
}

TEST_F(Section, ReleasesTheGraphUsedLongestAgoOrAll) {
    build();
    capture();
    expect_the_same(events_of({8, 8, 10, 10, 12, 12, 8}));
    m_body->release_memory(false);
    EXPECT_EQ(test::StandInGraph::alive(), 2);
    expect_the_same(events_of({8, 12}));
    EXPECT_EQ(test::StandInGraph::captures(), 3); // 10 was used longest ago
    m_body->release_memory(true);
    EXPECT_EQ(test::StandInGraph::alive(), 0);
    m_body->release_memory(true);
    expect_the_same(events_of({8, 12}));
}

TEST_F(Section, FailedReplayIsTheEventsFailureAndTheNextOneWorks) {
    build();
    capture();
    run({event(0, 8), event(1, 8)});
    test::StandInGraph::fails_at() = 2;
    const Error error = test::error_of([&] { run({event(2, 8)}); });
    EXPECT_NE(std::string(error.what()).find("a kernel failed"), std::string::npos) << error.what();
    expect_the_same({event(3, 8), event(4, 8)});
    EXPECT_EQ(test::StandInGraph::replays(), 4); // one of them failed
}

TEST_F(Section, RecordedCallsAreNotMeasuredAndReplaysAreOneCall) {
    build();
    capture();
    run({event(0, 8), event(1, 8), event(2, 8)});
    // The stand-in's replays call the nodes, unmeasured as while recording.
    EXPECT_EQ(node<Node>("TestSectionWork").meter().calls().size(), 1u);
    EXPECT_EQ(m_body->meter().calls().size(), 3u);
}

TEST_F(Section, ThreadsShareTheRecordings) {
    build();
    capture(2);
    run({event(0, 8)});
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (int i = 0; i < 50; ++i) {
                const int index = 10 * thread + i % 10;
                const auto done = call(event(index, 8), *m_body);
                const auto result = done->take(m_parts.tail.front().inputs.front());
                const auto last = result->at("doubled").data[1][1][7].item<float>();
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
    capture();
    const auto results = run(events_of({8, 8, 8, 8}));
    EXPECT_EQ(test::StandInGraph::replays(), 3);
    ASSERT_EQ(seen().size(), 8U); // two nodes report
    for (std::size_t i = 0; i < 4; ++i) {
        const auto last = static_cast<float>(1000 * i + 31 + 1);
        EXPECT_EQ(std::count(seen().begin(), seen().end(), std::pair(static_cast<int>(i), last)), 1);
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

TEST_F(Section, TapSeesEveryEventAndKeepsNoNodeFromTheCapture) {
    build(Json::object(), true);
    capture();
    expect_the_same(events_of({8, 8, 8}));
    EXPECT_EQ(test::StandInGraph::replays(), 2);
    const auto& tapped = node<SectionTap>("TestSectionTap").tapped;
    ASSERT_EQ(tapped.size(), 6u); // with captures, then one by one
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(tapped[i][1][1][7].item<float>(), static_cast<float>(2 * (1000 * i + 31) + 1));
        EXPECT_TRUE(tapped[i].equal(tapped[i + 3]));
    }
}

TEST_F(Section, NodeThatRejectsSaysWhy) {
    build({{"rejection", "it waits"}});
    EXPECT_EQ(find_device_section(m_parts).rejection, "TestSectionMore: it waits");
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
