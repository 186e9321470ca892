// SPDX-License-Identifier: Apache-2.0
// Wires of a detector.

#include "spng/detector/wires.h"
#include "tests/fuzz/mutate/documents.h"
#include "tests/fuzz/targets/targets.h"

namespace spng::fuzz {
namespace {

constexpr std::string_view words[] = {"\"Wire\":", "\"tail\":", "\"planes\":", "1e999", "-1", "null",
                                      "[",         "]",         "{",           "}",     ",",  "\x1f\x8b\x08"};

void run(const Input& input, Results&) {
    for (const WireAnode& anode : load_wires(input.file).anodes) {
        for (const WireFace& face : anode.faces) {
            area_of(face);
        }
    }
}

} // namespace

Target wires_target() {
    return {"wires", "input.json", &run, &mutate_document, &document_bytes_allowed, words};
}

} // namespace spng::fuzz
