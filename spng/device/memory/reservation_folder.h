// SPDX-License-Identifier: Apache-2.0
#pragma once
// The folder in which processes coordinate their use of a device's memory. Each claim has one file,
// `<ticket>-<process>-<bytes>-waiting.reservation` or `...-holding.reservation`, which its owner keeps locked
// with flock: a claim is alive as long as that lock is held. The kernel releases the lock at any end of the
// owner, including kill -9 and a reboot. A reused process id does no harm (docs/decisions/reservations.md).

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace spng {

/// Owner of a file descriptor: closes it in its destructor.
class FileDescriptor {
public:
    explicit FileDescriptor(int value = -1) : m_value(value) {}
    FileDescriptor(FileDescriptor&& other) noexcept : m_value(other.release()) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept;
    ~FileDescriptor();
    int value() const { return m_value; }
    bool is_open() const { return m_value >= 0; }

private:
    int release();
    int m_value;
};

/// A claim, parsed from the name of its file. The content of the file is only for display, so a damaged one
/// does no harm.
struct ReservationClaim {
    std::int64_t ticket = 0; ///< lower means earlier
    std::int64_t process = 0;
    std::int64_t bytes = 0;
    bool holding = false; ///< or waiting

    std::string file_name() const;
};

/// Limits for all holders together; 0: no limit.
struct ReservationLimits {
    std::int64_t bytes = 0;
    std::int64_t slots = 0;
};

class ReservationFolder {
public:
    /// Find or create the folder of one device.
    /// @param root    parent of the folders of all devices. If it is created: private for default_root(),
    ///                else open to all users, as /tmp is
    /// @param device  "host", or the identity of a GPU
    /// @throws Error(Configuration) if the folder cannot be created or used, or belongs to another user
    ReservationFolder(const std::filesystem::path& root, const std::string& device);

    /// Return $XDG_RUNTIME_DIR/spng-reservations, or /tmp/spng-reservations-USER.
    static std::filesystem::path default_root();

    const std::filesystem::path& path() const { return m_path; }

    /// Return a scoped exclusive lock on the folder. Critical sections last milliseconds.
    /// @throws Error(Device) if another process holds the lock for 10 s
    FileDescriptor lock() const;

    /// Return the claims of living owners, by ticket. Remove the files of dead owners. Skip files with
    /// another name, and anything but readable regular files (pipes, devices, folders, links), with a
    /// warning. Call it under lock().
    std::vector<ReservationClaim> claims() const;

    /// Create the file of a claim, locked by this process. Call it under lock().
    /// @throws Error(Configuration) if the file cannot be created or locked
    FileDescriptor create(const ReservationClaim& claim, const std::string& content) const;

    /// Return the limits from the file `limits` of the device's folder or of the root: lines "bytes 40GB" and
    /// "slots 2". Skip unreadable lines, and anything but regular files, with a warning.
    /// @param standard  values of limits that the files do not set
    ReservationLimits limits(ReservationLimits standard) const;

    /// Return the content of a claim's file, at most the first 16 kB; empty if the file is gone.
    std::string content_of(const ReservationClaim& claim) const;

private:
    std::filesystem::path m_root, m_path;
    bool m_for_all_users = false;
};

} // namespace spng
