#pragma once
// The folder through which processes agree on who may use how much of a device's memory. One file per claim,
// `<ticket>-<process>-<bytes>-waiting.reservation` or `...-holding.reservation`, which its owner keeps flock-ed: a
// claim is alive as long as that lock is held. The kernel releases it however the owner ends, kill -9 and a
// reboot included, and a process number that is used again means nothing (docs/decisions/reservations.md).

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace spng {

/// A file descriptor that is closed with it.
class FileDescriptor {
public:
    explicit FileDescriptor(int number = -1) : m_number(number) {}
    FileDescriptor(FileDescriptor&& other) noexcept : m_number(other.release()) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept;
    ~FileDescriptor();
    int number() const { return m_number; }
    bool is_open() const { return m_number >= 0; }

private:
    int release();
    int m_number;
};

/// A claim as its file's name says. The content of the file is for people only, so that a damaged one does
/// no harm.
struct ReservationClaim {
    std::int64_t ticket = 0; ///< the lower the earlier it came
    std::int64_t process = 0;
    std::int64_t bytes = 0;
    bool holding = false; ///< or waiting

    std::string file_name() const;
};

/// What all holders together may have; 0: no limit.
struct ReservationLimits {
    std::int64_t bytes = 0;
    std::int64_t slots = 0;
};

class ReservationFolder {
public:
    /// Finds or makes the folder of one device.
    /// @param root    where the folders of all devices are. A folder that is made is for its maker only when
    ///                it is default_root(), else for all users, as /tmp is
    /// @param device  "host", or the identity of a GPU
    /// Throws Error(Configuration) when it cannot be made or used, or belongs to somebody else.
    ReservationFolder(const std::filesystem::path& root, const std::string& device);

    /// $XDG_RUNTIME_DIR/spng-reservations, or /tmp/spng-reservations-USER.
    static std::filesystem::path default_root();

    const std::filesystem::path& path() const { return m_path; }

    /// What only one process may do at a time happens while this lives; it is held for milliseconds.
    /// Throws Error(Device) when somebody else keeps it for 10 s.
    FileDescriptor lock() const;

    /// Claims whose owners live, by ticket. Files of dead owners are removed. A file with another name, and
    /// anything that is no readable regular file (a pipe, a device, a folder, a link), is left out and stays,
    /// with a warning. To be called under lock().
    std::vector<ReservationClaim> claims() const;

    /// A new file for a claim, locked by this process. To be called under lock().
    FileDescriptor create(const ReservationClaim& claim, const std::string& content) const;

    /// `limits` of the device's folder or of the root: lines "bytes 40GB" and "slots 2"; what they do not say
    /// is `standard`. A line that cannot be read, and what is no regular file, is left out, with a warning.
    ReservationLimits limits(ReservationLimits standard) const;

    /// The content of a claim's file, of a long one the beginning; empty when it is gone.
    std::string content_of(const ReservationClaim& claim) const;

private:
    std::filesystem::path m_root, m_path;
    bool m_for_all_users = false;
};

} // namespace spng
