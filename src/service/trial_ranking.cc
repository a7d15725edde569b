#include "src/service/trial_ranking.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "src/wire/columns.h"
#include "vernier/core/error.h"

namespace vernier::service {
namespace {

// Runs are merged up to this number of places, which takes about two milliseconds. A million trials are in 20 runs or so.
constexpr std::size_t kLargestRun = 65'536;

// Whether trials never move in this order, not even while they run.
bool IsFixed(const wire::Order& order) {
  return std::ranges::all_of(order.terms(), [](const wire::Order::Term& term) {
    return term.column == "number" || term.column == "create_time" ||
           term.column.starts_with("parameters.");
  });
}

}  // namespace

TrialRanking::Place TrialRanking::PlaceOf(const Trial& trial, const wire::Order& order) {
  const auto read = [&](std::string_view column) {
    return wire::ReadCell(wire::TrialColumns(), trial, column);
  };
  return {.key = order.Key(read), .number = trial.number};
}

absl::StatusOr<bool> TrialRanking::Update(const StudyReader& studies,
                                          StudyId study,
                                          const wire::Order& order,
                                          std::size_t& left) {
  const bool is_fixed = IsFixed(order);
  std::vector<Place> settled;
  std::vector<Place> open;
  const auto look = [&](const Trial& trial) {
    std::vector<Place>& places = is_fixed || IsFinished(trial.state) ? settled : open;
    places.push_back(PlaceOf(trial, order));
    return true;
  };
  // All that had not ended are read again: any of their values may have changed, and some have ended.
  if (!open_.empty()) {
    // Deleted ones, too: they keep their place, as a page may have ended there.
    TrialScan again{.deleted = true};
    for (const Place& place : open_) again.numbers.push_back(place.number);
    VERNIER_RETURN_IF_ERROR(studies.ScanTrials(study, again, look));
  }
  bool is_whole = true;
  const TrialScan rest{.after = seen_, .deleted = true};
  VERNIER_RETURN_IF_ERROR(studies.ScanTrials(study, rest, [&](const Trial& trial) {
    // Set by the first trial that may not be read, so that it is false only if there is one.
    is_whole = left > 0;
    if (!is_whole) return false;
    --left;
    seen_ = trial.number;
    return look(trial);
  }));
  std::ranges::sort(open);
  open_ = std::move(open);
  if (!settled.empty()) Add(std::move(settled));
  return is_whole;
}

std::shared_ptr<const TrialRanking::Run> TrialRanking::NewRun(std::vector<Place> places) {
  auto run = std::make_shared<Run>();
  run->bytes = places.size() * sizeof(Place);
  // Text that fits into the string itself takes no memory of its own.
  for (const Place& place : places) {
    const bool is_inside = place.key.capacity() <= std::string().capacity();
    if (!is_inside) run->bytes += place.key.capacity() + 1;
  }
  run->places = std::move(places);
  return run;
}

void TrialRanking::Add(std::vector<Place> places) {
  std::ranges::sort(places);
  // A run is merged with one of at most twice its size: each place is moved a few times in all.
  while (!runs_.empty()) {
    const std::vector<Place>& before = runs_.back()->places;
    if (before.size() > 2 * places.size() || before.size() + places.size() > kLargestRun) break;
    std::vector<Place> merged;
    merged.reserve(before.size() + places.size());
    std::ranges::merge(before, places, std::back_inserter(merged));
    places = std::move(merged);
    runs_.pop_back();
  }
  runs_.push_back(NewRun(std::move(places)));
}

// A merge of the runs. They are few (see kLargestRun), so that the least one is simply searched for.
std::vector<TrialNumber> TrialRanking::Behind(const Place& last, std::size_t count) const {
  std::vector<std::span<const Place>> left;
  const auto add = [&](const std::vector<Place>& places) {
    const auto first = std::ranges::upper_bound(places, last);
    if (first != places.end()) left.emplace_back(first, places.end());
  };
  for (const auto& run : runs_) add(run->places);
  add(open_);
  std::vector<TrialNumber> numbers;
  while (!left.empty() && numbers.size() < count) {
    const auto next = std::ranges::min_element(
        left, [](const auto& a, const auto& b) { return a.front() < b.front(); });
    numbers.push_back(next->front().number);
    *next = next->subspan(1);
    if (next->empty()) left.erase(next);
  }
  return numbers;
}

std::size_t TrialRanking::bytes() const {
  std::size_t bytes = open_.size() * sizeof(Place);
  for (const auto& run : runs_) bytes += run->bytes;
  return bytes;
}

}  // namespace vernier::service
