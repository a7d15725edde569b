#include "src/storage/sqlite/trial_scan.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "src/core/status.h"
#include "src/storage/metric_order.h"
#include "src/storage/sqlite/rows.h"

namespace vernier::sqlite {
namespace {

using storage::IsBefore;
using storage::Place;
using storage::PlaceOf;

// "'FAILED', 'CANCELLED'".
std::string NamesOf(const std::vector<TrialState>& states) {
  std::string names;
  for (const TrialState state : states) {
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", TrialStateName(state));
  }
  return names;
}

std::vector<TrialState> OpenStates() {
  std::vector<TrialState> states;
  for (int i = 0; i <= static_cast<int>(TrialState::kCancelled); ++i) {
    const auto state = static_cast<TrialState>(i);
    if (!IsFinished(state)) states.push_back(state);
  }
  return states;
}

// Whether the index on states leads to the trials: to those in one state, or in states that few are in. Otherwise SQLite would
// have to sort many.
bool IsByState(const std::vector<TrialState>& states) {
  const auto is_open = [](TrialState state) { return !IsFinished(state); };
  return states.size() == 1 || (!states.empty() && std::ranges::all_of(states, is_open));
}

std::string SelectByNumber(const TrialScan& scan) {
  const std::string condition =
      scan.states.empty() ? "" : fmt::format(" AND state IN ({})", NamesOf(scan.states));
  return fmt::format(
      "SELECT row FROM trials INDEXED BY {} WHERE study = ? AND number {} ?{} "
      "ORDER BY number{}",
      IsByState(scan.states) ? "trials_by_state" : "sqlite_autoindex_trials_1",
      scan.descending ? "<" : ">",
      condition,
      scan.descending ? " DESC" : "");
}

absl::Status ScanByNumber(Connection& connection,
                          StudyId study,
                          const TrialScan& scan,
                          const std::function<bool(Trial)>& visit) {
  const std::string sql = SelectByNumber(scan);
  const std::int64_t bound = scan.descending && scan.after.value() == 0
                                 ? std::numeric_limits<std::int64_t>::max()
                                 : scan.after.value();
  Statement select(connection, sql, study.value(), bound);
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
    if (!found) return absl::OkStatus();
    VERNIER_ASSIGN_OR_RETURN(Trial trial, ParseTrial(select.Text(0)));
    if (!visit(std::move(trial))) return absl::OkStatus();
  }
}

// Trials by a metric: those that have ended in the order of trial_metrics, those that have not merged in, the ones without a
// value behind them.
class MetricScan {
 public:
  MetricScan(Connection& connection,
             StudyId study,
             const TrialScan& scan,
             const std::function<bool(Trial)>& visit)
      : connection_(connection), study_(study), scan_(scan), visit_(visit) {}

  absl::Status Run() && {
    if (scan_.after.value() != 0) {
      VERNIER_ASSIGN_OR_RETURN(after_, FindPlace());
    }
    VERNIER_RETURN_IF_ERROR(LoadOpen());
    if (!after_.has_value() || after_->value.has_value()) {
      VERNIER_RETURN_IF_ERROR(RunRanked());
    }
    return stopped_ ? absl::OkStatus() : RunRest();
  }

 private:
  absl::StatusOr<Place> FindPlace() {
    const absl::StatusOr<Trial> trial = SelectTrial(connection_, {study_, scan_.after});
    if (absl::IsNotFound(trial.status())) return Place{.number = scan_.after.value()};
    VERNIER_RETURN_IF_ERROR(trial.status());
    return PlaceOf(*trial, scan_.metric);
  }

  bool IsBehind(const Place& place) const {
    return !after_.has_value() || IsBefore(*after_, place, scan_.descending);
  }
  void Visit(Trial trial) {
    if (!stopped_ && storage::IsWanted(scan_, trial.state)) stopped_ = !visit_(std::move(trial));
  }

  // Trials that have not ended and have a value; there are few.
  absl::Status LoadOpen() {
    const TrialScan open{.states = OpenStates()};
    const auto take = [&](Trial trial) {
      const Place place = PlaceOf(trial, scan_.metric);
      open_ranked_ += place.value.has_value() ? 1 : 0;
      if (place.value.has_value() && IsBehind(place)) open_.emplace_back(place, std::move(trial));
      return true;
    };
    VERNIER_RETURN_IF_ERROR(ScanByNumber(connection_, study_, open, take));
    std::sort(open_.begin(), open_.end(), [&](const auto& a, const auto& b) {
      return IsBefore(b.first, a.first, scan_.descending);  // The first is at the back.
    });
    return absl::OkStatus();
  }

  void VisitOpenBefore(const Place& place) {
    while (!stopped_ && !open_.empty() && IsBefore(open_.back().first, place, scan_.descending)) {
      Visit(std::move(open_.back().second));
      open_.pop_back();
    }
  }

  absl::Status RunRanked() {
    const std::string order = scan_.descending ? "value DESC, number" : "value, number";
    if (after_.has_value()) {
      Statement equals(connection_,
                       Ranked("value = ? AND number > ?", "number"),
                       study_.value(),
                       scan_.metric,
                       *after_->value,
                       after_->number);
      VERNIER_RETURN_IF_ERROR(VisitRanked(equals));
      if (stopped_) return absl::OkStatus();
    }
    const double infinity = std::numeric_limits<double>::infinity();
    const double first = scan_.descending ? infinity : -infinity;
    const char* const direction = scan_.descending ? "<" : ">";
    Statement rest(
        connection_,
        Ranked(fmt::format("value {}{} ?", direction, after_.has_value() ? "" : "="), order),
        study_.value(),
        scan_.metric,
        after_.has_value() ? *after_->value : first);
    VERNIER_RETURN_IF_ERROR(VisitRanked(rest));
    VisitOpenBefore(Place());
    return absl::OkStatus();
  }

  static std::string Ranked(std::string_view condition, std::string_view order) {
    return fmt::format(
        "SELECT value, number FROM trial_metrics WHERE study = ? AND metric = ? AND {} ORDER BY {}",
        condition,
        order);
  }

  absl::Status VisitRanked(Statement& select) {
    while (!stopped_) {
      VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
      if (!found) break;
      const Place place{.value = select.Double(0), .number = select.Integer(1)};
      VisitOpenBefore(place);
      if (stopped_) break;
      VERNIER_ASSIGN_OR_RETURN(Trial trial,
                               SelectTrial(connection_, {study_, TrialNumber(place.number)}));
      Visit(std::move(trial));
    }
    return absl::OkStatus();
  }

  // Numbers of trials that have ended and have a value.
  absl::StatusOr<std::vector<bool>> LoadRanked(std::size_t& count) {
    std::vector<bool> ranked;
    Statement select(connection_,
                     "SELECT number FROM trial_metrics WHERE study = ? AND metric = ?",
                     study_.value(),
                     scan_.metric);
    while (true) {
      VERNIER_ASSIGN_OR_RETURN(const bool found, select.Step());
      if (!found) return ranked;
      const auto number = static_cast<std::size_t>(select.Integer(0));
      if (number >= ranked.size()) ranked.resize(std::max(number + 1, 2 * ranked.size()));
      ranked[number] = true;
      ++count;
    }
  }

  // Trials without a value.
  absl::Status RunRest() {
    std::size_t count = open_ranked_;
    VERNIER_ASSIGN_OR_RETURN(const std::vector<bool> ranked, LoadRanked(count));
    Statement trials(connection_, "SELECT count(*) FROM trials WHERE study = ?", study_.value());
    VERNIER_RETURN_IF_ERROR(trials.Step().status());
    if (static_cast<std::size_t>(trials.Integer(0)) == count) return absl::OkStatus();
    const bool is_among = after_.has_value() && !after_->value.has_value();
    Statement numbers(connection_,
                      "SELECT number FROM trials WHERE study = ? AND number > ? ORDER BY number",
                      study_.value(),
                      is_among ? after_->number : std::int64_t{0});
    while (!stopped_) {
      VERNIER_ASSIGN_OR_RETURN(const bool found, numbers.Step());
      if (!found) break;
      const TrialNumber number(numbers.Integer(0));
      const auto at = static_cast<std::size_t>(number.value());
      if (at < ranked.size() && ranked[at]) continue;
      VERNIER_ASSIGN_OR_RETURN(Trial trial, SelectTrial(connection_, {study_, number}));
      if (!PlaceOf(trial, scan_.metric).value.has_value()) Visit(std::move(trial));
    }
    return absl::OkStatus();
  }

  Connection& connection_;
  const StudyId study_;
  const TrialScan& scan_;
  const std::function<bool(Trial)>& visit_;
  std::optional<Place> after_;
  std::vector<std::pair<Place, Trial>> open_;  // Still to be visited; the next one is the last.
  std::size_t open_ranked_ = 0;
  bool stopped_ = false;
};

}  // namespace

absl::Status ScanTrials(Connection& connection,
                        StudyId study,
                        const TrialScan& scan,
                        const std::function<bool(Trial)>& visit) {
  VERNIER_RETURN_IF_ERROR(SelectStudyVersion(connection, study).status());
  if (scan.metric.empty()) return ScanByNumber(connection, study, scan, visit);
  return MetricScan(connection, study, scan, visit).Run();
}

}  // namespace vernier::sqlite
