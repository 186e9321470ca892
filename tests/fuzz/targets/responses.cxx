// SPDX-License-Identifier: Apache-2.0
// Field responses.

#include "spng/detector/field_response.h"
#include "tests/fuzz/mutate/documents.h"
#include "tests/fuzz/targets/targets.h"

namespace spng::fuzz {
namespace {

constexpr std::string_view words[] = {
    "\"PlaneResponse\":", "\"paths\":", "\"elements\":", "1e999", "-1", "null", "[", "]", "{", "}", ",",
    "\x1f\x8b\x08"};

void run(const Input& input, Results&) {
    load_field_response(input.file);
}

} // namespace

Target responses_target() {
    return {"responses", "input.json", &run, &mutate_document, &document_bytes_allowed, words};
}

} // namespace spng::fuzz
