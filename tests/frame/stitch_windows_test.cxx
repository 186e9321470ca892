// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/stitch_windows.h"

#include "tests/support/components.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace spng {
namespace {

using test::Components;
using test::error_of;

/// Return one row: 1 for '#', 0 for any other character.
at::Tensor mask_of(const std::string& pattern) {
    at::Tensor mask = at::zeros({1, static_cast<std::int64_t>(pattern.size())}, at::kShort);
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        mask.mutable_data_ptr<std::int16_t>()[i] = pattern[i] == '#' ? 1 : 0;
    }
    return mask;
}

std::string to_string(const at::Tensor& signal) {
    const at::Tensor values = signal.to(at::kLong).contiguous();
    std::string text;
    for (std::int64_t i = 0; i < values.numel(); ++i) {
        const auto value = values.const_data_ptr<std::int64_t>()[i];
        text += value == 0 ? '.' : static_cast<char>('0' + value);
    }
    return text;
}

class StitchWindowsTest : public testing::Test {
protected:
    StitchWindowsTest()
        : m_node(dynamic_cast<Node&>(
              m_components.add("SPNGStitchWindows",
                               {{"tags", {"signal", "roi", "gauss"}}, {"region_tags", {"signal", "roi"}}}))) {
        m_node.prepare(m_components.environment());
    }

    /// Return readout window `index` with the ROIs `rois`. Its signal is 1 + index inside them, its gauss
    /// everywhere.
    TensorSetPtr window(std::int64_t index, const std::string& rois, std::int64_t core_begin,
                        std::int64_t core_end, std::int64_t begin) const {
        auto event = std::make_shared<EventInfo>();
        event->ident = static_cast<int>(index);
        event->start = 1000 + 500.0 * static_cast<double>(begin);
        event->tick = 500;
        event->ticks = static_cast<std::int64_t>(rois.size());
        event->window = ReadoutWindow{0, index, core_begin, core_end};
        event->masks = {{"bad", {{7, core_begin - 1, core_begin + 2}}}};
        const at::Tensor roi = mask_of(rois);
        return std::make_shared<const TensorSet>(
            event, std::vector{tensor("signal", (roi * (1 + index)).to(at::kFloat)), tensor("roi", roi),
                               tensor("gauss", at::full(roi.sizes(), static_cast<float>(1 + index)))});
    }
    static NamedTensor tensor(const std::string& name, const at::Tensor& data) {
        NamedTensor named;
        named.name = name;
        named.data = data;
        named.axes = {{"channel", "", 0, 1}, {"tick", "ns", 1000, 500}};
        return named;
    }
    TensorSetPtr stitched(const TensorSetPtr& set) { return m_node.call(0, {set}, {}).at(0); }

    Components m_components;
    Node& m_node;
};

TEST(TicksBeyond, CountsTheRunThatCrosses) {
    const auto count = [](const std::string& pattern, std::int64_t tick) {
        return ticks_beyond(mask_of(pattern), tick).item<std::int64_t>();
    };
    EXPECT_EQ(count(".##.##", 2), 1);
    EXPECT_EQ(count(".##.##", 3), 0);
    EXPECT_EQ(count(".##.##", 4), 0); // the run begins at tick 4
    EXPECT_EQ(count(".##.##", 5), 1);
    EXPECT_EQ(count("######", 1), 5);
    EXPECT_EQ(count("######", 6), 0);
    EXPECT_THROW(ticks_beyond(mask_of("##"), 0), Error);
    EXPECT_THROW(ticks_beyond(mask_of("##"), 3), Error);
}

TEST_F(StitchWindowsTest, OtherEventsPassUnchanged) {
    const auto set = std::make_shared<const TensorSet>(std::make_shared<const EventInfo>(),
                                                       std::vector{tensor("any", mask_of("#"))});
    EXPECT_EQ(stitched(set), set);
}

// The first window covers ticks 0 to 9 of the readout, with core 0 to 5; the second covers 4 to 13, with core
// 6 to 13.
TEST_F(StitchWindowsTest, RoiComesFromTheWindowInWhichItBegins) {
    const auto first = stitched(window(0, ".##.####..", 0, 6, 0));
    EXPECT_EQ(to_string(first->at("signal").data), ".11.11");
    const auto second = stitched(window(1, "#####..##.", 2, 10, 4));
    // Ticks 6 and 7 come from the first window. The additional tick 8 of the second window is kept.
    EXPECT_EQ(to_string(second->at("signal").data), "112..22.");
    EXPECT_EQ(to_string(second->at("roi").data), "111..11.");
    EXPECT_EQ(to_string(second->at("gauss").data), "22222222");
}

TEST_F(StitchWindowsTest, RoiThatBeginsAtTheSeamComesFromTheNextWindow) {
    EXPECT_EQ(to_string(stitched(window(0, "......####", 0, 6, 0))->at("signal").data), "......");
    EXPECT_EQ(to_string(stitched(window(1, "..####....", 2, 10, 4))->at("signal").data), "2222....");
}

TEST_F(StitchWindowsTest, WindowsMayDisagreeAboutTheBeginOfAnRoi) {
    // The ROI begins at the seam in the first window and one tick earlier in the second: no tick is lost or
    // doubled.
    stitched(window(0, "......####", 0, 6, 0));
    EXPECT_EQ(to_string(stitched(window(1, ".#####....", 2, 10, 4))->at("signal").data), "2222....");
}

TEST_F(StitchWindowsTest, WindowsMayDisagreeTheOtherWayRound) {
    EXPECT_EQ(to_string(stitched(window(0, ".....####.", 0, 6, 0))->at("signal").data), ".....1");
    EXPECT_EQ(to_string(stitched(window(1, "..####....", 2, 10, 4))->at("signal").data), "1112....");
}

TEST_F(StitchWindowsTest, NextWindowContinuesAfterTheEndOfThePrevious) {
    stitched(window(0, ".....#####", 0, 6, 0));
    EXPECT_EQ(to_string(stitched(window(1, "##########", 2, 8, 4))->at("signal").data), "111122");
    EXPECT_EQ(to_string(stitched(window(2, "###.......", 2, 10, 10))->at("signal").data), "22......");
}

TEST_F(StitchWindowsTest, TimesAndMasksAreThoseOfTheCore) {
    stitched(window(0, "..........", 0, 6, 0));
    const auto second = stitched(window(1, "..........", 2, 10, 4));
    EXPECT_FALSE(second->event().window);
    EXPECT_EQ(second->event().start, 1000 + 6 * 500);
    EXPECT_EQ(second->event().ticks, 8);
    EXPECT_EQ(second->event().masks, (ChannelMasks{{"bad", {{7, 0, 2}}}}));
    EXPECT_EQ(second->at("signal").axes[1].start, 1000 + 2 * 500);
}

TEST_F(StitchWindowsTest, WindowAfterAFailedOneKeepsItsOwnRois) {
    testing::internal::CaptureStderr();
    stitched(window(0, ".....####.", 0, 6, 0));
    EXPECT_EQ(to_string(stitched(window(2, "####....##", 2, 10, 10))->at("signal").data), "33....33");
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find("from 4000.000000 ns to 7000.000000 ns, because 1 of its readout windows failed"),
              std::string::npos)
        << log;
}

TEST_F(StitchWindowsTest, RoisDoNotCrossReadouts) {
    stitched(window(0, ".....#####", 0, 6, 0));
    auto event = std::make_shared<EventInfo>(window(0, "..........", 0, 6, 0)->event());
    event->window->readout = 1;
    const auto next = std::make_shared<const TensorSet>(event, window(0, "..........", 0, 6, 0)->tensors());
    EXPECT_EQ(to_string(stitched(next)->at("signal").data), "......");
}

TEST(StitchWindowsConfiguration, RegionTagsAreTags) {
    Components components;
    const Error error = error_of(
        [&] { components.add("SPNGStitchWindows", {{"tags", {"gauss"}}, {"region_tags", {"signal"}}}); });
    EXPECT_EQ(error.text().where, "SPNGStitchWindows, key region_tags");
}

} // namespace
} // namespace spng
