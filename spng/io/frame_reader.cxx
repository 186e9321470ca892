// SPDX-License-Identifier: Apache-2.0
#include "spng/io/frame_reader.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/error.h"
#include "spng/core/nearest.h"
#include "spng/io/frame_parts.h"
#include "spng/io/mask_ticks.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace spng {

namespace {

constexpr const char* all_tags = "*";
constexpr std::size_t max_other_members = 8;

} // namespace

/// The parts of an event read so far, before it is checked for completeness.
struct FrameReader::Parts {
    struct Tag {
        std::optional<at::Tensor> samples;
        SparseParts sparse;
        bool is_sparse = false;
        std::optional<std::vector<int>> channels;
        std::optional<TickInfo> ticks;
        std::optional<at::Tensor> summary;
    };
    int ident = 0;
    std::vector<std::pair<std::string, Tag>> tags; ///< in the order of their first member
    ChannelMasks masks;
    std::optional<Notes> notes;
    std::vector<std::string> other_tags; ///< not accepted

    Tag& tag(const std::string& name) {
        const auto found =
            std::find_if(tags.begin(), tags.end(), [&](const auto& known) { return known.first == name; });
        return found != tags.end() ? found->second : tags.emplace_back(name, Tag{}).second;
    }
};

FrameReader::FrameReader(const std::filesystem::path& path, std::vector<std::string> tags,
                         HostAllocator allocate, std::optional<std::set<int>> idents)
    : m_archive(path), m_tags(std::move(tags)), m_allocate(std::move(allocate)), m_idents(std::move(idents)) {
}

bool FrameReader::is_accepted(const std::string& tag) const {
    return std::any_of(m_tags.begin(), m_tags.end(),
                       [&](const std::string& accepted) { return accepted == all_tags || accepted == tag; });
}

bool FrameReader::next_frame_member() {
    while (m_archive.next_member()) {
        try {
            m_member = parse_member_name(m_archive.member_name());
        } catch (const std::invalid_argument& problem) {
            throw Error(ErrorKind::Input, {.what = "the member's name cannot be read",
                                           .where = m_archive.where(),
                                           .seen = problem.what(),
                                           .expected = "<kind>_<tag>_<ident>.npy, such as frame_*_0.npy",
                                           .hint = "rename the member"});
        }
        if (m_member && m_idents && !m_idents->contains(m_member->ident)) {
            continue;
        }
        if (m_member) {
            return true;
        }
        if (m_other_members.size() < max_other_members) {
            m_other_members.push_back(m_archive.member_name());
        }
    }
    m_member.reset();
    return false;
}

std::optional<Frame> FrameReader::next() {
    NVTX_IO_RANGE("FrameReader::next");
    while (m_member && m_member->ident == m_failed_ident) {
        next_frame_member();
    }
    m_failed_ident.reset();
    if (!m_member && !next_frame_member()) {
        return std::nullopt;
    }
    Parts parts;
    parts.ident = m_member->ident;
    try {
        do {
            read_member(parts);
        } while (next_frame_member() && m_member->ident == parts.ident);
        Frame frame = assemble(parts);
        ++m_frames_read;
        return frame;
    } catch (const Error&) {
        m_failed_ident = parts.ident;
        m_archive.require_whole();
        throw;
    }
}

void FrameReader::read_member(Parts& parts) {
    const std::string where = m_archive.where();
    const std::string& label = m_member->label;
    const auto require_first = [&](bool is_first) {
        if (!is_first) {
            throw Error(ErrorKind::Input, {.what = "the event has a member twice",
                                           .where = where,
                                           .seen = "a second " + m_archive.member_name(),
                                           .expected = "each member once; events with different idents",
                                           .hint = "give every event its own ident"});
        }
    };
    if (m_member->kind == MemberKind::chanmask) {
        require_first(!parts.masks.contains(label));
        parts.masks[label] = channel_ranges_of(m_arrays.read(m_archive), where);
        return;
    }
    if (m_member->kind == MemberKind::notes) {
        require_first(!parts.notes);
        parts.notes = notes_of(m_arrays.read(m_archive), where);
        return;
    }
    if (!is_accepted(label)) {
        if (m_member->kind == MemberKind::frame || m_member->kind == MemberKind::runs) {
            parts.other_tags.push_back(label);
        }
        return;
    }
    Parts::Tag& tag = parts.tag(label);
    const auto read_sparse = [&](std::optional<at::Tensor>& part) {
        require_first(!part);
        part = m_arrays.read(m_archive);
        tag.is_sparse = true;
    };
    if (m_member->kind == MemberKind::runs) {
        read_sparse(tag.sparse.runs);
    } else if (m_member->kind == MemberKind::values) {
        read_sparse(tag.sparse.values);
    } else if (m_member->kind == MemberKind::shape) {
        read_sparse(tag.sparse.shape);
    } else if (m_member->kind == MemberKind::frame) {
        require_first(!tag.samples);
        tag.samples = samples_of(m_arrays.read(m_archive, m_allocate), where);
    } else if (m_member->kind == MemberKind::channels) {
        require_first(!tag.channels);
        tag.channels = channels_of(m_arrays.read(m_archive), where);
    } else if (m_member->kind == MemberKind::tickinfo) {
        require_first(!tag.ticks);
        tag.ticks = tick_info_of(m_arrays.read(m_archive), where);
    } else {
        require_first(!tag.summary);
        tag.summary = summary_of(m_arrays.read(m_archive), where);
    }
}

Frame FrameReader::assemble(Parts& parts) const {
    const std::string ident = std::to_string(parts.ident);
    const auto reject = [&](std::string what, std::string seen, std::string expected, std::string hint) {
        throw Error(ErrorKind::Input, {.what = std::move(what),
                                       .where = m_archive.path().string() + ", event " + ident,
                                       .seen = std::move(seen),
                                       .expected = std::move(expected),
                                       .hint = std::move(hint)});
    };
    const auto name = [&](MemberKind kind, const std::string& tag) {
        return member_name({kind, tag, parts.ident});
    };
    const auto join = [](const std::vector<std::string>& names) {
        std::string text;
        for (const std::string& one : names) {
            text += (text.empty() ? "'" : ", '") + one + "'";
        }
        return text.empty() ? std::string("none") : text;
    };
    if (parts.tags.empty()) {
        reject("the event has no frame of an accepted tag", "tags " + join(parts.other_tags),
               "tags " + join(m_tags), "choose one of the tags in the file");
    }
    Frame frame;
    frame.ident = parts.ident;
    std::int64_t sparse_samples = 0;
    for (auto& [label, tag] : parts.tags) {
        const bool is_sparse = tag.is_sparse;
        if (is_sparse && tag.samples) {
            reject("the event has samples in two forms",
                   name(MemberKind::frame, label) + " and members of a sparse frame",
                   "either frame, or runs, values and shape", "remove one of them");
        }
        std::optional<MemberKind> missing;
        for (const auto& [is_present, kind] : {std::pair{is_sparse || tag.samples, MemberKind::frame},
                                               std::pair{!is_sparse || tag.sparse.runs, MemberKind::runs},
                                               std::pair{!is_sparse || tag.sparse.values, MemberKind::values},
                                               std::pair{!is_sparse || tag.sparse.shape, MemberKind::shape},
                                               std::pair{tag.channels.has_value(), MemberKind::channels},
                                               std::pair{tag.ticks.has_value(), MemberKind::tickinfo}}) {
            if (!is_present && !missing) {
                missing = kind;
            }
        }
        if (missing) {
            reject(
                "the event is not complete", name(*missing, label) + " is missing",
                is_sparse
                    ? "runs, values, shape, channels and tickinfo of each tag, the members of an event next "
                      "to each other"
                    : "frame, channels and tickinfo of each tag, the members of an event next to each other",
                "write the members of an event together");
        }
        TaggedTraces traces;
        traces.tag = label;
        if (is_sparse) {
            traces.sparse = std::make_shared<const SparseSamples>(
                sparse_samples_of(tag.sparse, m_archive.path().string(), label, parts.ident));
        } else {
            traces.samples = std::move(*tag.samples);
        }
        if (is_sparse && (sparse_samples += traces.sparse->rows * traces.sparse->ticks) > max_samples) {
            reject("the sparse tags of the event have too many samples", std::to_string(sparse_samples),
                   "at most " + std::to_string(max_samples), "write fewer tags in an event");
        }
        const std::int64_t rows = is_sparse ? traces.sparse->rows : traces.samples.size(0);
        const auto require_rows = [&](MemberKind kind, std::int64_t count) {
            if (count != rows) {
                reject("the arrays of the event do not match",
                       std::to_string(count) + " values in " + name(kind, label),
                       std::to_string(rows) + ", the rows of " +
                           name(is_sparse ? MemberKind::shape : MemberKind::frame, label),
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
        frame.traces.push_back(std::move(traces));
    }
    frame.channel_masks = std::move(parts.masks);
    if (parts.notes) {
        frame.notes = std::move(*parts.notes);
        if (frame.notes.erase(mask_ticks_note) == 0) {
            frame.channel_masks = shifted(std::move(frame.channel_masks), frame.traces.front().first_tick);
        }
    }
    return frame;
}

void reject_file_without_events(const std::string& file, const std::vector<std::string>& other_members) {
    throw Error(
        ErrorKind::Input,
        {.what = "the file holds no event",
         .where = file,
         .seen = other_members.empty() ? "an empty archive" : "members " + joined(other_members),
         .expected = "frame_<tag>_<ident>.npy, channels_<tag>_<ident>.npy, tickinfo_<tag>_<ident>.npy",
         .hint = "is it a frame file?"});
}

} // namespace spng
