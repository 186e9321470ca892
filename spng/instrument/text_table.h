#pragma once
// Aligned text tables and numbers with units, for reports on a terminal.

#include <cstdint>
#include <string>
#include <vector>

namespace spng::instrument {

/// Three significant digits with a unit: "1.24 s", "61.4 ms", "850 us", "3 ns", "0".
std::string format_nanoseconds(std::int64_t nanoseconds);

/// Three significant digits in decimal units: "61.4 MB", "12 B", "0".
std::string format_bytes(std::int64_t bytes);

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
