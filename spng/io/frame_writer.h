// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/io/archive/archive_writer.h"
#include "spng/io/frame.h"

#include <filesystem>
#include <optional>

namespace spng {

/// Writes events to a .npz, .tar, .tar.gz or .tar.bz2 that NumPy and the Wire-Cell Toolkit (WCT) read.
///
/// Members of an event: for each tag frame_ (or, in sparse form, runs_, values_ and shape_), channels_, tickinfo_
/// and, if there is a summary, summary_; then the chanmask_ members that are not empty (see FrameReader); then its notes, if any, as
/// notes_spng_<ident>.npy, the bytes of a JSON object, with mask_ticks_note where it is needed. Arrays have C order and little-endian bytes; samples
/// keep their type. Equal events give equal bytes.
///
/// Traces may come in either form: the file has the same bytes. The runs in a file are the shortest.
///
/// All names have three parts or more, since WCT's FrameFileSource (sio/src/FrameFileSource.cxx) ends the job
/// at any other name. It skips the notes, and reads no sparse frames.
///
/// The file appears under its name at close(); without close() no file remains. The program must ignore
/// SIGXFSZ.
class FrameWriter {
public:
    /// @param level  of compression, 0 to 9; see ArchiveWriter for the defaults. A .npz of sparse frames is not compressed
    ///               by default: that takes 40 times as long and saves a sixth of the size.
    /// @param form   of the samples in the file
    /// @throws Error(Configuration) for an unknown ending or level
    /// @throws Error(Output) if the file cannot be created
    explicit FrameWriter(const std::filesystem::path& path, std::optional<int> level = std::nullopt,
                         FrameForm form = FrameForm::dense);

    /// Append one event. Ticks of channel masks beyond 32 bits become the nearest ones that fit.
    /// @throws Error(Internal), before writing, for a frame that contradicts its description in frame.h
    /// @throws Error(Output) with path, bytes and reason if writing fails; the file is then removed, and
    /// close() does nothing
    void write(const Frame& frame);

    /// Complete the file and give it its name. Without an event no file remains.
    /// @throws Error(Output)
    void close() { m_archive.close(); }

private:
    void add_samples(const TaggedTraces& traces, int ident);

    FrameForm m_form;
    ArchiveWriter m_archive;
};

} // namespace spng
