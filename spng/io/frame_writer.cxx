// SPDX-License-Identifier: Apache-2.0
#include "spng/io/frame_writer.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/error.h"
#include "spng/core/printable.h"
#include "spng/io/archive/npy_header.h"
#include "spng/io/frame_member.h"
#include "spng/io/frame_parts.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace spng {

namespace {

[[noreturn]] void reject(const std::string& tag, const char* what, std::string seen, const char* expected) {
    throw Error(ErrorKind::Internal, {.what = what,
                                      .where = "FrameWriter, tag '" + tag + "'",
                                      .seen = std::move(seen),
                                      .expected = expected,
                                      .hint = "report this defect"});
}

/// Check the samples.
/// @return their count of rows
std::int64_t rows_of(const TaggedTraces& traces) {
    const at::Tensor& samples = traces.samples;
    if (traces.sparse) {
        if (const auto fault = fault_of(*traces.sparse)) {
            reject(traces.tag, fault->what.c_str(), fault->seen, fault->expected.c_str());
        }
        return traces.sparse->rows;
    }
    if (!samples.defined() || samples.dim() != 2 || !samples.device().is_cpu() ||
        (samples.scalar_type() != at::kShort && samples.scalar_type() != at::kFloat)) {
        reject(traces.tag, "these samples cannot be written",
               samples.defined() ? samples.toString() : "no tensor",
               "(channel, tick) on the host, int16 or float32");
    }
    return samples.size(0);
}

void require_consistent(const TaggedTraces& traces) {
    const std::int64_t rows = rows_of(traces);
    if (rows != static_cast<std::int64_t>(traces.channels.size())) {
        reject(traces.tag, "samples and channel ids differ in count",
               std::to_string(rows) + " rows, " + std::to_string(traces.channels.size()) + " channels",
               "one channel id for each row");
    }
    if (traces.summary && (traces.summary->dim() != 1 || traces.summary->size(0) != rows ||
                           traces.summary->scalar_type() != at::kDouble)) {
        reject(traces.tag, "the summary does not fit the samples", shape_text(traces.summary->sizes().vec()),
               "(channel) float64");
    }
}

/// Return a channel mask as an array (n, 3) int32, as WCT writes it. Ticks beyond 32 bits, which are far outside of the
/// samples, become the nearest ones that fit.
at::Tensor mask_array(const std::vector<ChannelRange>& ranges) {
    using Limits = std::numeric_limits<int>;
    at::Tensor array = at::empty({static_cast<std::int64_t>(ranges.size()), 3}, at::kInt);
    auto* row = array.mutable_data_ptr<int>();
    for (const ChannelRange& range : ranges) {
        *row++ = range.channel;
        for (const std::int64_t tick : {range.begin, range.end}) {
            *row++ = static_cast<int>(std::clamp<std::int64_t>(tick, Limits::min(), Limits::max()));
        }
    }
    return array;
}

bool is_zip(const std::filesystem::path& path) {
    return path.extension() == ".npz" || path.extension() == ".zip";
}

/// Return the bytes of a text as an array. To read it with NumPy: json.loads(bytes(array)).
at::Tensor text_array(const std::string& text) {
    at::Tensor array = at::empty({static_cast<std::int64_t>(text.size())}, at::kByte);
    std::copy(text.begin(), text.end(), array.mutable_data_ptr<std::uint8_t>());
    return array;
}

} // namespace

FrameWriter::FrameWriter(const std::filesystem::path& path, std::optional<int> level, FrameForm form)
    : m_form(form),
      m_archive(path,
                level.has_value() || form == FrameForm::dense || !is_zip(path) ? level : std::optional(0)) {}

void FrameWriter::add_samples(const TaggedTraces& traces, int ident) {
    const auto name = [&](MemberKind kind) { return member_name({kind, traces.tag, ident}); };
    if (m_form == FrameForm::sparse) {
        const SparseSamples samples =
            traces.sparse ? with_shortest_runs(*traces.sparse) : sparse(traces.samples);
        m_archive.add(name(MemberKind::runs), samples.runs);
        m_archive.add(name(MemberKind::values), samples.values);
        m_archive.add(name(MemberKind::shape), at::tensor({samples.rows, samples.ticks}, at::kLong));
    } else if (traces.sparse) {
        m_archive.add(name(MemberKind::frame), *traces.sparse);
    } else {
        m_archive.add(name(MemberKind::frame), traces.samples);
    }
}

void FrameWriter::write(const Frame& frame) {
    NVTX_IO_RANGE("FrameWriter::write");
    std::map<std::string, at::Tensor> masks;
    for (const auto& [name, ranges] : frame.channel_masks) {
        if (!ranges.empty()) { // WCT's FrameFileSource throws for an array without elements
            masks[name] = mask_array(ranges);
        }
    }
    for (const TaggedTraces& traces : frame.traces) {
        require_consistent(traces);
    }
    // The caller counts an event as done from here on, also while a worker thread still writes it.
    m_archive.mark_worth_keeping();
    const auto add = [&](MemberKind kind, const std::string& label, const at::Tensor& array) {
        m_archive.add(member_name({kind, label, frame.ident}), array);
    };
    for (const TaggedTraces& traces : frame.traces) {
        add_samples(traces, frame.ident);
        add(MemberKind::channels, traces.tag, at::tensor(traces.channels, at::kInt));
        add(MemberKind::tickinfo, traces.tag,
            at::tensor({traces.start_ns, traces.tick_ns, static_cast<double>(traces.first_tick)},
                       at::kDouble));
        if (traces.summary) {
            add(MemberKind::summary, traces.tag, *traces.summary);
        }
    }
    for (const auto& [name, array] : masks) {
        add(MemberKind::chanmask, name, array);
    }
    if (!frame.notes.empty()) {
        Notes notes = frame.notes;
        if (!masks.empty() && std::any_of(frame.traces.begin(), frame.traces.end(),
                                          [](const auto& traces) { return traces.first_tick != 0; })) {
            notes[mask_ticks_note] = "from the start";
        }
        add(MemberKind::notes, own_notes, text_array(json_text(nlohmann::json(notes))));
    }
}

} // namespace spng
