// SPDX-License-Identifier: Apache-2.0
#pragma once
// Buffers of activity records: CUPTI asks the program for empty ones and gives them back full.

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace cuda_simulator {

class ActivityBuffers {
public:
    void set_callbacks(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete);
    bool has_callbacks() const { return m_request != nullptr; }

    /// Append a record. Count it as dropped if the program has no buffer for it.
    template <class Record>
    void add(const Record& record) {
        append(&record, sizeof record);
    }

    /// Give buffers back to the program.
    /// @param all  true: also the one that is not full
    void deliver(bool all);

    /// Return the count of dropped records since the last call.
    std::size_t take_dropped();

    /// Return the length of a record in a buffer; 0: not a kind that this library writes.
    static std::size_t length(const CUpti_Activity& record);

private:
    struct Buffer {
        std::uint8_t* data = nullptr;
        std::size_t size = 0, used = 0;
    };
    void append(const void* record, std::size_t bytes);

    std::mutex m_mutex;
    CUpti_BuffersCallbackRequestFunc m_request = nullptr;
    CUpti_BuffersCallbackCompleteFunc m_complete = nullptr;
    Buffer m_open;
    std::vector<Buffer> m_full;
    std::size_t m_dropped = 0;
};

} // namespace cuda_simulator
