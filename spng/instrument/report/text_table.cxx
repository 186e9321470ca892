// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/report/text_table.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace spng::instrument {
namespace {

constexpr std::size_t between_columns = 2;

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) {
        words.push_back(std::move(word));
    }
    return words;
}

/// Return the header with one row for each word of its longest cell, the first cell apart; short cells are at the
/// bottom.
std::vector<TextTable::Row> stacked(const TextTable::Row& header) {
    std::size_t height = 0;
    std::vector<std::vector<std::string>> words;
    for (const auto& cell : header) {
        const bool is_first = words.empty();
        words.push_back(is_first ? TextTable::Row{cell} : words_of(cell));
        height = std::max(height, words.back().size());
    }
    std::vector<TextTable::Row> rows(height, TextTable::Row(header.size()));
    for (std::size_t column = 0; column < header.size(); ++column) {
        for (std::size_t word = 0; word < words[column].size(); ++word) {
            rows[height - words[column].size() + word][column] = words[column][word];
        }
    }
    return rows;
}

std::vector<std::size_t> widths_of(const std::vector<TextTable::Row>& rows, std::size_t columns) {
    std::vector<std::size_t> widths(columns, 0);
    for (const auto& row : rows) {
        for (std::size_t column = 0; column < row.size(); ++column) {
            widths[column] = std::max(widths[column], row[column].size());
        }
    }
    return widths;
}

std::size_t sum_of(const std::vector<std::size_t>& widths) {
    std::size_t sum = between_columns * (widths.size() - 1);
    for (const std::size_t width : widths) {
        sum += width;
    }
    return sum;
}

std::string aligned(const std::vector<TextTable::Row>& rows, std::size_t columns) {
    const auto widths = widths_of(rows, columns);
    std::string text;
    for (const auto& row : rows) {
        if (row.empty()) {
            text.append(sum_of(widths), '-');
        }
        for (std::size_t column = 0; column < row.size(); ++column) {
            const std::string padding(widths[column] - row[column].size(), ' ');
            text += column == 0 ? row[column] + padding
                                : std::string(between_columns, ' ') + padding + row[column];
        }
        text += '\n';
    }
    return text;
}

/// Return the first cell and the cells [begin, end) of each row.
std::vector<TextTable::Row> part_of(const std::vector<TextTable::Row>& rows, std::size_t begin,
                                    std::size_t end) {
    std::vector<TextTable::Row> part;
    for (const auto& row : rows) {
        TextTable::Row& cells = part.emplace_back();
        if (!row.empty()) {
            cells.push_back(row.front());
            cells.insert(cells.end(), row.begin() + static_cast<std::ptrdiff_t>(begin),
                         row.begin() + static_cast<std::ptrdiff_t>(end));
        }
    }
    return part;
}

} // namespace

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

std::size_t TextTable::width() const {
    return sum_of(widths_of(m_rows, m_columns));
}

std::string TextTable::text(std::size_t limit) const {
    if (width() <= limit) {
        return aligned(m_rows, m_columns);
    }
    std::vector<TextTable::Row> rows = stacked(m_rows.front());
    rows.insert(rows.end(), m_rows.begin() + 1, m_rows.end());
    const auto widths = widths_of(rows, m_columns);
    std::string text;
    for (std::size_t begin = 1, end = 1; begin < m_columns; begin = end) {
        std::size_t width = widths.front();
        while (end < m_columns && (end == begin || width + between_columns + widths[end] <= limit)) {
            width += between_columns + widths[end++];
        }
        text += aligned(part_of(rows, begin, end), end - begin + 1);
    }
    return text;
}

std::string wrapped(const std::string& text, std::size_t width) {
    std::string result;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        while (line.size() > width) {
            const std::size_t blank = line.rfind(' ', width);
            const std::size_t indent = line.find_first_not_of(' ');
            if (blank == std::string::npos || blank <= indent) {
                break; // a word that is longer than the line
            }
            result += line.substr(0, blank) + '\n';
            line = "  " + line.substr(blank + 1);
        }
        result += line + '\n';
    }
    return result;
}

} // namespace spng::instrument
