// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace spng {

/// Provenance that travels with an event to the output, a string by key: "model": "dnnroi.ts".
using Notes = std::map<std::string, std::string>;

/// Add the notes `from` to `into`. Join different strings of one key as lines, each string once.
void merge_notes(Notes& into, const Notes& from);

} // namespace spng
