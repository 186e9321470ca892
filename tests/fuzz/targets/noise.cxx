// SPDX-License-Identifier: Apache-2.0
// Spectra of noise.

#include "spng/detector/noise/noise_spectra.h"
#include "tests/fuzz/mutate/documents.h"
#include "tests/fuzz/targets/targets.h"

namespace spng::fuzz {
namespace {

constexpr std::string_view words[] = {
    "\"freqs\":", "\"amps\":", "\"nsamples\":", "1e999", "-1", "null", "[", "]", "{",
    "}",          ",",         "\x1f\x8b\x08"};

void run(const Input& input, Results&) {
    load_noise_spectra(input.file);
}

} // namespace

Target noise_target() {
    return {"noise", "input.json", &run, &mutate_document, &document_bytes_allowed, words};
}

} // namespace spng::fuzz
