// SPDX-License-Identifier: Apache-2.0
// Merge the notes of several parts of a frame.

#include "spng/core/notes.h"

#include <gtest/gtest.h>

namespace {

TEST(Notes, TextsOfOneKeyAreJoinedAsLines) {
    spng::Notes notes{{"wires", "w.json"}};
    spng::merge_notes(notes, {{"wires", "w.json"}, {"field", "a.json"}});
    spng::merge_notes(notes, {{"field", "b.json"}});
    spng::merge_notes(notes, {{"field", "a.json"}});
    spng::merge_notes(notes, {{"field", "b.json"}});
    EXPECT_EQ(notes, (spng::Notes{{"field", "a.json\nb.json"}, {"wires", "w.json"}}));
}

TEST(Notes, TextsAreComparedByWholeLines) {
    spng::Notes notes{{"model", "my-net.ts"}};
    spng::merge_notes(notes, {{"model", "net.ts"}});
    EXPECT_EQ(notes.at("model"), "my-net.ts\nnet.ts");
}

} // namespace
