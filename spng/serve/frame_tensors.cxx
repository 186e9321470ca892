// SPDX-License-Identifier: Apache-2.0
#include "spng/serve/frame_tensors.h"

#include "spng/core/error.h"
#include "spng/core/nearest.h"
#include "spng/kserve/datatypes.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace spng {
namespace {

using kserve::Tensor;
using nlohmann::json;

constexpr std::array<std::pair<const char*, SampleType>, 6> sample_types{{{"INT16", SampleType::int16},
                                                                          {"UINT16", SampleType::uint16},
                                                                          {"INT32", SampleType::int32},
                                                                          {"INT64", SampleType::int64},
                                                                          {"FP32", SampleType::float32},
                                                                          {"FP64", SampleType::float64}}};
const std::vector<std::string> known_inputs{"adc", "channels"};
const std::vector<std::string> known_parameters{"ident", "start_ns", "tick_ns", "first_tick", "masks"};
// Parameters of the protocol and of clients, which do not concern the chain.
const std::vector<std::string> foreign_parameters{"binary_data_output",
                                                  "sequence_id",
                                                  "sequence_start",
                                                  "sequence_end",
                                                  "priority",
                                                  "timeout",
                                                  "headers",
                                                  "content_type",
                                                  "triton_enable_empty_final_response"};

std::string where_of(const kserve::InferRequest& request) {
    return "request to model " + request.model + (request.id.empty() ? "" : ", id " + request.id);
}

[[noreturn]] void reject(const std::string& where, std::string what, std::string seen, std::string expected,
                         std::string hint = {}) {
    throw Error(ErrorKind::Input, {.what = std::move(what),
                                   .where = where,
                                   .seen = std::move(seen),
                                   .expected = std::move(expected),
                                   .hint = std::move(hint)});
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Return the tensor of a name; null if there is none.
const Tensor* find(const std::vector<Tensor>& tensors, const std::string& name) {
    const auto found =
        std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& each) { return each.name == name; });
    return found == tensors.end() ? nullptr : &*found;
}

void require_known_inputs(const kserve::InferRequest& request, const std::string& where) {
    for (std::size_t i = 0; i < request.inputs.size(); ++i) {
        const std::string& name = request.inputs[i].name;
        if (!contains(known_inputs, name)) {
            reject(where, "the chain has no such input", name, joined(known_inputs),
                   suggestion(name, known_inputs));
        }
        if (find(request.inputs, name) != &request.inputs[i]) {
            reject(where, "an input is given twice", name, "each input once");
        }
    }
    for (const auto& [name, value] : request.parameters) {
        if (!contains(known_parameters, name) && !contains(foreign_parameters, name)) {
            reject(where, "the chain has no such parameter", name, joined(known_parameters),
                   suggestion(name, known_parameters));
        }
    }
}

SampleType sample_type(const Tensor& adc, const std::string& where) {
    std::vector<std::string> names;
    for (const auto& [name, type] : sample_types) {
        if (adc.datatype == name) {
            return type;
        }
        names.emplace_back(name);
    }
    reject(where, "samples of this type are not accepted", adc.datatype, joined(names));
}

/// Give the frame samples at an address that their type allows.
void set_samples(InputFrame& frame, const Tensor& adc) {
    frame.samples = adc.data;
    frame.owner = adc.owner;
    const std::size_t size = kserve::element_bytes(adc.datatype).value_or(1);
    if (reinterpret_cast<std::uintptr_t>(adc.data) % size != 0) {
        auto copy = std::make_shared<std::vector<std::uint64_t>>(adc.bytes / sizeof(std::uint64_t) + 1);
        std::memcpy(copy->data(), adc.data, adc.bytes);
        frame.samples = copy->data();
        frame.owner = std::move(copy);
    }
}

std::vector<int> channel_ids(const Tensor& channels, std::int64_t rows, const std::string& where) {
    if (channels.datatype != "INT32" || channels.shape != std::vector<std::int64_t>{rows}) {
        reject(where, "channel ids and samples do not fit together",
               "channels " + kserve::describe(channels.datatype, channels.shape),
               kserve::describe("INT32", {rows}) + ", one for each row of adc");
    }
    std::vector<int> ids(static_cast<std::size_t>(rows));
    if (!ids.empty()) {
        std::memcpy(ids.data(), channels.data, channels.bytes);
    }
    return ids;
}

double number(const kserve::InferRequest& request, const char* name, double otherwise,
              const std::string& where) {
    const auto found = request.parameters.find(name);
    if (found == request.parameters.end()) {
        return otherwise;
    }
    if (const auto* integer = std::get_if<std::int64_t>(&found->second)) {
        return static_cast<double>(*integer);
    }
    if (const auto* real = std::get_if<double>(&found->second)) {
        return *real;
    }
    if (const auto* text = std::get_if<std::string>(
            &found->second)) { // gRPC of Triton's clients has no numbers with fraction
        const json value = json::parse(*text, nullptr, false);
        if (value.is_number()) {
            return value.get<double>();
        }
    }
    reject(where, "a parameter is not a number", std::string("parameter ") + name, "a number");
}

int integer(const kserve::InferRequest& request, const char* name, const std::string& where) {
    const double value = number(request, name, 0, where);
    if (!(value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max()) ||
        std::floor(value) != value) {
        reject(where, "a parameter is not an integer of 32 bits", name + (" = " + std::to_string(value)),
               "an integer");
    }
    return static_cast<int>(value);
}

ChannelMasks channel_masks(const kserve::InferRequest& request, const std::string& where) {
    const auto found = request.parameters.find("masks");
    if (found == request.parameters.end()) {
        return {};
    }
    const auto* const text = std::get_if<std::string>(&found->second);
    const json names = text == nullptr ? json() : json::parse(*text, nullptr, false);
    const auto fits = [](const json& range) {
        return range.is_array() && range.size() == 3 && range[0].is_number_integer() &&
               std::in_range<int>(range[0].get<std::int64_t>()) && range[1].is_number_integer() &&
               range[2].is_number_integer();
    };
    const auto is_list = [&](const json& ranges) {
        return ranges.is_array() && std::all_of(ranges.begin(), ranges.end(), fits);
    };
    ChannelMasks masks;
    const bool is_read = names.is_object() && std::all_of(names.begin(), names.end(), is_list);
    if (is_read) {
        for (const auto& [name, ranges] : names.items()) {
            std::vector<ChannelRange>& list = masks[name];
            for (const json& range : ranges) {
                list.push_back(
                    {range[0].get<int>(), range[1].get<std::int64_t>(), range[2].get<std::int64_t>()});
            }
        }
    }
    if (!is_read) {
        reject(where, "the parameter masks is not understood",
               text == nullptr ? "no text" : text->substr(0, 80),
               R"({"bad": [[channel, begin tick, end tick]]})");
    }
    return masks;
}

std::string masks_text(const ChannelMasks& masks) {
    json names = json::object();
    for (const auto& [name, ranges] : masks) {
        json& list = names[name] = json::array();
        for (const ChannelRange& range : ranges) {
            list.push_back({range.channel, range.begin, range.end});
        }
    }
    return names.dump(-1, ' ', false, json::error_handler_t::replace);
}

const char* datatype_of(SampleType type) {
    for (const auto& [name, each] : sample_types) {
        if (each == type) {
            return name;
        }
    }
    return "FP32";
}

/// Make a tensor of values that it keeps.
template <class Value>
Tensor kept(std::string name, const char* datatype, std::vector<std::int64_t> shape,
            std::vector<Value> values) {
    auto owner = std::make_shared<std::vector<Value>>(std::move(values));
    return {.name = std::move(name),
            .datatype = datatype,
            .shape = std::move(shape),
            .data = owner->data(),
            .bytes = owner->size() * sizeof(Value),
            .owner = owner};
}

/// Make a tensor of samples that belong to a frame.
Tensor viewed(std::string name, const char* datatype, std::vector<std::int64_t> shape, const void* data,
              const OutputTraces& traces) {
    const std::size_t count = kserve::element_count(shape).value_or(0);
    return {.name = std::move(name),
            .datatype = datatype,
            .shape = std::move(shape),
            .data = data,
            .bytes = count * kserve::element_bytes(datatype).value_or(0),
            .owner = traces.owner};
}

/// Collects the outputs that a request wants.
class Outputs {
public:
    Outputs(const WantedOutputs& wanted, std::vector<Tensor>& tensors)
        : m_wanted(wanted), m_tensors(tensors) {}

    void add(Tensor tensor) {
        m_names.push_back(tensor.name);
        if (m_wanted.wants(tensor.name)) {
            m_tensors.push_back(std::move(tensor));
        }
    }

    void add_dense(const OutputTraces& traces) {
        const std::vector<std::int64_t> shape{traces.channels, traces.ticks};
        add(viewed(traces.tag, datatype_of(traces.type), shape, traces.samples, traces));
        add(kept(traces.tag + "_channels", "INT32", {traces.channels}, traces.channel_ids));
        if (!traces.summary.empty()) {
            add(kept(traces.tag + "_summary", "FP64", {static_cast<std::int64_t>(traces.summary.size())},
                     traces.summary));
        }
    }

    void add_sparse(const OutputTraces& traces) {
        std::int64_t samples = 0;
        for (std::int64_t run = 0; run < traces.run_count; ++run) {
            samples += traces.runs[run][2] - traces.runs[run][1];
        }
        add(viewed(traces.tag + "_runs", "INT32", {traces.run_count, 3}, traces.runs, traces));
        add(viewed(traces.tag + "_values", datatype_of(traces.type), {samples}, traces.samples, traces));
    }

    const std::vector<std::string>& names() const { return m_names; }

private:
    const WantedOutputs& m_wanted;
    std::vector<Tensor>& m_tensors;
    std::vector<std::string> m_names;
};

constexpr std::array dense_parts{"", "_channels", "_summary"};
constexpr std::array sparse_parts{"_runs", "_values"};

template <std::size_t Count>
std::vector<std::string> with_endings(const std::vector<std::string>& tags,
                                      const std::array<const char*, Count>& endings) {
    std::vector<std::string> names;
    for (const std::string& tag : tags) {
        for (const char* const ending : endings) {
            names.push_back(tag + ending);
        }
    }
    return names;
}

} // namespace

kserve::ModelDescription describe_chain(const std::string& name, std::int64_t channels,
                                        const std::vector<std::string>& tags) {
    const std::int64_t rows = channels > 0 ? channels : -1;
    kserve::ModelDescription model{.name = name, .platform = "spng_chain"};
    model.inputs = {{"adc", "INT16", {-1, -1}}, {"channels", "INT32", {-1}}};
    for (const std::string& tag : tags) {
        const bool is_mask = tag == "roi" || tag == "mp2" || tag == "mp3";
        const std::string type = is_mask ? "INT16" : "FP32";
        model.outputs.push_back({tag, type, {rows, -1}});
        model.outputs.push_back({tag + "_channels", "INT32", {rows}});
        model.outputs.push_back({tag + "_runs", "INT32", {-1, 3}});
        model.outputs.push_back({tag + "_values", type, {-1}});
    }
    model.properties = {{"channels", std::to_string(channels)}};
    return model;
}

InputFrame input_frame(const kserve::InferRequest& request) {
    const std::string where = where_of(request);
    require_known_inputs(request, where);
    const Tensor* const adc = find(request.inputs, "adc");
    if (adc == nullptr || adc->shape.size() != 2) {
        reject(where, "the request has no frame",
               adc == nullptr ? "no input adc" : "adc " + kserve::describe(adc->datatype, adc->shape),
               "an input adc of shape (channel, tick)");
    }
    InputFrame frame;
    frame.type = sample_type(*adc, where);
    frame.channels = adc->shape[0];
    frame.ticks = adc->shape[1];
    set_samples(frame, *adc);
    if (const Tensor* const channels = find(request.inputs, "channels")) {
        frame.channel_ids = channel_ids(*channels, frame.channels, where);
    }
    frame.ident = integer(request, "ident", where);
    frame.first_tick = integer(request, "first_tick", where);
    frame.start_ns = number(request, "start_ns", 0, where);
    frame.tick_ns = number(request, "tick_ns", 0, where);
    frame.masks = channel_masks(request, where);
    return frame;
}

bool WantedOutputs::wants(const std::string& name) const {
    return names.empty() || contains(names, name);
}

WantedOutputs wanted_outputs(const kserve::InferRequest& request, const std::vector<std::string>& tags) {
    WantedOutputs wanted;
    const auto dense = with_endings(tags, dense_parts), sparse = with_endings(tags, sparse_parts);
    bool any_dense = false;
    for (const kserve::RequestedOutput& output : request.outputs) {
        const bool is_sparse = tags.empty()
                                   ? output.name.ends_with("_runs") || output.name.ends_with("_values")
                                   : contains(sparse, output.name);
        if (!tags.empty() && !is_sparse && !contains(dense, output.name)) {
            std::vector<std::string> all = dense;
            all.insert(all.end(), sparse.begin(), sparse.end());
            reject(where_of(request), "the chain has no such output", output.name, joined(all),
                   suggestion(output.name, all, "the server's argument -A tags=... chooses the products"));
        }
        wanted.names.push_back(output.name);
        wanted.sparse = wanted.sparse || is_sparse;
        any_dense = any_dense || !is_sparse;
    }
    wanted.dense = any_dense || wanted.names.empty();
    return wanted;
}

kserve::InferResponse response_of(const kserve::InferRequest& request, const WantedOutputs& wanted,
                                  const OutputFrame* dense, const OutputFrame* sparse) {
    const OutputFrame& any = dense == nullptr ? *sparse : *dense;
    kserve::InferResponse response{.model = request.model, .version = "1", .id = request.id};
    Outputs outputs(wanted, response.outputs);
    for (std::size_t i = 0; i < any.traces.size(); ++i) {
        if (dense != nullptr) {
            outputs.add_dense(dense->traces[i]);
        }
        if (sparse != nullptr) {
            outputs.add_sparse(sparse->traces[i]);
        }
    }
    for (const std::string& name : wanted.names) {
        if (!contains(outputs.names(), name)) {
            reject(where_of(request), "the result has no such output", name, joined(outputs.names()));
        }
    }
    response.parameters = {{"ident", static_cast<std::int64_t>(any.ident)},
                           {"masks", masks_text(any.masks)},
                           {"notes", json(any.notes).dump(-1, ' ', false, json::error_handler_t::replace)}};
    if (!any.traces.empty()) {
        const OutputTraces& traces = any.traces.front();
        response.parameters["start_ns"] = traces.start_ns;
        response.parameters["tick_ns"] = traces.tick_ns;
        response.parameters["first_tick"] = static_cast<std::int64_t>(traces.first_tick);
    }
    return response;
}

} // namespace spng
