// SPDX-License-Identifier: Apache-2.0
#include "spng/app/command_line.h"

#include "spng/app/profiling_options.h"
#include "spng/core/error.h"
#include "spng/core/nearest.h"
#include "spng/nodes/dnn/accepted_models.h"

#include <boost/program_options.hpp>

#include <algorithm>
#include <sstream>

namespace spng::app {
namespace {

namespace po = boost::program_options;

using Strings = std::vector<std::string>;

[[noreturn]] void usage_error(const std::string& what, const std::string& seen, const std::string& expected,
                              const std::string& hint = "see wire-cell --help") {
    throw Error(ErrorKind::Usage,
                {.what = what, .where = "command line", .seen = seen, .expected = expected, .hint = hint});
}

po::options_description job_options() {
    po::options_description options("Job");
    const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
    const auto strings = [](const char* name) { return po::value<Strings>()->value_name(name)->composing(); };
    options.add_options() //
        ("config,c", strings("FILE"),
         "configuration, .jsonnet or .json (also compressed); -c is optional")                              //
        ("tla-str,A", strings("NAME=TEXT"), "argument of the job; its value is the text after the first =") //
        ("tla-code", strings("NAME=CODE"), "argument of the job, as Jsonnet code")                          //
        ("ext-str,V", strings("NAME=TEXT"), "external variable (std.extVar), as text")                      //
        ("ext-code,C", strings("NAME=CODE"), "external variable, as Jsonnet code")                          //
        ("set", strings("TYPE[:INSTANCE].KEY=VALUE"),
         "set a key of a component, or of all components of a type, in the evaluated configuration; VALUE is "
         "JSON, or else a string (--describe TYPE lists the keys)") //
        ("path,P", strings("FOLDER"),
         "search this folder for configuration and data, before WIRECELL_PATH") //
        ("plugin,p", strings("NAME"),
         "load a plugin, NAME[:LIBRARY] or a library file; those of SPNG are built in") //
        ("app,a", text("TYPE"), "engine to run: Pgrapher or TbbFlow")                   //
        ("threads,t", text("N"), "threads of the graph (TbbFlow)")                      //
        ("files", text("LIST"),
         "run the job once for each file of the list (- for stdin), without loading it again; in file names "
         "of the "
         "job, {input} is the file and {name} its name without folder and ending") //
        ("overwrite",
         "let outputs replace files of another kind, such as notes or other people's archives")       //
        ("on-error", text("stop|skip"), "if an event fails, stop (default), or skip it and continue") //
        ("strict", "fail if the input does not fit the detector, instead of warning")                 //
        ("only-shipped-models", "load no network but those that come with the program")               //
        ("only-models", text("FILE"),
         "load no network but those whose checksum is in this output of sha256sum");
    return options;
}

po::options_description report_options() {
    po::options_description options("Reports");
    const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
    const auto strings = [](const char* name) { return po::value<Strings>()->value_name(name)->composing(); };
    options.add_options() //
        ("logsink,l", strings("SINK[:LEVEL]"),
         "log to stdout, stderr or a file; default: warnings to stderr") //
        ("loglevel,L", strings("[LOGGER:]LEVEL"),
         "trace, debug, info (default), warn, error, critical or off")                       //
        ("timing", text("FILE"), "write the per-node timing as JSON")                        //
        ("progress", "show events, rate and time left on stderr, also if it is no terminal") //
        ("no-progress", "do not show them on a terminal")                                    //
        ("table", text("fit|wide"),
         "timing table: the columns that fit into the terminal, or into 100 characters of a file "
         "(default), or all") //
        ("sync-timing",
         "wait for the device around each node, so that each gets its own time; slows the run down");
    return options;
}

po::options_description other_options() {
    po::options_description options("Instead of a run");
    const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
    options.add_options() //
        ("check",
         "validate the configuration, and look at inputs, outputs, networks and devices without a run") //
        ("check-configuration", "validate the configuration and the graph alone")                       //
        ("dot", text("FILE"), "draw the graph for Graphviz (- for stdout)")                             //
        ("list", "list the component types")                                                            //
        ("describe", text("TYPE"),
         "describe ports and configuration of a type; all: every type, in Markdown; FILE.jsonnet: the "
         "arguments of a job")                                                                       //
        ("schema", text("TYPE"), "print the JSON schema of a type's configuration; all: every type") //
        ("recover-record", text("FILE.part"), "complete the recording of a run that was killed")     //
        ("version,v", "show the version of the program and its parts")                               //
        ("help,h", "show this help");
    return options;
}

po::options_description all_options() {
    po::options_description options;
    options.add(job_options())
        .add(serve_options())
        .add(report_options())
        .add(profiling_options())
        .add(other_options());
    return options;
}

Strings known_flags() {
    const auto options = all_options();
    Strings flags;
    for (const auto& option : options.options()) {
        flags.push_back("--" + option->long_name());
    }
    return flags;
}

/// Parse the command line; turn errors of the parser into usage errors.
po::variables_map parse(int argc, const char* const* argv) {
    const auto options = all_options();
    po::positional_options_description positional;
    positional.add("config", -1);
    namespace style = po::command_line_style;
    try {
        po::variables_map values;
        // Without guessing: an abbreviation that works today would change its meaning with the next option.
        po::store(po::command_line_parser(argc, argv)
                      .options(options)
                      .positional(positional)
                      .style(style::unix_style & ~style::allow_guessing)
                      .run(),
                  values);
        return values;
    } catch (const po::unknown_option& problem) {
        const std::string near = nearest_name(problem.get_option_name(), known_flags());
        usage_error("unknown option " + problem.get_option_name(), problem.get_option_name(),
                    "an option of wire-cell --help",
                    near.empty() ? "see wire-cell --help" : "did you mean " + near + "?");
    } catch (const po::multiple_occurrences& problem) {
        usage_error("option given twice", problem.get_option_name(), "at most once");
    } catch (const po::error_with_option_name& problem) {
        const std::string name = problem.get_option_name();
        usage_error(problem.what(), name.empty() ? "an option without a name" : name,
                    "an option with its value, as in wire-cell --help");
    } catch (const po::error& problem) {
        usage_error(problem.what(), std::to_string(argc - 1) + " arguments",
                    "options as in wire-cell --help");
    }
}

Strings strings(const po::variables_map& values, const char* name) {
    return values.count(name) == 0 ? Strings{} : values[name].as<Strings>();
}

std::string text(const po::variables_map& values, const char* name) {
    return values.count(name) == 0 ? std::string{} : values[name].as<std::string>();
}

void add_bindings(std::vector<JsonnetBinding>& bindings, const po::variables_map& values, const char* option,
                  JsonnetBinding::Kind kind) {
    for (const auto& assignment : strings(values, option)) {
        const auto equals = assignment.find('=');
        if (equals == std::string::npos || equals == 0) {
            usage_error(std::string("--") + option + " needs a name and a value", "'" + assignment + "'",
                        "NAME=VALUE", "for an empty value write NAME=");
        }
        bindings.push_back({kind, assignment.substr(0, equals), assignment.substr(equals + 1)});
    }
}

int positive_integer(const std::string& seen, const std::string& option) {
    const bool digits = !seen.empty() && std::all_of(seen.begin(), seen.end(),
                                                     [](unsigned char c) { return c >= '0' && c <= '9'; });
    const int value = digits && seen.size() <= 4 ? std::stoi(seen) : 0;
    if (value < 1 || value > 1024) {
        usage_error(option + " needs a number", "'" + seen + "'", "1 to 1024");
    }
    return value;
}

/// Return whether an option has the second of its two values; the first is the default.
bool has_second_value(const po::variables_map& values, const char* option, const std::string& first,
                      const std::string& second) {
    const std::string choice = text(values, option);
    const std::string expected = first + " or " + second;
    if (values.count(option) > 0 && choice != first && choice != second) {
        usage_error(std::string("--") + option + " needs " + expected, "'" + choice + "'", expected,
                    suggestion(choice, {first, second}));
    }
    return choice == second;
}

/// Return the requested action; at most one is allowed.
Action choose_action(const po::variables_map& values) {
    const std::vector<std::pair<const char*, Action>> actions{{"help", Action::help},
                                                              {"serve", Action::serve},
                                                              {"version", Action::version},
                                                              {"list", Action::list},
                                                              {"describe", Action::describe},
                                                              {"schema", Action::schema},
                                                              {"dot", Action::draw},
                                                              {"check", Action::check},
                                                              {"check-configuration", Action::check},
                                                              {"recover-record", Action::recover}};
    Action chosen = Action::run;
    for (const auto& [name, action] : actions) {
        // --dot configures and validates too, so --check has no additional effect beside it.
        if (values.count(name) > 0 && !(chosen == Action::draw && action == Action::check)) {
            const bool looks_at_server =
                chosen == Action::serve && (action == Action::check || action == Action::draw);
            if (chosen != Action::run && chosen != Action::help && !looks_at_server) {
                usage_error("more than one action", std::string("--") + name, "one of them");
            }
            chosen = chosen == Action::help ? chosen : action;
        }
    }
    return chosen;
}

/// Return the list of --files.
std::string file_list(const po::variables_map& values, Action action) {
    if (values.count("files") == 0) {
        return "";
    }
    const std::string list = text(values, "files");
    if (list.empty() || (action != Action::run && action != Action::check)) {
        usage_error("--files needs a list", "'" + list + "'",
                    "the name of a list, or -, for a run or --check");
    }
    return list;
}

/// @throws Error(Usage) for a list of files with an option that is about a single run, or its variable
void require_no_option_of_one_run(const CommandLine& line) {
    const std::pair<bool, const char*> options[] = {
        {!line.memory_snapshot_file.empty(), "--memory-snapshot (SPNG_MEMORY_SNAPSHOT)"},
        {!line.torch_profiler.empty(), "--torch-profiler (SPNG_TORCH_PROFILER)"},
        {line.control.has_value(), "--profile-control (SPNG_PROFILE_CONTROL)"}};
    for (const auto& [is_given, option] : options) {
        if (!line.file_list.empty() && is_given) {
            usage_error("an option about one run beside a list of files",
                        std::string(option) + " and --files", "one of them");
        }
    }
}

/// Return the options of a server; nothing without --serve.
std::optional<ServeRequest> served(const po::variables_map& values) {
    if (values.count("serve") == 0) {
        require_no_serve_options(values);
        return std::nullopt;
    }
    // A server has no last event, and its counts are those of /metrics.
    for (const char* const option : {"record", "profile-control", "torch-profiler", "memory-snapshot",
                                     "on-error", "progress", "sync-timing"}) {
        if (values.count(option) > 0) {
            usage_error("an option has no meaning for a server", "--" + std::string(option),
                        "none of it beside --serve", "a server has GET /metrics and --timing");
        }
    }
    return serve_request(values);
}

/// Return the list of accepted networks; empty if every network is accepted.
std::string only_models(const po::variables_map& values) {
    const bool only_shipped = values.count("only-shipped-models") > 0;
    if (values.count("only-models") == 0) {
        return only_shipped ? shipped_models : "";
    }
    const auto list = values["only-models"].as<std::string>();
    if (list.empty() || only_shipped) {
        usage_error("the list of accepted networks is not clear",
                    "--only-models '" + list + "'" + (only_shipped ? " and --only-shipped-models" : ""),
                    "the name of one list", "see docs/security.md#networks");
    }
    return list;
}

} // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
    const auto values = parse(argc, argv);
    CommandLine line;
    line.action = choose_action(values);
    const Strings configurations = strings(values, "config");
    if (configurations.size() > 1) {
        usage_error("more than one configuration file", "'" + joined(configurations, "', '") + "'", "one",
                    "arguments of the job are given with -A name=value");
    }
    line.configuration = configurations.empty() ? "" : configurations.front();
    add_bindings(line.bindings, values, "tla-str", JsonnetBinding::Kind::argument_text);
    add_bindings(line.bindings, values, "tla-code", JsonnetBinding::Kind::argument_code);
    add_bindings(line.bindings, values, "ext-str", JsonnetBinding::Kind::external_text);
    add_bindings(line.bindings, values, "ext-code", JsonnetBinding::Kind::external_code);
    line.changes = strings(values, "set");
    line.path = strings(values, "path");
    line.plugins = strings(values, "plugin");
    line.log_sinks = strings(values, "logsink");
    line.log_levels = strings(values, "loglevel");
    line.graph_threads =
        values.count("threads") == 0 ? 0 : positive_integer(text(values, "threads"), "--threads");
    line.file_list = file_list(values, line.action);
    line.app = text(values, "app");
    line.dot_file = text(values, "dot");
    line.type = text(values, line.action == Action::schema ? "schema" : "describe");
    line.timing_file = text(values, "timing");
    line.part_file = text(values, "recover-record");
    line.memory_snapshot_file = memory_snapshot_file(values);
    line.nvtx_level = text(values, "nvtx-level");
    line.torch_profiler = torch_profiler_folder(values);
    line.control = control_address(values);
    require_no_option_of_one_run(line);
    line.serve = served(values);
    line.recording = recording_request(values);
    line.recording.is_closed = line.control.has_value();
    line.skip_failed = has_second_value(values, "on-error", "stop", "skip");
    line.wide_table = has_second_value(values, "table", "fit", "wide");
    line.strict = values.count("strict") > 0;
    line.overwrite = line.recording.overwrite = values.count("overwrite") > 0;
    line.only_models = only_models(values);
    line.checks_machine = values.count("check-configuration") == 0;
    if (values.count("progress") + values.count("no-progress") > 0) {
        line.progress = values.count("no-progress") == 0;
    }
    line.synchronised_timing = values.count("sync-timing") > 0;

    const bool needs_configuration = line.action == Action::run || line.action == Action::serve ||
                                     line.action == Action::check || line.action == Action::draw;
    if (needs_configuration && line.configuration.empty()) {
        usage_error("no configuration file", "none", "[-c] FILE.jsonnet",
                    "for a first look: wire-cell cfg/pipeline.jsonnet, or wire-cell --help");
    }
    return line;
}

std::string help_text() {
    std::ostringstream out;
    out << "wire-cell [-c] FILE.jsonnet [options]\n\n"
           "Run the job that a configuration describes. Examples:\n"
           "  wire-cell cfg/pipeline.jsonnet -A input=adc.npz -A output=signal.npz -A device=auto\n"
           "  wire-cell cfg/pipeline.jsonnet --files inputs.txt -A 'output=signals/{name}.npz'\n"
           "  wire-cell cfg/pipeline.jsonnet --serve unix:/tmp/spng.sock\n"
           "  wire-cell cfg/pipeline.jsonnet --dot graph.dot\n"
           "  wire-cell --describe SPNGThresholdROIs\n\n"
        << job_options() << "\n"
        << serve_options() << "\n"
        << report_options() << "\n"
        << profiling_options() << "\n"
        << other_options()
        << "\nExit status: 0 done (of a server: after SIGTERM or SIGINT), 1 failed while running, 2 usage or "
           "configuration error,\n"
           "129, 130, 131, 138, 143, 152 stopped by SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGTERM, SIGXCPU\n"
           "(a second signal ends the program at once, except SIGHUP and SIGXCPU).\n";
    return out.str();
}

} // namespace spng::app
