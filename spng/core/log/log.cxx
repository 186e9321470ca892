// SPDX-License-Identifier: Apache-2.0
#include "spng/core/log/log.h"

#include "spng/core/error.h"
#include "spng/core/log/log_file.h"
#include "spng/core/log/log_file_sink.h"
#include "spng/core/nearest.h"
#include "spng/core/printable.h"

#include <spdlog/common.h>
#include <spdlog/details/log_msg.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <shared_mutex>

namespace spng::log {
namespace {

using SinkPtr = std::shared_ptr<spdlog::sinks::sink>;

constexpr std::size_t max_line_bytes = 16000;
constexpr const char* pattern = "[%H:%M:%S.%e] %^%L%$ [ %n ] %v";

spdlog::level::level_enum as_spdlog(Level level) {
    switch (level) {
    case Level::trace:
        return spdlog::level::trace;
    case Level::debug:
        return spdlog::level::debug;
    case Level::info:
        return spdlog::level::info;
    case Level::warn:
        return spdlog::level::warn;
    case Level::error:
        return spdlog::level::err;
    case Level::critical:
        return spdlog::level::critical;
    case Level::off:
        break;
    }
    return spdlog::level::off;
}

struct Sink {
    std::string name;
    SinkPtr sink;
    Level level;
};

/// Settings from the command line. Sinks do their own locking; the mutex guards the lists.
struct State {
    std::shared_mutex mutex;
    std::vector<Sink> sinks;
    Level default_level = Level::info;
    std::map<std::string, Level, std::less<>> levels;
    bool level_was_set = false;
    bool holds_files = false;
    bool is_silent = false; ///< without a sink
    std::string stderr_prefix;
    Handler handler;
    Level handler_level = Level::off;
    Sink fallback{"stderr", nullptr, Level::warn};
    std::atomic<Level> lowest{Level::warn}; ///< lines below this level are written nowhere

    State() {
        fallback.sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
        fallback.sink->set_pattern(pattern);
    }

    /// Call `visit` with each sink in use.
    template <class Visit>
    void each_sink(Visit visit) {
        if (sinks.empty() && !is_silent) {
            visit(fallback);
        }
        for (Sink& sink : sinks) {
            visit(sink);
        }
    }

    /// Recompute the levels that depend on the settings.
    void changed() {
        fallback.level = level_was_set ? Level::trace : Level::warn;
        Level loggers = default_level;
        for (const auto& [logger, level] : levels) {
            loggers = std::min(loggers, level);
        }
        Level outputs = Level::off;
        each_sink([&](const Sink& sink) { outputs = std::min(outputs, sink.level); });
        lowest = std::min(std::max(loggers, outputs), level_of_handler());
    }

    /// The handler gets all lines of its level and worse: the levels of the loggers are for the sinks.
    Level level_of_handler() const { return handler ? handler_level : Level::off; }

    /// Return the level of the longest configured name with which the logger's name begins.
    Level level_of(std::string_view logger) const {
        for (std::string_view name = logger;;) {
            if (const auto found = levels.find(name); found != levels.end()) {
                return found->second;
            }
            const auto colon = name.rfind(':');
            if (colon == std::string_view::npos) {
                return default_level;
            }
            name = name.substr(0, colon);
        }
    }
};

State& state() {
    // Never destroyed: components that live until the end of the program may still log.
    static State* const instance = new State;
    return *instance;
}

bool is_level(const std::string& name) {
    const auto& names = level_names();
    return name == "warning" || std::find(names.begin(), names.end(), name) != names.end();
}

void open_file(LogFileSink& file) {
    try {
        file.open();
    } catch (const spdlog::spdlog_ex& problem) {
        throw Error(ErrorKind::Usage, {.what = "the log file cannot be opened",
                                       .where = "-l " + file.name(),
                                       .seen = problem.what(),
                                       .expected = "stdout, stderr or a writable file"});
    }
}

/// Return the sinks that are files and not open yet.
std::vector<std::shared_ptr<LogFileSink>> held_sinks() {
    std::vector<std::shared_ptr<LogFileSink>> held;
    State& s = state();
    const std::shared_lock lock(s.mutex);
    for (const Sink& sink : s.sinks) {
        if (auto file = std::dynamic_pointer_cast<LogFileSink>(sink.sink); file && !file->is_open()) {
            held.push_back(std::move(file));
        }
    }
    return held;
}

void stop_holding() {
    State& s = state();
    const std::unique_lock lock(s.mutex);
    s.holds_files = false;
}

SinkPtr open_sink(const std::string& name, bool hold_file) {
    if (name == "stdout") {
        return std::make_shared<spdlog::sinks::stdout_color_sink_mt>();
    }
    if (name == "stderr") {
        return std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
    }
    auto file = std::make_shared<LogFileSink>(name);
    if (!hold_file) {
        open_file(*file);
    }
    return file;
}

} // namespace

const std::vector<std::string>& level_names() {
    static const std::vector<std::string> names{"trace", "debug", "info", "warn", "error", "critical", "off"};
    return names;
}

Level level_from(const std::string& name) {
    const auto& names = level_names();
    const auto found = std::find(names.begin(), names.end(), name == "warning" ? "warn" : name);
    if (found == names.end()) {
        throw Error(ErrorKind::Usage, {.what = "unknown log level '" + name + "'",
                                       .seen = name,
                                       .expected = joined(names),
                                       .hint = suggestion(name, names)});
    }
    return static_cast<Level>(found - names.begin());
}

void add_sink(const std::string& sink_and_level) {
    std::string name = sink_and_level;
    Level level = Level::trace;
    if (const auto colon = name.rfind(':'); colon != std::string::npos) {
        const std::string before = name.substr(0, colon), after = name.substr(colon + 1);
        // A colon may belong to a file name. Take the rest as a level if it is one, nearly is one, or follows
        // a stream.
        if (is_level(after) || before == "stdout" || before == "stderr" ||
            !nearest_name(after, level_names()).empty()) {
            level = level_from(after);
            name = before;
        }
    }
    State& s = state();
    SinkPtr sink = open_sink(name, s.holds_files);
    sink->set_pattern(pattern);
    const std::unique_lock lock(s.mutex);
    s.sinks.push_back({name, std::move(sink), level});
    s.changed();
}

void set_level(const std::string& logger_and_level) {
    const auto colon = logger_and_level.rfind(':');
    const Level level =
        level_from(colon == std::string::npos ? logger_and_level : logger_and_level.substr(colon + 1));
    State& s = state();
    const std::unique_lock lock(s.mutex);
    if (colon == std::string::npos) {
        s.default_level = level;
    } else {
        s.levels[logger_and_level.substr(0, colon)] = level;
    }
    s.level_was_set = true;
    s.changed();
}

void set_handler(Handler handler, Level level) {
    State& s = state();
    const std::unique_lock lock(s.mutex);
    s.handler = std::move(handler);
    s.handler_level = level;
    s.changed();
}

void set_stderr_prefix(const std::string& prefix) {
    State& s = state();
    const std::unique_lock lock(s.mutex);
    s.stderr_prefix = prefix;
    for (Sink& sink : s.sinks) {
        if (sink.name == "stderr") {
            sink.sink->set_pattern(prefix + pattern);
        }
    }
    s.fallback.sink->set_pattern(prefix + pattern);
}

void write_stderr_prefix() {
    State& s = state();
    const std::unique_lock lock(s.mutex);
    std::fwrite(s.stderr_prefix.data(), 1, s.stderr_prefix.size(), stderr);
    std::fflush(stderr);
}

void silence_stderr() {
    State& s = state();
    const std::unique_lock lock(s.mutex);
    s.is_silent = true;
    s.changed();
}

void reset() {
    State& s = state();
    const std::unique_lock lock(s.mutex);
    s.sinks.clear();
    s.levels.clear();
    s.default_level = Level::info;
    s.level_was_set = false;
    s.holds_files = false;
    s.is_silent = false;
    s.handler = {};
    s.changed();
}

void hold_files() {
    State& s = state();
    const std::unique_lock lock(s.mutex);
    s.holds_files = true;
}

std::vector<std::string> held_files() {
    std::vector<std::string> names;
    for (const auto& file : held_sinks()) {
        names.push_back(file->name());
    }
    return names;
}

void open_held_files() {
    for (const auto& file : held_sinks()) {
        open_file(*file);
    }
    stop_holding();
}

void give_up_held_files() noexcept {
    try {
        for (const auto& file : held_sinks()) {
            std::error_code problem;
            if (std::filesystem::symlink_status(file->name(), problem).type() ==
                std::filesystem::file_type::not_found) {
                open_file(*file);
            } else if (file->has_lines()) {
                std::fprintf(stderr, "log: nothing was added to %s, which may be a file of the job\n",
                             printable(shortened(file->name(), max_line_bytes)).c_str());
            }
        }
        stop_holding();
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "log: %s\n", problem.what());
    }
}

void drop_held_files() {
    const auto held = held_sinks();
    State& s = state();
    const std::unique_lock lock(s.mutex);
    std::erase_if(s.sinks, [&](const Sink& sink) {
        return std::find(held.begin(), held.end(), sink.sink) != held.end();
    });
    s.holds_files = false;
    s.changed();
}

bool enabled(std::string_view logger, Level level) {
    State& s = state();
    if (level < s.lowest.load(std::memory_order_relaxed)) {
        return false;
    }
    const std::shared_lock lock(s.mutex);
    return level != Level::off && level >= std::min(s.level_of(logger), s.level_of_handler());
}

void write(std::string_view logger, Level level, std::string_view text) {
    State& s = state();
    const std::string name = printable(shortened(logger, max_line_bytes));
    const std::string line = printable(shortened(text, max_line_bytes));
    const spdlog::details::log_msg message(name, as_spdlog(level), line);
    std::vector<std::string> broken;
    Handler handler;
    {
        const std::shared_lock lock(s.mutex);
        if (level >= s.level_of_handler()) {
            handler = s.handler;
        }
        const Level loggers = s.level_of(logger);
        s.each_sink([&](const Sink& sink) {
            if (level < std::max(sink.level, loggers)) {
                return;
            }
            try {
                sink.sink->log(message);
                sink.sink->flush();
            } catch (const spdlog::spdlog_ex& problem) {
                broken.push_back(sink.name);
                std::fprintf(stderr, "log: %s; no more lines go to %s\n", problem.what(), sink.name.c_str());
            }
        });
    }
    if (handler) {
        handler(level, name, line); // without the lock: it may log
    }
    if (!broken.empty()) {
        const std::unique_lock lock(s.mutex);
        std::erase_if(s.sinks, [&](const Sink& sink) {
            return std::find(broken.begin(), broken.end(), sink.name) != broken.end();
        });
        s.changed();
    }
}

} // namespace spng::log
