// SPDX-License-Identifier: Apache-2.0
#include "spng/core/files/temporary_files.h"

#include "spng/core/error.h"
#include "spng/core/files/output_path.h"
#include "spng/core/files/url.h"

#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <system_error>
#include <unistd.h>

namespace spng {
namespace {

/// State of an entry in the list for signal handlers. A handler may neither lock nor allocate, so the list
/// has a fixed number of slots, which are claimed atomically.
enum class Slot { free, claimed, listed, worth_keeping };

struct ListedName {
    std::atomic<Slot> state{Slot::free};
    std::array<char, 1024> path{};
};
static_assert(std::atomic<Slot>::is_always_lock_free);

std::array<ListedName, 64> listed_names;

int list_name(const std::string& path) {
    if (path.size() >= listed_names[0].path.size()) {
        return -1;
    }
    for (std::size_t i = 0; i < listed_names.size(); ++i) {
        auto expected = Slot::free;
        if (listed_names[i].state.compare_exchange_strong(expected, Slot::claimed)) {
            std::memcpy(listed_names[i].path.data(), path.c_str(), path.size() + 1);
            listed_names[i].state = Slot::listed;
            return static_cast<int>(i);
        }
    }
    return -1;
}

void forget_name(int slot) {
    if (slot >= 0) {
        listed_names[static_cast<std::size_t>(slot)].state = Slot::free;
    }
}

[[noreturn]] void reject(const std::string& what, const std::filesystem::path& path, const std::string& seen,
                         const std::string& expected) {
    throw Error(ErrorKind::Output, {.what = what,
                                    .where = path.string(),
                                    .seen = seen,
                                    .expected = expected,
                                    .hint = url_hint(path.string())});
}

/// Return the OutputPath of a path that can be replaced or written in place.
/// @throws Error(Output) for any other path
OutputPath writable(const std::filesystem::path& named) {
    OutputPath target = output_path(named);
    if (!target.problem.empty()) {
        reject("an output cannot be written", named, target.problem, "a regular file, a device or a pipe");
    }
    return target;
}

} // namespace

TemporaryFile::TemporaryFile(const std::filesystem::path& final_path) {
    const OutputPath target = writable(final_path);
    if (target.in_place) {
        m_in_place = true;
        m_path = m_final = target.path;
        m_slot = list_name(""); // nothing to unlink, but it may be marked as worth keeping
        return;
    }
    std::error_code problem;
    m_final = std::filesystem::absolute(target.path, problem);
    if (problem || !m_final.has_filename()) {
        reject("an output cannot be written", final_path, "the name of a folder", "the name of a file");
    }
    const auto folder = m_final.parent_path();
    if (!std::filesystem::is_directory(folder, problem)) {
        reject("an output cannot be written", final_path, "no folder " + folder.string(),
               "an existing folder");
    }
    m_path = partial_path(m_final);
    m_slot = list_name(m_path.string());
}

TemporaryFile::~TemporaryFile() {
    // After a commit the name is gone and this does nothing.
    if (!m_in_place) {
        std::error_code ignored;
        std::filesystem::remove(m_path, ignored);
    }
    forget_name(m_slot);
}

void TemporaryFile::mark_worth_keeping() noexcept {
    if (m_slot >= 0) {
        listed_names[static_cast<std::size_t>(m_slot)].state = Slot::worth_keeping;
    }
}

void TemporaryFile::commit() {
    if (!m_in_place) {
        // The name may belong to something else since the writing began.
        if (writable(m_final).in_place) {
            reject("a complete output cannot get its final name", m_final,
                   "a device or pipe that did not exist when writing began", "a regular file, or none");
        }
        std::error_code problem;
        std::filesystem::rename(m_path, m_final, problem);
        if (problem) {
            reject("a complete output cannot get its final name", m_final, problem.message(),
                   "a writable folder");
        }
    }
    forget_name(m_slot);
    m_slot = -1;
}

void unlink_temporary_files() noexcept {
    for (auto& name : listed_names) {
        const Slot state = name.state.load();
        if (state == Slot::listed || state == Slot::worth_keeping) {
            unlink(name.path.data());
        }
    }
}

bool temporary_files_worth_keeping() noexcept {
    for (const auto& name : listed_names) {
        if (name.state.load() == Slot::worth_keeping) {
            return true;
        }
    }
    return false;
}

} // namespace spng
