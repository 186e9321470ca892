// SPDX-License-Identifier: Apache-2.0
#include "spng/serve/frame_tensors.h"

#include "spng/core/nearest.h"
#include "spng/kserve/datatypes.h"
#include "spng/kserve/reject_message.h"
#include "spng/serve/frame_parameters.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace spng {
namespace {

using kserve::reject;
using kserve::Tensor;

constexpr std::array<std::pair<const char*, SampleType>, 6> sample_types{{{"INT16", SampleType::int16},
                                                                          {"UINT16", SampleType::uint16},
                                                                          {"INT32", SampleType::int32},
                                                                          {"INT64", SampleType::int64},
                                                                          {"FP32", SampleType::float32},
                                                                          {"FP64", SampleType::float64}}};
const std::vector<std::string> known_inputs{"adc", "channels"};

std::string where_of(const kserve::InferRequest& request) {
    return "request to model " + request.model + (request.id.empty() ? "" : ", id " + request.id);
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

/// Return a name for an error, which may be empty.
std::string quoted(const std::string& name) {
    return "'" + name + "'";
}

void require_known_inputs(const kserve::InferRequest& request, const std::string& where) {
    for (std::size_t i = 0; i < request.inputs.size(); ++i) {
        const std::string& name = request.inputs[i].name;
        if (!contains(known_inputs, name)) {
            reject(where, "the chain has no such input", quoted(name), joined(known_inputs),
                   suggestion(name, known_inputs));
        }
        if (find(request.inputs, name) != &request.inputs[i]) {
            reject(where, "an input is given twice", name, "each input once");
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
    if (adc == nullptr) {
        reject(where, "the request has no frame", "no input adc", "an input adc of shape (channel, tick)");
    }
    if (adc->shape.size() != 2) {
        const bool is_batch = adc->shape.size() == 3;
        reject(where, "the samples do not have two axes",
               "adc " + kserve::describe(adc->datatype, adc->shape), "(channel, tick)",
               is_batch
                   ? "leave out the axis of a batch: a request holds one frame, and several requests can wait"
                   : "");
    }
    InputFrame frame;
    frame.type = sample_type(*adc, where);
    frame.channels = adc->shape[0];
    frame.ticks = adc->shape[1];
    set_samples(frame, *adc);
    if (const Tensor* const channels = find(request.inputs, "channels")) {
        frame.channel_ids = channel_ids(*channels, frame.channels, where);
    }
    set_parameters(frame, request.parameters, where);
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
            reject(where_of(request), "the chain has no such output", quoted(output.name), joined(all),
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
            reject(where_of(request), "the result has no such output", quoted(name), joined(outputs.names()));
        }
    }
    response.parameters = parameters_of(any);
    return response;
}

} // namespace spng
