#pragma once
// What flows on an edge of the graph: an immutable, shared set of named tensors with what one must know to
// read them. Nothing is copied at a node boundary; no node writes into a tensor that it was given.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Ticks [begin, end) of a channel that carry a mark ("bad", "nan", "saturated", ...).
struct ChannelRange {
    int channel = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    bool operator==(const ChannelRange&) const = default;
};

/// The channel masks of an event, by name.
using ChannelMasks = std::map<std::string, std::vector<ChannelRange>>;

/// An event that is one of several overlapping windows of a long readout (docs/decisions/long-readouts.md).
/// It answers for its core, ticks [core_begin, core_end) counted from its first sample; the cores of a
/// readout's windows follow each other without gaps.
struct ReadoutWindow {
    std::int64_t readout = 0;    ///< which long readout of the job, from 0
    std::int64_t number = 0;     ///< of the window in its readout, from 0
    std::int64_t core_begin = 0; ///< [ticks]
    std::int64_t core_end = 0;   ///< [ticks]
    bool operator==(const ReadoutWindow&) const = default;
};

/// What belongs to the event rather than to one tensor. Travels with every set that is derived from the
/// event.
struct EventInfo {
    std::uint64_t index = 0;             ///< position in the job, from 0; the payload of every range
    int ident = 0;                       ///< the number that the file gives the event
    double start = 0;                    ///< time of tick 0 [ns]
    double tick = 0;                     ///< sampling period [ns]
    int first_tick = 0;                  ///< the file's tbin: ticks between `start` and the first sample
    std::int64_t ticks = 0;              ///< samples per channel
    ChannelMasks masks;                  ///< those of the input, and those found while sanitising it
    std::optional<ReadoutWindow> window; ///< nothing: the event is a readout of its own
};

/// One axis of a tensor. The coordinate of sample i is start + i * period.
struct Axis {
    std::string name; ///< "view", "channel", "tick", "frequency", "feature"
    std::string unit; ///< "ns", "MHz", "" for counts
    double start = 0;
    double period = 1;
};

/// Which channel each row of a (view, channel, ...) tensor is.
struct ChannelTable {
    std::vector<std::string> views; ///< names of the views, "U", "V", "W0", ...
    std::vector<int> planes;        ///< plane index (0 U, 1 V, 2 W) of each view
    at::Tensor ids;                 ///< (view, channel) int32 on the host
    at::Tensor good; ///< (view, channel) bool on the device: false for dead, absent or non-finite channels
};

enum class Domain { time, frequency };

struct NamedTensor {
    std::string name; ///< unique in its set
    at::Tensor data;
    std::vector<Axis> axes; ///< one for each dimension of data
    std::string unit;       ///< of the values: "ADC", "electrons", "" for masks
    Domain domain = Domain::time;
    std::shared_ptr<const ChannelTable> channels; ///< null only where rows are not channels of a detector
    at::Tensor summary;  ///< optional (view, channel): one number per channel, such as its noise RMS
    at::Tensor pedestal; ///< optional (view, channel): the level that the noise is about
    /// provenance that goes to the output ("model": "stand-in", ...)
    std::map<std::string, std::string> notes;
};

class TensorSet {
public:
    TensorSet(std::shared_ptr<const EventInfo> event, std::vector<NamedTensor> tensors);

    const EventInfo& event() const { return *m_event; }
    const std::shared_ptr<const EventInfo>& event_ptr() const { return m_event; }
    const std::vector<NamedTensor>& tensors() const { return m_tensors; }

    /// Null when there is no tensor of that name.
    const NamedTensor* find(const std::string& name) const;
    /// Throws Error(Internal) naming the nearest tensor of the set.
    const NamedTensor& at(const std::string& name) const;
    /// The only tensor. Throws Error(Internal) when there are more or none.
    const NamedTensor& only() const;

    /// Bytes of all tensors as laid out (a view counts its own elements).
    std::size_t bytes() const;

private:
    std::shared_ptr<const EventInfo> m_event;
    std::vector<NamedTensor> m_tensors;
};

/// Null means end of stream.
using TensorSetPtr = std::shared_ptr<const TensorSet>;

/// A set that holds the tensors of several others; the event is that of the first. Throws Error(Internal)
/// when two tensors share a name.
TensorSetPtr merge(const std::vector<TensorSetPtr>& sets);

} // namespace spng
