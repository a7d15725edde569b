// gcloud's table format, which differs from Vernier's own tables: boxes, titles, sort attributes. Tables are wider than
// the terminal unless a column may wrap; nothing is cut, as scripts may read the output.

#include "src/cli/gcloud/table_printer.h"

#include <algorithm>
#include <limits>
#include <ostream>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "src/cli/terminal/text.h"

namespace vernier::gcloud {
namespace {

// A choice: narrower columns cannot be read.
constexpr int kLeastWrapped = 10;

using Row = std::vector<Json>;
using Line = std::vector<std::string>;

// Numbers by value, before everything else, which is ordered by text.
bool Before(const Json& a, const Json& b) {
  const auto number = [](const Json& value) {
    // Infinity puts what is no number behind all numbers.
    return value.is_number() ? value.get<double>() : std::numeric_limits<double>::infinity();
  };
  return std::pair(number(a), TextOf(a)) < std::pair(number(b), TextOf(b));
}

void SortRows(const FormatSpec& format, std::vector<Row>& rows) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < format.columns.size(); ++i) {
    if (format.columns[i].sort) order.push_back(i);
  }
  // `sort=1` is the first key, whatever column it stands at.
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return *format.columns[i].sort; });
  std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) {
    for (const std::size_t i : order) {
      const bool reverse = format.columns[i].reverse;
      if (Before(a[i], b[i])) return !reverse;
      if (Before(b[i], a[i])) return reverse;
    }
    // Rows that are equal in all keys keep their order.
    return false;
  });
}

std::string Aligned(const std::string& text, Alignment align, int width) {
  if (align == Alignment::kRight) return cli::PadLeft(text, width);
  if (align == Alignment::kLeft) return cli::PadRight(text, width);
  const int blanks = std::max(0, width - cli::DisplayWidth(text));
  return cli::PadRight(std::string(static_cast<std::size_t>(blanks / 2), ' ') + text, width);
}

struct BoxStyle {
  std::string h, v, top_left, top, top_right, left, cross, right, bottom_left, bottom, bottom_right;
};
BoxStyle BoxOf(bool unicode) {
  if (!unicode) return {"-", "|", "+", "+", "+", "+", "+", "+", "+", "+", "+"};
  return {"─", "│", "┌", "┬", "┐", "├", "┼", "┤", "└", "┴", "┘"};
}

class TablePrinter {
 public:
  TablePrinter(const FormatSpec& format, cli::Console& console)
      : format_(format),
        console_(console),
        columns_(format.columns),
        has_box_(format.Has("box") || format.Has("all-box")),
        box_(BoxOf(console.unicode && !format.Has("ascii"))) {
    int pad = 0;
    if (absl::SimpleAtoi(format.Attribute("pad", ""), &pad)) pad_ = std::clamp(pad, 0, 100);
  }

  void Print(const std::vector<Row>& rows, bool headings) {
    for (const Row& row : rows) {
      Line& line = lines_.emplace_back();
      for (const Json& value : row) line.push_back(cli::Printable(TextOf(value)));
    }
    // Before anything is measured: a column that goes takes no room.
    DropEmptyColumns();
    if (columns_.empty()) return;
    for (const FormatColumn& column : columns_) heading_.push_back(column.label);
    headings_ = headings && !format_.Has("no-heading");
    Measure();
    PrintTitle();
    if (has_box_)
      PrintRule(format_.Has("title") ? box_.left : box_.top_left,
                box_.top,
                format_.Has("title") ? box_.right : box_.top_right);
    if (headings_) PrintHeading();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (i > 0 && format_.Has("all-box")) PrintRule(box_.left, box_.cross, box_.right);
      PrintRow(lines_[i]);
    }
    if (has_box_) PrintRule(box_.bottom_left, box_.bottom, box_.bottom_right);
  }

 private:
  void DropEmptyColumns() {
    // From the right, so that the indices of those that stay do not move.
    for (std::size_t i = columns_.size(); i-- > 0;) {
      const auto is_empty = [i](const Line& line) { return line[i].empty(); };
      if (!columns_[i].optional || !std::ranges::all_of(lines_, is_empty)) continue;
      const auto at = static_cast<std::ptrdiff_t>(i);
      columns_.erase(columns_.begin() + at);
      for (Line& line : lines_) line.erase(line.begin() + at);
    }
  }

  void Measure() {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      int width = std::max(headings_ ? cli::DisplayWidth(heading_[i]) : 0, columns_[i].width);
      for (const Line& line : lines_) width = std::max(width, cli::DisplayWidth(line[i]));
      widths_.push_back(width);
    }
    // Without a column that may wrap, a wide table stays wide: nothing is cut.
    const int wrapped = static_cast<int>(std::ranges::count_if(columns_, &FormatColumn::wraps));
    if (wrapped == 0) return;
    // The excess is shared evenly among the columns that wrap.
    const int excess = TotalWidth() - console_.width;
    for (std::size_t i = 0; excess > 0 && i < columns_.size(); ++i) {
      if (!columns_[i].wraps) continue;
      // A column is never made wider, nor narrower than can be read.
      const int least = std::min(widths_[i], kLeastWrapped);
      widths_[i] = std::max(widths_[i] - (excess + wrapped - 1) / wrapped, least);
    }
  }

  int TotalWidth() const {
    int total = has_box_ ? 1 : -pad_;
    for (const int width : widths_) total += width + (has_box_ ? 3 : pad_);
    return total;
  }

  void PrintTitle() {
    if (!format_.Has("title")) return;
    const std::string title = cli::Printable(format_.Attribute("title", ""));
    const int inner = TotalWidth() - (has_box_ ? 2 : 0);
    // A title wider than the table widens its last column. Must come before any row is printed.
    if (const int missing = cli::DisplayWidth(title) - inner; missing > 0) {
      widths_.back() += missing;
    }
    const int width = std::max(inner, cli::DisplayWidth(title));
    std::string line = Aligned(title, Alignment::kCenter, width);
    if (has_box_) {
      PrintRule(box_.top_left, box_.h, box_.top_right);
      line = box_.v + line + box_.v;
    }
    PrintText(line);
  }

  void PrintHeading() {
    if (!has_box_) {
      PrintRow(heading_);
      return;
    }
    Line cells;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      cells.push_back(Aligned(heading_[i], Alignment::kCenter, widths_[i]));
    }
    PrintCells(cells);
    PrintRule(box_.left, box_.cross, box_.right);
  }

  // A row takes several lines if a column wraps.
  void PrintRow(const Line& row) {
    std::vector<Line> parts;
    std::size_t height = 1;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      // A column of one character cannot hold a wide one.
      const bool is_long = cli::DisplayWidth(row[i]) > widths_[i] && widths_[i] >= 2;
      parts.push_back(is_long ? cli::Wrap(row[i], widths_[i]) : Line{row[i]});
      height = std::max(height, parts.back().size());
    }
    for (std::size_t part = 0; part < height; ++part) {
      Line cells;
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        const std::string text = part < parts[i].size() ? parts[i][part] : "";
        cells.push_back(Aligned(text, columns_[i].align, widths_[i]));
      }
      PrintCells(cells);
    }
  }

  void PrintCells(const Line& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (has_box_) line += box_.v + " " + cells[i] + " ";
      if (!has_box_)
        line += std::string(i == 0 ? 0 : static_cast<std::size_t>(pad_), ' ') + cells[i];
    }
    PrintText(has_box_ ? line + box_.v : line);
  }

  void PrintRule(const std::string& left, const std::string& middle, const std::string& right) {
    std::string line = left;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      if (i > 0) line += middle;
      for (int column = 0; column < widths_[i] + 2; ++column) line += box_.h;
    }
    PrintText(line + right);
  }

  void PrintText(const std::string& line) {
    console_.out << absl::StripTrailingAsciiWhitespace(line) << '\n';
  }

  const FormatSpec& format_;
  cli::Console& console_;
  std::vector<FormatColumn> columns_;
  const bool has_box_;
  const BoxStyle box_;
  int pad_ = 2;
  bool headings_ = true;
  Line heading_;
  std::vector<Line> lines_;
  std::vector<int> widths_;
};

}  // namespace

void PrintTable(const FormatSpec& format,
                std::vector<std::vector<Json>> rows,
                bool headings,
                cli::Console& console) {
  // Without rows nothing is printed, headings included.
  if (rows.empty()) return;
  SortRows(format, rows);
  TablePrinter(format, console).Print(rows, headings);
}

}  // namespace vernier::gcloud
