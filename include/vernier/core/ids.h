#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace vernier {

// An integer of a type of its own, so that a TrialNumber cannot be passed for a StudyId. Ordered and hashable;
// conversions are explicit: StudyId id(7); id.value().
template <typename Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::int64_t value) : value_(value) {}
  constexpr std::int64_t value() const { return value_; }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  std::int64_t value_ = 0;
};

// Identifies a study in its store. Never reused, even after the study is deleted. 0: no study.
using StudyId = Id<struct StudyTag>;
// Identifies a trial in its study: 1, 2, 3 … in the order of creation. Programs and users see this number.
using TrialNumber = Id<struct TrialTag>;
// Identifies an attempt, one run of a trial's whole job: 1, 2, 3 … in its trial.
using AttemptNumber = Id<struct AttemptTag>;
// Position of an event in the log of its study: 1, 2, 3 … without gaps. 0: before the first event.
using EventSeq = Id<struct EventTag>;

// Identifies a trial in its store.
struct TrialId {
  StudyId study;
  TrialNumber number;
  friend constexpr auto operator<=>(const TrialId&, const TrialId&) = default;
};

// Identifies an attempt in its store.
struct AttemptId {
  TrialId trial;
  AttemptNumber number;
  friend constexpr auto operator<=>(const AttemptId&, const AttemptId&) = default;
};

}  // namespace vernier

template <typename Tag>
struct std::hash<vernier::Id<Tag>> {
  std::size_t operator()(vernier::Id<Tag> id) const noexcept {
    return std::hash<std::int64_t>{}(id.value());
  }
};
