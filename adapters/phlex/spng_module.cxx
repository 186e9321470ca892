// SPDX-License-Identifier: Apache-2.0
// The phlex module: a transform from RawFrame to SignalFrame. docs/frameworks.md has its keys and an example.

#include "spng/core/nearest.h"
#include "spng_phlex/frame_processor.h"

#include <phlex/module.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using spng::Error;
using spng::ErrorKind;

/// Keys that phlex reads itself.
const std::vector<std::string> framework_keys = {"cpp", "module_label", "experimental_when"};

const std::vector<std::string> own_keys = {"input",     "detname", "tpcid",         "model",      "device",
                                           "tags",      "sparse",  "configuration", "queue_size", "on_error",
                                           "arguments", "output",  "log_level",     "concurrency"};

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Return the position of a key in the job: "module spng, key on_error".
std::string position(const phlex::configuration& config, const std::string& key) {
    return "module " + config.get<std::string>("module_label") + ", key " + key;
}

void check_keys(const phlex::configuration& config) {
    for (const std::string& key : config.keys()) {
        if (!contains(framework_keys, key) && !contains(own_keys, key)) {
            throw Error(ErrorKind::Configuration, {.what = "unknown configuration key '" + key + "'",
                                                   .where = position(config, key),
                                                   .seen = key,
                                                   .expected = "one of: " + spng::joined(own_keys),
                                                   .hint = spng::suggestion(key, own_keys)});
        }
    }
}

/// Return the member of PipelineOptions::arguments of the key `arguments`, whose values are text.
std::map<std::string, std::string> arguments_of(const phlex::configuration& config) {
    std::map<std::string, std::string> arguments;
    const auto given = config.get<phlex::configuration>("arguments", {});
    for (const std::string& name : given.keys()) {
        arguments[name] = given.get<std::string>(name);
    }
    return arguments;
}

spng::PipelineOptions options_of(const phlex::configuration& config) {
    spng::PipelineOptions options;
    options.detector = config.get<std::string>("detname", std::move(options.detector));
    options.anodes = config.get<std::vector<int>>("tpcid", std::move(options.anodes));
    options.model = config.get<std::string>("model", std::move(options.model));
    options.device = config.get<std::string>("device", std::move(options.device));
    options.tags = config.get<std::vector<std::string>>("tags", std::move(options.tags));
    options.sparse = config.get<bool>("sparse", false);
    options.configuration = config.get<std::string>("configuration", {});
    options.queue_size = config.get<std::size_t>("queue_size", std::size_t{options.queue_size});
    options.arguments = arguments_of(config);
    return options;
}

spng::Rejected rejected_of(const phlex::configuration& config) {
    const std::vector<std::string> values = {"stop", "keep"};
    const auto value = config.get<std::string>("on_error", "stop");
    if (!contains(values, value)) {
        throw Error(ErrorKind::Configuration, {.what = "unknown value",
                                               .where = position(config, "on_error"),
                                               .seen = value,
                                               .expected = spng::joined(values, " or "),
                                               .hint = spng::suggestion(value, values, "")});
    }
    return value == "stop" ? spng::Rejected::stop : spng::Rejected::keep;
}

/// Write the log lines of the library, which would be lost otherwise, to standard error. A setting of the process:
/// that of the last module counts.
void write_log(const phlex::configuration& config) {
    const auto level = config.get<std::string>("log_level", "warn");
    const auto write = [](const std::string& line_level, const std::string& logger, const std::string& text) {
        std::fprintf(stderr, "[%s] [%s] %s\n", line_level.c_str(), logger.c_str(), text.c_str());
    };
    spng::set_log_handler(level == "off" ? spng::LogHandler() : write, level == "off" ? "warn" : level);
}

} // namespace

PHLEX_REGISTER_ALGORITHMS(module, config) {
    check_keys(config);
    const auto input = config.get<phlex::product_selector>("input");
    const auto output = config.get<std::string>("output", "signal");
    const spng::Rejected rejected = rejected_of(config);
    write_log(config);
    auto processor = std::make_shared<spng::FrameProcessor>(options_of(config), rejected);
    // A call blocks a thread of phlex until its result is there. As many calls as the devices can use leave the other
    // threads to other modules; concurrency::unlimited would let them all wait here.
    const phlex::concurrency calls{config.get<std::size_t>("concurrency", processor->useful_calls())};
    module
        .transform(
            "process",
            [processor](phlex::handle<spng::RawFrame> frame) {
                return processor->process(*frame, frame.data_cell_index().to_string());
            },
            calls)
        .input_family(input)
        .output_product_suffixes(output);
}
