// SPDX-License-Identifier: Apache-2.0
#pragma once
// Conversion of CUPTI's activity records to rows of the recording.

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

/// Converter of activity records. Thread-safe, because CUPTI delivers buffers on its own thread or on a
/// thread that flushes.
class CuptiRecords {
public:
    CuptiRecords(Recorder& recorder, const CudaLibraries& libraries, const CuptiClock& clock)
        : m_recorder(recorder), m_libraries(libraries), m_clock(clock) {}

    /// Convert the records of a buffer and add the rows to the recorder.
    /// @param size  size of the records [bytes]
    void take(std::uint8_t* buffer, std::size_t size);

    /// Record the driver calls that have no runtime call. A runtime function calls the driver with the same
    /// correlation id, and their records arrive in either order. As in nsys, only the runtime call is
    /// recorded. A driver call therefore waits until its runtime call would have arrived. Call this at
    /// intervals.
    /// @param all  true: no more records will arrive; record all waiting driver calls
    void settle_driver_calls(bool all);

    /// Return the count of records of unknown kinds.
    std::uint64_t unknown() const { return m_unknown; }

private:
    struct Batch;
    void decode(const CUpti_Activity& record, Batch& batch);
    /// Convert a record of one type.
    template <class Record>
    void add(const Record& record, Batch& batch);
    template <class Record>
    void add_copy(const Record& copy, std::int64_t kind, Batch& batch);

    struct KernelNames {
        StringId mangled, demangled, short_name;
    };
    const KernelNames& kernel_names(const char* mangled);
    StringId api_name(CUpti_CallbackDomain domain, CUpti_CallbackId id);
    TimePoint at(std::uint64_t time) const { return m_clock.convert(time); }

    Recorder& m_recorder;
    const CudaLibraries& m_libraries;
    const CuptiClock& m_clock;
    /// Guards the members below.
    std::mutex m_mutex;
    std::unordered_map<std::string, KernelNames> m_kernel_names;
    std::map<std::pair<int, CUpti_CallbackId>, StringId> m_api_names;
    std::unordered_map<std::uint32_t, std::uint32_t> m_device_of_context;
    std::unordered_map<std::int64_t, ApiRow> m_driver_calls; ///< waiting calls, by correlation id
    std::unordered_set<std::int64_t> m_runtime_calls, m_earlier_runtime_calls;
    TimePoint m_settled;
    std::uint64_t m_unknown = 0;
};

} // namespace spng::recorder
