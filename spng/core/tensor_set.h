// SPDX-License-Identifier: Apache-2.0
#pragma once
// The data on an edge of the graph: an immutable, shared set of named tensors with axes, units and channels.
// Nothing is copied at a node boundary, and no node writes into an input tensor.

#include "WireCellSpng/ChannelMasks.h"
#include "spng/core/notes.h"
#include "spng/core/report.h"
#include "spng/core/sparse_samples.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spng {

/// An event that is one of several overlapping readout windows (docs/decisions/long-readouts.md). The output
/// uses only its core, ticks [core_begin, core_end) counted from its first sample. The cores of one readout
/// follow each other without gaps.
struct ReadoutWindow {
    std::int64_t readout = 0;    ///< index of the long readout in the job
    std::int64_t index = 0;      ///< of this readout window in the long readout
    std::int64_t core_begin = 0; ///< [ticks]
    std::int64_t core_end = 0;   ///< [ticks]
    bool operator==(const ReadoutWindow&) const = default;
};

/// Properties of the event as a whole. Travels with every set that is derived from the event.
struct EventInfo {
    std::uint64_t index = 0; ///< in the job, from 0; the payload of every NVTX range
    int ident = 0;           ///< id of the event in the file
    double start = 0;        ///< time of tick 0 [ns]
    double tick = 0;         ///< sampling period [ns]
    int first_tick = 0;      ///< the file's tbin: ticks between `start` and the first sample
    std::int64_t ticks = 0;  ///< samples per channel
    /// Of the input, and those found while checking it. Ticks count from the first sample (mask_ticks.h).
    ChannelMasks masks;
    std::optional<ReadoutWindow> window; ///< empty if the event is a whole readout
};

/// One axis of a tensor. The coordinate of sample i is start + i * period.
struct Axis {
    std::string name; ///< "view", "channel", "tick", "frequency", "feature"
    std::string unit; ///< "ns", "MHz", "" for counts
    double start = 0;
    double period = 1;
};

/// Fault of a channel that was found from its waveform.
enum class ChannelFault : std::uint8_t { none, dead, noisy };

/// Ticks of channels that a step has found to be bad from their waveforms, and has bridged. They become a mask of the
/// output and are bad there.
struct BadTickRanges {
    std::string mask;  ///< name of the mask, such as "chirp"
    double period = 0; ///< of the ticks [ns]
    /// (view, channel, range, 2) int32 on the device: begin and end tick (not included); equal for no range
    at::Tensor ticks;
};

/// The channels of the rows of a (view, channel, ...) tensor. for_each_tensor() (tensor_visitor.h) lists all members.
struct ChannelTable {
    std::vector<std::string> views; ///< names of the views, "U", "V", "W0", ...
    std::vector<int> planes;        ///< plane index (0 U, 1 V, 2 W) of each view
    at::Tensor ids;                 ///< (view, channel) int32 on the host
    /// Row of the view group that is the first one here. With few channels a tensor has only a part of the group's rows.
    std::int64_t first_row = 0;
    /// (view, channel) bool on the device: false for dead, absent or non-finite channels
    at::Tensor good;
    /// optional (view, channel) uint8 on the device: the ChannelFault of channels that are not good because of it
    at::Tensor fault;
    std::vector<BadTickRanges> bad_ticks; ///< in the order of the steps
};

enum class Domain { time, frequency };

// Encodings of the samples of a NamedTensor (docs/decisions/encodings.md). dense_tensor() of rows/encodings.h decodes
// all of them.

/// `data` has all samples.
struct DenseSamples {};

/// A mask packed by pack_ticks (rows/bit_ticks.h): `data` is (view, channel, word) int64.
struct PackedMask {
    std::int64_t samples = 0; ///< in a row
};

/// The ROIs of rows whose samples were compacted, only on a device: row r of `data` begins with its samples inside the
/// ROIs, one after the other; what follows them is undefined. All samples outside of the ROIs are 0.
struct CompactedRows {
    at::Tensor mask;         ///< (view, channel, word) int64, packed by pack_ticks: slices inside ROIs
    std::int64_t factor = 1; ///< ticks in a slice of the mask; the last slice may have fewer
};

/// The encoding is SparseSamples only in frames on the host, and `data` is then undefined.
using Encoding = std::variant<DenseSamples, PackedMask, CompactedRows, SparseSamples>;

/// for_each_tensor() (tensor_visitor.h) lists all members.
struct NamedTensor {
    std::string name; ///< unique in its set
    /// (view, channel, sample) in general; (channel, tick) in frames
    at::Tensor data;
    Encoding encoding;      ///< of the samples in `data`
    std::vector<Axis> axes; ///< one for each dimension of data
    std::string unit;       ///< of the values: "ADC", "electrons", "" for masks
    Domain domain = Domain::time;
    std::shared_ptr<const ChannelTable> channels; ///< null only where rows are not channels of a detector
    at::Tensor summary;  ///< optional (view, channel): one value per channel, such as its noise RMS
    at::Tensor pedestal; ///< optional (view, channel): the mean level of the noise
    /// optional (view, channel): noise RMS that the detector's files predict; undefined: unknown
    at::Tensor expected_noise;
    /// provenance for the output ("model": "dnnroi.ts", ...)
    Notes notes;

    /// The encoding if it is this one; else null.
    const PackedMask* packed() const { return std::get_if<PackedMask>(&encoding); }
    const CompactedRows* compacted() const { return std::get_if<CompactedRows>(&encoding); }
    const SparseSamples* sparse() const { return std::get_if<SparseSamples>(&encoding); }
};

class TensorSet {
public:
    /// @throws Error(Internal) if two tensors have the same name
    TensorSet(std::shared_ptr<const EventInfo> event, std::vector<NamedTensor> tensors, Reports reports = {},
              std::shared_ptr<const Completion> completion = {});

    const EventInfo& event() const { return *m_event; }
    const std::shared_ptr<const EventInfo>& event_ptr() const { return m_event; }
    const std::vector<NamedTensor>& tensors() const { return m_tensors; }
    /// Return what the node that made the set reports about the event.
    const Reports& reports() const { return m_reports; }
    /// Return the rest of a set that is not complete yet, else null. No node gets such a set.
    const std::shared_ptr<const Completion>& completion() const { return m_completion; }

    /// Return the tensor of that name; null if there is none.
    const NamedTensor* find(const std::string& name) const;
    /// Return the tensor of that name.
    /// @throws Error(Internal) if there is none; names the nearest tensor of the set
    const NamedTensor& at(const std::string& name) const;
    /// Return the only tensor.
    /// @throws Error(Internal) if the set does not have exactly one
    const NamedTensor& only() const;

    /// Return the bytes of all tensors without those of channel tables (a view counts its own elements).
    std::size_t bytes() const;
    /// Return whether all tensors, with those of channel tables, are on the host.
    bool is_on_host() const;

private:
    std::shared_ptr<const EventInfo> m_event;
    std::vector<NamedTensor> m_tensors;
    Reports m_reports;
    std::shared_ptr<const Completion> m_completion;
};

/// Null means end of stream.
using TensorSetPtr = std::shared_ptr<const TensorSet>;

/// Return a set with the tensors of several sets and the event of the first.
/// @throws Error(Internal) if two tensors have the same name
TensorSetPtr merge(const std::vector<TensorSetPtr>& sets);

} // namespace spng
