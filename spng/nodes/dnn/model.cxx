// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/model.h"

#include "spng/core/error.h"
#include "spng/core/printable.h"
#include "spng/io/json_file.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

namespace spng {
namespace {

[[noreturn]] void bad_metadata(const std::string& file, const std::string& seen,
                               const std::string& expected) {
    throw Error(ErrorKind::Model,
                {.what = "cannot read the metadata of a model file",
                 .where = file + ", metadata.json",
                 .seen = seen,
                 .expected = expected,
                 .hint = "save the model again with a JSON object in the extra file metadata.json"});
}

template <class T>
std::optional<T> value_of(const nlohmann::json& metadata, const char* key,
                          bool (nlohmann::json::*fits)() const, const std::string& expected,
                          const std::string& file) {
    const auto found = metadata.find(key);
    if (found == metadata.end()) {
        return std::nullopt;
    }
    if (!((*found).*fits)()) {
        bad_metadata(file, std::string(key) + " = " + found->dump(), expected);
    }
    return found->get<T>();
}

std::vector<std::string> names_of(const nlohmann::json& metadata, const char* key,
                                  const std::string& expected, const std::string& file) {
    const auto list = value_of<nlohmann::json>(metadata, key, &nlohmann::json::is_array, expected, file);
    std::vector<std::string> names;
    for (const auto& entry : list.value_or(nlohmann::json::array())) {
        if (!entry.is_string()) {
            bad_metadata(file, std::string(key) + " = " + list->dump(), expected);
        }
        names.push_back(entry.get<std::string>());
    }
    return names;
}

/// Read the filters of the training's images.
std::map<std::string, std::vector<std::string>> images_of(const nlohmann::json& metadata,
                                                          const std::string& file) {
    const std::string expected = "{image: the filters of each plane as text}";
    const nlohmann::json images =
        value_of<nlohmann::json>(metadata, "images", &nlohmann::json::is_object, expected, file)
            .value_or(nlohmann::json::object());
    std::map<std::string, std::vector<std::string>> filters;
    for (const auto& [image, planes] : images.items()) {
        filters[image] = names_of(images, image.c_str(), expected, file);
    }
    return filters;
}

std::vector<double> numbers_of(const nlohmann::json& metadata, const char* key, const std::string& expected,
                               const std::string& file,
                               const std::function<bool(const std::vector<double>&)>& fits) {
    const auto found = metadata.find(key);
    if (found == metadata.end()) {
        return {};
    }
    std::vector<double> numbers;
    bool is_list = found->is_array();
    for (const auto& entry : is_list ? *found : nlohmann::json::array()) {
        is_list = is_list && entry.is_number();
        numbers.push_back(entry.is_number() ? entry.get<double>() : 0.0);
    }
    if (!is_list || !fits(numbers)) {
        bad_metadata(file, std::string(key) + " = " + found->dump(), expected);
    }
    return numbers;
}

std::optional<TrainingNoise> noise_of(const nlohmann::json& metadata, const std::string& file) {
    TrainingNoise noise;
    const auto images = metadata.find("training_noise");
    if (images != metadata.end()) {
        const char* expected = "{image: the noise of each plane in electrons, above 0}";
        if (!images->is_object() || images->empty()) {
            bad_metadata(file, "training_noise = " + images->dump(), expected);
        }
        for (const auto& [image, planes] : images->items()) {
            noise.planes[image] =
                numbers_of(*images, image.c_str(), expected, file, [](const auto& electrons) {
                    return !electrons.empty() &&
                           std::all_of(electrons.begin(), electrons.end(), [](double x) { return x > 0; });
                });
        }
    }
    const auto range = numbers_of(
        metadata, "noise_range", "two ratios of noise, low and high, around 1", file,
        [](const auto& ends) { return ends.size() == 2 && ends[0] >= 0 && ends[0] <= 1 && ends[1] >= 1; });
    if (noise.planes.empty() != range.empty()) {
        bad_metadata(file, range.empty() ? "training_noise alone" : "noise_range alone",
                     "training_noise and noise_range, or neither");
    }
    if (range.empty()) {
        return std::nullopt;
    }
    noise.low = range[0];
    noise.high = range[1];
    return noise;
}

} // namespace

ModelMetadata parse_model_metadata(const std::string& text, const std::string& file) {
    if (text.empty()) {
        return {};
    }
    using json = nlohmann::json;
    const json metadata = parsed_json(text);
    if (!metadata.is_object()) {
        bad_metadata(file, text.substr(0, 80), "a JSON object");
    }
    const auto count = [&](const char* key, std::int64_t minimum) {
        const auto value =
            value_of<std::int64_t>(metadata, key, &json::is_number_integer, "an integer", file);
        if (value && *value < minimum) {
            bad_metadata(file, std::string(key) + " = " + std::to_string(*value),
                         "an integer, at least " + std::to_string(minimum));
        }
        return value;
    };
    ModelMetadata out;
    out.inputs = names_of(metadata, "inputs", "a list of names", file);
    out.scale = value_of<double>(metadata, "scale", &json::is_number, "a number", file);
    out.rebin = count("rebin", 1);
    out.multiple = count("multiple", 1);
    out.halo = count("halo", 0);
    out.transpose = value_of<bool>(metadata, "transpose", &json::is_boolean, "true or false", file);
    out.noise = noise_of(metadata, file);
    out.mask_threshold = value_of<double>(metadata, "mask_threshold", &json::is_number, "a number", file);
    out.trained_input.detector =
        value_of<std::string>(metadata, "detector", &json::is_string, "the name of a detector", file);
    out.trained_input.filter_set =
        value_of<std::string>(metadata, "filter_set", &json::is_string, "the name of a filter set", file)
            .value_or("");
    out.trained_input.tick = value_of<double>(metadata, "tick", &json::is_number, "a time in ns", file);
    if (out.trained_input.tick && !(*out.trained_input.tick > 0)) {
        bad_metadata(file, "tick = " + json_text(metadata["tick"]), "a time in ns, above 0");
    }
    out.trained_input.images = images_of(metadata, file);
    out.stand_in =
        value_of<bool>(metadata, "stand_in", &json::is_boolean, "true or false", file).value_or(false);
    out.text = json_text(metadata);
    return out;
}

std::vector<std::string> properties_not_given(const ModelMetadata& network) {
    std::vector<std::string> names;
    const auto add_if = [&](bool is_absent, const char* name) {
        if (is_absent) {
            names.emplace_back(name);
        }
    };
    add_if(network.inputs.empty(), "features");
    add_if(!network.scale, "scale");
    add_if(!network.rebin, "sampling");
    add_if(!network.trained_input.detector, "detector");
    add_if(!network.trained_input.tick, "tick");
    add_if(network.trained_input.images.empty(), "filters");
    add_if(!network.noise, "noise");
    return names;
}

} // namespace spng
