// SPDX-License-Identifier: Apache-2.0
#include "spng/kserve/grpc/messages.h"

#include "spng/core/error.h"
#include "spng/kserve/datatypes.h"
#include "spng/kserve/known_parameters.h"
#include "spng/kserve/reject_message.h"

#include <google/protobuf/util/json_util.h>

#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace spng::kserve {
namespace {

using Contents = inference::InferTensorContents;

template <class Map>
Parameters parameters_of(const Map& map) {
    Parameters parameters;
    for (const auto& [name, value] : map) {
        switch (value.parameter_choice_case()) {
        case inference::InferParameter::kBoolParam:
            parameters[name] = value.bool_param();
            break;
        case inference::InferParameter::kInt64Param:
            parameters[name] = static_cast<std::int64_t>(value.int64_param());
            break;
        case inference::InferParameter::kStringParam:
            parameters[name] = value.string_param();
            break;
        case inference::InferParameter::kDoubleParam:
            parameters[name] = value.double_param();
            break;
        case inference::InferParameter::kUint64Param:
            parameters[name] = static_cast<double>(value.uint64_param());
            break;
        case inference::InferParameter::PARAMETER_CHOICE_NOT_SET:
            break;
        }
    }
    return parameters;
}

/// Set a number as text for KServe's clients, whose messages have no numbers with fraction, and as a number behind it: of
/// several members of a oneof readers take the last one that they know.
void set_number(inference::InferParameter& entry, double value) {
    char text[32];
    entry.set_string_param(
        text, static_cast<std::size_t>(std::to_chars(text, text + sizeof text, value).ptr - text));
    entry.GetReflection()->MutableUnknownFields(&entry)->AddFixed64(
        inference::InferParameter::kDoubleParamFieldNumber, std::bit_cast<std::uint64_t>(value));
}

template <class Map>
void fill_parameters(Map& map, const Parameters& parameters) {
    for (const auto& [name, value] : parameters) {
        inference::InferParameter& entry = map[name];
        if (const auto* flag = std::get_if<bool>(&value)) {
            entry.set_bool_param(*flag);
        } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
            entry.set_int64_param(*integer);
        } else if (const auto* real = std::get_if<double>(&value)) {
            set_number(entry, *real);
        } else {
            entry.set_string_param(std::get<std::string>(value));
        }
    }
}

/// Count the values of all fields.
int count_values(const Contents& contents) {
    return contents.bool_contents_size() + contents.int_contents_size() + contents.int64_contents_size() +
           contents.uint_contents_size() + contents.uint64_contents_size() + contents.fp32_contents_size() +
           contents.fp64_contents_size() + contents.bytes_contents_size();
}

/// Give the tensor the values of a field, which may be wider than its type.
template <class Value, class Field>
void take_values(const Contents& contents, const Field& field, Tensor& tensor, const std::string& where) {
    if (count_values(contents) != field.size()) {
        reject_message(where, "contents of several types", "those of " + tensor.datatype + " alone");
    }
    auto values = std::make_shared<std::vector<Value>>();
    values->reserve(static_cast<std::size_t>(field.size()));
    for (const auto value : field) {
        if constexpr (std::is_integral_v<Value>) {
            if (!std::in_range<Value>(value)) {
                reject_message(where, std::to_string(value), "a value of type " + tensor.datatype);
            }
        }
        values->push_back(static_cast<Value>(value));
    }
    tensor.data = values->data();
    tensor.bytes = values->size() * sizeof(Value);
    tensor.owner = std::move(values);
}

void take_contents(const Contents& contents, Tensor& tensor, const std::string& where) {
    const std::string& type = tensor.datatype;
    if (type == "INT8") {
        take_values<std::int8_t>(contents, contents.int_contents(), tensor, where);
    } else if (type == "INT16") {
        take_values<std::int16_t>(contents, contents.int_contents(), tensor, where);
    } else if (type == "INT32") {
        take_values<std::int32_t>(contents, contents.int_contents(), tensor, where);
    } else if (type == "INT64") {
        take_values<std::int64_t>(contents, contents.int64_contents(), tensor, where);
    } else if (type == "UINT8") {
        take_values<std::uint8_t>(contents, contents.uint_contents(), tensor, where);
    } else if (type == "UINT16") {
        take_values<std::uint16_t>(contents, contents.uint_contents(), tensor, where);
    } else if (type == "UINT32") {
        take_values<std::uint32_t>(contents, contents.uint_contents(), tensor, where);
    } else if (type == "UINT64") {
        take_values<std::uint64_t>(contents, contents.uint64_contents(), tensor, where);
    } else if (type == "FP32") {
        take_values<float>(contents, contents.fp32_contents(), tensor, where);
    } else if (type == "FP64") {
        take_values<double>(contents, contents.fp64_contents(), tensor, where);
    } else {
        reject_message(where, type, "INT8 to INT64, UINT8 to UINT64, FP32, FP64");
    }
}

/// @param raw         the raw contents of the message, moved out; empty: the tensors have contents of their own
/// @param is_request  whether unknown parameters are errors
template <class Tensors, class Raw>
std::vector<Tensor> take_tensors(Tensors& list, Raw& raw, bool is_request, const std::string& where) {
    if (!raw.empty() && raw.size() != list.size()) {
        reject_message(where,
                       std::to_string(raw.size()) + " raw contents for " + std::to_string(list.size()) +
                           " tensors",
                       "one for each tensor");
    }
    std::vector<Tensor> tensors;
    for (int i = 0; i < list.size(); ++i) {
        const auto& entry = list.Get(i);
        Tensor tensor{.name = entry.name(),
                      .datatype = entry.datatype(),
                      .shape = {entry.shape().begin(), entry.shape().end()},
                      .parameters = parameters_of(entry.parameters())};
        const std::string at = where + ", tensor " + tensor.name;
        require_number_type(tensor.datatype, at);
        if (is_request) {
            require_input_parameters(tensor.parameters, at);
        }
        if (!raw.empty() && count_values(entry.contents()) > 0) {
            reject_message(at, "contents and raw contents", "one of both");
        }
        if (raw.empty()) {
            take_contents(entry.contents(), tensor, at);
        } else {
            auto bytes = std::make_shared<std::string>(std::move(*raw.Mutable(i)));
            tensor.data = bytes->data();
            tensor.bytes = bytes->size();
            tensor.owner = std::move(bytes);
        }
        require_bytes_of_shape(tensor, at);
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

template <class Entry>
void fill_tensor(Entry& entry, std::string& raw, const Tensor& tensor) {
    entry.set_name(tensor.name);
    entry.set_datatype(tensor.datatype);
    entry.mutable_shape()->Add(tensor.shape.begin(), tensor.shape.end());
    fill_parameters(*entry.mutable_parameters(), tensor.parameters);
    raw.assign(static_cast<const char*>(tensor.data), tensor.bytes);
}

template <class List>
std::vector<TensorDescription> descriptions(const List& list) {
    std::vector<TensorDescription> tensors;
    for (const auto& entry : list) {
        tensors.push_back({entry.name(), entry.datatype(), {entry.shape().begin(), entry.shape().end()}});
    }
    return tensors;
}

} // namespace

InferRequest take_request(inference::ModelInferRequest& message) {
    InferRequest request{
        .model = message.model_name(), .version = message.model_version(), .id = message.id()};
    const std::string where = "request to model " + request.model;
    request.parameters = parameters_of(message.parameters());
    request.inputs = take_tensors(*message.mutable_inputs(), *message.mutable_raw_input_contents(),
                                  /*is_request=*/true, where);
    for (const auto& output : message.outputs()) {
        request.outputs.push_back({output.name(), parameters_of(output.parameters())});
        require_output_parameters(request.outputs.back().parameters, where + ", output " + output.name());
    }
    return request;
}

void fill(inference::ModelInferRequest& message, const InferRequest& request) {
    message.set_model_name(request.model);
    message.set_model_version(request.version);
    message.set_id(request.id);
    fill_parameters(*message.mutable_parameters(), request.parameters);
    for (const Tensor& tensor : request.inputs) {
        fill_tensor(*message.add_inputs(), *message.add_raw_input_contents(), tensor);
    }
    for (const RequestedOutput& output : request.outputs) {
        auto& entry = *message.add_outputs();
        entry.set_name(output.name);
        fill_parameters(*entry.mutable_parameters(), output.parameters);
    }
}

InferResponse take_response(inference::ModelInferResponse& message) {
    InferResponse response{
        .model = message.model_name(), .version = message.model_version(), .id = message.id()};
    response.parameters = parameters_of(message.parameters());
    response.outputs = take_tensors(*message.mutable_outputs(), *message.mutable_raw_output_contents(),
                                    /*is_request=*/false, "response of model " + response.model);
    return response;
}

void fill(inference::ModelInferResponse& message, const InferResponse& response) {
    message.set_model_name(response.model);
    message.set_model_version(response.version);
    message.set_id(response.id);
    fill_parameters(*message.mutable_parameters(), response.parameters);
    for (const Tensor& tensor : response.outputs) {
        fill_tensor(*message.add_outputs(), *message.add_raw_output_contents(), tensor);
    }
}

void fill(google::protobuf::Message& message, const nlohmann::json& value) {
    google::protobuf::util::JsonParseOptions options;
    options.ignore_unknown_fields = true; // HTTP has more
    const auto status = google::protobuf::util::JsonStringToMessage(value.dump(), &message, options);
    if (!status.ok()) {
        throw std::logic_error("a description does not fit its message: " + status.ToString());
    }
}

ModelDescription description_of(const inference::ModelMetadataResponse& message) {
    ModelDescription model{.name = message.name(), .platform = message.platform()};
    model.inputs = descriptions(message.inputs());
    model.outputs = descriptions(message.outputs());
    model.properties = {message.properties().begin(), message.properties().end()};
    return model;
}

} // namespace spng::kserve
