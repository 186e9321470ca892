// SPDX-License-Identifier: Apache-2.0
// Bodies of requests to a server: JSON, an empty line, and the bytes of binary tensors.

#include "spng/kserve/json_codec.h"
#include "spng/pipeline/input_event.h"
#include "spng/serve/frame_tensors.h"
#include "spng/serve/http_reply.h"
#include "tests/fuzz/mutate/bytes.h"
#include "tests/fuzz/targets/targets.h"

namespace spng::fuzz {
namespace {

constexpr std::string_view words[] = {"{\"inputs\":[",
                                      "\"name\":\"adc\"",
                                      "\"name\":\"channels\"",
                                      "\"datatype\":\"INT16\"",
                                      "\"INT32\"",
                                      "\"FP32\"",
                                      "\"FP64\"",
                                      "\"BYTES\"",
                                      "\"shape\":[2,2]",
                                      "\"data\":[1,2,3,4]",
                                      "\"parameters\":{",
                                      "\"binary_data_size\":8",
                                      "\"masks\":{\"bad\":[[0,0,1]]}",
                                      "\"ident\":",
                                      "\"tick_ns\":",
                                      "\"outputs\":[{\"name\":\"signal_runs\"}]",
                                      "9223372036854775807",
                                      "-1",
                                      "1e999",
                                      "}",
                                      "]",
                                      ",",
                                      "\n\n"};

void run(const Input& input, Results& results) {
    const std::string_view bytes = input.bytes;
    const std::size_t end = bytes.find("\n\n");
    const kserve::BodyView body{bytes.substr(0, end),
                                end == std::string_view::npos ? std::string_view{} : bytes.substr(end + 2)};
    results.add(parse_target(bytes).kind == spng::Target::Kind::unknown ? "no path" : "path");
    try {
        const kserve::InferRequest request = kserve::parse_infer_request(body, "chain");
        const kserve::Body back = kserve::encode_request(request);
        if (back.json.empty()) {
            throw Defect("an empty request");
        }
        const WantedOutputs wanted = wanted_outputs(request, {"signal"});
        const QueuedEvent event = event_of(input_frame(request), {"*", {0, 1}, 500});
        results.add(wanted.sparse ? "sparse" : "dense");
        results.add(std::to_string(event.tensors.size()) + " tensors");
    } catch (const Error& error) {
        results.add(error);
    }
}

std::string mutate(const std::vector<std::string>& seeds, Random& random) {
    return mutate_bytes(random.pick(seeds), seeds, words, random);
}

} // namespace

Target inference_target() {
    return {"inference", "request.bin", &run, &mutate, &document_bytes_allowed, words};
}

} // namespace spng::fuzz
