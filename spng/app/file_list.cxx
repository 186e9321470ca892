// SPDX-License-Identifier: Apache-2.0
#include "spng/app/file_list.h"

#include "spng/core/error.h"
#include "spng/core/printable.h"
#include "spng/io/archive/archive_writer.h"
#include "spng/io/json_file.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace spng::app {
namespace {

namespace fs = std::filesystem;

constexpr int poll_milliseconds = 200; // between two looks at the signal
constexpr std::size_t max_line = 1 << 20;
constexpr std::size_t max_shown = 100;

bool is_entry(const std::string& line) {
    return !line.empty() && line.front() != '#';
}

/// Return the line without blanks at its ends.
std::string trimmed(const std::string& line) {
    const auto begin = line.find_first_not_of(" \t\r");
    return begin == std::string::npos ? "" : line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

[[noreturn]] void reject_list(const std::string& name, const std::string& why) {
    throw Error(ErrorKind::Input,
                {.what = "cannot read the list of files",
                 .where = "--files " + name,
                 .seen = why,
                 .expected = "a text file with one path per line, or - for standard input"});
}

} // namespace

FileList::FileList(const std::string& file) : m_name(file == "-" ? "standard input" : file) {
    m_descriptor = file == "-" ? ::dup(STDIN_FILENO) : ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (m_descriptor < 0 || fs::is_directory(file)) {
        const std::string why = m_descriptor < 0 ? std::strerror(errno) : "it is a folder";
        if (m_descriptor >= 0) {
            ::close(m_descriptor);
        }
        reject_list(m_name, why);
    }
    if (file != "-") {
        const fs::path folder = fs::path(file).parent_path();
        m_folder = folder.empty() ? "" : folder.string() + "/";
        if (fs::is_regular_file(file)) {
            std::ifstream lines(file);
            std::string line;
            m_size = 0;
            while (std::getline(lines, line)) {
                *m_size += is_entry(trimmed(line)) ? 1 : 0;
            }
        }
    }
}

FileList::~FileList() {
    ::close(m_descriptor);
}

std::optional<std::string> FileList::next_line(const std::atomic<int>& stop_signal) {
    while (stop_signal.load() == 0) {
        const auto end = m_read.find('\n');
        if (end != std::string::npos || (m_at_end && !m_read.empty())) {
            std::string line = m_read.substr(0, end);
            m_read.erase(0, end == std::string::npos ? end : end + 1);
            ++m_line;
            return line;
        }
        if (m_at_end) {
            return std::nullopt;
        }
        if (m_read.size() > max_line) {
            m_at_end = true;
            m_read.clear();
            throw Error(ErrorKind::Input, {.what = "a line of the list of files is too long",
                                           .where = m_name + ", line " + std::to_string(m_line + 1),
                                           .seen = "more than " + std::to_string(max_line) + " bytes",
                                           .expected = "a path, or a JSON object on one line"});
        }
        pollfd waiting{m_descriptor, POLLIN, 0};
        if (::poll(&waiting, 1, poll_milliseconds) <= 0) {
            continue;
        }
        std::array<char, 65536> bytes{};
        const auto count = ::read(m_descriptor, bytes.data(), bytes.size());
        if (count > 0) {
            m_read.append(bytes.data(), static_cast<std::size_t>(count));
        } else if (count == 0) {
            m_at_end = true;
        } else if (errno != EINTR && errno != EAGAIN) {
            m_at_end = true;
            m_read.clear();
            reject_list(m_name, std::strerror(errno));
        }
    }
    return std::nullopt;
}

std::optional<PlaceholderValues> FileList::next(const std::atomic<int>& stop_signal) {
    while (const auto line = next_line(stop_signal)) {
        if (const std::string entry = trimmed(*line); is_entry(entry)) {
            return values_of(entry);
        }
    }
    return std::nullopt;
}

PlaceholderValues FileList::values_of(const std::string& line) const {
    PlaceholderValues values;
    if (line.front() != '{') {
        values["input"] = line.front() == '/' ? line : m_folder + line;
    } else {
        const auto object = parsed_json(line);
        const bool is_right =
            object.is_object() && object.contains("input") && object["input"] != "" &&
            std::all_of(object.begin(), object.end(), [](const auto& value) { return value.is_string(); });
        if (!is_right) {
            throw Error(ErrorKind::Input,
                        {.what = "a line of the list of files cannot be understood",
                         .where = m_name + ", line " + std::to_string(m_line),
                         .seen = printable(line.substr(0, max_shown)),
                         .expected = "a path, or a JSON object of strings with \"input\", on one line"});
        }
        object.get_to(values);
    }
    values.emplace("name", archive_stem(values["input"]));
    return values;
}

} // namespace spng::app
