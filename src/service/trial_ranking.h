#pragma once

#include <compare>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/wire/order.h"
#include "vernier/core/ids.h"
#include "vernier/core/trial.h"
#include "vernier/study_reader.h"

namespace vernier::service {

// The trials of a study in an order for which the store has no index: a key and a number for each, about 40 bytes.
//
// It is built and brought up to date in steps. A value: copies share what is sorted, so that one call reads a ranking while
// another one works on its copy. Every call on it must name the same study and order.
class TrialRanking {
 public:
  struct Place {
    std::string key;
    TrialNumber number;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  static Place PlaceOf(const Trial& trial, const wire::Order& order);

  // Ranks trials that are new, at most `left` of them, which it takes off that, and those again whose place may have changed:
  // they had not ended.  False: there are more new ones. After an error it is of no use.
  absl::StatusOr<bool> Update(const StudyReader& studies,
                              StudyId study,
                              const wire::Order& order,
                              std::size_t& left);
  // The trials behind that place, in order, at most `count`. Place(): from the first on.
  std::vector<TrialNumber> Behind(const Place& last, std::size_t count) const;

  // All trials up to this one are ranked.
  TrialNumber seen() const { return seen_; }
  std::size_t bytes() const;

 private:
  struct Run {
    std::vector<Place> places;  // In order.
    std::size_t bytes = 0;
  };
  static std::shared_ptr<const Run> NewRun(std::vector<Place> places);
  void Add(std::vector<Place> places);

  std::vector<std::shared_ptr<const Run>> runs_;  // Shared with copies.
  std::vector<Place> open_;                       // In order; the trials that had not ended.
  TrialNumber seen_;
};

}  // namespace vernier::service
