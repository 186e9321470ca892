// SPDX-License-Identifier: Apache-2.0
#pragma once
// Blocks of device memory and of page-locked memory, and the accesses to them.

#include "tests/cuda_simulator/runtime/clock.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cuda_simulator {

/// An operation as the detection of races knows it.
struct Actor {
    std::string name;
    std::uint64_t index;
    std::uint32_t stream;
    Moment moment;
};

/// The latest accesses to each byte of a block.
class AccessHistory {
public:
    explicit AccessHistory(std::size_t bytes);

    /// Note an access.
    /// @param known  what is ordered before the access
    /// @return the operation that the access races with; null if there is none
    std::shared_ptr<const Actor> note(std::size_t begin, std::size_t end, bool is_write,
                                      const std::shared_ptr<const Actor>& actor, const Clock& known);

private:
    struct Part {
        std::shared_ptr<const Actor> writer;
        std::vector<std::shared_ptr<const Actor>> readers; ///< since the last write, unordered ones
    };
    void split(std::size_t at);

    std::map<std::size_t, Part> m_parts; ///< by begin; each ends where the next begins
    std::size_t m_bytes;
};

struct Block {
    std::size_t bytes;        ///< asked for
    std::size_t mapped_bytes; ///< in whole pages
    char* host_address;       ///< where the simulator accesses it
    int device;
    bool is_on_host;
    AccessHistory history;
};

/// All blocks. Not synchronized: callers hold the simulator's lock.
class Memory {
public:
    /// Map a new block. Device memory holds NaN (as float32 and float64), and the program cannot access it.
    /// @return its address, null if the system gives no memory
    void* add(std::size_t bytes, int device, bool is_on_host);
    void remove(void* begin);

    /// Return the block around an address, null if there is none, and where it begins.
    Block* find(const void* address, const char** begin = nullptr);
    void* host_address(const void* address);

    /// Extent of an allocation of the program's allocator within a block.
    void note_allocation(const void* begin, std::size_t bytes);
    void note_release(const void* begin);
    /// Bytes from the address to the end of its allocation, or of its block if no allocation is known. 0 outside.
    std::size_t bytes_after(const void* address);

    std::size_t bytes_of(int device) const;
    std::size_t peak_bytes_of(int device) const;
    std::size_t page_locked_bytes() const { return m_page_locked_bytes; }
    std::size_t page_locked_peak_bytes() const { return m_page_locked_peak_bytes; }

private:
    std::map<const char*, Block> m_blocks;
    std::map<const char*, std::size_t> m_allocations;
    std::map<int, std::size_t> m_bytes, m_peak_bytes;
    std::size_t m_page_locked_bytes = 0, m_page_locked_peak_bytes = 0;
};

} // namespace cuda_simulator
