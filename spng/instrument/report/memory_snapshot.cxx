// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/report/memory_snapshot.h"

#include "spng/core/error.h"
#include "spng/core/log/log.h"
#include "spng/device/memory/allocator_history.h"
#include "spng/instrument/report_file.h"

#include <exception>
#include <utility>

namespace spng::instrument {

MemorySnapshot::MemorySnapshot(std::string file) : m_file(std::move(file)), m_is_pending(!m_file.empty()) {
    if (m_is_pending) {
        request_allocator_history();
    }
}

MemorySnapshot::~MemorySnapshot() {
    if (!m_is_pending || !allocator_history_is_on()) {
        return;
    }
    try {
        log::warn("wire-cell", "the job failed; snapshot of the device memory in " + write());
    } catch (const std::exception& error) {
        log::warn("wire-cell", std::string("no snapshot of the device memory: ") + error.what());
    }
}

void MemorySnapshot::require_history(const std::vector<c10::Device>& devices) const {
    if (m_file.empty() || allocator_history_is_on()) {
        return;
    }
    throw Error(ErrorKind::Usage, {.what = "--memory-snapshot does not apply to this job",
                                   .where = "command line",
                                   .seen = "a job on " + devices.front().str(),
                                   .expected = "a job on a CUDA device",
                                   .hint = "-A device=cuda, or leave the option out"});
}

std::string MemorySnapshot::write() {
    if (std::exchange(m_is_pending, false)) {
        write_report_file(m_file, allocator_snapshot(), "--memory-snapshot");
    }
    return m_file;
}

} // namespace spng::instrument
