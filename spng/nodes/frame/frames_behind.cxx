// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/frames_behind.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/error.h"

#include <string>
#include <utility>

namespace spng {

FramesBehind::FramesBehind(const std::filesystem::path& path, std::optional<int> level, bool behind,
                           FrameForm form)
    : m_writer(path, level, form),
      m_worker(behind ? std::make_unique<BackgroundWorker>("write-behind") : nullptr) {}

void FramesBehind::write_now(const Frame& frame, std::uint64_t event) {
    NVTX_SCOPED_RANGE("FrameFileSink::write");
    try {
        m_writer.write(frame);
    } catch (Error& error) {
        error.add_where("writing event " + std::to_string(event));
        throw;
    }
}

void FramesBehind::wait() {
    if (m_pending.valid()) {
        try {
            m_pending.get();
        } catch (...) {
            m_failure = std::current_exception();
        }
    }
    rethrow_copy(m_failure);
}

void FramesBehind::write(Frame frame, std::uint64_t event) {
    wait();
    auto task = [this, frame = std::move(frame), event] { write_now(frame, event); };
    if (m_worker) {
        m_pending = m_worker->submit(std::move(task));
        return;
    }
    std::packaged_task<void()> now(std::move(task));
    m_pending = now.get_future();
    now();
    wait();
}

void FramesBehind::close() {
    NVTX_SCOPED_RANGE("FrameFileSink::close");
    wait();
    m_writer.close();
}

} // namespace spng
