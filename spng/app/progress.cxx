// SPDX-License-Identifier: Apache-2.0
#include "spng/app/progress.h"

#include "profiling/recorder/signals_blocked.h"
#include "spng/app/print.h"
#include "spng/core/log/log.h"
#include "spng/instrument/background_thread.h"
#include "spng/instrument/clock.h"
#include "spng/instrument/start_up.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>

namespace spng::app {
namespace {

constexpr const char* clear_line = "\r\033[K";
std::atomic<bool> line_is_shown{false};
static_assert(std::atomic<bool>::is_always_lock_free);
constexpr double seconds_on_terminal = 0.5; // between two lines
constexpr double seconds_elsewhere = 10;
constexpr int default_columns = 80;

std::string clock_text(double seconds) {
    const auto whole = static_cast<long long>(std::llround(seconds));
    char text[40];
    if (whole >= 3600) {
        std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
    } else {
        std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
    }
    return text;
}

std::string rate_text(double rate) {
    char text[40];
    std::snprintf(text, sizeof text, rate >= 10 ? "%.0f" : rate >= 1 ? "%.1f" : "%.2f", rate);
    return text;
}

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

bool is_in_background() {
    const pid_t foreground = tcgetpgrp(STDERR_FILENO);
    return foreground > 0 && foreground != getpgrp();
}

std::size_t terminal_columns() {
    winsize terminal{};
    const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &terminal) == 0 && terminal.ws_col > 0;
    return is_known ? terminal.ws_col : default_columns;
}

} // namespace

std::string progress_text(std::uint64_t done, std::uint64_t failed, double seconds,
                          std::optional<double> share_done) {
    std::string text = std::to_string(done) + (done == 1 ? " event" : " events");
    if (failed > 0) {
        text += ", " + std::to_string(failed) + " failed";
    }
    if (done > 0 && seconds > 0) {
        text += ", " + rate_text(static_cast<double>(done) / seconds) + " events/s";
    }
    text += ", " + clock_text(seconds);
    if (done > 0 && share_done && *share_done > 0 && *share_done < 1) {
        text += ", about " + clock_text(seconds * (1 - *share_done) / *share_done) + " left";
    }
    return text;
}

std::string progress_text(const FileCounts& files, double seconds) {
    const std::uint64_t ended = files.done + files.failed;
    std::string text = std::to_string(files.done);
    text += files.total ? " of " + std::to_string(*files.total) + " files" : ended == 1 ? " file" : " files";
    if (files.failed > 0) {
        text += ", " + std::to_string(files.failed) + " failed";
    }
    if (ended > 0 && seconds > 0) {
        text += ", " + rate_text(60 * static_cast<double>(ended) / seconds) + " files/min";
    }
    text += ", " + clock_text(seconds);
    if (ended > 0 && files.total && ended < *files.total) {
        text += ", about " +
                clock_text(seconds * static_cast<double>(*files.total - ended) / static_cast<double>(ended)) +
                " left";
    }
    return text;
}

Progress::Style Progress::style_for(std::optional<bool> wanted) {
    const bool is_terminal = isatty(STDERR_FILENO) == 1 && variable("TERM") != "dumb";
    if (!wanted.value_or(is_terminal && variable("CI").empty())) {
        return Style::none;
    }
    return is_terminal ? Style::terminal : Style::lines;
}

Progress::Progress(Style style) : m_style(style), m_begin(instrument::wall_nanoseconds()) {
    if (m_style == Style::none) {
        return;
    }
    if (m_style == Style::terminal) {
        log::set_stderr_prefix(clear_line);
    }
    // The thread inherits the signal mask, so that handlers keep running on the other threads.
    const recorder::SignalsBlocked blocked;
    m_thread = std::thread([this] { work(); });
}

Progress::~Progress() {
    finish();
}

void Progress::run_begins(const Job& job) {
    const std::lock_guard lock(m_mutex);
    m_job = &job;
    m_begin = instrument::wall_nanoseconds();
}

void Progress::files_begin(std::optional<std::uint64_t> total) {
    const std::lock_guard lock(m_mutex);
    m_files = FileCounts{.total = total};
    m_begin = instrument::wall_nanoseconds();
}

void Progress::file_ended(bool is_done) {
    const std::lock_guard lock(m_mutex);
    ++(is_done ? m_files->done : m_files->failed);
}

void Progress::finish() {
    if (!m_thread.joinable()) {
        return;
    }
    {
        const std::lock_guard lock(m_mutex);
        m_ending = true;
    }
    m_changed.notify_one();
    m_thread.join();
    if (m_style == Style::terminal) {
        clear_progress_in_signal_handler();
        log::set_stderr_prefix("");
    } else if (m_job != nullptr || m_files) {
        show(text());
    }
}

std::string Progress::text() const {
    const double seconds = 1e-9 * static_cast<double>(instrument::wall_nanoseconds() - m_begin);
    if (m_files) {
        return progress_text(*m_files, seconds);
    }
    if (m_job == nullptr) {
        const std::string phase = instrument::current_start_up_phase();
        return (phase.empty() ? "preparing" : phase) + ", " + clock_text(seconds);
    }
    return progress_text(m_counts.done, m_counts.failed, seconds, m_job->share_done());
}

void Progress::show(const std::string& text) {
    if (m_style == Style::lines) {
        print_message("wire-cell: " + text + "\n");
        return;
    }
    if (is_in_background()) {
        return;
    }
    line_is_shown = true;
    print_message(clear_line + text.substr(0, std::max<std::size_t>(1, terminal_columns() - 1)));
}

void clear_progress_in_signal_handler() noexcept {
    if (line_is_shown.exchange(false)) {
        [[maybe_unused]] const auto written = ::write(STDERR_FILENO, clear_line, std::strlen(clear_line));
    }
}

void Progress::work() {
    const instrument::BackgroundThread background("progress");
    const double pause = m_style == Style::terminal ? seconds_on_terminal : seconds_elsewhere;
    std::unique_lock lock(m_mutex);
    while (!m_changed.wait_for(lock, std::chrono::duration<double>(pause), [this] { return m_ending; })) {
        show(text());
    }
}

} // namespace spng::app
