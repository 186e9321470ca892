// SPDX-License-Identifier: Apache-2.0
// Servers and models in JSON.

#include "spng/kserve/json_descriptions.h"

namespace spng::kserve {

using nlohmann::json;

namespace {

json description_of(const TensorDescription& tensor) {
    return {{"name", tensor.name}, {"datatype", tensor.datatype}, {"shape", tensor.shape}};
}

} // namespace

json to_json(const ServerDescription& server) {
    return {{"name", server.name}, {"version", server.version}, {"extensions", server.extensions}};
}

json to_json(const ModelDescription& model) {
    json object{{"name", model.name},
                {"versions", model.versions},
                {"platform", model.platform},
                {"inputs", json::array()},
                {"outputs", json::array()}};
    for (const TensorDescription& tensor : model.inputs) {
        object["inputs"].push_back(description_of(tensor));
    }
    for (const TensorDescription& tensor : model.outputs) {
        object["outputs"].push_back(description_of(tensor));
    }
    if (!model.properties.empty()) {
        object["properties"] = model.properties;
    }
    return object;
}

json config_json(const ModelDescription& model) {
    const auto tensors = [](const std::vector<TensorDescription>& list) {
        json result = json::array();
        for (const TensorDescription& tensor : list) {
            result.push_back(
                {{"name", tensor.name}, {"data_type", "TYPE_" + tensor.datatype}, {"dims", tensor.shape}});
        }
        return result;
    };
    return {{"name", model.name},
            {"platform", model.platform},
            {"backend", "spng"},
            {"max_batch_size", 0}, // the shapes have no axis of a batch
            {"input", tensors(model.inputs)},
            {"output", tensors(model.outputs)}};
}

json to_json(const std::vector<ModelStatistics>& models) {
    const auto times = [](const ModelStatistics::Duration& duration) {
        return json{{"count", duration.count}, {"ns", duration.ns}};
    };
    json list = json::array();
    for (const ModelStatistics& model : models) {
        list.push_back({{"name", model.name},
                        {"version", "1"},
                        {"last_inference", model.last_ms},
                        {"inference_count", model.success.count},
                        {"execution_count", model.success.count},
                        {"inference_stats",
                         {{"success", times(model.success)},
                          {"fail", times(model.fail)},
                          {"queue", times(model.queue)},
                          {"compute_input", times({})},
                          {"compute_infer", times(model.run)},
                          {"compute_output", times({})}}},
                        {"batch_stats", json::array()}});
    }
    return {{"model_stats", list}};
}

} // namespace spng::kserve
