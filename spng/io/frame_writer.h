#pragma once

#include "spng/io/archive/archive_writer.h"
#include "spng/io/frame.h"

#include <filesystem>
#include <optional>

namespace spng {

/// Writes events to a .npz, .tar, .tar.gz or .tar.bz2 that NumPy and the Wire-Cell Toolkit read: for each tag
/// frame_, channels_, tickinfo_ and, where there is one, summary_; then the event's chanmask_ members (see
/// FrameReader), without those that are empty, and, where there are any, its notes as notes_spng_<ident>.npy,
/// the bytes of a JSON object. C order, little endian, samples of the type they have. Equal events give equal
/// bytes.
///
/// The names have three parts or more, since WCT's FrameFileSource (sio/src/FrameFileSource.cxx) ends the job
/// at any other; it passes over the notes.
///
/// The file appears under its name at close(); without it nothing is left. The program must ignore SIGXFSZ.
class FrameWriter {
public:
    /// @param level  of compression, 0 to 9; see ArchiveWriter for the defaults
    /// Throws Error(Configuration) for an unknown ending or level, Error(Output) when the file cannot be
    /// made.
    explicit FrameWriter(const std::filesystem::path& path, std::optional<int> level = std::nullopt);

    /// Append one event. Throws Error(Internal) for a frame that contradicts its description in frame.h,
    /// before anything of it is written; Error(Output) naming path, bytes and reason when writing fails: the
    /// file is then gone, and close() does nothing.
    void write(const Frame& frame);

    /// Complete the file and give it its name, also with no event in it. Throws Error(Output).
    void close() { m_archive.close(); }

private:
    ArchiveWriter m_archive;
};

} // namespace spng
