// SPDX-License-Identifier: Apache-2.0
#include "spng/io/joined_frame_reader.h"

#include "spng/core/error.h"
#include "spng/core/nearest.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <exception>
#include <unordered_map>
#include <utility>

namespace spng {
namespace {

using Names = std::vector<std::string>;

[[noreturn]] void reject(std::string what, std::string where, std::string seen, std::string expected) {
    throw Error(ErrorKind::Input, {.what = std::move(what),
                                   .where = std::move(where),
                                   .seen = std::move(seen),
                                   .expected = std::move(expected),
                                   .hint = "give files with the same events, each with its own channels"});
}

std::string tags_text(const Frame& frame) {
    Names tags;
    for (const auto& traces : frame.traces) {
        tags.push_back("'" + traces.tag + "'");
    }
    return joined(tags);
}

std::string ticks_text(const TaggedTraces& traces) {
    return std::to_string(traces.samples.size(1)) + " ticks of " + std::to_string(traces.tick_ns) +
           " ns from " + std::to_string(traces.start_ns) + " ns + " + std::to_string(traces.first_tick) +
           " ticks, " + c10::toString(traces.samples.scalar_type());
}

/// Joins the traces of one tag from every file.
class TagJoin {
public:
    explicit TagJoin(std::string where) : m_where(std::move(where)) {}

    void add(const TaggedTraces& traces, const std::string& file) {
        if (m_parts.empty()) {
            m_first_file = file;
        } else if (ticks_text(traces) != ticks_text(*m_parts.front())) {
            reject("the files differ in their ticks", m_where,
                   file + ": " + ticks_text(traces) + "; " + m_first_file + ": " +
                       ticks_text(*m_parts.front()),
                   "the same in all files");
        }
        for (const int channel : traces.channels) {
            const auto [known, is_new] = m_file_of_channel.emplace(channel, file);
            if (!is_new) {
                reject("a channel is in two files", m_where,
                       "channel " + std::to_string(channel) + " in " + known->second + " and in " + file,
                       "each channel in one file");
            }
        }
        m_parts.push_back(&traces);
    }

    TaggedTraces result(const HostAllocator& allocate) const {
        TaggedTraces all = *m_parts.front();
        std::vector<at::Tensor> samples, summaries;
        all.channels.clear();
        for (const auto* part : m_parts) {
            samples.push_back(part->samples);
            all.channels.insert(all.channels.end(), part->channels.begin(), part->channels.end());
            if (part->summary) {
                summaries.push_back(*part->summary);
            }
        }
        all.samples = allocate({static_cast<std::int64_t>(all.channels.size()), samples.front().size(1)},
                               samples.front().scalar_type());
        at::cat_out(all.samples, samples);
        all.summary.reset();
        if (summaries.size() == m_parts.size()) {
            all.summary = at::cat(summaries);
        }
        return all;
    }

private:
    std::string m_where, m_first_file;
    std::vector<const TaggedTraces*> m_parts;
    std::unordered_map<int, std::string> m_file_of_channel;
};

Frame join(const std::vector<Frame>& frames, const Names& files, const HostAllocator& allocate) {
    const Frame& first = frames.front();
    const bool has_one_tag =
        std::all_of(frames.begin(), frames.end(), [](const auto& frame) { return frame.traces.size() == 1; });
    const std::string where = joined(files) + ", event " + std::to_string(first.ident);
    std::vector<TagJoin> tags(first.traces.size(), TagJoin(where));
    Frame result;
    result.ident = first.ident;
    for (std::size_t file = 0; file < files.size(); ++file) {
        const Frame& frame = frames[file];
        if (frame.ident != first.ident) {
            reject("the files have different events", joined(files),
                   "event " + std::to_string(frame.ident) + " in " + files[file] + " where " + files[0] +
                       " has event " + std::to_string(first.ident),
                   "the same events in the same order");
        }
        for (std::size_t tag = 0; tag < first.traces.size(); ++tag) {
            const auto same = std::find_if(frame.traces.begin(), frame.traces.end(), [&](const auto& traces) {
                return has_one_tag || traces.tag == first.traces[tag].tag;
            });
            if (same == frame.traces.end() || frame.traces.size() != first.traces.size()) {
                reject("the files differ in their tags", where,
                       tags_text(frame) + " in " + files[file] + ", " + tags_text(first) + " in " + files[0],
                       "one tag in each file, or the same tags in all");
            }
            tags[tag].add(*same, files[file]);
        }
        merge_notes(result.notes, frame.notes);
        for (const auto& [name, ranges] : frame.channel_masks) {
            auto& list = result.channel_masks[name];
            list.insert(list.end(), ranges.begin(), ranges.end());
        }
    }
    for (const auto& tag : tags) {
        result.traces.push_back(tag.result(allocate));
    }
    return result;
}

} // namespace

JoinedFrameReader::JoinedFrameReader(const std::vector<std::filesystem::path>& paths,
                                     const std::vector<std::string>& tags, HostAllocator allocate)
    : m_allocate(std::move(allocate)) {
    for (const auto& path : paths) {
        m_names.push_back(path.string());
        m_readers.push_back(std::make_unique<FrameReader>(
            path, tags, paths.size() == 1 ? m_allocate : HostAllocator(ordinary_tensor)));
    }
}

bool JoinedFrameReader::at_end() const {
    return std::all_of(m_readers.begin(), m_readers.end(),
                       [](const auto& reader) { return reader->at_end(); });
}

std::optional<FrameTask> JoinedFrameReader::next_task() {
    std::vector<FrameTask> tasks;
    std::exception_ptr failure;
    Names ended, going_on;
    for (std::size_t file = 0; file < m_readers.size(); ++file) {
        try {
            auto task = m_readers[file]->next_task();
            (task ? going_on : ended).push_back(m_names[file]);
            if (task) {
                tasks.push_back(std::move(*task));
            }
        } catch (const Error&) {
            failure = failure ? failure : std::current_exception();
        }
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
    if (going_on.empty()) {
        return std::nullopt;
    }
    if (!ended.empty()) {
        const auto last = static_cast<std::size_t>(std::find(m_names.begin(), m_names.end(), ended.front()) -
                                                   m_names.begin());
        reject("a file has fewer events than the others", ended.front(),
               std::to_string(m_readers[last]->events()) + " events, and more in " + joined(going_on),
               "the same events in all files");
    }
    return [tasks = std::move(tasks), names = m_names, allocate = m_allocate] {
        std::vector<Frame> frames;
        for (const auto& task : tasks) {
            frames.push_back(task());
            for (auto& traces : frames.back().traces) {
                if (traces.sparse) {
                    traces.samples = dense(*traces.sparse);
                    traces.sparse = nullptr;
                }
            }
        }
        return frames.size() == 1 ? std::move(frames.front()) : join(frames, names, allocate);
    };
}

std::optional<Frame> JoinedFrameReader::next() {
    const auto task = next_task();
    return task ? std::optional((*task)()) : std::nullopt;
}

} // namespace spng
