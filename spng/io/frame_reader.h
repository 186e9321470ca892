// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/io/archive/archive_reader.h"
#include "spng/io/archive/npy_reader.h"
#include "spng/io/frame.h"
#include "spng/io/frame_assembly.h"
#include "spng/io/frame_member.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace spng {

/// The rest of reading an event. Call it once, on any thread, also beside tasks of other events.
/// @throws Error(Input) as FrameReader::next()
using FrameTask = std::function<Frame()>;

/// Reads the events of a frame file one by one; no more than one event is in memory.
///
/// The file is a .npz, .tar, .tar.gz or .tar.bz2 with these members, in any order within an event:
///   frame_<tag>_<ident>.npy     (channel, tick) int16 or float32. Other integers and bool become int16 if
///   all
///                               fit, else float32 if all are representable; float16, float64 become float32
///   or, instead of it, a sparse frame (docs/sparse-frames.md), as TaggedTraces::sparse:
///   runs_<tag>_<ident>.npy      (run, 3) integers: row, begin tick, end tick (not included)
///   values_<tag>_<ident>.npy    (sample) samples of the runs, of the types of a frame
///   shape_<tag>_<ident>.npy     (2) integers: channels, ticks
///   channels_<tag>_<ident>.npy  (channel) integers
///   tickinfo_<tag>_<ident>.npy  (3) start [ns], tick [ns], tbin
///   summary_<tag>_<ident>.npy   (channel) numbers; optional
///   chanmask_<name>_<ident>.npy (n, 3) integers: channel, begin tick, end tick (not included), counted from
///                               the start; optional. An event with notes and a tbin other than 0, but without
///                               mask_ticks_note, is of an earlier version, which counted from the first sample
///   notes_spng_<ident>.npy      (byte) JSON object of strings; optional
/// Arrays may have C or Fortran order, either byte order, and .npy versions 1 to 3. Other members are skipped. NaN
/// and Inf are kept.
///
/// A .npz that can be read with seeking is read by event, whatever the order of its members; events come in that of
/// their first members. In other files the members of an event must be adjacent: a member of another event, or the
/// end of the file, ends the event.
class FrameReader {
public:
    /// @param tags  tags to read; "*" means all. Others are skipped unread.
    /// @param allocate  makes the memory of samples that need no conversion, for example page-locked for uploads
    /// @param idents  events to read; nothing means all. Others are skipped unread.
    /// @throws Error(Input) if there is no such file or it is no archive
    explicit FrameReader(const std::filesystem::path& path, std::vector<std::string> tags = {"*"},
                         HostAllocator allocate = ordinary_tensor,
                         std::optional<std::set<int>> idents = std::nullopt);

    /// Return the next event, its traces in the order in which their tags first appear; nothing at the end of
    /// the file. The call after an error continues with the following event, or returns nothing if the
    /// archive itself is damaged.
    /// @throws Error(Input) naming file and member for an unusable event: channels or tick information
    /// missing or contradicting the samples, no channels or ticks, repeated channels, no trace of an accepted
    /// tag, a damaged array
    std::optional<Frame> next();

    /// As next(), up to the reading and unpacking of members that ArchiveReader finds at their places. Other files are read
    /// here, and the task only returns the event.
    std::optional<FrameTask> next_task();

    /// Return true if the file has no event after the last one. False before the first one, when this is not known yet.
    bool at_end() const { return m_events > 0 && !m_member; }

    /// Return the count of events so far, damaged ones included. 0 after the end: the file has no event.
    std::size_t events() const { return m_events; }

    /// Return the share of the file that was read, 0 to 1; 0 if it is not known.
    double share_read() const { return m_archive.share_read(); }

    /// Return up to eight members that are not part of a frame, for the error about a file without events.
    const std::vector<std::string>& other_members() const { return m_other_members; }

private:
    struct Event;

    bool next_frame_member();

    ArchiveReader m_archive;
    std::shared_ptr<NpyReaders> m_arrays;
    std::vector<std::string> m_tags;
    HostAllocator m_allocate;
    std::optional<std::set<int>> m_idents;
    std::optional<FrameMember> m_member; ///< current member of the archive; nothing before the first
    std::optional<int> m_failed_ident;   ///< the event whose remaining members are skipped
    std::size_t m_events = 0;
    std::vector<std::string> m_other_members;
};

/// @param other_members  of the file, see FrameReader::other_members()
/// @throws Error(Input) for a file from which no event was read
[[noreturn]] void reject_file_without_events(const std::string& file,
                                             const std::vector<std::string>& other_members);

} // namespace spng
