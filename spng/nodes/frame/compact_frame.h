// SPDX-License-Identifier: Apache-2.0
#pragma once
// A frame that comes from a device as the samples inside ROIs (docs/decisions/compact-result.md).

#include "spng/core/sparse_samples.h"
#include "spng/nodes/frame/device_row_scatter.h"

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <variant>
#include <vector>

namespace spng {

/// The rows of one tag on a device.
struct CompactTag {
    /// (view, channel, word) int64, packed by pack_ticks; as many words in all of them
    std::vector<at::Tensor> masks{};
    /// (view, channel, tick) float32 or float64, compacted; of the shapes of `masks`. Empty: the mask is the content.
    std::vector<at::Tensor> rows{};
    std::vector<at::Tensor> ids{}; ///< (view, channel) int32 on the host, of each mask
    std::int64_t factor = 1;       ///< ticks of the frame per bit
    std::int64_t ticks = 0;        ///< of `rows`
};

/// The share of the samples of a frame for which the first copy to the host has room: what recent events had inside
/// ROIs, and a quarter more. Thread-safe.
class CopiedShare {
public:
    double next() const;

    /// @param share     of the samples of an event that were inside ROIs
    /// @param was_short the first copy did not hold them
    void note(double share, bool was_short);

    /// Number of events that needed a second copy.
    std::int64_t second_copies() const { return m_second_copies; }

private:
    static constexpr double first = 0.035, margin = 1.25;
    static constexpr std::int64_t period = 64; ///< [events]

    mutable std::mutex m_mutex;
    double m_largest = 0, m_largest_before = 0; ///< in this period and the one before
    std::int64_t m_events = 0;
    std::atomic<std::int64_t> m_second_copies{0};
};

/// One buffer on the device, with the mask words of all tags and behind them the samples inside ROIs as float32, tags
/// and rows in the order of the frame. It has room for every sample, and behind them for the counts of the kernels. Its
/// beginning is copied to the host at once; if that did not include all samples, results() copies the others.
class CompactFrame {
public:
    /// Queue the work and the copy on the current stream.
    /// @param tags       all on one device; not empty
    /// @param positions  of the frame's rows
    /// @param ticks      of the frame; rows are cropped or end with zeros
    /// @throws Error(Internal) if a tag's tensors do not fit each other, or for more than 2^31 - 1 rows or ticks
    CompactFrame(const std::vector<CompactTag>& tags, const RowPositions& positions, std::int64_t ticks,
                 CopiedShare& share);

    /// The copy on the host, page-locked; complete when the stream has reached this point.
    const at::Tensor& copied() const { return m_copied; }

    /// Samples of a tag, or (row, tick) int16 of a mask.
    using Result = std::variant<SparseSamples, at::Tensor>;

    /// Return the tags after the copy is complete. Waits for the device if the copy did not hold all samples. The
    /// samples are views of the copy.
    std::vector<Result> results();

private:
    struct Part {
        std::int64_t first_word = 0, words = 0; ///< of a row
        std::int64_t factor = 1;
        std::int64_t ticks = 0; ///< with samples
        bool is_mask = false;
    };
    std::int64_t row_words(const Part& part) const { return m_rows * part.words; }
    const std::uint64_t* words_of(const Part& part) const;
    at::Tensor expanded_mask(const Part& part) const;
    at::Tensor runs_of(const Part& part) const;
    /// Return the first samples, if necessary with a second copy.
    at::Tensor values(std::int64_t count);

    std::int64_t m_rows, m_ticks;
    std::vector<Part> m_parts;
    std::int64_t m_words = 0;    ///< of all parts
    std::int64_t m_capacity = 0; ///< samples in ROIs that the frame may have
    std::int64_t m_room = 0;     ///< those that the copy may have
    at::Tensor m_buffer;         ///< int64 on the device
    at::Tensor m_copied;         ///< int64 on the host
    CopiedShare& m_share;
};

} // namespace spng
