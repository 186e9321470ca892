// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate/documents.h"

#include "spng/io/json_file.h"
#include "tests/fuzz/mutate/bytes.h"
#include "tests/fuzz/mutate/container.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <limits>

namespace spng::fuzz {
namespace {

using nlohmann::json;

/// Values to insert, as they are written. Some are no JSON, so they come into the document after it is written.
constexpr std::array<std::string_view, 30> values{"null",
                                                  "true",
                                                  "0",
                                                  "-0.0",
                                                  "1",
                                                  "-1",
                                                  "0.5",
                                                  "1e308",
                                                  "1e-308",
                                                  "1e999",
                                                  "2147483647",
                                                  "-2147483649",
                                                  "9223372036854775807",
                                                  "18446744073709551615",
                                                  "18446744073709551616",
                                                  "NaN",
                                                  "Infinity",
                                                  "\"\"",
                                                  "\"x\"",
                                                  "\"auto\"",
                                                  "\"\\u0000\"",
                                                  "\"\\ud800\"",
                                                  "\"\x1b[31m\"",
                                                  "\"\\u001b[31m\"",
                                                  "\"\xff\"",
                                                  "[]",
                                                  "{}",
                                                  "[[]]",
                                                  "[1]",
                                                  "{\"a\":1}"};

constexpr const char* mark = "@value@";

void collect(json& node, std::vector<json*>& nodes) {
    nodes.push_back(&node);
    if (node.is_structured()) {
        for (auto& item : node) {
            collect(item, nodes);
        }
    }
}

/// Change one node of the document. A value to be written as text is marked.
void change(json& document, Random& random) {
    std::vector<json*> nodes;
    collect(document, nodes);
    json& node = *nodes[random.below(nodes.size())];
    json& other = *nodes[random.below(nodes.size())];
    switch (random.below(8)) {
    case 0:
        if (node.is_array() && !node.empty()) {
            node.erase(random.below(node.size()));
        } else if (node.is_object() && !node.empty()) {
            node.erase(std::next(node.begin(), static_cast<std::ptrdiff_t>(random.below(node.size()))));
        }
        return;
    case 1:
        if (node.is_array() && !node.empty()) {
            node.push_back(json(node[random.below(node.size())]));
        }
        return;
    case 2:
        if (other.size() < 64) {
            node = json(other);
        }
        return;
    case 3:
        if (node.is_object()) {
            node["key"] = json(other.is_structured() ? json(1) : other);
        }
        return;
    case 4:
        if (node.is_array() && node.size() > 1) {
            std::swap(node[random.below(node.size())], node[random.below(node.size())]);
        }
        return;
    case 5:
        if (node.is_number()) {
            node = node.get<double>() * (random.one_in(2) ? -1.0 : 1e6);
        }
        return;
    default:
        node = mark;
    }
}

void replace_marks(std::string& text, Random& random) {
    const std::string quoted = std::string("\"") + mark + "\"";
    for (std::size_t at = text.find(quoted); at != std::string::npos; at = text.find(quoted, at)) {
        text.replace(at, quoted.size(), random.pick(values));
    }
}

/// Put brackets around a document, more than a reader can follow without a limit.
std::string nested(const std::string& text, Random& random) {
    const std::size_t depth = std::size_t{1} << random.below(15);
    return std::string(depth, '[') + text + std::string(random.one_in(2) ? depth : 0, ']');
}

} // namespace

std::string mutate_document(const std::vector<std::string>& seeds, Random& random) {
    const std::string& seed = random.pick(seeds);
    std::string text = decompress(seed);
    // A seed may nest more deeply than the stack allows to follow.
    json document = find_deep_nesting(text) == std::string::npos ? json::parse(text, nullptr, false)
                                                                 : json(json::value_t::discarded);
    if (!document.is_discarded()) {
        for (std::size_t i = 1 + random.below(3); i > 0; --i) {
            change(document, random);
        }
        text = document.dump(-1, ' ', false, json::error_handler_t::replace);
        replace_marks(text, random);
    } else {
        text = mutate_bytes(std::move(text), seeds, values, random);
    }
    text = random.one_in(200) ? nested(text, random) : text;
    return compress(text, any_compression(random));
}

} // namespace spng::fuzz
