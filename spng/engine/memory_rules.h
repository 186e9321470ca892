#pragma once
// What each type of node makes and needs, in bytes. Blocks live as long as somebody holds them, as tensors
// do, so that a walk over the graph gives the sum at each moment.

#include "spng/engine/memory_plan.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace spng {

/// Sums up what lives, and keeps what it was when the sum was highest.
class MemoryLedger {
public:
    void add(MemoryUse use, std::int64_t bytes);
    const MemoryByUse& at_peak() const { return m_peak; }
    const std::string& peak_place() const { return m_peak_place; }
    void enter(std::string place) { m_place = std::move(place); }

private:
    MemoryByUse m_live{}, m_peak{};
    std::string m_place, m_peak_place;
};

/// Bytes that count as long as it lives.
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

/// A tensor (view, channel, tick) by its sizes.
struct PlannedTensor {
    std::int64_t views = 0, channels = 0, ticks = 0;
    MemoryBlockPtr block;
    std::int64_t samples() const { return views * channels * ticks; }
};
using PlannedSet = std::vector<PlannedTensor>;

/// What a rule may ask about the job and the node that is called.
struct PlannedCall {
    MemoryLedger& ledger;
    const nlohmann::json& data; ///< of the node
    std::vector<PlannedSet> inputs;
    std::size_t outputs = 0; ///< number of its output ports
    std::int64_t real = 4;   ///< bytes of a sample
    std::int64_t ticks = 0;  ///< of the readout
    /// Of sources and of what splits frames: views and channels of each group, by output port.
    std::vector<PlannedTensor> groups;

    PlannedTensor make(PlannedTensor like, MemoryUse use, std::int64_t bytes_per_sample) const;
    MemoryBlockPtr scratch(MemoryUse use, std::int64_t bytes) const;
};

using MemoryRule = std::function<std::vector<PlannedSet>(PlannedCall&)>;

/// The same set, of all inputs, at every output port; nothing new.
std::vector<PlannedSet> pass_on(PlannedCall& call);

/// By registered type. A type that is not among them is taken to pass its inputs on.
const std::map<std::string, MemoryRule>& memory_rules();

/// Tensor memory of one forward of the network besides its features, for so many samples of an image.
std::int64_t forward_bytes(std::int64_t samples);

/// Frequencies of a padded readout, and channels of a padded view (SPNGDecon).
std::int64_t planned_frequencies(std::int64_t ticks);
std::int64_t planned_channels(std::int64_t channels, bool padded);

} // namespace spng
