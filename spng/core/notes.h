#pragma once

#include <map>
#include <string>

namespace spng {

/// Provenance that travels with an event to the output ("model": "dnnroi.ts"): keys and texts.
using Notes = std::map<std::string, std::string>;

/// Add notes to others. Two texts of one key stand on lines of their own, each text once.
void merge_notes(Notes& into, const Notes& from);

} // namespace spng
