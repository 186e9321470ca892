// SPDX-License-Identifier: Apache-2.0
// Phases of the start-up: order, nesting, and times that add up.

#include "spng/instrument/start_up.h"

#include "spng/core/component.h"
#include "spng/instrument/clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace spng::instrument;
using namespace std::chrono_literals;

constexpr std::int64_t millisecond = 1'000'000;

/// Return the rows added by `work`; other tests of this process have rows of their own.
template <class Work>
std::vector<StartUpRow> rows_of(Work work) {
    const std::size_t before = start_up_rows().size();
    work();
    auto rows = start_up_rows();
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(before));
    return rows;
}

TEST(StartUp, PhasesNestAndTheirOwnTimesAddUp) {
    const auto rows = rows_of([] {
        const StartUpPhase outer("prepare Network");
        std::this_thread::sleep_for(2ms);
        {
            const StartUpPhase inner("load network");
            const StartUpPhase innermost("read file");
            std::this_thread::sleep_for(4ms);
        }
        const StartUpPhase second("try network");
        std::this_thread::sleep_for(1ms);
    });
    ASSERT_EQ(rows.size(), 4u);
    std::vector<std::pair<std::string, int>> names;
    std::int64_t sum = 0;
    for (const auto& row : rows) {
        names.emplace_back(row.name, row.depth);
        sum += row.own_wall;
        EXPECT_GE(row.own_wall, 0);
        EXPECT_GE(row.start, rows.front().start);
    }
    EXPECT_EQ(names, (std::vector<std::pair<std::string, int>>{
                         {"prepare Network", 0}, {"load network", 1}, {"read file", 2}, {"try network", 1}}));
    EXPECT_EQ(sum, rows.front().wall);
    EXPECT_GE(rows[0].own_wall, 2 * millisecond);
    EXPECT_GE(rows[2].own_wall, 4 * millisecond);
    EXPECT_EQ(rows[1].own_wall, rows[1].wall - rows[2].wall);
    EXPECT_GT(rows.front().start, 0);
    EXPECT_LT(rows.front().start + rows.front().wall, wall_nanoseconds() - process_start_nanoseconds());
}

TEST(StartUp, AnOpenPhaseIsNoRow) {
    const auto rows = rows_of([] {
        const StartUpPhase open("still open");
        EXPECT_TRUE(rows_of([] {}).empty());
        const StartUpPhase ended("inside");
    });
    EXPECT_EQ(rows.size(), 2u);
}

TEST(StartUp, PhasesBeforeTheRecorderFollowEachOther) {
    const auto rows = rows_of([] {
        end_first_phase("load program");
        std::this_thread::sleep_for(1ms);
        end_first_phase("start recorder");
    });
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[1].start, rows[0].start + rows[0].wall);
    EXPECT_GE(rows[1].wall, millisecond);
}

class Part : public spng::Service {
public:
    Part(const std::string& name, std::string uses) : m_uses(std::move(uses)) {
        set_name(spng::ComponentName::from(name));
    }
    void configure(const nlohmann::json&) override {}
    void prepare(spng::Environment& environment) override {
        if (!m_uses.empty()) {
            environment.service<Part>(m_uses, name().text());
        }
    }

private:
    const std::string m_uses;
};

TEST(StartUp, APreparationIsInsideThatOfItsUser) {
    const auto rows = rows_of([] {
        spng::Environment environment([](const spng::Component& component) {
            return std::make_shared<StartUpPhase>("prepare " + component.name().text());
        });
        environment.add(std::make_unique<Part>("Spectrum:u", "Field"));
        environment.add(std::make_unique<Part>("Field", ""));
        environment.prepare_all();
    });
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].name, "prepare Spectrum:u");
    EXPECT_EQ(rows[1].name, "prepare Field");
    EXPECT_EQ(rows[1].depth, rows[0].depth + 1);
}

} // namespace
