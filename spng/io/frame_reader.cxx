// SPDX-License-Identifier: Apache-2.0
#include "spng/io/frame_reader.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/error.h"
#include "spng/core/nearest.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace spng {

namespace {

constexpr std::size_t max_other_members = 8;

std::optional<int> ident_of(const std::string& member) {
    try {
        const auto parsed = parse_member_name(member);
        return parsed ? std::optional(parsed->ident) : std::nullopt;
    } catch (const std::invalid_argument&) { // reported when the member is reached
        return std::nullopt;
    }
}

/// Order the members of a file by event, in that of their first members; nothing if they are, or if names repeat. Members of
/// no event stay behind the one before them.
std::vector<std::size_t> by_event(const std::vector<std::string>& names) {
    std::map<int, std::size_t> ranks; // of the events
    std::vector<std::size_t> rank(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto ident = ident_of(names[i]);
        rank[i] = ident ? ranks.try_emplace(*ident, ranks.size()).first->second : i > 0 ? rank[i - 1] : 0;
    }
    if (std::ranges::is_sorted(rank) || std::set(names.begin(), names.end()).size() < names.size()) {
        return {};
    }
    std::vector<std::size_t> order(names.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return rank[i]; });
    return order;
}

} // namespace

FrameReader::FrameReader(const std::filesystem::path& path, std::vector<std::string> tags,
                         HostAllocator allocate, std::optional<std::set<int>> idents)
    : m_archive(path, by_event), m_arrays(std::make_shared<NpyReaders>()), m_tags(std::move(tags)),
      m_allocate(std::move(allocate)), m_idents(std::move(idents)) {}

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

/// An event whose members are known, though not all of them are read.
struct FrameReader::Event {
    struct Part {
        FrameMember member;
        std::unique_ptr<PlacedMember> source;
    };

    Event(FrameAssembly the_assembly, std::shared_ptr<NpyReaders> the_arrays, HostAllocator the_allocate)
        : assembly(std::move(the_assembly)), arrays(std::move(the_arrays)),
          allocate(std::move(the_allocate)) {}

    void read(const FrameMember& member, ByteSource& source) {
        if (assembly.wants(member, source.where())) {
            const bool is_large = member.kind == MemberKind::frame;
            assembly.add(member, arrays->read(source, is_large ? allocate : ordinary_tensor), source.where());
        }
    }

    Frame frame() {
        for (auto& [member, source] : parts) {
            read(member, *source);
        }
        return std::move(assembly).frame();
    }

    FrameAssembly assembly;
    std::shared_ptr<NpyReaders> arrays;
    HostAllocator allocate;
    std::vector<Part> parts;
};

std::optional<FrameTask> FrameReader::next_task() {
    NVTX_IO_RANGE("FrameReader::next");
    while (m_member && m_member->ident == m_failed_ident) {
        next_frame_member();
    }
    m_failed_ident.reset();
    if (!m_member && !next_frame_member()) {
        return std::nullopt;
    }
    ++m_events;
    const int ident = m_member->ident;
    auto event = std::make_shared<Event>(
        FrameAssembly(m_archive.path().string(), ident, m_tags, "_" + std::to_string(ident) + ".npy"),
        m_arrays, m_allocate);
    try {
        do {
            if (auto source = m_archive.placed_member()) {
                event->parts.push_back({*m_member, std::move(source)});
            } else {
                event->read(*m_member, m_archive);
            }
        } while (next_frame_member() && m_member->ident == ident);
        if (event->parts.empty()) { // the error about an event may be damage of the file
            return [frame = event->frame()] { return frame; };
        }
    } catch (const Error&) {
        m_failed_ident = ident;
        m_archive.require_whole();
        throw;
    }
    return [event] {
        NVTX_IO_RANGE("FrameReader::read");
        return event->frame();
    };
}

std::optional<Frame> FrameReader::next() {
    const auto task = next_task();
    return task ? std::optional((*task)()) : std::nullopt;
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
