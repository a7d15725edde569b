#include "src/storage/sqlite/trial_scan.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
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

std::vector<TrialState> OpenStates() {
  std::vector<TrialState> states;
  for (int i = 0; i <= static_cast<int>(TrialState::kCancelled); ++i) {
    const auto state = static_cast<TrialState>(i);
    if (!IsFinished(state)) states.push_back(state);
  }
  return states;
}

// Trials in the order of their numbers: all of the study, or those in one state.
std::string SelectByNumber(const TrialScan& scan, std::optional<TrialState> state) {
  return fmt::format(
      "SELECT number, row FROM trials INDEXED BY {} WHERE study = ?{} AND number {} ? "
      "ORDER BY number{}",
      state.has_value() ? "trials_by_state" : "sqlite_autoindex_trials_1",
      state.has_value() ? fmt::format(" AND state = '{}'", TrialStateName(*state)) : "",
      scan.descending ? "<" : ">",
      scan.descending ? " DESC" : "");
}

// One of the sequences that a scan by number consists of.
struct Sequence {
  std::unique_ptr<Statement> select;
  std::int64_t next = 0;  // The number of its current row.
};

// Goes to the next row. False: there is none.
absl::StatusOr<bool> Advance(Sequence& sequence) {
  VERNIER_ASSIGN_OR_RETURN(const bool found, sequence.select->Step());
  if (found) sequence.next = sequence.select->Integer(0);
  return found;
}

// Visits trials by number. With several states, their sequences are merged, so that no row in
// another state is read.
absl::Status ScanByNumber(Connection& connection,
                          StudyId study,
                          const TrialScan& scan,
                          const std::function<bool(Trial)>& visit) {
  // Without a trial to start after, a descending scan starts above every number; 0 is below all of them.
  const std::int64_t bound = scan.descending && scan.after.value() == 0
                                 ? std::numeric_limits<std::int64_t>::max()
                                 : scan.after.value();
  std::vector<Sequence> sequences;
  const auto add = [&](std::optional<TrialState> state) -> absl::Status {
    const std::string sql = SelectByNumber(scan, state);
    Sequence sequence{.select = std::make_unique<Statement>(connection, sql, study.value(), bound)};
    VERNIER_ASSIGN_OR_RETURN(const bool found, Advance(sequence));
    if (found) sequences.push_back(std::move(sequence));
    return absl::OkStatus();
  };
  if (scan.states.empty()) VERNIER_RETURN_IF_ERROR(add(std::nullopt));
  // A set, since two sequences of one state would visit its trials twice, and share one prepared statement.
  for (const TrialState state : std::set(scan.states.begin(), scan.states.end())) {
    VERNIER_RETURN_IF_ERROR(add(state));
  }
  const auto is_before = [&](const Sequence& a, const Sequence& b) {
    return scan.descending ? a.next > b.next : a.next < b.next;
  };
  while (!sequences.empty()) {
    const auto first = std::ranges::min_element(sequences, is_before);
    VERNIER_ASSIGN_OR_RETURN(Trial trial, ParseTrial(first->select->Text(1)));
    if (!visit(std::move(trial))) return absl::OkStatus();
    VERNIER_ASSIGN_OR_RETURN(const bool found, Advance(*first));
    if (!found) sequences.erase(first);
  }
  return absl::OkStatus();
}

absl::Status ScanNumbers(Connection& connection,
                         StudyId study,
                         const std::vector<TrialNumber>& numbers,
                         const std::function<bool(Trial)>& visit) {
  for (const TrialNumber number : numbers) {
    absl::StatusOr<Trial> trial = SelectTrial(connection, {study, number});
    if (absl::IsNotFound(trial.status())) continue;
    VERNIER_RETURN_IF_ERROR(trial.status());
    if (!visit(*std::move(trial))) break;
  }
  return absl::OkStatus();
}

// Trials by a metric: those that have ended in the order of trial_metrics, and those that have not merged in.
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
      // Without a value it has no place in this order, and nothing comes after it
      // (TrialScan::after).
      if (!after_->value.has_value()) return absl::OkStatus();
    }
    // Trials at work have no rows in trial_metrics: each report would change them.
    VERNIER_RETURN_IF_ERROR(LoadOpen());
    // Two queries, each over one range of the key. A single condition on value and number would not
    // do: numbers rise also where values fall.
    if (after_.has_value()) VERNIER_RETURN_IF_ERROR(RunEquals());
    if (!stopped_) VERNIER_RETURN_IF_ERROR(RunRange());
    // A place without a value is behind all with one, so this visits the rest.
    VisitOpenBefore(Place());
    return absl::OkStatus();
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
  // The order of a metric has trials in all states, so the state is checked row by row.
  void Visit(Trial trial) {
    if (!stopped_ && storage::IsWanted(scan_, trial.state)) stopped_ = !visit_(std::move(trial));
  }

  // Trials that have not ended and have a value; there are few.
  absl::Status LoadOpen() {
    const TrialScan open{.states = OpenStates()};
    const auto take = [&](Trial trial) {
      const Place place = PlaceOf(trial, scan_.metric);
      const bool is_ours = storage::IsInRange(scan_, place.value) && IsBehind(place);
      if (is_ours) open_.emplace_back(place, std::move(trial));
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

  // Visits the other trials with the value of the trial that the scan starts after.
  absl::Status RunEquals() {
    if (!storage::IsInRange(scan_, after_->value)) return absl::OkStatus();
    Statement equals(connection_,
                     Ranked("value = ? AND number > ?", "number"),
                     study_.value(),
                     scan_.metric,
                     *after_->value,
                     after_->number);
    return VisitRanked(equals);
  }

  // Visits the trials in the range whose value comes after that of the trial that the scan starts after.
  absl::Status RunRange() {
    double least = scan_.least;
    double most = scan_.most;
    const char* lower = ">=";
    const char* upper = "<=";
    // A trial ahead of the range in this order leaves the range whole; one behind it leaves nothing.
    if (after_.has_value() && scan_.descending && *after_->value <= most) {
      most = *after_->value;
      upper = "<";
    } else if (after_.has_value() && !scan_.descending && *after_->value >= least) {
      least = *after_->value;
      lower = ">";
    }
    Statement range(connection_,
                    Ranked(fmt::format("value {} ? AND value {} ?", lower, upper),
                           scan_.descending ? "value DESC, number" : "value, number"),
                    study_.value(),
                    scan_.metric,
                    least,
                    most);
    return VisitRanked(range);
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

  Connection& connection_;
  const StudyId study_;
  const TrialScan& scan_;
  const std::function<bool(Trial)>& visit_;
  std::optional<Place> after_;
  std::vector<std::pair<Place, Trial>> open_;  // Still to be visited; the next one is the last.
  bool stopped_ = false;
};

}  // namespace

absl::Status ScanTrials(Connection& connection,
                        StudyId study,
                        const TrialScan& scan,
                        const std::function<bool(Trial)>& visit) {
  // Rows of a deleted study may still be there.
  VERNIER_RETURN_IF_ERROR(SelectStudyVersion(connection, study).status());
  if (!scan.numbers.empty()) return ScanNumbers(connection, study, scan.numbers, visit);
  if (scan.metric.empty()) return ScanByNumber(connection, study, scan, visit);
  return MetricScan(connection, study, scan, visit).Run();
}

}  // namespace vernier::sqlite
