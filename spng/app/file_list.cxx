// SPDX-License-Identifier: Apache-2.0
#include "spng/app/file_list.h"

#include "spng/core/error.h"
#include "spng/core/printable.h"

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
constexpr const char* name_mark = "{name}";
constexpr const char* timing_key = "--timing";

bool is_entry(const std::string& line) {
    return !line.empty() && line.front() != '#';
}

/// Return the line without blanks at its ends.
std::string trimmed(const std::string& line) {
    const auto begin = line.find_first_not_of(" \t\r");
    return begin == std::string::npos ? "" : line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

/// Return the name of a file without its folder and the endings of archives.
std::string stem(const std::string& path) {
    std::string name = fs::path(path).filename().string();
    for (const char* const ending : {".npz", ".tar", ".tar.gz", ".tar.bz2"}) {
        if (name.ends_with(ending)) {
            return name.substr(0, name.size() - std::strlen(ending));
        }
    }
    return name;
}

std::string with_name(std::string text, const std::string& name) {
    for (auto found = text.find(name_mark); found != std::string::npos;
         found = text.find(name_mark, found + name.size())) {
        text.replace(found, std::strlen(name_mark), name);
    }
    return text;
}

} // namespace

FileList::FileList(const std::string& file, std::vector<JsonnetBinding> bindings, std::string timing_file)
    : m_name(file == "-" ? "standard input" : file), m_bindings(std::move(bindings)),
      m_timing_file(std::move(timing_file)) {
    for (const auto& binding : m_bindings) {
        if (binding.is_argument() && binding.name == "input") {
            throw Error(ErrorKind::Usage, {.what = "the input is given twice",
                                           .where = "command line",
                                           .seen = "-A input=" + binding.value + " and --files " + file,
                                           .expected = "one of them"});
        }
    }
    m_descriptor = file == "-" ? ::dup(STDIN_FILENO) : ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (m_descriptor < 0 || fs::is_directory(file)) {
        const std::string why = m_descriptor < 0 ? std::strerror(errno) : "it is a folder";
        if (m_descriptor >= 0) {
            ::close(m_descriptor);
        }
        throw Error(ErrorKind::Input,
                    {.what = "cannot read the list of files",
                     .where = "--files " + m_name,
                     .seen = why,
                     .expected = "a text file with one path per line, or - for standard input"});
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
        } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
            m_at_end = true;
        }
    }
    return std::nullopt;
}

std::optional<ListedRun> FileList::next(const std::atomic<int>& stop_signal) {
    while (const auto line = next_line(stop_signal)) {
        if (const std::string entry = trimmed(*line); is_entry(entry)) {
            return run_of(entry);
        }
    }
    return std::nullopt;
}

ListedRun FileList::run_of(const std::string& line) const {
    using Kind = JsonnetBinding::Kind;
    ListedRun run;
    run.timing_file = m_timing_file;
    std::vector<JsonnetBinding> own;
    if (line.front() == '{') {
        const auto reject = [&](const std::string& seen) {
            throw Error(ErrorKind::Input,
                        {.what = "a line of the list of files cannot be understood",
                         .where = m_name + ", line " + std::to_string(m_line),
                         .seen = printable(seen),
                         .expected = "a path, or a JSON object of arguments with \"input\", on one line"});
        };
        const auto object = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
        if (!object.is_object() || !object.contains("input")) {
            reject(line.substr(0, 100));
        }
        for (const auto& [name, value] : object.items()) {
            if (name == timing_key && value.is_string()) {
                run.timing_file = value.get<std::string>();
            } else if (name == timing_key) {
                reject(name + ": " + value.dump());
            } else if (value.is_string()) {
                own.push_back({Kind::argument_text, name, value.get<std::string>()});
            } else {
                own.push_back({Kind::argument_code, name, value.dump()});
            }
            if (name == "input") {
                run.input = own.back().value;
            }
        }
    } else {
        run.input = line.front() == '/' ? line : m_folder + line;
        own.push_back({Kind::argument_text, "input", run.input});
    }
    const std::string name = stem(run.input);
    for (const auto& binding : m_bindings) {
        const bool is_replaced =
            binding.is_argument() &&
            std::any_of(own.begin(), own.end(), [&](const auto& each) { return each.name == binding.name; });
        if (!is_replaced) {
            run.bindings.push_back({binding.kind, binding.name, with_name(binding.value, name)});
        }
    }
    run.bindings.insert(run.bindings.end(), own.begin(), own.end());
    run.timing_file = with_name(run.timing_file, name);
    return run;
}

} // namespace spng::app
