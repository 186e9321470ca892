// SPDX-License-Identifier: Apache-2.0
#pragma once
// A captured graph without a device: it stores the work and repeats it. As with a device's graph, all replays write
// their results to the same memory, and it holds no result before the first replay.

#include "spng/device/device_graph.h"

#include <c10/util/Exception.h>

#include <atomic>
#include <stdexcept>

namespace spng::test {

class StandInGraph : public DeviceGraph {
public:
    StandInGraph() { ++alive(); }
    ~StandInGraph() override { --alive(); }

    std::vector<at::Tensor> capture(const Work& work) override {
        ++captures();
        if (rejects()) {
            throw std::runtime_error("operation not permitted when stream is capturing");
        }
        require_memory();
        m_work = work;
        m_outputs = work();
        for (auto& output : m_outputs) {
            output.fill_(1);
        }
        return m_outputs;
    }
    void replay() override {
        ++replays();
        if (replays() == fails_at()) {
            throw std::runtime_error("a kernel failed");
        }
        require_memory();
        const auto results = m_work();
        for (std::size_t i = 0; i < m_outputs.size(); ++i) {
            m_outputs[i].copy_(results.at(i));
        }
    }

    static std::atomic<int>& captures() { return counter<0>(); }
    static std::atomic<int>& replays() { return counter<1>(); }
    static std::atomic<int>& fails_at() { return counter<2>(); }
    static std::atomic<int>& rejects() { return counter<3>(); }
    /// Number of graphs for which there is memory. With more of them, captures and replays run out of memory.
    static std::atomic<int>& fitting() { return counter<4>(); }
    static std::atomic<int>& alive() { return counter<5>(); }

private:
    static void require_memory() {
        TORCH_CHECK_WITH(OutOfMemoryError, alive() <= fitting(), "CUDA out of memory.");
    }
    template <int>
    static std::atomic<int>& counter() {
        static std::atomic<int> count{0};
        return count;
    }
    Work m_work;
    std::vector<at::Tensor> m_outputs;
};

/// While it lives, the CPU is a device with graphs.
class WithStandInGraphs {
public:
    WithStandInGraphs() {
        StandInGraph::fitting() = 1000;
        for (auto* counter : {&StandInGraph::captures(), &StandInGraph::replays(), &StandInGraph::fails_at(),
                              &StandInGraph::rejects()}) {
            *counter = 0;
        }
        set_device_graph_maker(c10::DeviceType::CPU, [](c10::Device) -> std::unique_ptr<DeviceGraph> {
            return std::make_unique<StandInGraph>();
        });
    }
    ~WithStandInGraphs() { set_device_graph_maker(c10::DeviceType::CPU, nullptr); }
    WithStandInGraphs(const WithStandInGraphs&) = delete;
    WithStandInGraphs& operator=(const WithStandInGraphs&) = delete;
};

} // namespace spng::test
