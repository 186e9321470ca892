// SPDX-License-Identifier: Apache-2.0
// Lists of files (--files), with the checks of the inputs and outputs of their lines. No run begins.

#include "spng/app/file_list.h"
#include "spng/io/file_user.h"
#include "spng/job/job.h"
#include "spng/job/placeholders.h"
#include "tests/fuzz/mutate/bytes.h"
#include "tests/fuzz/targets/targets.h"

#include <optional>
#include <utility>

namespace spng::fuzz {
namespace {

constexpr std::string_view words[] = {"{\"input\":\"a.npz\"}",
                                      "\"name\":\"b\"",
                                      "\"input\":",
                                      "{name}",
                                      "{input}",
                                      "{",
                                      "}",
                                      "\"",
                                      "#",
                                      "out/",
                                      "../",
                                      ".npz",
                                      ".tar",
                                      "\n",
                                      "\r\n",
                                      "\\ud800",
                                      "\t ",
                                      "null",
                                      std::string_view("\0", 1)};

constexpr const char* components = R"([
{"type": "wire-cell", "data": {"apps": ["Pgrapher"]}},
{"type": "FrameFileSource", "data": {"inname": "{input}"}},
{"type": "FrameFileSink", "data": {"outname": "{name}.npz"}},
{"type": "Pgrapher", "data": {"edges": [{"tail": {"node": "FrameFileSource"}, "head": {"node": "FrameFileSink"}}]}}])";

constexpr std::size_t max_runs = 100; // of which the files are looked at

/// Return the values of all lines; add the errors of the others.
/// @throws Defect if the list counts another number of lines
std::vector<PlaceholderValues> lines_of(const std::filesystem::path& file, Results& results) {
    const std::atomic<int> no_signal{0};
    app::FileList list(file);
    std::vector<PlaceholderValues> lines;
    std::size_t errors = 0;
    for (bool is_open = true; is_open;) {
        try {
            auto values = list.next(no_signal);
            is_open = values.has_value();
            if (values) {
                lines.push_back(std::move(*values));
            }
        } catch (const Error& error) {
            results.add(error);
            ++errors;
        }
    }
    if (list.size() != lines.size() + errors) {
        throw Defect("a list of " + std::to_string(list.size().value_or(0)) + " lines gives " +
                     std::to_string(lines.size()) + " runs and " + std::to_string(errors) + " errors");
    }
    return lines;
}

void run(const Input& input, Results& results) {
    std::optional<Job> job;
    std::size_t runs = 0;
    for (const PlaceholderValues& values : lines_of(input.file, results)) {
        if (values.at("input").empty() || !values.contains("name")) {
            throw Defect("a line without an input or a name");
        }
        if (++runs > max_runs) {
            break;
        }
        try {
            const nlohmann::json filled = with_values(nlohmann::json::parse(components), values);
            job ? job->change_files(filled) : void(job.emplace(filled, "job.json"));
            require_separate(job->used_files(Job::MissingInputs::left_out));
            job->check_outputs();
            results.add("outputs");
        } catch (const Error& error) {
            results.add(error);
        }
    }
}

std::string mutate(const std::vector<std::string>& seeds, Random& random) {
    return mutate_bytes(random.pick(seeds), seeds, words, random);
}

} // namespace

Target lists_target() {
    return {"lists", "list.txt", &run, &mutate, &document_bytes_allowed, words};
}

} // namespace spng::fuzz
