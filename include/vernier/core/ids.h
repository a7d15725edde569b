#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace vernier {

// A number that cannot be mistaken for another kind of number. Ordered, hashable, explicit both ways.
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

// A study's identity in its store. Never reused, even after the study is deleted; 0 is no study.
using StudyId = Id<struct StudyTag>;
// A trial within its study: 1, 2, 3 … in the order of creation. This is the number that programs see.
using TrialNumber = Id<struct TrialTag>;
// A launch of a trial's whole job: 1, 2, 3 … within its trial.
using AttemptNumber = Id<struct AttemptTag>;
// A position in a study's event log: 1, 2, 3 … without gaps. 0 is before the first event.
using EventSeq = Id<struct EventTag>;

struct TrialId {
  StudyId study;
  TrialNumber number;
  friend constexpr auto operator<=>(const TrialId&, const TrialId&) = default;
};

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
