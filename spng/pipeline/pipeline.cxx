// SPDX-License-Identifier: Apache-2.0
#include "WireCellSpng/Pipeline.h"

#include "spng/core/log/log.h"
#include "spng/core/nearest.h"
#include "spng/core/printable.h"
#include "spng/pipeline/frame_job.h"
#include "spng/pipeline/job_owner.h"
#include "spng/pipeline/output_frame.h"

#include <algorithm>
#include <utility>

namespace spng {
namespace {

using Kind = JsonnetBinding::Kind;

/// Return the arguments of the job that are members of the options.
std::map<std::string, std::string> members_of(const PipelineOptions& options) {
    std::vector<std::string> anodes;
    for (const int anode : options.anodes) {
        anodes.push_back(std::to_string(anode));
    }
    return {{"detname", options.detector},
            {"tpcid", joined(anodes, ",")},
            {"model", options.model},
            {"device", options.device},
            {"tags", joined(options.tags, ",")},
            {"results_on_device", options.results_on_device ? "true" : "false"}};
}

JobRequest request_of(const PipelineOptions& options) {
    JobRequest request;
    request.configuration = options.configuration;
    request.changes = options.changes;
    const auto defaults = members_of({});
    std::map<std::string, std::string> arguments = options.arguments;
    for (const auto& [name, value] : members_of(options)) {
        if (!options.configuration.empty() && value == defaults.at(name)) {
            continue;
        }
        if (!arguments.emplace(name, value).second) {
            throw Error(ErrorKind::Usage, {.what = "an argument is given twice",
                                           .where = "PipelineOptions::arguments",
                                           .seen = name + "=" + arguments[name],
                                           .expected = "the member of PipelineOptions"});
        }
    }
    if (options.configuration.empty()) {
        request.configuration = "cfg/pipeline.jsonnet";
        const std::string part = "(import 'memory.jsonnet')";
        request.bindings.push_back({Kind::argument_code, "input", part + ".MemorySource()"});
        request.bindings.push_back({Kind::argument_code, "output", part + ".MemorySink()"});
    }
    for (const auto& [name, value] : arguments) {
        request.bindings.push_back({Kind::argument_text, name, value});
    }
    return request;
}

} // namespace

const char* to_string(SampleType type) {
    switch (type) {
    case SampleType::int16:
        return "int16";
    case SampleType::uint16:
        return "uint16";
    case SampleType::int32:
        return "int32";
    case SampleType::int64:
        return "int64";
    case SampleType::float32:
        return "float32";
    case SampleType::float64:
        return "float64";
    }
    return "unknown";
}

class Pipeline::Impl {
public:
    explicit Impl(const PipelineOptions& options)
        : form(options.sparse ? OutputForm::sparse : OutputForm::dense),
          frames("the pipeline", request_of(options), std::max<std::size_t>(1, options.queue_size)) {}

    OutputForm form;
    JobOwner<FrameJob> frames;
};

Pipeline::Pipeline(const PipelineOptions& options) {
    log::silence_stderr();
    m_impl = std::make_unique<Impl>(options);
}

Pipeline::~Pipeline() = default;

std::future<OutputFrame> Pipeline::submit(InputFrame frame) {
    FrameJob& frames = m_impl->frames.for_waiting();
    return frames.job().submit(event_of(std::move(frame), frames.expected()),
                               [form = m_impl->form](const EventResult& result) {
                                   return output_frame(*result.sets.begin()->second, form);
                               });
}

OutputFrame Pipeline::process(InputFrame frame) {
    return submit(std::move(frame)).get();
}

void Pipeline::close() {
    m_impl->frames.for_waiting().job().close();
}

bool Pipeline::is_closed() const {
    return m_impl->frames.get().job().is_closed();
}

const std::vector<PlaneChannels>& Pipeline::planes() const {
    return m_impl->frames.get().planes();
}

const std::vector<std::string>& Pipeline::devices() const {
    return m_impl->frames.get().devices();
}

double Pipeline::tick_ns() const {
    return m_impl->frames.get().expected().tick_ns;
}

std::string Pipeline::timing_json() const {
    return json_text(m_impl->frames.for_waiting().job().report().json());
}

std::string Pipeline::timing_text(std::size_t width) const {
    return m_impl->frames.for_waiting().job().report().table(width);
}

void set_log_handler(LogHandler handler, const std::string& level) {
    const log::Level lowest = log::level_from(level);
    if (!handler) {
        log::set_handler({}, lowest);
        return;
    }
    log::set_handler(
        [handler = std::move(handler)](log::Level line_level, std::string_view logger,
                                       std::string_view text) {
            const InCallback in_callback;
            handler(log::level_names()[static_cast<std::size_t>(line_level)], std::string(logger),
                    std::string(text));
        },
        lowest);
}

} // namespace spng
