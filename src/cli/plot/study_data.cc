// Outcomes and their appearance. Colour and shape both differ between outcomes, so that figures can be read without
// colour and by the colour-blind.

#include "src/cli/plot/study_data.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"
#include "src/core/counted_metrics.h"

namespace vernier::plot {
namespace {

// In the order of the legend.
constexpr std::array<Fate, 6> kFates = {Fate::kCompleted,
                                        Fate::kStopped,
                                        Fate::kBreaking,
                                        Fate::kFailed,
                                        Fate::kCancelled,
                                        Fate::kOpen};

}  // namespace

std::optional<double> PlotTrial::ValueOf(const std::string& metric) const {
  // A failed trial may have reported values, but they do not count.
  return fate == Fate::kFailed ? std::nullopt : CountedValue(trial, metric);
}

const PlotTrial* StudyData::Find(std::int64_t number) const {
  // Trials are sorted by number.
  const auto found = std::lower_bound(
      trials.begin(), trials.end(), number, [](const PlotTrial& trial, std::int64_t wanted) {
        return trial.number() < wanted;
      });
  return found != trials.end() && found->number() == number ? &*found : nullptr;
}

const PlotTrial* StudyData::Best(const Objective& objective) const {
  const PlotTrial* best = nullptr;
  double best_value = 0;
  for (const PlotTrial& trial : trials) {
    const auto value = trial.ValueOf(objective.metric);
    if (!trial.counts() || !value || !std::isfinite(*value)) continue;
    if (best != nullptr && !IsBetter(objective.goal, *value, best_value)) continue;
    best = &trial;
    best_value = *value;
  }
  return best;
}

Fate FateOf(const Trial& trial, bool breaks_constraint) {
  switch (trial.state) {
    case TrialState::kCompleted:
      // Before the stop: a trial that breaks a constraint does not count, stopped or not.
      if (breaks_constraint) return Fate::kBreaking;
      return trial.stop ? Fate::kStopped : Fate::kCompleted;
    case TrialState::kFailed:
    case TrialState::kInfeasible:
      return Fate::kFailed;
    case TrialState::kCancelled:
      return Fate::kCancelled;
    default:
      return Fate::kOpen;
  }
}

std::string_view FateName(Fate fate) {
  switch (fate) {
    case Fate::kCompleted:
      return "completed";
    case Fate::kStopped:
      return "stopped early";
    case Fate::kBreaking:
      return "breaks a constraint";
    case Fate::kFailed:
      return "failed";
    case Fate::kCancelled:
      return "cancelled";
    case Fate::kOpen:
      return "not ended";
  }
  return "";
}

Shape ShapeOf(Fate fate) {
  switch (fate) {
    case Fate::kCompleted:
      return Shape::kDisc;
    case Fate::kStopped:
      return Shape::kDiamond;
    case Fate::kBreaking:
      return Shape::kRing;
    case Fate::kFailed:
      return Shape::kCross;
    case Fate::kCancelled:
      return Shape::kPlus;
    case Fate::kOpen:
      return Shape::kSquare;
  }
  return Shape::kDisc;
}

Paint PaintOf(Fate fate) {
  switch (fate) {
    case Fate::kCompleted:
      return {.ink = Ink::kBlue};
    case Fate::kStopped:
      return {.ink = Ink::kOrange};
    case Fate::kBreaking:
    case Fate::kCancelled:
      return {.ink = Ink::kMuted};
    case Fate::kFailed:
      return {.ink = Ink::kRed};
    case Fate::kOpen:
      return {.ink = Ink::kGreen};
  }
  return {};
}

std::vector<LegendEntry> FateLegend(const std::vector<Fate>& shown) {
  std::vector<LegendEntry> legend;
  for (const Fate fate : kFates) {
    if (std::find(shown.begin(), shown.end(), fate) == shown.end()) continue;
    legend.push_back(
        {.text = std::string(FateName(fate)), .paint = PaintOf(fate), .shape = ShapeOf(fate)});
  }
  return legend;
}

std::string Subscription(const Objective& objective) {
  return fmt::format(
      "{} {}", objective.goal == Goal::kMaximize ? "maximize" : "minimize", objective.metric);
}

std::string TrialTitle(const PlotTrial& trial, const std::string& metric) {
  const auto value = trial.ValueOf(metric);
  return fmt::format("trial {}: {} ({})",
                     trial.number(),
                     value ? fmt::format("{} {}", metric, cli::FormatFigure(*value)) : "no value",
                     FateName(trial.fate));
}

}  // namespace vernier::plot
