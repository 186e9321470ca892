// SPDX-License-Identifier: Apache-2.0
#include "spng/core/log/log_file_sink.h"

#include <utility>

namespace spng::log {

LogFileSink::LogFileSink(std::string name) : m_name(std::move(name)) {}

bool LogFileSink::is_open() {
    const std::lock_guard lock(mutex_);
    return m_is_open;
}

bool LogFileSink::has_lines() {
    const std::lock_guard lock(mutex_);
    return m_kept.size() > 0;
}

void LogFileSink::open() {
    const std::lock_guard lock(mutex_);
    m_file.open(m_name);
    m_is_open = true;
    m_file.write(m_kept);
    m_file.flush();
    m_kept.clear();
}

void LogFileSink::sink_it_(const spdlog::details::log_msg& message) {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (m_is_open) {
        m_file.write(line);
    } else {
        m_kept.append(line.data(), line.data() + line.size());
    }
}

void LogFileSink::flush_() {
    if (m_is_open) {
        m_file.flush();
    }
}

} // namespace spng::log
