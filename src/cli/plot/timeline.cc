// A trial waits for resources, is prepared, and runs, once for each attempt. An attempt that ended while its trial went
// on has failed; only the last attempt has the trial's outcome.

#include "src/cli/plot/timeline.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "src/cli/terminal/figures.h"

namespace vernier::plot {
namespace {

Fate FateOfAttempt(const Attempt& attempt, const PlotTrial& trial) {
  // By address: it is an element of the trial's own list.
  const bool is_last = &attempt == &trial.trial.attempts.back();
  if (is_last && IsFinished(trial.trial.state)) return trial.fate;
  return IsEnded(attempt.state) ? Fate::kFailed : Fate::kOpen;
}

// Collects the spans of one trial.
class Spans {
 public:
  Spans(const PlotTrial& trial, std::vector<Span>& out) : trial_(trial), out_(out) {}

  void Add(Phase phase, std::int64_t attempt, Fate fate, absl::Time from, absl::Time to) {
    // Empty periods are left out, but a program that ended at once is shown.
    if (to <= from && phase != Phase::kRunning) return;
    out_.push_back({.trial = trial_.number(),
                    .attempt = attempt,
                    .phase = phase,
                    .fate = fate,
                    .from = from,
                    .to = std::max(from, to)});
  }

 private:
  const PlotTrial& trial_;
  std::vector<Span>& out_;
};

void AddTrial(const PlotTrial& each, absl::Time now, std::vector<Span>& out) {
  const Trial& trial = each.trial;
  const absl::Time end = trial.ended.value_or(now);
  Spans spans(each, out);
  // A trial of a client, or one that still waits.
  if (trial.attempts.empty()) {
    // What a client does is told by the trial alone, which has no attempts.
    spans.Add(Phase::kWaiting, 0, Fate::kOpen, trial.created, trial.started.value_or(end));
    if (trial.started) spans.Add(Phase::kRunning, 0, each.fate, *trial.started, end);
    return;
  }
  absl::Time waits_since = trial.created;
  for (const Attempt& attempt : trial.attempts) {
    const std::int64_t number = attempt.number.value();
    // An attempt that has not ended lasts until its trial does, or until now.
    const absl::Time until = attempt.ended.value_or(end);
    spans.Add(Phase::kWaiting, number, Fate::kOpen, waits_since, attempt.placed);
    spans.Add(
        Phase::kPreparing, number, Fate::kOpen, attempt.placed, attempt.started.value_or(until));
    if (attempt.started) {
      spans.Add(Phase::kRunning, number, FateOfAttempt(attempt, each), *attempt.started, until);
    }
    // Between attempts, the trial waits again.
    waits_since = until;
  }
  // The last attempt has ended, and the trial has not: it waits for the next one.
  if (!trial.ended && trial.attempts.back().ended) {
    spans.Add(Phase::kWaiting, 0, Fate::kOpen, waits_since, now);
  }
}

Paint PaintOfSpan(const Span& span) {
  switch (span.phase) {
    case Phase::kWaiting:
      return {.ink = Ink::kMuted};
    case Phase::kPreparing:
      return {.ink = Ink::kPurple};
    case Phase::kRunning:
      break;
  }
  return PaintOf(span.fate);
}

std::string TitleOf(const Span& span) {
  std::string text = fmt::format("trial {}", span.trial);
  if (span.attempt > 1) text += fmt::format(", attempt {}", span.attempt);
  text += fmt::format(": {} {}", PhaseName(span.phase), cli::FormatElapsed(span.to - span.from));
  if (span.phase == Phase::kRunning) text += fmt::format(" ({})", FateName(span.fate));
  return text;
}

void AddPhaseLegend(const std::vector<Span>& spans, Figure& figure) {
  const auto has = [&spans](Phase phase) {
    return std::any_of(
        spans.begin(), spans.end(), [phase](const Span& span) { return span.phase == phase; });
  };
  if (has(Phase::kWaiting)) {
    figure.legend.push_back(
        {.text = "waiting", .paint = {.ink = Ink::kMuted}, .is_box = true, .fill = Fill::kPale});
  }
  if (has(Phase::kPreparing)) {
    figure.legend.push_back({.text = "preparing", .paint = {.ink = Ink::kPurple}, .is_box = true});
  }
  std::vector<Fate> fates;
  for (const Span& span : spans) {
    if (span.phase == Phase::kRunning) fates.push_back(span.fate);
  }
  for (LegendEntry entry : FateLegend(fates)) {
    // The square is the shape of trials that have not ended.
    entry.text = entry.shape == Shape::kSquare ? "running" : "ran: " + entry.text;
    entry.shape.reset();
    entry.is_box = true;
    figure.legend.push_back(std::move(entry));
  }
}

}  // namespace

std::string_view PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kWaiting:
      return "waiting";
    case Phase::kPreparing:
      return "preparing";
    case Phase::kRunning:
      break;
  }
  return "running";
}

std::vector<Span> Timeline(const StudyData& study) {
  std::vector<Span> spans;
  for (const PlotTrial& trial : study.trials) AddTrial(trial, study.now, spans);
  return spans;
}

Figure TimelineFigure(const StudyData& study, absl::TimeZone zone, std::size_t most) {
  Figure figure = {.title = fmt::format("{}: trials over time", study.name())};
  std::vector<Span> spans = Timeline(study);
  const std::size_t all = study.trials.size();
  const std::size_t shown = most > 0 ? std::min(most, all) : all;
  if (all > shown) {
    // Trials are in the order of their numbers.
    const std::int64_t first = study.trials[all - shown].number();
    std::erase_if(spans, [first](const Span& span) { return span.trial < first; });
    figure.notes.push_back(fmt::format("the last {} of {} trials; --svg draws all", shown, all));
  }
  if (spans.empty()) {
    figure.empty = fmt::format("study {}: there are no trials yet", study.name());
    return figure;
  }
  absl::Time begin = absl::InfiniteFuture();
  absl::Time end = absl::InfinitePast();
  for (const Span& span : spans) {
    begin = std::min(begin, span.from);
    end = std::max(end, span.to);
  }
  const auto seconds = [begin](absl::Time time) { return absl::ToDoubleSeconds(time - begin); };
  const double first = static_cast<double>(spans.front().trial);
  const double last = static_cast<double>(spans.back().trial);
  const std::string since = absl::FormatTime("%Y-%m-%d %H:%M:%S %Z", begin, zone);
  // Runs downwards, so that the first trial is on top.
  Panel panel = {.x = {.scale = AxisScale::Elapsed(0, std::max(1e-3, seconds(end))).Padded(0.004),
                       .label = "since " + since},
                 .y = {.scale = AxisScale::Whole(last + 0.5, first - 0.5), .label = "trial"}};
  for (const Span& span : spans) {
    const auto row = static_cast<double>(span.trial);
    const bool is_thin = span.phase == Phase::kWaiting;
    panel.marks.emplace_back(Box{.from = {seconds(span.from), row - (is_thin ? 0.2 : 0.36)},
                                 .to = {seconds(span.to), row + (is_thin ? 0.2 : 0.36)},
                                 .paint = PaintOfSpan(span),
                                 .fill = is_thin ? Fill::kPale : Fill::kSolid,
                                 .title = TitleOf(span)});
  }
  figure.subtitle = fmt::format(
      "{} trial{} in {}", shown, shown == 1 ? "" : "s", cli::FormatElapsed(end - begin));
  AddPhaseLegend(spans, figure);
  figure.panels.push_back(std::move(panel));
  figure.panel_height = std::clamp(14.0 * (last - first + 1), 60.0, 700.0);
  // In text, each trial has a line of its own.
  figure.panel_lines = static_cast<int>(last - first + 1);
  return figure;
}

}  // namespace vernier::plot
