// SPDX-License-Identifier: Apache-2.0
#include "spng/pipeline/warm_job.h"

#include "profiling/recorder/signals_blocked.h"
#include "spng/core/error.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/nodes/memory/memory_sink.h"
#include "spng/nodes/memory/memory_source.h"

#include <utility>

namespace spng {
namespace {

constexpr std::size_t kept_calls = 1000; // of each node, for reports

} // namespace

WarmJob::WarmJob(JobRequest request, std::size_t queue_size, int graph_threads)
    : m_queue(std::make_shared<EventQueue>(queue_size)) {
    std::promise<void> prepared;
    {
        // The thread inherits the signal mask, so that handlers of the caller's program keep running on its
        // own threads.
        const recorder::SignalsBlocked blocked;
        m_thread = std::thread([this, &request, graph_threads, &prepared] {
            work(std::move(request), graph_threads, prepared);
        });
    }
    try {
        prepared.get_future().get();
    } catch (...) {
        m_thread.join();
        throw;
    }
}

WarmJob::~WarmJob() {
    close();
}

std::future<OutputFrame> WarmJob::submit(QueuedEvent event, MakeFrame make_frame) {
    auto promise = std::make_shared<std::promise<OutputFrame>>();
    auto future = promise->get_future();
    m_queue->push(std::move(event), [promise, make_frame = std::move(make_frame)](EventResult result,
                                                                                  std::exception_ptr error) {
        try {
            if (error) {
                std::rethrow_exception(error);
            }
            OutputFrame frame = make_frame(result);
            frame.waited_seconds = result.waited_seconds;
            frame.run_seconds = result.run_seconds;
            promise->set_value(std::move(frame));
        } catch (...) {
            promise->set_exception(std::current_exception());
        }
    });
    return future;
}

void WarmJob::close() {
    m_queue->close();
    const std::lock_guard lock(m_mutex);
    if (m_thread.joinable()) {
        m_thread.join();
        m_last_report = m_session->report(/*with_provenance=*/true);
        m_session.reset();
    }
}

instrument::RunReport WarmJob::report() const {
    const std::lock_guard lock(m_mutex);
    return m_last_report ? *m_last_report : m_session->report(/*with_provenance=*/true);
}

void WarmJob::work(JobRequest request, int graph_threads, std::promise<void>& prepared) {
    try {
        m_session = std::make_unique<JobSession>(std::move(request));
        connect();
        RunOptions options;
        options.graph_threads = graph_threads;
        options.skip_failed = true;
        options.on_failed = [this](std::uint64_t event, const Error& error) { m_queue->fail(event, error); };
        options.meter_mode.kept_calls = kept_calls;
        m_session->prepare(options);
    } catch (...) {
        m_session.reset();
        prepared.set_exception(std::make_exception_ptr(current_error()));
        return;
    }
    prepared.set_value();
    run();
}

void WarmJob::connect() {
    MemorySource* source = nullptr;
    std::size_t sources = 0, sinks = 0;
    for (const auto& vertex : m_session->job().graph().vertices()) {
        if (auto* found = dynamic_cast<MemorySource*>(vertex.node)) {
            source = found;
            ++sources;
        } else if (auto* sink = dynamic_cast<MemorySink*>(vertex.node)) {
            sink->connect(m_queue);
            ++sinks;
        } else if (vertex.input_edges.empty()) {
            ++sources;
        }
    }
    if (source == nullptr || sources != 1 || sinks == 0) {
        throw Error(ErrorKind::Configuration,
                    {.what = "the configuration does not take events from memory",
                     .where = m_session->configuration().file.string(),
                     .seen = std::to_string(sources) + " sources, " + (source == nullptr ? "none" : "one") +
                             " of them SPNGMemorySource, and " + std::to_string(sinks) + " SPNGMemorySink",
                     .expected = "SPNGMemorySource as the only source, and at least one SPNGMemorySink",
                     .hint = "cfg/lib/memory.jsonnet has both as parts of a graph"});
    }
    source->connect(m_queue);
}

void WarmJob::run() {
    try {
        const RunSummary summary =
            m_session->run([](Job& job, const RunOptions& options) { return job.run(options); });
        m_queue->end(summary.device_error ? *summary.device_error : EventQueue::closed());
    } catch (...) {
        m_queue->end(current_error());
    }
}

} // namespace spng
