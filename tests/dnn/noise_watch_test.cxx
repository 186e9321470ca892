// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/watch/noise_watch.h"

#include "spng/core/error.h"
#include "spng/core/log/input_warning.h"
#include "spng/core/log/log.h"
#include "tests/support/paths.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <sstream>

namespace spng {
namespace {

class NoiseWatchTest : public testing::Test {
protected:
    NoiseWatchTest() { log::add_sink(m_file.string() + ":info"); }
    ~NoiseWatchTest() override { log::reset(); }

    std::string logged() const {
        std::ostringstream text;
        text << std::ifstream(m_file).rdbuf();
        return text.str();
    }
    static std::size_t count(const std::string& text, const std::string& what) {
        std::size_t found = 0;
        for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
            ++found;
        }
        return found;
    }
    void observe(double u, double v) {
        m_watch.observe(at::tensor({u, v}, at::kDouble), {{"U", 0}, {"V", 1}});
    }

    std::filesystem::path m_file = test::temporary_folder("noise_watch") / "job.log";
    NoiseWatch m_watch{"SPNGDNNROI:induction",
                       "net.ts",
                       "loose",
                       {.planes = {{"loose", {300, 400}}}, .low = 0.5, .high = 2}};
};

TEST_F(NoiseWatchTest, SilentWithinTheRange) {
    observe(1, 2);
    observe(0.5, 1.3);
    EXPECT_EQ(logged(), "");
}

TEST_F(NoiseWatchTest, WarnsOnceForAViewWithTheNumbers) {
    observe(1, 2.5);
    observe(1, 2.6);
    observe(0.4, 2.7);
    const std::string text = logged();
    EXPECT_EQ(count(text,
                    "the noise does not fit the network (view V): seen 1000 electrons, 2.50 times the 400 "
                    "electrons of the training of net.ts, expected 0.50 to 2.00 times"),
              1)
        << text;
    EXPECT_EQ(count(text, "(view U): seen 120 electrons, 0.40 times the 300 electrons"), 1) << text;
    EXPECT_EQ(count(text, "\n"), 2) << text;
}

TEST_F(NoiseWatchTest, ReportsTheExtremesOfEachView) {
    observe(1, std::numeric_limits<double>::quiet_NaN());
    observe(1.5, 1.25);
    m_watch.report();
    const std::string text = logged();
    EXPECT_NE(text.find("view U: noise 1.00 to 1.50 times the training noise, events: 2"), std::string::npos)
        << text;
    EXPECT_NE(text.find("view V: noise 1.25 to 1.25 times the training noise, events: 1"), std::string::npos)
        << text;
    EXPECT_EQ(m_watch.network_noise().at(0).highest, 1.5);
}

TEST_F(NoiseWatchTest, NotesTheRatioOfAnEventAndTheRange) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<NoiseWatch::View> views{{"U", 0}, {"V", 1}};
    const auto note_of = [&](double u, double v) {
        return m_watch.observe(at::tensor({u, v}, at::kDouble), views);
    };
    for (int event = 0; event < 2; ++event) { // logged once, noted in each
        const Notes notes = note_of(1.004, 2.5);
        EXPECT_EQ(notes.at("network_noise"),
                  "U 1.00, V 2.50 times the noise of the training; tried: 0.50 to 2.00 times");
        EXPECT_EQ(
            notes.at("warnings"),
            "the noise does not fit the network (view V): seen 1000 electrons, 2.50 times the 400 electrons "
            "of "
            "the training of net.ts, expected 0.50 to 2.00 times; hint: compare its ROIs with those of -A "
            "model=none");
    }
    EXPECT_EQ(m_watch.warnings().size(), 1u);
    EXPECT_EQ(note_of(nan, 1), (Notes{{"network_noise", "V 1.00 times the noise of the training; tried: 0.50 "
                                                        "to 2.00 times"}}));
    EXPECT_TRUE(note_of(nan, nan).empty());
    const auto reported = m_watch.network_noise();
    ASSERT_EQ(reported.size(), 2u);
    EXPECT_EQ(reported[1].view, "V");
    EXPECT_EQ(reported[1].lowest, 1);
    EXPECT_EQ(reported[1].highest, 2.5);
    EXPECT_EQ(reported[1].events, 3u);
    EXPECT_TRUE(reported[0].fits());
    EXPECT_FALSE(reported[1].fits());
}

TEST_F(NoiseWatchTest, StrictEndsEachSuchEvent) {
    set_strict(true);
    EXPECT_THROW(observe(1, 2.5), Error);
    EXPECT_THROW(observe(1, 2.5), Error);
    EXPECT_NO_THROW(observe(1, 2));
    set_strict(false);
}

TEST_F(NoiseWatchTest, AReportJoinsTheDevices) {
    observe(1, 2.5);
    instrument::InputReport report, other;
    report.network_noise = m_watch.network_noise();
    observe(0.4, 1);
    other.network_noise = m_watch.network_noise();
    report.merge(other);
    const auto json = report.json().at("network_noise");
    ASSERT_EQ(json.size(), 2u);
    EXPECT_EQ(json[0].at("lowest"), 0.4);
    EXPECT_EQ(json[0].at("highest"), 1);
    EXPECT_EQ(json[0].at("events"), 3);
    EXPECT_EQ(json[0].at("min_tried"), 0.5);
    EXPECT_EQ(json[0].at("fits"), false);
}

TEST_F(NoiseWatchTest, AcceptsFloat32AndStrides) {
    m_watch.observe(at::tensor({1.F, 7.F, 1.5F, 7.F}).view({2, 2}).select(1, 0), {{"U", 0}, {"V", 1}});
    EXPECT_EQ(m_watch.network_noise().at(1).highest, 1.5);
    EXPECT_EQ(logged(), "");
}

} // namespace
} // namespace spng
