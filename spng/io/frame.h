// SPDX-License-Identifier: Apache-2.0
#pragma once
// One event, with the content of a frame file.

#include "spng/core/notes.h"
#include "spng/core/sparse_samples.h"
#include "spng/core/tensor_set.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Forms of the samples in a frame file.
enum class FrameForm {
    dense, ///< all samples, which the Wire-Cell Toolkit reads too
    sparse ///< the samples that are not 0 (docs/sparse-frames.md)
};

/// The waveforms of one tag. Sample t of a row was taken at start_ns + (first_tick + t) * tick_ns.
struct TaggedTraces {
    std::string tag; ///< may be empty, hold underscores, or be "*"
    /// (channel, tick) on the host, C contiguous, int16 or float32; ADC or electrons. Undefined if `sparse` is set.
    at::Tensor samples;
    std::vector<int> channels;         ///< channel id of each row, all different
    double start_ns = 0;               ///< [ns]
    double tick_ns = 0;                ///< sampling period [ns], above 0
    int first_tick = 0;                ///< "tbin": ticks between start_ns and the first sample
    std::optional<at::Tensor> summary; ///< (channel) float64: one value per row, such as its RMS
    /// The samples in another form; null: `samples` has them.
    std::shared_ptr<const SparseSamples> sparse{};
};

struct Frame {
    int ident = 0; ///< id of the event in the file
    std::vector<TaggedTraces> traces;
    Notes notes; ///< provenance
    /// Marked tick ranges of channels ("bad", ...). Ticks count from start_ns of the first traces (mask_ticks.h).
    ChannelMasks channel_masks;
};

} // namespace spng
