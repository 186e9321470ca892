// SPDX-License-Identifier: Apache-2.0
// Part "cuda": activity of CUDA devices and CUDA API calls of the program, from CUPTI's activity records.
// docs/decisions/recorder.md describes the tiers.

#include "profiling/recorder/activity_source.h"
#include "profiling/recorder/device/cupti_clock.h"
#include "profiling/recorder/device/cupti_functions.h"
#include "profiling/recorder/device/cupti_records.h"
#include "profiling/recorder/device/gpu_rows.h"
#include "profiling/recorder/recorder.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace spng::recorder {
namespace {

// CUPTI's documentation advises 1 to 10 MB.
constexpr std::size_t buffer_size = 8 << 20;
constexpr std::size_t buffer_alignment = 8;

/// Kind of activity. If a required kind is unavailable, the part is off.
struct Kind {
    CUpti_ActivityKind kind;
    const char* name;
    bool required;
};
constexpr std::array kinds{
    Kind{CUPTI_ACTIVITY_KIND_CONTEXT, "contexts", false},
    Kind{CUPTI_ACTIVITY_KIND_STREAM, "streams", false},
    // CUPTI_ACTIVITY_KIND_KERNEL would serialize kernels.
    Kind{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernels", true},
    Kind{CUPTI_ACTIVITY_KIND_MEMCPY, "copies", true},
    Kind{CUPTI_ACTIVITY_KIND_MEMCPY2, "copies between devices", false},
    Kind{CUPTI_ACTIVITY_KIND_MEMSET, "memory sets", true},
    Kind{CUPTI_ACTIVITY_KIND_RUNTIME, "runtime calls", true},
    Kind{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronisation", false},
    Kind{CUPTI_ACTIVITY_KIND_OVERHEAD, "overhead", false},
    Kind{CUPTI_ACTIVITY_KIND_MEMORY2, "memory", false},
    Kind{CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, "correlation to node calls", false},
};

// Driver functions that start device work, for libraries that do not use the runtime. cuFFT launches all its
// kernels this way.
constexpr std::array driver_launches{
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async_ptsz,
};

/// Ids of the open node calls of this thread, innermost last.
thread_local std::vector<std::uint64_t> t_calls;

/// Return true if each graph launch is recorded as one operation instead of one per node
/// (SPNG_RECORD_GRAPHS=whole), which takes less time.
bool whole_graphs() {
    const char* const text = std::getenv("SPNG_RECORD_GRAPHS");
    return text != nullptr && std::string(text) == "whole";
}

class CuptiSource;
/// Source that receives the callbacks; CUPTI's buffer callbacks have no user parameter.
std::atomic<CuptiSource*> receiver{nullptr};

class CuptiSource final : public ActivitySource {
public:
    Readiness start(Recorder& recorder) override {
        m_recorder = &recorder;
        m_libraries = load_cuda_libraries();
        if (m_libraries.has_driver) {
            add_gpu_rows(m_libraries.driver, recorder);
        }
        Readiness readiness{m_libraries.problem.empty(), m_libraries.problem, m_libraries.no_driver};
        if (readiness.ready) {
            readiness = subscribe();
        }
        if (readiness.ready) {
            recorder.note("tier", "cupti");
        }
        recorder.note("tier_reason", readiness.ready ? "CUPTI records activity" : readiness.reason);
        return readiness;
    }

    void pause(Recorder&) override {
        for (const auto kind : m_enabled) {
            m_libraries.cupti.disable(kind);
        }
    }

    void resume(Recorder&) override {
        for (const auto kind : m_enabled) {
            m_libraries.cupti.enable(kind);
        }
    }

    void call_begins(std::uint64_t call) noexcept override {
        t_calls.push_back(call);
        m_libraries.cupti.push_correlation(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, call);
    }

    void call_ends(std::uint64_t call) noexcept override {
        if (!t_calls.empty() && t_calls.back() == call) {
            t_calls.pop_back();
            std::uint64_t last = 0;
            m_libraries.cupti.pop_correlation(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last);
        }
    }

    void flush(Recorder&) override {
        m_clock.compare(m_libraries.cupti);
        m_libraries.cupti.flush(0); // full buffers only
        m_records->settle_driver_calls(false);
    }

    void stop(Recorder& recorder) override {
        m_libraries.driver.synchronize_all();
        m_clock.compare(m_libraries.cupti);
        m_libraries.cupti.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
        count_dropped(nullptr, 0);
        pause(recorder);
        m_libraries.cupti.unsubscribe(m_subscriber);
        m_records->settle_driver_calls(true);
        recorder.note("cuda.dropped_records", std::to_string(m_dropped));
        recorder.note("cuda.unknown_records", std::to_string(m_records->unknown()));
        recorder.note("cuda.clock", m_clock.description());
        if (m_dropped > 0) {
            recorder.diagnose(Severity::warning, "CUPTI dropped " + std::to_string(m_dropped) +
                                                     " records: device work is missing");
        }
    }

private:
    Readiness subscribe();
    Readiness enable_kinds();
    void note_versions();

    static void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
        *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_size));
        *size = *buffer == nullptr ? 0 : buffer_size;
        *records = 0; // no limit but the size
    }

    static void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                          std::size_t, std::size_t valid) {
        if (CuptiSource* const source = receiver; source != nullptr && buffer != nullptr) {
            source->m_records->take(buffer, valid);
            source->count_dropped(context, stream);
        }
        std::free(buffer);
    }

    void count_dropped(CUcontext context, std::uint32_t stream) {
        std::size_t dropped = 0;
        if (m_libraries.cupti.dropped_records(context, stream, &dropped) == CUPTI_SUCCESS) {
            m_dropped += dropped;
        }
    }

    /// Handle the creation or cloning of a node of a CUDA graph.
    static void CUPTIAPI resource_event(void*, CUpti_CallbackDomain domain, CUpti_CallbackId event,
                                        const void* data) {
        CuptiSource* const source = receiver;
        if (source != nullptr && domain == CUPTI_CB_DOMAIN_RESOURCE && data != nullptr) {
            const auto& resource = *static_cast<const CUpti_ResourceData*>(data);
            source->graph_node(event, *static_cast<const CUpti_GraphData*>(resource.resourceDescriptor));
        }
    }

    void graph_node(CUpti_CallbackId event, const CUpti_GraphData& graph) {
        GraphNodeRow row;
        std::uint64_t node = 0, original = 0;
        if (!m_recorder->is_open() || m_libraries.cupti.graph_node_id(graph.node, &node) != CUPTI_SUCCESS) {
            return;
        }
        const bool cloned = event == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED;
        if (cloned && m_libraries.cupti.graph_node_id(graph.originalNode, &original) == CUPTI_SUCCESS) {
            row.original_node = static_cast<std::int64_t>(original);
        }
        row.start = row.end = now();
        row.thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
        row.name = m_recorder->intern(cloned ? "CUDA graph node cloned" : "CUDA graph node created");
        row.node = static_cast<std::int64_t>(node);
        row.call = t_calls.empty() ? std::nullopt : Count(static_cast<std::int64_t>(t_calls.back()));
        m_recorder->add(row);
    }

    Recorder* m_recorder = nullptr;
    CudaLibraries m_libraries;
    CuptiClock m_clock;
    std::optional<CuptiRecords> m_records;
    CUpti_SubscriberHandle m_subscriber{};
    std::vector<CUpti_ActivityKind> m_enabled;
    std::atomic<std::uint64_t> m_dropped{0};
};

/// Subscribe to CUPTI, which allows one tool at a time.
Readiness CuptiSource::subscribe() {
    const auto& cupti = m_libraries.cupti;
    std::array<char, 256> owner{};
    CUptiResult result;
    if (cupti.subscribe_naming != nullptr) {
        CUpti_SubscriberParams parameters{};
        parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
        parameters.subscriberName = "SPNG recorder";
        parameters.oldSubscriberName = owner.data();
        parameters.oldSubscriberSize = owner.size() - 1;
        result = cupti.subscribe_naming(&m_subscriber, &resource_event, nullptr, &parameters);
    } else {
        result = cupti.subscribe(&m_subscriber, &resource_event, nullptr);
    }
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || result == CUPTI_ERROR_MAX_LIMIT_REACHED) {
        return {false, "CUPTI is in use by " +
                           (owner[0] != '\0' ? std::string(owner.data())
                                             : std::string("another tool (nsys, ncu, LibTorch's profiler)"))};
    }
    if (result != CUPTI_SUCCESS) {
        return {false, "CUPTI does not start: " + cupti.to_string(result)};
    }
    m_clock.begin(cupti);
    m_records.emplace(*m_recorder, m_libraries, m_clock);
    receiver = this;
    const Readiness readiness = enable_kinds();
    if (readiness.ready) {
        note_versions();
    } else {
        pause(*m_recorder);
        cupti.unsubscribe(m_subscriber);
        receiver = nullptr;
    }
    return readiness;
}

Readiness CuptiSource::enable_kinds() {
    const auto& cupti = m_libraries.cupti;
    cupti.set_thread_ids(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM); // as in NVTX_EVENTS, not pthread's
    CUptiResult result = cupti.set_buffers(&buffer_requested, &buffer_completed);
    std::string missing;
    for (const auto& kind : kinds) {
        if (result == CUPTI_SUCCESS) {
            const CUptiResult enabled = cupti.enable(kind.kind);
            if (enabled == CUPTI_SUCCESS) {
                m_enabled.push_back(kind.kind);
            } else if (kind.required) {
                result = enabled;
            } else {
                missing += (missing.empty() ? "" : ", ") + std::string(kind.name);
            }
        }
    }
    if (result != CUPTI_SUCCESS) {
        return {false, "CUPTI rejects the activity kinds: " + cupti.to_string(result)};
    }
    if (cupti.enable_driver_call != nullptr) {
        for (const auto function : driver_launches) {
            cupti.enable_driver_call(function, 1);
        }
    } else if (cupti.enable(CUPTI_ACTIVITY_KIND_DRIVER) == CUPTI_SUCCESS) {
        m_enabled.push_back(CUPTI_ACTIVITY_KIND_DRIVER);
    } else {
        missing += (missing.empty() ? "" : ", ") + std::string("driver calls");
    }
    if (whole_graphs() && cupti.enable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) == CUPTI_SUCCESS) {
        m_enabled.push_back(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
    } else {
        for (const auto event :
             {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED}) {
            cupti.enable_callback(1, m_subscriber, CUPTI_CB_DOMAIN_RESOURCE, event);
        }
    }
    if (!missing.empty()) {
        m_recorder->diagnose(Severity::warning, "CUPTI does not record " + missing);
    }
    // Kinds without activity get an empty table.
    m_recorder->declare<KernelRow>();
    m_recorder->declare<MemcpyRow>();
    m_recorder->declare<MemsetRow>();
    m_recorder->declare<ApiRow>();
    m_recorder->declare<SynchronisationRow>();
    m_recorder->declare<ExternalCorrelationRow>();
    return {};
}

void CuptiSource::note_versions() {
    std::uint32_t version = 0;
    int driver = 0;
    m_libraries.cupti.get_version(&version);
    m_libraries.driver.version(&driver);
    m_recorder->note("cuda.cupti_version", std::to_string(version));
    m_recorder->note("cuda.driver_version", std::to_string(driver));
    m_recorder->note("cuda.graphs", whole_graphs() ? "whole" : "nodes");
}

const SourceRegistration<CuptiSource> registration("cuda");

} // namespace
} // namespace spng::recorder
