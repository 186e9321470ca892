// SPDX-License-Identifier: Apache-2.0
#include "spng/kserve/json_codec.h"

#include "spng/core/error.h"
#include "spng/core/printable.h"
#include "spng/kserve/datatypes.h"
#include "spng/kserve/json_data.h"
#include "spng/kserve/json_members.h"
#include "spng/kserve/known_parameters.h"
#include "spng/kserve/reject_message.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace spng::kserve {
namespace {

using nlohmann::json;

constexpr const char* size_key = "binary_data_size";

json to_json(const Parameters& parameters) {
    json object = json::object();
    for (const auto& [name, value] : parameters) {
        std::visit([&, &key = name](const auto& content) { object[key] = content; }, value);
    }
    return object;
}

/// Takes the bytes of binary tensors in their order.
class BinaryPart {
public:
    BinaryPart(const BodyView& body, std::string where) : m_body(body), m_where(std::move(where)) {}

    void take(Tensor& tensor, const json& size) {
        const bool is_count = size.is_number_unsigned();
        const auto bytes = is_count ? size.get<std::uint64_t>() : 0;
        if (!is_count || bytes > m_body.binary.size() - m_begin) {
            reject_message(m_where,
                           tensor.name + ": " + size_key + " = " + shown(size) + ", and " +
                               std::to_string(m_body.binary.size() - m_begin) + " bytes left behind the JSON",
                           "the bytes of the tensor behind the JSON, and its length in the header " +
                               std::string(json_length_header));
        }
        tensor.data = m_body.binary.data() + m_begin;
        tensor.bytes = bytes;
        tensor.owner = m_body.owner;
        m_begin += bytes;
    }

    void end() const {
        if (m_begin != m_body.binary.size()) {
            reject_message(m_where,
                           std::to_string(m_body.binary.size() - m_begin) + " bytes behind the last tensor",
                           "no bytes that belong to no tensor");
        }
    }

private:
    const BodyView& m_body;
    std::string m_where;
    std::size_t m_begin = 0;
};

/// @param is_request  whether unknown parameters are errors, and NaN in lists
std::vector<Tensor> tensors_of(const json& list, const BodyView& body, bool is_request,
                               const std::string& where) {
    std::vector<Tensor> tensors;
    BinaryPart binary(body, where);
    for (const json& entry : list) {
        Tensor tensor{.name = text_at(entry, "name", where, true),
                      .datatype = text_at(entry, "datatype", where, true),
                      .shape = shape_of(entry, where)};
        const std::string at = where + ", tensor " + tensor.name;
        require_number_type(tensor.datatype, at);
        tensor.parameters = parameters_of(entry, at);
        if (is_request) {
            require_input_parameters(tensor.parameters, at);
        }
        const auto data = entry.find("data");
        if (data != entry.end() && !data->is_null() && tensor.parameters.contains(size_key)) {
            reject_message(at, "a list data and the parameter " + std::string(size_key), "one of both");
        } else if (tensor.parameters.contains(size_key)) {
            binary.take(tensor, entry.at("parameters").at(size_key));
            tensor.parameters.erase(size_key);
        } else if (data != entry.end() && data->is_array()) {
            read_data(*data, tensor, is_request ? NotFinite::rejected : NotFinite::accepted, at);
        } else {
            reject_message(at, "no data", "a list data, or the parameter " + std::string(size_key));
        }
        require_bytes_of_shape(tensor, at);
        tensors.push_back(std::move(tensor));
    }
    binary.end();
    return tensors;
}

json json_of(const Tensor& tensor, bool is_binary, const std::string& where) {
    json entry{{"name", tensor.name}, {"datatype", tensor.datatype}, {"shape", tensor.shape}};
    Parameters parameters = tensor.parameters;
    if (is_binary) {
        parameters[size_key] = static_cast<std::int64_t>(tensor.bytes);
    } else {
        entry["data"] = data_json(tensor, where);
    }
    if (!parameters.empty()) {
        entry["parameters"] = to_json(parameters);
    }
    return entry;
}

bool is_binary(const InferRequest& request, const std::string& output, const std::string& where) {
    const bool all = flag(request.parameters, "binary_data_output", false, where);
    const auto found = std::find_if(request.outputs.begin(), request.outputs.end(),
                                    [&](const RequestedOutput& each) { return each.name == output; });
    return found == request.outputs.end() ? all : flag(found->parameters, "binary_data", all, where);
}

/// @throws Error(Input) for an output that is too large for JSON
void require_short_list(const Tensor& tensor, bool is_binary, const std::string& where) {
    constexpr std::size_t max_bytes = max_json_bytes / 2;
    if (!is_binary && tensor.bytes > max_bytes) {
        reject(where, "an output is too large for a list of JSON",
               tensor.name + ", " + describe(tensor.datatype, tensor.shape),
               "at most " + std::to_string(max_bytes) + " bytes as a list",
               "ask for it in binary form: parameter binary_data_output = true");
    }
}

std::vector<TensorDescription> descriptions_at(const json& object, const char* key,
                                               const std::string& where) {
    std::vector<TensorDescription> tensors;
    for (const json& entry : list_at(object, key, where, false)) {
        tensors.push_back({text_at(entry, "name", where, true), text_at(entry, "datatype", where, true),
                           shape_of(entry, where)});
    }
    return tensors;
}

} // namespace

std::size_t Body::bytes() const {
    std::size_t total = json.size();
    for (const Tensor& tensor : binary) {
        total += tensor.bytes;
    }
    return total;
}

InferRequest parse_infer_request(const BodyView& body, const std::string& model) {
    const std::string where = "request to model " + model;
    const json object = parse_object(body.json, where);
    InferRequest request{.model = model, .version = {}, .id = text_at(object, "id", where, false)};
    request.parameters = parameters_of(object, where);
    request.inputs = tensors_of(list_at(object, "inputs", where, true), body, /*is_request=*/true, where);
    for (const json& output : list_at(object, "outputs", where, false)) {
        RequestedOutput& wanted = request.outputs.emplace_back();
        wanted.name = text_at(output, "name", where, true);
        const std::string at = std::string(where).append(", output ").append(wanted.name);
        wanted.parameters = parameters_of(output, at);
        require_output_parameters(wanted.parameters, at);
    }
    return request;
}

Body encode_response(InferResponse response, const InferRequest& request) {
    const std::string where = "request to model " + response.model;
    Body body;
    json outputs = json::array();
    for (Tensor& tensor : response.outputs) {
        const bool goes_behind = is_binary(request, tensor.name, where);
        require_short_list(tensor, goes_behind, where);
        outputs.push_back(json_of(tensor, goes_behind, where));
        if (goes_behind) {
            body.binary.push_back(std::move(tensor));
        }
    }
    json object{{"model_name", response.model}, {"model_version", response.version}, {"outputs", outputs}};
    if (!response.id.empty()) {
        object["id"] = response.id;
    }
    if (!response.parameters.empty()) {
        object["parameters"] = to_json(response.parameters);
    }
    body.json = json_text(object);
    return body;
}

Body encode_request(const InferRequest& request) {
    Body body;
    json object{{"inputs", json::array()}};
    for (const Tensor& tensor : request.inputs) {
        object["inputs"].push_back(json_of(tensor, true, {}));
        body.binary.push_back(tensor);
    }
    for (const RequestedOutput& output : request.outputs) {
        Parameters parameters = output.parameters;
        parameters["binary_data"] = true;
        object["outputs"].push_back({{"name", output.name}, {"parameters", to_json(parameters)}});
    }
    Parameters parameters = request.parameters;
    if (request.outputs.empty()) {
        parameters["binary_data_output"] = true;
    }
    if (!parameters.empty()) {
        object["parameters"] = to_json(parameters);
    }
    if (!request.id.empty()) {
        object["id"] = request.id;
    }
    body.json = json_text(object);
    return body;
}

InferResponse parse_infer_response(const BodyView& body, const std::string& model) {
    const std::string where = "response of model " + model;
    const json object = parse_object(body.json, where, NotFinite::accepted);
    InferResponse response{.model = text_at(object, "model_name", where, false),
                           .version = text_at(object, "model_version", where, false),
                           .id = text_at(object, "id", where, false)};
    response.parameters = parameters_of(object, where);
    response.outputs = tensors_of(list_at(object, "outputs", where, true), body, /*is_request=*/false, where);
    return response;
}

ModelDescription parse_model_description(std::string_view text, const std::string& model) {
    const std::string where = "description of model " + model;
    const json object = parse_object(text, where);
    ModelDescription description{.name = text_at(object, "name", where, true)};
    description.platform = text_at(object, "platform", where, false);
    description.inputs = descriptions_at(object, "inputs", where);
    description.outputs = descriptions_at(object, "outputs", where);
    const auto properties = object.find("properties");
    if (properties != object.end() && properties->is_object()) {
        for (const auto& [name, value] : properties->items()) {
            if (value.is_string()) {
                description.properties[name] = value.get<std::string>();
            }
        }
    }
    return description;
}

std::string error_json(const std::string& text) {
    return json_text(json{{"error", text}});
}

std::string error_of_json(std::string_view body) {
    const std::string begin(body.substr(0, max_shown * 20));
    const json value = json::parse(begin, nullptr, false);
    if (value.is_object() && value.contains("error") && value["error"].is_string()) {
        return value["error"].get<std::string>();
    }
    return shortened(begin, max_shown);
}

} // namespace spng::kserve
