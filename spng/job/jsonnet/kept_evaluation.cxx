// SPDX-License-Identifier: Apache-2.0
#include "spng/job/jsonnet/kept_evaluation.h"

#include "spng/core/cache/user_cache.h"
#include "spng/core/files/sha256.h"
#include "spng/job/jsonnet/joined_imports.h"

extern "C" { // libjsonnet.h lacks the linkage specification
#include <libjsonnet.h>
}

#include <algorithm>
#include <exception>

namespace spng {
namespace {

constexpr const char* kind = "job";

/// Append a text so that no other sequence of texts gives the same.
void append(std::string& all, const std::string& text) {
    all += std::to_string(text.size()) + ':' + text;
}

} // namespace

KeptEvaluation::KeptEvaluation(const std::filesystem::path& file, const std::string& text,
                               const std::vector<JsonnetBinding>& bindings,
                               const std::vector<JsonnetQuestion>& questions)
    : m_questions(questions) {
    const auto reaches_out = [](const JsonnetBinding& binding) { // code that reads files or prints
        using Kind = JsonnetBinding::Kind;
        const bool is_code = binding.kind == Kind::argument_code || binding.kind == Kind::external_code;
        return is_code && (binding.value.find("import") != std::string::npos ||
                           binding.value.find("trace") != std::string::npos);
    };
    if (std::any_of(bindings.begin(), bindings.end(), reaches_out)) {
        return;
    }
    std::string all;
    append(all, jsonnet_version());
    append(all, file.string()); // std.thisFile
    append(all, text);
    for (const auto& binding : bindings) {
        append(all, std::to_string(static_cast<int>(binding.kind)));
        append(all, binding.name);
        append(all, binding.value);
    }
    for (const auto& question : questions) {
        append(all, question.name); // without a question std.native(name) is null
    }
    m_key = sha256(all);
}

std::optional<std::string> KeptEvaluation::find() const {
    const auto text = m_key.empty() ? std::nullopt : find_in_cache(kind, m_key);
    if (!text) {
        return std::nullopt;
    }
    try {
        const auto entry = nlohmann::json::parse(*text);
        for (const auto& asked : entry.at("asked")) {
            const auto question =
                std::find_if(m_questions.begin(), m_questions.end(),
                             [&](const JsonnetQuestion& each) { return each.name == asked.at("question"); });
            if (question == m_questions.end() ||
                question->answer(asked.at("text").get<std::string>()) != asked.at("answer").get<bool>()) {
                return std::nullopt;
            }
        }
        return entry.at("result").get<std::string>();
    } catch (const std::exception&) {
        return std::nullopt; // a question that has no answer now: the evaluation reports it
    }
}

std::vector<JsonnetQuestion> KeptEvaluation::noted_questions() {
    m_asked.clear();
    m_has_read_file = false;
    std::vector<JsonnetQuestion> noted;
    for (const auto& question : m_questions) {
        noted.push_back({question.name, [this, &question](const std::string& text) {
                             const bool answer = question.answer(text);
                             m_asked.push_back({question.name, text, answer});
                             return answer;
                         }});
    }
    noted.push_back({reads_file_question, [this](const std::string&) { return m_has_read_file = true; }});
    return noted;
}

void KeptEvaluation::keep(const std::string& result) const {
    if (m_key.empty() || m_has_read_file) {
        return;
    }
    nlohmann::json asked = nlohmann::json::array();
    for (const auto& [question, text, answer] : m_asked) {
        asked.push_back({{"question", question}, {"text", text}, {"answer", answer}});
    }
    try {
        keep_in_cache(kind, m_key, nlohmann::json{{"asked", std::move(asked)}, {"result", result}}.dump());
    } catch (const nlohmann::json::exception&) { // the text of a question is not UTF-8
    }
}

} // namespace spng
