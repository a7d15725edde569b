#include "src/service/trial_lists.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "src/wire/columns.h"
#include "vernier/core/error.h"

namespace vernier::service {
namespace {

constexpr std::string_view kMetrics = "metrics.";

// What the rankings may hold at most, all together: 32 MiB.
constexpr std::size_t kMostRanked = 4'000'000;

bool Matches(const wire::Filter& filter, const Trial& trial) {
  return filter.Matches(
      [&](std::string_view column) { return wire::ReadCell(wire::TrialColumns(), trial, column); });
}

// The scan that has the trials in this order, if there is one. Equals are in the order of their numbers anyway.
std::optional<TrialScan> ScanIn(const wire::Order& order) {
  std::span<const wire::Order::Term> terms = order.terms();
  if (terms.size() == 2 && terms[1].column == "number" && !terms[1].descending) {
    terms = terms.first(1);
  }
  if (terms.empty()) return TrialScan();
  if (terms.size() > 1) return std::nullopt;
  const std::string_view column = terms.front().column;
  TrialScan scan{.descending = terms.front().descending};
  if (column == "number") return scan;
  if (!column.starts_with(kMetrics)) return std::nullopt;
  scan.metric = column.substr(kMetrics.size());
  return scan;
}

// The states of the trials that the filter lets through; empty: maybe all.
std::vector<TrialState> StatesOf(const wire::Filter& filter) {
  std::vector<TrialState> states;
  const auto names = filter.Alternatives("state");
  if (!names.has_value()) return states;
  for (int i = 0; i <= static_cast<int>(TrialState::kCancelled); ++i) {
    const auto state = static_cast<TrialState>(i);
    const bool is_named = std::ranges::find(*names, TrialStateName(state)) != names->end();
    if (is_named) states.push_back(state);
  }
  return states;
}

}  // namespace

absl::Status TrialLists::Read(const Query& query,
                              const wire::PageToken& begin,
                              const std::function<bool(Trial)>& take) {
  const wire::ColumnSet& columns = wire::TrialColumnSet();
  VERNIER_ASSIGN_OR_RETURN(const auto filter, wire::Filter::Parse(query.filter, columns));
  VERNIER_ASSIGN_OR_RETURN(const auto order, wire::Order::Parse(query.order_by, columns));
  std::optional<TrialScan> scan = ScanIn(order);
  if (!scan.has_value()) return ReadRanked(query, filter, order, begin, take);
  scan->after = TrialNumber(begin.last);
  scan->states = StatesOf(filter);
  return studies_.ScanTrials(query.study, *scan, [&](Trial trial) {
    return !Matches(filter, trial) || take(std::move(trial));
  });
}

absl::Status TrialLists::ReadRanked(const Query& query,
                                    const wire::Filter& filter,
                                    const wire::Order& order,
                                    const wire::PageToken& begin,
                                    const std::function<bool(Trial)>& take) {
  VERNIER_ASSIGN_OR_RETURN(const auto ranking, GetRanking(query, filter, order));
  // Behind the last one given, wherever it is by now; where it was, if it is gone.
  auto next = ranking->begin() + std::clamp<std::ptrdiff_t>(begin.offset, 0, std::ssize(*ranking));
  const TrialNumber last(begin.last);
  if (begin.last != 0 && (next == ranking->begin() || *std::prev(next) != last)) {
    const auto found = std::ranges::find(*ranking, last);
    if (found != ranking->end()) next = std::next(found);
  }
  for (; next != ranking->end(); ++next) {
    absl::StatusOr<Trial> trial = studies_.GetTrial({query.study, *next});
    if (GetReason(trial.status()) == Reason::kTrialNotFound) continue;  // Deleted meanwhile.
    VERNIER_RETURN_IF_ERROR(trial.status());
    if (!take(*std::move(trial))) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const TrialLists::Ranking>> TrialLists::GetRanking(
    const Query& query, const wire::Filter& filter, const wire::Order& order) {
  VERNIER_ASSIGN_OR_RETURN(const Study study, studies_.GetStudy(query.study));
  if (auto kept = FindKept(query, study.last_event)) return kept;
  std::vector<std::pair<std::vector<wire::Cell>, TrialNumber>> keys;
  const TrialScan all{.states = StatesOf(filter)};
  VERNIER_RETURN_IF_ERROR(studies_.ScanTrials(query.study, all, [&](const Trial& trial) {
    if (!Matches(filter, trial)) return true;
    auto& [cells, number] = keys.emplace_back();
    cells.reserve(order.terms().size());
    for (const auto& term : order.terms()) {
      cells.push_back(wire::ReadCell(wire::TrialColumns(), trial, term.column));
    }
    number = trial.number;
    return true;
  }));
  std::ranges::stable_sort(
      keys, [&](const auto& a, const auto& b) { return order.Before(a.first, b.first); });
  auto ranking = std::make_shared<Ranking>();
  ranking->reserve(keys.size());
  for (const auto& key : keys) ranking->push_back(key.second);
  Keep({.study = query.study,
        .filter = std::string(query.filter),
        .order_by = std::string(query.order_by),
        .as_of = study.last_event,
        .ranking = ranking});
  return ranking;
}

std::shared_ptr<const TrialLists::Ranking> TrialLists::FindKept(const Query& query,
                                                                EventSeq as_of) {
  const absl::MutexLock lock(&mu_);
  const auto found = std::ranges::find_if(kept_, [&](const Kept& kept) {
    return kept.study == query.study && kept.filter == query.filter &&
           kept.order_by == query.order_by && kept.as_of == as_of;
  });
  if (found == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found);
  return found->ranking;
}

void TrialLists::Keep(Kept kept) {
  const absl::MutexLock lock(&mu_);
  kept_.remove_if([&](const Kept& other) {
    return other.study == kept.study && other.filter == kept.filter &&
           other.order_by == kept.order_by;
  });
  kept_.push_front(std::move(kept));
  std::size_t ranked = 0;
  kept_.remove_if([&](const Kept& each) {
    ranked += each.ranking->size();
    return ranked > kMostRanked;
  });
}

}  // namespace vernier::service
