// SPDX-License-Identifier: Apache-2.0
// Configurations as JSON, up to the validated graph of the job.

#include "spng/job/configuration.h"
#include "spng/job/job.h"
#include "tests/fuzz/mutate/documents.h"
#include "tests/fuzz/targets/targets.h"

namespace spng::fuzz {
namespace {

constexpr std::string_view words[] = {
    "\"type\":",   "\"name\":", "\"data\":", "\"edges\":", "\"port\":", "\"Pgrapher\"",
    "\"TbbFlow\"", "1e999",     "-1",        "null",       "[",         "]",
    "{",           "}",         ","};

void run(const Input& input, Results&) {
    const Configuration configuration = load_configuration(input.file, {}, {});
    Job(configuration.components, configuration.file);
}

} // namespace

Target configuration_target() {
    return {"configuration", "input.json", &run, &mutate_document, &document_bytes_allowed, words};
}

} // namespace spng::fuzz
