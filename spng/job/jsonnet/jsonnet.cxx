// SPDX-License-Identifier: Apache-2.0
#include "spng/job/jsonnet/jsonnet.h"

#include "spng/core/error.h"
#include "spng/core/nearest.h"
#include "spng/io/data_path.h"
#include "spng/io/json_file.h"
#include "spng/job/jsonnet/deep_stack.h"
#include "spng/job/jsonnet/joined_imports.h"
#include "spng/job/jsonnet/jsonnet_bytes.h"
#include "spng/job/jsonnet/jsonnet_text.h"
#include "spng/job/jsonnet/kept_evaluation.h"

extern "C" { // libjsonnet.h lacks the linkage specification
#include <libjsonnet.h>
}

#include <algorithm>
#include <array>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>

namespace spng {
namespace {

using Bindings = std::vector<JsonnetBinding>;

constexpr std::size_t max_text = 4096; // of an argument: the longest path

/// A virtual machine for one evaluation. A second evaluation would see the bindings of the first.
class Machine {
public:
    explicit Machine(const std::vector<std::filesystem::path>& imports) {
        jsonnet_max_stack(m_machine.get(), 2000); // large graphs are long chains of concatenations
        // The folder added last is searched first.
        for (auto folder = imports.rbegin(); folder != imports.rend(); ++folder) {
            jsonnet_jpath_add(m_machine.get(), folder->c_str());
        }
    }

    void bind(const JsonnetBinding& binding) {
        using Kind = JsonnetBinding::Kind;
        const auto set = binding.kind == Kind::argument_text   ? jsonnet_tla_var
                         : binding.kind == Kind::argument_code ? jsonnet_tla_code
                         : binding.kind == Kind::external_text ? jsonnet_ext_var
                                                               : jsonnet_ext_code;
        set(m_machine.get(), with_characters_for_bytes(binding.name).c_str(),
            with_characters_for_bytes(binding.value).c_str());
    }

    void add(const JsonnetQuestion& question) {
        const std::array<const char*, 2> parameters{"text", nullptr};
        Asked& asked = m_asked.emplace_back(Asked{m_machine.get(), &question});
        jsonnet_native_callback(m_machine.get(), question.name.c_str(), &answer, &asked, parameters.data());
    }

    /// Return the result as JSON text; on failure return nothing and put the machine's message into `problem`.
    /// @param file  of the code, for its imports and for messages
    std::optional<std::string> evaluate(const std::filesystem::path& file, const std::string& code,
                                        std::string& problem) {
        int failed = 0;
        char* output = jsonnet_evaluate_snippet(m_machine.get(), file.c_str(), code.c_str(), &failed);
        std::string text = output;
        jsonnet_realloc(m_machine.get(), output, 0);
        if (failed != 0) {
            problem = with_bytes(std::move(text));
            return std::nullopt;
        }
        return text;
    }

private:
    struct Asked {
        JsonnetVm* machine;
        const JsonnetQuestion* question;
    };

    static JsonnetJsonValue* answer(void* context, const JsonnetJsonValue* const* arguments, int* success) {
        const auto& [machine, question] = *static_cast<const Asked*>(context);
        *success = 0;
        try {
            const char* text = jsonnet_json_extract_string(machine, arguments[0]);
            if (text == nullptr) {
                return jsonnet_json_make_string(machine, (question->name + " takes a text").c_str());
            }
            JsonnetJsonValue* const result =
                jsonnet_json_make_bool(machine, static_cast<int>(question->answer(with_bytes(text))));
            *success = 1;
            return result;
        } catch (const std::exception& error) {
            return jsonnet_json_make_string(machine, error.what());
        }
    }

    struct Destroy {
        void operator()(JsonnetVm* machine) const { jsonnet_destroy(machine); }
    };
    std::unique_ptr<JsonnetVm, Destroy> m_machine{jsonnet_make()};
    std::deque<Asked> m_asked; // its elements do not move
};

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::string part;
    for (const char c : text + separator) {
        if (c == separator) {
            parts.push_back(part);
            part.clear();
        } else {
            part += c;
        }
    }
    return parts;
}

/// Return the word after `prefix`, up to the next blank; nothing if the text does not begin with the prefix.
std::optional<std::string> word_after(const std::string& text, const std::string& prefix) {
    if (text.rfind(prefix, 0) != 0) {
        return std::nullopt;
    }
    return text.substr(prefix.size(), text.find(' ', prefix.size()) - prefix.size());
}

std::string option_of(const Bindings& bindings, const std::string& name) {
    const auto found = std::find_if(bindings.begin(), bindings.end(), [&](const JsonnetBinding& binding) {
        return binding.is_argument() && binding.name == name;
    });
    if (found == bindings.end()) {
        return name;
    }
    return (found->kind == JsonnetBinding::Kind::argument_text ? "-A " : "--tla-code ") + name + "=" +
           found->value;
}

[[noreturn]] void reject(ErrorText text) {
    throw Error(ErrorKind::Configuration, std::move(text));
}

/// Return a hint to the arguments that a user may mean: the nearest name, that of another common word, or those with a word
/// that is near.
std::string argument_hint(const std::string& name, const std::vector<std::string>& known) {
    static const std::map<std::string, std::string> common_words{
        {"detector", "detname"}, {"detectors", "detname"},
        {"anode", "tpcid"},      {"anodes", "tpcid"},
        {"apa", "tpcid"},        {"crp", "tpcid"},
        {"dnn", "model"},        {"network", "model"},
        {"sparse", "frames"},    {"queue_size", "events_in_flight"},
        {"in", "input"},         {"file", "input"},
        {"files", "input"},      {"infile", "input"},
        {"out", "output"},       {"outfile", "output"}};
    std::vector<std::string> words;
    for (const auto& [word, meant] : common_words) {
        if (std::ranges::count(known, meant) > 0) {
            words.push_back(word);
        }
    }
    const bool is_word = std::ranges::count(words, name) > 0;
    const bool may_be_misspelt = name.size() > 4 && nearest_name(name, known).empty();
    const std::string word = is_word ? name : may_be_misspelt ? nearest_name(name, words) : "";
    if (!word.empty()) {
        return "did you mean '" + common_words.at(word) + "'?";
    }
    std::vector<std::string> near;
    for (const auto& each : known) {
        if (name.size() > 4 && !nearest_name(name, split(each, '_')).empty()) {
            near.push_back("'" + each + "'");
        }
    }
    return suggestion(name, known, near.empty() ? "" : "did you mean " + joined(near, " or ") + "?");
}

[[noreturn]] void unknown_argument(const std::filesystem::path& file, const Bindings& bindings,
                                   const std::string& name) {
    const auto known = job_arguments(file);
    reject({.what = "the job has no argument '" + name + "'",
            .where = file.string(),
            .seen = option_of(bindings, name),
            .expected = known.empty() ? "an argument of the job's function" : "one of: " + joined(known),
            .hint = argument_hint(name, known)});
}

[[noreturn]] void missing_argument(const std::filesystem::path& file, const std::string& name) {
    reject({.what = "the job needs the argument '" + name + "'",
            .where = file.string(),
            .seen = "not given",
            .expected = "a value: it has no default",
            .hint = "-A " + name + "=VALUE"});
}

/// Report a static error, written as "file:line:column: text" or "file:line:column-column: text".
[[noreturn]] void reject_static_error(const std::string& text) {
    for (auto end = text.find(": "); end != std::string::npos; end = text.find(": ", end + 1)) {
        const auto begin = text.find_last_not_of("0123456789():-", end - 1); // of the position
        const auto colon = text.find(':', begin == std::string::npos ? 0 : begin);
        if (colon + 1 < end) {
            reject({.what = "the configuration is not valid Jsonnet: " + text.substr(end + 2),
                    .where = text.substr(0, end)});
        }
    }
    reject({.what = "the configuration is not valid Jsonnet: " + text});
}

/// Join the innermost position and those in the job's own files: positions in the libraries do not help a user.
std::string where_it_happened(const std::vector<std::string>& trace) {
    constexpr std::size_t max_positions = 4;
    const std::string library = own_folder("cfg") / "lib";
    std::vector<std::string> positions;
    for (const std::string& line : trace) {
        const bool is_position = line.find(':') != std::string::npos && line.rfind("std.jsonnet", 0) != 0;
        const bool is_library = !positions.empty() && line.rfind(library, 0) == 0;
        const bool is_new = std::find(positions.begin(), positions.end(), line) == positions.end();
        if (is_position && !is_library && is_new && positions.size() < max_positions) {
            positions.push_back(line);
        }
    }
    return joined(positions, "\ncalled from ");
}

/// Report a failed evaluation. The machine writes "RUNTIME ERROR: text\n\tposition\tcontext\n..." or "STATIC ERROR: position: text".
[[noreturn]] void reject_evaluation(const std::filesystem::path& file, const Bindings& bindings,
                                    const std::string& problem) {
    const auto lines = split(problem, '\n');
    const std::string static_prefix = "STATIC ERROR: ", runtime_prefix = "RUNTIME ERROR: ";
    if (lines[0].rfind(static_prefix, 0) == 0) {
        reject_static_error(lines[0].substr(static_prefix.size()));
    }
    const bool runtime = lines[0].rfind(runtime_prefix, 0) == 0;
    const std::string text = lines[0].substr(runtime ? runtime_prefix.size() : 0);
    // A message may have several lines. The trace begins at the first line with a tab.
    std::string message = text;
    std::vector<std::string> trace;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        if (!lines[i].empty() && lines[i][0] == '\t') {
            trace.push_back(trimmed(split(trimmed(lines[i]), '\t')[0]));
        } else if (trace.empty() && !lines[i].empty()) {
            message += "\n" + lines[i];
        }
    }
    if (!trace.empty() && trace[0] == "Top-level function") {
        if (const auto name = word_after(text, "function has no parameter ")) {
            unknown_argument(file, bindings, *name);
        }
        if (const auto name = word_after(text, "function parameter ")) {
            missing_argument(file, *name);
        }
    }
    const std::string where = where_it_happened(trace);
    reject({.what = "the configuration does not evaluate: " + message,
            .where = where.empty() ? file.string() : where});
}

/// Reject arguments for a file that is not a function: Jsonnet ignores them silently.
void reject_arguments_of_no_function(const std::filesystem::path& file, const std::string& code,
                                     const Bindings& bindings,
                                     const std::vector<std::filesystem::path>& imports) {
    const auto argument = std::find_if(bindings.begin(), bindings.end(),
                                       [](const JsonnetBinding& binding) { return binding.is_argument(); });
    if (argument == bindings.end() || is_surely_function(code)) { // a second machine costs 50 ms
        return;
    }
    Machine machine(imports);
    for (const auto& binding : bindings) {
        if (!binding.is_argument()) {
            machine.bind(binding);
        }
    }
    std::string problem;
    const auto type = machine.evaluate(file, "std.type((" + code + "\n))", problem);
    if (type && nlohmann::json::parse(*type) != "function") {
        reject({.what = "the configuration takes no arguments",
                .where = file.string(),
                .seen = option_of(bindings, argument->name),
                .expected = "no -A or --tla-code: the file is not a function"});
    }
}

void reject_deep_nesting(const std::string& code, const std::string& where) {
    const auto offset = find_deep_nesting(jsonnet_structure(code));
    if (offset != std::string::npos) {
        reject({.what = "the configuration nests too deeply",
                .where = where + ", " + position_text(code, offset + 1),
                .seen = "more than " + std::to_string(max_nesting) + " levels of brackets",
                .expected = "at most " + std::to_string(max_nesting)});
    }
}

void reject_large_input(const std::filesystem::path& file, const std::string& code,
                        const Bindings& bindings) {
    reject_deep_nesting(code, file.string());
    for (const auto& binding : bindings) {
        using Kind = JsonnetBinding::Kind;
        if (binding.kind == Kind::argument_code || binding.kind == Kind::external_code) {
            reject_deep_nesting(binding.value,
                                (binding.is_argument() ? "--tla-code " : "--ext-code ") + binding.name);
        } else if (binding.value.size() > max_text) {
            // Jsonnet searches strings in quadratic time: 60,000 characters take more than a minute.
            reject({.what = "the text of an argument is too long",
                    .where = (binding.is_argument() ? "-A " : "-V ") + binding.name,
                    .seen = std::to_string(binding.value.size()) + " characters",
                    .expected = "at most " + std::to_string(max_text),
                    .hint = "put it into a file, and import that with --tla-code or --ext-code"});
        }
    }
}

std::string evaluated(const std::filesystem::path& file, const std::string& code, const Bindings& bindings,
                      const std::vector<std::filesystem::path>& imports,
                      const std::vector<JsonnetQuestion>& questions) {
    std::string problem;
    const auto attempt = [&](const std::string& text, const std::vector<JsonnetQuestion>& asked) {
        Machine machine(imports);
        for (const auto& question : asked) {
            machine.add(question);
        }
        for (const auto& binding : bindings) {
            machine.bind(binding);
        }
        return machine.evaluate(file, text, problem);
    };
    if (const auto joined = with_joined_imports(file, code, imports)) {
        KeptEvaluation kept(file, *joined, bindings, questions);
        if (auto text = kept.find()) {
            return *text;
        }
        reject_arguments_of_no_function(file, code, bindings, imports);
        if (auto text = attempt(*joined, kept.noted_questions())) {
            kept.keep(*text);
            return *text;
        }
    }
    reject_arguments_of_no_function(file, code, bindings, imports);
    const auto text = attempt(code, questions);
    if (!text) {
        reject_evaluation(file, bindings, problem);
    }
    return *text;
}

} // namespace

nlohmann::json evaluate_jsonnet(const std::filesystem::path& file, const Bindings& bindings,
                                const std::vector<std::filesystem::path>& imports,
                                const std::vector<JsonnetQuestion>& questions) {
    const std::string code = jsonnet_text(file);
    reject_large_input(file, code, bindings);
    std::string text;
    const auto fault = [&](const char* what, const char* seen, const char* expected, const char* hint) {
        return Error(ErrorKind::Configuration, {.what = what,
                                                .where = file.string() + ", or a file that it imports",
                                                .seen = seen,
                                                .expected = expected,
                                                .hint = hint});
    };
    run_on_deep_stack(
        [&] { text = evaluated(file, code, bindings, imports, questions); },
        {.overflow = fault("the configuration nests too deeply", "more than 40000 levels of expressions",
                           "fewer", "write a long chain as a list, or as a loop over one"),
         .abort = fault("Jsonnet's library gave up",
                        "a call of abort() during the evaluation, after the message above if it wrote one",
                        "an evaluation that returns",
                        "std.parseYaml takes neither anchors nor references; else memory is exhausted")},
        reinterpret_cast<const void*>(&jsonnet_make));
    if (find_deep_nesting(text) != std::string::npos) {
        reject({.what = "the configuration's value nests too deeply",
                .where = file.string(),
                .seen = "more than " + std::to_string(max_nesting) + " levels of lists and objects",
                .expected = "at most " + std::to_string(max_nesting)});
    }
    nlohmann::json value = nlohmann::json::parse(text);
    if (with_bytes(text) != text) {
        restore_bytes(value);
    }
    return value;
}

} // namespace spng
