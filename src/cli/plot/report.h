#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/cli/plot/figure.h"

namespace vernier::plot {

// A table of a report. All cells are text; columns of numbers are aligned to the right.
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

// A part of a report: a heading, then whatever of it is not empty.
struct ReportSection {
  std::string heading;
  std::string text;                                        // A sentence.
  std::vector<std::pair<std::string, std::string>> facts;  // Names and values.
  std::vector<Figure> figures;
  ReportTable table;
  std::string code;  // Shown as it is, behind a summary that opens it.
};

struct Report {
  std::string title;
  std::string subtitle;
  std::vector<ReportSection> sections;
  std::string footer;
};

// The report as one HTML page that needs nothing else: figures inline, no script, light and dark, ready to print.
std::string RenderHtml(const Report& report);

}  // namespace vernier::plot
