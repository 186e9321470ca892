// SPDX-License-Identifier: Apache-2.0
// The event in data/ equals the simulated one, bit for bit.

#include "spng/io/frame_reader.h"
#include "tests/support/paths.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

namespace {

using namespace spng::test;

spng::Frame only_frame(const std::filesystem::path& path) {
    spng::FrameReader reader(path);
    auto frame = reader.next();
    EXPECT_FALSE(reader.next());
    return std::move(frame.value());
}

void expect_same_event(const std::string& embedded, const std::string& original) {
    const auto source = shared_data("pdhd/" + original);
    if (!source) {
        GTEST_SKIP() << "no ../shared/data/pdhd/" << original;
    }
    const spng::Frame seen = only_frame(repo_root() / "data" / embedded);
    const spng::Frame expected = only_frame(*source);
    EXPECT_EQ(seen.ident, expected.ident);
    EXPECT_EQ(seen.channel_masks, expected.channel_masks);
    ASSERT_EQ(seen.traces.size(), 1u);
    ASSERT_EQ(expected.traces.size(), 1u);
    const auto& a = seen.traces[0];
    const auto& b = expected.traces[0];
    EXPECT_EQ(a.tag, b.tag);
    EXPECT_EQ(a.samples.scalar_type(), b.samples.scalar_type());
    EXPECT_TRUE(a.samples.equal(b.samples));
    EXPECT_EQ(a.channels, b.channels);
    EXPECT_EQ(a.start_ns, b.start_ns);
    EXPECT_EQ(a.tick_ns, b.tick_ns);
    EXPECT_EQ(a.first_tick, b.first_tick);
}

} // namespace

TEST(DefaultEvent, AdcIsTheSimulatedOne) {
    expect_same_event("tracks10-adc.tar.bz2", "tracks10-adc.npz");
}

TEST(DefaultEvent, TruthIsTheSimulatedOne) {
    expect_same_event("tracks10-truth.npz", "tracks10-truth.npz");
}

TEST(DefaultEvent, AdcHasTheValuesOfNumpy) {
    // Without the original file: compare with values from numpy.load.
    const auto frame = only_frame(repo_root() / "data/tracks10-adc.tar.bz2");
    EXPECT_EQ(frame.traces.at(0).samples.sum().item<std::int64_t>(), 111020100229);
    EXPECT_EQ(frame.traces[0].samples[1234][4321].item<int>(), 9395);
}
