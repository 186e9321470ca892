// SPDX-License-Identifier: Apache-2.0
#include "spng/device/memory/reservation_folder.h"

#include "spng/core/error.h"
#include "spng/core/log/log.h"
#include "spng/core/parse_value.h"
#include "spng/device/memory/byte_size.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace spng {
namespace {

namespace fs = std::filesystem;

constexpr const char* logger = "reservation";
constexpr const char* ending = ".reservation";

[[noreturn]] void unusable(const fs::path& path, const std::string& seen) {
    throw Error(ErrorKind::Configuration,
                {.what = "unusable folder for memory reservations",
                 .where = path.string(),
                 .seen = seen,
                 .expected = "a folder of this user, or one for all users (mode 1777)",
                 .hint = "-A share=FOLDER with another one, or -A share=none"});
}

std::string reason() {
    return std::strerror(errno);
}

/// Create a folder if it does not exist. Set the mode separately, since the user's umask removes bits.
void make_folder(const fs::path& path, mode_t mode) {
    if (mkdir(path.c_str(), mode) == 0) {
        if (chmod(path.c_str(), mode) != 0) {
            unusable(path, reason());
        }
    } else if (errno != EEXIST) {
        unusable(path, reason());
    }
}

/// @param follow  accept a link to a folder: one that the user gave, not the default one, whose name others know
struct stat state_of_folder(const fs::path& path, bool follow) {
    struct stat state {};
    if ((follow ? stat(path.c_str(), &state) : lstat(path.c_str(), &state)) != 0) {
        unusable(path, reason());
    }
    if (!S_ISDIR(state.st_mode)) {
        unusable(path, S_ISLNK(state.st_mode) ? "a link" : "no folder");
    }
    return state;
}

bool is_for_all_users(const struct stat& state) {
    return (state.st_mode & S_IWOTH) != 0;
}

/// Sleep for 2 ms, independent of clocks that could jump.
void rest() {
    usleep(2000);
}

FileDescriptor open_file(const fs::path& path, int flags, mode_t mode = 0) {
    return FileDescriptor(open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, mode));
}

bool is_regular(const FileDescriptor& file) {
    struct stat state {};
    return fstat(file.value(), &state) == 0 && S_ISREG(state.st_mode);
}

struct OpenedFile {
    FileDescriptor file; ///< closed if there is no such file, or a problem
    std::string problem;
};

/// Open a regular file for reading. All users may write to the folder, so the path may be anything: never
/// open a device, wait for the other end of a pipe, or follow a link.
OpenedFile open_regular(const fs::path& path) {
    const std::string not_regular = "not a regular file";
    struct stat state {};
    if (lstat(path.c_str(), &state) == 0 && !S_ISREG(state.st_mode)) {
        return {FileDescriptor(), not_regular};
    }
    FileDescriptor file = open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!file.is_open()) {
        return {FileDescriptor(), errno == ENOENT ? "" : reason()};
    }
    if (!is_regular(file)) { // replaced since lstat
        return {FileDescriptor(), not_regular};
    }
    return {std::move(file), ""};
}

/// Return the beginning of a text file of any size, up to a zero byte.
std::string head_of(const FileDescriptor& file) {
    constexpr std::size_t enough = 16384;
    std::string content(enough, '\0');
    const ssize_t size = read(file.value(), content.data(), content.size());
    content.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return content.substr(0, content.find('\0'));
}

/// Open a file, or create it. Opens an existing file without O_CREAT: the kernel rejects O_CREAT for other
/// users' files in a folder that all may write to (fs.protected_regular).
FileDescriptor open_or_create(const fs::path& path, mode_t mode) {
    for (;;) {
        FileDescriptor file = open_file(path, O_RDWR | O_NONBLOCK | O_NOCTTY);
        if (file.is_open() && !is_regular(file)) {
            unusable(path, "not a regular file");
        }
        if (file.is_open()) {
            return file;
        }
        if (errno != ENOENT) {
            unusable(path, reason());
        }
        file = open_file(path, O_RDWR | O_CREAT | O_EXCL, mode);
        if (file.is_open()) {
            fchmod(file.value(), mode);
            return file;
        }
        if (errno != EEXIST) {
            unusable(path, reason());
        }
    }
}

std::optional<std::int64_t> integer_from(const std::string& text) {
    const auto value = parse_value<std::int64_t>(text);
    return value && *value >= 0 ? value : std::nullopt;
}

std::optional<ReservationClaim> claim_from(const std::string& file_name) {
    std::istringstream stream(file_name.substr(0, file_name.size() - std::strlen(ending)));
    std::vector<std::string> parts;
    for (std::string part; std::getline(stream, part, '-');) {
        parts.push_back(part);
    }
    if (parts.size() != 4 || (parts[3] != "waiting" && parts[3] != "holding")) {
        return std::nullopt;
    }
    const auto ticket = integer_from(parts[0]);
    const auto process = integer_from(parts[1]);
    const auto bytes = integer_from(parts[2]);
    if (!ticket || !process || !bytes) {
        return std::nullopt;
    }
    return ReservationClaim{*ticket, *process, *bytes, parts[3] == "holding"};
}

/// Log each warning once, since a waiting job reads the folder many times.
void warn_once(const std::string& text) {
    static std::mutex mutex;
    static std::set<std::string> said;
    const std::lock_guard lock(mutex);
    if (said.insert(text).second) {
        log::warn(logger, text);
    }
}

bool has_ending(const std::string& name) {
    const std::size_t length = std::strlen(ending);
    return name.size() > length && name.compare(name.size() - length, length, ending) == 0;
}

} // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
    std::swap(m_value, other.m_value);
    return *this;
}

FileDescriptor::~FileDescriptor() {
    if (m_value >= 0) {
        close(m_value);
    }
}

int FileDescriptor::release() {
    return std::exchange(m_value, -1);
}

std::string ReservationClaim::file_name() const {
    char digits[24];
    std::snprintf(digits, sizeof digits, "%012lld", static_cast<long long>(ticket));
    return std::string(digits) + "-" + std::to_string(process) + "-" + std::to_string(bytes) +
           (holding ? "-holding" : "-waiting") + ending;
}

fs::path ReservationFolder::default_root() {
    const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
    if (runtime != nullptr && *runtime != '\0' && access(runtime, W_OK) == 0) {
        return fs::path(runtime) / "spng-reservations";
    }
    return "/tmp/spng-reservations-" + std::to_string(geteuid());
}

ReservationFolder::ReservationFolder(const fs::path& root, const std::string& device) : m_root(root) {
    const bool own = root == default_root();
    make_folder(root, own ? 0700 : 01777);
    const auto state = state_of_folder(root, /*follow=*/!own);
    m_for_all_users = is_for_all_users(state);
    const bool is_mine = state.st_uid == geteuid() || geteuid() == 0;
    if (!is_mine && (own || !m_for_all_users)) {
        unusable(root, "it belongs to user " + std::to_string(state.st_uid));
    }
    std::string name = device;
    std::replace(name.begin(), name.end(), '/', '_');
    m_path = root / name;
    make_folder(m_path, m_for_all_users ? 01777 : 0700);
    if (access(m_path.c_str(), R_OK | W_OK | X_OK) != 0) {
        unusable(m_path, reason());
    }
}

FileDescriptor ReservationFolder::lock() const {
    constexpr int max_rests = 5000; // 10 s
    FileDescriptor file = open_or_create(m_path / "lock", m_for_all_users ? 0666 : 0600);
    for (int i = 0; flock(file.value(), LOCK_EX | LOCK_NB) != 0; ++i) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            unusable(m_path / "lock", reason());
        }
        if (i == max_rests) {
            throw Error(
                ErrorKind::Device,
                {.what = "another process does not release the lock of the reservations",
                 .where = (m_path / "lock").string(),
                 .seen = "locked for 10 s",
                 .expected = "locked for milliseconds",
                 .hint = "find the stopped wire-cell with `fuser -v` on the file, and continue or end it"});
        }
        rest();
    }
    return file;
}

std::vector<ReservationClaim> ReservationFolder::claims() const {
    std::vector<ReservationClaim> living;
    std::error_code ignored; // skip files that vanish meanwhile
    for (const auto& entry : fs::directory_iterator(m_path, ignored)) {
        const std::string name = entry.path().filename().string();
        if (!has_ending(name)) {
            continue;
        }
        const auto [probe, problem] = open_regular(entry.path());
        if (!probe.is_open()) {
            if (!problem.empty()) { // else it vanished meanwhile
                warn_once(entry.path().string() + " is not a reservation (" + problem + "); ignored");
            }
            continue;
        }
        const bool is_alive = flock(probe.value(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        const auto claim = claim_from(name);
        if (!claim) {
            warn_once(entry.path().string() + " is not a reservation; ignored");
        }
        if (!is_alive) {
            log::info(logger, [&] { return entry.path().string() + ": its process is gone; removed"; });
            fs::remove(entry.path(), ignored); // in a folder for all users only the owner can
        } else if (claim) {
            living.push_back(*claim);
        }
    }
    std::sort(living.begin(), living.end(), [](const ReservationClaim& left, const ReservationClaim& right) {
        return left.ticket < right.ticket;
    });
    return living;
}

FileDescriptor ReservationFolder::create(const ReservationClaim& claim, const std::string& content) const {
    const fs::path path = m_path / claim.file_name();
    FileDescriptor file = open_file(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (!file.is_open()) {
        unusable(path, reason());
    }
    fchmod(file.value(), m_for_all_users ? 0644 : 0600);
    if (flock(file.value(), LOCK_EX | LOCK_NB) != 0) {
        const std::string seen = reason() + " (does this file system support flock?)";
        unlink(path.c_str());
        unusable(path, seen);
    }
    if (write(file.value(), content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
        log::warn(logger, path.string() + " cannot be written: " + reason());
    }
    return file;
}

ReservationLimits ReservationFolder::limits(ReservationLimits standard) const {
    for (const fs::path& path : {m_root / "limits", m_path / "limits"}) {
        const auto [file, problem] = open_regular(path);
        if (!problem.empty()) {
            warn_once(path.string() + " sets no limits: " + problem);
        }
        std::istringstream stream(file.is_open() ? head_of(file) : "");
        for (std::string line; std::getline(stream, line);) {
            std::istringstream words(line);
            std::string key;
            std::string value;
            words >> key >> std::ws;
            std::getline(words, value);
            value.erase(value.find_last_not_of(" \t\r") + 1);
            try {
                if (key == "bytes") {
                    standard.bytes = bytes_from(value, path.string());
                } else if (key == "slots") {
                    standard.slots = integer_from(value).value();
                } else if (!key.empty() && key[0] != '#') {
                    log::warn(logger, path.string() + ": unknown key, expected bytes or slots: " + line);
                }
            } catch (const std::exception&) {
                log::warn(logger, path.string() + ": invalid limit: " + line);
            }
        }
    }
    return standard;
}

std::string ReservationFolder::content_of(const ReservationClaim& claim) const {
    const OpenedFile opened = open_regular(m_path / claim.file_name());
    return opened.file.is_open() ? head_of(opened.file) : "";
}

} // namespace spng
