// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/recorder_abi.h"

#include "profiling/recorder/autostart.h"
#include "profiling/recorder/file/finalize_file.h"
#include "profiling/recorder/recorder.h"
#include "profiling/recorder/signals_blocked.h"

#include <cstdio>
#include <exception>
#include <string>

namespace spng::recorder {
namespace {

Recorder& recorder() {
    return Recorder::instance();
}

std::string string_or_empty(const char* text) {
    return text == nullptr ? "" : text;
}

/// Convert a value of the C interface, in which -1 means "not measured".
Count optional_count(std::int64_t value) {
    return value < 0 ? std::nullopt : Count(value);
}

/// Run `work`.
/// @return 0, or 1 after an exception, whose text is copied to `problem`
template <class Work>
int catch_errors(char* problem, size_t size, Work work) {
    try {
        work();
        return 0;
    } catch (const std::exception& error) {
        if (problem != nullptr && size > 0) {
            std::snprintf(problem, size, "%s", error.what());
        }
        return 1;
    }
}

int start(const SpngRecorderOptions* given, char* problem, size_t size) {
    return catch_errors(problem, size, [given] {
        Options options;
        options.pattern = string_or_empty(given->file);
        options.parts = parse_parts(string_or_empty(given->what));
        if (string_or_empty(given->what).empty()) {
            for (const auto& part : split(string_or_empty(given->without))) {
                options.parts.erase(part);
            }
        }
        take_environment(options);
        options.overwrite = options.overwrite || given->overwrite != 0;
        const auto take = [](auto& option, auto value) {
            if (value > 0) {
                option = value;
            }
        };
        take(options.memory_limit, given->memory_limit);
        take(options.row_limit, given->row_limit);
        take(options.spill_seconds, given->spill_seconds);
        take(options.sample_seconds, given->sample_seconds);
        const SignalsBlocked blocked; // a full disk is a failed write, and not SIGXFSZ
        recorder().start(options);
        finalize_at_exit();
    });
}

int stop(char* problem, size_t size) {
    return catch_errors(problem, size, [] { recorder().stop("stop"); });
}

int recover(const char* part, const char* target, char* name, size_t name_size, char* problem, size_t size) {
    return catch_errors(problem, size, [=] {
        const std::string to = target == nullptr || *target == '\0' ? intended_target(part) : target;
        finalize_file(part, to, true, false);
        if (name != nullptr && name_size > 0) {
            std::snprintf(name, name_size, "%s", to.c_str());
        }
    });
}

void diagnose(int severity, const char* text) {
    const int known = severity < 1 ? 1 : severity > 3 ? 3 : severity;
    recorder().diagnose(static_cast<Severity>(known), string_or_empty(text));
}

void node(int64_t id, const char* type, const char* instance, const char* kind, int64_t parent) {
    recorder().add(NodeRow{id, recorder().intern(string_or_empty(type)),
                           recorder().intern(string_or_empty(instance)),
                           recorder().intern(string_or_empty(kind)), optional_count(parent)});
}

void edge(int64_t id, int64_t tail_node, int64_t tail_port, int64_t head_node, int64_t head_port) {
    recorder().add(EdgeRow{id, tail_node, tail_port, head_node, head_port});
}

void call_ends(const SpngRecorderCall* call) {
    CallRow row;
    row.id = static_cast<std::int64_t>(call->id);
    row.node = call->node;
    row.event = call->event;
    row.start = {call->start};
    row.end = {call->end};
    row.succeeded = call->failed == 0;
    row.parent = call->parent != 0 ? Count(static_cast<std::int64_t>(call->parent)) : std::nullopt;
    row.bytes_in = call->bytes_in;
    row.bytes_out = call->bytes_out;
    row.cpu = optional_count(call->cpu);
    row.host_peak = optional_count(call->host_peak);
    row.device_peak = optional_count(call->device_peak);
    row.leaf_operations = optional_count(call->leaf_operations);
    recorder().call_ends(row, call->discarded == 0);
}

void message(int64_t edge, int64_t event, int64_t enqueued, int64_t dequeued) {
    recorder().add(MessageRow{edge, event, {enqueued}, {dequeued}});
}

void event(int64_t event, int64_t start, int64_t end, int whole) {
    recorder().add(EventRow{event, {start}, {end}, whole != 0});
}

void sample(int64_t time, const char* source, const char* metric, double value) {
    recorder().add(SampleRow{{time},
                             recorder().intern(string_or_empty(source)),
                             recorder().intern(string_or_empty(metric)),
                             value});
}

const SpngRecorder functions{
    .version = SPNG_RECORDER_VERSION,
    .start = &start,
    .stop = &stop,
    .discard = [] { recorder().discard(); },
    .recover = &recover,
    .rank = [] { return rank_of_process().value_or(0); },
    .running = [] { return recorder().is_active() ? 1 : 0; },
    .part_file = [] { return recorder().is_active() ? recorder().part_file() : ""; },
    .final_file = [] { return recorder().final_file(); },
    .attachments = [] { return recorder().attachments(); },
    .pause = [] { recorder().pause(); },
    .resume = [] { recorder().resume(); },
    .mute = [](int muted) { return recorder().thread().mute(muted != 0) ? 1 : 0; },
    .note = [](const char* key,
               const char* value) { recorder().note(string_or_empty(key), string_or_empty(value)); },
    .diagnose = &diagnose,
    .node = &node,
    .edge = &edge,
    .call_begins = [] { return recorder().call_begins(); },
    .call_ends = &call_ends,
    .device_time =
        [](uint64_t call, int64_t nanoseconds) {
            recorder().add(CallDeviceRow{static_cast<std::int64_t>(call), nanoseconds});
        },
    .message = &message,
    .event = &event,
    .sample = &sample,
};

} // namespace
} // namespace spng::recorder

extern "C" __attribute__((visibility("default"))) const SpngRecorder* spng_recorder(uint32_t version) {
    return version == SPNG_RECORDER_VERSION ? &spng::recorder::functions : nullptr;
}
