#pragma once

#include "spng/io/frame_reader.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Reads events whose channels are spread over several files, such as one for each anode. Event i of the
/// result is made of event i of every file.
///
/// The events that belong together have the same number (ident), the same ticks (start, period, first tick,
/// how many), samples of one type and no channel in common. Where each file has a single tag, the tags may
/// differ and the result has that of the first file; else all files have the same tags. Rows stand file after
/// file; channel masks are joined; a summary is kept where all files have one. With one file this is
/// FrameReader.
class JoinedFrameReader {
public:
    /// @param paths  at least one. See FrameReader for `tags` and what is thrown.
    JoinedFrameReader(const std::vector<std::filesystem::path>& paths, const std::vector<std::string>& tags);

    /// The next event; nothing when all files have ended. Throws Error(Input) naming the files when one ends
    /// before the others or their events do not belong together, and what FrameReader::next() throws. The
    /// call after that goes on with the next event of every file, so that one damaged event does not shift
    /// the others.
    std::optional<Frame> next();

    /// Whether the last event of all files has been returned; false when it is not known.
    bool at_end() const;
    /// Events that next() has returned.
    std::size_t frames_read() const { return m_frames_read; }
    /// Of the first file, see FrameReader.
    const std::vector<std::string>& other_members() const { return m_readers.front()->other_members(); }

private:
    std::vector<std::string> m_names; ///< of the files
    std::vector<std::unique_ptr<FrameReader>> m_readers;
    std::size_t m_frames_read = 0;
};

} // namespace spng
