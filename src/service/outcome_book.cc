#include "src/service/outcome_book.h"

#include <utility>

namespace vernier::service {
namespace {

// Studies that are remembered at once; one more, and the book begins anew.
constexpr std::size_t kMostStudies = 1000;

}  // namespace

OutcomeBook::Constraints OutcomeBook::Get(StudyId study) {
  {
    const absl::MutexLock lock(&mu_);
    const auto at = known_.find(study);
    if (at != known_.end()) return at->second;
  }
  auto constraints = std::make_shared<std::vector<OutcomeConstraint>>();
  const auto definition = studies_.GetDefinition(study);
  if (!definition.ok()) return constraints;
  auto parsed = ParseOutcomeConstraints(**definition);
  if (parsed.ok()) *constraints = *std::move(parsed);
  const absl::MutexLock lock(&mu_);
  if (known_.size() >= kMostStudies) known_.clear();
  known_.insert_or_assign(study, constraints);
  return constraints;
}

}  // namespace vernier::service
