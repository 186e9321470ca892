// SPDX-License-Identifier: Apache-2.0
#pragma once
// The result of an evaluation in the user's cache. It depends on the text with all that it imports, the bindings, the answers to
// its questions, and on the version of Jsonnet.

#include "spng/job/jsonnet/jsonnet.h"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spng {

class KeptEvaluation {
public:
    /// @param text  of the configuration, see with_joined_imports()
    KeptEvaluation(const std::filesystem::path& file, const std::string& text,
                   const std::vector<JsonnetBinding>& bindings,
                   const std::vector<JsonnetQuestion>& questions);

    /// Return the result as JSON text, if the program answers the questions of its evaluation as it did then. They are asked.
    std::optional<std::string> find() const;

    /// The questions for an evaluation: their answers are noted for keep().
    std::vector<JsonnetQuestion> noted_questions();

    /// Keep the result, unless the evaluation read another file.
    void keep(const std::string& result) const;

private:
    struct Asked {
        std::string question, text;
        bool answer;
    };

    const std::vector<JsonnetQuestion>& m_questions;
    std::string m_key; ///< empty: not to be kept, because code of a binding may read files
    std::vector<Asked> m_asked;
    bool m_has_read_file = false;
};

} // namespace spng
