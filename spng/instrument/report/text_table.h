// SPDX-License-Identifier: Apache-2.0
#pragma once
// Aligned text tables, for reports on a terminal.

#include <string>
#include <vector>

namespace spng::instrument {

/// Rows of cells; the first column is aligned left, the others right.
class TextTable {
public:
    explicit TextTable(std::vector<std::string> header);

    /// Throws std::invalid_argument when the number of cells is not that of the header.
    void add_row(std::vector<std::string> cells);
    void add_rule();

    /// All lines, each ended by a newline.
    std::string text() const;

private:
    std::size_t m_columns;
    std::vector<std::vector<std::string>> m_rows; ///< an empty row is a rule
};

} // namespace spng::instrument
