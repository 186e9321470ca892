// SPDX-License-Identifier: Apache-2.0
#include "spng/core/notes.h"

namespace spng {
namespace {

bool has_line(const std::string& text, const std::string& line) {
    return ("\n" + text + "\n").find("\n" + line + "\n") != std::string::npos;
}

} // namespace

void merge_notes(Notes& into, const Notes& from) {
    for (const auto& [key, text] : from) {
        const auto [note, is_new] = into.try_emplace(key, text);
        if (!is_new && note->second != text && !has_line(note->second, text)) {
            note->second += "\n" + text;
        }
    }
}

} // namespace spng
