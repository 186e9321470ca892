// SPDX-License-Identifier: Apache-2.0
// Configurations in Jsonnet. Its programs may take any time and memory, so the seeds have no loops and no large numbers.

#include "spng/job/configuration.h"
#include "tests/fuzz/mutate/bytes.h"
#include "tests/fuzz/targets/targets.h"

namespace spng::fuzz {
namespace {

constexpr std::string_view words[] = {
    "local ", "function(", "import '", "std.", "error ", "assert ", "self.",
    "$.",     "super.",    "for ",     "in ",  "if ",    "then ",   "else ",
    "|||",    "\"",        "'",        "/*",   "//",     "[",       "]",
    "{",      "}",         "(",        ")",    "::",     "+:",      std::string_view("\0", 1),
    "\xff"};

void run(const Input& input, Results& results) {
    const JsonnetQuestion question{"spng_batches_anodes", [](const std::string&) { return false; }};
    const JsonnetBinding binding{JsonnetBinding::Kind::argument_text, "input", "frames.npz"};
    for (const bool is_bound : {false, true}) {
        try {
            load_configuration(input.file, is_bound ? std::vector{binding} : std::vector<JsonnetBinding>(),
                               {question});
        } catch (const Error& error) {
            results.add(error);
        }
    }
}

std::string mutate(const std::vector<std::string>& seeds, Random& random) {
    return mutate_bytes(random.pick(seeds), seeds, words, random);
}

std::int64_t allowed_bytes(const std::string&) {
    return std::int64_t{512} << 20;
}

} // namespace

Target jsonnet_target() {
    // A program that never ends meets the limit of the stack after some seconds.
    return {"jsonnet", "input.jsonnet", &run, &mutate, &allowed_bytes, words, 20};
}

} // namespace spng::fuzz
