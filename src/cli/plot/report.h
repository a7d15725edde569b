#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/cli/plot/figure.h"

namespace vernier::plot {

// A table of a report. Cells are text; columns of numbers are right-aligned.
struct ReportTable {
  struct Column {
    std::string name;
    bool is_number = false;
  };
  std::vector<Column> columns;
  struct Row {
    std::vector<std::string> cells;  // One for each column.
    bool is_best = false;
  };
  std::vector<Row> rows;
};

// A section of a report: a heading, followed by every part that is not empty.
struct ReportSection {
  std::string heading;
  std::string text;                                        // A sentence.
  std::vector<std::pair<std::string, std::string>> facts;  // Names and values.
  std::vector<Figure> figures;
  ReportTable table;
  std::string code;  // Shown verbatim, in a block that can be folded.
};

struct Report {
  std::string title;
  std::string subtitle;
  std::vector<ReportSection> sections;
  std::string footer;
};

// The report as one self-contained HTML page: inline figures, no script, light and dark themes, printable.
std::string RenderHtml(const Report& report);

}  // namespace vernier::plot
