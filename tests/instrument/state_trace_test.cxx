// SPDX-License-Identifier: Apache-2.0
// Calls as data: shapes, memory and times of nodes, and of services below them.

#include "spng/instrument/report/state_trace.h"

#include "spng/core/error.h"
#include "spng/instrument/meter/nested_call.h"
#include "spng/instrument/report/machine.h"

#include <ATen/Functions.h>
#include <c10/core/InferenceMode.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

namespace {

using namespace spng;
using namespace spng::instrument;

TensorSetPtr set_of(const std::string& name, const at::Tensor& data) {
    NamedTensor tensor;
    tensor.name = name;
    tensor.data = data;
    tensor.axes.resize(static_cast<std::size_t>(data.dim()));
    return std::make_shared<const TensorSet>(std::make_shared<EventInfo>(), std::vector{tensor});
}

class StateTraces : public testing::Test {
protected:
    /// A node that keeps a megabyte and calls a service twice.
    void call(std::uint64_t event, bool fails = false) {
        const NodeMeter::Call metered(m_node, event, c10::kCPU, {});
        const TensorSetPtr input = set_of("adc", at::zeros({2, 3}, at::kShort));
        m_kept.push_back(at::empty({1'000'000}, at::kByte));
        for (const std::int64_t size : {4, 5}) {
            const NestedCall nested(m_service);
            trace_state(m_service.identity(), {"features", at::zeros({1, size})},
                        {"probability", at::zeros({size})});
        }
        if (fails) {
            throw std::runtime_error("left early");
        }
        trace_state(m_node.identity(), event, c10::kCPU, {input},
                    {set_of("spectrum", at::zeros({2, 4}, at::kComplexFloat)), nullptr});
    }

    nlohmann::json calls(const StateTrace& trace) { return trace.json({&m_node, &m_service}).at("calls"); }

    const c10::InferenceMode m_no_gradients;
    NodeMeter m_node{{"SPNGDecon", "induction", "decon"}};
    NodeMeter m_service{{"SPNGTorchService", "", "service"}};
    std::vector<at::Tensor> m_kept;
};

TEST_F(StateTraces, HoldShapesMemoryAndTimes) {
    const StateTrace trace;
    const std::int64_t before = memory_in_use(c10::kCPU).allocated;
    call(3);
    const auto all = calls(trace);
    ASSERT_EQ(all.size(), 3u);
    const auto& node = all[0];
    EXPECT_EQ(node.at("node"), "SPNGDecon:induction");
    EXPECT_EQ(node.at("kind"), "decon");
    EXPECT_EQ(node.at("event"), 3);
    EXPECT_EQ(node.at("depth"), 0);
    EXPECT_EQ(node.at("failed"), false);
    EXPECT_EQ(node.at("device_ns"), nullptr);
    EXPECT_EQ(
        node.at("inputs"),
        nlohmann::json::parse(R"([{"name": "adc", "shape": [2, 3], "dtype": "Short", "device": "cpu"}])"));
    EXPECT_EQ(node.at("outputs"),
              nlohmann::json::parse(
                  R"([{"name": "spectrum", "shape": [2, 4], "dtype": "ComplexFloat", "device": "cpu"}])"));
    const auto& memory = node.at("memory");
    EXPECT_EQ(memory.at("device"), "cpu");
    EXPECT_GE(memory.at("call_allocated_bytes"), 1'000'000);
    EXPECT_GE(memory.at("call_peak_bytes"), 1'000'000);
    // At the time of the trace: the megabyte, the node's input and its output.
    EXPECT_EQ(memory.at("allocated_bytes"), before + 1'000'000 + 12 + 64);
    EXPECT_GT(memory.at("reserved_bytes"), memory.at("allocated_bytes"));
    for (int i : {0, 1}) {
        const auto& nested = all[static_cast<std::size_t>(i) + 1];
        EXPECT_EQ(nested.at("node"), "SPNGTorchService");
        EXPECT_EQ(nested.at("event"), 3);
        EXPECT_EQ(nested.at("depth"), 1);
        EXPECT_EQ(nested.at("inputs")[0].at("shape"), nlohmann::json({1, 4 + i}));
        EXPECT_GE(nested.at("start_ns"), node.at("start_ns"));
        EXPECT_LE(nested.at("wall_ns"), node.at("wall_ns"));
    }
    EXPECT_EQ(calls(trace), all) << "asked again, it answers the same";
}

TEST_F(StateTraces, LeaveOutTensorsOfAFailedCall) {
    const StateTrace trace;
    EXPECT_THROW(call(0, true), std::runtime_error);
    call(1);
    const auto all = calls(trace);
    ASSERT_EQ(all.size(), 6u);
    EXPECT_EQ(all[0].at("failed"), true);
    EXPECT_TRUE(all[0].at("outputs").empty());
    EXPECT_EQ(all[0].at("memory").at("allocated_bytes"), nullptr);
    EXPECT_EQ(all[3].at("outputs").size(), 1u);
}

TEST_F(StateTraces, ExistOneAtATime) {
    EXPECT_FALSE(tracing_states());
    {
        const StateTrace trace;
        EXPECT_TRUE(tracing_states());
        EXPECT_THROW(StateTrace(), Error);
    }
    EXPECT_FALSE(tracing_states());
    call(0); // nobody listens
    const StateTrace later;
    EXPECT_TRUE(calls(later)[0].at("inputs").empty());
}

TEST_F(StateTraces, AreWrittenWhole) {
    const StateTrace trace;
    call(0);
    const auto folder =
        std::filesystem::temp_directory_path() / ("spng_state_trace_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    trace.write(folder / "states.json", {&m_node, &m_service});
    std::ifstream file(folder / "states.json");
    const auto read = nlohmann::json::parse(file);
    EXPECT_EQ(read.at("schema"), "spng-states-1");
    EXPECT_EQ(read.at("calls"), calls(trace));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
    std::filesystem::remove_all(folder);
    try {
        trace.write(folder / "states.json", {&m_node});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Output);
        EXPECT_NE(std::string(error.what()).find("--trace-states"), std::string::npos);
    }
}

TEST_F(StateTraces, NestedCallsTakeOverEventAndMode) {
    {
        const NestedCall outside(m_service);
        EXPECT_FALSE(outside.is_measured());
    }
    {
        const NodeMeter::Call metered(m_node, 7, c10::kCPU, {});
        NestedCall nested(m_service);
        nested.count_bytes(100, 20);
        EXPECT_TRUE(nested.is_measured());
        EXPECT_EQ(current_call().node, &m_service.identity());
    }
    const auto inner = m_service.calls();
    const auto outer = m_node.calls();
    ASSERT_EQ(inner.size(), 1u);
    EXPECT_EQ(inner[0].event, 7u);
    EXPECT_EQ(inner[0].depth, 1);
    EXPECT_EQ(inner[0].bytes_in, 100u);
    EXPECT_EQ(inner[0].bytes_out, 20u);
    EXPECT_EQ(outer.at(0).nested_wall, inner[0].wall);
}

} // namespace
