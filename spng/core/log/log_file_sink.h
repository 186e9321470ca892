// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/details/file_helper.h>
#include <spdlog/sinks/base_sink.h>

#include <mutex>
#include <string>

namespace spng::log {

/// Sink that appends to a file. Keeps its lines in memory until open().
class LogFileSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    explicit LogFileSink(std::string name);

    const std::string& name() const { return m_name; }
    bool is_open();
    bool has_lines();

    /// Open the file and write the kept lines. Later lines go to the file directly.
    /// @throws spdlog_ex if the file cannot be opened or written
    void open();

protected:
    void sink_it_(const spdlog::details::log_msg& message) override;
    void flush_() override;

private:
    const std::string m_name;
    spdlog::details::file_helper m_file;
    spdlog::memory_buf_t m_kept;
    bool m_is_open = false;
};

} // namespace spng::log
