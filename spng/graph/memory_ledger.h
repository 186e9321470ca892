// SPDX-License-Identifier: Apache-2.0
#pragma once
// Accounting of planned tensor memory: blocks count as long as they live, as tensors do.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace spng {

/// Purpose of a block of memory.
enum class MemoryUse { input, spectra, images, masks, network };
inline constexpr std::size_t memory_uses = 5;
const char* name_of(MemoryUse use);

/// Bytes by MemoryUse.
using MemoryByUse = std::array<std::int64_t, memory_uses>;
std::int64_t sum_of(const MemoryByUse& bytes);

/// Sum of all living blocks and its highest value, with the bytes that do not belong to one event.
class MemoryLedger {
public:
    void add(MemoryUse use, std::int64_t bytes);
    /// Name the node that is called next.
    void enter(std::string node) { m_node = std::move(node); }

    const MemoryByUse& at_peak() const { return m_peak; }
    const std::string& peak_node() const { return m_peak_node; }

    std::int64_t constants = 0; ///< kernels, tables and weights, once for each replica
    std::int64_t files = 0;     ///< frames on the host that are read ahead or being written
    std::int64_t network = 0;   ///< largest forward of a network, without its features

private:
    MemoryByUse m_live{}, m_peak{};
    std::string m_node, m_peak_node;
};

/// Bytes that count while the object lives.
class MemoryBlock {
public:
    MemoryBlock(MemoryLedger& ledger, MemoryUse use, std::int64_t bytes)
        : m_ledger(ledger), m_use(use), m_bytes(bytes) {
        m_ledger.add(m_use, m_bytes);
    }
    ~MemoryBlock() { m_ledger.add(m_use, -m_bytes); }
    MemoryBlock(const MemoryBlock&) = delete;
    MemoryBlock& operator=(const MemoryBlock&) = delete;
    std::int64_t bytes() const { return m_bytes; }

private:
    MemoryLedger& m_ledger;
    MemoryUse m_use;
    std::int64_t m_bytes;
};
using MemoryBlockPtr = std::shared_ptr<const MemoryBlock>;

} // namespace spng
