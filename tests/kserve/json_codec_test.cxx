// SPDX-License-Identifier: Apache-2.0
#include "spng/kserve/json_codec.h"

#include "spng/core/error.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace spng::kserve {
namespace {

template <class Value>
std::vector<Value> values_of(const Tensor& tensor) {
    std::vector<Value> values(tensor.bytes / sizeof(Value));
    std::memcpy(values.data(), tensor.data, tensor.bytes);
    return values;
}

template <class Value>
Tensor tensor_of(const char* name, const char* type, const std::vector<Value>& values) {
    return {.name = name,
            .datatype = type,
            .shape = {static_cast<std::int64_t>(values.size())},
            .data = values.data(),
            .bytes = values.size() * sizeof(Value)};
}

/// Return the bytes of a body as a receiver has them.
std::string bytes_of(const Body& body) {
    std::string all = body.json;
    for (const Tensor& tensor : body.binary) {
        all.append(static_cast<const char*>(tensor.data), tensor.bytes);
    }
    return all;
}

BodyView view(const std::string& bytes, std::size_t json_bytes) {
    return {std::string_view(bytes).substr(0, json_bytes), std::string_view(bytes).substr(json_bytes)};
}

TEST(KserveJson, RequestsGoThereUnchanged) {
    const std::vector<float> values{1.5F, -2, 3};
    const std::vector<std::int32_t> ids{7, 8};
    InferRequest request{.model = "m", .id = "i"};
    request.parameters = {
        {"flag", true}, {"count", std::int64_t{3}}, {"ratio", 0.5}, {"text", std::string("t")}};
    request.inputs = {tensor_of("a", "FP32", values), tensor_of("b", "INT32", ids)};
    request.outputs = {{"x"}};
    const Body body = encode_request(request);
    const std::string bytes = bytes_of(body);
    EXPECT_EQ(bytes.size(), body.bytes());
    const InferRequest back = parse_infer_request(view(bytes, body.json.size()), "m");
    EXPECT_EQ(back.parameters, request.parameters);
    EXPECT_EQ(back.id, "i");
    ASSERT_EQ(back.inputs.size(), 2U);
    EXPECT_EQ(values_of<float>(back.inputs[0]), values);
    EXPECT_EQ(values_of<std::int32_t>(back.inputs[1]), ids);
    ASSERT_EQ(back.outputs.size(), 1U);
    EXPECT_EQ(back.outputs[0].parameters.at("binary_data"), Parameter(true));
}

TEST(KserveJson, OutputsAreBinaryWhereAsked) {
    const std::vector<float> values{1, 2};
    InferResponse response{.model = "m", .version = "1"};
    response.outputs = {tensor_of("x", "FP32", values), tensor_of("y", "FP32", values)};
    InferRequest request{.model = "m"};
    request.outputs = {{"x", {{"binary_data", true}}}, {"y"}};
    const Body body = encode_response(response, request);
    ASSERT_EQ(body.binary.size(), 1U);
    EXPECT_EQ(body.binary[0].name, "x");
    const std::string bytes = bytes_of(body);
    const InferResponse back = parse_infer_response(view(bytes, body.json.size()), "m");
    ASSERT_EQ(back.outputs.size(), 2U);
    EXPECT_EQ(values_of<float>(back.outputs[0]), values);
    EXPECT_EQ(values_of<float>(back.outputs[1]), values);
}

TEST(KserveJson, ListsMayBeNested) {
    const std::string text =
        R"({"inputs": [{"name": "a", "datatype": "UINT8", "shape": [2, 2], "data": [[1, 2], [3, 255]]}]})";
    const InferRequest request = parse_infer_request({text}, "m");
    EXPECT_EQ(values_of<std::uint8_t>(request.inputs[0]), (std::vector<std::uint8_t>{1, 2, 3, 255}));
}

TEST(KserveJson, RejectsListsThatDoNotFit) {
    for (const char* data : {"[1, 2, 3]", "[1, 2, 3, 256]", "[1, 2, 3, -1]", "[1, 2, 3, 1.5]",
                             "[1, 2, 3, null]", "[1, 2, 3, true]", "3", "[[[1, 2, 3, 4, 5]]]"}) {
        const std::string text =
            std::string(R"({"inputs": [{"name": "a", "datatype": "UINT8", "shape": [2, 2], "data": )") +
            data + "}]}";
        EXPECT_THROW(parse_infer_request({text}, "m"), Error) << data;
    }
}

TEST(KserveJson, RejectsNumbersBeyondTheirType) {
    const auto parse = [](const std::string& type, const std::string& data) {
        return parse_infer_request({R"({"inputs": [{"name": "a", "datatype": ")" + type +
                                    R"(", "shape": [1], "data": [)" + data + "]}]}"},
                                   "m");
    };
    for (const auto& [type, data] : {std::pair{"INT64", "9223372036854775808"},
                                     {"INT32", "18446744073709551615"},
                                     {"INT16", "1.0"},
                                     {"UINT64", "-1"},
                                     {"FP32", "3.5e38"},
                                     {"FP64", "1e309"},
                                     {"FP32", "NaN"},
                                     {"FP32", "null"},
                                     {"FP32", "\"NaN\""},
                                     {"FP32", "true"},
                                     {"BYTES", "\"1\""},
                                     {"", "1"}}) {
        EXPECT_THROW(parse(type, data), Error) << type << " " << data;
    }
    EXPECT_EQ(values_of<std::uint64_t>(parse("UINT64", "18446744073709551615").inputs[0]).front(),
              UINT64_MAX);
    EXPECT_EQ(values_of<float>(parse("FP32", "3.4e38").inputs[0]).front(), 3.4e38F);
}

/// Python writes NaN, Infinity and -Infinity, and KServe's server null.
TEST(KserveJson, ReadsNanOfOtherServers) {
    const std::string text =
        R"({"model_name": "NaN\" NaN", "model_version": null, "id": null, "parameters": null,
        "outputs": [{"name": "x", "datatype": "FP32", "shape": [5], "data": [NaN, Infinity, -Infinity, 1, null]}]})";
    const InferResponse response = parse_infer_response({text}, "m");
    EXPECT_EQ(response.model, "NaN\" NaN");
    const auto values = values_of<float>(response.outputs[0]);
    EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[4]));
    EXPECT_EQ(values[1], std::numeric_limits<float>::infinity());
    EXPECT_EQ(values[2], -values[1]);
    EXPECT_EQ(values[3], 1);
}

TEST(KserveJson, ListsHaveNoNan) {
    const std::vector<float> values{1, std::numeric_limits<float>::quiet_NaN()};
    InferResponse response{.model = "m"};
    response.outputs = {tensor_of("x", "FP32", values)};
    EXPECT_THROW(encode_response(response, {.model = "m"}), Error);
    EXPECT_EQ(
        encode_response(response, {.model = "m", .parameters = {{"binary_data_output", true}}}).binary.size(),
        1U);
}

TEST(KserveJson, UnknownParametersOfTensorsAreErrors) {
    const auto parse = [](const std::string& of_input, const std::string& of_output) {
        return parse_infer_request(
            {R"({"inputs": [{"name": "a", "datatype": "FP32", "shape": [1], "data": [1], "parameters": {)" +
             of_input + R"(}}], "outputs": [{"name": "x", "parameters": {)" + of_output + "}}]}"},
            "m");
    };
    parse(R"("content_type": "np")", R"("binary_data": true)");
    EXPECT_THROW(parse(R"("shared_memory_region": "r")", ""), Error);
    EXPECT_THROW(parse(R"("binary_data_size": 0)", ""), Error); // and a list
    EXPECT_THROW(parse("", R"("shared_memory_region": "r")"), Error);
    EXPECT_THROW(parse("", R"("classification": 1)"), Error);
    EXPECT_THROW(parse("", R"("binary_data": 1)"), Error);
}

TEST(KserveJson, LargeOutputsMustBeBinary) {
    const std::vector<float> values(max_json_bytes / 4);
    InferResponse response{.model = "m"};
    response.outputs = {tensor_of("x", "FP32", values)};
    EXPECT_THROW(encode_response(response, {.model = "m"}), Error);
}

TEST(KserveJson, ModelsAreDescribed) {
    ModelDescription model{.name = "m", .platform = "p"};
    model.inputs = {{"a", "FP32", {-1, 3}}};
    model.properties = {{"sha256", "0"}};
    const ModelDescription back = parse_model_description(to_json(model).dump(), "m");
    EXPECT_EQ(back.inputs[0].shape, model.inputs[0].shape);
    EXPECT_EQ(back.properties, model.properties);
    EXPECT_THROW(parse_model_description("[]", "m"), Error);
}

TEST(KserveJson, ErrorsOfOtherServersAreRead) {
    EXPECT_EQ(error_of_json(error_json("wrong")), "wrong");
    EXPECT_EQ(error_of_json("<html>"), "<html>");
}

} // namespace
} // namespace spng::kserve
