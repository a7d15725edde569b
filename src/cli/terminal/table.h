#pragma once

#include <string>
#include <vector>

#include "src/cli/terminal/text.h"

namespace vernier::cli {

enum class Align { kLeft, kRight };

struct Column {
  std::string name;
  Align align = Align::kLeft;
  // Gives way when the lines would be too long: cut with "…" or, if it wraps, over several lines.
  bool flexible = false;
  bool wraps = false;
  int least = 6;  // Of a flexible column: columns that it keeps.
};

struct Cell {
  std::string text;
  Style style = Style::kPlain;
};

struct TableOptions {
  int width = 80;  // No line takes more columns.
  bool headers = true;
  bool color = false;
  bool cut = true;  // Else lines are as long as they get, but for columns that wrap.
};

// Rows of cells under named columns, two blanks apart, no rules: dense for people, stable for awk.
class Table {
 public:
  explicit Table(std::vector<Column> columns);

  // REQUIRES: one cell for each column.
  void AddRow(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }

  // The table as lines without newlines, the names of the columns first.
  std::vector<std::string> Lines(const TableOptions& options) const;

 private:
  std::vector<int> Widths(const TableOptions& options) const;
  // The lines of one row: as many as its tallest cell.
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
