// SPDX-License-Identifier: Apache-2.0
#include "spng/io/frame_assembly.h"

#include "spng/core/error.h"
#include "spng/core/nearest.h"
#include "spng/io/mask_ticks.h"

#include <algorithm>
#include <memory>

namespace spng {

namespace {

constexpr const char* all_tags = "*";

std::string quoted(std::vector<std::string> names) {
    for (std::string& each : names) {
        each = "'" + each + "'";
    }
    return names.empty() ? "none" : joined(names);
}

} // namespace

FrameAssembly::FrameAssembly(std::string file, int ident, std::vector<std::string> tags, std::string ending)
    : m_file(std::move(file)), m_ident(ident), m_accepted(std::move(tags)), m_ending(std::move(ending)) {}

bool FrameAssembly::is_accepted(const std::string& tag) const {
    return std::any_of(m_accepted.begin(), m_accepted.end(),
                       [&](const std::string& accepted) { return accepted == all_tags || accepted == tag; });
}

FrameAssembly::Tag& FrameAssembly::tag(const std::string& name) {
    const auto found =
        std::find_if(m_tags.begin(), m_tags.end(), [&](const auto& known) { return known.first == name; });
    return found != m_tags.end() ? found->second : m_tags.emplace_back(name, Tag{}).second;
}

bool FrameAssembly::has(const FrameMember& member) {
    switch (member.kind) {
    case MemberKind::chanmask:
        return m_masks.contains(member.label);
    case MemberKind::notes:
        return m_notes.has_value();
    case MemberKind::frame:
        return tag(member.label).samples.has_value();
    case MemberKind::runs:
        return tag(member.label).sparse.runs.has_value();
    case MemberKind::values:
        return tag(member.label).sparse.values.has_value();
    case MemberKind::shape:
        return tag(member.label).sparse.shape.has_value();
    case MemberKind::channels:
        return tag(member.label).channels.has_value();
    case MemberKind::tickinfo:
        return tag(member.label).ticks.has_value();
    case MemberKind::summary:
        break;
    }
    return tag(member.label).summary.has_value();
}

bool FrameAssembly::wants(const FrameMember& member, const std::string& where) {
    const bool has_tag = member.kind != MemberKind::chanmask && member.kind != MemberKind::notes;
    if (has_tag && !is_accepted(member.label)) {
        if (member.kind == MemberKind::frame || member.kind == MemberKind::runs) {
            m_other_tags.push_back(member.label);
        }
        return false;
    }
    if (has(member)) {
        throw Error(ErrorKind::Input, {.what = "the event has a member twice",
                                       .where = where,
                                       .seen = "a second " + name(member.kind, member.label),
                                       .expected = "each member once; events with different idents",
                                       .hint = "give every event its own ident"});
    }
    return true;
}

void FrameAssembly::add(const FrameMember& member, at::Tensor array, const std::string& where) {
    const auto add_sparse = [&](std::optional<at::Tensor> SparseParts::*part) {
        Tag& owner = tag(member.label);
        owner.sparse.*part = std::move(array);
        owner.is_sparse = true;
    };
    switch (member.kind) {
    case MemberKind::chanmask:
        m_masks[member.label] = channel_ranges_of(array, where);
        break;
    case MemberKind::notes:
        m_notes = notes_of(array, where);
        break;
    case MemberKind::frame:
        tag(member.label).samples = samples_of(array, where);
        break;
    case MemberKind::runs:
        add_sparse(&SparseParts::runs);
        break;
    case MemberKind::values:
        add_sparse(&SparseParts::values);
        break;
    case MemberKind::shape:
        add_sparse(&SparseParts::shape);
        break;
    case MemberKind::channels:
        tag(member.label).channels = channels_of(array, where);
        break;
    case MemberKind::tickinfo:
        tag(member.label).ticks = tick_info_of(array, where);
        break;
    case MemberKind::summary:
        tag(member.label).summary = summary_of(array, where);
        break;
    }
}

std::string FrameAssembly::name(MemberKind kind, const std::string& tag) const {
    return std::string(kind_name(kind)) + "_" + tag + m_ending;
}

void FrameAssembly::reject(std::string what, std::string seen, std::string expected, std::string hint) const {
    throw Error(ErrorKind::Input, {.what = std::move(what),
                                   .where = m_file + ", event " + std::to_string(m_ident),
                                   .seen = std::move(seen),
                                   .expected = std::move(expected),
                                   .hint = std::move(hint)});
}

/// Return the first member that the tag lacks.
std::optional<MemberKind> FrameAssembly::missing(const Tag& tag) const {
    for (const auto& [is_present, kind] : {std::pair{tag.is_sparse || tag.samples, MemberKind::frame},
                                           std::pair{!tag.is_sparse || tag.sparse.runs, MemberKind::runs},
                                           std::pair{!tag.is_sparse || tag.sparse.values, MemberKind::values},
                                           std::pair{!tag.is_sparse || tag.sparse.shape, MemberKind::shape},
                                           std::pair{tag.channels.has_value(), MemberKind::channels},
                                           std::pair{tag.ticks.has_value(), MemberKind::tickinfo}}) {
        if (!is_present) {
            return kind;
        }
    }
    return std::nullopt;
}

TaggedTraces FrameAssembly::traces(const std::string& label, Tag& tag) const {
    if (tag.is_sparse && tag.samples) {
        reject("the event has samples in two forms",
               name(MemberKind::frame, label) + " and members of a sparse frame",
               "either frame, or runs, values and shape", "remove one of them");
    }
    if (const auto kind = missing(tag)) {
        reject("the event is not complete", name(*kind, label) + " is missing",
               std::string(tag.is_sparse ? "runs, values, shape" : "frame") +
                   ", channels and tickinfo of each tag, the members of an event next to each other",
               "write the members of an event together");
    }
    TaggedTraces traces;
    traces.tag = label;
    if (tag.is_sparse) {
        traces.sparse = std::make_shared<const SparseSamples>(sparse_samples_of(
            tag.sparse, [&](MemberKind kind) { return m_file + ", member " + name(kind, label); }));
    } else {
        traces.samples = std::move(*tag.samples);
    }
    const std::int64_t rows = tag.is_sparse ? traces.sparse->rows : traces.samples.size(0);
    const auto require_rows = [&](MemberKind kind, std::int64_t count) {
        if (count != rows) {
            reject("the arrays of the event do not match",
                   std::to_string(count) + " values in " + name(kind, label),
                   std::to_string(rows) + ", the rows of " +
                       name(tag.is_sparse ? MemberKind::shape : MemberKind::frame, label),
                   "correct the program that wrote the file");
        }
    };
    require_rows(MemberKind::channels, static_cast<std::int64_t>(tag.channels->size()));
    if (tag.summary) {
        require_rows(MemberKind::summary, tag.summary->numel());
    }
    traces.channels = std::move(*tag.channels);
    traces.start_ns = tag.ticks->start_ns;
    traces.tick_ns = tag.ticks->tick_ns;
    traces.first_tick = tag.ticks->first_tick;
    traces.summary = std::move(tag.summary);
    return traces;
}

Frame FrameAssembly::frame() && {
    if (m_tags.empty()) {
        reject("the event has no frame of an accepted tag", "tags " + quoted(m_other_tags),
               "tags " + quoted(m_accepted), "choose one of the tags in the file");
    }
    Frame frame;
    frame.ident = m_ident;
    std::int64_t sparse_samples = 0;
    for (auto& [label, tag] : m_tags) {
        frame.traces.push_back(traces(label, tag));
        const auto& sparse = frame.traces.back().sparse;
        if (sparse && (sparse_samples += sparse->rows * sparse->ticks) > max_samples) {
            reject("the sparse tags of the event have too many samples", std::to_string(sparse_samples),
                   "at most " + std::to_string(max_samples), "write fewer tags in an event");
        }
    }
    frame.channel_masks = std::move(m_masks);
    if (m_notes) {
        frame.notes = std::move(*m_notes);
        if (frame.notes.erase(mask_ticks_note) == 0) {
            frame.channel_masks = shifted(std::move(frame.channel_masks), frame.traces.front().first_tick);
        }
    }
    return frame;
}

} // namespace spng
