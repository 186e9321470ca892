#include "spng/instrument/text_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace spng::instrument {
namespace {

std::string with_unit(double value, const std::array<const char*, 4>& units) {
    if (value == 0) {
        return "0";
    }
    std::size_t unit = 0;
    // 999.5 would be printed as 1000: change the unit before.
    while (unit + 1 < units.size() && std::abs(value) >= 999.5) {
        value /= 1000;
        ++unit;
    }
    const double size = std::abs(value);
    const int decimals = unit == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    char text[48];
    std::snprintf(text, sizeof text, "%.*f %s", decimals, value, units[unit]);
    return text;
}

} // namespace

std::string format_nanoseconds(std::int64_t nanoseconds) {
    return with_unit(static_cast<double>(nanoseconds), {"ns", "us", "ms", "s"});
}

std::string format_bytes(std::int64_t bytes) {
    return with_unit(static_cast<double>(bytes), {"B", "kB", "MB", "GB"});
}

TextTable::TextTable(std::vector<std::string> header) : m_columns(header.size()) {
    m_rows.push_back(std::move(header));
    add_rule();
}

void TextTable::add_row(std::vector<std::string> cells) {
    if (cells.size() != m_columns) {
        throw std::invalid_argument("a table row needs as many cells as the header");
    }
    m_rows.push_back(std::move(cells));
}

void TextTable::add_rule() {
    m_rows.emplace_back();
}

std::string TextTable::text() const {
    std::vector<std::size_t> widths(m_columns, 0);
    for (const auto& row : m_rows) {
        for (std::size_t column = 0; column < row.size(); ++column) {
            widths[column] = std::max(widths[column], row[column].size());
        }
    }
    std::size_t width = 2 * (m_columns - 1);
    for (const std::size_t one : widths) {
        width += one;
    }
    std::string text;
    for (const auto& row : m_rows) {
        if (row.empty()) {
            text.append(width, '-');
        }
        for (std::size_t column = 0; column < row.size(); ++column) {
            const std::string padding(widths[column] - row[column].size(), ' ');
            text += column == 0 ? row[column] + padding : "  " + padding + row[column];
        }
        text += '\n';
    }
    return text;
}

} // namespace spng::instrument
