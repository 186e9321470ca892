// SPDX-License-Identifier: Apache-2.0
#pragma once
// Log lines in the format of the Wire-Cell Toolkit, `[HH:MM:SS.mmm] L [ name ] message`. A text given as a
// callable is computed only when the line is written:
//
//     log::debug("SPNGDecon:induction", [&] { return "spectrum of " + std::to_string(rows) + " rows"; });

#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spng::log {

enum class Level { trace, debug, info, warn, error, critical, off };

/// Return the names that users write, in the order of Level.
const std::vector<std::string>& level_names();

/// Return the level of a name: "debug" -> Level::debug. Accepts "warning" for "warn".
/// @throws Error(Usage) for an unknown name; names the nearest
Level level_from(const std::string& name);

/// Add a sink: `stdout`, `stderr` or the name of a file to append to, optionally followed by `:level`. A sink
/// without a level writes all lines that pass the levels of the loggers. A program without sinks writes to
/// stderr: warnings and worse or, once a level was set, all lines that pass the levels of the loggers.
/// @throws Error(Usage) for an unknown level or a file that cannot be opened
void add_sink(const std::string& sink_and_level);

/// Set the default level with `level` (initially info), or the level of one logger with `logger:level`. The
/// latter includes loggers whose name continues with a colon: "SPNGDecon:debug" applies to
/// "SPNGDecon:induction" too.
/// @throws Error(Usage) for an unknown level
void set_level(const std::string& logger_and_level);

/// Receives lines. Called on any thread.
using Handler = std::function<void(Level level, std::string_view logger, std::string_view text)>;

/// Send lines of this level and worse to a handler, in addition to the sinks. Replaces the present handler; an empty one
/// removes it.
void set_handler(Handler handler, Level level);

/// Begin each line on stderr with this text; "\r\033[K" clears a line that a display of progress rewrites.
void set_stderr_prefix(const std::string& prefix);

/// Write the prefix to stderr, before a text that is no log line.
void write_stderr_prefix();

/// Write nothing to stderr without a sink. For a library in a program of others.
void silence_stderr();

/// Remove all sinks and levels.
void reset();

/// Return true if a line would be written anywhere. Costs one atomic load if the level is off everywhere.
bool enabled(std::string_view logger, Level level);

/// Write one line and flush it. Thread-safe. A sink that fails is removed, with one line on stderr.
void write(std::string_view logger, Level level, std::string_view text);

/// Write one line if its level is enabled.
/// @param text  a string, or a callable that returns one and is called only if the line is written
template <class Text>
void line(std::string_view logger, Level level, Text&& text) {
    if (enabled(logger, level)) {
        if constexpr (std::invocable<Text>) {
            write(logger, level, std::forward<Text>(text)());
        } else {
            write(logger, level, text);
        }
    }
}
template <class Text>
void debug(std::string_view logger, Text&& text) {
    line(logger, Level::debug, std::forward<Text>(text));
}
template <class Text>
void info(std::string_view logger, Text&& text) {
    line(logger, Level::info, std::forward<Text>(text));
}
template <class Text>
void warn(std::string_view logger, Text&& text) {
    line(logger, Level::warn, std::forward<Text>(text));
}
template <class Text>
void error(std::string_view logger, Text&& text) {
    line(logger, Level::error, std::forward<Text>(text));
}

} // namespace spng::log
