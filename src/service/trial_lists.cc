#include "src/service/trial_lists.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "fmt/format.h"
#include "src/wire/columns.h"
#include "vernier/core/error.h"

namespace vernier::service {
namespace {

constexpr std::string_view kMetrics = "metrics.";

// Trials that one call reads to rank them and to fill its page. A trial takes three to five microseconds to read, and as long
// again if it is on the page.
constexpr std::size_t kMostRead = 2000;
// Of those, the number of trials in an order that is not that of their numbers: they lie all over the file, and take at
// least twice as long.
constexpr std::size_t kMostScattered = 500;

// Memory of all rankings together. Those of three million trials fit, or of one study however large.
constexpr std::size_t kMostRanked = std::size_t{128} << 20;

// Parts of a list by a metric.
constexpr std::int64_t kWithValue = 0;
constexpr std::int64_t kWithoutValue = 1;

wire::Cell CellOf(const Trial& trial, std::string_view column) {
  return wire::ReadCell(wire::TrialColumns(), trial, column);
}

bool HasValue(const Trial& trial, std::string_view column) {
  const wire::Cell cell = CellOf(trial, column);
  const auto* const value = std::get_if<double>(&cell);
  // A missing value and NaN are alike: the store's index has neither.
  return value != nullptr && !std::isnan(*value);
}

// The scan that has the trials in this order, if there is one. Equals are in the order of their numbers anyway.
std::optional<TrialScan> ScanIn(const wire::Order& order) {
  std::span<const wire::Order::Term> terms = order.terms();
  // "metrics.loss, number" is the order that the index has anyway.
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
  // Trusts that kCancelled is the last state, as the filter's parser does.
  for (int i = 0; i <= static_cast<int>(TrialState::kCancelled); ++i) {
    const auto state = static_cast<TrialState>(i);
    const bool is_named = std::ranges::find(*names, TrialStateName(state)) != names->end();
    if (is_named) states.push_back(state);
  }
  return states;
}

}  // namespace

// A page on its way.
struct TrialLists::Page {
  const wire::Filter& filter;
  const std::function<bool(const Trial&)>& take;
  // Where it ended so far: the last trial read, in which part.
  TrialNumber last;
  std::int64_t part = 0;
  std::string without;  // Only trials that have no value in this column; empty: all.
  std::size_t left = kMostRead;
  bool is_more = false;  // There is something behind it.

  bool Matches(const Trial& trial) const {
    // Deleted trials are read to keep the place where a page ended, but never shown.
    if (trial.deleted || (!without.empty() && HasValue(trial, without))) return false;
    return filter.Matches([&](std::string_view column) { return CellOf(trial, column); });
  }
  bool Read(const Trial& trial) {
    // The trial that is refused is not counted, and `last` stays before it, so that the next page begins with it.
    is_more = left == 0 || (Matches(trial) && !take(trial));
    if (is_more) return false;
    --left;
    last = trial.number;
    return true;
  }
};

absl::StatusOr<std::optional<wire::PageToken>> TrialLists::Read(
    const Query& query,
    const wire::PageToken& begin,
    const std::function<bool(const Trial&)>& take) {
  const wire::ColumnSet& columns = wire::TrialColumnSet();
  VERNIER_ASSIGN_OR_RETURN(const auto filter, wire::Filter::Parse(query.filter, columns));
  VERNIER_ASSIGN_OR_RETURN(const auto order, wire::Order::Parse(query.order_by, columns));
  Page page{.filter = filter,
            .take = take,
            .last = TrialNumber(begin.last),
            .part = begin.part,
            .without = {}};
  std::optional<TrialScan> scan = ScanIn(order);
  if (!scan.has_value()) {
    VERNIER_RETURN_IF_ERROR(ReadRanked(query, order, page));
  } else if (scan->metric.empty()) {
    // A hint only: the page checks the filter of every trial that it reads.
    scan->states = StatesOf(filter);
    VERNIER_RETURN_IF_ERROR(Scan(query, *scan, page));
  } else {
    VERNIER_RETURN_IF_ERROR(ReadByMetric(query, *std::move(scan), page));
  }
  if (!page.is_more) return std::nullopt;
  return wire::PageToken{.last = page.last.value(), .part = page.part};
}

// Reads the scan from where the page ended.
absl::Status TrialLists::Scan(const Query& query, const TrialScan& scan, Page& page) const {
  TrialScan rest = scan;
  rest.after = page.last;
  // Deleted trials are read as well: each costs time, so each counts against what a call may read.
  rest.deleted = true;
  return studies_.ScanTrials(
      query.study, rest, [&](const Trial& trial) { return page.Read(trial); });
}

// First the trials with a value, then the others in the order of their numbers.
absl::Status TrialLists::ReadByMetric(const Query& query, TrialScan scan, Page& page) const {
  const std::string column = fmt::format("{}{}", kMetrics, scan.metric);
  if (page.part == kWithValue) {
    const auto range = page.filter.RangeOf(column);
    // Trials outside the range are not even read. The page still checks the filter of those inside.
    if (range.has_value()) {
      scan.least = range->least;
      scan.most = range->most;
    }
    page.left = kMostScattered;
    VERNIER_RETURN_IF_ERROR(Scan(query, scan, page));
    // A filter that bounds the metric excludes every trial without a value, so there is no second part.
    if (page.is_more || range.has_value()) return absl::OkStatus();
    // The second part is in the order of numbers, which is read faster.
    page.left += kMostRead - kMostScattered;
    page.part = kWithoutValue;
    // The second part begins anew, with the first trial.
    page.last = TrialNumber();
  }
  page.without = column;
  return Scan(query, {.states = StatesOf(page.filter)}, page);
}

absl::Status TrialLists::ReadRanked(const Query& query, const wire::Order& order, Page& page) {
  // Copied from the cache, and put back: while this call works on its copy, another call can read the old one.
  TrialRanking ranking = FindCached(query);
  VERNIER_ASSIGN_OR_RETURN(const bool is_whole,
                           ranking.Update(studies_, query.study, order, page.left));
  Cache({.study = query.study,
         .order_by = std::string(query.order_by),
         .ranking = std::make_shared<const TrialRanking>(ranking)});
  // An empty page with more behind it: the client asks again, and the ranking goes on from where it is.
  page.is_more = !is_whole;
  if (page.is_more) return absl::OkStatus();
  page.left = std::min(page.left, kMostScattered);
  TrialRanking::Place last;
  // The last trial of the page before is looked up by its present values: it may have moved.
  if (page.last.value() != 0) {
    const TrialScan one{.numbers = {page.last}, .deleted = true};
    VERNIER_RETURN_IF_ERROR(studies_.ScanTrials(query.study, one, [&](const Trial& trial) {
      last = TrialRanking::PlaceOf(trial, order);
      return true;
    }));
  }
  // One more than can be read, so that Read finds out that there is more.
  const TrialScan behind{.numbers = ranking.Behind(last, page.left + 1)};
  return behind.numbers.empty() ? absl::OkStatus() : Scan(query, behind, page);
}

TrialRanking TrialLists::FindCached(const Query& query) {
  const absl::MutexLock lock(&mu_);
  const auto found = std::ranges::find_if(cache_, [&](const CachedRanking& cached) {
    return cached.study == query.study && cached.order_by == query.order_by;
  });
  return found == cache_.end() ? TrialRanking() : *found->ranking;
}

void TrialLists::Cache(CachedRanking cached) {
  const absl::MutexLock lock(&mu_);
  cache_.remove_if([&](const CachedRanking& other) {
    const bool is_same = other.study == cached.study && other.order_by == cached.order_by;
    // Another call was faster.
    if (is_same && other.ranking->seen() > cached.ranking->seen()) cached.ranking = other.ranking;
    return is_same;
  });
  cache_.push_front(std::move(cached));
  // From the front: the rankings that were read longest ago are dropped. The newest stays, however large.
  std::size_t bytes = 0;
  cache_.remove_if([&](const CachedRanking& each) {
    bytes += each.ranking->bytes();
    return bytes > kMostRanked && &each != &cache_.front();
  });
}

}  // namespace vernier::service
