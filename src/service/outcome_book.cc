#include "src/service/outcome_book.h"

#include <utility>

namespace vernier::service {
namespace {

// Studies that are remembered at once; one more, and the book begins anew.
// Forgetting all at once needs no order of use, and re-reading a definition is cheap.
constexpr std::size_t kMostStudies = 1000;

}  // namespace

OutcomeBook::Constraints OutcomeBook::Get(StudyId study) {
  {
    const absl::MutexLock lock(&mu_);
    const auto at = known_.find(study);
    if (at != known_.end()) return at->second;
  }
  // Outside the lock: the definition may have to be read from the store.
  auto constraints = std::make_shared<std::vector<OutcomeConstraint>>();
  const auto definition = studies_.GetDefinition(study);
  // The study was deleted meanwhile; nothing is remembered of it.
  if (!definition.ok()) return constraints;
  auto parsed = ParseOutcomeConstraints(**definition);
  // The constraints of a stored study were checked when it was made. If they cannot be read all the same, it has none.
  if (parsed.ok()) *constraints = *std::move(parsed);
  const absl::MutexLock lock(&mu_);
  if (known_.size() >= kMostStudies) known_.clear();
  // Another call may have entered the same constraints meanwhile; they are equal.
  known_.insert_or_assign(study, constraints);
  return constraints;
}

}  // namespace vernier::service
