#include "src/service/dry_run.h"

#include <memory>

#include "src/core/status.h"
#include "vernier/storage.h"

namespace vernier::service {

absl::StatusOr<Study> DryRunCreate(const Studies& studies,
                                   const Clock& clock,
                                   const StudySpec& spec,
                                   const Caller& caller) {
  if (studies.FindStudyId(spec.name).ok()) {
    return WithReason(AlreadyExists("study '{}' exists", spec.name), Reason::kStudyExists);
  }
  const std::unique_ptr<Storage> scratch = NewMemoryStorage();
  return Studies::Create(*scratch, clock)->CreateStudy(spec, caller);
}

}  // namespace vernier::service
