// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/io/frame_reader.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Reads events whose channels are spread over several files, such as one file per anode. Event i of the
/// result consists of event i of every file.
///
/// Events are joined if they have the same ident, the same ticks (start, period, first tick, count), one
/// sample type and no common channel. If each file has a single tag, the tags may differ and the result has
/// the tag of the first file; else all files must have the same tags. Rows are in the order of the files.
/// Channel masks and notes are joined. Sparse frames are expanded: all traces have `samples`. A summary is kept if all files have one. With one file this is FrameReader.
class JoinedFrameReader {
public:
    /// @param paths  at least one; see FrameReader for `tags`, `allocate` and exceptions
    JoinedFrameReader(const std::vector<std::filesystem::path>& paths, const std::vector<std::string>& tags,
                      HostAllocator allocate = ordinary_tensor);

    /// Return the next event; nothing if all files have ended. The call after an error continues with the
    /// next event of every file, so that one damaged event does not shift the others.
    /// @throws Error(Input) naming the files if one ends before the others or their events cannot be joined,
    /// and as FrameReader::next()
    std::optional<Frame> next();

    /// See FrameReader.
    std::optional<FrameTask> next_task();

    /// Return true if the last event of all files has been returned; false if this is not known yet.
    bool at_end() const;
    /// See FrameReader; of the first file.
    std::size_t events() const { return m_readers.front()->events(); }
    /// See FrameReader; of the first file.
    double share_read() const { return m_readers.front()->share_read(); }
    /// See FrameReader; of the first file.
    const std::vector<std::string>& other_members() const { return m_readers.front()->other_members(); }

private:
    std::vector<std::string> m_names; ///< of the files
    HostAllocator m_allocate;
    std::vector<std::unique_ptr<FrameReader>> m_readers;
};

} // namespace spng
