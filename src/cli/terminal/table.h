#pragma once

#include <string>
#include <vector>

#include "src/cli/terminal/text.h"

namespace vernier::cli {

enum class Align { kLeft, kRight };

struct Column {
  std::string name;
  Align align = Align::kLeft;
  // A flexible column shrinks if lines are too long: its cells are cut with "…", or wrapped if it wraps.
  bool flexible = false;
  bool wraps = false;
  int least = 6;  // Minimum width of a flexible column.
};

struct Cell {
  std::string text;
  Style style = Style::kPlain;
};

struct TableOptions {
  int width = 80;  // Maximum width of a line.
  bool headers = true;
  bool color = false;
  bool cut = true;  // If false, only columns that wrap shrink.
};

// Rows of cells under named columns, separated by two blanks, without rules: dense for people, easy to split for awk.
class Table {
 public:
  explicit Table(std::vector<Column> columns);

  // REQUIRES: one cell for each column.
  void AddRow(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }

  // The table as lines without line ends, the header first.
  std::vector<std::string> Lines(const TableOptions& options) const;

 private:
  std::vector<int> Widths(const TableOptions& options) const;
  // The lines of one row, as many as its tallest cell has.
  std::vector<std::string> RowLines(const std::vector<Cell>& cells,
                                    const std::vector<int>& widths,
                                    const TableOptions& options) const;
  std::string Line(const std::vector<Cell>& cells,
                   const std::vector<int>& widths,
                   const TableOptions& options) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace vernier::cli
