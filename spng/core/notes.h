#pragma once

#include <map>
#include <string>

namespace spng {

/// Provenance that travels with an event to the output, text by key: "model": "dnnroi.ts".
using Notes = std::map<std::string, std::string>;

/// Add the notes `from` to `into`. Different texts of one key are joined as lines, each text once.
void merge_notes(Notes& into, const Notes& from);

} // namespace spng
