#pragma once

#include "spng/io/archive/archive_reader.h"
#include "spng/io/archive/npy_reader.h"
#include "spng/io/frame.h"
#include "spng/io/frame_member.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Reads the events of a frame file one after the other; no more than one event is in memory.
///
/// The file is a .npz, .tar, .tar.gz or .tar.bz2 with these members, in any order within an event:
///   frame_<tag>_<ident>.npy     (channel, tick) int16 or float32. Other integers and bool become int16 when
///   all fit,
///                               else float32 when all are representable; float16 and float64 become float32
///   channels_<tag>_<ident>.npy  (channel) integers
///   tickinfo_<tag>_<ident>.npy  (3) start [ns], tick [ns], tbin
///   summary_<tag>_<ident>.npy   (channel) numbers; optional
///   chanmask_<name>_<ident>.npy (n, 3) integers: channel, begin tick, end tick (not included); optional
/// C or Fortran order, either byte order, format versions 1 to 3. The members of an event stand together: it
/// ends where a member of another event begins or the file ends. Other members are passed over. NaN and Inf
/// are kept.
class FrameReader {
public:
    /// @param tags  tags to read; "*" stands for all of them. The others are passed over unread.
    /// Throws Error(Input) when there is no such file or it is no archive.
    explicit FrameReader(const std::filesystem::path& path, std::vector<std::string> tags = {"*"});

    /// The next event, its traces in the order in which their tags first appear; nothing at the end of the
    /// file. Throws Error(Input) naming file and member when an event cannot be used: channels or tick
    /// information missing or contradicting the samples, no channels or ticks, channels that occur twice, no
    /// trace of an accepted tag, an array that is damaged. The call after that goes on with the event after
    /// it, or returns nothing where the archive itself is damaged.
    std::optional<Frame> next();

    /// Whether the last event of the file has been returned. False before the first one, when it is not
    /// known.
    bool at_end() const { return m_frames_read > 0 && !m_member; }

    /// Events that next() has returned. 0 after the end: the file holds no event.
    std::size_t frames_read() const { return m_frames_read; }

    /// Up to eight members that are no part of a frame, for the message about a file that holds no event.
    const std::vector<std::string>& other_members() const { return m_other_members; }

private:
    struct Parts;

    bool next_frame_member();
    bool is_accepted(const std::string& tag) const;
    void read_member(Parts& parts);
    Frame assemble(Parts& parts) const;

    ArchiveReader m_archive;
    NpyReader m_arrays;
    std::vector<std::string> m_tags;
    std::optional<FrameMember> m_member; ///< where the archive stands; nothing at its start
    std::optional<int> m_failed_ident;   ///< the event whose remaining members are passed over
    std::size_t m_frames_read = 0;
    std::vector<std::string> m_other_members;
};

} // namespace spng
