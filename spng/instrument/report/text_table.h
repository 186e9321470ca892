// SPDX-License-Identifier: Apache-2.0
#pragma once
// Aligned text tables, for reports on a terminal.

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace spng::instrument {

/// Width of a text without a limit.
inline constexpr std::size_t unlimited_width = std::numeric_limits<std::size_t>::max();

/// Rows of cells; the first column is aligned left, the others right.
class TextTable {
public:
    using Row = std::vector<std::string>;

    explicit TextTable(std::vector<std::string> header);

    /// Throws std::invalid_argument when the number of cells is not that of the header.
    void add_row(std::vector<std::string> cells);
    void add_rule();

    /// Return the length of the longest line of text().
    std::size_t width() const;

    /// Return all lines, each ended by a newline. A table wider than the limit gets one line for each word of its
    /// header, and if that is not enough, it is divided into tables that repeat the first column.
    std::string text(std::size_t limit = unlimited_width) const;

private:
    std::size_t m_columns;
    std::vector<Row> m_rows; ///< the first is the header; an empty row is a rule
};

/// Break lines at blanks so that none is longer than `width`, unless a word is. Indent continued lines by two blanks.
std::string wrapped(const std::string& text, std::size_t width);

} // namespace spng::instrument
