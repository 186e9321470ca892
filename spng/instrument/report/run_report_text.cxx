// SPDX-License-Identifier: Apache-2.0
// The text of a report: the table of nodes, the phases of the start-up, and notes.

#include "spng/core/nearest.h"
#include "spng/core/printable.h"
#include "spng/core/unit_text.h"
#include "spng/instrument/report/run_report.h"
#include "spng/instrument/report/steady_state.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace spng::instrument {
namespace {

/// Columns that a narrow table leaves out, the least important first.
constexpr std::array optional_columns{"in", "out", "operations", "memory", "cpu", "first"};
/// Columns are left out until names have this space; longer names are cut in the middle.
constexpr std::size_t name_width = 36;
constexpr std::size_t min_name_width = 12;
constexpr double min_share = 0.01; ///< of a phase with a row of its own

std::string milliseconds(std::int64_t nanoseconds) {
    return nanoseconds == not_measured ? "-" : format_fixed(1e-6 * static_cast<double>(nanoseconds), 2);
}

std::string percent(std::int64_t part, std::int64_t whole) {
    return format_fixed(whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0, 1) +
           " %";
}

std::string per_call(std::uint64_t sum, std::size_t calls) {
    const double mean = static_cast<double>(sum) / static_cast<double>(calls);
    return format_fixed(mean, sum % calls == 0 ? 0 : 1);
}

std::string bytes_per_call(std::uint64_t sum, std::size_t calls) {
    return format_bytes(static_cast<std::int64_t>(sum / calls));
}

/// Columns of equal length, each from its title down.
using TableColumns = std::vector<std::vector<std::string>>;

TextTable table_of(const TableColumns& columns) {
    const auto row = [&columns](std::size_t index) {
        std::vector<std::string> cells;
        for (const auto& column : columns) {
            cells.push_back(column[index]);
        }
        return cells;
    };
    TextTable table(row(0));
    const std::size_t last = columns.front().size() - 1;
    for (std::size_t index = 1; index < last; ++index) {
        table.add_row(row(index));
    }
    table.add_rule();
    table.add_row(row(last));
    return table;
}

/// Replace the middle of a long name by two dots.
std::string cut_name(const std::string& name, std::size_t width) {
    const std::size_t head = (width - 2) / 2;
    return name.size() <= width ? name
                                : name.substr(0, head) + ".." + name.substr(name.size() - (width - 2 - head));
}

/// Cut the names. Names that would become equal lose their beginnings instead of their middles, or stay whole.
void cut_names(std::vector<std::string>& names, std::size_t width) {
    std::map<std::string, std::size_t> uses;
    const auto end_of = [width](const std::string& name) {
        return ".." + name.substr(name.size() - (width - 2));
    };
    for (const auto& name : names) {
        ++uses[cut_name(name, width)];
        if (name.size() > width) {
            ++uses[end_of(name)];
        }
    }
    for (auto& name : names) {
        if (name.size() <= width) {
            continue;
        }
        if (uses[cut_name(name, width)] == 1) {
            name = cut_name(name, width);
        } else if (uses[end_of(name)] == 1) {
            name = end_of(name);
        }
    }
}

/// Return by how much the table is wider than `width`.
std::size_t excess(const TableColumns& columns, std::size_t width) {
    const std::size_t wide = table_of(columns).width();
    return wide > width ? wide - width : 0;
}

std::size_t longest_name(const TableColumns& columns) {
    const auto by_size = [](const auto& left, const auto& right) { return left.size() < right.size(); };
    return std::ranges::max(columns.front(), by_size).size();
}

/// Cut the names of the first column until the table fits.
void shorten(TableColumns& columns, std::size_t width) {
    if (const std::size_t more = excess(columns, width); more > 0) {
        const std::size_t longest = longest_name(columns);
        cut_names(columns.front(), std::max(longest - std::min(more, longest), min_name_width));
    }
}

struct NodeTable {
    std::string text;
    bool is_complete = false; ///< all columns that have values are shown
};

/// Make the table at most `width` wide, if possible: leave columns out, then cut names.
NodeTable fitted(TableColumns columns, std::size_t width) {
    const auto remove = [&columns](const std::string& title) {
        std::erase_if(columns, [&title](const auto& column) { return column.front() == title; });
    };
    const auto is_empty = [](const auto& column) {
        return std::all_of(column.begin() + 1, column.end(), [](const auto& cell) { return cell == "-"; });
    };
    if (excess(columns, width) > 0) {
        std::erase_if(columns, is_empty);
    }
    const std::size_t longest = longest_name(columns);
    const std::size_t available = columns.size();
    const std::size_t spare = longest > name_width ? longest - name_width : 0;
    for (const char* const title : optional_columns) {
        if (excess(columns, width) > spare) {
            remove(title);
        }
    }
    shorten(columns, width);
    return {table_of(columns).text(), columns.size() == available};
}

} // namespace

std::string RunReport::heading(std::size_t width) const {
    const auto& run = m_description;
    const auto cut =
        [width](std::vector<std::string> files) { // a long name has no blank to break its line at
            for (auto& file : files) {
                file = cut_name(printable(file), std::max<std::size_t>(width, 30) - 10);
            }
            return joined(files);
        };
    std::string text = "spng " + run.version + (run.commit.empty() ? "" : " (" + run.commit + ")");
    const auto add = [&text](const std::string& part) { text += part.empty() ? "" : ", " + part; };
    add(run.torch_version.empty() ? "" : "torch " + run.torch_version);
    add(device_text(run.devices) + (run.device_name.empty() ? "" : " " + run.device_name));
    add(run.engine);
    add(run.graph_threads > 1 ? std::to_string(run.graph_threads) + " graph threads" : "");
    add(std::to_string(run.intra_op_threads) +
        (run.intra_op_threads == 1 ? " thread per operation" : " threads per operation"));
    add(run.precision);
    text += run.about.empty() ? "\n" : "\n" + printable(run.about) + "\n";
    std::string files = run.files_read.empty() ? "" : "read " + cut(run.files_read);
    if (!run.files_written.empty()) {
        files += (files.empty() ? "wrote " : ", wrote ") + cut(run.files_written);
    }
    return text + (files.empty() ? "" : files + "\n");
}

std::string RunReport::notes(bool all_columns) const {
    const auto& run = m_description;
    const std::uint64_t completed = run.completed_events.value_or(m_events);
    std::string text = std::to_string(m_events) + (m_events == 1 ? " event" : " events") +
                       (completed < m_events ? " (" + std::to_string(completed) + " completed)" : "") +
                       " in " + format_nanoseconds(static_cast<std::int64_t>(run.wall_seconds * 1e9));
    if (m_startup != not_measured) {
        text += ", first node called " + format_nanoseconds(m_startup) + " after the program started";
    }
    text += ", process peak " + format_bytes(m_process_peak);
    if (!run.devices.front().is_cpu()) {
        text += ", device peak " + (m_device_peak == not_measured ? "n/a" : format_bytes(m_device_peak));
    }
    if (const SteadyState steady = steady_state(m_nodes); steady.with_files != not_measured) {
        text += "\nan event after the first: " + format_nanoseconds(steady.with_files) + " with files, " +
                format_nanoseconds(steady.without_files) + " the calls between source and sink";
    }
    for (const auto& [name, time] : m_background_cpu) {
        text += "; " + name + " beside them: " + format_nanoseconds(time) + " of processor time";
    }
    text += "\nlater: mean wall time after the first call; share: of wall time, without nested calls (+)\n";
    text += run.mode.cpu_clock == CpuClock::Process ? "cpu: all threads of the process"
                                                    : "cpu: the calling thread, without its helpers";
    text += "; memory: growth of tensor memory in a call\n";
    text += all_columns ? "in, out, operations: per call, in the last line per event\n"
                        : "more columns: --table wide\n";
    const bool has_section = std::any_of(m_nodes.begin(), m_nodes.end(), [](const NodeStatistics& node) {
        return node.node.type == "SPNGDeviceSection";
    });
    if (has_section) {
        text += "SPNGDeviceSection: all nodes between upload and packing, launched as a CUDA graph; "
                "to see each of them: -A cuda_graph=off\n";
    }
    if (run.mode.synchronise) {
        text += "SYNCHRONISING: wire-cell waited for the device around every node call, so the run was "
                "slower than usual\n";
    }
    return text;
}

std::string RunReport::table(std::size_t width) const {
    const bool on_device = !m_description.devices.front().is_cpu();
    NodeStatistics total;
    for (const auto& node : m_nodes) {
        total.own_wall += node.own_wall;
        total.leaf_operations += node.leaf_operations;
        for (const auto& call : node.calls) {
            if (call.depth > 0) {
                continue; // its time is in the call that it is nested in
            }
            total.wall += call.wall;
            total.cpu += call.cpu;
            if (call.device != not_measured) {
                total.device = std::max<std::int64_t>(total.device, 0) + call.device;
            }
        }
    }
    TableColumns columns;
    for (const char* const title : {"node, times in ms", "calls", "first", "later", "total", "share", "cpu",
                                    "device", "in", "out", "operations", "memory"}) {
        columns.push_back({title});
    }
    const auto add_row = [&columns](const std::array<std::string, 12>& cells) {
        for (std::size_t column = 0; column < cells.size(); ++column) {
            columns[column].push_back(cells[column]);
        }
    };
    for (const auto& node : m_nodes) {
        const auto calls = node.calls.size();
        const std::int64_t memory = on_device ? node.device_peak : node.cpu_peak;
        add_row({(node.is_nested() ? "+ " : "") + printable(node.node.text()), std::to_string(calls),
                 milliseconds(node.first_wall()), milliseconds(node.steady_mean_wall()),
                 milliseconds(node.wall), percent(node.own_wall, total.own_wall), milliseconds(node.cpu),
                 milliseconds(node.device), bytes_per_call(node.bytes_in, calls),
                 bytes_per_call(node.bytes_out, calls), per_call(node.leaf_operations, calls),
                 memory == not_measured ? "n/a" : format_bytes(memory)});
    }
    add_row({"all nodes", "", "", "", milliseconds(total.wall), "100.0 %", milliseconds(total.cpu),
             milliseconds(total.device), "", "",
             m_events == 0 ? "" : per_call(total.leaf_operations, m_events), ""});
    const NodeTable nodes = fitted(std::move(columns), width);
    return wrapped(heading(width), width) + nodes.text + wrapped(notes(nodes.is_complete), width) +
           start_up_table(width) + m_description.input.text(width);
}

std::string RunReport::start_up_table(std::size_t width) const {
    if (m_startup == not_measured || m_description.start_up.empty()) {
        return "";
    }
    TableColumns columns{{"start-up, times in ms"}, {"time"}, {"share"}};
    const auto add_row = [&](const std::string& name, std::int64_t time) {
        columns[0].push_back(name);
        columns[1].push_back(milliseconds(time));
        columns[2].push_back(percent(time, m_startup));
    };
    std::int64_t rest = m_startup;
    for (const auto& phase : m_description.start_up) {
        if (static_cast<double>(phase.wall) >= min_share * static_cast<double>(m_startup)) {
            add_row(std::string(2 * static_cast<std::size_t>(phase.depth), ' ') + phase.name, phase.own_wall);
            rest -= phase.own_wall;
        }
    }
    add_row("other", rest);
    add_row("program start to first node", m_startup);
    shorten(columns, width);
    return table_of(columns).text();
}

} // namespace spng::instrument
