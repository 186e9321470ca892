// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/report/text_table.h"

#include <algorithm>
#include <stdexcept>

namespace spng::instrument {

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
