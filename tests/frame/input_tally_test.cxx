// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/input_check/input_tally.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>

namespace spng {
namespace {

using instrument::ChannelCounts;

class InputTallyTest : public testing::Test {
protected:
    InputTallyTest() { m_check.configure(nlohmann::json{{"frer_spectrum", {"none"}}}); }

    /// One view of 4 channels, of which one is absent.
    std::vector<InputTally::Selected> selected(std::function<void()> during_selection) const {
        const auto waveforms = [during_selection](EveryChannel) {
            during_selection();
            const std::int64_t rows = 4;
            return InputTally::Waveforms{at::zeros({1, rows, 100}, at::kShort),
                                         at::ones({1, rows}, at::kBool),
                                         at::arange(rows, at::kInt).view({1, rows})};
        };
        ChannelCounts counts;
        counts.channels = 4;
        counts.absent = 1;
        return {{&m_group, waveforms, {counts}}};
    }

    InputCheck m_check;
    const AnodePlane m_anode;
    const ViewGroup m_group{"u", {"U"}, {ChannelView{}}, {&m_anode}, at::arange(4, at::kInt).view({1, 4})};
};

TEST_F(InputTallyTest, OtherThreadsCountWhileAnEventIsSelected) {
    InputTally tally("test", 1, 14, &m_check);
    std::future<void> other;
    bool was_free = false;
    tally.add(0, selected([&] {
                  if (!other.valid()) {
                      other = std::async(std::launch::async, [&] { tally.add(1, selected([] {})); });
                      was_free = other.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
                  }
              }));
    other.get();
    EXPECT_TRUE(was_free);
    const auto report = tally.report();
    EXPECT_EQ(report.events, 2u);
    ASSERT_EQ(report.planes.size(), 1u);
    EXPECT_EQ(report.planes.begin()->second.counts.channels, 8u);
    EXPECT_EQ(report.planes.begin()->second.counts.absent, 2u);
}

TEST_F(InputTallyTest, EventThatComesTwiceCountsOnce) {
    InputTally tally("test", 1, 14, &m_check);
    int selections = 0;
    for (int i = 0; i < 2; ++i) {
        tally.add(0, selected([&] { ++selections; }));
    }
    EXPECT_EQ(selections, 3) << "all channels the first time, and a glance each time";
    EXPECT_EQ(tally.report().events, 1u);
}

TEST_F(InputTallyTest, FewChannelsAreAFindingOfRawInputOnly) {
    for (const bool counts_dead : {true, false}) {
        InputTally tally("test", 1, 14, nullptr, counts_dead);
        tally.add(0, selected([] {}));
        EXPECT_EQ(tally.report().warnings.size(), counts_dead ? 1U : 0U);
    }
}

} // namespace
} // namespace spng
