// SPDX-License-Identifier: Apache-2.0
// The meaning of the flags; usage errors are rejected with a hint.

#include "spng/app/command_line.h"

#include "spng/core/error.h"

#include <gtest/gtest.h>

namespace {

using spng::JsonnetBinding;
using spng::app::Action;
using spng::app::CommandLine;
using Kind = JsonnetBinding::Kind;

CommandLine parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "wire-cell");
    return spng::app::parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

spng::Error error_of(const std::vector<const char*>& arguments) {
    try {
        parse(arguments);
    } catch (const spng::Error& error) {
        EXPECT_EQ(error.exit_status(), 2);
        return error;
    }
    ADD_FAILURE() << "accepted: " << arguments.front();
    return {spng::ErrorKind::Internal, {.what = "none", .where = {}, .seen = {}, .expected = {}, .hint = {}}};
}

TEST(CommandLine, ConfigurationWithAndWithoutFlag) {
    EXPECT_EQ(parse({"-c", "job.jsonnet"}).configuration, "job.jsonnet");
    EXPECT_EQ(parse({"-l", "stdout", "job.jsonnet", "-t", "3"}).configuration, "job.jsonnet");
    EXPECT_EQ(parse({"job.jsonnet"}).action, Action::run);
}

TEST(CommandLine, BindingsSplitAtTheFirstEquals) {
    const auto line = parse({"job.jsonnet", "-A", "input=a=b.npz", "-Aempty=", "--tla-code", "n=1==1", "-V",
                             "x=1", "-C", "y=[2]", "--tla-str=z=-1"});
    ASSERT_EQ(line.bindings.size(), 6U);
    const auto is = [&](std::size_t i, Kind kind, const char* name, const char* value) {
        const auto& binding = line.bindings[i];
        return binding.kind == kind && binding.name == name && binding.value == value;
    };
    EXPECT_TRUE(is(0, Kind::argument_text, "input", "a=b.npz"));
    EXPECT_TRUE(is(1, Kind::argument_text, "empty", ""));
    EXPECT_TRUE(is(2, Kind::argument_text, "z", "-1"));
    EXPECT_TRUE(is(3, Kind::argument_code, "n", "1==1"));
    EXPECT_TRUE(is(4, Kind::external_text, "x", "1"));
    EXPECT_TRUE(is(5, Kind::external_code, "y", "[2]"));
}

TEST(CommandLine, ListsKeepTheirOrder) {
    const auto line = parse({"-P", "a", "-P", "b", "-l", "stdout", "-l", "f.log:debug", "-L", "info", "-L",
                             "x:debug", "-p", "WireCellSpng", "job.jsonnet"});
    EXPECT_EQ(line.path, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(line.log_sinks, (std::vector<std::string>{"stdout", "f.log:debug"}));
    EXPECT_EQ(line.log_levels, (std::vector<std::string>{"info", "x:debug"}));
    EXPECT_EQ(line.plugins, (std::vector<std::string>{"WireCellSpng"}));
}

TEST(CommandLine, Values) {
    const auto line = parse({"job.jsonnet", "-t", "8", "-a", "TbbFlow", "--timing", "t.json", "--on-error",
                             "skip", "--sync-timing"});
    EXPECT_EQ(line.graph_threads, 8);
    EXPECT_EQ(line.app, "TbbFlow");
    EXPECT_EQ(line.timing_file, "t.json");
    EXPECT_TRUE(line.skip_failed);
    EXPECT_TRUE(line.synchronised_timing);
    const auto plain = parse({"job.jsonnet", "--on-error", "stop"});
    EXPECT_FALSE(plain.skip_failed);
    EXPECT_FALSE(plain.synchronised_timing);
    EXPECT_FALSE(plain.wide_table);
    EXPECT_TRUE(parse({"job.jsonnet", "--table", "wide"}).wide_table);
    EXPECT_FALSE(parse({"job.jsonnet", "--table", "fit"}).wide_table);
    EXPECT_EQ(plain.graph_threads, 0);
}

TEST(CommandLine, ActionsInsteadOfARun) {
    EXPECT_EQ(parse({"-h"}).action, Action::help);
    EXPECT_EQ(parse({"--version"}).action, Action::version);
    EXPECT_EQ(parse({"--list"}).action, Action::list);
    EXPECT_EQ(parse({"--describe", "SPNGDecon"}).type, "SPNGDecon");
    EXPECT_EQ(parse({"--schema", "all"}).type, "all");
    EXPECT_EQ(parse({"--check", "job.jsonnet"}).action, Action::check);
    EXPECT_EQ(parse({"--dot", "g.dot", "job.jsonnet"}).dot_file, "g.dot");
    EXPECT_EQ(parse({"--dot", "g.dot", "--check", "job.jsonnet"}).action, Action::draw);
}

TEST(CommandLine, UsageErrorsAreRejected) {
    const std::vector<std::vector<const char*>> usage_errors{
        {"-A", "input", "job.jsonnet"},
        {"--only-models", "", "job.jsonnet"},
        {"--only-models", "a", "--only-shipped-models", "job.jsonnet"},
        {"-A", "=x", "job.jsonnet"},
        {"job.jsonnet", "-A"},
        {"a.jsonnet", "b.jsonnet"},
        {"-t", "0", "job.jsonnet"},
        {"-t", "many", "job.jsonnet"},
        {"--on-error", "go", "job.jsonnet"},
        {"--table", "", "job.jsonnet"},
        {"--check"},
        {"--list", "--describe", "x"},
        {"-t", "1", "-t", "2", "job.jsonnet"},
        {"--tla", "a=b", "job.jsonnet"}};
    for (const auto& arguments : usage_errors) {
        EXPECT_FALSE(error_of(arguments).text().what.empty());
    }
    EXPECT_THROW(parse({}), spng::Error);
}

TEST(CommandLine, PartsOfARecordingAreCheckedAtOnce) {
    for (const std::vector<const char*>& arguments : std::vector<std::vector<const char*>>{
             {"job.jsonnet", "--record", "run.sqlite", "--record-what", "nvtx,sample"},
             {"job.jsonnet", "--check", "--record-what", "sample"}}) {
        const auto text = error_of(arguments).text();
        EXPECT_EQ(text.where, "--record-what");
        EXPECT_EQ(text.seen, "'sample'");
        EXPECT_EQ(text.expected, "some of nvtx, calls, samples, cuda, nvml, separated by commas");
        EXPECT_EQ(text.hint, "did you mean 'samples'?");
    }
    EXPECT_EQ(error_of({"job.jsonnet", "--record-what", "nvtx,"}).text().seen, "''");
    EXPECT_EQ(parse({"job.jsonnet", "--record-what", "nvtx,cuda"}).recording.what, "nvtx,cuda");
    EXPECT_NE(spng::app::help_text().find("nvtx,calls,samples,cuda,nvml"), std::string::npos);
}

TEST(CommandLine, UnknownFlagNamesTheNearest) {
    EXPECT_EQ(error_of({"job.jsonnet", "--timming", "x"}).text().hint, "did you mean --timing?");
    EXPECT_EQ(error_of({"job.jsonnet", "--tla-cod", "x=1"}).text().hint, "did you mean --tla-code?");
    EXPECT_NE(error_of({"job.jsonnet", "-z"}).text().what.find("-z"), std::string::npos);
    EXPECT_EQ(error_of({"job.jsonnet", "--on-error", "skp"}).text().hint, "did you mean 'skip'?");
}

} // namespace
