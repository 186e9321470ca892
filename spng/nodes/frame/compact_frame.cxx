// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/compact_frame.h"

#include "spng/core/bit_words.h"
#include "spng/core/tensor_checks.h"
#include "spng/device/host_copy.h"
#include "spng/device/memory/page_locked.h"
#include "spng/nodes/frame/frame_rows.h"

#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace spng {
namespace {

/// Return the rows of all tensors as the sources of a launch: one by one, or joined if they are too many.
std::vector<at::Tensor> sources_of(const std::vector<at::Tensor>& tensors) {
    std::vector<at::Tensor> sources;
    for (const at::Tensor& tensor : tensors) {
        sources.push_back(tensor.contiguous());
    }
    if (sources.size() > max_row_sources) {
        for (at::Tensor& source : sources) {
            source = source.flatten(0, 1);
        }
        return {at::cat(sources)};
    }
    return sources;
}

/// View a part of a buffer of int64 words as a contiguous tensor of another type. Much faster than narrow and view,
/// which go through the dispatcher.
at::Tensor part_of(const at::Tensor& buffer, std::int64_t first_word, at::IntArrayRef sizes,
                   caffe2::TypeMeta type) {
    at::Tensor part =
        at::detail::make_tensor<c10::TensorImpl>(c10::Storage(buffer.storage()), buffer.key_set(), type);
    c10::TensorImpl* const impl = part.unsafeGetTensorImpl();
    impl->set_storage_offset(first_word * static_cast<std::int64_t>(sizeof(std::int64_t) / type.itemsize()));
    impl->set_sizes_contiguous(sizes);
    return part;
}

std::int64_t words_for_floats(std::int64_t count) {
    return (count + 1) / 2;
}

using Run = std::array<std::int32_t, 3>; ///< row, begin tick, end tick

} // namespace

double CopiedShare::next() const {
    const std::lock_guard lock(m_mutex);
    return std::min(1., std::max(first, margin * std::max(m_largest, m_largest_before)));
}

void CopiedShare::note(double share, bool was_short) {
    const std::lock_guard lock(m_mutex);
    if (m_events++ == period) {
        m_largest_before = m_largest;
        m_largest = 0;
        m_events = 1;
    }
    m_largest = std::max(m_largest, share);
    m_second_copies += was_short ? 1 : 0;
}

CompactFrame::CompactFrame(const std::vector<CompactTag>& tags, const RowPositions& positions,
                           std::int64_t ticks, CopiedShare& share)
    : m_rows(static_cast<std::int64_t>(positions.channels().size())), m_ticks(ticks), m_share(share) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    require_argument(m_rows <= most, "CompactFrame", "rows of the frame", m_rows, "at most 2^31 - 1");
    require_argument(m_ticks <= most, "CompactFrame", "ticks of the frame", m_ticks, "at most 2^31 - 1");
    std::int64_t value_tags = 0;
    for (const CompactTag& tag : tags) {
        Part part{.first_word = m_words, .words = tag.masks.at(0).size(-1), .factor = tag.factor};
        part.is_mask = tag.rows.empty();
        part.ticks = part.is_mask ? ticks : std::min(tag.ticks, ticks);
        m_words += row_words(part);
        m_capacity += part.is_mask ? 0 : m_rows * part.ticks;
        value_tags += part.is_mask ? 0 : 1;
        m_parts.push_back(part);
    }
    const auto options = tags[0].masks[0].options();
    const auto real = caffe2::TypeMeta::Make<float>(), word = caffe2::TypeMeta::Make<std::int64_t>();
    // Tags with samples take the first tiles, so that those before a tag count the samples before it.
    const std::int64_t tiles_of_tag = tiles_for(m_rows), all_tiles = (value_tags + 1) * tiles_of_tag;
    const std::int64_t past_samples = m_words + words_for_floats(m_capacity);
    m_buffer = at::empty({past_samples + all_tiles + m_rows}, options);
    const at::Tensor samples = part_of(m_buffer, m_words, {2 * words_for_floats(m_capacity)}, real);
    const at::Tensor tiles = part_of(m_buffer, past_samples, {all_tiles}, word);
    const at::Tensor extents =
        part_of(m_buffer, past_samples + all_tiles, {m_rows, 2}, caffe2::TypeMeta::Make<std::int32_t>());
    std::int64_t first_tile = 0;
    for (std::size_t i = 0; i < tags.size(); ++i) {
        const Part& part = m_parts[i];
        if (row_words(part) == 0 || part.ticks == 0) {
            continue;
        }
        const at::Tensor origins = positions.origins(tags[i].ids, options.device());
        const std::int64_t tile = part.is_mask ? value_tags * tiles_of_tag : first_tile;
        gather_words(sources_of(tags[i].masks), origins, part.factor, part.ticks,
                     part_of(m_buffer, part.first_word, {row_words(part)}, word), extents,
                     part_of(m_buffer, past_samples + tile, {tiles_of_tag}, word));
        if (!part.is_mask) {
            gather_rows(sources_of(tags[i].rows), origins, extents, tiles, first_tile, samples);
            first_tile += tiles_of_tag;
        }
    }
    const double room = std::ceil(share.next() * static_cast<double>(m_capacity));
    const std::int64_t words =
        std::min(words_for_floats(static_cast<std::int64_t>(room)), words_for_floats(m_capacity));
    m_room = std::min(2 * words, m_capacity);
    m_copied = begin_copy_to_host(part_of(m_buffer, 0, {m_words + words}, word));
}

const std::uint64_t* CompactFrame::words_of(const Part& part) const {
    return reinterpret_cast<const std::uint64_t*>(m_copied.const_data_ptr<std::int64_t>()) + part.first_word;
}

at::Tensor CompactFrame::expanded_mask(const Part& part) const {
    at::Tensor mask = at::empty({m_rows, m_ticks}, at::kShort);
    auto* to = mask.mutable_data_ptr<std::int16_t>();
    const std::uint64_t* words = words_of(part);
    const std::int64_t bits = std::min(part.words * bits_per_word, (m_ticks + part.factor - 1) / part.factor);
    at::parallel_for(0, m_rows, 64, [&](std::int64_t begin, std::int64_t end) {
        std::fill(to + begin * m_ticks, to + end * m_ticks, std::int16_t{0});
        for (std::int64_t row = begin; row < end; ++row) {
            const std::uint64_t* flags = words + row * part.words;
            for (std::int64_t past = 0; past < bits;) {
                const std::int64_t first = find_bit(flags, past, bits, true);
                past = find_bit(flags, first, bits, false);
                std::fill(to + row * m_ticks + std::min(first * part.factor, m_ticks),
                          to + row * m_ticks + std::min(past * part.factor, m_ticks), std::int16_t{1});
            }
        }
    });
    return mask;
}

at::Tensor CompactFrame::runs_of(const Part& part) const {
    std::vector<Run> runs;
    const std::uint64_t* flags = words_of(part);
    const std::int64_t bits =
        std::min(part.words * bits_per_word, (part.ticks + part.factor - 1) / part.factor);
    for (std::int64_t row = 0; row < m_rows; ++row, flags += part.words) {
        for (std::int64_t first = find_bit(flags, 0, bits, true); first < bits;) {
            const std::int64_t past = find_bit(flags, first, bits, false);
            runs.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(first * part.factor),
                            static_cast<std::int32_t>(std::min(past * part.factor, part.ticks))});
            first = find_bit(flags, past, bits, true);
        }
    }
    at::Tensor all = at::empty({static_cast<std::int64_t>(runs.size()), 3}, at::kInt);
    if (!runs.empty()) {
        std::memcpy(all.mutable_data_ptr(), runs.data(), runs.size() * sizeof(Run));
    }
    return all;
}

at::Tensor CompactFrame::values(std::int64_t count) {
    const at::Tensor copied = m_copied.narrow(0, m_words, m_copied.size(0) - m_words).view(at::kFloat);
    m_share.note(m_capacity == 0 ? 0 : static_cast<double>(count) / static_cast<double>(m_capacity),
                 count > m_room);
    if (count <= m_room) {
        return copied;
    }
    at::Tensor all = host_tensor({count}, at::kFloat, m_buffer.is_cuda());
    const at::Tensor samples =
        part_of(m_buffer, m_words, {2 * words_for_floats(m_capacity)}, caffe2::TypeMeta::Make<float>());
    all.narrow(0, m_room, count - m_room).copy_(samples.narrow(0, m_room, count - m_room));
    all.narrow(0, 0, m_room).copy_(copied.narrow(0, 0, m_room));
    return all;
}

std::vector<CompactFrame::Result> CompactFrame::results() {
    std::vector<at::Tensor> runs(m_parts.size());
    std::vector<std::int64_t> ends(m_parts.size()); // of the samples of each tag
    std::int64_t count = 0;
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
        if (!m_parts[i].is_mask) {
            runs[i] = runs_of(m_parts[i]);
            const auto* run = runs[i].const_data_ptr<std::int32_t>();
            for (std::int64_t k = 0; k < runs[i].size(0); ++k, run += 3) {
                count += run[2] - run[1];
            }
        }
        ends[i] = count;
    }
    const at::Tensor all = values(count);
    std::vector<Result> results;
    std::int64_t first = 0;
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
        if (m_parts[i].is_mask) {
            results.emplace_back(expanded_mask(m_parts[i]));
        } else {
            results.emplace_back(
                SparseSamples{m_rows, m_ticks, runs[i], all.narrow(0, first, ends[i] - first)});
        }
        first = ends[i];
    }
    return results;
}

} // namespace spng
