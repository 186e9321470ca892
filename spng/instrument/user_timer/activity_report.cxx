// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/user_timer/activity_timing.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace spng {
namespace {

std::string milliseconds(double value) {
    char text[48];
    std::snprintf(text, sizeof text, "%12.6f ms", value);
    return text;
}

/// One of the three tables: columns for the time, a count or device, and a name.
class Table {
public:
    Table(std::string title, std::string time, std::string middle, std::string last)
        : m_title(std::move(title)), m_time(std::move(time)),
          m_rows{{"", std::move(middle), std::move(last)}} {}

    void add(double time, std::string middle, std::string last) {
        m_rows.push_back({milliseconds(time), std::move(middle), std::move(last)});
    }

    std::string text(const std::string& indent) const {
        std::size_t middle_width = 0;
        std::size_t last_width = 24;
        for (const Row& row : m_rows) {
            middle_width = std::max(middle_width, row.middle.size());
            last_width = std::max(last_width, row.last.size());
        }
        const auto line = [&](const std::string& time, const std::string& middle, const std::string& last) {
            return indent + time + std::string(time_width - time.size(), ' ') + "| " + middle +
                   std::string(middle_width - middle.size(), ' ') + " | " + last + "\n";
        };
        const std::string rule = indent + std::string(time_width, '-') + "+" +
                                 std::string(middle_width + 2, '-') + "+" + std::string(last_width + 1, '-') +
                                 "\n";
        std::string text =
            indent + m_title + ":\n" + rule + line(m_time, m_rows.front().middle, m_rows.front().last) + rule;
        for (auto row = m_rows.begin() + 1; row != m_rows.end(); ++row) {
            text += line(row->time, row->middle, row->last);
        }
        return text;
    }

private:
    static constexpr std::size_t time_width = 16;
    struct Row {
        std::string time, middle, last;
    };
    std::string m_title, m_time;
    std::vector<Row> m_rows; ///< the first holds the header
};

/// Sum the results with the same key, the longest total first.
template <class Key>
Table totals(const std::string& title, const std::string& about, const std::vector<TimingResult>& results,
             Key key) {
    struct Total {
        std::string name;
        double elapsed = 0;
        std::size_t count = 0;
    };
    std::map<std::string, Total> by_name;
    for (const auto& result : results) {
        Total& total = by_name[key(result)];
        total.name = key(result);
        total.elapsed += result.elapsed;
        ++total.count;
    }
    std::vector<Total> ordered;
    for (auto& [name, total] : by_name) {
        ordered.push_back(std::move(total));
    }
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const Total& left, const Total& right) { return left.elapsed > right.elapsed; });
    Table table(title, "Total time", "Count", about);
    for (const auto& total : ordered) {
        table.add(total.elapsed, std::to_string(total.count), total.name);
    }
    return table;
}

} // namespace

void write_to_stdout(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void timing_print(const std::vector<TimingResult>& results, const std::string& indent, const Writer& write) {
    if (results.empty()) {
        write(indent + "No activity.\n");
        return;
    }
    Table timeline("Timeline", "Time", "Device", "Activity");
    for (const auto& result : results) {
        timeline.add(result.elapsed, result.device, result.name);
    }
    write(timeline.text(indent) + "\n" +
          totals("Activity summary", "Activity", results, [](const auto& result) { return result.name; })
              .text(indent) +
          "\n" + totals("Device summary", "Device", results, [](const auto& result) {
                     return result.device;
                 }).text(indent));
}

} // namespace spng
