// Columns get their natural width. If a line is then too long, the widest flexible column gives up one character at a
// time, so that long columns are shortened before short ones. Columns that still do not fit are cut off at the right.

#include "src/cli/terminal/table.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "src/cli/terminal/text.h"
#include "src/core/check.h"

namespace vernier::cli {
namespace {

constexpr int kGap = 2;

std::vector<std::string> Parts(const Column& column, const std::string& text, int width) {
  // Widths shrinks no column below `least`, so that the texts of such a narrow one fit.
  if (!column.wraps || !column.flexible || width < column.least) return {text};
  return Wrap(text, width);
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::AddRow(std::vector<Cell> cells) {
  VERNIER_CHECK(cells.size() == columns_.size(), "a row has one cell for each column");
  for (Cell& cell : cells) cell.text = Printable(cell.text);
  rows_.push_back(std::move(cells));
}

std::vector<int> Table::Widths(const TableOptions& options) const {
  std::vector<int> widths(columns_.size(), 0);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (options.headers) widths[i] = DisplayWidth(columns_[i].name);
    for (const std::vector<Cell>& row : rows_) {
      widths[i] = std::max(widths[i], DisplayWidth(row[i].text));
    }
  }
  const int gaps = kGap * (static_cast<int>(columns_.size()) - 1);
  int excess = std::accumulate(widths.begin(), widths.end(), gaps) - options.width;
  while (excess > 0) {
    int widest = -1;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!columns_[i].flexible || widths[i] <= columns_[i].least) continue;
      // Off a terminal nothing is cut; wrapping loses nothing.
      if (!options.cut && !columns_[i].wraps) continue;
      if (widest < 0 || widths[i] > widths[widest]) widest = static_cast<int>(i);
    }
    if (widest < 0) break;
    --widths[widest];
    --excess;
  }
  return widths;
}

std::vector<std::string> Table::RowLines(const std::vector<Cell>& cells,
                                         const std::vector<int>& widths,
                                         const TableOptions& options) const {
  std::vector<std::vector<std::string>> parts;
  std::size_t height = 1;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    parts.push_back(Parts(columns_[i], cells[i].text, widths[i]));
    height = std::max(height, parts.back().size());
  }
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < height; ++k) {
    std::vector<Cell> line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line.push_back({k < parts[i].size() ? parts[i][k] : std::string(), cells[i].style});
    }
    lines.push_back(Line(line, widths, options));
  }
  return lines;
}

std::string Table::Line(const std::vector<Cell>& cells,
                        const std::vector<int>& widths,
                        const TableOptions& options) const {
  std::string line;
  int used = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const int gap = i == 0 ? 0 : kGap;
    const int room = options.cut ? std::min(widths[i], options.width - used - gap) : widths[i];
    if (room < 1) break;
    const std::string text = Truncate(cells[i].text, room);
    const std::string padded =
        columns_[i].align == Align::kRight ? PadLeft(text, room) : PadRight(text, room);
    line.append(static_cast<std::size_t>(gap), ' ');
    line += Paint(padded, cells[i].style, options.color);
    used += gap + room;
  }
  // With colour the blanks may lie inside of an escape sequence's range.
  if (!options.color) line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::vector<std::string> Table::Lines(const TableOptions& options) const {
  const std::vector<int> widths = Widths(options);
  std::vector<std::string> lines;
  if (options.headers) {
    std::vector<Cell> names;
    for (const Column& column : columns_) names.push_back({column.name, Style::kDim});
    lines.push_back(Line(names, widths, options));
  }
  for (const std::vector<Cell>& row : rows_) {
    for (std::string& line : RowLines(row, widths, options)) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace vernier::cli
