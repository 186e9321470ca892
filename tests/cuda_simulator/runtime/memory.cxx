// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/runtime/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace cuda_simulator {

namespace {

constexpr std::size_t page_bytes = 4096;

// Two of these are a NaN of float64, one is a NaN of float32.
constexpr std::uint32_t poison = 0x7ffadead;

} // namespace

AccessHistory::AccessHistory(std::size_t bytes) : m_bytes(bytes) {
    m_parts.emplace(0, Part{});
}

void AccessHistory::split(std::size_t at) {
    const auto next = m_parts.lower_bound(at);
    if (at < m_bytes && (next == m_parts.end() || next->first != at)) {
        m_parts.emplace_hint(next, at, std::prev(next)->second);
    }
}

std::shared_ptr<const Actor> AccessHistory::note(std::size_t begin, std::size_t end, bool is_write,
                                                 const std::shared_ptr<const Actor>& actor,
                                                 const Clock& known) {
    end = std::min(end, m_bytes);
    if (begin >= end) {
        return nullptr;
    }
    split(begin);
    split(end);
    std::shared_ptr<const Actor> rival;
    const auto check = [&](const std::shared_ptr<const Actor>& other) {
        if (other != nullptr && !known.knows(other->moment)) {
            rival = other;
        }
    };
    const auto last = m_parts.lower_bound(end);
    const auto first = m_parts.find(begin);
    for (auto part = first; part != last; ++part) {
        check(part->second.writer);
        if (is_write) {
            std::for_each(part->second.readers.begin(), part->second.readers.end(), check);
            continue;
        }
        auto& readers = part->second.readers;
        std::erase_if(readers, [&](const auto& reader) { return known.knows(reader->moment); });
        readers.push_back(actor);
    }
    if (is_write) {
        first->second = {actor, {}};
        m_parts.erase(std::next(first), last);
    }
    return rival;
}

void* Memory::add(std::size_t bytes, int device, bool is_on_host) {
    const std::size_t mapped = std::max<std::size_t>(1, (bytes + page_bytes - 1) / page_bytes) * page_bytes;
    const int file = memfd_create("cuda_simulator", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(mapped)) != 0) {
        return nullptr;
    }
    void* const own = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    void* const seen = is_on_host ? own : mmap(nullptr, mapped, PROT_NONE, MAP_SHARED, file, 0);
    close(file);
    if (own == MAP_FAILED || seen == MAP_FAILED) {
        return nullptr;
    }
    if (is_on_host) {
        m_page_locked_bytes += mapped;
        m_page_locked_peak_bytes = std::max(m_page_locked_peak_bytes, m_page_locked_bytes);
    } else {
        std::fill_n(static_cast<std::uint32_t*>(own), mapped / sizeof poison, poison);
        m_bytes[device] += bytes;
        m_peak_bytes[device] = std::max(m_peak_bytes[device], m_bytes[device]);
    }
    m_blocks.emplace(static_cast<const char*>(seen), Block{bytes, mapped, static_cast<char*>(own), device,
                                                           is_on_host, AccessHistory(mapped)});
    return seen;
}

void Memory::remove(void* begin) {
    const auto found = m_blocks.find(static_cast<const char*>(begin));
    if (found == m_blocks.end()) {
        return;
    }
    const Block& block = found->second;
    if (block.is_on_host) {
        m_page_locked_bytes -= block.mapped_bytes;
    } else {
        m_bytes[block.device] -= block.bytes;
        munmap(block.host_address, block.mapped_bytes);
    }
    munmap(begin, block.mapped_bytes);
    m_blocks.erase(found);
}

Block* Memory::find(const void* address, const char** begin) {
    const auto* const wanted = static_cast<const char*>(address);
    auto found = m_blocks.upper_bound(wanted);
    if (found == m_blocks.begin() || wanted >= (--found)->first + found->second.mapped_bytes) {
        return nullptr;
    }
    if (begin != nullptr) {
        *begin = found->first;
    }
    return &found->second;
}

void* Memory::host_address(const void* address) {
    const char* begin = nullptr;
    const Block* const block = find(address, &begin);
    return block == nullptr ? const_cast<void*>(address)
                            : block->host_address + (static_cast<const char*>(address) - begin);
}

void Memory::note_allocation(const void* begin, std::size_t bytes) {
    m_allocations[static_cast<const char*>(begin)] = bytes;
}

void Memory::note_release(const void* begin) {
    m_allocations.erase(static_cast<const char*>(begin));
}

std::size_t Memory::bytes_after(const void* address) {
    const char* begin = nullptr;
    const auto* const wanted = static_cast<const char*>(address);
    const Block* const block = find(address, &begin);
    if (block == nullptr) {
        return 0;
    }
    auto allocation = m_allocations.upper_bound(wanted);
    if (allocation != m_allocations.begin() && wanted < (--allocation)->first + allocation->second) {
        return static_cast<std::size_t>(allocation->first + allocation->second - wanted);
    }
    return static_cast<std::size_t>(begin + block->bytes - wanted);
}

std::size_t Memory::bytes_of(int device) const {
    const auto found = m_bytes.find(device);
    return found == m_bytes.end() ? 0 : found->second;
}

std::size_t Memory::peak_bytes_of(int device) const {
    const auto found = m_peak_bytes.find(device);
    return found == m_peak_bytes.end() ? 0 : found->second;
}

} // namespace cuda_simulator
