#pragma once
// Log lines in the field's form, `[HH:MM:SS.mmm] L [ name ] message`. Texts are computed only when they are
// written:
//
//     log::debug("SPNGDecon:induction", [&] { return "spectrum of " + std::to_string(rows) + " rows"; });

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spng::log {

enum class Level { trace, debug, info, warn, error, critical, off };

/// The names that users write, in the order of Level.
const std::vector<std::string>& level_names();

/// "debug" -> Level::debug; "warning" is accepted for "warn". Throws Error(Usage) naming the nearest.
Level level_from(const std::string& name);

/// `stdout`, `stderr` or the name of a file to append to, optionally followed by `:level`; without a level,
/// what the loggers let pass is written. As long as no sink is added, warnings and worse go to stderr, and
/// everything that the loggers let pass once a level was set. Throws Error(Usage) for a wrong level or a file
/// that cannot be opened.
void add_sink(const std::string& sink_and_level);

/// `level` sets the default (info at first); `logger:level` that of one logger and of those whose name goes
/// on with a colon: "SPNGDecon:debug" holds for "SPNGDecon:induction" too. Throws Error(Usage).
void set_level(const std::string& logger_and_level);

/// Forget all sinks and levels.
void reset();

/// Whether a line would be written anywhere. Costs one atomic load when the level is off for everyone.
bool enabled(std::string_view logger, Level level);

/// Write one line and flush it. Thread-safe. A sink that cannot be written to is given up with one line on
/// stderr.
void write(std::string_view logger, Level level, std::string_view text);

/// @param text  a string, or a callable that returns one and is only called when the line is written
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
template <class Text>
void critical(std::string_view logger, Text&& text) {
    line(logger, Level::critical, std::forward<Text>(text));
}

} // namespace spng::log
