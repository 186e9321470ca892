// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/cupti/activity_buffers.h"

#include <cstring>
#include <utility>

namespace cuda_simulator {
namespace {

/// Records begin at multiples of the alignment.
constexpr std::size_t padded(std::size_t bytes) {
    return (bytes + ACTIVITY_RECORD_ALIGNMENT - 1) / ACTIVITY_RECORD_ALIGNMENT * ACTIVITY_RECORD_ALIGNMENT;
}

} // namespace

void ActivityBuffers::set_callbacks(CUpti_BuffersCallbackRequestFunc request,
                                    CUpti_BuffersCallbackCompleteFunc complete) {
    const std::lock_guard lock(m_mutex);
    m_request = request;
    m_complete = complete;
}

void ActivityBuffers::append(const void* record, std::size_t bytes) {
    const std::lock_guard lock(m_mutex);
    if (m_open.data != nullptr && m_open.size - m_open.used < padded(bytes)) {
        m_full.push_back(std::exchange(m_open, {}));
    }
    if (m_open.data == nullptr && m_request != nullptr) {
        std::size_t max_records = 0;
        m_request(&m_open.data, &m_open.size, &max_records);
    }
    if (m_open.data == nullptr || m_open.size - m_open.used < padded(bytes)) {
        ++m_dropped;
        return;
    }
    std::memcpy(m_open.data + m_open.used, record, bytes);
    m_open.used += padded(bytes);
}

void ActivityBuffers::deliver(bool all) {
    std::vector<Buffer> buffers;
    {
        const std::lock_guard lock(m_mutex);
        buffers = std::exchange(m_full, {});
        if (all && m_open.data != nullptr) {
            buffers.push_back(std::exchange(m_open, {}));
        }
    }
    for (const Buffer& buffer : buffers) {
        m_complete(nullptr, 0, buffer.data, buffer.size, buffer.used);
    }
}

std::size_t ActivityBuffers::take_dropped() {
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_dropped, 0);
}

std::size_t ActivityBuffers::length(const CUpti_Activity& record) {
    switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return padded(sizeof(CUpti_ActivityKernel10));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return padded(sizeof(CUpti_ActivityMemcpy6));
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return padded(sizeof(CUpti_ActivityMemset4));
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        return padded(sizeof(CUpti_ActivityAPI));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return padded(sizeof(CUpti_ActivitySynchronization2));
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        return padded(sizeof(CUpti_ActivityOverhead3));
    case CUPTI_ACTIVITY_KIND_MEMORY2:
        return padded(sizeof(CUpti_ActivityMemory4));
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
        return padded(sizeof(CUpti_ActivityGraphTrace2));
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
        return padded(sizeof(CUpti_ActivityExternalCorrelation));
    case CUPTI_ACTIVITY_KIND_CONTEXT:
        return padded(sizeof(CUpti_ActivityContext3));
    case CUPTI_ACTIVITY_KIND_STREAM:
        return padded(sizeof(CUpti_ActivityStream));
    default:
        return 0;
    }
}

} // namespace cuda_simulator
