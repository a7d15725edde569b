// Cells are made once here for lists and live views, so that a trial looks the same in both. Text never relies on
// colour alone: the best trial has a star, a broken constraint an exclamation mark.

#include "src/cli/terminal/trial_table.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"

namespace vernier::cli {
namespace {

void AppendPair(const std::string& name, const ParameterValue& value, std::string& text) {
  if (!text.empty()) text += ' ';
  const double* number = std::get_if<double>(&value);
  text += fmt::format("{}={}", name, number ? FormatCompact(*number) : FormatValue(value));
}

Style NumberStyle(const TrialSummary& row) {
  if (row.is_best) return Style::kBold;
  return row.breaks_constraint ? Style::kDim : Style::kPlain;
}

std::vector<Cell> CellsOf(const TrialSummary& row,
                          std::size_t objectives,
                          bool messages,
                          const TrialScale& scale) {
  std::vector<Cell> cells = {NumberCell(row), StateCell(row, scale)};
  for (std::size_t i = 0; i < objectives; ++i) {
    const bool is_there = i < row.objectives.size() && row.objectives[i].has_value();
    cells.push_back(
        {.text = is_there ? FormatFigure(*row.objectives[i]) : "-", .style = NumberStyle(row)});
  }
  cells.push_back(CurveCell(row, scale));
  cells.push_back({.text = row.parameters});
  cells.push_back({.text = row.duration ? FormatElapsed(*row.duration) : "-"});
  if (messages) cells.push_back({.text = row.message});
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

TrialScale ScaleOf(std::span<const TrialSummary> rows, bool unicode, std::int64_t longest) {
  TrialScale scale = {.unicode = unicode, .longest = longest, .curves = {}};
  std::vector<std::vector<double>> curves;
  for (const TrialSummary& row : rows) {
    scale.longest = std::max(scale.longest, row.last_step);
    // A single value is no curve, and would widen the common scale.
    if (row.curve.size() > 1) curves.push_back(row.curve);
  }
  scale.curves = CommonScale(curves, kCurveWidth);
  return scale;
}

std::string StateText(const TrialSummary& row, std::int64_t longest) {
  if (!row.stopped_early) return std::string(TrialStateName(row.state));
  if (row.last_step <= 0) return "STOPPED";
  return fmt::format("STOPPED {}/{}", row.last_step, std::max(row.last_step, longest));
}

Cell NumberCell(const TrialSummary& row) {
  return {.text = fmt::format("{}{}",
                              row.number,
                              row.is_best             ? "*"
                              : row.breaks_constraint ? "!"
                                                      : ""),
          .style = NumberStyle(row)};
}

Cell StateCell(const TrialSummary& row, const TrialScale& scale) {
  return {.text = StateText(row, scale.longest), .style = StyleOf(row.state, row.stopped_early)};
}

Cell CurveCell(const TrialSummary& row, const TrialScale& scale) {
  return {.text = row.curve.size() > 1
                      ? Sparkline(row.curve, kCurveWidth, scale.unicode, scale.curves)
                      : "-",
          .style = Style::kCyan};
}

Column CurveColumn() { return {.name = "CURVE"}; }

Column MessageColumn() {
  // A choice: less of a message says nothing.
  constexpr int kReadable = 16;
  return {.name = "MESSAGE", .flexible = true, .least = kReadable};
}

Table TrialTable(std::span<const TrialSummary> rows,
                 std::span<const Objective> objectives,
                 const TrialScale& scale) {
  std::vector<Column> columns = {{.name = "NUMBER", .align = Align::kRight}, {.name = "STATE"}};
  for (const Objective& objective : objectives) {
    columns.push_back(
        {.name = objectives.size() == 1 ? "OBJECTIVE" : objective.metric, .align = Align::kRight});
  }
  columns.push_back(CurveColumn());
  columns.push_back({.name = "PARAMETERS", .flexible = true});
  columns.push_back({.name = "DURATION", .align = Align::kRight});
  const bool messages = std::any_of(
      rows.begin(), rows.end(), [](const TrialSummary& row) { return !row.message.empty(); });
  // Only then: the room is better spent on parameters.
  if (messages) columns.push_back(MessageColumn());
  Table table(std::move(columns));
  for (const TrialSummary& row : rows)
    table.AddRow(CellsOf(row, objectives.size(), messages, scale));
  return table;
}

std::string CompactPoint(const Point& point, std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) {
    const auto found = point.find(name);
    if (found != point.end()) AppendPair(name, found->second, text);
  }
  // Parameters that are not among the names come last, so that none is lost.
  for (const auto& [name, value] : point) {
    if (std::find(names.begin(), names.end(), name) == names.end()) AppendPair(name, value, text);
  }
  return text;
}

}  // namespace vernier::cli
