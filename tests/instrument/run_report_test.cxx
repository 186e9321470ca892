// SPDX-License-Identifier: Apache-2.0
// The per-node table and its JSON.

#include "spng/instrument/report/run_report.h"

#include "spng/core/error.h"
#include "spng/instrument/page_faults.h"
#include "spng/instrument/report/text_table.h"

#include <ATen/Functions.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace spng::instrument;
using namespace std::chrono_literals;

TEST(TextTables, AlignNamesLeftAndNumbersRight) {
    TextTable table({"node", "calls"});
    table.add_row({"decon", "2"});
    table.add_row({"a", "12345678"});
    EXPECT_EQ(table.text(), "node      calls\n"
                            "---------------\n"
                            "decon         2\n"
                            "a      12345678\n");
    EXPECT_THROW(table.add_row({"too few"}), std::invalid_argument);
}

TEST(TextTables, AWideTableStacksItsHeaderThenRepeatsItsFirstColumn) {
    TextTable table({"input", "saturated samples", "noise (expected) [ADC]"});
    table.add_row({"U", "12", "13.9 (13.7)"});
    EXPECT_EQ(table.width(), 48u);
    EXPECT_EQ(table.text(47), "                        noise\n"
                              "       saturated   (expected)\n"
                              "input    samples        [ADC]\n"
                              "-----------------------------\n"
                              "U             12  13.9 (13.7)\n");
    EXPECT_EQ(table.text(20), "                \n"
                              "       saturated\n"
                              "input    samples\n"
                              "----------------\n"
                              "U             12\n"
                              "             noise\n"
                              "        (expected)\n"
                              "input        [ADC]\n"
                              "------------------\n"
                              "U      13.9 (13.7)\n");
}

TEST(TextTables, LinesBreakAtBlanks) {
    EXPECT_EQ(wrapped("one two three\nfour\n", 8), "one two\n  three\nfour\n");
    EXPECT_EQ(wrapped("a indivisible b\n", 6), "a\n  indivisible b\n");
    EXPECT_EQ(wrapped("one two\n", unlimited_width), "one two\n");
}

TEST(NodeStatistics, SetTheFirstCallApart) {
    NodeStatistics node;
    for (const std::int64_t wall : {900, 100, 120, 80}) {
        CallRecord call;
        call.wall = wall;
        node.calls.push_back(call);
        node.wall += wall;
    }
    EXPECT_EQ(node.first_wall(), 900);
    EXPECT_EQ(node.steady_mean_wall(), 100);
    EXPECT_EQ(node.median_wall(), 110);
    node.calls.resize(1);
    EXPECT_EQ(node.steady_mean_wall(), not_measured);
}

class Report : public testing::Test {
protected:
    void SetUp() override {
        for (std::uint64_t event = 0; event < 2; ++event) {
            NodeMeter::Call call(m_slow, event, c10::kCPU, {});
            call.count_bytes_in(1000);
            call.count_bytes_out(500);
            at::ones({1}).add(1);
            const NodeMeter::Call nested(m_fast, event, c10::kCPU, {});
            std::this_thread::sleep_for(2ms);
        }
        m_description.version = "0.1.0";
        m_description.commit = "abc1234";
        m_description.torch_version = "2.11.0";
        m_description.engine = "Pgrapher";
        m_description.precision = "exact float32";
        m_description.intra_op_threads = 2;
        m_description.wall_seconds = 1.5;
        m_description.settings = {{"detname", "pdhd"}};
    }
    RunReport report() { return {m_description, {&m_fast, &m_idle, &m_slow}}; }

    NodeMeter m_slow{{"DNNROI", "u", "dnn"}};
    NodeMeter m_fast{{"TorchService", "", "service"}};
    NodeMeter m_idle{{"SPNGNeverCalled", "", "roi"}};
    RunDescription m_description;
    const std::filesystem::path m_folder =
        std::filesystem::temp_directory_path() / ("spng_report_" + std::to_string(getpid()));
};

TEST_F(Report, TableNamesTheRunAndEveryCalledNodeSlowestFirst) {
    const std::string table = report().table();
    for (const char* part :
         {"spng 0.1.0 (abc1234), torch 2.11.0, cpu, Pgrapher, 2 threads per operation, exact float32\n",
          "2 events in 1.50 s", "process peak", "1.00 kB", "500 B", "100.0 %",
          "cpu: all threads of the process"}) {
        EXPECT_NE(table.find(part), std::string::npos) << part << " is missing in\n" << table;
    }
    const auto slow = table.find("\nDNNROI:u");
    const auto fast = table.find("\n+ TorchService");
    ASSERT_NE(slow, std::string::npos) << table;
    ASSERT_NE(fast, std::string::npos) << table;
    EXPECT_LT(slow, fast);
    EXPECT_EQ(table.find("SPNGNeverCalled"), std::string::npos);
    EXPECT_EQ(table.find("SYNCHRONISING"), std::string::npos);
    EXPECT_EQ(table.find("aten::"), std::string::npos);
}

TEST_F(Report, EventsThatWereNotCompletedAreToldApart) {
    m_description.completed_events = 2;
    EXPECT_NE(report().table().find("2 events in 1.50 s"), std::string::npos);
    m_description.completed_events = 1;
    EXPECT_NE(report().table().find("2 events (1 completed) in 1.50 s"), std::string::npos);
}

TEST_F(Report, LinesOfTheTableAreAligned) {
    std::istringstream lines(report().table());
    std::string line;
    std::getline(lines, line); // the heading
    std::size_t width = 0;
    for (int row = 0; row < 6; ++row) { // column names, rule, two nodes, rule, total
        std::getline(lines, line);
        width = width == 0 ? line.size() : width;
        EXPECT_EQ(line.size(), width) << line;
    }
}

/// Lengths of the lines of a text.
std::vector<std::size_t> lengths(const std::string& text) {
    std::vector<std::size_t> lengths;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        lengths.push_back(line.size());
    }
    return lengths;
}

TEST_F(Report, EveryLineFitsTheWidth) {
    NodeMeter induction{{"SPNGFanoutTensorSets", "SPNGApply1DSpectrum-loose-induction-0", "plumbing"}};
    NodeMeter collection{{"SPNGFanoutTensorSets", "SPNGApply1DSpectrum-loose-collection-0", "plumbing"}};
    for (NodeMeter* const meter : {&induction, &collection}) {
        const NodeMeter::Call call(*meter, 0, c10::kCPU, {});
    }
    auto& plane = m_description.input.planes[{0, 0}];
    m_description.input.events = 2;
    plane.counts = {800, 1, 2, 3, 4, 5, 6, 7, 8};
    plane.noise = plane.polarity = plane.lobes = plane.shaping = FitQuantity{13.9, 13.7, 100, true};
    const std::int64_t time = report().json()["nodes"][0]["per_call"][0]["start_ns"];
    const std::string phase = "prepare SPNGFanoutTensorSets:SPNGApply1DSpectrum-loose-induction-0";
    m_description.start_up = {{phase, 0, 0, time / 2, time / 2}};
    const RunReport report(m_description, {&m_fast, &m_slow, &induction, &collection});
    for (const std::size_t width : {70U, 100U, 130U}) {
        const std::string table = report.table(width);
        EXPECT_LE(std::ranges::max(lengths(table)), width) << table;
        EXPECT_NE(table.find("later"), std::string::npos);
        EXPECT_NE(table.find("loose-induction-0"), std::string::npos) << table;
        EXPECT_NE(table.find("oose-collection-0"), std::string::npos) << table;
        EXPECT_EQ(table.find("  device"), std::string::npos) << "a column without a value\n" << table;
    }
    const std::string narrow = report.table(70);
    EXPECT_EQ(narrow.find("operations"), std::string::npos) << narrow;
    EXPECT_NE(narrow.find("more columns: --table wide\n"), std::string::npos) << narrow;
    const std::string wide = report.table();
    EXPECT_GT(std::ranges::max(lengths(wide)), 130U);
    for (const char* const part :
         {"device", "operations", "SPNGFanoutTensorSets:SPNGApply1DSpectrum-loose-induction-0"}) {
        EXPECT_NE(wide.find(part), std::string::npos) << part;
    }
}

TEST_F(Report, NamesThatWouldBecomeEqualLoseTheirBeginnings) {
    const std::string begin(20, 'x');
    const std::string end(17, 'y');
    NodeMeter one{{"Type", begin + "1" + end, "roi"}};
    NodeMeter other{{"Type", begin + "2" + end, "roi"}};
    for (NodeMeter* const meter : {&one, &other}) {
        const NodeMeter::Call call(*meter, 0, c10::kCPU, {});
    }
    const std::string table = RunReport(m_description, {&one, &other}).table(60);
    EXPECT_LE(std::ranges::max(lengths(table)), 60U) << table;
    EXPECT_NE(table.find("x1" + end), std::string::npos) << table;
    EXPECT_NE(table.find("x2" + end), std::string::npos) << table;
}

TEST_F(Report, NamesThatCannotBeCutApartStayWhole) {
    const std::string long_part(40, 'x');
    NodeMeter left{{"Type", long_part + "1" + long_part, "roi"}};
    NodeMeter right{{"Type", long_part + "2" + long_part, "roi"}};
    for (NodeMeter* const meter : {&left, &right}) {
        const NodeMeter::Call call(*meter, 0, c10::kCPU, {});
    }
    const std::string table = RunReport(m_description, {&left, &right}).table(80);
    EXPECT_NE(table.find(left.identity().text()), std::string::npos) << table;
}

TEST_F(Report, StartUpAddsUpToTheFirstCall) {
    const std::int64_t first_call = report().json()["nodes"][0]["per_call"][0]["start_ns"];
    const std::int64_t half = first_call / 2;
    const std::int64_t quarter = first_call / 4;
    m_description.start_up = {{"read configuration", 0, 0, quarter, quarter},
                              {"prepare Network", 0, quarter, half, half - quarter},
                              {"load network", 1, quarter, quarter, quarter},
                              {"prepare nothing", 0, quarter, 10, 10},
                              {"after the first call", 0, first_call + 1, half, half}};
    std::istringstream lines(report().table());
    std::vector<std::pair<std::string, double>> rows;
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        inside = inside || line.rfind("start-up", 0) == 0;
        double share = 0;
        const auto percent = line.rfind(" %");
        if (inside && percent != std::string::npos) {
            share = std::stod(line.substr(line.rfind(' ', percent - 1)));
            rows.emplace_back(line.substr(0, line.find("  ", line.find_first_not_of(' '))), share);
        }
    }
    const std::vector<std::pair<std::string, double>> expected{{"read configuration", 25},
                                                               {"prepare Network", 25},
                                                               {"  load network", 25},
                                                               {"other", 25},
                                                               {"program start to first node", 100}};
    EXPECT_EQ(rows, expected);
    const auto json = report().json()["start_up"];
    ASSERT_EQ(json.size(), 4u) << "all phases before the first call, also short ones";
    EXPECT_EQ(json[2]["name"], "load network");
    EXPECT_EQ(json[2]["depth"], 1);
    EXPECT_EQ(json[1]["own_wall_ns"], half - quarter);
}

TEST_F(Report, AReportOfALaterRunBeginsWithItsOrigin) {
    const auto before = report().json()["run"];
    m_description.origin = begin_report();
    m_description.origin.time = 1'000'000;
    m_description.origin.background_cpu = {{"no such task", 7}};
    const auto run = report().json()["run"];
    EXPECT_NEAR(run["startup_seconds"].get<double>(), before["startup_seconds"].get<double>() - 1e-3, 1e-12);
    EXPECT_LE(run["page_faults"].get<std::int64_t>(), minor_page_faults() - m_description.origin.page_faults);
    EXPECT_EQ(run["background_cpu_ns"]["no such task"], -7);
    EXPECT_TRUE(start_up_rows().empty());
}

TEST_F(Report, ASynchronisingRunIsLabelled) {
    m_description.mode = {.cpu_clock = CpuClock::Thread, .synchronise = true};
    const std::string table = report().table();
    EXPECT_NE(table.find("SYNCHRONISING"), std::string::npos);
    EXPECT_NE(table.find("cpu: the calling thread"), std::string::npos);
    EXPECT_EQ(report().json()["run"]["synchronising"], true);
}

TEST_F(Report, JsonHoldsTheRunAndEveryCall) {
    const auto json = report().json();
    EXPECT_EQ(json["schema"], "spng-timing-1");
    EXPECT_EQ(json["program"]["commit"], "abc1234");
    EXPECT_EQ(json["settings"]["detname"], "pdhd");
    EXPECT_EQ(json["run"]["events"], 2);
    EXPECT_EQ(json["run"]["wall_seconds"], 1.5);
    EXPECT_EQ(json["machine"]["cores"], std::thread::hardware_concurrency());
    EXPECT_FALSE(json["machine"]["cpu"].get<std::string>().empty());
    EXPECT_GT(json["run"]["process_peak_bytes"], 10'000'000); // LibTorch alone takes more
    EXPECT_TRUE(json["run"]["device_peak_bytes"].is_null());
    ASSERT_EQ(json["nodes"].size(), 2u);
    const auto& node = json["nodes"][0];
    EXPECT_EQ(node["name"], "DNNROI:u");
    EXPECT_EQ(node["kind"], "dnn");
    EXPECT_EQ(node["calls"], 2);
    EXPECT_EQ(node["in_bytes"], 2000);
    EXPECT_EQ(node["operations"]["aten::add"], 2);
    EXPECT_TRUE(node["device_ns"].is_null());
    ASSERT_EQ(node["per_call"].size(), 2u);
    EXPECT_EQ(node["per_call"][1]["event"], 1);
    EXPECT_EQ(node["wall_ns"].get<std::int64_t>(), node["per_call"][0]["wall_ns"].get<std::int64_t>() +
                                                       node["per_call"][1]["wall_ns"].get<std::int64_t>());
    EXPECT_GE(json["nodes"][1]["wall_ns"], 4'000'000);
    EXPECT_LT(node["own_wall_ns"].get<std::int64_t>(), node["wall_ns"].get<std::int64_t>() - 4'000'000 + 1);
}

TEST_F(Report, JsonFileAppearsWhole) {
    std::filesystem::create_directories(m_folder);
    report().write_json(m_folder / "timing.json");
    std::ifstream file(m_folder / "timing.json");
    EXPECT_EQ(nlohmann::json::parse(file)["nodes"].size(), 2u);
    EXPECT_FALSE(std::filesystem::exists(m_folder / "timing.json.partial"));
    // A link, such as /dev/stdout, stays a link.
    std::filesystem::create_symlink("timing.json", m_folder / "link.json");
    report().write_json(m_folder / "link.json");
    EXPECT_TRUE(std::filesystem::is_symlink(m_folder / "link.json"));
    std::filesystem::remove_all(m_folder);
}

TEST_F(Report, WhatCannotBeWrittenIsAnOutputErrorThatNamesThePath) {
    // A link of our own, so that a defect could at worst replace the link and not the device.
    std::filesystem::create_directories(m_folder);
    std::filesystem::create_symlink("/dev/full", m_folder / "full");
    for (const auto& path : {m_folder / "no such folder" / "timing.json", m_folder / "full"}) {
        try {
            report().write_json(path);
            ADD_FAILURE() << path;
        } catch (const spng::Error& error) {
            EXPECT_EQ(error.kind(), spng::ErrorKind::Output);
            EXPECT_EQ(error.text().where, path.string());
            EXPECT_FALSE(error.text().seen.empty());
        }
    }
    EXPECT_TRUE(std::filesystem::is_symlink(m_folder / "full"));
    std::filesystem::remove_all(m_folder);
}

TEST(ProcessStart, IsWhenTheSystemSays) {
    struct stat self {};
    ASSERT_EQ(stat(("/proc/" + std::to_string(getpid())).c_str(), &self), 0);
    const double now =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    const double age = 1e-9 * static_cast<double>(wall_nanoseconds() - process_start_nanoseconds());
    // The folder of a process in /proc is as old as the process, or as the first look at it.
    EXPECT_GE(age, now - static_cast<double>(self.st_ctime) - 1.5);
    EXPECT_GT(age, 0);
    EXPECT_LT(age, 3600);
}

} // namespace
