// SPDX-License-Identifier: Apache-2.0
#pragma once
// Global ids of processes and threads in the schema of nsys: hardware (8 bits) | virtual machine (8) |
// process (24) | thread (24).

#include <cstdint>

namespace spng::recorder {

inline constexpr std::uint64_t id_bits = 24;
inline constexpr std::uint64_t id_mask = (std::uint64_t{1} << id_bits) - 1;
inline constexpr std::uint64_t virtual_machine = std::uint64_t{1} << 48; ///< as in files of nsys

/// Return true if a process or thread id fits into 24 bits. Linux uses at most 22 bits, but a sandbox may use
/// more. Larger ids are cut to their low 24 bits with a warning in the recording.
constexpr bool fits(std::uint64_t id) noexcept {
    return id <= id_mask;
}

constexpr std::uint64_t global_process(std::uint64_t process) noexcept {
    return virtual_machine | (process & id_mask) << id_bits;
}

constexpr std::uint64_t global_thread(std::uint64_t process, std::uint64_t thread) noexcept {
    return global_process(process) | (thread & id_mask);
}

} // namespace spng::recorder
