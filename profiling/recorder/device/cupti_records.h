#pragma once
// Buffers of CUPTI's activity records become rows of the recording.

#include "profiling/recorder/device/cupti_clock.h"
#include "profiling/recorder/device/cupti_functions.h"
#include "profiling/recorder/recorder.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace spng::recorder {

/// Thread-safe: CUPTI hands buffers over on a thread of its own or on one that flushes.
class CuptiRecords {
public:
    CuptiRecords(Recorder& recorder, const CudaLibraries& libraries, const CuptiClock& clock)
        : m_recorder(recorder), m_libraries(libraries), m_clock(clock) {}

    /// @param size  bytes of whole records
    void take(std::uint8_t* buffer, std::size_t size);

    /// A runtime function that launches something does it through the driver, whose call has the same
    /// correlation; only the outer one is to be recorded, as nsys does, whichever comes first. So a driver
    /// call waits until its runtime call would have come. To be called now and then.
    /// @param all  at the end: nothing more will come
    void settle_driver_calls(bool all);

    /// Records of kinds that were not asked for.
    std::uint64_t unknown() const { return m_unknown; }

private:
    struct Batch;
    void decode(const CUpti_Activity& record, Batch& batch);
    void add_kernel(const CUpti_Activity& record, Batch& batch);
    void add_memcpy(const CUpti_Activity& record, Batch& batch);
    void add_peer_memcpy(const CUpti_Activity& record, Batch& batch);
    void add_memset(const CUpti_Activity& record, Batch& batch);
    void add_api_call(const CUpti_Activity& record, Batch& batch);
    void add_synchronisation(const CUpti_Activity& record, Batch& batch);
    void add_overhead(const CUpti_Activity& record, Batch& batch);
    void add_memory(const CUpti_Activity& record, Batch& batch);
    void add_graph(const CUpti_Activity& record, Batch& batch);
    void add_correlation(const CUpti_Activity& record, Batch& batch);
    void add_device(const CUpti_Activity& record, Batch& batch);
    void add_context(const CUpti_Activity& record, Batch& batch);
    void add_stream(const CUpti_Activity& record, Batch& batch);

    struct KernelNames {
        StringId mangled, written, own;
    };
    const KernelNames& kernel_names(const char* mangled);
    StringId api_name(CUpti_CallbackDomain domain, CUpti_CallbackId number);
    TimePoint at(std::uint64_t time) const { return m_clock.convert(time); }

    Recorder& m_recorder;
    const CudaLibraries& m_libraries;
    const CuptiClock& m_clock;
    std::mutex m_mutex; ///< guards what follows
    std::unordered_map<std::string, KernelNames> m_kernel_names;
    std::map<std::pair<int, CUpti_CallbackId>, StringId> m_api_names;
    std::unordered_map<std::uint32_t, std::uint32_t> m_device_of_context;
    std::unordered_map<std::int64_t, ApiRow> m_driver_calls; ///< that wait, by correlation
    std::unordered_set<std::int64_t> m_runtime_calls, m_earlier_runtime_calls;
    TimePoint m_settled;
    std::uint64_t m_unknown = 0;
};

} // namespace spng::recorder
