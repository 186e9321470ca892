// SPDX-License-Identifier: Apache-2.0
// Frame files, as regular files and as pipes.

#include "spng/io/frame_reader.h"
#include "tests/fuzz/driver/input_file.h"
#include "tests/fuzz/mutate/arrays.h"
#include "tests/fuzz/targets/targets.h"

namespace spng::fuzz {
namespace {

constexpr std::string_view words[] = {"frame_",     "channels_",    "tickinfo_",  "notes_spng_", ".npy",
                                      "_0",         "PK\x01\x02",   "PK\x03\x04", "PK\x05\x06",  "PK\x07\x08",
                                      "PK\x06\x06", "\x1f\x8b\x08", "BZh9",       "ustar",       "\x93NUMPY"};

void read(const std::filesystem::path& file, Results& results) {
    FrameReader reader(file);
    for (bool is_open = true; is_open;) {
        try {
            const auto frame = reader.next();
            is_open = frame.has_value();
            for (const TaggedTraces& traces : is_open ? frame->traces : std::vector<TaggedTraces>()) {
                results.add(traces.sparse ? "sparse event" : "event");
            }
        } catch (const Error& error) {
            results.add(error);
        }
    }
}

void run(const Input& input, Results& results) {
    try {
        read(input.file, results);
    } catch (const Error& error) {
        results.add(error);
    }
    if (input.bytes.size() <= PipeFile::max_bytes) {
        const PipeFile pipe(input.bytes);
        read(pipe.path(), results);
    }
}

} // namespace

Target frames_target() {
    return {"frames", "input.npz", &run, &mutate_archive, &archive_bytes_allowed, words};
}

} // namespace spng::fuzz
