// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/start_up.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/instrument/clock.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

namespace spng::instrument {
namespace {

#if SPNG_NVTX_IS_ON
struct StartUpDomain {
    static constexpr char const* name{"spng.startup"};
};
#endif

constexpr std::int64_t not_ended = -1;

struct StartUpRows {
    std::mutex mutex;
    std::vector<StartUpRow> rows;
};
StartUpRows all;

thread_local StartUpPhase* t_phase = nullptr;

std::int64_t since_start() noexcept {
    return wall_nanoseconds() - process_start_nanoseconds();
}

} // namespace

struct StartUpPhase::Range {
#if SPNG_NVTX_IS_ON
    explicit Range(const std::string& name)
        : label(name.c_str(), nvtx::Kind::Other), range(label.attributes()) {}
    const nvtx::LabelIn<StartUpDomain> label;
    const nvtx::ScopedRangeIn<StartUpDomain> range;
#endif
};

StartUpPhase::StartUpPhase(const std::string& name) : m_outer(t_phase), m_begin(since_start()) {
#if SPNG_NVTX_IS_ON
    if (nvtx::is_on(nvtx::Level::Nodes)) {
        m_range = std::make_unique<const Range>(name);
    }
#endif
    const std::lock_guard lock(all.mutex);
    m_row = all.rows.size();
    const int depth = m_outer == nullptr ? 0 : all.rows[m_outer->m_row].depth + 1;
    all.rows.push_back({name, depth, m_begin, not_ended, not_ended});
    t_phase = this;
}

StartUpPhase::~StartUpPhase() {
    m_range.reset();
    t_phase = m_outer;
    const std::int64_t wall = since_start() - m_begin;
    if (m_outer != nullptr) {
        m_outer->m_nested += wall;
    }
    const std::lock_guard lock(all.mutex);
    all.rows[m_row].wall = wall;
    all.rows[m_row].own_wall = wall - m_nested;
}

void end_first_phase(const std::string& name) {
    const std::int64_t end = since_start();
    const std::lock_guard lock(all.mutex);
    const std::int64_t start = all.rows.empty() ? 0 : all.rows.back().start + all.rows.back().wall;
    all.rows.push_back({name, 0, start, end - start, end - start});
}

std::string current_start_up_phase() {
    const std::lock_guard lock(all.mutex);
    const auto found = std::find_if(all.rows.rbegin(), all.rows.rend(),
                                    [](const StartUpRow& row) { return row.wall == not_ended; });
    return found == all.rows.rend() ? std::string{} : found->name;
}

void forget_start_up() {
    const std::lock_guard lock(all.mutex);
    all.rows.clear();
}

std::vector<StartUpRow> start_up_rows() {
    const std::lock_guard lock(all.mutex);
    std::vector<StartUpRow> ended;
    std::copy_if(all.rows.begin(), all.rows.end(), std::back_inserter(ended),
                 [](const StartUpRow& row) { return row.wall != not_ended; });
    return ended;
}

} // namespace spng::instrument
