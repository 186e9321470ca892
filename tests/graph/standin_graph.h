// SPDX-License-Identifier: Apache-2.0
#pragma once
// A captured graph without a device: it stores the work and repeats it. As with a device's graph, all replays write
// their results to the same memory, and it holds no result before the first replay.

#include "spng/device/device_graph.h"

#include <atomic>
#include <stdexcept>

namespace spng::test {

class StandInGraph : public DeviceGraph {
public:
    std::vector<at::Tensor> capture(const Work& work) override {
        ++captures();
        if (rejects()) {
            throw std::runtime_error("operation not permitted when stream is capturing");
        }
        m_work = work;
        work(); // a device's graph also runs the work once before the capture
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
        const auto results = m_work();
        for (std::size_t i = 0; i < m_outputs.size(); ++i) {
            m_outputs[i].copy_(results.at(i));
        }
    }

    static std::atomic<int>& captures() { return counter<0>(); }
    static std::atomic<int>& replays() { return counter<1>(); }
    static std::atomic<int>& fails_at() { return counter<2>(); }
    static std::atomic<int>& rejects() { return counter<3>(); }

private:
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
