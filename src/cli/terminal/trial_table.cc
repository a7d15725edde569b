#include "src/cli/terminal/trial_table.h"

#include <algorithm>
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

Table TrialTable(std::span<const TrialRow> rows, bool unicode) {
  Table table({{.name = "NUMBER", .align = Align::kRight},
               {.name = "STATE"},
               {.name = "OBJECTIVE", .align = Align::kRight},
               {.name = "CURVE"},
               {.name = "PARAMETERS", .flexible = true},
               {.name = "DURATION", .align = Align::kRight}});
  for (const TrialRow& row : rows) {
    table.AddRow({{.text = fmt::format("{}{}", row.number, row.is_best ? "*" : ""),
                   .style = row.is_best ? Style::kBold : Style::kPlain},
                  {.text = std::string(TrialStateName(row.state)),
                   .style = StyleOf(row.state, row.stopped_early)},
                  {.text = row.objective ? FormatFigure(*row.objective) : "-",
                   .style = row.is_best ? Style::kBold : Style::kPlain},
                  {.text = row.curve.size() > 1 ? Sparkline(row.curve, kCurveWidth, unicode) : "-",
                   .style = Style::kCyan},
                  {.text = row.parameters},
                  {.text = row.duration ? FormatElapsed(*row.duration) : "-"}});
  }
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
