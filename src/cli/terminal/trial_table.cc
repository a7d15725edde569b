#include "src/cli/terminal/trial_table.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"

namespace vernier::cli {
namespace {

constexpr int kCurveWidth = 8;

void AppendPair(const std::string& name, const ParameterValue& value, std::string& text) {
  if (!text.empty()) text += ' ';
  const double* number = std::get_if<double>(&value);
  text += fmt::format("{}={}", name, number ? FormatCompact(*number) : FormatValue(value));
}

std::string Marked(const TrialRow& row) {
  return fmt::format("{}{}", row.number, row.is_best ? "*" : row.breaks_constraint ? "!" : "");
}

std::vector<Cell> CellsOf(const TrialRow& row, std::size_t objectives, bool unicode) {
  const Style style = row.is_best             ? Style::kBold
                      : row.breaks_constraint ? Style::kDim
                                              : Style::kPlain;
  std::vector<Cell> cells = {{.text = Marked(row), .style = style},
                             {.text = std::string(TrialStateName(row.state)),
                              .style = StyleOf(row.state, row.stopped_early)}};
  for (std::size_t i = 0; i < objectives; ++i) {
    const bool is_there = i < row.objectives.size() && row.objectives[i].has_value();
    cells.push_back({.text = is_there ? FormatFigure(*row.objectives[i]) : "-", .style = style});
  }
  cells.push_back({.text = row.curve.size() > 1 ? Sparkline(row.curve, kCurveWidth, unicode) : "-",
                   .style = Style::kCyan});
  cells.push_back({.text = row.parameters});
  cells.push_back({.text = row.duration ? FormatElapsed(*row.duration) : "-"});
  return cells;
}

}  // namespace

Style StyleOf(TrialState state, bool stopped_early) {
  switch (state) {
    case TrialState::kCompleted:
      return stopped_early ? Style::kYellow : Style::kGreen;
    case TrialState::kFailed:
    case TrialState::kInfeasible:
      return Style::kRed;
    case TrialState::kCancelled:
      return Style::kDim;
    case TrialState::kRunning:
    case TrialState::kStopping:
      return Style::kCyan;
    case TrialState::kRequested:
    case TrialState::kQueued:
    case TrialState::kPreparing:
    case TrialState::kPaused:
      return Style::kPlain;
  }
  return Style::kPlain;
}

Table TrialTable(std::span<const TrialRow> rows,
                 std::span<const Objective> objectives,
                 bool unicode) {
  std::vector<Column> columns = {{.name = "NUMBER", .align = Align::kRight}, {.name = "STATE"}};
  for (const Objective& objective : objectives) {
    columns.push_back(
        {.name = objectives.size() == 1 ? "OBJECTIVE" : objective.metric, .align = Align::kRight});
  }
  columns.push_back({.name = "CURVE"});
  columns.push_back({.name = "PARAMETERS", .flexible = true});
  columns.push_back({.name = "DURATION", .align = Align::kRight});
  Table table(std::move(columns));
  for (const TrialRow& row : rows) table.AddRow(CellsOf(row, objectives.size(), unicode));
  return table;
}

std::string CompactPoint(const Point& point, std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) {
    const auto found = point.find(name);
    if (found != point.end()) AppendPair(name, found->second, text);
  }
  for (const auto& [name, value] : point) {
    if (std::find(names.begin(), names.end(), name) == names.end()) AppendPair(name, value, text);
  }
  return text;
}

}  // namespace vernier::cli
